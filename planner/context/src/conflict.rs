//! Names the object of a conflict between transactions: turns a conflicting key into table, constraint and values.

use super::server::ServerShared;
use super::shared::SessionShared;
use bytes::Bytes;
use catalog::encoding::{IndexDecoder, RowDecoder, storage_id_of};
use catalog::{Catalog, CatalogStore, ColumnId, TableDescriptor, keys};
use settings::Settings;
use sql_error::{Result, SqlError, serialization_message, state};
use std::sync::Arc;
use txn::{Conflict, ConflictKind, OwnWrites, TransactionOptions, TxnError};
use types::Oid;
use types::text::{OutputContext, output_string};

/// The error of a refused transaction, with table and key in its detail where they can be found. Records the loss for
/// the session's next turn.
pub async fn name_conflict(
    database: &ServerShared,
    shared: &SessionShared,
    catalog: Option<&Arc<Catalog>>,
    settings: &Settings,
    error: TxnError,
) -> SqlError {
    let TxnError::Conflict(conflict) = &error else { return error.into() };
    if keys::is_node_fence(&conflict.key) {
        return SqlError::new(
            state::SERIALIZATION_FAILURE,
            "could not serialize access due to a definition on another server",
        )
        .detail(
            "This server gave no sign of life while the other one waited for its transactions, which were given up.",
        )
        .hint("The transaction might succeed if retried.");
    }
    if matches!(conflict.kind, ConflictKind::Write | ConflictKind::Read) {
        shared.losses.lock().lost(&conflict.key);
    }
    let named = match catalog {
        Some(catalog) => describe(database, shared, catalog, settings, conflict).await,
        None => None,
    };
    let Some((table, detail)) = named else { return error.into() };
    SqlError::new(state::SERIALIZATION_FAILURE, serialization_message(conflict.kind))
        .detail(detail)
        .hint("The transaction might succeed if retried.")
        .table(&table.schema, &table.name)
}

async fn describe(
    database: &ServerShared,
    shared: &SessionShared,
    catalog: &Arc<Catalog>,
    settings: &Settings,
    conflict: &Conflict,
) -> Option<(Arc<TableDescriptor>, String)> {
    let key = &conflict.key;
    if let Some((table, index)) = storage_id_of(key).and_then(|storage| catalog.by_storage_id(storage)) {
        let role = catalog.role(settings.user()).map_or(Oid::MAX, |role| role.oid);
        let text = match catalog.reads(role, &table, key_columns(&table, index)) {
            true => key_text(database, &table, index, key).await,
            false => None,
        };
        let what = match conflict.kind {
            ConflictKind::LockOnly => "locked",
            ConflictKind::Lock => "being changed",
            ConflictKind::RolledBack => "rolled back",
            ConflictKind::Write | ConflictKind::Condition | ConflictKind::Read => "changed",
        };
        let text = text.map_or_else(|| "A key".to_string(), |text| format!("Key {text}"));
        if conflict.kind == ConflictKind::Read {
            let index = table.indexes.get(index).filter(|index| !index.primary);
            let by = index.map_or_else(String::new, |index| format!(", read by index \"{}\",", index.name));
            let detail =
                format!("{text} of table \"{}\"{by} was changed by another transaction after it was read.", table.name);
            return Some((table, detail));
        }
        let detail = format!("{text} of table \"{}\" was {what} by another transaction.", table.name);
        return Some((table, detail));
    }
    let table = catalog
        .relations()
        .into_iter()
        .find(|table| CatalogStore::is_definition_of(key, shared.database_oid, table.oid))?;
    let detail = format!("The definition of table \"{}\" was changed by another transaction.", table.name);
    Some((table, detail))
}

/// The columns whose values form the keys of an index. 0 stands for an expression.
pub fn key_columns(table: &TableDescriptor, index: usize) -> Vec<ColumnId> {
    table.indexes.get(index).map(|index| index.columns.iter().map(|key| key.column).collect()).unwrap_or_default()
}

/// `(id)=(1)`: the values of the key, as far as the key itself or the present row tells them.
pub async fn key_text(
    database: &ServerShared,
    table: &Arc<TableDescriptor>,
    index: usize,
    key: &Bytes,
) -> Option<String> {
    let descriptor = table.indexes.get(index)?;
    let ids: Vec<ColumnId> = descriptor.columns.iter().map(|column| column.column).collect();
    let reader = database.transactions().begin(TransactionOptions { read_only: true, ..Default::default() });
    let value = reader.get(key, OwnWrites::All).await;
    reader.rollback().await;
    let value = value.ok().flatten()?;
    let arrays = if descriptor.primary {
        let mut decoder = RowDecoder::new(table, &ids, false).ok()?;
        decoder.push(key, &value).ok()?;
        decoder.finish().ok()?
    } else {
        let mut decoder = IndexDecoder::new(table, descriptor, &ids, false).ok()?;
        decoder.push(key, &value).ok()?;
        decoder.finish().ok()?
    };
    let text = |(id, array): (&ColumnId, &arrow::array::ArrayRef)| -> Result<(String, String)> {
        let column = table.column(*id).ok_or_else(|| SqlError::internal("an unknown key column"))?;
        let value = if array.is_null(0) {
            "null".to_string()
        } else {
            output_string(column.ty, array.as_ref(), 0, &OutputContext::PLAIN)?
        };
        Ok((column.name.clone(), value))
    };
    let (names, values): (Vec<String>, Vec<String>) =
        ids.iter().zip(&arrays).map(text).collect::<Result<Vec<_>>>().ok()?.into_iter().unzip();
    Some(format!("({})=({})", names.join(", "), values.join(", ")))
}
