//! [`Committer`]: the one place through which every change of a store passes. It validates requests,
//! stamps them, merges them into one group for the log, publishes, and answers.
//!
//! A plain value without threads, clocks or files: whoever owns it (a thread of the embedded engine,
//! a lock in the memory engine, an explorer) calls [`Committer::run`].
//!
//! The order inside a group, and why it is safe: a request is validated against the store, against recent
//! commits ([`recent`]) and against earlier requests of the group ([`group`]), which [`admission`] does; it takes its commit_ts
//! only then, so that timestamps follow the order of validation; the group is logged as one record.
//!
//! Then it is *ordered*: whatever commits later lies behind it in the log. It is *published* when the log has also synced it
//! (when any of its requests, or of those before it, is durable): only then do new snapshots see it, and only then does anybody
//! hear of it, but for those who asked to be told of the order. They may let others go on from what is ordered:
//! what comes to nothing with it comes to nothing too. [`Committer::run`] does all at once; who syncs while the next group is
//! ordered calls [`Committer::order`] and [`Settlement::settle`], in the order of the groups.

pub mod admission;
pub mod claims;
pub mod group;
pub mod recent;
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
use claims::Claims;
use group::Group;
use parking_lot::Mutex;
use recent::RecentCommits;
use recent_writes::RecentWrites;
use snapshots::SnapshotRegistry;
use std::sync::Arc;

/// Keys longer than this are refused.
pub const MAX_KEY_BYTES: usize = 64 << 10;
/// Values longer than this are refused.
pub const MAX_VALUE_BYTES: usize = 1 << 30;
/// Requests with more than this many bytes of keys and values are refused.
pub const MAX_REQUEST_BYTES: usize = 2 << 30;

/// A request that adds more bytes than this is not little.
pub const LITTLE_BYTES: usize = 64 << 10;
/// A claim of more keys than this is not little.
const LITTLE_KEYS: usize = 64;

/// One change, decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes a cell.
    Set {
        /// Row key.
        key: Bytes,
        /// Family.
        family: Family,
        /// Version.
        timestamp: Timestamp,
        /// Content.
        value: Bytes,
    },
    /// Removes a cell, which may be absent.
    Remove {
        /// Row key.
        key: Bytes,
        /// Family.
        family: Family,
        /// Version.
        timestamp: Timestamp,
    },
    /// Removes every cell of every row in a range.
    RemoveRange(RowRange),
}

/// What the committer hands to the log: applied in order, all or nothing.
#[derive(Debug)]
pub struct LogRecord<'a> {
    /// The changes.
    pub changes: &'a [Change],
    /// The newest commit timestamp once this record is applied.
    pub visible: Timestamp,
    /// The greatest timestamp of any cell ever written, this record's included.
    pub max_timestamp: Timestamp,
}

/// Reads the versions of rows, as they are when the reader is made or later.
pub trait VersionReader {
    /// Calls `visit` with the cells of one family of one row in a range, newest first, until it
    /// answers false.
    fn versions(
        &mut self,
        key: &[u8],
        family: Family,
        range: TimestampRange,
        visit: &mut dyn FnMut(Timestamp, &[u8]) -> bool,
    ) -> Result<()>;

    /// Calls `visit` with the cells of one family of the rows in a range, row by row, until it answers false.
    fn rows(
        &mut self,
        rows: &RowRange,
        family: Family,
        visit: &mut dyn FnMut(&[u8], Timestamp, &[u8]) -> bool,
    ) -> Result<()>;
}

/// What the committer needs of an engine.
pub trait CommitLog {
    /// Reads rows while one group is validated.
    type Reader<'a>: VersionReader
    where
        Self: 'a;

    /// A reader of what was written so far.
    fn reader(&self) -> Self::Reader<'_>;

    /// Whether `bytes` more may be written. Errors: `DiskFull`.
    fn reserve(&self, bytes: u64) -> Result<()>;

    /// Appends the record to the log, syncs the log when `sync`, then applies it. After an error
    /// nothing is known of the record.
    fn write(&mut self, record: &LogRecord<'_>, sync: bool) -> Result<()>;

    /// The same without a sync, for a thread that must not wait. False: the log would have to wait, and nothing was written.
    fn write_at_once(&mut self, record: &LogRecord<'_>) -> Result<bool> {
        self.write(record, false).map(|()| true)
    }

    /// Syncs all that was written.
    fn sync(&mut self) -> Result<()>;

    /// Takes prepared cells in, all or none of them, as the record's newest commit; `before` was the newest so far. Durable when it
    /// answers, and so is all that was written before. After an error nothing is known of them.
    fn take_in(&mut self, cells: &[PreparedCells], before: Timestamp, record: &LogRecord<'_>) -> Result<()>;
}

/// What the committer is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A batch across rows.
    Commit(CommitBatch),
    /// Mutations of rows, all of them when every condition (on the first row) holds. Durable; does not
    /// publish.
    Rows {
        /// Conditions on the first row.
        conditions: Vec<Condition>,
        /// Changes.
        rows: Vec<RowMutation>,
    },
    /// Removes the rows of a range.
    RemoveRange(RowRange),
    /// Claims keys. Writes nothing.
    Claim(ClaimedKeys),
    /// Commits cells that lie ready.
    Prepared(PreparedCommit),
}

impl Request {
    fn is_durable(&self) -> bool {
        match self {
            Request::Commit(batch) => batch.durable,
            Request::Rows { .. } | Request::RemoveRange(_) => true,
            // Durable by themselves, or nothing.
            Request::Claim(_) | Request::Prepared(_) => false,
        }
    }

    /// Whether it takes long, though it adds nothing to the log.
    pub fn is_long(&self) -> bool {
        matches!(self, Request::Prepared(_))
    }

    /// Whether a thread that has others to serve may order it.
    pub fn is_little(&self) -> bool {
        match self {
            Request::Prepared(_) => false,
            Request::Claim(claimed) => claimed.run.is_none() && claimed.keys.len() <= LITTLE_KEYS,
            Request::Commit(_) | Request::Rows { .. } | Request::RemoveRange(_) => self.added_bytes() <= LITTLE_BYTES,
        }
    }

    /// Bytes that the request adds to the store, roughly; 0 when it only removes.
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

/// What became of a request: its timestamp, the condition that failed, or an error.
pub type Answer = Result<std::result::Result<Timestamp, FailedCondition>>;

/// Where a committer starts: what was found when the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Greatest commit timestamp.
    pub visible: Timestamp,
    /// Greatest timestamp of any cell.
    pub max_timestamp: Timestamp,
    /// Whether a family (by its position in [`Family::ALL`]) has no cell at all.
    pub empty: [bool; Family::ALL.len()],
}

/// See the head of the module.
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

/// How a record gets into the log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    /// With a sync, where the group wants one.
    Synced,
    /// Without a sync.
    Unsynced,
    /// Without a sync, and only if the log need not wait.
    AtOnce,
}

/// Why no more writes are taken, once one failed, or a sync.
#[derive(Default)]
pub struct Stop(Mutex<Option<String>>);

impl Stop {
    /// Why.
    pub fn why(&self) -> Option<String> {
        self.0.lock().clone()
    }

    /// A write or sync failed.
    pub fn stop(&self, error: &StoreError) {
        tracing::error!(%error, "a write or sync failed: no more writes until restart");
        self.0.lock().get_or_insert_with(|| error.to_string());
    }
}

/// A group that is ordered: what is left to do when it is synced.
#[must_use]
#[derive(Default)]
pub struct Settlement {
    /// One answer for each request, to be given when it is settled.
    pub answers: Vec<Answer>,
    /// Whether it is to be synced before.
    pub sync: bool,
    /// Whether it left a record, which has to be synced sooner or later.
    pub wrote: bool,
    /// The newest commit of the group, when it changed anything.
    visible: Option<Timestamp>,
}

impl Settlement {
    /// Publishes the group, or tells that nobody knows what became of it.
    pub fn settle(mut self, synced: &Result<()>, snapshots: &SnapshotRegistry) -> Vec<Answer> {
        match synced {
            Ok(()) => self.visible.into_iter().for_each(|visible| snapshots.publish(visible)),
            Err(error) => self.undetermined(error),
        }
        self.answers
    }

    /// What was ordered next, as part of the same.
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
    /// A committer over `log`, which publishes to `snapshots` and remembers about `recent_bytes` of
    /// recent commits.
    pub fn new(
        log: L,
        timestamps: Arc<dyn TimestampSource>,
        snapshots: Arc<SnapshotRegistry>,
        recovered: Recovered,
        recent_bytes: usize,
    ) -> Self {
        let max_timestamp = recovered.max_timestamp.max(recovered.visible);
        let floors = recovered.empty.map(|empty| (!empty).then_some(max_timestamp));
        // A quarter of what the rows take.
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

    /// The log.
    pub fn log(&self) -> &L {
        &self.log
    }

    /// The log, to be changed.
    pub fn log_mut(&mut self) -> &mut L {
        &mut self.log
    }

    /// Whether something was written since the last sync: [`Committer::sync`] is due within 200 ms.
    pub fn needs_sync(&self) -> bool {
        self.unsynced && self.stop.why().is_none()
    }

    /// Why no more writes are taken, when a write or sync failed; to be stopped by whoever syncs for it.
    pub fn stop(&self) -> &Arc<Stop> {
        &self.stop
    }

    /// Where it publishes.
    pub fn snapshots(&self) -> &Arc<SnapshotRegistry> {
        &self.snapshots
    }

    /// Syncs what requests that were not durable left behind.
    pub fn sync(&mut self) -> Result<()> {
        if !self.needs_sync() {
            return Ok(());
        }
        self.unsynced = false;
        self.log.sync().inspect_err(|error| self.stop.stop(error))
    }

    /// Runs the requests as one group; one answer each, in order.
    pub fn run(&mut self, requests: &[Request]) -> Vec<Answer> {
        let settlement = self.ordered(requests, Writing::Synced);
        // What left no record may still follow one that is not synced.
        let synced = match settlement.sync {
            true => self.sync(),
            false => Ok(()),
        };
        settlement.settle(&synced, &self.snapshots)
    }

    /// Runs the requests as one group up to their place in the order. What is left is to be done in the order of the groups: a
    /// sync, if it is wanted, and [`Settlement::settle`].
    pub fn order(&mut self, requests: &[Request]) -> Settlement {
        self.ordered(requests, Writing::Unsynced)
    }

    /// The same of little requests, on a thread that must not wait. `None`: the log would have to wait. Then
    /// [`Committer::finish`] is to be called before anything else is ordered.
    pub fn order_at_once(&mut self, requests: &[Request]) -> Option<Settlement> {
        self.claims.let_go();
        self.ordered_part(requests, Writing::AtOnce)
    }

    /// Writes the group that [`Committer::order_at_once`] left, waiting for the log.
    pub fn finish(&mut self) -> Option<Settlement> {
        let unwritten = self.unwritten.take()?;
        self.write_group(unwritten, Writing::Unsynced)
    }

    fn ordered(&mut self, requests: &[Request], writing: Writing) -> Settlement {
        self.claims.let_go();
        let mut settlement = Settlement::default();
        // What lies ready is taken in by itself, between what was asked before it and after.
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
        // Nobody remembers each of them: who asks about what is not newer looks into the store.
        self.recent.raise(timestamp);
        self.writes.raise(timestamp);
        self.max_timestamp = max_timestamp;
        self.visible = timestamp;
        self.snapshots.order_cells(timestamp, &commit.cells);
        Settlement { answers: vec![answer], sync: false, wrote: true, visible: Some(timestamp) }
    }

    /// `None`: only of [`Writing::AtOnce`].
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
            // A durable request that changed nothing still follows what was written before it.
            return Some(settlement);
        }
        let visible = newest.unwrap_or(self.visible);
        let max_timestamp = self.max_timestamp.max(visible).max(group.max_timestamp());
        self.write_group(Unwritten { group, visible, max_timestamp, settlement }, writing)
    }

    /// `None`: the log would have to wait, and the group is kept.
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
