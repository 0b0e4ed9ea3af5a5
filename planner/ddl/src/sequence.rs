//! CREATE SEQUENCE and ALTER SEQUENCE, and the sequences of serial and identity columns.

use super::alter_relation::{cannot_be_performed, set_schema};
use super::type_name::sql_type;
use super::{DdlContext, names, owner};
use binder::canonical;
use catalog::sequences::SequenceValue;
use catalog::{
    CatalogWriter, ColumnId, Persistence, RelationKind, SchemaDescriptor, SequenceDescriptor, TableDescriptor,
};
use sql_error::{Result, SqlError, state};
use syntax::ast::{AlterTable, AlterTableKind, CreateSequence, Name, SequenceOption, TypeName};
use syntax::{ast, fold_name};
use types::{Oid, SqlType};

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// An integer in an option, which the parser has checked. Errors: 22P02.
fn integer(text: &str) -> Result<i64> {
    text.parse().map_err(|_| {
        let message = format!("invalid input syntax for type bigint: \"{text}\"");
        SqlError::new(state::INVALID_TEXT_REPRESENTATION, message)
    })
}

/// The parts of the options that [`parameters`] does not read.
#[derive(Default)]
struct Others<'a> {
    data_type: Option<&'a TypeName>,
    owned_by: Option<&'a Name>,
    /// RESTART, with an optional value.
    restart: Option<Option<i64>>,
}

impl<'a> Others<'a> {
    /// Those of CREATE SEQUENCE and ALTER SEQUENCE. Errors: 42601 for SEQUENCE NAME, 0A000 for LOGGED.
    fn of(options: &'a [SequenceOption]) -> Result<Self> {
        let mut others = Others { restart: restart_of(options)?, ..Others::default() };
        for option in options {
            match option {
                SequenceOption::As(data_type) => others.data_type = Some(data_type),
                SequenceOption::OwnedBy(column, _) => others.owned_by = Some(column),
                SequenceOption::SequenceName(_, span) => {
                    return Err(SqlError::syntax("invalid sequence option SEQUENCE NAME").about_part(*span));
                }
                SequenceOption::Logged(..) => return Err(SqlError::unsupported("LOGGED or UNLOGGED of a sequence")),
                _ => {}
            }
        }
        Ok(others)
    }
}

/// RESTART among options, with an optional value.
pub(super) fn restart_of(options: &[SequenceOption]) -> Result<Option<Option<i64>>> {
    let restart = options.iter().find_map(|option| match option {
        SequenceOption::Restart(value, _) => Some(value.as_deref()),
        _ => None,
    });
    restart.map(|value| value.map(integer).transpose()).transpose()
}

/// The least and greatest value of a type. Errors: 22023 for a type that sequences cannot have.
fn type_bounds(ty: SqlType) -> Result<(i64, i64)> {
    match ty {
        SqlType::INT2 => Ok((i64::from(i16::MIN), i64::from(i16::MAX))),
        SqlType::INT4 => Ok((i64::from(i32::MIN), i64::from(i32::MAX))),
        SqlType::INT8 => Ok((i64::MIN, i64::MAX)),
        _ => Err(invalid("sequence type must be smallint, integer, or bigint")),
    }
}

/// The parameters of a sequence of type `ty`, validated as in PostgreSQL. Reads neither AS, OWNED BY, SEQUENCE NAME nor
/// RESTART.
pub(super) fn parameters(ty: SqlType, options: &[SequenceOption]) -> Result<SequenceDescriptor> {
    changed_parameters(ty, None, options)
}

/// The same. An existing sequence keeps the parameters that are not named. Bounds equal to those of its old type become
/// those of the new type.
fn changed_parameters(
    ty: SqlType,
    old: Option<&SequenceDescriptor>,
    options: &[SequenceOption],
) -> Result<SequenceDescriptor> {
    let (type_min, type_max) = type_bounds(ty)?;
    // Bounds of the old type become bounds of the new one, for either direction.
    let (mut type_min_holds, mut type_max_holds) = (false, false);
    let (mut increment, mut min, mut max, mut start, mut cache, mut cycle) = match old {
        None => (1, None, None, None, 1, false),
        Some(old) => {
            let old_bounds = type_bounds(old.ty)?;
            type_min_holds = ty != old.ty && old.min == old_bounds.0;
            type_max_holds = ty != old.ty && old.max == old_bounds.1;
            let min = (!type_min_holds).then_some(old.min);
            let max = (!type_max_holds).then_some(old.max);
            (old.increment, min, max, Some(old.start), old.cache, old.cycle)
        }
    };
    for option in options {
        match option {
            SequenceOption::Increment(value, _) => increment = integer(value)?,
            SequenceOption::MinValue(value, _) => min = value.as_deref().map(integer).transpose()?,
            SequenceOption::MaxValue(value, _) => max = value.as_deref().map(integer).transpose()?,
            SequenceOption::Start(value, _) => start = Some(integer(value)?),
            SequenceOption::Cache(value, _) => cache = integer(value)?,
            SequenceOption::Cycle(cycles, _) => cycle = *cycles,
            SequenceOption::As(_)
            | SequenceOption::OwnedBy(..)
            | SequenceOption::SequenceName(..)
            | SequenceOption::Logged(..)
            | SequenceOption::Restart(..) => {}
        }
    }
    if increment == 0 {
        return Err(invalid("INCREMENT must not be zero"));
    }
    if cache < 1 {
        return Err(invalid(format!("CACHE ({cache}) must be greater than zero")));
    }
    let ascending = increment > 0;
    let max = max.unwrap_or(if ascending || type_max_holds { type_max } else { -1 });
    let min = min.unwrap_or(if ascending && !type_min_holds { 1 } else { type_min });
    if max > type_max || max < type_min {
        return Err(invalid(format!("MAXVALUE ({max}) is out of range for sequence data type {}", ty.name())));
    }
    if min < type_min || min > type_max {
        return Err(invalid(format!("MINVALUE ({min}) is out of range for sequence data type {}", ty.name())));
    }
    if min >= max {
        return Err(invalid(format!("MINVALUE ({min}) must be less than MAXVALUE ({max})")));
    }
    let start = start.unwrap_or(if ascending { min } else { max });
    if start < min {
        return Err(invalid(format!("START value ({start}) cannot be less than MINVALUE ({min})")));
    }
    if start > max {
        return Err(invalid(format!("START value ({start}) cannot be greater than MAXVALUE ({max})")));
    }
    Ok(SequenceDescriptor { ty, start, increment, min, max, cache, cycle, owned_by: old.and_then(|old| old.owned_by) })
}

/// Stores a new sequence. It begins with START.
pub(super) async fn store(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    schema: &SchemaDescriptor,
    name: String,
    sequence: SequenceDescriptor,
    persistence: Persistence,
) -> Result<TableDescriptor> {
    let first = sequence.start;
    store_at(context, writer, schema, name, (sequence, first), persistence).await
}

/// Stores a new sequence that begins with `first`. Errors: 22023 for a value outside its bounds.
pub(super) async fn store_at(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    schema: &SchemaDescriptor,
    name: String,
    (sequence, first): (SequenceDescriptor, i64),
    persistence: Persistence,
) -> Result<TableDescriptor> {
    let numbers = context.store.numbers();
    let storage_id = numbers.storage_id().await?;
    check_restart(&sequence, first)?;
    writer.put_sequence_value(storage_id, &SequenceValue::starting_at(first))?;
    let column = |id: ColumnId, name: &str, ty: SqlType| catalog::ColumnDescriptor {
        id,
        name: name.into(),
        ty,
        not_null: true,
        default: None,
        identity: None,
        missing: None,
        dropped: false,
        ..Default::default()
    };
    let table = TableDescriptor {
        oid: numbers.oid().await?,
        schema_oid: schema.oid,
        schema: schema.name.clone(),
        name,
        kind: RelationKind::Sequence,
        version: 1,
        storage_id,
        columns: vec![
            column(1, "last_value", SqlType::INT8),
            column(2, "log_cnt", SqlType::INT8),
            column(3, "is_called", SqlType::BOOL),
        ],
        indexes: Vec::new(),
        checks: Vec::new(),
        sequence: Some(sequence),
        view: None,
        foreign_keys: Vec::new(),
        comments: Vec::new(),
        owner: context.user,
        acl: context.first_acl_in(catalog::acl::Kind::Sequence, schema),
        persistence,
        ..Default::default()
    };
    writer.put_table(&table).await?;
    Ok(table)
}

/// RESTART as part of the transaction: replaces the sequence's storage by a new one that starts again.
pub(super) async fn restart(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    sequence: &TableDescriptor,
    value: Option<i64>,
) -> Result<()> {
    let mut changed = sequence.clone();
    let start = value.or(sequence.sequence.as_ref().map(|sequence| sequence.start)).unwrap_or(1);
    changed.version += 1;
    // The old storage is removed later. Removing it here would conflict with concurrent nextval calls.
    writer.drop_storage(sequence.storage_id)?;
    changed.storage_id = context.store.numbers().storage_id().await?;
    writer.put_sequence_value(changed.storage_id, &SequenceValue::starting_at(start))?;
    writer.put_table(&changed).await
}

/// The parameters of a sequence with another type. Errors: 22023.
pub(super) fn retyped(old: &SequenceDescriptor, ty: SqlType) -> Result<SequenceDescriptor> {
    changed_parameters(ty, Some(old), &[])
}

/// Errors: 22023 for a first value outside a sequence's bounds.
fn check_restart(sequence: &SequenceDescriptor, first: i64) -> Result<()> {
    let (min, max) = (sequence.min, sequence.max);
    for (wrong, limit, word, bound) in
        [(first < min, min, "less", "MINVALUE"), (first > max, max, "greater", "MAXVALUE")]
    {
        if wrong {
            return Err(invalid(format!("RESTART value ({first}) cannot be {word} than {bound} ({limit})")));
        }
    }
    Ok(())
}

/// The changes of an ALTER SEQUENCE.
pub(super) struct Changes<'a> {
    /// INCREMENT and the other options.
    pub options: &'a [SequenceOption],
    /// RESTART, with an optional value.
    pub restart: Option<Option<i64>>,
    /// The new type of AS.
    pub data_type: Option<SqlType>,
}

/// Changes type, options and position of a sequence as part of the transaction. Without RESTART it continues after the
/// last value that was returned. Values reserved in advance are returned to it. Errors: 22023.
pub(super) async fn change(
    context: &DdlContext,
    writer: &mut CatalogWriter<'_>,
    sequence: &mut TableDescriptor,
    changes: &Changes<'_>,
) -> Result<()> {
    let old = sequence.sequence.clone().ok_or_else(|| SqlError::internal("a sequence without parameters"))?;
    let new = changed_parameters(changes.data_type.unwrap_or(old.ty), Some(&old), changes.options)?;
    let first = match changes.restart {
        Some(value) => value.unwrap_or(new.start),
        None => context.store.sequences().give_back(&context.transaction, sequence).await?.last_value,
    };
    check_restart(&new, first)?;
    sequence.sequence = Some(new);
    match changes.restart {
        Some(_) => restart(context, writer, sequence, Some(first)).await,
        None => {
            sequence.version += 1;
            writer.put_table(sequence).await
        }
    }
}

pub(super) async fn create(context: &DdlContext, create: &CreateSequence) -> Result<String> {
    let temporary = create.persistence == ast::Persistence::Temporary;
    let (schema, name) = context.new_relation_of(&create.name, temporary)?;
    if context.catalog.name_is_taken(&schema.name, &name) && create.if_not_exists {
        context.notice(state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
        return Ok("CREATE SEQUENCE".into());
    }
    let others = Others::of(&create.options)?;
    names::Chosen::default().claim_relation(context, &schema.name, &name)?;
    context.no_type_named(&schema.name, &name)?;
    let ty = others.data_type.map_or(Ok(SqlType::INT8), sql_type)?;
    let mut sequence = parameters(ty, &create.options)?;
    if let Some(owner) = others.owned_by {
        let own = TableDescriptor { schema_oid: schema.oid, owner: context.user, ..Default::default() };
        sequence.owned_by = owned_column(context, &own, owner)?;
    }
    context.store_schema(&schema).await?;
    let mut writer = context.writer();
    let first = others.restart.flatten().unwrap_or(sequence.start);
    let (persistence, _) = context.persistence(&schema, create.persistence, None)?;
    store_at(context, &mut writer, &schema, name, (sequence, first), persistence).await?;
    writer.flush().await?;
    Ok("CREATE SEQUENCE".into())
}

/// Runs ALTER SEQUENCE. Returns its command tag.
pub(super) async fn alter(context: &DdlContext, alter: &AlterTable) -> Result<String> {
    let name = &alter.relation.name;
    let Some(sequence) = context.find(name)? else {
        if alter.if_exists {
            let name = fold_name(name)?.1;
            context.notice(state::SUCCESSFUL_COMPLETION, format!("relation \"{name}\" does not exist, skipping"));
            return Ok("ALTER SEQUENCE".into());
        }
        return Err(context.no_relation_of(name, "sequence"));
    };
    names::expect_kind(&sequence, RelationKind::Sequence)?;
    for action in &alter.actions {
        match &action.kind {
            AlterTableKind::Rename(name) => rename(context, &sequence, &name.value).await?,
            AlterTableKind::SetSchema(schema) => set_schema(context, &sequence, &schema.value).await?,
            AlterTableKind::SequenceOptions(options) => change_options(context, &sequence, options).await?,
            AlterTableKind::Owner(role) if alter.actions.len() == 1 => {
                change_owner(context, &sequence, owner::role_of(context, role)?).await?;
            }
            AlterTableKind::Owner(_) => {
                return Err(SqlError::unsupported("ALTER SEQUENCE OWNER TO among other actions"));
            }
            AlterTableKind::Logged(_) => return Err(SqlError::unsupported("ALTER SEQUENCE SET LOGGED")),
            other => return Err(cannot_be_performed(Some(other), &sequence.name, "sequences")),
        }
    }
    Ok("ALTER SEQUENCE".into())
}

/// Changes the options of a sequence. Errors: 42601, 22023, and 0A000 for the owner of an identity column's sequence.
async fn change_options(context: &DdlContext, sequence: &TableDescriptor, options: &[SequenceOption]) -> Result<()> {
    let others = Others::of(options)?;
    context.lock(sequence).await?;
    let data_type = others.data_type.map(sql_type).transpose()?;
    let owned_by = match others.owned_by {
        Some(owner) => Some(owned_column(context, sequence, owner)?),
        None => None,
    };
    let of_identity = identity_of(context, sequence);
    if let (Some(_), Some(table)) = (&owned_by, &of_identity) {
        let message = "cannot change ownership of identity sequence";
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
            .detail(format!("Sequence \"{}\" is linked to table \"{table}\".", sequence.name)));
    }
    let mut changed = TableDescriptor::clone(sequence);
    let mut writer = context.writer();
    if let (Some(parameters), Some(owner)) = (&mut changed.sequence, owned_by) {
        parameters.owned_by = owner;
    }
    let changes = Changes { options, restart: others.restart, data_type };
    change(context, &mut writer, &mut changed, &changes).await?;
    writer.flush().await
}

/// The name of the table whose identity column uses a sequence.
fn identity_of(context: &DdlContext, sequence: &TableDescriptor) -> Option<String> {
    let (table, column) = sequence.sequence.as_ref()?.owned_by?;
    let table = context.catalog.relation_by_oid(table)?;
    table.column(column)?.identity.map(|_| table.name.clone())
}

/// Renames a sequence, also in the defaults of columns that use it.
pub(super) async fn rename(context: &DdlContext, sequence: &TableDescriptor, name: &str) -> Result<()> {
    context.lock(sequence).await?;
    context.may_create_in(&*context.schema(&sequence.schema)?)?;
    names::Chosen::default().claim_relation(context, &sequence.schema, name)?;
    let mut changed = sequence.clone();
    changed.version += 1;
    changed.name = name.to_string();
    let texts = [(
        canonical::next_value_text(&sequence.schema, &sequence.name),
        canonical::next_value_text(&sequence.schema, name),
    )];
    let mut writer = context.writer();
    writer.put_table(&changed).await?;
    for table in context.catalog.user_relations() {
        if let Some(changed) = with_defaults(table, &texts) {
            context.take_alone(table).await?;
            writer.put_table(&changed).await?;
        }
    }
    writer.flush().await
}

/// A copy of a table in which the old default texts are replaced by the new ones. `None` if it has none of them.
pub(super) fn with_defaults(table: &TableDescriptor, texts: &[(String, String)]) -> Option<TableDescriptor> {
    let new =
        |default: &Option<String>| texts.iter().find(|(old, _)| default.as_ref() == Some(old)).map(|(_, new)| new);
    table.columns.iter().any(|column| new(&column.default).is_some()).then(|| {
        let mut changed = table.clone();
        changed.version += 1;
        for column in &mut changed.columns {
            if let Some(text) = new(&column.default) {
                column.default = Some(text.clone());
            }
        }
        changed
    })
}

/// OWNER TO. Errors: 42501, and 0A000 for a sequence that a column owns.
pub(super) async fn change_owner(context: &DdlContext, sequence: &TableDescriptor, owner: Oid) -> Result<()> {
    context.lock(sequence).await?;
    if owner == sequence.owner {
        return Ok(());
    }
    if let Some((table, _)) = sequence.sequence.as_ref().and_then(|sequence| sequence.owned_by) {
        let table = context.catalog.relation_by_oid(table).map(|table| table.name.clone()).unwrap_or_default();
        let message = format!("cannot change owner of sequence \"{}\"", sequence.name);
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
            .detail(format!("Sequence \"{}\" is linked to table \"{table}\".", sequence.name)));
    }
    let mut changed = sequence.clone();
    changed.version += 1;
    super::owner::change(context, &mut changed, owner)?;
    let mut writer = context.writer();
    writer.put_table(&changed).await?;
    writer.flush().await
}

/// The table and column in OWNED BY. `None` for NONE.
fn owned_column(context: &DdlContext, sequence: &TableDescriptor, name: &Name) -> Result<Option<(Oid, ColumnId)>> {
    let mut parts = name.parts.clone();
    let Some(column) = parts.pop().map(|column| column.value) else {
        return Err(SqlError::syntax("invalid OWNED BY option"));
    };
    if parts.is_empty() {
        if column == "none" {
            return Ok(None);
        }
        return Err(SqlError::syntax("invalid OWNED BY option").hint("Specify OWNED BY table.column or OWNED BY NONE."));
    }
    let name = Name { parts, span: name.span };
    let Some(table) = context.find(&name)? else {
        let (schema, index) = fold_name(&name)?;
        let path = context.settings.search_path();
        if context.catalog.index_named(schema.as_deref(), &index, path).is_some() {
            return Err(no_owner(&index, "indexes"));
        }
        return Err(context.no_relation(&name));
    };
    if table.kind == RelationKind::Sequence {
        return Err(no_owner(&table.name, "sequences"));
    }
    let differ = |what: &str| {
        let message = format!("sequence must {what} as table it is linked to");
        SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
    };
    if table.owner != sequence.owner {
        return Err(differ("have same owner"));
    }
    if table.schema_oid != sequence.schema_oid {
        return Err(differ("be in same schema"));
    }
    let found = table.column_named(&column).ok_or_else(|| {
        let message = format!("column \"{column}\" of relation \"{}\" does not exist", table.name);
        SqlError::new(state::UNDEFINED_COLUMN, message)
    })?;
    Ok(Some((table.oid, found.id)))
}

/// 42809 for OWNED BY a relation without columns of its own.
fn no_owner(name: &str, what: &str) -> SqlError {
    SqlError::new(state::WRONG_OBJECT_TYPE, format!("sequence cannot be owned by relation \"{name}\""))
        .detail(format!("This operation is not supported for {what}."))
}
