//! [`Load`]: gives the rows that are there their entries in an index that writers maintain already, all at one snapshot and beside
//! the log, where the store can. Its entries lie beneath whatever writers say of the same keys since.
//!
//! Writers of a unique index look whether a key is there. Those who looked before the entries were may have written one that another
//! row has. So they are waited for and shut out behind the load, and the rows and entries of a snapshot after them are counted: each row has
//! an entry of its own, or [`Backfill`](super::online_backfill::Backfill) says which has not.

use super::backfill::Rows;
use super::computed::index_writer;
use super::online::{IndexBuild, point};
use crate::catalog::{IndexDescriptor, TableDescriptor, keys};
use crate::error::Result;
use crate::execution::dml::IndexWriter;
use futures::TryStreamExt;
use std::sync::Arc;
use storage::RowRange;
use txn::{Loaded, OwnWrites, Transaction, TransactionOptions, TxnScanOptions};

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All rows of the snapshot have their entries, or lost them since.
    Done,
    /// The store has no such way, or keys come twice: entries are to be made one by one.
    OneByOne,
}

/// The filling of one index.
pub(super) struct Load<'a> {
    build: &'a IndexBuild,
}

impl<'a> Load<'a> {
    /// Of an index that all writers maintain.
    pub(super) fn new(build: &'a IndexBuild) -> Self {
        Load { build }
    }

    /// Writes the entries of all rows. Errors of the store; 57014.
    pub(super) async fn run(&self) -> Result<Outcome> {
        let (transaction, table, index) = self.begin().await?;
        let Some(mut bulk) = transaction.bulk_writer().await? else { return Ok(Outcome::OneByOne) };
        let writer = self.writer(&transaction, &table, &index).await?;
        let mut rows = Rows::new(&transaction, &table)?;
        while let Some((columns, row_keys)) = rows.next().await? {
            self.build.pass(point::BATCH).await?;
            let mut full = false;
            for entry in writer.entries(&columns, &row_keys)?.into_iter().flatten() {
                full |= bulk.put(&entry.key, &entry.value)?;
            }
            if full && bulk.load().await? == Loaded::Duplicate {
                return Ok(Outcome::OneByOne);
            }
            // A million rows take a second: others are to be heard meanwhile.
            tokio::task::yield_now().await;
        }
        Ok(match bulk.load().await? {
            Loaded::All => Outcome::Done,
            Loaded::Duplicate => Outcome::OneByOne,
        })
    }

    /// Whether each row that belongs into the index has an entry of its own. Errors of the store; 57014.
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
