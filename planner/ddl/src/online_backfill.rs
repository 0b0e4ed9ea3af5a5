//! [`Backfill`]: creates the index entries of existing rows while writers maintain the index. It uses small
//! transactions, which block nobody and rarely conflict.

use super::backfill::duplicated;
use super::computed::index_writer;
use super::online::{IndexBuild, point};
use bytes::Bytes;
use catalog::encoding::RowDecoder;
use catalog::{CatalogStore, ColumnId, IndexState, keys};
use futures::TryStreamExt;
use sql_error::{Result, SqlError, state};
use std::collections::HashMap;
use std::time::Duration;
use storage::RowRange;
use txn::{LockStrength, OwnWrites, TransactionOptions, TxnScanOptions, Write, WriteKind};

/// The greatest number of rows in one transaction. A conflict reduces it.
const MOST_ROWS: usize = 256;
/// The pause after a conflict.
const REST: Duration = Duration::from_millis(2);

/// The backfill of one index.
pub(super) struct Backfill<'a> {
    build: &'a IndexBuild,
    /// The key of the first row that may lack its entry. `None` before the first batch.
    from: Option<Bytes>,
    rows: usize,
}

impl<'a> Backfill<'a> {
    /// Begins with the first row.
    pub(super) fn new(build: &'a IndexBuild) -> Self {
        Backfill { build, from: None, rows: MOST_ROWS }
    }
    /// Runs up to the last row. Errors: 23505 for duplicates in a unique index.
    pub(super) async fn run(mut self) -> Result<()> {
        loop {
            self.build.pass(point::BATCH).await?;
            match self.batch().await {
                Ok(Some(last)) => {
                    let mut next = last.to_vec();
                    next.push(0);
                    self.from = Some(next.into());
                    self.rows = (self.rows * 2).min(MOST_ROWS);
                }
                Ok(None) => return Ok(()),
                Err(error) if error.is_retryable() => {
                    self.rows = (self.rows / 4).max(1);
                    self.build.store.env().sleep(REST).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Runs one transaction. Returns the last row's key, or `None` if there was no row.
    async fn batch(&self) -> Result<Option<Bytes>> {
        // The next state is synced to disk, and earlier commits with it.
        let options = TransactionOptions { durable: false, ..TransactionOptions::default() };
        let (transaction, table, index) = self.build.begin_with(options).await?;
        if index.state != IndexState::WriteOnly {
            let message = "the index is not being built any more";
            return Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        let mut range: RowRange = keys::rows_of(table.storage_id);
        if let Some(from) = &self.from {
            range.start = from.clone();
        }
        let options = TxnScanOptions { batch_rows: self.rows, limit: Some(self.rows), ..TxnScanOptions::default() };
        let columns: Vec<ColumnId> = table.live_columns().map(|column| column.id).collect();
        let mut decoder = RowDecoder::new(&table, &columns, false)?;
        let mut row_keys = Vec::new();
        let mut found = transaction.scan(range, options, OwnWrites::All);
        while let Some(pairs) = found.try_next().await? {
            for (key, value) in pairs {
                decoder.push(&key, &value)?;
                row_keys.push(key);
            }
        }
        drop(found);
        let Some(last) = row_keys.last().cloned() else { return Ok(None) };
        let arrays = decoder.finish()?;
        let catalog = self.build.store.snapshot(&transaction, self.build.database).await?;
        let writer = index_writer(&catalog, &table, &index)?;
        let mut entries: Vec<(usize, Bytes, Bytes, bool)> = Vec::with_capacity(row_keys.len());
        for (row, entry) in writer.entries(&arrays, &row_keys)?.into_iter().enumerate() {
            if let Some(entry) = entry {
                entries.push((row, entry.key.into(), entry.value.into(), entry.unique));
            }
        }
        let wanted: Vec<Bytes> = entries.iter().map(|(_, key, _, _)| key.clone()).collect();
        let stored = transaction.get_many(&wanted, OwnWrites::All).await?;
        let mut writes: Vec<Write> = Vec::new();
        let mut taken: HashMap<Bytes, usize> = HashMap::new();
        for ((row, key, value, unique), stored) in entries.into_iter().zip(stored) {
            if stored.as_ref() == Some(&value) {
                continue;
            }
            if unique && (stored.is_some() || taken.insert(key.clone(), row).is_some()) {
                return Err(duplicated((&catalog, self.build.user), &table, &index, Some(&writer), &arrays, row));
            }
            writes.push(Write { key, kind: WriteKind::Put(value), strength: LockStrength::Update });
        }
        if !writes.is_empty() {
            transaction.write(writes).await?;
            transaction.require_unchanged(CatalogStore::fence_key(self.build.database, table.oid, table.version));
            transaction.commit().await?;
        }
        Ok(Some(last))
    }
}
