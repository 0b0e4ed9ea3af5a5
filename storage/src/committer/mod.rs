//! [`Committer`]: the one path of every change of a store with one log. It validates requests, stamps them, writes
//! them to the log as one group, publishes, and answers.
//!
//! A committer is a plain value without threads, clocks or files. Its owner calls [`Committer::run`]: a thread of the
//! embedded engine, a lock in the memory engine, or the tests' explorer.
//!
//! The steps of a group:
//!
//! 1. *Validate.* [`admission`] checks each request against the store, recent commits ([`conflict_index`]) and earlier
//!    requests of the group ([`group`]).
//! 2. *Stamp.* Only then does the request take its commit_ts, so timestamps follow the order of validation.
//! 3. *Log.* The group becomes one record of the log. It is now *ordered*: later commits follow it in the log.
//! 4. *Publish.* If any request of this or an earlier group is durable, the log is synced first. Then new snapshots
//!    see the group, and the clients hear of it.
//!
//! A caller may ask to be told of step 3 and let other transactions go on from there. If the group comes to nothing,
//! they do too. [`Committer::run`] does all steps at once. An owner that syncs one group while it orders the next
//! calls [`Committer::order`] and [`Settlement::settle`], in the order of the groups.

pub mod admission;
pub mod conflict_index;
pub mod group;
pub mod key_reservations;
pub mod recent_writes;
pub mod snapshots;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
pub(crate) mod tests;
pub mod watch;

use crate::bulk::{ClaimedKeys, PreparedCells, PreparedCommit};
use crate::contract::{
    CommitBatch, Condition, FailedCondition, Family, Mutation, RowMutation, RowRange, Stamp, TimestampRange,
};
use crate::error::{Result, StoreError};
use crate::timestamp::{Timestamp, TimestampSource};
use admission::{Admission, Admitted};
use bytes::Bytes;
use conflict_index::RecentCommits;
use group::Group;
use key_reservations::Claims;
use parking_lot::Mutex;
use recent_writes::RecentWrites;
use snapshots::SnapshotRegistry;
use std::sync::Arc;

/// The longest key, in bytes. Longer keys are refused.
pub const MAX_KEY_BYTES: usize = 64 << 10;
/// The longest value, in bytes. Longer values are refused.
pub const MAX_VALUE_BYTES: usize = 1 << 30;
/// The largest request, in bytes of keys and values. Larger requests are refused.
pub const MAX_REQUEST_BYTES: usize = 2 << 30;

/// The most bytes that a little request adds; see [`Request::is_little`].
pub const LITTLE_BYTES: usize = 64 << 10;
/// The most keys that a little claim has.
const LITTLE_KEYS: usize = 64;

/// A change of single cells, as it is written to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes a cell, in place of one with the same family and timestamp.
    Set {
        /// Key of the written row.
        key: Bytes,
        /// The family that the cell is written to.
        family: Family,
        /// The timestamp of the written cell.
        timestamp: Timestamp,
        /// The value, whose first byte is its class.
        value: Bytes,
    },
    /// Removes a cell, which may be absent.
    Remove {
        /// Key of the row that loses the cell.
        key: Bytes,
        /// The family that the cell is removed from.
        family: Family,
        /// The timestamp of the removed cell.
        timestamp: Timestamp,
    },
    /// Removes every cell of every row in a range.
    RemoveRange(RowRange),
}

/// A group of changes for the log: applied in order, all or nothing.
#[derive(Debug)]
pub struct LogRecord<'a> {
    /// The changes, in the order in which they apply.
    pub changes: &'a [Change],
    /// The newest commit timestamp after this record.
    pub visible: Timestamp,
    /// The greatest timestamp of any cell ever written, up to and including this record.
    pub max_timestamp: Timestamp,
}

/// Reads the versions of rows. It sees at least what was written before it was made.
pub trait VersionReader {
    /// Calls `visit` with the cells of one family of one row in a range, newest first, until `visit` answers false.
    fn versions(
        &mut self,
        key: &[u8],
        family: Family,
        range: TimestampRange,
        visit: &mut dyn FnMut(Timestamp, &[u8]) -> bool,
    ) -> Result<()>;

    /// Calls `visit` with the cells of one family of the rows in a range, row by row, until `visit` answers false.
    fn rows(
        &mut self,
        rows: &RowRange,
        family: Family,
        visit: &mut dyn FnMut(&[u8], Timestamp, &[u8]) -> bool,
    ) -> Result<()>;
}

/// The log and store of an engine, as the committer uses them.
pub trait CommitLog {
    /// Reads rows during the validation of one group.
    type Reader<'a>: VersionReader
    where
        Self: 'a;

    /// A reader that sees everything written so far.
    fn reader(&self) -> Self::Reader<'_>;

    /// Checks that there is room for `bytes` more. Errors: `DiskFull`.
    fn reserve(&self, bytes: u64) -> Result<()>;

    /// Appends the record to the log, syncs the log if `sync`, then applies the record. After an error it is unknown
    /// whether the record was written.
    fn write(&mut self, record: &LogRecord<'_>, sync: bool) -> Result<()>;

    /// Writes a record without a sync, for a thread that must not wait. False: the log would have to wait,
    /// and nothing was written.
    fn write_at_once(&mut self, record: &LogRecord<'_>) -> Result<bool> {
        self.write(record, false).map(|()| true)
    }

    /// Syncs everything written so far.
    fn sync(&mut self) -> Result<()>;

    /// Ingests prepared cells as the newest commit, all of them or none. `before` was the newest commit until then.
    /// When it answers, these cells and everything written before are durable. After an error it is unknown whether
    /// the cells were ingested.
    fn take_in(&mut self, cells: &[PreparedCells], before: Timestamp, record: &LogRecord<'_>) -> Result<()>;
}

/// A request to the committer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Validates and writes a batch of cells of any rows.
    Commit(CommitBatch),
    /// Applies mutations of rows, all of them if every condition on the first row holds. Durable; does not publish.
    Rows {
        /// Conditions on the first row of `rows`.
        conditions: Vec<Condition>,
        /// The mutations of each row, applied in this order.
        rows: Vec<RowMutation>,
    },
    /// Removes every cell of every row in a range.
    RemoveRange(RowRange),
    /// Claims keys for a large commit. Writes nothing.
    Claim(ClaimedKeys),
    /// Commits cells that the engine has prepared.
    Prepared(PreparedCommit),
}

impl Request {
    fn is_durable(&self) -> bool {
        match self {
            Request::Commit(batch) => batch.durable,
            Request::Rows { .. } | Request::RemoveRange(_) => true,
            // A claim writes nothing, and ingesting prepared cells is durable by itself.
            Request::Claim(_) | Request::Prepared(_) => false,
        }
    }

    /// Whether the request takes long although it adds nothing to the log.
    pub fn is_long(&self) -> bool {
        matches!(self, Request::Prepared(_))
    }

    /// Whether the request is small enough to be ordered on a thread that also serves others.
    pub fn is_little(&self) -> bool {
        match self {
            Request::Prepared(_) => false,
            Request::Claim(claimed) => claimed.run.is_none() && claimed.keys.len() <= LITTLE_KEYS,
            Request::Commit(_) | Request::Rows { .. } | Request::RemoveRange(_) => self.added_bytes() <= LITTLE_BYTES,
        }
    }

    /// Approximate number of bytes that the request adds to the store. Zero if it only removes.
    pub fn added_bytes(&self) -> usize {
        let cell = |key: &Bytes, value: &Bytes| key.len() + value.len() + 16;
        match self {
            Request::Commit(batch) => {
                batch.cells.iter().map(|c| c.value.as_ref().map_or(0, |value| cell(&c.key, value))).sum()
            }
            Request::Rows { rows, .. } => rows
                .iter()
                .flat_map(|row| row.mutations.iter().map(move |m| (row, m)))
                .map(|(row, mutation)| match mutation {
                    Mutation::Set { value, .. } => cell(&row.key, value),
                    Mutation::Delete { .. } => 0,
                })
                .sum(),
            Request::RemoveRange(_) | Request::Claim(_) | Request::Prepared(_) => 0,
        }
    }

    fn check_limits(&self) -> Result<()> {
        let check = |key: &Bytes, value: Option<&Bytes>| {
            if key.len() > MAX_KEY_BYTES {
                return Err(StoreError::TooLarge(format!("a key of {} bytes exceeds {MAX_KEY_BYTES}", key.len())));
            }
            match value {
                Some(value) if value.len() > MAX_VALUE_BYTES => {
                    Err(StoreError::TooLarge(format!("a value of {} bytes exceeds {MAX_VALUE_BYTES}", value.len())))
                }
                _ => Ok(()),
            }
        };
        match self {
            Request::Commit(batch) => {
                for cell in &batch.cells {
                    check(&cell.key, cell.value.as_ref())?;
                    if cell.stamp == Stamp::AtCommit && (cell.value.is_none() || !batch.publishes) {
                        return Err(StoreError::Unsupported(
                            "a cell stamped at commit needs a value and a batch that publishes".to_owned(),
                        ));
                    }
                }
            }
            Request::Rows { rows, .. } => {
                for row in rows {
                    check(&row.key, None)?;
                    for mutation in &row.mutations {
                        if let Mutation::Set { value, .. } = mutation {
                            check(&row.key, Some(value))?;
                        }
                    }
                }
            }
            Request::RemoveRange(_) | Request::Claim(_) => {}
            Request::Prepared(commit) => {
                if !commit.batch.publishes || !commit.batch.cells.is_empty() {
                    return Err(StoreError::Unsupported(
                        "a prepared commit publishes, without cells in the batch".to_owned(),
                    ));
                }
            }
        }
        let bytes = self.added_bytes();
        if bytes > MAX_REQUEST_BYTES {
            return Err(StoreError::TooLarge(format!("a request of {bytes} bytes exceeds {MAX_REQUEST_BYTES}")));
        }
        Ok(())
    }
}

/// The answer to a request: its timestamp, the condition that failed, or an error.
pub type Answer = Result<std::result::Result<Timestamp, FailedCondition>>;

/// The state found when the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The greatest commit timestamp found.
    pub visible: Timestamp,
    /// The greatest timestamp of any cell.
    pub max_timestamp: Timestamp,
    /// Whether a family has no cell at all, by its position in [`Family::ALL`].
    pub empty: [bool; Family::ALL.len()],
}

/// The path of every change. See the module documentation.
pub struct Committer<L> {
    log: L,
    timestamps: Arc<dyn TimestampSource>,
    snapshots: Arc<SnapshotRegistry>,
    recent: RecentCommits,
    writes: RecentWrites,
    claims: Claims,
    visible: Timestamp,
    max_timestamp: Timestamp,
    unsynced: bool,
    unwritten: Option<Unwritten>,
    stop: Arc<Stop>,
}

/// A group that is validated and stamped, but not in the log yet.
struct Unwritten {
    group: Group,
    visible: Timestamp,
    max_timestamp: Timestamp,
    settlement: Settlement,
}

/// How a group is written to the log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    /// With a sync if the group needs one.
    Synced,
    Unsynced,
    /// Without a sync, and only if the log need not wait.
    AtOnce,
}

/// Records that a write or sync failed. From then on the committer refuses writes.
#[derive(Default)]
pub struct Stop(Mutex<Option<String>>);

impl Stop {
    /// The first failure, or `None` while writes are accepted.
    pub fn why(&self) -> Option<String> {
        self.0.lock().clone()
    }

    /// Records a failed write or sync. Only the first one is kept.
    pub fn stop(&self, error: &StoreError) {
        tracing::error!(%error, "a write or sync failed: no more writes until restart");
        self.0.lock().get_or_insert_with(|| error.to_string());
    }
}

/// An ordered group, and the steps that remain once it is synced.
#[must_use]
#[derive(Default)]
pub struct Settlement {
    /// One answer per request, to be given when the group is settled.
    pub answers: Vec<Answer>,
    /// Whether the log must be synced before the group is settled.
    pub sync: bool,
    /// Whether the group wrote a record, which must be synced sooner or later.
    pub wrote: bool,
    /// The newest commit of the group. `None` if the group did not commit.
    visible: Option<Timestamp>,
}

impl Settlement {
    /// Publishes the group. If the sync failed, turns the answers into `StoreError::Undetermined`.
    pub fn settle(mut self, synced: &Result<()>, snapshots: &SnapshotRegistry) -> Vec<Answer> {
        match synced {
            Ok(()) => self.visible.into_iter().for_each(|visible| snapshots.publish(visible)),
            Err(error) => self.undetermined(error),
        }
        self.answers
    }

    /// Appends the part of the group that was ordered next.
    fn follow(&mut self, next: Settlement) {
        self.answers.extend(next.answers);
        self.sync |= next.sync;
        self.wrote |= next.wrote;
        self.visible = next.visible.or(self.visible);
    }

    fn undetermined(&mut self, error: &StoreError) {
        for answer in self.answers.iter_mut().filter(|answer| matches!(answer, Ok(Ok(_)))) {
            *answer = Err(StoreError::Undetermined(error.to_string()));
        }
    }
}

impl<L: CommitLog> Committer<L> {
    /// A committer over `log` that publishes to `snapshots`. It uses about `recent_bytes` of
    /// memory for recent commits.
    pub fn new(
        log: L,
        timestamps: Arc<dyn TimestampSource>,
        snapshots: Arc<SnapshotRegistry>,
        recovered: Recovered,
        recent_bytes: usize,
    ) -> Self {
        let max_timestamp = recovered.max_timestamp.max(recovered.visible);
        let floors = recovered.empty.map(|empty| (!empty).then_some(max_timestamp));
        // Recent writes by range get a quarter of the memory of recent commits by row.
        let writes = RecentWrites::new(snapshots.validators().clone(), recovered.visible, recent_bytes / 4);
        Committer {
            log,
            timestamps,
            snapshots,
            writes,
            recent: RecentCommits::new(floors, recent_bytes),
            claims: Claims::default(),
            visible: recovered.visible,
            max_timestamp,
            unsynced: false,
            unwritten: None,
            stop: Arc::default(),
        }
    }

    /// The log that the committer writes to.
    pub fn log(&self) -> &L {
        &self.log
    }

    /// The log, for maintenance by the owner.
    pub fn log_mut(&mut self) -> &mut L {
        &mut self.log
    }

    /// Whether anything was written since the last sync. If so, the owner calls [`Committer::sync`] within 200 ms.
    pub fn needs_sync(&self) -> bool {
        self.unsynced && self.stop.why().is_none()
    }

    /// The failure that stops writes, if there is one. A thread that syncs for the committer
    /// reports its failures here.
    pub fn stop(&self) -> &Arc<Stop> {
        &self.stop
    }

    /// The registry that the committer publishes to.
    pub fn snapshots(&self) -> &Arc<SnapshotRegistry> {
        &self.snapshots
    }

    /// Syncs the writes of requests that were not durable.
    pub fn sync(&mut self) -> Result<()> {
        if !self.needs_sync() {
            return Ok(());
        }
        self.unsynced = false;
        self.log.sync().inspect_err(|error| self.stop.stop(error))
    }

    /// Runs the requests as one group. Answers them in order.
    pub fn run(&mut self, requests: &[Request]) -> Vec<Answer> {
        let settlement = self.ordered(requests, Writing::Synced);
        // A durable request that wrote nothing may still follow an unsynced record.
        let synced = match settlement.sync {
            true => self.sync(),
            false => Ok(()),
        };
        settlement.settle(&synced, &self.snapshots)
    }

    /// Runs the requests as one group up to their place in the log. The caller then syncs the log if asked and calls
    /// [`Settlement::settle`], in the order of the groups.
    pub fn order(&mut self, requests: &[Request]) -> Settlement {
        self.ordered(requests, Writing::Unsynced)
    }

    /// Like [`Committer::order`] for little requests on a thread that must not wait. `None` means that the log would
    /// have to wait. The caller must then call [`Committer::finish`] before anything else is ordered.
    pub fn order_at_once(&mut self, requests: &[Request]) -> Option<Settlement> {
        self.claims.let_go();
        self.ordered_part(requests, Writing::AtOnce)
    }

    /// Writes the group that [`Committer::order_at_once`] left unwritten, and waits for the log.
    pub fn finish(&mut self) -> Option<Settlement> {
        let unwritten = self.unwritten.take()?;
        self.write_group(unwritten, Writing::Unsynced)
    }

    fn ordered(&mut self, requests: &[Request], writing: Writing) -> Settlement {
        self.claims.let_go();
        let mut settlement = Settlement::default();
        // A commit of prepared cells is ingested on its own, between the requests before it and after it.
        for part in requests.chunk_by(|one, next| !one.is_long() && !next.is_long()) {
            settlement.follow(match part {
                [Request::Prepared(commit)] => self.ordered_prepared(commit),
                part => self.ordered_part(part, writing).unwrap_or_default(),
            });
        }
        settlement
    }

    fn ordered_prepared(&mut self, commit: &PreparedCommit) -> Settlement {
        let told = |answer| Settlement { answers: vec![answer], ..Settlement::default() };
        if let Some(why) = self.stop.why() {
            return told(Err(StoreError::ReadOnly(why)));
        }
        let recent = (&mut self.recent, &mut self.writes, &mut self.claims);
        let mut admission = Admission::new(self.log.reader(), recent, &*self.timestamps, self.visible);
        let answer = Request::Prepared(commit.clone()).check_limits().and_then(|()| admission.admit_prepared(commit));
        drop(admission);
        let Ok(Ok(timestamp)) = answer else { return told(answer) };
        let max_timestamp = self.max_timestamp.max(timestamp);
        let record = LogRecord { changes: &[], visible: timestamp, max_timestamp };
        if let Err(error) = self.log.take_in(&commit.cells, self.visible, &record) {
            self.stop.stop(&error);
            return told(Err(StoreError::Undetermined(error.to_string())));
        }
        // The single keys are not remembered. A reader with an older snapshot looks into the store.
        self.recent.raise(timestamp);
        self.writes.raise(timestamp);
        self.max_timestamp = max_timestamp;
        self.visible = timestamp;
        self.snapshots.order_cells(timestamp, &commit.cells);
        Settlement { answers: vec![answer], sync: false, wrote: true, visible: Some(timestamp) }
    }

    /// `None` only for [`Writing::AtOnce`]: the log would have to wait.
    fn ordered_part(&mut self, requests: &[Request], writing: Writing) -> Option<Settlement> {
        if let Some(why) = self.stop.why() {
            let answers = requests.iter().map(|_| Err(StoreError::ReadOnly(why.clone()))).collect();
            return Some(Settlement { answers, sync: false, wrote: false, visible: None });
        }
        let space = self.log.reserve(requests.iter().map(|request| request.added_bytes() as u64).sum());
        let recent = (&mut self.recent, &mut self.writes, &mut self.claims);
        let mut admission = Admission::new(self.log.reader(), recent, &*self.timestamps, self.visible);
        let mut sync = false;
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            let answer = match &space {
                Err(error) if request.added_bytes() > 0 => Err(error.clone()),
                _ => admission.admit(request),
            };
            sync |= matches!(answer, Ok(Ok(_))) && request.is_durable();
            answers.push(answer);
        }
        let Admitted { group, newest, failure } = admission.finish();
        if let Some(failure) = failure {
            self.stop.stop(&failure);
        }
        let settlement = Settlement { answers, sync, wrote: false, visible: None };
        if group.is_empty() && newest.is_none() {
            // A durable request that changed nothing still follows earlier records, so it may need a sync.
            return Some(settlement);
        }
        let visible = newest.unwrap_or(self.visible);
        let max_timestamp = self.max_timestamp.max(visible).max(group.max_timestamp());
        self.write_group(Unwritten { group, visible, max_timestamp, settlement }, writing)
    }

    /// `None` if the log would have to wait. The group is then kept for [`Committer::finish`].
    fn write_group(&mut self, unwritten: Unwritten, writing: Writing) -> Option<Settlement> {
        let Unwritten { group, visible, max_timestamp, mut settlement } = unwritten;
        let record = LogRecord { changes: group.changes(), visible, max_timestamp };
        let written = match writing {
            Writing::Synced => self.log.write(&record, settlement.sync).map(|()| true),
            Writing::Unsynced => self.log.write(&record, false).map(|()| true),
            Writing::AtOnce => self.log.write_at_once(&record),
        };
        if written == Ok(false) {
            self.unwritten = Some(Unwritten { group, visible, max_timestamp, settlement });
            return None;
        }
        if let Err(error) = written {
            self.stop.stop(&error);
            settlement.undetermined(&error);
            settlement.sync = false;
            return Some(settlement);
        }
        settlement.wrote = true;
        if writing == Writing::Synced {
            self.unsynced = !settlement.sync;
            settlement.sync = false;
        }
        self.max_timestamp = max_timestamp;
        self.snapshots.order(visible, record.changes, max_timestamp);
        if visible > self.visible {
            self.visible = visible;
            settlement.visible = Some(visible);
        }
        self.recent.trim();
        Some(settlement)
    }
}
