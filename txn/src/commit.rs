//! COMMIT (Percolator paper, section 2.2, `Commit`). A small transaction on an engine with a committer
//! commits as one batch; others take two phases. Two-phase commits run detached, so that a caller that goes
//! away leaves no half-done commit.

use crate::backoff::Backoff;
use crate::buffer::{Buffer, Early, FinalWrite};
use crate::commit_memory::CommitWay;
use crate::data::{RecordKind, encode_data};
use crate::error::{Conflict, ConflictKind, Result, TxnError};
use crate::failpoint;
use crate::intents::IntentState;
use crate::lock::{Lock, LockStrength};
use crate::locks::{Locker, UnlookingCommit};
use crate::parallel_prewrite::Reached;
use crate::pipelined_prewrite::EarlyLocks;
use crate::resolver::{Cleared, exactly};
use crate::row_locks::base_of;
use crate::snapshot::{ReadCounts, Snapshot};
use crate::store::TransactionStore;
use crate::system;
use crate::transaction::{CommandNumber, Shared, WriteKind};
use crate::write::{committed_cells, encode_record};
use bytes::Bytes;
use futures::channel::oneshot;
use futures::future::{Either, select};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use storage::{
    AtomicCommit, Cell, ClassRange, CommitBatch, CommitCell, CommitCondition, Condition, FailedCondition, Family,
    ReadCondition, RowRange, Stamp, StoreError, Timestamp, TimestampRange,
};

/// Rows in one step of a two-phase commit. Few, because other commits wait behind a step.
pub(crate) const STEP_ROWS: usize = 1024;
pub(crate) const STEP_BYTES: usize = 1 << 20;
/// How long a commit keeps asking a store that does not answer.
pub(crate) const STORE_PATIENCE: Duration = Duration::from_secs(10);

/// A transaction at COMMIT, with everything that its commit needs. A large transaction also writes its early locks
/// through such a job, see [`crate::pipelined_prewrite`].
pub(crate) struct CommitJob {
    pub(crate) store: Arc<TransactionStore>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The first snapshot of the transaction. Over rows its timestamp is the start_ts, and it
    /// tells the transaction's age.
    pub(crate) first_snapshot: Arc<Snapshot>,
    pub(crate) buffer: Arc<Buffer>,
    /// Set if the commit did not look for row locks. Until its outcome is known, new lockers of its rows wait for it.
    pub(crate) unlooking: Option<UnlookingCommit>,
    /// The transaction's identity. Zero until it is needed.
    pub(crate) start_ts: Timestamp,
    /// Keys that must be unchanged since a timestamp. Zero stands for the snapshot.
    pub(crate) unchanged: Vec<(Bytes, Timestamp)>,
    /// If statements have their own snapshots: by command, since when the rows it wrote must be unchanged.
    pub(crate) bases: Vec<(CommandNumber, Timestamp)>,
    /// Ranges that were read and must be unchanged, if reads are validated. In key order; they do not touch.
    pub(crate) reads: Option<Arc<[RowRange]>>,
    /// Ranges whose keys only this transaction knows.
    pub(crate) fresh: Vec<RowRange>,
    /// Set if the commit has not looked for locks on another node. It must look if its commit_ts says
    /// that there are any.
    pub(crate) unlooked: Option<Arc<Shared>>,
    /// Releases its row locks as soon as the commit is ordered, on engines that order commits before publishing them.
    pub(crate) gives_up: Option<Arc<Shared>>,
    /// The holder of locks that may be lost, which the commit must confirm.
    pub(crate) locker: Option<Arc<Locker>>,
    pub(crate) durable: bool,
    /// Keys that this transaction put and deleted and that had no value before. Only checks remain of them.
    pub(crate) vanished: HashSet<Bytes>,
    /// The key whose fate decides the transaction's fate.
    pub(crate) primary: Bytes,
    /// The primary's lock as it was last written.
    pub(crate) primary_lock: Arc<Mutex<Option<Cell>>>,
    /// The locks written before COMMIT, with their heartbeats.
    pub(crate) early: Option<EarlyLocks>,
    /// The newest timestamp that the oracle gave this commit.
    pub(crate) freshest: AtomicU64,
    /// The expiry of all its locks, on an engine where expiry does not matter.
    pub(crate) expires_at: u64,
}

impl CommitJob {
    pub(crate) fn new(
        store: Arc<TransactionStore>,
        snapshot: Arc<Snapshot>,
        buffer: Arc<Buffer>,
        start_ts: Option<Timestamp>,
        unchanged: Vec<(Bytes, Timestamp)>,
        durable: bool,
    ) -> Self {
        CommitJob {
            store,
            first_snapshot: snapshot.clone(),
            snapshot,
            buffer,
            unlooking: None,
            start_ts: start_ts.unwrap_or(Timestamp::ZERO),
            unchanged,
            bases: Vec::new(),
            reads: None,
            fresh: Vec::new(),
            unlooked: None,
            gives_up: None,
            locker: None,
            durable,
            vanished: HashSet::new(),
            primary: Bytes::new(),
            primary_lock: Arc::default(),
            early: None,
            freshest: AtomicU64::new(0),
            expires_at: 0,
        }
    }

    /// Commits by the path that suits the transaction. Answers the commit timestamp.
    pub(crate) async fn run(mut self) -> Result<Timestamp> {
        if self.buffer.has_deletes_of_own()
            && let Err(error) = Box::pin(self.find_vanished()).await
        {
            if let Some(early) = self.early.take() {
                early.undo(self.buffer);
            }
            return Err(error);
        }
        let options = &self.store.options;
        let few = self.buffer.writes() <= options.one_phase_limit_writes;
        let small = few && !self.buffer.spilled() && self.buffer.total_bytes() <= options.one_phase_limit_bytes as u64;
        let in_bulk = self.is_for_bulk();
        let way = CommitWay::of(self.store.store.atomic().is_some(), in_bulk, small, !self.fresh.is_empty());
        let bytes = way.bytes(self.buffer.total_bytes(), self.buffer.writes());
        let memory = self.store.commit_memory.take(bytes).await;
        if small && !in_bulk && !options.always_two_phase && self.store.store.atomic().is_some() {
            return self.one_phase().await;
        }
        let (answer, result) = oneshot::channel();
        let env = self.store.env.clone();
        let start_ts = self.start_ts;
        let steps = async move {
            let _memory = memory;
            if in_bulk && let Some(outcome) = self.commit_in_bulk().await.transpose() {
                drop(self.unlooking.take());
                // The caller may have gone away.
                let _ = answer.send(outcome);
                return;
            }
            self.two_phase(answer).await;
        };
        env.spawn("commit", Box::pin(steps));
        match result.await {
            Ok(result) => result,
            // The task was dropped with its runtime, because the server is shutting down.
            Err(_) => Err(TxnError::Undetermined { start_ts }),
        }
    }

    /// One step of final writes from the key `from` on, and the key to continue at.
    pub(crate) fn step(&self, from: &Bytes) -> Result<(Vec<FinalWrite>, Option<Bytes>)> {
        let (mut writes, next) = self.buffer.final_writes(from, self.store.options.step_rows.max(1), STEP_BYTES)?;
        for write in &mut writes {
            self.only_check_vanished(write);
            if self.is_fresh(&write.key) {
                // Such a key was never locked early.
                write.early = Early::Not;
            }
        }
        Ok((writes, next))
    }

    /// Whether only this transaction knows the key.
    pub(crate) fn is_fresh(&self, key: &Bytes) -> bool {
        self.fresh.iter().any(|range| range.contains(key))
    }

    /// Turns the write of a key in `vanished` into a check.
    pub(crate) fn only_check_vanished(&self, write: &mut FinalWrite) {
        if write.put_then_deleted && self.vanished.contains(&write.key) {
            write.kind = WriteKind::Lock;
        }
    }

    /// Finds the keys that this transaction put and then deleted, and that had no value before. A check that they
    /// have none remains: a lock-only record, no tombstone.
    async fn find_vanished(&mut self) -> Result<()> {
        let counts = ReadCounts::default();
        let mut from = Some(Bytes::new());
        while let Some(start) = from {
            let (writes, next) = self.step(&start)?;
            let candidates = writes.into_iter().filter(|write| write.put_then_deleted);
            let keys: Vec<Bytes> = candidates.map(|write| write.key).collect();
            if !keys.is_empty() {
                let values = self.store.read_many(&self.snapshot, &keys, &counts).await?;
                let absent = keys.into_iter().zip(values).filter(|(_, value)| value.is_none());
                self.vanished.extend(absent.map(|(key, _)| key));
            }
            from = next;
        }
        Ok(())
    }

    /// Commits as one batch: validated, stamped and synced by the committer (docs/protocol.md, section 1).
    async fn one_phase(self) -> Result<Timestamp> {
        let mut writes = Vec::new();
        let mut from = Some(Bytes::new());
        while let Some(start) = from {
            let (step, next) = self.step(&start)?;
            writes.extend(step);
            from = next;
        }
        let atomic = atomic(&self.store)?;
        self.store.fail_points().pass(failpoint::BEFORE_COMMIT_ATOMIC).await?;
        let mut backoff = Backoff::new(self.store.env.clone(), self.store.options.lock_wait);
        let mut validated = self.snapshot.clone();
        loop {
            // The permit is held until the committer has answered.
            let lean = self.store.intents.lean_commit();
            let mut batch = self.one_phase_batch(&writes, lean.is_none());
            batch.reads = self.read_condition(&validated, lean.is_none(), None);
            let failed = match self.commit_batch(atomic, batch).await {
                Ok(Ok(commit_ts)) => return Ok(commit_ts),
                Ok(Err(failed)) => failed,
                Err(StoreError::Undetermined(_)) => return Err(TxnError::Undetermined { start_ts: self.start_ts }),
                Err(error) => return Err(error.into()),
            };
            drop(lean);
            match failed {
                // Two conditions for each write, then one for each key that had to stay unchanged.
                FailedCondition::Newer { index, found } => {
                    let conflict = self.newer_write(&writes, index, found);
                    return Err(conflict.unwrap_or_else(|| self.changed(index - 2 * writes.len(), found)));
                }
                FailedCondition::Row { index } => match writes.get(index) {
                    Some(write) => Box::pin(self.wait_for_lock(&write.key, write.strength, None, &mut backoff)).await?,
                    None => Box::pin(self.wait_for_unchanged(index - writes.len(), None, &mut backoff)).await?,
                },
                FailedCondition::Claimed { index } => {
                    let key = match writes.get(index / 2) {
                        Some(write) => &write.key,
                        None => self.unchanged_key(index - 2 * writes.len())?,
                    };
                    Box::pin(self.wait_for_claim(key, &mut backoff)).await?;
                }
                failed => {
                    validated = Box::pin(self.read_again(failed, None, &mut backoff)).await?.unwrap_or(validated);
                }
            }
        }
    }

    /// Prepares another validation of the reads: waits for a lock in them, or validates them by reading. The latter
    /// answers the new snapshot to validate from. Errors: another transaction wrote to them.
    pub(crate) async fn read_again(
        &self,
        failed: FailedCondition,
        own: Option<Timestamp>,
        backoff: &mut Backoff,
    ) -> Result<Option<Arc<Snapshot>>> {
        match failed {
            FailedCondition::Read { key, locked: true, .. } => {
                self.wait_for_lock(&key, LockStrength::Share, own, backoff).await.map(|()| None)
            }
            FailedCondition::Read { key, found, .. } => Err(self.conflict(&key, ConflictKind::Read, found)),
            FailedCondition::Forgotten => self.validate_up_to_now().await.map(Some),
            FailedCondition::Newer { .. }
            | FailedCondition::Row { .. }
            | FailedCondition::Claimed { .. }
            | FailedCondition::Passed => Err(UNKNOWN_CONDITION),
        }
    }

    /// Commits a batch, and releases the row locks as soon as the commit is ordered. Later commits to these rows
    /// follow it in the log.
    async fn commit_batch(
        &self,
        atomic: &dyn AtomicCommit,
        batch: CommitBatch,
    ) -> storage::Result<std::result::Result<Timestamp, FailedCondition>> {
        let Some(shared) = &self.gives_up else { return atomic.commit_atomic(batch).await };
        let (ordered, told) = oneshot::channel();
        match select(atomic.commit_ordered(batch, ordered), told).await {
            Either::Left((answer, _)) => answer,
            Either::Right((ordered, committing)) => {
                if ordered.is_ok() {
                    shared.row_locks.give_up_rows();
                }
                committing.await
            }
        }
    }

    fn one_phase_batch(&self, writes: &[FinalWrite], with_locks: bool) -> CommitBatch {
        let mut batch = CommitBatch { publishes: true, durable: self.durable, ..CommitBatch::default() };
        batch.conditions.reserve(2 * writes.len() + self.unchanged.len());
        batch.cells.reserve(writes.len());
        for write in writes {
            batch.conditions.extend(no_newer_write(&write.key, write.strength, self.since(write)));
            batch.cells.push(self.one_phase_cell(write));
        }
        batch.conditions.extend(self.unchanged_conditions());
        if with_locks {
            let locks = writes.iter().map(|write| (write.key.clone(), no_lock(write.strength, None)));
            batch.row_conditions.extend(locks);
            batch.row_conditions.extend(self.unchanged_locks(None));
        }
        batch
    }

    fn one_phase_cell(&self, write: &FinalWrite) -> CommitCell {
        let (kind, inlined) = match &write.kind {
            WriteKind::Put(value) => (RecordKind::Put, Some(&value[..])),
            WriteKind::Delete => (RecordKind::Delete, None),
            WriteKind::Lock => (RecordKind::Lock, None),
        };
        let family = if kind == RecordKind::Lock { Family::Rollback } else { Family::Write };
        let value = Some(encode_record(write.strength, kind, self.start_ts, inlined));
        CommitCell { key: write.key.clone(), family, stamp: Stamp::AtCommit, value }
    }

    /// The timestamp since which the key of a write must be unchanged.
    pub(crate) fn since(&self, write: &FinalWrite) -> Timestamp {
        base_of(&self.bases, write.command, self.snapshot.ts())
    }

    /// The condition that nobody has written to the read ranges since `validated`.
    pub(crate) fn read_condition(
        &self,
        validated: &Snapshot,
        with_locks: bool,
        own: Option<Timestamp>,
    ) -> Option<ReadCondition> {
        let ranges = self.reads.clone()?;
        let locks = with_locks.then(|| (LockStrength::Share.conflicting_classes(), own));
        Some(ReadCondition { ranges, none_after: validated.ts(), locks })
    }

    /// Validates the read ranges by reading them again. Answers the snapshot of that.
    pub(crate) async fn validate_up_to_now(&self) -> Result<Arc<Snapshot>> {
        let now = self.store.take_snapshot(None).await?;
        self.validate_reads(&now).await?;
        Ok(Arc::new(now))
    }

    /// The conditions of [`crate::Transaction::require_unchanged`].
    pub(crate) fn unchanged_conditions(&self) -> impl Iterator<Item = CommitCondition> + '_ {
        self.unchanged.iter().map(move |(key, since)| CommitCondition {
            key: key.clone(),
            family: Family::Write,
            none_after: self.unchanged_since(*since),
            class: ClassRange::ANY,
        })
    }

    /// The timestamp since which such a key must be unchanged. Zero stands for the snapshot.
    pub(crate) fn unchanged_since(&self, since: Timestamp) -> Timestamp {
        if since == Timestamp::ZERO { self.snapshot.ts() } else { since }
    }

    /// The condition that no lock may become a write of such a key. A two-phase commit whose outcome is open holds
    /// such a lock, and so does one whose record is still missing here.
    pub(crate) fn unchanged_locks(&self, own: Option<Timestamp>) -> impl Iterator<Item = (Bytes, Condition)> + '_ {
        self.unchanged.iter().map(move |(key, _)| (key.clone(), no_lock(LockStrength::Share, own)))
    }

    /// The unchanged key with this index.
    pub(crate) fn unchanged_key(&self, index: usize) -> Result<&Bytes> {
        self.unchanged.get(index).map(|(key, _)| key).ok_or(UNKNOWN_CONDITION)
    }

    /// The conflict error for the unchanged key with this index.
    pub(crate) fn changed(&self, index: usize, found: Timestamp) -> TxnError {
        match self.unchanged.get(index) {
            Some((key, _)) => self.conflict(key, ConflictKind::Condition, found),
            None => UNKNOWN_CONDITION,
        }
    }

    pub(crate) async fn wait_for_unchanged(
        &self,
        index: usize,
        own: Option<Timestamp>,
        backoff: &mut Backoff,
    ) -> Result<()> {
        self.wait_for_lock(self.unchanged_key(index)?, LockStrength::Share, own, backoff).await
    }

    pub(crate) fn conflict(&self, key: &Bytes, kind: ConflictKind, found: Timestamp) -> TxnError {
        TxnError::Conflict(Conflict { key: key.clone(), snapshot_ts: self.snapshot.ts(), found, kind })
    }

    /// Clears the locks of `key` that exclude `strength`, or pauses for their live owner. Errors: the owner lives on
    /// and the patience is exhausted.
    pub(crate) async fn wait_for_lock(
        &self,
        key: &Bytes,
        strength: LockStrength,
        own: Option<Timestamp>,
        backoff: &mut Backoff,
    ) -> Result<()> {
        let cleared = self.store.clear_locks(key, strength, own).await?;
        self.wait_a_little(key, &cleared, backoff).await
    }

    /// Pauses if the key is held. Errors: the total wait is too long.
    pub(crate) async fn wait_a_little(&self, key: &Bytes, cleared: &Cleared, backoff: &mut Backoff) -> Result<()> {
        match cleared {
            Cleared::HeldBy(owner, _) if !backoff.pause().await => Err(self.conflict(key, ConflictKind::Lock, *owner)),
            Cleared::HeldBy(..) | Cleared::Yes => Ok(()),
        }
    }

    /// Runs both phases. Answers as soon as the outcome is known; the secondaries follow.
    async fn two_phase(mut self, answer: oneshot::Sender<Result<Timestamp>>) {
        let outcome = match self.store.store.atomic() {
            Some(_) => self.decide().await,
            None => self.look_and_decide_by_row().await,
        };
        let committed = outcome.as_ref().ok().copied();
        // Before the answer: a client that receives it may ask for a row without waiting.
        self.unlooking = None;
        // The caller may have gone away.
        let _ = answer.send(outcome);
        if let Some(commit_ts) = committed
            && let Err(error) = self.commit_secondaries(commit_ts).await
        {
            tracing::warn!(%error, start_ts = %self.start_ts, "locks of a committed transaction are left to others");
        }
    }

    /// Runs from the first lock to the primary's commit.
    async fn decide(&mut self) -> Result<Timestamp> {
        if self.start_ts == Timestamp::ZERO {
            self.start_ts = self.store.oracle.timestamp().await?.timestamp;
        }
        let (first, _) = self.buffer.final_writes(&Bytes::new(), 1, 0)?;
        let Some(first) = first.into_iter().next() else { return Ok(self.snapshot.ts()) };
        self.primary = self.choose_primary(first.key)?;
        let mut reached = Reached::Nothing;
        let result = match self.enter().await {
            Ok(()) => self.prewrite(&mut reached).await,
            Err(error) => Err(error),
        };
        let result = match result {
            Ok(()) => self.commit_primary().await,
            Err(error) => Err(error),
        };
        match result {
            Ok(commit_ts) => Ok(commit_ts),
            Err(error @ TxnError::Undetermined { .. }) => Err(error),
            Err(error) => {
                self.roll_back(reached).await;
                Err(error)
            }
        }
    }

    /// The primary. If the transaction's identity was asked for, it is the row of the outcome.
    pub(crate) fn choose_primary(&self, first: Bytes) -> Result<Bytes> {
        let outcome = system::outcome_key(self.start_ts);
        let own = self.buffer.get(&outcome, crate::transaction::OwnWrites::All)?;
        Ok(if own.is_some() { outcome } else { first })
    }

    /// Enters the table of intents, first in memory, then durably. Does nothing on engines without that table.
    async fn enter(&self) -> Result<()> {
        let Some(atomic) = self.store.store.atomic() else { return Ok(()) };
        let store = &self.store;
        store.intents.enter(self.start_ts, self.primary.clone(), IntentState::Prewriting);
        store.intents.wait_for_lean_commits().await;
        // This passes the committer's queue behind every batch that did not look for locks, even if the batch's
        // caller has gone away.
        let row = |key, value: &[u8]| CommitCell {
            key,
            family: Family::Data,
            stamp: Stamp::At(self.start_ts),
            value: Some(encode_data(value)),
        };
        let mut cells = vec![row(system::intent_key(self.start_ts), &self.primary)];
        if !self.fresh.is_empty() {
            cells.push(row(system::made_key(self.start_ts), &system::encode_ranges(&self.fresh)));
        }
        // Rows written beside the log could outlive unsynced records in it.
        let durable = !self.fresh.is_empty() && self.store.store.bulk().is_some();
        let batch = CommitBatch { cells, durable, ..CommitBatch::default() };
        match atomic.commit_atomic(batch).await? {
            Ok(_) => Ok(()),
            Err(_) => Err(TxnError::Invalid("an intent without conditions was refused")),
        }
    }

    /// Commits the primary. At that moment the transaction is committed.
    async fn commit_primary(&mut self) -> Result<Timestamp> {
        self.store.fail_points().pass(failpoint::AFTER_PREWRITE).await?;
        let Some(cell) = self.primary_lock.lock().clone() else {
            return Err(TxnError::Invalid("the primary was not prewritten"));
        };
        self.commit_primary_atomic(&cell).await
    }

    async fn commit_primary_atomic(&self, cell: &Cell) -> Result<Timestamp> {
        let store = &self.store;
        let lock = Lock::decode(&cell.value)?;
        let mut backoff = Backoff::new(store.env.clone(), store.options.lock_wait);
        let mut validated = self.snapshot.clone();
        loop {
            store.fail_points().pass(failpoint::BEFORE_COMMIT_PRIMARY).await?;
            let mut cells = committed_cells(&self.primary, self.start_ts, Timestamp::ZERO, &lock);
            if let Some(record) = cells.first_mut() {
                record.stamp = Stamp::AtCommit;
            }
            let own_lock = std::iter::once((self.primary.clone(), exactly(cell)));
            let batch = CommitBatch {
                conditions: self.unchanged_conditions().collect(),
                row_conditions: own_lock.chain(self.unchanged_locks(Some(self.start_ts))).collect(),
                reads: self.read_condition(&validated, true, Some(self.start_ts)),
                cells,
                publishes: true,
                durable: self.durable,
                private: false,
            };
            // From here on only the primary's row tells the outcome.
            store.intents.set(self.start_ts, IntentState::Committing);
            match atomic(store)?.commit_atomic(batch).await {
                Ok(Ok(commit_ts)) => {
                    store.intents.set(self.start_ts, IntentState::Committed(commit_ts));
                    return Ok(commit_ts);
                }
                Ok(Err(FailedCondition::Newer { index, found })) => return Err(self.changed(index, found)),
                Ok(Err(FailedCondition::Row { index: 0 })) => {
                    return Err(self.conflict(&self.primary, ConflictKind::RolledBack, self.start_ts));
                }
                Ok(Err(FailedCondition::Row { index })) => {
                    store.intents.set(self.start_ts, IntentState::Prewriting);
                    self.wait_for_unchanged(index - 1, Some(self.start_ts), &mut backoff).await?;
                }
                Ok(Err(FailedCondition::Claimed { index })) => {
                    store.intents.set(self.start_ts, IntentState::Prewriting);
                    self.wait_for_claim(self.unchanged_key(index)?, &mut backoff).await?;
                }
                Ok(Err(failed)) => {
                    store.intents.set(self.start_ts, IntentState::Prewriting);
                    let again = self.read_again(failed, Some(self.start_ts), &mut backoff).await?;
                    validated = again.unwrap_or(validated);
                }
                Err(StoreError::Undetermined(_)) => return Err(TxnError::Undetermined { start_ts: self.start_ts }),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Turns the remaining locks into write records. Idempotent; others may do the same concurrently.
    async fn commit_secondaries(&self, commit_ts: Timestamp) -> Result<()> {
        self.store.fail_points().pass(failpoint::BEFORE_COMMIT_SECONDARY).await?;
        let Some(atomic) = self.store.store.atomic() else {
            return self.commit_secondaries_by_row(commit_ts).await;
        };
        let mut from = Some(Bytes::new());
        while let Some(start) = from {
            let (writes, next) = self.step(&start)?;
            let secondaries = writes.iter().filter(|write| write.key != self.primary && !self.is_fresh(&write.key));
            let cells = secondaries
                .flat_map(|write| committed_cells(&write.key, self.start_ts, commit_ts, &self.lock_for(write)));
            let batch = CommitBatch { cells: cells.collect(), ..CommitBatch::default() };
            if !batch.cells.is_empty() && atomic.commit_atomic(batch).await?.is_err() {
                return Err(TxnError::Invalid("a batch without conditions was refused"));
            }
            from = next;
        }
        self.store.leave_intents(self.start_ts).await
    }
}

/// The error for an answer that a committer must not give.
pub(crate) const UNKNOWN_CONDITION: TxnError = TxnError::Invalid("the committer named a condition that was not given");

/// The capability to commit across rows, for callers that know it is there.
pub(crate) fn atomic(store: &TransactionStore) -> Result<&dyn AtomicCommit> {
    store.store.atomic().ok_or(TxnError::Invalid("the engine cannot commit across rows"))
}

/// The conditions that `key` has no conflicting write or lock-only record newer than the snapshot.
pub(crate) fn no_newer_write(key: &Bytes, strength: LockStrength, snapshot_ts: Timestamp) -> [CommitCondition; 2] {
    [Family::Write, Family::Rollback].map(|family| CommitCondition {
        key: key.clone(),
        family,
        none_after: snapshot_ts,
        class: strength.conflicting_classes(),
    })
}

/// The condition that no other transaction holds a conflicting lock.
pub(crate) fn no_lock(strength: LockStrength, own: Option<Timestamp>) -> Condition {
    Condition::NoCell {
        family: Family::Lock,
        range: TimestampRange::ALL,
        class: strength.conflicting_classes(),
        except: own,
    }
}
