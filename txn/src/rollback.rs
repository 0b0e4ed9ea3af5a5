//! Rolls back a two-phase commit that was refused or failed: by its owner, or at a restart. [`crate::resolver`] deals
//! with a dead owner's locks at other times.

use crate::commit::CommitJob;
use crate::data::decode_data;
use crate::error::{Result, TxnError};
use crate::intents::IntentState;
use crate::lock::{Lock, LockStrength};
use crate::parallel_prewrite::Reached;
use crate::resolver::{Status, roll_back_mutations};
use crate::store::TransactionStore;
use crate::system;
use bytes::Bytes;
use futures::StreamExt;
use std::collections::BTreeMap;
use storage::{
    Cell, ClassRange, CommitBatch, CommitCell, Condition, Family, ReadFilter, RowMutation, RowRange, ScanOptions,
    Stamp, StoreError, Timestamp, TimestampRange,
};

/// Locked rows that one step finishes. Few, because other commits wait behind a step.
const STEP_LOCKS: usize = 1024;

impl CommitJob {
    /// Removes the locks written so far. `reached` is the start of the last step, or beyond. Best effort: readers and
    /// garbage collection resolve the rest.
    pub(crate) async fn roll_back(&self, reached: Reached) {
        self.store.intents.set(self.start_ts, IntentState::RolledBack);
        if let Err(error) = self.try_roll_back(reached).await {
            tracing::warn!(%error, start_ts = %self.start_ts, "locks of a rolled back transaction are left to others");
        }
    }

    async fn try_roll_back(&self, reached: Reached) -> Result<()> {
        if reached != Reached::Nothing {
            // The primary first. From then on nobody can take us for committed, and a prewrite of ours that is still
            // under way is refused there.
            let mutations = roll_back_mutations(self.start_ts);
            let conditions = match self.store.store.atomic() {
                Some(_) => Vec::new(),
                // A record of another transaction may be there. It refused our prewrite, and keeps refusing it.
                None => vec![no_record_at(self.start_ts)],
            };
            self.store.change_row(&self.primary, conditions, mutations).await?;
            let mut from = Some(Bytes::new());
            while let Some(start) = from.filter(|start| Reached::UpTo(start.clone()) <= reached) {
                let (writes, next) = self.step(&start)?;
                let on_one_log = self.store.store.atomic().is_some();
                let keys = writes.into_iter().map(|write| write.key).filter(|key| *key != self.primary);
                let keys = keys.filter(|key| !on_one_log || !self.is_fresh(key));
                self.remove_locks(keys.collect()).await?;
                from = next;
            }
        }
        self.store.leave_intents(self.start_ts).await
    }

    async fn remove_locks(&self, keys: Vec<Bytes>) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let families = [Family::Lock, Family::Data];
        if let Some(atomic) = self.store.store.atomic() {
            let cells = keys.into_iter().flat_map(|key| {
                let stamp = Stamp::At(self.start_ts);
                families.map(|family| CommitCell { key: key.clone(), family, stamp: stamp.clone(), value: None })
            });
            let batch = CommitBatch { cells: cells.collect(), ..CommitBatch::default() };
            return match atomic.commit_atomic(batch).await? {
                Ok(_) => Ok(()),
                Err(_) => Err(TxnError::Invalid("a batch without conditions was refused")),
            };
        }
        let range = TimestampRange::at(self.start_ts);
        let rows = keys.into_iter().map(|key| RowMutation {
            key,
            mutations: families.map(|family| storage::Mutation::Delete { family, range }).to_vec(),
        });
        Ok(self.store.store.mutate_rows(rows.collect()).await?)
    }
}

/// The condition that no lock-only record is at the place of the rollback record.
fn no_record_at(start_ts: Timestamp) -> Condition {
    let class = ClassRange { from: LockStrength::KeyShare as u8, to: LockStrength::Update as u8 };
    Condition::NoCell { family: Family::Rollback, range: TimestampRange::at(start_ts), class, except: None }
}

impl TransactionStore {
    /// Leaves the table of intents, first durably, then in memory. No lock may be left. If the transaction was rolled
    /// back, the ranges of its fresh rows are removed first, whichever node ends it.
    pub(crate) async fn leave_intents(&self, start_ts: Timestamp) -> Result<()> {
        let Some(atomic) = self.store.atomic() else { return Ok(()) };
        if self.intents.state(start_ts) == Some(IntentState::RolledBack) {
            for range in self.made_by(start_ts).await? {
                self.store.delete_range(range).await?;
            }
        }
        let rows = [system::intent_key(start_ts), system::made_key(start_ts)].map(|key| CommitCell {
            key,
            family: Family::Data,
            stamp: Stamp::At(start_ts),
            value: None,
        });
        let batch = CommitBatch { cells: rows.to_vec(), ..CommitBatch::default() };
        if atomic.commit_atomic(batch).await?.is_err() {
            return Err(TxnError::Invalid("a batch without conditions was refused"));
        }
        self.intents.leave(start_ts);
        Ok(())
    }

    /// The ranges of fresh rows that a two-phase transaction wrote to.
    async fn made_by(&self, start_ts: Timestamp) -> Result<Vec<RowRange>> {
        let filter = ReadFilter::new().with(Family::Data, TimestampRange::ALL, 1);
        let rows = self.store.read(&[system::made_key(start_ts)], &filter).await?;
        match rows.first().and_then(|row| row.newest(Family::Data)) {
            Some(cell) => system::decode_ranges(decode_data(&cell.value)?),
            None => Ok(Vec::new()),
        }
    }

    /// Recovers the intents after a restart, before the first connection: learns the fates of the two-phase commits
    /// that were under way. Their locks are removed in the background. Nobody needs to wait, because the table of
    /// intents knows the fates.
    pub(crate) async fn recover_intents(&self) -> Result<()> {
        let filter = ReadFilter::new().with(Family::Data, TimestampRange::ALL, 1);
        let mut rows = self.store.scan(system::intents(), filter, ScanOptions::default());
        let mut found = Vec::new();
        while let Some(batch) = rows.next().await {
            for row in batch? {
                let damaged = || StoreError::Corrupted(format!("damaged intent {:?}", row.key));
                let start_ts = system::intent_of(&row.key).ok_or_else(damaged)?;
                let cell = row.newest(Family::Data).ok_or_else(damaged)?;
                found.push((start_ts, decode_data(&cell.value)?));
            }
        }
        drop(rows);
        if found.is_empty() {
            return Ok(());
        }
        for (start_ts, primary) in found {
            let row = self.read_primary(&primary, start_ts).await?;
            let state = match row.committed {
                Some(commit_ts) => IntentState::Committed(commit_ts),
                None => {
                    // The owner is gone, and no request of it can arrive any more.
                    self.change_row(&primary, Vec::new(), roll_back_mutations(start_ts)).await?;
                    IntentState::RolledBack
                }
            };
            tracing::info!(%start_ts, ?state, "finishing a two-phase commit that was cut short");
            self.intents.enter(start_ts, primary, state);
        }
        self.finish_intents_later();
        Ok(())
    }

    /// Finishes the table's entries step by step, so that closing the store does not wait for all. Garbage collection
    /// finishes what a failure leaves.
    fn finish_intents_later(&self) {
        let this = self.this.clone();
        let work = async move {
            let mut from = Some(Bytes::new());
            let mut resolved = 0;
            let mut finished = None;
            while let Some(start) = from {
                let Some(store) = this.upgrade() else { return };
                // Transactions that end later remove their own locks.
                let states = finished.get_or_insert_with(|| store.finished_states());
                let step = store.finish_step(start, states).await;
                match step {
                    Ok((locks, next)) => {
                        resolved += locks;
                        from = next;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "locks of transactions that a crash cut short are left to others");
                        return;
                    }
                }
            }
            let Some(store) = this.upgrade() else { return };
            for start_ts in finished.unwrap_or_default().into_keys() {
                if let Err(error) = store.leave_intents(start_ts).await {
                    tracing::warn!(%error, %start_ts, "an intent is left to garbage collection");
                }
            }
            tracing::info!(locks = resolved, "finished the two-phase commits that were cut short");
        };
        self.env.spawn("finish-commits", Box::pin(work));
    }

    fn finished_states(&self) -> BTreeMap<Timestamp, Status> {
        let status = |state| match state {
            IntentState::Committed(commit_ts) => Some(Status::Committed(commit_ts)),
            IntentState::RolledBack => Some(Status::RolledBack),
            IntentState::Prewriting | IntentState::Committing => None,
        };
        let finished = self.intents.finished().into_iter();
        finished.filter_map(|(start_ts, _, state)| Some((start_ts, status(state)?))).collect()
    }

    /// Removes the locks of finished transactions in the table. Answers how many locks were removed.
    pub(crate) async fn finish_intents(&self) -> Result<u64> {
        let states = self.finished_states();
        if states.is_empty() {
            return Ok(0);
        }
        let mut resolved = 0;
        let mut from = Some(Bytes::new());
        while let Some(start) = from {
            let (locks, next) = self.finish_step(start, &states).await?;
            resolved += locks;
            from = next;
        }
        for start_ts in states.into_keys() {
            self.leave_intents(start_ts).await?;
        }
        Ok(resolved)
    }

    /// Removes the locks of the transactions in `states` from the next [`STEP_LOCKS`] locked rows, beginning at the
    /// key `from`. Answers their number, and the key to continue at.
    async fn finish_step(&self, from: Bytes, states: &BTreeMap<Timestamp, Status>) -> Result<(u64, Option<Bytes>)> {
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::ALL, usize::MAX);
        let options = ScanOptions { batch_rows: STEP_LOCKS, limit: Some(STEP_LOCKS), ..ScanOptions::default() };
        let mut rows = self.store.scan(RowRange { start: from, end: None }, filter, options);
        let (mut seen, mut next) = (0, None);
        let mut locks = Vec::new();
        while let Some(batch) = rows.next().await {
            for row in batch? {
                seen += 1;
                for cell in &row.cells {
                    if let Some(status) = states.get(&cell.timestamp) {
                        locks.push((row.key.clone(), cell.clone(), *status));
                    }
                }
                next = Some(row.key);
            }
        }
        // One transaction may have a million locks, so they are removed in batches, not one by one.
        if !self.resolve_together(&locks).await? {
            for (key, cell, status) in &locks {
                self.resolve_lock(key, cell, &Lock::decode(&cell.value)?, *status).await?;
            }
        }
        Ok((locks.len() as u64, next.filter(|_| seen == STEP_LOCKS)))
    }

    /// Removes a lock whose owner's fate is final, and its locks on the following rows. A reader of one lock of a
    /// large transaction is about to meet more.
    pub(crate) async fn resolve_from(&self, key: &Bytes, cell: &Cell, lock: &Lock, status: Status) -> Result<()> {
        self.resolve_lock(key, cell, lock, status).await?;
        if self.store.atomic().is_some() && self.intents.state(cell.timestamp).is_some() {
            self.finish_step(key.clone(), &BTreeMap::from([(cell.timestamp, status)])).await?;
        }
        Ok(())
    }
}
