//! REINDEX: rebuilds indexes. Indexes always agree with their tables (CHECK INDEX verifies it), so there is nothing to
//! repair. A primary key is the table's rows, which exist only once.

use super::{DdlContext, backfill};
use catalog::{RelationKind, TableDescriptor};
use sql_error::{Result, SqlError, state};
use syntax::{Reindex, ReindexKind, fold_name};
use types::Oid;

/// Runs REINDEX. Returns its command tag.
pub async fn reindex(context: &DdlContext, reindex: &Reindex) -> Result<String> {
    let (schema, name) = match &reindex.name {
        Some(name) => fold_name(name)?,
        None => (None, context.catalog.database().name.clone()),
    };
    match reindex.kind {
        ReindexKind::Index => {
            let path = context.settings.search_path();
            let found = context.catalog.index_named(schema.as_deref(), &name, path);
            let Some((table, position)) = found else {
                let Some(shown) = &reindex.name else { return Ok("REINDEX".into()) };
                if context.find(shown)?.is_some() {
                    let message = format!("\"{name}\" is not an index");
                    return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
                }
                return Err(context.no_relation(shown));
            };
            let only = table.indexes.get(position).map(|index| index.oid);
            rebuild(context, &table, only).await?;
        }
        ReindexKind::Table => {
            let Some(shown) = &reindex.name else { return Ok("REINDEX".into()) };
            let found = context.find(shown)?;
            let path = context.settings.search_path();
            if found.is_none() && context.catalog.index_named(schema.as_deref(), &name, path).is_some() {
                let message = format!("\"{name}\" is not a table or materialized view");
                return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
            }
            let Some(table) = found else { return Err(context.no_relation(shown)) };
            if table.kind != RelationKind::Table {
                let message = format!("\"{name}\" is not a table or materialized view");
                return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
            }
            if table.indexes.is_empty() {
                context.notice(state::SUCCESSFUL_COMPLETION, format!("table \"{name}\" has no indexes to reindex"));
            }
            rebuild(context, &table, None).await?;
        }
        ReindexKind::Schema | ReindexKind::Database => {
            let within = match reindex.kind {
                ReindexKind::Schema => Some(context.schema(&name)?),
                _ if name != context.catalog.database().name => {
                    let message = "can only reindex the currently open database";
                    return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
                }
                _ => None,
            };
            let owner = within.as_ref().map_or(context.catalog.database().owner, |schema| schema.owner);
            if !context.is_owner(owner) {
                let what = if within.is_some() { "schema" } else { "database" };
                let message = format!("must be owner of {what} {name}");
                return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, message));
            }
            let inside = |table: &TableDescriptor| {
                table.kind == RelationKind::Table && within.as_ref().is_none_or(|schema| schema.oid == table.schema_oid)
            };
            for table in context.catalog.user_relations().filter(|table| inside(table)) {
                rebuild(context, table, None).await?;
            }
        }
        // System catalogs are computed and have no indexes.
        ReindexKind::System => {}
    }
    Ok("REINDEX".into())
}

/// Rebuilds the secondary indexes of a table, or one of them, under new storage ids.
async fn rebuild(context: &DdlContext, table: &TableDescriptor, only: Option<Oid>) -> Result<()> {
    context.lock(table).await?;
    let mut changed = table.clone();
    changed.version += 1;
    let mut writer = context.writer();
    for index in changed.indexes.iter_mut().filter(|index| !index.primary) {
        if only.is_some_and(|only| only != index.oid) || index.state != catalog::IndexState::Public {
            continue;
        }
        writer.drop_storage(index.storage_id)?;
        index.storage_id = context.new_storage().await?;
        backfill::fill_index(context, table, index).await?;
    }
    writer.put_table(&changed).await?;
    writer.flush().await
}
