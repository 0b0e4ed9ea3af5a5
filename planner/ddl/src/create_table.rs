//! CREATE TABLE: columns, constraints, and the sequences of serial and identity columns.

use super::names::Chosen;
use super::repeated_key::without_repeats;
use super::storage_parameter::{self, Of};
use super::type_name::serial_type;
use super::{
    DdlContext, alter_column, canonical, constraint_places as places, enumeration, evaluate, foreign_key, sequence,
};
use catalog::{
    CatalogWriter, CheckDescriptor, ColumnDescriptor, ColumnId, Deferral, Identity, IndexColumn, IndexDescriptor,
    IndexState, RelationKind, SchemaDescriptor, TableDescriptor,
};
use sql_error::{Result, SqlError, state};
use std::collections::BTreeMap;
use syntax::Span;
use syntax::ast::{
    self, Column, ColumnConstraintKind, CreateTable, Expr, Ident, IndexClauses, References, SequenceOption,
    TableConstraint, TableConstraintKind, TableElement,
};
use syntax::options::{Parameters, parameters};
use types::{BaseType, Oid, SqlType};

/// A table being created or altered: its descriptor, and the objects stored with it.
pub(super) struct Making<'a> {
    pub(super) context: &'a DdlContext,
    pub(super) writer: CatalogWriter<'a>,
    pub(super) schema: SchemaDescriptor,
    pub(super) table: TableDescriptor,
    pub(super) chosen: Chosen,
    /// The tables that new FOREIGN KEYs refer to, in their changed state.
    pub(super) parents: BTreeMap<Oid, TableDescriptor>,
    /// Constraints whose rows must be checked after the definitions are stored.
    pub(super) unvalidated: Vec<Oid>,
}

impl<'a> Making<'a> {
    /// Begins with a table as it was before the statement.
    pub(super) fn of(
        context: &'a DdlContext,
        schema: &SchemaDescriptor,
        table: TableDescriptor,
        chosen: Chosen,
    ) -> Self {
        Making {
            context,
            writer: context.writer(),
            schema: schema.clone(),
            table,
            chosen,
            parents: BTreeMap::new(),
            unvalidated: Vec::new(),
        }
    }
}

/// A column or table constraint.
pub(super) enum Constraint<'a> {
    Primary {
        name: Option<&'a Ident>,
        columns: Vec<String>,
        include: Vec<String>,
        deferred: Option<bool>,
        parameters: Parameters,
        span: Span,
    },
    Unique {
        name: Option<&'a Ident>,
        columns: Vec<String>,
        include: Vec<String>,
        nulls_not_distinct: bool,
        deferred: Option<bool>,
        parameters: Parameters,
        span: Span,
    },
    Check {
        name: Option<&'a Ident>,
        expr: &'a Expr,
        no_inherit: bool,
    },
    Foreign {
        name: Option<&'a Ident>,
        columns: Vec<String>,
        references: &'a References,
        deferral: ast::Deferral,
    },
}

pub(super) async fn execute(context: &DdlContext, create: &CreateTable) -> Result<String> {
    refuse(create)?;
    let at_name = |error| places::at_new_name(error, &create.name);
    let temporary = create.persistence == ast::Persistence::Temporary;
    let (schema, name) = context.new_relation_of(&create.name, temporary).map_err(at_name)?;
    if context.catalog.name_is_taken(&schema.name, &name) && create.if_not_exists {
        context.notice(state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
        return Ok("CREATE TABLE".into());
    }
    let mut chosen = Chosen::default();
    chosen.claim_relation(context, &schema.name, &name)?;
    context.no_type_named(&schema.name, &name)?;
    let storage = &create.storage;
    let parameters = storage_parameter::of_new_table(&storage.options)?;
    let (persistence, on_commit) = context.persistence(&schema, create.persistence, storage.on_commit)?;
    alter_column::note_compression(context, columns_of(create));
    context.store_schema(&schema).await?;
    let numbers = context.store.numbers();
    let table = TableDescriptor {
        oid: numbers.oid().await?,
        schema_oid: schema.oid,
        schema: schema.name.clone(),
        name,
        kind: RelationKind::Table,
        version: 1,
        storage_id: context.new_storage().await?,
        columns: Vec::new(),
        indexes: Vec::new(),
        checks: Vec::new(),
        sequence: None,
        view: None,
        foreign_keys: Vec::new(),
        comments: Vec::new(),
        owner: context.user,
        persistence,
        on_commit,
        acl: context.first_acl_in(catalog::acl::Kind::Table, &schema),
        parameters,
        ..Default::default()
    };
    let mut making = Making::of(context, &schema, table, chosen);
    let mut constraints = Vec::new();
    let mut taken = Vec::new();
    for element in &create.elements {
        match element {
            TableElement::Column(column) => {
                let added = making.add_column(column).await;
                if added.as_ref().is_err_and(|error| error.state() == state::DUPLICATE_COLUMN) {
                    // PostgreSQL reports the first duplicate name.
                    super::names::no_column_twice(columns_of(create).map(|column| column.name.value.as_str()))?;
                }
                constraints.extend(added?);
            }
            TableElement::Like(like) => taken.push(making.take_columns(like).await?),
            TableElement::Constraint(_) => {}
        }
    }
    for id in making.table.columns.iter().map(|column| column.id).collect::<Vec<_>>() {
        making.validate_generated(id).map_err(|error| places::in_generated(error, columns_of(create)))?;
    }
    for element in &create.elements {
        if let TableElement::Constraint(constraint) = element {
            constraints.push(table_constraint(constraint)?);
        }
    }
    let constraints = without_repeats(constraints);
    making.add_constraints(&constraints).await?;
    for taken in &taken {
        making.take_rest(taken).await?;
    }
    making.add_foreign_keys(&constraints).await?;
    making.store().await?;
    Ok("CREATE TABLE".into())
}

/// The columns of CREATE TABLE, in order.
fn columns_of(create: &CreateTable) -> impl Iterator<Item = &Column> {
    create.elements.iter().filter_map(|element| match element {
        TableElement::Column(column) => Some(column),
        TableElement::Constraint(_) | TableElement::Like(_) => None,
    })
}

/// Refuses clauses of CREATE TABLE that are not supported.
fn refuse(create: &CreateTable) -> Result<()> {
    let refused = [
        (create.of_type.is_some(), "CREATE TABLE OF"),
        (!create.inherits.is_empty(), "INHERITS"),
        (create.partition_by.is_some(), "PARTITION BY"),
        (create.partition_of.is_some(), "PARTITION OF"),
    ];
    match refused.iter().find(|(is, _)| *is) {
        Some((_, what)) => Err(SqlError::unsupported(what)),
        None => Ok(()),
    }
}

fn names(idents: &[Ident]) -> Vec<String> {
    idents.iter().map(|ident| ident.value.clone()).collect()
}

/// Converts a table constraint, and refuses unsupported ones.
pub(super) fn table_constraint(constraint: &TableConstraint) -> Result<Constraint<'_>> {
    let TableConstraint { name, kind, deferral, not_valid: _, no_inherit, span } = constraint;
    let name = name.as_ref();
    match kind {
        TableConstraintKind::PrimaryKey(columns, index) => primary_key(name, names(columns), index, *deferral, *span),
        TableConstraintKind::Unique(columns, index) => unique(name, names(columns), index, *deferral, *span),
        TableConstraintKind::Check(expr) => Ok(Constraint::Check { name, expr, no_inherit: *no_inherit }),
        TableConstraintKind::ForeignKey(columns, references) => {
            Ok(Constraint::Foreign { name, columns: names(columns), references, deferral: *deferral })
        }
        TableConstraintKind::UsingIndex(..) => {
            let message = "cannot use an existing index in CREATE TABLE";
            Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message).about_part(*span))
        }
        TableConstraintKind::Exclude { .. } => Err(SqlError::unsupported("EXCLUDE")),
    }
}

/// PRIMARY KEY over these columns.
fn primary_key<'c>(
    name: Option<&'c Ident>,
    columns: Vec<String>,
    index: &IndexClauses,
    deferral: ast::Deferral,
    span: Span,
) -> Result<Constraint<'c>> {
    let (include, parameters) = (names(&index.include), parameters(&index.options)?);
    let deferred = foreign_key::deferred(deferral);
    Ok(Constraint::Primary { name, columns, include, deferred, parameters, span })
}

/// UNIQUE over these columns.
fn unique<'c>(
    name: Option<&'c Ident>,
    columns: Vec<String>,
    index: &IndexClauses,
    deferral: ast::Deferral,
    span: Span,
) -> Result<Constraint<'c>> {
    let (include, parameters) = (names(&index.include), parameters(&index.options)?);
    let (deferred, nulls_not_distinct) = (foreign_key::deferred(deferral), index.nulls_not_distinct);
    Ok(Constraint::Unique { name, columns, include, nulls_not_distinct, deferred, parameters, span })
}

impl Making<'_> {
    /// Adds a column. Returns its constraints, which are added once all columns exist.
    pub(super) async fn add_column<'c>(&mut self, definition: &'c Column) -> Result<Vec<Constraint<'c>>> {
        let name = definition.name.value.clone();
        if self.table.column_named(&name).is_some() {
            return Err(SqlError::new(state::DUPLICATE_COLUMN, format!("column \"{name}\" specified more than once")));
        }
        super::names::no_system_column(&name)?;
        let data_type = definition.data_type.as_ref().ok_or_else(|| SqlError::internal("a column without a type"))?;
        if data_type.set_of {
            let message = format!("column \"{name}\" cannot be declared SETOF");
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        let serial = serial_type(data_type).map_err(|error| places::at_type(error, data_type))?;
        let path = self.context.settings.search_path();
        let named = || {
            let found = binder::catalog_type(data_type, &self.context.catalog, path, false);
            let found = found.map_err(|error| places::at_type(error, data_type));
            found.map_err(|error| super::type_name::of_pseudo_type(error, &name, data_type))
        };
        let ty = serial.map_or_else(named, Ok)?;
        if let BaseType::Enum(labels) = ty.base {
            enumeration::may_use(self.context, labels.descriptor())?;
            self.writer.hold_enum(labels.descriptor().oid);
        }
        if ty.row_of().is_some() {
            return Err(SqlError::unsupported("columns of the type of a table's rows"));
        }
        if ty.is_pseudo() {
            let message = format!("column \"{name}\" has pseudo-type {}", ty.name());
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        let id = ColumnId::try_from(self.table.columns.len() + 1)
            .ok()
            .filter(|id| *id <= 1600)
            .ok_or_else(|| SqlError::new("54011", "tables can have at most 1600 columns"))?;
        let mut column = ColumnDescriptor {
            id,
            name: name.clone(),
            ty,
            not_null: serial.is_some(),
            dimensions: super::type_name::dimensions(data_type),
            ..Default::default()
        };
        if let Some(collation) = &definition.collation {
            column.collation = super::type_name::collation(collation, ty).map_err(|error| error.about("collate"))?;
        }
        places::properties_agree(definition, serial.is_some(), &self.table.name)?;
        let mut constraints = Vec::new();
        let mut keyed = false;
        for constraint in &definition.constraints {
            let (given, span) = (constraint.name.as_ref(), constraint.span);
            let own = || vec![name.clone()];
            match &constraint.kind {
                ColumnConstraintKind::Null => {}
                ColumnConstraintKind::NotNull => column.not_null = true,
                ColumnConstraintKind::Default(expr) => column.default = self.default(&name, expr, &ty)?,
                ColumnConstraintKind::PrimaryKey(index) => {
                    keyed = true;
                    constraints.push(primary_key(given, own(), index, constraint.deferral, span)?);
                }
                ColumnConstraintKind::Unique(index) => {
                    constraints.push(unique(given, own(), index, constraint.deferral, span)?);
                }
                ColumnConstraintKind::Check { condition, no_inherit } => {
                    constraints.push(Constraint::Check { name: given, expr: condition, no_inherit: *no_inherit });
                }
                ColumnConstraintKind::Generated { value, always: _ } => {
                    canonical::referenced(value).map_err(|_| {
                        let message = "cannot use subquery in column generation expression";
                        canonical::about_subquery(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), value)
                    })?;
                    column.generated = Some(canonical::text(&enumeration::with_schemas(self.context, value)));
                }
                ColumnConstraintKind::Identity { always, options } => {
                    column.identity = Some(if *always { Identity::Always } else { Identity::ByDefault });
                    column.not_null = true;
                    if !ty.is_integer() {
                        return Err(invalid("identity column type must be smallint, integer, or bigint"));
                    }
                    column.default = Some(self.own_sequence(&name, id, ty, options).await?);
                }
                ColumnConstraintKind::References(references) => {
                    let deferral = constraint.deferral;
                    constraints.push(Constraint::Foreign { name: given, columns: own(), references, deferral });
                }
            }
        }
        // In PostgreSQL NULL does not contradict PRIMARY KEY.
        column.not_null |= keyed;
        if let Some(ty) = serial {
            column.default = Some(self.own_sequence(&name, id, ty, &[]).await?);
        }
        self.table.columns.push(column);
        Ok(constraints)
    }

    /// Creates the sequence of a column. Returns the column's default. Errors: 42601 for AS, and those of the options.
    pub(super) async fn own_sequence(
        &mut self,
        column: &str,
        id: ColumnId,
        ty: SqlType,
        options: &[SequenceOption],
    ) -> Result<String> {
        if options.iter().any(|option| matches!(option, SequenceOption::As(_))) {
            return Err(SqlError::syntax("conflicting or redundant options"));
        }
        let mut parameters = sequence::parameters(ty, options)?;
        parameters.owned_by = Some((self.table.oid, id));
        let first = sequence::restart_of(options)?.flatten().unwrap_or(parameters.start);
        let given = options.iter().find_map(|option| match option {
            SequenceOption::SequenceName(name, _) => Some(name),
            _ => None,
        });
        let (schema, name) = match given {
            None => {
                let name = self.chosen.relation(self.context, &self.schema.name, &self.table.name, Some(column), "seq");
                (self.schema.clone(), name)
            }
            Some(given) => {
                let (schema, name) = syntax::fold_name(given)?;
                let schema = match schema {
                    Some(schema) => SchemaDescriptor::clone(&*self.context.schema(&schema)?),
                    None => self.schema.clone(),
                };
                self.chosen.claim_relation(self.context, &schema.name, &name)?;
                (schema, name)
            }
        };
        let text = canonical::next_value_text(&schema.name, &name);
        let persistence = self.table.persistence;
        sequence::store_at(self.context, &mut self.writer, &schema, name, (parameters, first), persistence).await?;
        Ok(text)
    }

    /// Stores the table and the tables that its new FOREIGN KEYs refer to.
    pub(super) async fn store(&mut self) -> Result<()> {
        self.writer.put_table(&self.table).await?;
        for parent in self.parents.values() {
            self.writer.put_table(parent).await?;
        }
        self.writer.flush().await
    }

    /// Adds the FOREIGN KEYs among `constraints` to a table without rows.
    async fn add_foreign_keys(&mut self, constraints: &[Constraint<'_>]) -> Result<()> {
        for constraint in constraints {
            if let Constraint::Foreign { name, columns, references, deferral } = constraint {
                let key = self.foreign_key(*name, columns, references, *deferral).await?;
                self.table.foreign_keys.push(key);
            }
        }
        Ok(())
    }

    /// 42P16: the table already has a primary key.
    pub(super) fn another_key(&self) -> SqlError {
        let message = format!("multiple primary keys for table \"{}\" are not allowed", self.table.name);
        SqlError::new(state::INVALID_TABLE_DEFINITION, message)
    }

    /// Adds the constraints other than FOREIGN KEYs, primary key first.
    pub(super) async fn add_constraints(&mut self, constraints: &[Constraint<'_>]) -> Result<()> {
        for constraint in constraints {
            if let Constraint::Primary { span, .. } = constraint {
                if self.table.declared_primary_key().is_some() {
                    return Err(self.another_key().about_part(*span));
                }
                let index = self.constraint_index(constraint).await?;
                for key in &index.columns {
                    if let Some(column) = self.table.columns.iter_mut().find(|column| column.id == key.column) {
                        column.not_null = true;
                    }
                }
                let place = if index.primary { 0 } else { self.table.indexes.len() };
                self.table.indexes.insert(place, index);
            }
        }
        for constraint in constraints {
            match constraint {
                Constraint::Primary { .. } | Constraint::Foreign { .. } => {}
                Constraint::Unique { .. } => {
                    let index = self.constraint_index(constraint).await?;
                    self.table.indexes.push(index);
                }
                Constraint::Check { name, expr, no_inherit } => {
                    let check = self.check(*name, expr, *no_inherit).await?;
                    self.table.checks.push(check);
                }
            }
        }
        Ok(())
    }

    /// Adds a CHECK constraint.
    pub(super) async fn check(
        &mut self,
        name: Option<&Ident>,
        expr: &Expr,
        no_inherit: bool,
    ) -> Result<CheckDescriptor> {
        let expression = canonical::check_text(&enumeration::with_schemas(self.context, expr), &self.table)?;
        let fixed = evaluate::validate_check_text(self.context, &self.table, &expression).map_err(|error| {
            if error.state() == state::DATATYPE_MISMATCH && error.fields().about.is_none() {
                return error.about_part(expr.span);
            }
            error
        })?;
        let expression = fixed.unwrap_or(expression);
        let name = match name {
            Some(name) => {
                let name = name.value.clone();
                let twice = self.table.checks.iter().any(|check| check.name == name);
                if twice && self.chosen.has_constraint(&name) {
                    let message = format!("check constraint \"{name}\" already exists");
                    return Err(SqlError::new(state::DUPLICATE_OBJECT, message));
                }
                self.chosen.claim_constraint(&self.table, &name)?;
                name
            }
            None => {
                // A CHECK over a single column is named after it, wherever it was written.
                let mut columns = canonical::referenced(expr)?;
                columns.sort_unstable();
                columns.dedup();
                let only = if columns.len() == 1 { columns.first().map(String::as_str) } else { None };
                self.chosen.constraint(&self.table, only, "check")
            }
        };
        Ok(CheckDescriptor {
            oid: self.context.store.numbers().oid().await?,
            name,
            expression,
            not_valid: false,
            no_inherit,
        })
    }

    /// Makes the index of a PRIMARY KEY or UNIQUE constraint.
    pub(super) async fn constraint_index(&mut self, constraint: &Constraint<'_>) -> Result<IndexDescriptor> {
        let (primary, nulls_not_distinct) = match constraint {
            Constraint::Unique { nulls_not_distinct, .. } => (false, *nulls_not_distinct),
            _ => (true, false),
        };
        let (Constraint::Primary { name, columns, include, deferred, parameters, span }
        | Constraint::Unique { name, columns, include, deferred, parameters, span, .. }) = constraint
        else {
            return Err(SqlError::internal("the index of a constraint that has none"));
        };
        let what = if primary { "primary key" } else { "unique" };
        let at_constraint = |error: SqlError| error.about_part(*span);
        let keys = self.key_columns(columns, what).map_err(at_constraint)?;
        for key in &keys {
            super::create_index::ordered(self.table.column(*key).map_or(SqlType::TEXT, |column| column.ty))?;
        }
        let include = self.key_columns(include, what).map_err(at_constraint)?;
        super::create_index::at_most(keys.len() + include.len())?;
        let name = match name {
            Some(name) => {
                let name = name.value.clone();
                self.chosen.claim_relation(self.context, &self.schema.name, &name)?;
                self.chosen.claim_constraint(&self.table, &name)?;
                name
            }
            None => {
                let included =
                    include.iter().filter_map(|id| self.table.column(*id)).map(|column| column.name.as_str());
                let joined = columns.iter().map(String::as_str).chain(included).collect::<Vec<_>>().join("_");
                let (column, label) = if primary { (None, "pkey") } else { (Some(joined.as_str()), "key") };
                self.chosen.relation(self.context, &self.schema.name, &self.table.name, column, label)
            }
        };
        let mut stored = Vec::new();
        storage_parameter::set(Of::Index, &mut stored, parameters)?;
        let numbers = self.context.store.numbers();
        let keyed = primary && deferred.is_none();
        let storage_id = if keyed { self.table.storage_id } else { self.context.new_storage().await? };
        Ok(IndexDescriptor {
            oid: numbers.oid().await?,
            name,
            storage_id,
            columns: keys.into_iter().map(|column| IndexColumn { column, ..Default::default() }).collect(),
            include,
            unique: deferred.is_none(),
            primary: keyed,
            nulls_not_distinct,
            deferral: deferred.map(|deferred| Deferral { deferred, primary }),
            constraint: Some(numbers.oid().await?),
            state: IndexState::Public,
            parameters: stored,
            ..Default::default()
        })
    }

    fn key_columns(&self, names: &[String], what: &str) -> Result<Vec<ColumnId>> {
        let mut ids = Vec::with_capacity(names.len());
        for name in names {
            let column = self.table.column_named(name).ok_or_else(|| {
                SqlError::new(state::UNDEFINED_COLUMN, format!("column \"{name}\" named in key does not exist"))
            })?;
            if ids.contains(&column.id) {
                let message = format!("column \"{name}\" appears twice in {what} constraint");
                return Err(SqlError::new(state::DUPLICATE_COLUMN, message));
            }
            ids.push(column.id);
        }
        Ok(ids)
    }
}

fn invalid(message: &str) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}
