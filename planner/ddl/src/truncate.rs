//! TRUNCATE: assigns new storage ids in the same transaction. The old rows are removed later.

use super::{DdlContext, referenced, sequence};
use catalog::acl::TRUNCATE;
use catalog::{RelationKind, TableDescriptor};
use sql_error::{Result, SqlError, state};
use std::collections::BTreeMap;
use std::sync::Arc;
use syntax::ast::{Name, Truncate};
use types::Oid;

/// A table to truncate. Errors: 42P01, 42809.
fn truncated(context: &DdlContext, name: &Name) -> Result<Arc<TableDescriptor>> {
    let Some(found) = context.find(name)? else { return Err(context.no_relation_of(name, "table")) };
    let view = found.kind == RelationKind::SystemView && found.schema == "information_schema";
    if view {
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{}\" is not a table", found.name)));
    }
    super::names::expect_kind(&found, RelationKind::Table)?;
    Ok(found)
}

pub(super) async fn execute(context: &DdlContext, truncate: &Truncate) -> Result<String> {
    let mut tables: BTreeMap<Oid, TableDescriptor> = BTreeMap::new();
    for target in &truncate.tables {
        let found = truncated(context, &target.name)?;
        context.may(&found, TRUNCATE)?;
        context.take_alone(&found).await?;
        context.must_be_idle(&found, "TRUNCATE")?;
        let mut table = TableDescriptor::clone(&found);
        table.version += 1;
        tables.insert(table.oid, table);
    }
    let more = referenced::truncated_too(context, &tables, truncate.cascade)?;
    for more in &more {
        context.may(more, TRUNCATE)?;
        context.take_alone(more).await?;
        context.must_be_idle(more, "TRUNCATE")?;
        let mut table = TableDescriptor::clone(more);
        table.version += 1;
        tables.insert(table.oid, table);
    }
    // These come last, because waiting for their locks may restart the statement.
    for more in &more {
        context.notice(state::SUCCESSFUL_COMPLETION, format!("truncate cascades to table \"{}\"", more.name));
    }
    let mut writer = context.writer();
    for table in tables.values_mut() {
        writer.drop_storage(table.storage_id)?;
        table.storage_id = context.new_storage().await?;
        for index in &mut table.indexes {
            if index.primary {
                index.storage_id = table.storage_id;
            } else {
                writer.drop_storage(index.storage_id)?;
                index.storage_id = context.new_storage().await?;
            }
        }
        if truncate.restart_identity {
            for column in table.live_columns() {
                if let Some(owned) = context.catalog.owned_sequence(table.oid, column.id) {
                    context.must_own(&owned)?;
                    sequence::restart(context, &mut writer, &owned, None).await?;
                }
            }
        }
        writer.put_table(table).await?;
        writer.forget_statistics(table.oid);
    }
    writer.flush().await?;
    Ok("TRUNCATE TABLE".into())
}
