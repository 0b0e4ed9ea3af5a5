//! Prewrite: the first phase of a two-phase commit (Percolator paper, section 2.2, `Prewrite`).
//! The primary's lock is written first, so that every other lock has somewhere to point.
//!
//! Refused on: a conflicting lock of another transaction; a conflicting write or lock-only
//! record newer than the snapshot; a rollback record at exactly our start_ts.

use crate::backoff::Backoff;
use crate::buffer::FinalWrite;
use crate::commit::{CommitJob, STORE_PATIENCE, UNKNOWN_CONDITION, atomic, no_lock, no_newer_write};
use crate::data::{RecordKind, encode_data};
use crate::error::{ConflictKind, Result};
use crate::failpoint;
use crate::lock::Lock;
use crate::resolver::exactly;
use crate::transaction::WriteKind;
use crate::write::{ROLLBACK, is_short};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use storage::{
    Cell, CommitBatch, CommitCell, Condition, FailedCondition, Family, Mutation, ReadFilter, Stamp, StoreError,
    Timestamp, TimestampRange,
};

/// Rows prewritten at the same time where each is a request of its own.
const PARALLEL_ROWS: usize = 32;

impl CommitJob {
    /// The lock that `write` takes. Its time to live counts only where others may end it.
    pub(crate) fn lock_for(&self, write: &FinalWrite) -> Lock {
        let (kind, inlined) = match &write.kind {
            WriteKind::Put(value) => (RecordKind::Put, is_short(value).then(|| value.clone())),
            WriteKind::Delete => (RecordKind::Delete, None),
            WriteKind::Lock => (RecordKind::Lock, None),
        };
        let expires_at = self.heartbeat + self.store.options.lock_time_to_live.as_micros() as u64;
        let primary = self.primary.clone();
        Lock { strength: write.strength, kind, primary, expires_at, min_commit_ts: Timestamp::ZERO, inlined }
    }

    /// Writes every lock, the primary's first. `reached`: the last step begun, for a rollback.
    pub(crate) async fn prewrite(&mut self, reached: &mut Option<Bytes>) -> Result<()> {
        self.heartbeat = self.store.oracle.physical_now();
        let range = self.buffer.final_writes(&self.primary, 1, 0)?.0;
        let mut primary: Vec<FinalWrite> = range.into_iter().filter(|write| write.key == self.primary).collect();
        for write in &mut primary {
            if write.put_then_deleted && self.vanished.contains(&write.key) {
                write.kind = WriteKind::Lock;
            }
        }
        *reached = Some(Bytes::new());
        self.prewrite_step(&primary).await?;
        if let Some(write) = primary.first() {
            let value = self.lock_for(write).encode();
            self.primary_lock = Some(Cell { family: Family::Lock, timestamp: self.start_ts, value });
        }
        let mut from = Some(Bytes::new());
        while let Some(start) = from {
            let (mut writes, next) = self.step(&start)?;
            writes.retain(|write| write.key != self.primary);
            *reached = Some(next.clone().unwrap_or_else(|| start.clone()));
            self.beat().await?;
            self.prewrite_step(&writes).await?;
            from = next;
        }
        Ok(())
    }

    async fn prewrite_step(&self, writes: &[FinalWrite]) -> Result<()> {
        if writes.is_empty() {
            return Ok(());
        }
        self.store.fail_points().pass(failpoint::BEFORE_PREWRITE).await?;
        if self.store.store.atomic().is_some() {
            return self.prewrite_atomic(writes).await;
        }
        // Values, not references, go into the futures: the compiler proves more of them.
        let rows = stream::iter(0..writes.len()).map(|at| self.prewrite_row(writes.get(at)));
        rows.buffer_unordered(PARALLEL_ROWS).try_collect::<()>().await
    }

    /// Many rows in one batch of the committer.
    async fn prewrite_atomic(&self, writes: &[FinalWrite]) -> Result<()> {
        let mut batch = CommitBatch::default();
        for write in writes {
            batch.conditions.extend(no_newer_write(&write.key, write.strength, self.snapshot.ts()));
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
                    let write = writes.get(index / 2).ok_or(UNKNOWN_CONDITION)?;
                    let kind = if index % 2 == 0 { ConflictKind::Write } else { ConflictKind::LockOnly };
                    return Err(self.conflict(&write.key, kind, found));
                }
                FailedCondition::Row { index } => {
                    let write = writes.get(index / 2).ok_or(UNKNOWN_CONDITION)?;
                    if index % 2 == 1 {
                        return Err(self.conflict(&write.key, ConflictKind::RolledBack, self.start_ts));
                    }
                    self.wait_for_lock(&write.key, write.strength, Some(self.start_ts), &mut backoff).await?;
                }
            }
        }
    }

    /// One row by one conditional mutation. A retry after a lost answer succeeds again.
    async fn prewrite_row(&self, write: Option<&FinalWrite>) -> Result<()> {
        let Some(write) = write else { return Ok(()) };
        let class = write.strength.conflicting_classes();
        let newer = |family| Condition::NoCell {
            family,
            range: TimestampRange::after(self.snapshot.ts()),
            class,
            except: None,
        };
        let conditions = vec![
            no_lock(write.strength, Some(self.start_ts)),
            newer(Family::Write),
            newer(Family::Rollback),
            self.not_rolled_back(),
        ];
        let set = |family, value| Mutation::Set { family, timestamp: self.start_ts, value };
        let mut mutations = vec![set(Family::Lock, self.lock_for(write).encode())];
        mutations.extend(long_value(write).map(|value| set(Family::Data, encode_data(value))));
        let mut backoff = Backoff::new(self.store.env.clone(), self.store.options.lock_wait);
        let mut patience = Backoff::new(self.store.env.clone(), STORE_PATIENCE);
        loop {
            let store = &self.store.store;
            match store.check_and_mutate(write.key.clone(), conditions.clone(), mutations.clone()).await {
                Ok(true) => return Ok(()),
                Ok(false) => self.why_refused(write, &mut backoff).await?,
                Err(StoreError::Undetermined(_) | StoreError::Unavailable(_)) if patience.pause().await => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Finds what refused a prewrite. Returns when it is gone.
    async fn why_refused(&self, write: &FinalWrite, backoff: &mut Backoff) -> Result<()> {
        let after = TimestampRange::after(self.snapshot.ts().previous());
        let filter = ReadFilter::new().with(Family::Write, after, usize::MAX).with(Family::Rollback, after, usize::MAX);
        let rows = self.store.store.read(std::slice::from_ref(&write.key), &filter).await?;
        let class = write.strength.conflicting_classes();
        for cell in rows.iter().flat_map(|row| &row.cells) {
            let kind = match cell.family {
                _ if cell.timestamp == self.start_ts && ROLLBACK.contains(&cell.value) => ConflictKind::RolledBack,
                _ if cell.timestamp <= self.snapshot.ts() || !class.contains(&cell.value) => continue,
                Family::Write => ConflictKind::Write,
                _ => ConflictKind::LockOnly,
            };
            return Err(self.conflict(&write.key, kind, cell.timestamp));
        }
        self.wait_for_lock(&write.key, write.strength, Some(self.start_ts), backoff).await
    }

    fn not_rolled_back(&self) -> Condition {
        let range = TimestampRange::at(self.start_ts);
        Condition::NoCell { family: Family::Rollback, range, class: ROLLBACK, except: None }
    }

    /// A sign of life in the primary's lock, where others may think us dead. Written between the
    /// steps by the one who commits, so that none is under way when the commit is.
    async fn beat(&mut self) -> Result<()> {
        let now = self.store.oracle.physical_now();
        let time_to_live = self.store.options.lock_time_to_live.as_micros() as u64;
        let Some(cell) = &mut self.primary_lock else { return Ok(()) };
        if self.store.store.atomic().is_some() || now < self.heartbeat + time_to_live / 3 {
            return Ok(());
        }
        let mut lock = Lock::decode(&cell.value)?;
        lock.expires_at = now + time_to_live;
        let value = lock.encode();
        let set = Mutation::Set { family: Family::Lock, timestamp: self.start_ts, value: value.clone() };
        if self.store.change_row(&self.primary, vec![exactly(cell)], vec![set]).await? {
            cell.value = value;
            self.heartbeat = now;
            return Ok(());
        }
        // A reader pushed it, or somebody ended us.
        match self.store.read_primary(&self.primary, self.start_ts).await?.lock {
            Some(current) => {
                *cell = current;
                Ok(())
            }
            None => Err(self.conflict(&self.primary, ConflictKind::RolledBack, self.start_ts)),
        }
    }
}

/// The value of `write` when it is too long to be inlined.
fn long_value(write: &FinalWrite) -> Option<&Bytes> {
    match &write.kind {
        WriteKind::Put(value) if !is_short(value) => Some(value),
        _ => None,
    }
}
