//! Filling indexes and rewriting rows: streams a table, in bounded memory, from a snapshot that
//! is newer than the metadata lock.

use super::DdlContext;
use super::create_table::Making;
use crate::catalog::{CheckDescriptor, ColumnId, IndexDescriptor, StorageId, TableDescriptor, keys};
use crate::error::{Result, SqlError, state};
use futures::TryStreamExt;
use std::sync::Arc;
use storage::{Family, ReadFilter, RowRange, ScanOptions, TimestampRange};
use txn::{OwnWrites, Transaction, TransactionOptions, TxnScanOptions};

/// The transaction to read a locked table with. A snapshot taken before the lock may miss what
/// others have committed until then: when this transaction wrote nothing yet, a fresh one sees
/// it; else nothing may have been committed since. Errors: 40001.
pub(super) async fn reader(context: &DdlContext, storage_id: StorageId) -> Result<Arc<Transaction>> {
    let own = &context.transaction;
    if !own.has_writes() {
        let options = TransactionOptions { read_only: true, ..TransactionOptions::default() };
        return Ok(context.store.transactions().begin(options));
    }
    let snapshot = own.snapshot_ts().await?;
    let filter = ReadFilter::new().with(Family::Write, TimestampRange::after(snapshot), 1);
    let options = ScanOptions { limit: Some(1), ..ScanOptions::default() };
    let store = Arc::clone(own_store(context));
    let newer = store.scan(keys::rows_of(storage_id), filter, options).try_next().await?;
    if newer.is_some_and(|rows| rows.iter().any(|row| !row.cells.is_empty())) {
        return Err(SqlError::new(
            state::SERIALIZATION_FAILURE,
            "could not serialize access: the table changed after this transaction's snapshot",
        )
        .hint("The transaction might succeed if retried."));
    }
    Ok(Arc::clone(own))
}

fn own_store(context: &DdlContext) -> &storage::StoreRef {
    context.store.transactions().store()
}

/// Whether a table has rows, as this statement must see them.
pub(super) async fn has_rows(context: &DdlContext, storage_id: StorageId) -> Result<bool> {
    let reader = reader(context, storage_id).await?;
    let options = TxnScanOptions { limit: Some(1), ..TxnScanOptions::default() };
    let range: RowRange = keys::rows_of(storage_id);
    let first = reader.scan(range, options, OwnWrites::All).try_next().await?;
    Ok(first.is_some_and(|rows| !rows.is_empty()))
}

/// Writes the entries of a new index.
pub(super) async fn fill_index(context: &DdlContext, table: &TableDescriptor, index: &IndexDescriptor) -> Result<()> {
    if has_rows(context, table.storage_id).await? {
        return Err(SqlError::unsupported(format!("an index on \"{}\", which has rows: {}", table.name, index.name)));
    }
    Ok(())
}

/// Rewrites the rows of a table under new storage ids, from the form `before`.
pub(super) async fn rewrite(making: &mut Making<'_>, before: &TableDescriptor) -> Result<()> {
    let _ = making;
    Err(SqlError::unsupported(format!("rewriting \"{}\", which has rows", before.name)))
}

/// Checks that every row satisfies a CHECK. Errors: 23514.
pub(super) async fn validate_check(
    context: &DdlContext,
    table: &TableDescriptor,
    check: &CheckDescriptor,
) -> Result<()> {
    if has_rows(context, table.storage_id).await? {
        return Err(SqlError::unsupported(format!("adding CHECK {} to a table that has rows", check.name)));
    }
    Ok(())
}

/// Checks that a column has no NULL. Errors: 23502.
pub(super) async fn validate_not_null(context: &DdlContext, table: &TableDescriptor, _column: ColumnId) -> Result<()> {
    if has_rows(context, table.storage_id).await? {
        return Err(SqlError::unsupported("SET NOT NULL on a table that has rows"));
    }
    Ok(())
}
