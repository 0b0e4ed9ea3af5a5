//! Bulk writes of rows beside the log, on engines that offer [`storage::BulkLoad`]. Nobody else may ask
//! for these rows yet: rows in a table that a large transaction made ([`FreshRows`]), or entries of an
//! index without readers ([`BulkWriter`]).

use crate::buffer::FinalWrite;
use crate::commit::CommitJob;
use crate::data::RecordKind;
use crate::error::{Result, TxnError};
use crate::failpoint;
use crate::lock::LockStrength;
use crate::put_batch::Puts;
use crate::snapshot::Snapshot;
use crate::store::TransactionStore;
use crate::transaction::{OwnWrites, Transaction, WriteKind};
use crate::write::{push_record, put_header};
use std::sync::Arc;
use storage::{CellBlock, CommitBatch, StoreError};

/// Fewer bytes than this go through the log, because a file and its syncs would cost more.
const WORTH_A_FILE: usize = 256 << 10;

pub(crate) fn too_large() -> TxnError {
    TxnError::Store(StoreError::TooLarge("a row exceeds what a block can hold".to_owned()))
}

/// Rows that only their transaction knows, on their way into the store at its start_ts.
pub(crate) struct FreshRows {
    block: CellBlock,
}

impl FreshRows {
    pub(crate) fn new() -> FreshRows {
        FreshRows { block: CellBlock::new() }
    }

    /// Adds rows in key order, behind the earlier ones. Writes that do not put a value are left out.
    pub(crate) async fn add(&mut self, job: &CommitJob, writes: &[FinalWrite]) -> Result<()> {
        for write in writes {
            let WriteKind::Put(value) = &write.kind else { continue };
            let record = |out: &mut Vec<u8>| {
                push_record(write.strength, RecordKind::Put, job.start_ts, Some(value), out);
            };
            if !self.block.push(&write.key, record) {
                self.load(job).await?;
                if !self.block.push(&write.key, record) {
                    return Err(too_large());
                }
            }
            if self.block.is_full() {
                self.load(job).await?;
            }
        }
        Ok(())
    }

    /// Adds rows that were put, behind the earlier ones.
    pub(crate) async fn add_packed(&mut self, job: &CommitJob, puts: &Puts) -> Result<()> {
        let head = put_header(puts.strength(), job.start_ts);
        self.block.push_run(puts.keys().clone(), puts.values().clone(), head);
        if self.block.is_full() { self.load(job).await } else { Ok(()) }
    }

    /// Writes the remaining rows.
    pub(crate) async fn finish(mut self, job: &CommitJob) -> Result<()> {
        if self.block.bytes() >= WORTH_A_FILE {
            return self.load(job).await;
        }
        let cells = self.block.iter().map(|(key, value)| job.fresh_cell(key, value.to_bytes())).collect();
        job.write_fresh(cells).await
    }

    async fn load(&mut self, job: &CommitJob) -> Result<()> {
        let block = std::mem::take(&mut self.block);
        if let (Some(bulk), false) = (job.store.store.bulk(), block.is_empty()) {
            job.store.fail_points().pass(failpoint::BEFORE_PREWRITE).await?;
            bulk.load(job.start_ts, block).await?;
        }
        Ok(())
    }
}

/// The result of loading a block of index entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// All entries are in the store.
    All,
    /// Two entries had the same key. No entry was written.
    Duplicate,
}

/// Writes index entries at the snapshot that they are computed from, beneath later writes of others. The index must
/// have no readers, and all writers must maintain it since before the snapshot. The writer holds the snapshot, so
/// that garbage collection does not remove later writes before the entries beneath them arrive.
pub struct BulkWriter {
    store: Arc<TransactionStore>,
    snapshot: Arc<Snapshot>,
    block: CellBlock,
}

impl Transaction {
    /// A writer at this transaction's snapshot. `None` if the engine has no such capability. Everything that the
    /// snapshot sees is durable then, so no crash leaves entries of lost rows. Errors: those of the store.
    pub async fn bulk_writer(&self) -> Result<Option<BulkWriter>> {
        let store = self.store().clone();
        let (Some(atomic), Some(_)) = (store.store.atomic(), store.store.bulk()) else { return Ok(None) };
        let snapshot = self.snapshot_for(OwnWrites::All).await?;
        // An empty durable batch, whose answer follows the sync of all earlier writes.
        let batch = CommitBatch { durable: true, ..CommitBatch::default() };
        if atomic.commit_atomic(batch).await?.is_err() {
            return Err(TxnError::Invalid("a batch without conditions was refused"));
        }
        Ok(Some(BulkWriter { store, snapshot, block: CellBlock::new() }))
    }
}

impl BulkWriter {
    /// Adds an entry, in any order. Answers whether the block is full and must be loaded.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        let ts = self.snapshot.ts();
        let record = |out: &mut Vec<u8>| push_record(LockStrength::Update, RecordKind::Put, ts, Some(value), out);
        if !self.block.push(key, record) {
            return Err(too_large());
        }
        Ok(self.block.is_full_run())
    }

    /// Sorts the block and writes it. Errors: those of the store.
    pub async fn load(&mut self) -> Result<Loaded> {
        let Some(bulk) = self.store.store.bulk() else { return Err(TxnError::Invalid("the engine takes no bulk")) };
        let mut block = std::mem::take(&mut self.block);
        if block.sort().is_some() {
            return Ok(Loaded::Duplicate);
        }
        if !block.is_empty() {
            bulk.load(self.snapshot.ts(), block).await?;
        }
        Ok(Loaded::All)
    }
}
