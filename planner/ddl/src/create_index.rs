//! CREATE INDEX: its options, and its execution in a block. `online` builds an index outside a block.

use super::names::Chosen;
use super::storage_parameter::{self, Of};
use super::{DdlContext, backfill, canonical, enumeration, evaluate, names};
use binder::is_immutable;
use catalog::{
    ColumnDescriptor, ColumnId, IndexColumn, IndexDescriptor, IndexExpression, IndexState, RelationKind,
    StoredParameters, TableDescriptor,
};
use pg_catalog::object_names::collation_oid;
use pg_catalog::{self, describe};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::ast::{CreateIndex, Expr, ExprKind, IndexKey, Literal, Name, OptionItem};
use syntax::fold_name;
use types::{BaseType, Oid, SqlType};

/// CREATE INDEX in a block: locks the table, then fills the index from a later snapshot.
pub(super) async fn execute(context: &DdlContext, create: &CreateIndex) -> Result<String> {
    if create.concurrently {
        return Err(SqlError::new(
            state::ACTIVE_SQL_TRANSACTION,
            "CREATE INDEX CONCURRENTLY cannot run inside a transaction block",
        ));
    }
    if target(context, create)?.is_none() {
        return Ok("CREATE INDEX".into());
    }
    let mut table = context.locked_table(&create.table.name).await?;
    let index = describe(context, create, &table).await?;
    backfill::fill_index(context, &table, &index).await?;
    table.indexes.push(index);
    let mut writer = context.writer();
    writer.put_table(&table).await?;
    writer.flush().await?;
    Ok("CREATE INDEX".into())
}

/// Validates the statement and returns the table. `None` if IF NOT EXISTS finds an index of that name. Errors:
/// 42P01, 42P07, 42809, 42501.
pub(super) fn target(context: &DdlContext, create: &CreateIndex) -> Result<Option<Arc<TableDescriptor>>> {
    let table_name = &create.table.name;
    let Some(table) = context.find(table_name)? else { return Err(context.no_relation(table_name)) };
    if table.kind == RelationKind::View {
        let message = format!("cannot create index on relation \"{}\"", table.name);
        return Err(
            SqlError::new(state::WRONG_OBJECT_TYPE, message).detail("This operation is not supported for views.")
        );
    }
    names::expect_kind(&table, RelationKind::Table)?;
    if !context.is_owner(table.owner) {
        let message = format!("must be owner of table {}", table.name);
        return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
    }
    context.may_create_in(&*context.schema(&table.schema)?)?;
    if let Some(name) = create.name.as_ref().map(|name| name.value.as_str()) {
        if create.if_not_exists && context.catalog.name_is_taken(&table.schema, name) {
            context.notice(state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
            return Ok(None);
        }
        Chosen::default().claim_relation(context, &table.schema, name)?;
    }
    parameters(&create.options)?;
    Ok(Some(table))
}

/// The parameters in WITH (…). Errors: 22023.
fn parameters(options: &[OptionItem]) -> Result<StoredParameters> {
    let mut stored = Vec::new();
    storage_parameter::set(Of::Index, &mut stored, &syntax::options::parameters(options)?)?;
    Ok(stored)
}

/// Errors: 54011 for more columns than an index of PostgreSQL may have.
pub(super) fn at_most(columns: usize) -> Result<()> {
    const MOST: usize = 32;
    if columns <= MOST {
        return Ok(());
    }
    Err(SqlError::new("54011", format!("cannot use more than {MOST} columns in an index")))
}

/// Makes the descriptor of the index.
pub(super) async fn describe(
    context: &DdlContext,
    create: &CreateIndex,
    table: &TableDescriptor,
) -> Result<IndexDescriptor> {
    at_most(create.keys.len() + create.include.len())?;
    let (columns, expressions) = key_columns(context, table, &create.keys)?;
    let predicate = create.predicate.as_ref().map(|expr| predicate(context, table, expr)).transpose()?;
    let include = include_columns(table, &create.include)?;
    let name = match &create.name {
        Some(name) => name.value.clone(),
        None => {
            let mut of_expressions = expressions.iter();
            let keys = columns.iter().filter_map(|key| match key.column {
                0 => of_expressions.next().map(|expression| expression.name.as_str()),
                id => table.column(id).map(|column| column.name.as_str()),
            });
            let included = include.iter().filter_map(|id| table.column(*id)).map(|column| column.name.as_str());
            let names = describe::each_once(keys.chain(included));
            Chosen::default().relation(context, &table.schema, &table.name, Some(&names.join("_")), "idx")
        }
    };
    let numbers = context.store.numbers();
    Ok(IndexDescriptor {
        oid: numbers.oid().await?,
        name,
        storage_id: context.new_storage().await?,
        columns,
        include,
        unique: create.unique,
        primary: false,
        constraint: None,
        state: IndexState::Public,
        expressions,
        predicate,
        nulls_not_distinct: create.nulls_not_distinct,
        deferral: None,
        parameters: parameters(&create.options)?,
    })
}

/// Errors: 42704 for a type without an order.
pub(super) fn ordered(ty: SqlType) -> Result<()> {
    if !matches!(ty.base, BaseType::Json | BaseType::Jsonpath | BaseType::Unknown | BaseType::Xid | BaseType::Cid) {
        return Ok(());
    }
    let message = format!("data type {} has no default operator class for access method \"btree\"", ty.name());
    Err(SqlError::new(state::UNDEFINED_OBJECT, message)
        .hint("You must specify an operator class for the index or define a default operator class for the data type."))
}

/// The OID of a btree operator class that is equivalent to the type's default, or 0 for the default itself. Every order
/// here is that of the bytes or of the values.
pub(super) fn operator_class(name: &str, ty: SqlType) -> Result<Oid> {
    let string = |ty: SqlType| ty.is_string() || ty == SqlType::NAME;
    let fits = match name {
        "text_ops" | "varchar_ops" | "text_pattern_ops" | "varchar_pattern_ops" => {
            string(ty) && ty.base != BaseType::Char
        }
        "bpchar_ops" | "bpchar_pattern_ops" => ty.base == BaseType::Char,
        "name_ops" => ty == SqlType::NAME,
        "int2_ops" => ty.base == BaseType::Int2,
        "int4_ops" => ty.base == BaseType::Int4,
        "int8_ops" => ty.base == BaseType::Int8,
        "float4_ops" => ty.base == BaseType::Float4,
        "float8_ops" => ty.base == BaseType::Float8,
        "numeric_ops" => ty.base == BaseType::Numeric,
        "bool_ops" => ty.base == BaseType::Bool,
        "bytea_ops" => ty.base == BaseType::Bytea,
        "date_ops" => ty.base == BaseType::Date,
        "time_ops" => ty.base == BaseType::Time,
        "timetz_ops" => ty.base == BaseType::Timetz,
        "timestamp_ops" => ty.base == BaseType::Timestamp,
        "timestamptz_ops" => ty.base == BaseType::Timestamptz,
        "interval_ops" => ty.base == BaseType::Interval,
        "uuid_ops" => ty.base == BaseType::Uuid,
        "oid_ops" => ty.base == BaseType::Oid,
        "jsonb_ops" => ty.base == BaseType::Jsonb,
        "enum_ops" => matches!(ty.base, BaseType::Enum(_)),
        "array_ops" => ty.array,
        _ => {
            let message = format!("operator class \"{name}\" does not exist for access method \"btree\"");
            return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
        }
    };
    if fits && (name == "array_ops") == ty.array {
        let found = pg_catalog::present::operator_class_named(name).unwrap_or_default();
        return Ok(if found == pg_catalog::present::operator_class(&ty) { 0 } else { found });
    }
    let message = format!("operator class \"{name}\" does not accept data type {}", ty.format());
    Err(SqlError::new(state::DATATYPE_MISMATCH, message))
}

/// The collation of a key. 0 for the default of its column or of the expression's type.
fn other_collation(name: &Name, column: Option<&ColumnDescriptor>, ty: SqlType) -> Result<Oid> {
    let name = binder::collation_named(name)?;
    let own = column.and_then(|column| column.collation.as_deref());
    let own = own.unwrap_or(if ty == SqlType::NAME { "C" } else { "default" });
    Ok(if name == own { 0 } else { collation_oid(name) })
}

/// The value of a key without COLLATE, and its collation. COLLATE behind the parentheses counts before one within.
fn plain(key: &IndexKey) -> Result<(&Expr, Option<&Name>)> {
    let (mut value, mut collation) = (&key.value, key.collation.as_ref());
    while let ExprKind::Collate { operand, collation: own, .. } = &value.kind {
        binder::collation_named(own)?;
        collation = collation.or(Some(own));
        value = operand;
    }
    if let Some(collation) = &key.collation {
        binder::collation_named(collation)?;
    }
    Ok((value, collation))
}

/// Whether an expression is a bare string or NULL, which has no type.
fn is_bare(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Null | Literal::String(_)))
}

/// The name of a key that is a plain column.
fn column_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Column(parts) => match parts.as_slice() {
            [column] => Some(&column.value),
            _ => None,
        },
        _ => None,
    }
}

/// The key columns, and the expressions among them. Errors: 42703, 42P17, and as in a statement.
fn key_columns(
    context: &DdlContext,
    table: &TableDescriptor,
    written: &[IndexKey],
) -> Result<(Vec<IndexColumn>, Vec<IndexExpression>)> {
    let (mut keys, mut expressions) = (Vec::with_capacity(written.len()), Vec::<IndexExpression>::new());
    let mut labels: Vec<String> = Vec::with_capacity(written.len());
    for key in written {
        let (expr, collation) = plain(key)?;
        let (id, ty) = match column_name(expr) {
            Some(name) => {
                let found = table.column_named(name).ok_or_else(|| {
                    if names::no_system_column(name).is_err() {
                        let message = "index creation on system columns is not supported";
                        return SqlError::new(state::FEATURE_NOT_SUPPORTED, message);
                    }
                    SqlError::new(state::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"))
                })?;
                labels.push(found.name.clone());
                (found.id, found.ty)
            }
            None => {
                let text = expression_text(context, expr, "index expression")?;
                let (typed, fixed) = evaluate::stored(context, table, &text, "index expression")?;
                let text = fixed.unwrap_or(text);
                if typed.ty.as_record().is_some() {
                    let name = binder::output_name(expr);
                    let message = format!("column \"{name}\" has pseudo-type record");
                    return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
                }
                if is_bare(expr) {
                    ordered(SqlType::UNKNOWN)?;
                }
                if !is_immutable(&typed.expr) {
                    let message = "functions in index expression must be marked IMMUTABLE";
                    return Err(SqlError::new(state::INVALID_OBJECT_DEFINITION, message));
                }
                let mut name = binder::output_name(expr);
                if name == "?column?" {
                    name = "expr".to_string();
                }
                // The name is made distinct from those of the keys before.
                let before = labels.iter().map(String::as_str).chain([name.as_str()]);
                name = describe::each_once(before).pop().unwrap_or_default();
                labels.push(name.clone());
                expressions.push(IndexExpression { text, ty: typed.ty, name, statistics: None });
                (0, typed.ty)
            }
        };
        if collation.is_some() {
            binder::check_collatable(ty)?;
        }
        ordered(ty)?;
        let class = match &key.class {
            Some(class) => operator_class(&fold_name(class)?.1, ty)?,
            None => 0,
        };
        if !key.class_options.is_empty() {
            return Err(SqlError::unsupported("the parameters of an operator class"));
        }
        let descending = key.descending == Some(true);
        let nulls_first = key.nulls_first.unwrap_or(descending);
        let collation = match collation {
            Some(collation) => other_collation(collation, table.column(id), ty)?,
            None => 0,
        };
        keys.push(IndexColumn { column: id, descending, nulls_first, collation, class });
    }
    Ok((keys, expressions))
}

/// The stored text of an expression. Errors: 0A000 for subqueries.
fn expression_text(context: &DdlContext, expr: &Expr, what: &str) -> Result<String> {
    canonical::referenced(expr).map_err(|_| {
        let error = SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("cannot use subquery in {what}"));
        canonical::about_subquery(error, expr)
    })?;
    Ok(canonical::text(&enumeration::with_schemas(context, expr)))
}

/// WHERE of a partial index. Errors: 42804, 42P17, and as in a statement.
fn predicate(context: &DdlContext, table: &TableDescriptor, expr: &Expr) -> Result<String> {
    let text = expression_text(context, expr, "index predicate")?;
    let (typed, fixed) = evaluate::stored(context, table, &text, "index predicate")?;
    let text = fixed.unwrap_or(text);
    if typed.ty != SqlType::BOOL {
        let message = format!("argument of WHERE must be type boolean, not type {}", typed.ty.name());
        return Err(SqlError::new(state::DATATYPE_MISMATCH, message).about_part(expr.span));
    }
    if !is_immutable(&typed.expr) {
        let message = "functions in index predicate must be marked IMMUTABLE";
        return Err(SqlError::new(state::INVALID_OBJECT_DEFINITION, message));
    }
    Ok(if text.starts_with('(') || is_name(&text) { text } else { format!("({text})") })
}

/// Whether a text is a column's name or a call, which need no parentheses.
fn is_name(text: &str) -> bool {
    !text.contains(' ')
}

/// The columns of INCLUDE. Errors: 42703, 0A000 for expressions, 42P17 for what only keys have.
fn include_columns(table: &TableDescriptor, included: &[IndexKey]) -> Result<Vec<ColumnId>> {
    let mut ids = Vec::with_capacity(included.len());
    for key in included {
        let name = column_name(&key.value).ok_or_else(|| {
            let message = "expressions are not supported in included columns";
            SqlError::new(state::FEATURE_NOT_SUPPORTED, message)
        })?;
        let column = table
            .column_named(name)
            .ok_or_else(|| SqlError::new(state::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist")))?;
        let of_keys = [
            (key.collation.is_some(), "a collation"),
            (key.class.is_some(), "an operator class"),
            (key.descending.is_some(), "ASC/DESC options"),
            (key.nulls_first.is_some(), "NULLS FIRST/LAST options"),
        ];
        if let Some((_, what)) = of_keys.into_iter().find(|(is, _)| *is) {
            let message = format!("including column does not support {what}");
            return Err(SqlError::new(state::INVALID_OBJECT_DEFINITION, message));
        }
        ids.push(column.id);
    }
    Ok(ids)
}
