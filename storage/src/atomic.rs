//! [`AtomicCommit`]: the part of the contract that an engine has whose one log holds every row, with its vocabulary.

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

/// When a mutation of a [`CommitBatch`] is stamped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// With the commit timestamp that the committer takes for the batch.
    AtCommit,
    /// With this timestamp.
    At(Timestamp),
}

/// A condition of an atomic commit: no cell of this family and class of the row is newer than
/// `none_after`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitCondition {
    /// Row key.
    pub key: Bytes,
    /// Family looked at.
    pub family: Family,
    /// Cells at or below this timestamp do not count: the reader's snapshot_ts.
    pub none_after: Timestamp,
    /// Classes that count.
    pub class: ClassRange,
}

/// A condition on one row at any family, used when a two-phase step passes through the
/// committer: the row's conditions and the row's mutations, some stamped at commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitCell {
    /// Row key.
    pub key: Bytes,
    /// Family written.
    pub family: Family,
    /// When it is stamped.
    pub stamp: Stamp,
    /// Content; `None` removes the cell at `stamp` (which is then `Stamp::At`).
    pub value: Option<Bytes>,
}

/// What a transaction has read, to be validated when it commits: no other has written to any of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadCondition {
    /// What was read, in order; the ranges do not touch.
    pub ranges: Arc<[RowRange]>,
    /// Writes at or below this published timestamp do not count: the reader's snapshot_ts.
    pub none_after: Timestamp,
    /// Whether locks of these classes count as writes that are still to come, but for those at one timestamp.
    pub locks: Option<(ClassRange, Option<Timestamp>)>,
}

/// What the committer writes in one atomic, durable step across rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitBatch {
    /// All must hold, against commits of the same group that are not yet published too.
    pub conditions: Vec<CommitCondition>,
    /// Exact conditions on single rows, checked against the store at the same moment: used by
    /// prewrites and by the primary's commit on the two-phase path.
    pub row_conditions: Vec<(Bytes, Condition)>,
    /// What must not have been written to since it was read.
    pub reads: Option<ReadCondition>,
    /// What is written, in order.
    pub cells: Vec<CommitCell>,
    /// Whether the batch takes a commit_ts and publishes it as visible: true for commits, false
    /// for prewrites, intents and clean-up.
    pub publishes: bool,
    /// Whether the answer waits for the sync. False only for `synchronous_commit = off`, where
    /// the answer still waits for every earlier synchronous commit.
    pub durable: bool,
    /// Whether nobody but its writer knows the rows that are written, so that no condition is going to ask what was written
    /// lately: it need not be remembered.
    pub private: bool,
}

/// Why a [`CommitBatch`] was not applied: nothing of it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailedCondition {
    /// This condition of [`CommitBatch::conditions`] found a newer cell (with its timestamp).
    Newer {
        /// Position in `conditions`.
        index: usize,
        /// Timestamp of the cell found, which need not be the newest.
        found: Timestamp,
    },
    /// This condition of [`CommitBatch::row_conditions`] did not hold.
    Row {
        /// Position in `row_conditions`.
        index: usize,
    },
    /// What was read was written to since.
    Read {
        /// Row that was written.
        key: Bytes,
        /// Timestamp of the write, or of the lock.
        found: Timestamp,
        /// Whether it is a lock.
        locked: bool,
    },
    /// Nobody remembers what was written since [`ReadCondition::none_after`]: it is to be looked for by reading.
    Forgotten,
    /// The key of this condition of [`CommitBatch::conditions`] is claimed by a large commit under way: to be asked again.
    Claimed {
        /// Position in `conditions`.
        index: usize,
    },
    /// [`BulkCommit::commit_prepared`]'s timestamp, or a later one, was given to somebody else.
    Passed,
}

/// The optional capability of an engine whose one log holds every row (embedded, memory).
pub trait AtomicCommit: Send + Sync {
    /// Validates, stamps, logs, syncs, publishes, then answers with the commit timestamp (with
    /// the newest timestamp handed out when the batch does not publish), or with the first
    /// condition that failed. `Err` after the batch reached the log is
    /// `StoreError::Undetermined`.
    fn commit_atomic(
        &self,
        batch: CommitBatch,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>>;

    /// The same, and tells `ordered` before it answers, as soon as nothing but a failure of the log, which stops all commits,
    /// can undo the commit. From then on it is in what [`AtomicCommit::ordered_snapshot`] shows, and what commits later lies
    /// behind it in the log. An engine may leave it out.
    fn commit_ordered(
        &self,
        batch: CommitBatch,
        _ordered: oneshot::Sender<Timestamp>,
    ) -> BoxFuture<'_, Result<std::result::Result<Timestamp, FailedCondition>>> {
        self.commit_atomic(batch)
    }

    /// The newest commit timestamp that a new snapshot sees: every commit at or below it is
    /// readable, none above it was acknowledged. `visible_ts` of docs/protocol.md.
    fn published(&self) -> Timestamp;

    /// Resolves when every commit at or below `timestamp` is published. Errors: that will not be, for the log has failed.
    fn when_published(&self, timestamp: Timestamp) -> BoxFuture<'_, Result<()>>;

    /// A snapshot of all that is ordered. What is told of it to anybody before it is published may turn out never to have
    /// been; what is written because of it may be committed at once.
    fn ordered_snapshot(&self) -> SnapshotGuard;

    /// Registers a reader at [`AtomicCommit::published`], atomically with reading it: GC keeps
    /// what it needs until the guard is dropped.
    fn snapshot(&self) -> SnapshotGuard;

    /// The oldest registered snapshot, or `published` when there is none.
    fn oldest_snapshot(&self) -> Timestamp;

    /// Tells from now on when `range` was written last. For ranges of few writes, named once: a watch stays as long as the store.
    fn watch(&self, range: RowRange) -> Arc<Watch>;

    /// Whoever will ask for a [`ReadCondition`] says so before taking his snapshot, that what is written from then on is
    /// remembered. Without it the answer may be [`FailedCondition::Forgotten`].
    fn validator(&self) -> Validator;

    /// The capability to commit many cells beside the log, where the engine has it.
    fn bulk_commit(&self) -> Option<&dyn BulkCommit> {
        None
    }

    /// What was done to the log since the store was opened. An engine without a medium leaves it out.
    fn log_statistics(&self) -> LogStatistics {
        LogStatistics::default()
    }
}

/// What was done to a log since its store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStatistics {
    /// Records written: one of a group of commits, not one of each.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How often the log was synced.
    pub syncs: u64,
}
