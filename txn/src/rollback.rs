//! Rolling back a two-phase commit that was refused or failed: by its owner. What others do with
//! a dead owner's locks is in [`crate::resolver`]; what a restart does, here too.

use crate::commit::CommitJob;
use crate::data::decode_data;
use crate::error::{Result, TxnError};
use crate::intents::IntentState;
use crate::lock::Lock;
use crate::resolver::{Status, roll_back_mutations};
use crate::store::TransactionStore;
use crate::system;
use bytes::Bytes;
use futures::StreamExt;
use std::collections::BTreeMap;
use storage::{
    CommitBatch, CommitCell, Family, Mutation, ReadFilter, RowMutation, RowRange, ScanOptions, Stamp, StoreError,
    Timestamp, TimestampRange,
};

impl CommitJob {
    /// Removes the locks written so far, `reached` being the start of the last step. Best effort:
    /// what is left, others resolve.
    pub(crate) async fn roll_back(&self, reached: Option<Bytes>) {
        self.store.intents.set(self.start_ts, IntentState::RolledBack);
        if let Err(error) = self.try_roll_back(reached).await {
            tracing::warn!(%error, start_ts = %self.start_ts, "locks of a rolled back transaction are left to others");
        }
    }

    async fn try_roll_back(&self, reached: Option<Bytes>) -> Result<()> {
        if let Some(reached) = reached {
            // The primary first: from then on nobody can think us committed, and a prewrite of
            // ours that is still on its way is refused there.
            let mutations = roll_back_mutations(self.start_ts);
            self.store.change_row(&self.primary, Vec::new(), mutations).await?;
            let mut from = Some(Bytes::new());
            while let Some(start) = from.filter(|start| *start <= reached) {
                let (writes, next) = self.step(&start)?;
                let keys = writes.into_iter().map(|write| write.key).filter(|key| *key != self.primary);
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
            mutations: families.map(|family| Mutation::Delete { family, range }).to_vec(),
        });
        Ok(self.store.store.mutate_rows(rows.collect()).await?)
    }
}

impl TransactionStore {
    /// Leaves the table of intents, durably first, then in memory: no lock is left.
    pub(crate) async fn leave_intents(&self, start_ts: Timestamp) -> Result<()> {
        let Some(atomic) = self.store.atomic() else { return Ok(()) };
        let row = CommitCell {
            key: system::intent_key(start_ts),
            family: Family::Data,
            stamp: Stamp::At(start_ts),
            value: None,
        };
        let batch = CommitBatch { cells: vec![row], ..CommitBatch::default() };
        if atomic.commit_atomic(batch).await?.is_err() {
            return Err(TxnError::Invalid("a batch without conditions was refused"));
        }
        self.intents.leave(start_ts);
        Ok(())
    }

    /// Finishes, after a restart, the two-phase commits that were under way: before the first
    /// connection is accepted.
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
        for (start_ts, primary) in found {
            let row = self.read_primary(&primary, start_ts).await?;
            let state = match row.committed {
                Some(commit_ts) => IntentState::Committed(commit_ts),
                None => {
                    // Its owner is gone; nothing of it can arrive any more.
                    self.change_row(&primary, Vec::new(), roll_back_mutations(start_ts)).await?;
                    IntentState::RolledBack
                }
            };
            tracing::info!(%start_ts, ?state, "finishing a two-phase commit that was cut short");
            self.intents.enter(start_ts, primary, state);
        }
        self.finish_intents(RowRange::all()).await.map(|_| ())
    }

    /// Removes the locks of transactions in the table that are over but left some behind.
    /// Answers how many locks.
    pub(crate) async fn finish_intents(&self, range: RowRange) -> Result<u64> {
        let finished = self.intents.finished();
        if finished.is_empty() {
            return Ok(0);
        }
        let states: BTreeMap<Timestamp, IntentState> = finished.iter().map(|(ts, _, state)| (*ts, *state)).collect();
        let mut resolved = 0;
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::ALL, usize::MAX);
        let mut rows = self.store.scan(range, filter, ScanOptions::default());
        while let Some(batch) = rows.next().await {
            let mut locks = Vec::new();
            for row in batch? {
                for cell in &row.cells {
                    let status = match states.get(&cell.timestamp) {
                        Some(IntentState::Committed(commit_ts)) => Status::Committed(*commit_ts),
                        Some(IntentState::RolledBack) => Status::RolledBack,
                        _ => continue,
                    };
                    locks.push((row.key.clone(), cell.clone(), status));
                }
            }
            resolved += locks.len() as u64;
            // A million locks of one transaction: one request a batch, not one a row.
            if !self.resolve_together(&locks).await? {
                for (key, cell, status) in &locks {
                    self.resolve_lock(key, cell, &Lock::decode(&cell.value)?, *status).await?;
                }
            }
        }
        for start_ts in states.keys() {
            self.leave_intents(*start_ts).await?;
        }
        Ok(resolved)
    }
}
