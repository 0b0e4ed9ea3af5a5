//! The table of CREATE TABLE AS and SELECT INTO. The session inserts its rows.

use super::names::Chosen;
use super::{DdlContext, storage_parameter};
use catalog::{ColumnDescriptor, ColumnId, RelationKind, TableDescriptor};
use context::output_column::OutputColumn;
use sql_error::{Result, SqlError, state};
use syntax::{CreateTableAs, ast};

/// Creates a table with the columns of a query. `None` if IF NOT EXISTS finds a table of that name.
pub async fn create(
    context: &DdlContext,
    create: &CreateTableAs,
    outputs: &[OutputColumn],
) -> Result<Option<TableDescriptor>> {
    let temporary = create.persistence == ast::Persistence::Temporary;
    let (schema, name) = context.new_relation_of(&create.name, temporary)?;
    if create.if_not_exists && context.catalog.name_is_taken(&schema.name, &name) {
        context.notice(state::DUPLICATE_TABLE, format!("relation \"{name}\" already exists, skipping"));
        return Ok(None);
    }
    let columns = columns(&create.columns, outputs)?;
    Chosen::default().claim_relation(context, &schema.name, &name)?;
    context.no_type_named(&schema.name, &name)?;
    let storage = &create.storage;
    let parameters = storage_parameter::of_new_table(&storage.options)?;
    let (persistence, on_commit) = context.persistence(&schema, create.persistence, storage.on_commit)?;
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
        columns,
        indexes: Vec::new(),
        checks: Vec::new(),
        sequence: None,
        view: None,
        foreign_keys: Vec::new(),
        comments: Vec::new(),
        owner: context.user,
        persistence,
        on_commit,
        parameters,
        acl: context.first_acl_in(catalog::acl::Kind::Table, &schema),
        ..Default::default()
    };
    let mut writer = context.writer();
    writer.put_table(&table).await?;
    writer.flush().await?;
    Ok(Some(table))
}

/// Columns of these types. The names given apply to the first of them. Errors: 42601, 42701, 42P16.
fn columns(names: &[String], outputs: &[OutputColumn]) -> Result<Vec<ColumnDescriptor>> {
    if names.len() > outputs.len() {
        return Err(SqlError::syntax("too many column names were specified"));
    }
    let mut columns: Vec<ColumnDescriptor> = Vec::with_capacity(outputs.len());
    super::names::no_column_twice(
        outputs.iter().enumerate().map(|(at, output)| names.get(at).unwrap_or(&output.name).as_str()),
    )?;
    for (at, output) in outputs.iter().enumerate() {
        let name = names.get(at).unwrap_or(&output.name).clone();
        if output.ty.row_of().is_some() {
            return Err(SqlError::unsupported("columns of the type of a table's rows"));
        }
        if output.ty.is_pseudo() {
            let message = format!("column \"{name}\" has pseudo-type {}", output.ty.name());
            return Err(SqlError::new(state::INVALID_TABLE_DEFINITION, message));
        }
        let id = ColumnId::try_from(at + 1).ok().filter(|id| *id <= 1600);
        columns.push(ColumnDescriptor {
            id: id.ok_or_else(|| SqlError::new("54011", "tables can have at most 1600 columns"))?,
            name,
            ty: output.ty,
            not_null: false,
            default: None,
            identity: None,
            missing: None,
            dropped: false,
            ..Default::default()
        });
    }
    Ok(columns)
}
