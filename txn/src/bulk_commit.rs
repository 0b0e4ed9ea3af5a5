//! COMMIT of many writes beside the log, on engines that offer [`storage::BulkCommit`]. Each cell is written once, in
//! its final form. Two phases would write a lock, a record and the lock's removal instead. Other commits need not
//! wait until a large batch has passed the log.
//!
//! First the keys are claimed, a step at a time. From then on nobody else can commit a conflicting write. Meanwhile
//! the cells are prepared for a commit_ts in the near future. The commit at that timestamp validates like any other
//! and ingests the cells in whole. If somebody else gets a later timestamp first, the cells are prepared again for a
//! later one. A crash leaves all of the commit or nothing: there are no locks to clean up.

use crate::backoff::Backoff;
use crate::buffer::FinalWrite;
use crate::bulk::too_large;
use crate::commit::{CommitJob, UNKNOWN_CONDITION, no_lock};
use crate::data::RecordKind;
use crate::error::{ConflictKind, Result, TxnError};
use crate::failpoint;
use crate::put_batch::Puts;
use crate::row_locks::base_of;
use crate::transaction::WriteKind;
use crate::version_table::Packed;
use crate::write::{push_record, put_header};
use bytes::Bytes;
use futures::FutureExt;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::{
    AtomicCommit, BoxFuture, BulkCommit, CellBlock, Claim, ClaimedKey, ClaimedKeys, ClaimedRun, CommitBatch,
    FailedCondition, Family, PreparedCells, PreparedCommit, StoreError, Timestamp,
};

/// Larger transactions commit in two phases, because the claim of so many keys takes some hundred megabytes.
const MOST_WRITES: u64 = 4 << 20;
/// The same limit in bytes. So much is on disk twice meanwhile.
const MOST_BYTES: u64 = 2 << 30;
/// How often the cells are prepared for a timestamp that turns out to be too early.
const MOST_TRIES: u32 = 4;
/// Margin added to the expected time of preparing the cells.
const SPARE: Duration = Duration::from_millis(100);
/// How far a commit_ts may lie ahead of the oracle's clock. Other commits need room below it until
/// the clock is there.
const AHEAD: Duration = Duration::from_millis(500);

/// How often a commit checks whether the commits before it are done.
const LOOK: Duration = Duration::from_millis(2);

/// The rate at which this process prepares cells, in bytes a second, by the last measurement.
pub(crate) struct CellRate(AtomicU64);

impl Default for CellRate {
    fn default() -> Self {
        CellRate(AtomicU64::new(48 << 20))
    }
}

impl CellRate {
    fn time_for(&self, bytes: u64) -> Duration {
        Duration::from_secs_f64(bytes as f64 / self.0.load(Ordering::Relaxed).max(1) as f64)
    }

    fn learn(&self, bytes: u64, took: Duration) {
        let rate = bytes as f64 / took.as_secs_f64().max(0.001);
        // A stopped clock, as in a simulation, measures nothing.
        self.0.store((rate as u64).clamp(1 << 20, 1 << 30), Ordering::Relaxed);
    }
}

/// The timestamps for which large commits are being prepared. A commit that is ready waits for those with earlier
/// timestamps, which would otherwise have to be prepared again.
#[derive(Default)]
pub(crate) struct Appointments {
    all: Mutex<BTreeSet<Timestamp>>,
    /// How many were missed, so that the cells had to be prepared again.
    missed: AtomicU64,
}

/// A timestamp in [`Appointments`], until it is dropped.
struct Appointment<'a> {
    all: &'a Appointments,
    at: Timestamp,
}

impl Appointments {
    /// Makes an appointment at `at`, or at the next timestamp that is free.
    fn make(&self, mut at: Timestamp) -> Appointment<'_> {
        let mut all = self.all.lock();
        while !all.insert(at) {
            at = at.next();
        }
        Appointment { all: self, at }
    }

    /// How many appointments were missed so far.
    #[cfg(test)]
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }
}

impl Appointment<'_> {
    fn is_first(&self) -> bool {
        self.all.all.lock().first() == Some(&self.at)
    }
}

impl Drop for Appointment<'_> {
    fn drop(&mut self) {
        self.all.all.lock().remove(&self.at);
    }
}

/// The cells of a commit, while they are prepared.
struct Cells<'a> {
    bulk: &'a dyn BulkCommit,
    at: Timestamp,
    /// The current blocks of [`Family::Write`] and [`Family::Rollback`].
    blocks: [CellBlock; 2],
    /// A block that is being prepared.
    under_way: Option<BoxFuture<'a, storage::Result<Vec<PreparedCells>>>>,
    ready: Vec<PreparedCells>,
}

const FAMILIES: [Family; 2] = [Family::Write, Family::Rollback];

impl<'a> Cells<'a> {
    fn new(bulk: &'a dyn BulkCommit, at: Timestamp) -> Cells<'a> {
        Cells { bulk, at, blocks: Default::default(), under_way: None, ready: Vec::new() }
    }

    /// Adds a write. Its key must be greater than those before.
    async fn add(&mut self, write: &FinalWrite, start_ts: Timestamp) -> Result<()> {
        let (number, kind, value) = match &write.kind {
            WriteKind::Put(value) => (0, RecordKind::Put, Some(&value[..])),
            WriteKind::Delete => (0, RecordKind::Delete, None),
            WriteKind::Lock => (1, RecordKind::Lock, None),
        };
        let record = |out: &mut Vec<u8>| push_record(write.strength, kind, start_ts, value, out);
        let pushed = self.blocks.get_mut(number).is_some_and(|block| block.push(&write.key, record));
        if !pushed {
            self.send(number).await?;
            if !self.blocks.get_mut(number).is_some_and(|block| block.push(&write.key, record)) {
                return Err(too_large());
            }
        }
        if self.blocks.get(number).is_some_and(CellBlock::is_full) {
            self.send(number).await?;
        }
        Ok(())
    }

    /// Adds rows that were put, behind the earlier ones.
    async fn add_packed(&mut self, puts: &Puts, start_ts: Timestamp) -> Result<()> {
        let [writes, _] = &mut self.blocks;
        writes.push_run(puts.keys().clone(), puts.values().clone(), put_header(puts.strength(), start_ts));
        if writes.is_full() { self.send(0).await } else { Ok(()) }
    }

    /// Starts to prepare a block, in the background.
    async fn send(&mut self, number: usize) -> Result<()> {
        let (Some(block), Some(family)) = (self.blocks.get_mut(number), FAMILIES.get(number)) else { return Ok(()) };
        let block = std::mem::take(block);
        if block.is_empty() {
            return Ok(());
        }
        self.wait().await?;
        let mut making = self.bulk.prepare(*family, self.at, block);
        // The first poll starts the work.
        match (&mut making).now_or_never() {
            Some(made) => self.ready.extend(made?),
            None => self.under_way = Some(making),
        }
        Ok(())
    }

    async fn wait(&mut self) -> Result<()> {
        if let Some(making) = self.under_way.take() {
            self.ready.extend(making.await?);
        }
        Ok(())
    }

    /// Answers all prepared cells.
    async fn finish(mut self) -> Result<Vec<PreparedCells>> {
        for number in 0..FAMILIES.len() {
            self.send(number).await?;
        }
        self.wait().await?;
        Ok(self.ready)
    }
}

impl CommitJob {
    /// The engine's capability to commit many writes at once, if it has it.
    fn bulk_commit(&self) -> Option<&dyn BulkCommit> {
        self.store.store.atomic().and_then(AtomicCommit::bulk_commit)
    }

    /// Whether a bulk commit should be tried: the writes are many, but not too many, and others know of their keys.
    pub(crate) fn is_for_bulk(&self) -> bool {
        let options = &self.store.options;
        // Too many writes for one batch. Two phases would leave a lock for each deleted row, and readers would meet
        // these locks until they are removed.
        let many = self.buffer.writes() > options.one_phase_limit_writes;
        let bytes = if many { 0 } else { options.bulk_from_bytes as u64 }..=MOST_BYTES;
        !options.always_two_phase
            && bytes.contains(&self.buffer.total_bytes())
            && self.buffer.writes() <= MOST_WRITES
            && self.fresh.is_empty()
            && self.bulk_commit().is_some()
    }

    /// Commits in bulk. `None` if nothing was done and another way must be taken.
    pub(crate) async fn commit_in_bulk(&self) -> Result<Option<Timestamp>> {
        let Some(bulk) = self.bulk_commit() else { return Ok(None) };
        let (claim, mut claimed) = (Claim::default(), Some(Bytes::new()));
        let (bytes, rate) = (self.buffer.total_bytes(), &self.store.cell_rate);
        let mut expected = rate.time_for(bytes);
        for _ in 0..MOST_TRIES {
            let began = self.store.env.monotonic();
            let now = self.store.oracle.last().0.max(self.store.oracle.physical_now());
            let at = Timestamp(now.saturating_add((expected + SPARE).as_micros() as u64));
            let appointment = self.store.appointments.make(at);
            let at = appointment.at;
            let cells = self.make_cells(bulk, at, &claim, &mut claimed).await?;
            let took = self.store.env.monotonic().saturating_sub(began);
            let Some(cells) = cells else {
                self.store.appointments.missed.fetch_add(1, Ordering::Relaxed);
                // Preparing the cells again takes at least as long.
                expected = (2 * took).max(2 * expected);
                continue;
            };
            rate.learn(bytes, took);
            expected = (2 * took).max(expected);
            if !cells.iter().any(PreparedCells::is_write) {
                return Ok(None);
            }
            self.wait_for(&appointment).await;
            if let Some(committed) = self.commit_cells(bulk, at, &claim, cells).await? {
                return Ok(Some(committed));
            }
            self.store.appointments.missed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(None)
    }

    /// Waits until the timestamp is not far ahead of the clock, and earlier appointments are done or late.
    async fn wait_for(&self, appointment: &Appointment<'_>) {
        let store = &self.store;
        let ahead = || Duration::from_micros(appointment.at.0.saturating_sub(store.oracle.physical_now()));
        store.env.sleep(ahead().saturating_sub(AHEAD)).await;
        while !ahead().is_zero() && !appointment.is_first() {
            store.env.sleep(LOOK.min(ahead())).await;
        }
    }

    /// Claims the keys from `claimed` on, and prepares all cells for a commit at `at`. `None` if
    /// `at` has passed meanwhile.
    async fn make_cells(
        &self,
        bulk: &dyn BulkCommit,
        at: Timestamp,
        claim: &Claim,
        claimed: &mut Option<Bytes>,
    ) -> Result<Option<Vec<PreparedCells>>> {
        let mut cells = Cells::new(bulk, at);
        let mut from = Some(Bytes::new());
        while let Some(start) = from {
            if self.store.oracle.last() >= at {
                return Ok(None);
            }
            // A partly claimed step is claimed again, because steps need not end where they did before.
            let is_due = |next: &Option<Bytes>| {
                claimed.as_ref().is_some_and(|claimed| next.as_ref().is_none_or(|next| next > claimed))
            };
            if let Some((packed, next)) = self.buffer.packed_from(&start) {
                let due = is_due(&next);
                if !due || self.claim_packed(bulk, claim, packed).await? {
                    cells.add_packed(&packed.puts, self.start_ts).await?;
                    if due {
                        claimed.clone_from(&next);
                    }
                    from = next;
                    continue;
                }
            }
            let (writes, next) = self.step(&start)?;
            if is_due(&next) {
                self.claim_step(bulk, claim, &writes).await?;
                claimed.clone_from(&next);
            }
            for write in &writes {
                cells.add(write, self.start_ts).await?;
            }
            from = next;
        }
        cells.finish().await.map(Some)
    }

    /// Claims the keys of packed rows if nothing conflicts. False if something may conflict. The keys are then
    /// claimed step by step, which names the conflict.
    async fn claim_packed(&self, bulk: &dyn BulkCommit, claim: &Claim, packed: &Packed) -> Result<bool> {
        let Some(_lean) = self.store.intents.lean_commit() else { return Ok(false) };
        self.store.fail_points().pass(failpoint::BEFORE_PREWRITE).await?;
        let strength = packed.puts.strength();
        let run = ClaimedRun {
            keys: packed.puts.keys().clone(),
            none_after: base_of(&self.bases, packed.command, self.snapshot.ts()),
            conflicts: strength.conflicting_classes(),
            class: strength as u8,
        };
        let keys = ClaimedKeys {
            claim: claim.clone(),
            families: FAMILIES,
            keys: Vec::new(),
            run: Some(run),
            row_conditions: Vec::new(),
        };
        Ok(bulk.claim(keys).await?.is_ok())
    }

    /// Claims the keys of a step, if nobody has written to them since they were read.
    async fn claim_step(&self, bulk: &dyn BulkCommit, claim: &Claim, writes: &[FinalWrite]) -> Result<()> {
        self.store.fail_points().pass(failpoint::BEFORE_PREWRITE).await?;
        let mut backoff = Backoff::new(self.store.env.clone(), self.store.options.lock_wait);
        loop {
            // The permit is held until the committer has answered. Writers of later locks find the claim.
            let lean = self.store.intents.lean_commit();
            let key = |write: &FinalWrite| ClaimedKey {
                key: write.key.clone(),
                none_after: self.since(write),
                conflicts: write.strength.conflicting_classes(),
                class: write.strength as u8,
            };
            let locks = writes.iter().map(|write| (write.key.clone(), no_lock(write.strength, None)));
            let keys = ClaimedKeys {
                claim: claim.clone(),
                families: FAMILIES,
                keys: writes.iter().map(key).collect(),
                run: None,
                row_conditions: if lean.is_some() { Vec::new() } else { locks.collect() },
            };
            let failed = match bulk.claim(keys).await? {
                Ok(()) => return Ok(()),
                Err(failed) => failed,
            };
            drop(lean);
            match failed {
                FailedCondition::Newer { index, found } => {
                    return Err(self.newer_write(writes, index, found).unwrap_or(UNKNOWN_CONDITION));
                }
                FailedCondition::Claimed { index } => {
                    let write = writes.get(index / 2).ok_or(UNKNOWN_CONDITION)?;
                    self.wait_for_claim(&write.key, &mut backoff).await?;
                }
                FailedCondition::Row { index } => {
                    let write = writes.get(index).ok_or(UNKNOWN_CONDITION)?;
                    self.wait_for_lock(&write.key, write.strength, None, &mut backoff).await?;
                }
                FailedCondition::Read { .. } | FailedCondition::Forgotten | FailedCondition::Passed => {
                    return Err(UNKNOWN_CONDITION);
                }
            }
        }
    }

    /// Waits a little for a large commit that claims `key`. Errors: the total wait is too long.
    pub(crate) async fn wait_for_claim(&self, key: &Bytes, backoff: &mut Backoff) -> Result<()> {
        match backoff.pause().await {
            true => Ok(()),
            false => Err(self.conflict(key, ConflictKind::Lock, self.snapshot.ts())),
        }
    }

    /// Commits cells that were prepared for `at`. `None` if `at` has passed.
    async fn commit_cells(
        &self,
        bulk: &dyn BulkCommit,
        at: Timestamp,
        claim: &Claim,
        cells: Vec<PreparedCells>,
    ) -> Result<Option<Timestamp>> {
        let store = &self.store;
        store.fail_points().pass(failpoint::AFTER_PREWRITE).await?;
        let mut backoff = Backoff::new(store.env.clone(), store.options.lock_wait);
        let mut validated = self.snapshot.clone();
        loop {
            store.fail_points().pass(failpoint::BEFORE_COMMIT_ATOMIC).await?;
            let batch = CommitBatch {
                conditions: self.unchanged_conditions().collect(),
                row_conditions: self.unchanged_locks(None).collect(),
                reads: self.read_condition(&validated, true, None),
                publishes: true,
                durable: true,
                ..CommitBatch::default()
            };
            let commit = PreparedCommit { claim: claim.clone(), batch, timestamp: at, cells: cells.clone() };
            let failed = match bulk.commit_prepared(commit).await {
                Ok(Ok(commit_ts)) => return Ok(Some(commit_ts)),
                Ok(Err(failed)) => failed,
                Err(StoreError::Undetermined(_)) => return Err(TxnError::Undetermined { start_ts: self.start_ts }),
                Err(error) => return Err(error.into()),
            };
            match failed {
                FailedCondition::Passed => return Ok(None),
                FailedCondition::Newer { index, found } => return Err(self.changed(index, found)),
                FailedCondition::Claimed { index } => {
                    self.wait_for_claim(self.unchanged_key(index)?, &mut backoff).await?;
                }
                FailedCondition::Row { index } => self.wait_for_unchanged(index, None, &mut backoff).await?,
                failed => validated = self.read_again(failed, None, &mut backoff).await?.unwrap_or(validated),
            }
        }
    }
}
