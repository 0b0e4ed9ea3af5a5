//! Prewrite: the first phase of a two-phase commit (Percolator paper, section 2.2, `Prewrite`) on an engine with one
//! log for all rows. [`crate::parallel_prewrite`] is the counterpart over rows.
//!
//! The primary's lock is written first, so that every other lock has a row to point to. Rows that nobody else knows
//! ([`crate::Transaction::made`]) are not locked. They are written once, in their final form.
//!
//! A prewrite is refused on: a conflicting lock of another transaction; a conflicting write or lock-only record newer
//! than the snapshot; a rollback record at exactly our start_ts.

use crate::backoff::Backoff;
use crate::buffer::FinalWrite;
use crate::bulk::FreshRows;
use crate::commit::{CommitJob, UNKNOWN_CONDITION, atomic, no_lock, no_newer_write};
use crate::data::{RecordKind, encode_data};
use crate::error::{ConflictKind, Result, TxnError};
use crate::failpoint;
use crate::lock::Lock;
use crate::parallel_prewrite::Reached;
use crate::put_batch::Puts;
use crate::transaction::WriteKind;
use crate::write::{ROLLBACK, encode_record, is_short};
use bytes::Bytes;
use storage::{
    Cell, CommitBatch, CommitCell, Condition, FailedCondition, Family, RowRange, Stamp, Timestamp, TimestampRange,
};

impl CommitJob {
    /// The lock that `write` needs.
    pub(crate) fn lock_for(&self, write: &FinalWrite) -> Lock {
        let (kind, inlined) = match &write.kind {
            WriteKind::Put(value) => (RecordKind::Put, is_short(value).then(|| value.clone())),
            WriteKind::Delete => (RecordKind::Delete, None),
            WriteKind::Lock => (RecordKind::Lock, None),
        };
        let expires_at = self.expires_at;
        let primary = self.primary.clone();
        Lock { strength: write.strength, kind, primary, expires_at, min_commit_ts: Timestamp::ZERO, inlined }
    }

    /// The lock that `write` needs, with an expiry from now on if others may end it.
    pub(crate) fn fresh_lock(&self, write: &FinalWrite) -> Lock {
        Lock { expires_at: self.store.expires_at(), ..self.lock_for(write) }
    }

    /// The transaction's write to its primary.
    pub(crate) fn primary_write(&self) -> Result<Option<FinalWrite>> {
        let (first, _) = self.buffer.final_writes(&self.primary, 1, 0)?;
        let mut primary = first.into_iter().find(|write| write.key == self.primary);
        if let Some(write) = &mut primary {
            self.only_check_vanished(write);
        }
        Ok(primary)
    }

    /// Writes every lock, the primary's first. `reached` tells a rollback which step was begun last.
    pub(crate) async fn prewrite(&mut self, reached: &mut Reached) -> Result<()> {
        self.expires_at = self.store.expires_at();
        let primary = self.primary_write()?;
        *reached = Reached::UpTo(Bytes::new());
        self.prewrite_step(primary.as_slice()).await?;
        if let Some(write) = &primary {
            let value = self.lock_for(write).encode();
            *self.primary_lock.lock() = Some(Cell { family: Family::Lock, timestamp: self.start_ts, value });
        }
        let mut in_bulk = self.store.store.bulk().map(|_| FreshRows::new());
        let mut from = Some(Bytes::new());
        while let Some(start) = from {
            if let Some(rows) = &mut in_bulk
                && let Some((packed, next)) = self.buffer.packed_from(&start)
                && self.are_fresh(&packed.puts)
            {
                *reached = Reached::UpTo(next.clone().unwrap_or_else(|| start.clone()));
                rows.add_packed(self, &packed.puts).await?;
                from = next;
                continue;
            }
            let (mut writes, next) = self.step(&start)?;
            writes.retain(|write| write.key != self.primary);
            *reached = Reached::UpTo(next.clone().unwrap_or_else(|| start.clone()));
            if !self.fresh.is_empty() {
                let fresh: Vec<_> = writes.extract_if(.., |write| self.is_fresh(&write.key)).collect();
                match &mut in_bulk {
                    Some(rows) => rows.add(self, &fresh).await?,
                    None => self.write_fresh(self.fresh_cells(&fresh)).await?,
                }
            }
            self.prewrite_step(&writes).await?;
            from = next;
        }
        match in_bulk {
            Some(rows) => rows.finish(self).await,
            None => Ok(()),
        }
    }

    /// Whether only this transaction knows all these rows, and none is the primary.
    fn are_fresh(&self, puts: &Puts) -> bool {
        let keys = puts.keys();
        let Some((first, last)) = keys.get(0).zip(keys.iter().next_back()) else { return true };
        let holds = |range: &RowRange| range.contains(first) && range.contains(last);
        self.fresh.iter().any(holds) && !(first <= &self.primary[..] && &self.primary[..] <= last)
    }

    /// The cell of a fresh row in its final form, at start_ts. Readers learn of the row only by this transaction's
    /// commit, at a later snapshot. If the transaction does not commit, its owner or the next start removes the
    /// ranges of such rows. They are recorded beside the intent.
    pub(crate) fn fresh_cell(&self, key: &[u8], record: Bytes) -> CommitCell {
        let (key, value) = (Bytes::copy_from_slice(key), Some(record));
        CommitCell { key, family: Family::Write, stamp: Stamp::At(self.start_ts), value }
    }

    fn fresh_cells(&self, writes: &[FinalWrite]) -> Vec<CommitCell> {
        let put = |write: &FinalWrite| match &write.kind {
            WriteKind::Put(value) => {
                let record = encode_record(write.strength, RecordKind::Put, self.start_ts, Some(value));
                Some(self.fresh_cell(&write.key, record))
            }
            // A fresh row has nothing to remove.
            WriteKind::Delete | WriteKind::Lock => None,
        };
        writes.iter().filter_map(put).collect()
    }

    /// Writes fresh rows through the log.
    pub(crate) async fn write_fresh(&self, cells: Vec<CommitCell>) -> Result<()> {
        if cells.is_empty() {
            return Ok(());
        }
        self.store.fail_points().pass(failpoint::BEFORE_PREWRITE).await?;
        let batch = CommitBatch { cells, private: true, ..CommitBatch::default() };
        match atomic(&self.store)?.commit_atomic(batch).await? {
            Ok(_) => Ok(()),
            Err(_) => Err(UNKNOWN_CONDITION),
        }
    }

    async fn prewrite_step(&self, writes: &[FinalWrite]) -> Result<()> {
        if writes.is_empty() {
            return Ok(());
        }
        self.store.fail_points().pass(failpoint::BEFORE_PREWRITE).await?;
        self.prewrite_atomic(writes).await
    }

    /// Locks many rows in one batch of the committer.
    async fn prewrite_atomic(&self, writes: &[FinalWrite]) -> Result<()> {
        let mut batch = CommitBatch::default();
        for write in writes {
            batch.conditions.extend(no_newer_write(&write.key, write.strength, self.since(write)));
            batch.row_conditions.push((write.key.clone(), no_lock(write.strength, Some(self.start_ts))));
            batch.row_conditions.push((write.key.clone(), self.not_rolled_back()));
            let mut cell = |family, value| {
                let stamp = Stamp::At(self.start_ts);
                batch.cells.push(CommitCell { key: write.key.clone(), family, stamp, value: Some(value) });
            };
            cell(Family::Lock, self.lock_for(write).encode());
            if let Some(value) = long_value(write) {
                cell(Family::Data, encode_data(value));
            }
        }
        let mut backoff = Backoff::new(self.store.env.clone(), self.store.options.lock_wait);
        loop {
            let failed = match atomic(&self.store)?.commit_atomic(batch.clone()).await? {
                Ok(_) => return Ok(()),
                Err(failed) => failed,
            };
            match failed {
                FailedCondition::Newer { index, found } => {
                    return Err(self.newer_write(writes, index, found).unwrap_or(UNKNOWN_CONDITION));
                }
                FailedCondition::Row { index } => {
                    let write = writes.get(index / 2).ok_or(UNKNOWN_CONDITION)?;
                    if index % 2 == 1 {
                        return Err(self.conflict(&write.key, ConflictKind::RolledBack, self.start_ts));
                    }
                    self.wait_for_lock(&write.key, write.strength, Some(self.start_ts), &mut backoff).await?;
                }
                FailedCondition::Claimed { index } => {
                    let write = writes.get(index / 2).ok_or(UNKNOWN_CONDITION)?;
                    self.wait_for_claim(&write.key, &mut backoff).await?;
                }
                FailedCondition::Read { .. } | FailedCondition::Forgotten | FailedCondition::Passed => {
                    return Err(UNKNOWN_CONDITION);
                }
            }
        }
    }

    /// The conflict for the failed condition `index`. Each write has two conditions ([`no_newer_write`]).
    pub(crate) fn newer_write(&self, writes: &[FinalWrite], index: usize, found: Timestamp) -> Option<TxnError> {
        let kind = if index.is_multiple_of(2) { ConflictKind::Write } else { ConflictKind::LockOnly };
        writes.get(index / 2).map(|write| self.conflict(&write.key, kind, found))
    }

    fn not_rolled_back(&self) -> Condition {
        let range = TimestampRange::at(self.start_ts);
        Condition::NoCell { family: Family::Rollback, range, class: ROLLBACK, except: None }
    }
}

/// The value of `write` if it is too long to be inlined.
pub(crate) fn long_value(write: &FinalWrite) -> Option<&Bytes> {
    match &write.kind {
        WriteKind::Put(value) if !is_short(value) => Some(value),
        _ => None,
    }
}
