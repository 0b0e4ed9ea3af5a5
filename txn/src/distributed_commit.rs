//! COMMIT on a store that changes one row at a time and may lose an answer (docs/protocol.md, sections 2 and 4). It
//! sends one wave of locks, takes commit_ts after all of them, and commits the primary by a conditional mutation on
//! the exact lock. Then it answers; the secondaries follow.

use crate::backoff::Backoff;
use crate::commit::{CommitJob, STORE_PATIENCE};
use crate::error::{ConflictKind, Result, TxnError};
use crate::failpoint;
use crate::lock::{Lock, LockStrength};
use crate::oracle::OracleReading;
use crate::resolver::{PrimaryRow, exactly, nothing_since, roll_back_mutations, roll_forward_mutations};
use crate::row_locks::{LOCKED_AT_ONCE, LOCKED_BYTES};
use crate::snapshot::Snapshot;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use storage::{Cell, Family, ReadFilter, RowMutation, StoreError, Timestamp, TimestampRange};

/// Batches of secondaries under way at the same time.
const PARALLEL_BATCHES: usize = 2;

/// How often a commit that validates its reads may be pushed before it gives up.
const PUSHES: u32 = 8;

impl CommitJob {
    /// Runs a commit from the first lock to the primary's commit. If its commit_ts tells that it must look for locks,
    /// and it has not, it starts again. It then takes another start_ts, because a rolled-back one refuses all writes.
    pub(crate) async fn look_and_decide_by_row(&mut self) -> Result<Timestamp> {
        let identified = self.start_ts != Timestamp::ZERO;
        self.start_ts = self.first_snapshot.ts();
        match self.decide_by_row().await {
            Err(TxnError::Unlooked) if !identified => {}
            Err(TxnError::Unlooked) => {
                // Others know its start_ts already, so it cannot take another one.
                return Err(self.conflict(&self.primary, ConflictKind::Lock, self.start_ts));
            }
            decided => return decided,
        }
        let Some(shared) = self.unlooked.take() else { return Err(TxnError::Unlooked) };
        shared.lock_writes(|from| self.buffer.final_writes(from, LOCKED_AT_ONCE, LOCKED_BYTES)).await?;
        self.locker = shared.row_locks.holder();
        drop(shared);
        *self.primary_lock.lock() = None;
        self.start_ts = self.fresh_ts().await?;
        self.decide_by_row().await
    }

    async fn decide_by_row(&mut self) -> Result<Timestamp> {
        let (first, _) = self.buffer.final_writes(&Bytes::new(), 1, 0)?;
        let Some(first) = first.into_iter().next() else { return Ok(self.snapshot.ts()) };
        self.primary = self.choose_primary(first.key)?;
        let early = self.early.take();
        let progress = early.as_ref().map_or_else(Arc::default, |early| early.progress.clone());
        let locked = async {
            self.prewrite_wave(&progress).await?;
            progress.pass(self.store.fail_points(), failpoint::AFTER_PREWRITE).await?;
            let commit_ts = self.take_commit_ts().await?;
            self.confirm_locks().await?;
            self.validate(commit_ts).await?;
            Ok(commit_ts)
        };
        let locked = match early {
            // The heartbeats that began with the early locks go on.
            Some(early) => {
                let locked = locked.await;
                early.stop().await;
                locked
            }
            None => self.with_heart_beats(&progress, locked).await,
        };
        let mut sent = false;
        let result = match locked {
            Ok(commit_ts) => self.commit_primary_by_row(commit_ts, &mut sent).await,
            Err(error) => Err(error),
        };
        let result = match result {
            Err(error) if sent => self.settle(error).await,
            result => result,
        };
        match result {
            Ok(commit_ts) => {
                self.wait_until_seen(commit_ts).await;
                Ok(commit_ts)
            }
            Err(error @ TxnError::Undetermined { .. }) => {
                self.store.remember_undetermined(self.start_ts, self.primary.clone());
                Err(error)
            }
            Err(error) => {
                let reached = progress.reached.lock().clone();
                self.roll_back(reached).await;
                Err(error)
            }
        }
    }

    /// A timestamp that the oracle hands out after this call.
    async fn fresh_ts(&self) -> Result<Timestamp> {
        Ok(self.fresh_reading().await?.timestamp)
    }

    async fn fresh_reading(&self) -> Result<OracleReading> {
        let reading = self.store.oracle.timestamp().await?;
        self.store.aged.note(self.store.env.monotonic(), reading.timestamp);
        self.freshest.fetch_max(reading.timestamp.0, Ordering::SeqCst);
        Ok(reading)
    }

    /// A fresh commit_ts. A later lock holder that this commit does not know of reads above it, and meets the
    /// commit's locks in the store. Errors: the commit should have looked for locks.
    async fn take_commit_ts(&self) -> Result<Timestamp> {
        let reading = self.fresh_reading().await?;
        if reading.locked && self.unlooked.is_some() { Err(TxnError::Unlooked) } else { Ok(reading.timestamp) }
    }

    /// Like [`CommitJob::take_commit_ts`], but not below `least`. A validating commit waits until the oracle has
    /// reached `least`. Otherwise another transaction could lock, and take a lower timestamp, after the validation.
    async fn take_commit_ts_from(&self, least: Timestamp) -> Result<Timestamp> {
        loop {
            let taken = self.take_commit_ts().await?;
            if taken >= least {
                return Ok(taken);
            }
            self.wait_until_seen(least).await;
        }
    }

    /// Whether reads or keys must be unchanged up to commit_ts.
    fn validates(&self) -> bool {
        self.reads.is_some() || !self.unchanged.is_empty()
    }

    /// Errors: locks that only another node knows of were lost.
    async fn confirm_locks(&self) -> Result<()> {
        match &self.locker {
            Some(locker) => locker.confirm().await.map_err(|_| TxnError::LocksLost),
            None => Ok(()),
        }
    }

    /// Waits until every new snapshot sees a commit at `commit_ts`. Readers may have pushed it a little
    /// ahead of the oracle.
    async fn wait_until_seen(&self, commit_ts: Timestamp) {
        let mut patience = Backoff::within(self.store.env.clone(), STORE_PATIENCE);
        while commit_ts.0 > self.freshest.load(Ordering::SeqCst) {
            let ahead = Duration::from_micros(commit_ts.0 - self.freshest.load(Ordering::SeqCst));
            self.store.env.sleep(ahead.min(STORE_PATIENCE)).await;
            if let Err(error) = self.fresh_ts().await {
                tracing::debug!(%error, %commit_ts, "a commit ahead of the oracle waits for it");
            }
            if !patience.pause().await {
                return;
            }
        }
    }

    /// Validates reads and unchanged keys up to `commit_ts`, which was taken before.
    async fn validate(&self, commit_ts: Timestamp) -> Result<()> {
        self.check_unchanged(commit_ts).await?;
        self.validate_reads(&Snapshot::of_rows(commit_ts)).await
    }

    /// Checks that the keys that had to stay unchanged did, up to `commit_ts`, which was taken before. A change that
    /// is not visible now will commit above it. The check writes nothing, so many transactions can depend on one key
    /// without contention. Errors: a key has changed, or a live transaction is changing it.
    async fn check_unchanged(&self, commit_ts: Timestamp) -> Result<()> {
        if self.unchanged.is_empty() {
            return Ok(());
        }
        let since: HashMap<&Bytes, Timestamp> =
            self.unchanged.iter().map(|(key, since)| (key, self.unchanged_since(*since))).collect();
        let first = since.values().copied().min().unwrap_or(self.snapshot.ts());
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::up_to(commit_ts), usize::MAX).with(
            Family::Write,
            TimestampRange::after(first),
            1,
        );
        let keys: Vec<Bytes> = since.keys().map(|key| (*key).clone()).collect();
        let mut backoff = Backoff::new(self.store.env.clone(), self.store.options.lock_wait);
        loop {
            let rows = self.store.store.read(&keys, &filter).await?;
            let mut held = None;
            for row in &rows {
                let after = since.get(&row.key).copied().unwrap_or(first);
                if let Some(change) = row.newest(Family::Write).filter(|change| change.timestamp > after) {
                    return Err(self.conflict(&row.key, ConflictKind::Condition, change.timestamp));
                }
                let changes = LockStrength::Share.conflicting_classes();
                let others = |cell: &&Cell| cell.timestamp != self.start_ts && changes.contains(&cell.value);
                if row.family(Family::Lock).any(|cell| others(&cell)) {
                    held = Some(row.key.clone());
                }
            }
            let Some(key) = held else { return Ok(()) };
            self.wait_for_lock(&key, LockStrength::Share, Some(self.start_ts), &mut backoff).await?;
        }
    }

    /// Commits the primary at `commit_ts`, or later if readers pushed it. `sent` is set when the request was sent at
    /// least once. After that, only the row tells the outcome of an error.
    async fn commit_primary_by_row(&self, mut commit_ts: Timestamp, sent: &mut bool) -> Result<Timestamp> {
        let store = &self.store;
        let mut patience = Backoff::within(store.env.clone(), STORE_PATIENCE);
        let mut pushed = 0;
        loop {
            let Some(cell) = self.primary_lock.lock().clone() else {
                return Err(TxnError::Invalid("the primary was not prewritten"));
            };
            let lock = Lock::decode(&cell.value)?;
            if commit_ts < lock.min_commit_ts {
                // After many pushes this timestamp lies ahead of the oracle, so that readers coming meanwhile
                // need not push again.
                commit_ts = match self.validates() {
                    true => self.take_commit_ts_from(lock.min_commit_ts).await?,
                    false => self.take_commit_ts().await?.max(lock.min_commit_ts),
                };
                // By now its locks may belong to the transaction that pushed this one.
                self.confirm_locks().await?;
                // Two transactions that each read the other's writes could push each other for ever.
                // Readers push as well.
                pushed += 1;
                if self.validates() && pushed > PUSHES {
                    return Err(self.conflict(&self.primary, ConflictKind::Lock, lock.min_commit_ts));
                }
                self.validate(commit_ts).await?;
            }
            store.fail_points().pass(failpoint::BEFORE_COMMIT_PRIMARY).await?;
            self.first_snapshot.check_age(store)?;
            let mutations = roll_forward_mutations(self.start_ts, commit_ts, &lock);
            *sent = true;
            let failed = match store.store.check_and_mutate(self.primary.clone(), vec![exactly(&cell)], mutations).await
            {
                Ok(true) => return Ok(commit_ts),
                Ok(false) => None,
                Err(error) => Some(error),
            };
            // The lock was pushed or rolled back, or an attempt with a lost answer committed. The row tells.
            let row = store.read_primary(&self.primary, self.start_ts).await?;
            match (row.committed, row.lock) {
                (Some(commit_ts), _) => return Ok(commit_ts),
                (None, None) => return Err(self.conflict(&self.primary, ConflictKind::RolledBack, self.start_ts)),
                (None, Some(current)) => {
                    // The lock is unchanged, so the store did not take the commit.
                    let refused = failed.as_ref().is_some_and(|error| !is_passing(error));
                    if refused || (current == cell && !patience.pause().await) {
                        let not_taken = || StoreError::Unavailable("the store does not take the commit".into());
                        return Err(failed.unwrap_or_else(not_taken).into());
                    }
                    *self.primary_lock.lock() = Some(current);
                }
            }
        }
    }

    /// Determines the fate of a transaction whose commit was sent but not confirmed: finds the commit, or prevents it
    /// for ever. Errors: `failed` if nothing was committed; undetermined if the store did not answer in time.
    async fn settle(&self, failed: TxnError) -> Result<Timestamp> {
        let mut patience = Backoff::within(self.store.env.clone(), STORE_PATIENCE);
        loop {
            match self.try_settle().await {
                Ok(Some(Some(commit_ts))) => return Ok(commit_ts),
                Ok(Some(None)) => return Err(failed),
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(%error, start_ts = %self.start_ts, "asking again what became of a commit")
                }
            }
            if !patience.pause().await {
                return Err(TxnError::Undetermined { start_ts: self.start_ts });
            }
        }
    }

    /// The commit timestamp, or `None` inside if there will be no commit. The outer `None` means to look again.
    async fn try_settle(&self) -> Result<Option<Option<Timestamp>>> {
        let row = self.store.read_primary(&self.primary, self.start_ts).await?;
        if row.committed.is_some() {
            return Ok(Some(row.committed));
        }
        let PrimaryRow { lock, rolled_back, newest, .. } = row;
        if rolled_back {
            return Ok(Some(None));
        }
        let conditions = match &lock {
            Some(cell) => vec![exactly(cell)],
            None => nothing_since(self.start_ts, newest),
        };
        let fenced = self.store.change_row(&self.primary, conditions, roll_back_mutations(self.start_ts)).await?;
        Ok(fenced.then_some(None))
    }

    /// Turns the remaining locks into write records, several batches at a time. Idempotent; others may
    /// do the same concurrently.
    pub(crate) async fn commit_secondaries_by_row(&self, commit_ts: Timestamp) -> Result<()> {
        let mut from = Some(Bytes::new());
        let mut under_way = FuturesUnordered::new();
        while let Some(start) = from {
            let (writes, next) = self.step(&start)?;
            let secondaries = writes.into_iter().filter(|write| write.key != self.primary);
            let rows = secondaries.map(|write| RowMutation {
                mutations: roll_forward_mutations(self.start_ts, commit_ts, &self.lock_for(&write)),
                key: write.key,
            });
            under_way.push(self.mutate_rows_patiently(rows.collect()));
            if under_way.len() >= PARALLEL_BATCHES {
                under_way.next().await.transpose()?;
            }
            from = next;
        }
        while let Some(result) = under_way.next().await {
            result?;
        }
        Ok(())
    }

    /// Changes rows unconditionally, and repeats while the store does not answer. It stops at the age limit of the
    /// snapshot. After that, garbage collection may have removed a record that a repetition would bring back.
    pub(crate) async fn mutate_rows_patiently(&self, rows: Vec<RowMutation>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut patience = Backoff::within(self.store.env.clone(), STORE_PATIENCE);
        loop {
            self.first_snapshot.check_age(&self.store)?;
            match self.store.store.mutate_rows(rows.clone()).await {
                Ok(()) => return Ok(()),
                Err(error) if is_passing(&error) && patience.pause().await => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Whether a retry may help.
pub(crate) fn is_passing(error: &StoreError) -> bool {
    matches!(error, StoreError::Undetermined(_) | StoreError::Unavailable(_))
}
