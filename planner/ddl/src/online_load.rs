//! [`Load`]: creates the index entries of existing rows at one snapshot, bypassing the log, if the store supports it.
//! Writers maintain the index meanwhile. The loaded entries lie beneath newer versions of the same keys.
//!
//! Writers of a unique index check whether a key exists. Those that checked before the load may have written
//! another row's key. So the build waits for them and shuts them out after the load. It then counts rows and
//! entries at a later snapshot: each row must have its own entry. If not,
//! [`Backfill`](super::online_backfill::Backfill) finds the duplicate.

use super::backfill::Rows;
use super::computed::index_writer;
use super::online::{IndexBuild, point};
use catalog::encoding::RowDecoder;
use catalog::{ColumnId, IndexDescriptor, TableDescriptor, keys};
use datafusion::arrow::array::{ArrayRef, new_null_array};
use executor::dml::IndexWriter;
use futures::TryStreamExt;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use storage::RowRange;
use txn::{Loaded, OwnWrites, Pairs, Transaction, TransactionOptions, TxnScanOptions};
use types::SqlType;

/// The result of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All rows of the snapshot have their entries, or lost them since.
    Done,
    /// The store cannot load, or keys occur twice: entries must be created one by one.
    OneByOne,
}

/// Decodes the columns that an index needs. The others are NULL.
struct NeededColumns {
    decoder: RowDecoder,
    /// For each live column its type, and its index among the decoded columns.
    live: Vec<(SqlType, Option<usize>)>,
    /// NULLs for the other columns, for as many rows as the last batch had.
    absent: Vec<ArrayRef>,
}

impl NeededColumns {
    fn new(table: &TableDescriptor, writer: &IndexWriter) -> Result<Self> {
        let mut needed = writer.needed(table.live_columns().count());
        needed.sort_unstable();
        needed.dedup();
        let place = |at| needed.binary_search(&at).ok();
        let live = table.live_columns().enumerate().map(|(at, column)| (column.ty, place(at))).collect();
        let ids = table.live_columns().enumerate().filter(|(at, _)| place(*at).is_some());
        let ids: Vec<ColumnId> = ids.map(|(_, column)| column.id).collect();
        Ok(NeededColumns { decoder: RowDecoder::new(table, &ids, false)?, live, absent: Vec::new() })
    }

    /// Decodes the live columns of rows.
    fn of(&mut self, rows: &Pairs) -> Result<Vec<ArrayRef>> {
        for (key, value) in rows.iter() {
            self.decoder.push(key, value)?;
        }
        let found = self.decoder.finish()?;
        if self.absent.first().is_none_or(|column| column.len() != rows.len()) {
            let others = self.live.iter().filter(|(_, place)| place.is_none());
            self.absent = others.map(|(ty, _)| new_null_array(&ty.arrow(), rows.len())).collect();
        }
        let mut absent = self.absent.iter();
        let column = |place: &Option<usize>| match place {
            Some(place) => found.get(*place),
            None => absent.next(),
        };
        let columns: Option<Vec<ArrayRef>> =
            self.live.iter().map(|(_, place)| place).map(column).map(Option::<&ArrayRef>::cloned).collect();
        columns.ok_or_else(|| SqlError::internal("a column of a row is not there"))
    }
}

/// The bulk load of one index.
pub(super) struct Load<'a> {
    build: &'a IndexBuild,
}

impl<'a> Load<'a> {
    /// A load of an index that all writers maintain.
    pub(super) fn new(build: &'a IndexBuild) -> Self {
        Load { build }
    }

    /// Loads the entries of all rows. Errors: those of the store, 57014.
    pub(super) async fn run(&self) -> Result<Outcome> {
        let (transaction, table, index) = self.begin().await?;
        let Some(mut bulk) = transaction.bulk_writer().await? else { return Ok(Outcome::OneByOne) };
        let writer = self.writer(&transaction, &table, &index).await?;
        let mut columns = NeededColumns::new(&table, &writer)?;
        let mut rows = transaction.scan_pairs(keys::rows_of(table.storage_id), TxnScanOptions::once(), OwnWrites::All);
        while let Some(pairs) = rows.try_next().await? {
            self.build.pass(point::BATCH).await?;
            let mut full = false;
            let row_keys = pairs.iter().map(|(key, _)| key);
            writer.each_entry(&columns.of(&pairs)?, row_keys, |key, value| {
                full |= bulk.put(key, value)?;
                Ok(())
            })?;
            if full && bulk.load().await? == Loaded::Duplicate {
                return Ok(Outcome::OneByOne);
            }
            // A million rows take a second, so other tasks get a turn.
            tokio::task::yield_now().await;
        }
        Ok(match bulk.load().await? {
            Loaded::All => Outcome::Done,
            Loaded::Duplicate => Outcome::OneByOne,
        })
    }

    /// Whether each row that belongs in the index has its own entry. Errors: those of the store, 57014.
    pub(super) async fn is_complete(&self) -> Result<bool> {
        let (transaction, table, index) = self.begin().await?;
        let wanted = match index.is_computed() {
            false => self.count(&transaction, keys::rows_of(table.storage_id)).await?,
            true => {
                let writer = self.writer(&transaction, &table, &index).await?;
                let mut rows = Rows::new(&transaction, &table)?;
                let mut wanted = 0;
                while let Some((columns, row_keys)) = rows.next().await? {
                    self.build.pass(point::BATCH).await?;
                    wanted += writer.entries(&columns, &row_keys)?.iter().flatten().count();
                    tokio::task::yield_now().await;
                }
                wanted
            }
        };
        Ok(wanted == self.count(&transaction, keys::rows_of(index.storage_id)).await?)
    }

    async fn begin(&self) -> Result<(Arc<Transaction>, TableDescriptor, IndexDescriptor)> {
        self.build.begin_with(TransactionOptions { read_only: true, ..TransactionOptions::default() }).await
    }

    async fn writer(
        &self,
        transaction: &Arc<Transaction>,
        table: &TableDescriptor,
        index: &IndexDescriptor,
    ) -> Result<IndexWriter> {
        let catalog = self.build.store.snapshot(transaction, self.build.database).await?;
        index_writer(&catalog, table, index)
    }

    async fn count(&self, transaction: &Arc<Transaction>, range: RowRange) -> Result<usize> {
        let mut found = transaction.scan(range, TxnScanOptions::once(), OwnWrites::All);
        let mut count = 0;
        while let Some(pairs) = found.try_next().await? {
            self.build.pass(point::BATCH).await?;
            count += pairs.len();
            tokio::task::yield_now().await;
        }
        Ok(count)
    }
}
