//! [`AtomicCommit`]: the optional part of the [contract](crate::contract) for engines with one log for all
//! rows, and its vocabulary.

use crate::bulk::BulkCommit;
use crate::committer::recent_writes::Validator;
use crate::committer::watch::Watch;
use crate::contract::{ClassRange, Condition, Family, RowRange};
use crate::env::BoxFuture;
use crate::error::Result;
use crate::snapshot_guard::SnapshotGuard;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use futures::channel::oneshot;
use std::sync::Arc;

/// Which timestamp a cell of a [`CommitBatch`] gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The commit timestamp that the committer takes for the batch.
    AtCommit,
    /// A timestamp that the caller chose, such as its own start_ts.
    At(Timestamp),
}

/// A condition of an atomic commit: no cell of this row, family and class range is newer than `none_after`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitCondition {
    /// Key of the row that the condition looks at.
    pub key: Bytes,
    /// The family of cells that the condition looks at.
    pub family: Family,
    /// Ignore cells at or below this timestamp: the reader's snapshot_ts.
    pub none_after: Timestamp,
    /// The condition ignores cells of other classes.
    pub class: ClassRange,
}

/// A cell that a [`CommitBatch`] writes or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitCell {
    /// Key of the row that the cell belongs to.
    pub key: Bytes,
    /// The family that the cell belongs to.
    pub family: Family,
    /// The timestamp that the cell gets.
    pub stamp: Stamp,
    /// The value. `None` removes the cell at `stamp`, which must then be `Stamp::At`.
    pub value: Option<Bytes>,
}

/// The ranges that a transaction has read. COMMIT validates that nobody else has written to any of them since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadCondition {
    /// The ranges that were read, in key order. They do not touch.
    pub ranges: Arc<[RowRange]>,
    /// Ignore writes at or below this published timestamp: the reader's snapshot_ts.
    pub none_after: Timestamp,
    /// If set, locks of these classes count as future writes, except those at the given timestamp.
    pub locks: Option<(ClassRange, Option<Timestamp>)>,
}

/// A batch that the committer writes in one atomic step across rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitBatch {
    /// All must hold, also against earlier commits of the same group that are not yet published.
    pub conditions: Vec<CommitCondition>,
    /// Exact conditions on single rows, checked against the store at the same moment. Prewrites use them, and so does
    /// the primary's commit on the two-phase path.
    pub row_conditions: Vec<(Bytes, Condition)>,
    /// Ranges that nobody else may have written to since they were read.
    pub reads: Option<ReadCondition>,
    /// The cells to write or remove, applied in this order.
    pub cells: Vec<CommitCell>,
    /// Whether the batch takes a commit_ts and publishes it. True for commits; false for
    /// prewrites, intents and clean-up.
    pub publishes: bool,
    /// Whether the answer waits for the sync. False only for `synchronous_commit = off`. The answer then still waits
    /// for every earlier synchronous commit.
    pub durable: bool,
    /// Whether only the writer knows the written rows. No condition will ask about such rows, so the committer
    /// does not remember them.
    pub private: bool,
}

/// Why a [`CommitBatch`] was rejected. A rejected batch changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailedCondition {
    /// A condition of [`CommitBatch::conditions`] found a newer cell.
    Newer {
        /// Position of the failed condition in `conditions`.
        index: usize,
        /// Timestamp of the cell found. It need not be the newest.
        found: Timestamp,
    },
    /// A condition of [`CommitBatch::row_conditions`] did not hold.
    Row {
        /// Position of the failed condition in `row_conditions`.
        index: usize,
    },
    /// Another transaction wrote to a range of [`CommitBatch::reads`].
    Read {
        /// Key of the row that was written.
        key: Bytes,
        /// Timestamp of the write or of the lock.
        found: Timestamp,
        /// Whether the cell found is a lock.
        locked: bool,
    },
    /// The committer no longer remembers all writes since [`ReadCondition::none_after`]. The caller
    /// must check by reading.
    Forgotten,
    /// A large commit under way claims the key of a condition in [`CommitBatch::conditions`].
    /// The caller should retry.
    Claimed {
        /// Position of the failed condition in `conditions`.
        index: usize,
    },
    /// The timestamp of [`BulkCommit::commit_prepared`], or a later one, was already taken.
    Passed,
}

/// The optional capability of an engine with one log for all rows (embedded, memory).
pub trait AtomicCommit: Send + Sync {
    /// Validates, stamps, logs, syncs and publishes a batch, then answers with its commit timestamp. A batch
    /// that does not publish answers with the newest commit timestamp so far. If a condition fails, answers
    /// with the first that does.
    ///
    /// Errors: `StoreError::Undetermined` if the failure came after the batch reached the log.
    fn commit_atomic(
        &self,
        batch: CommitBatch,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>>;

    /// Like [`AtomicCommit::commit_atomic`], and also signals `ordered` once only a failure of the log can undo the
    /// commit. A failed log stops all commits. From the signal on, [`AtomicCommit::ordered_snapshot`] shows the
    /// commit, and later commits follow it in the log. An engine need not send the signal.
    fn commit_ordered(
        &self,
        batch: CommitBatch,
        _ordered: oneshot::Sender<Timestamp>,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.commit_atomic(batch)
    }

    /// The newest published commit timestamp: `visible_ts` of docs/protocol.md. Every commit at or below it is
    /// readable, and none above it was acknowledged.
    fn published(&self) -> Timestamp;

    /// Resolves when every commit at or below `timestamp` is published. Errors: the log failed, so
    /// they never will be.
    fn when_published(&self, timestamp: Timestamp) -> BoxFuture<'_, Result<()>>;

    /// A snapshot of all ordered commits. These may still come to nothing if the log fails, so a caller must not
    /// report what it reads here until it is published. A write based on it may be committed at once.
    fn ordered_snapshot(&self) -> SnapshotGuard;

    /// Registers a reader at [`AtomicCommit::published`], atomically with reading it. Garbage collection keeps the
    /// reader's versions until the guard is dropped.
    fn snapshot(&self) -> SnapshotGuard;

    /// The oldest registered snapshot, or [`AtomicCommit::published`] if no reader is registered.
    fn oldest_snapshot(&self) -> Timestamp;

    /// Starts to track the newest write to `range`. A watch lives as long as the store, so use it only for fixed
    /// ranges with few writes.
    fn watch(&self, range: RowRange) -> Arc<Watch>;

    /// Registers a future [`ReadCondition`], before its snapshot is taken: from then on the committer remembers
    /// writes. Without it the answer may be [`FailedCondition::Forgotten`].
    fn validator(&self) -> Validator;

    /// The capability to commit many cells beside the log, if the engine has it.
    fn bulk_commit(&self) -> Option<&dyn BulkCommit> {
        None
    }

    /// Counters of the log since the store was opened. All zero for an engine without a medium.
    fn log_statistics(&self) -> LogStatistics {
        LogStatistics::default()
    }
}

/// Counters of a log since its store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStatistics {
    /// Records written. A group of commits is one record.
    pub records: u64,
    /// Total size of these records in bytes.
    pub bytes: u64,
    /// The number of syncs of the log.
    pub syncs: u64,
}
