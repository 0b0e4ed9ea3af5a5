//! Prewrite row by row, where every row is a request of its own: one parallel wave, the primary
//! among the first, bounded in requests under way and in memory. Must not know how the primary
//! commits.
//!
//! A row is refused on: a conflicting lock of another transaction; a conflicting write or lock-only
//! record newer than the snapshot; a rollback or lock-only record at exactly our start_ts. A lock of our own is
//! never written twice: a copy of the request that comes late must not undo what readers and
//! heart-beats wrote into the lock. A retry after a lost answer finds the lock there, and that is
//! success.

use crate::backoff::Backoff;
use crate::buffer::FinalWrite;
use crate::commit::{CommitJob, STORE_PATIENCE, no_lock};
use crate::data::encode_data;
use crate::error::{ConflictKind, Result, TxnError};
use crate::failpoint::{self, FailPoints};
use crate::pace::Pace;
use crate::prewrite::long_value;
use crate::write::{ROLLBACK, decode_record};
use bytes::Bytes;
use futures::channel::oneshot;
use futures::stream::FuturesUnordered;
use futures::{Stream, StreamExt, stream};
use parking_lot::Mutex;
use std::collections::VecDeque;
use storage::{Cell, ClassRange, Condition, Family, Mutation, ReadFilter, StoreError, TimestampRange};

/// How often locks that are gone when they are looked at are no reason to wait.
const CLEARED_AT_ONCE: usize = 8;

/// How far a wave is, for whoever rolls it back or stops it.
#[derive(Default)]
pub(crate) struct Progress {
    /// The greatest key whose prewrite was sent; `None` before the first.
    pub(crate) reached: Mutex<Option<Bytes>>,
    /// Why no more rows are sent.
    failed: Mutex<Option<TxnError>>,
    /// Dropped to end the signs of life.
    pub(crate) alive: Mutex<Option<oneshot::Sender<()>>>,
}

impl Progress {
    /// Sends no more rows: the first reason counts.
    pub(crate) fn fail(&self, error: TxnError) {
        self.failed.lock().get_or_insert(error);
    }

    /// Passes through a fail point. Where it stops for ever, as a death would, so do the signs of life.
    pub(crate) async fn pass(&self, points: &FailPoints, name: &'static str) -> Result<()> {
        if points.stops(name) {
            self.alive.lock().take();
        }
        points.pass(name).await
    }

    fn has_failed(&self) -> bool {
        self.failed.lock().is_some()
    }
}

/// The rows of a wave still to be sent.
struct Rows<'a> {
    job: &'a CommitJob,
    progress: &'a Progress,
    ready: VecDeque<FinalWrite>,
    from: Option<Bytes>,
}

impl CommitJob {
    /// Writes every lock. When it returns, no request of it is under way: what was sent has been
    /// answered, or given up after all retries.
    pub(crate) async fn prewrite_wave(&self, progress: &Progress) -> Result<()> {
        let ready = self.primary_write()?.into_iter().collect();
        let rows = Rows { job: self, progress, ready, from: Some(Bytes::new()) };
        let mut rows = std::pin::pin!(rows.stream());
        let pace = Pace::new(self.store.options.parallel_rows);
        let mut under_way = FuturesUnordered::new();
        let mut more = true;
        while more || !under_way.is_empty() {
            while more && under_way.len() < pace.limit() {
                match rows.next().await {
                    Some(Ok(write)) => under_way.push(self.prewrite_row(write, &pace)),
                    Some(Err(error)) => progress.fail(error),
                    None => more = false,
                }
            }
            if let Some(Err(error)) = under_way.next().await {
                progress.fail(error);
            }
        }
        let failed = progress.failed.lock().take();
        failed.map_or(Ok(()), Err)
    }

    /// One row by one conditional mutation.
    async fn prewrite_row(&self, write: FinalWrite, pace: &Pace) -> Result<()> {
        let write = &write;
        let class = write.strength.conflicting_classes();
        let none = |family, range, class| Condition::NoCell { family, range, class, except: None };
        let newer = TimestampRange::after(self.snapshot.ts());
        let own = TimestampRange::at(self.start_ts);
        let conditions = vec![
            no_lock(write.strength, None),
            none(Family::Lock, own, ClassRange::ANY),
            none(Family::Write, newer, class),
            none(Family::Rollback, newer, class),
            // Our own rollback, or the record of another, whose commit was pushed ahead to this very moment.
            none(Family::Rollback, own, ClassRange::ANY),
        ];
        let mut backoff = Backoff::new(self.store.env.clone(), self.store.options.lock_wait);
        let mut patience = Backoff::new(self.store.env.clone(), STORE_PATIENCE);
        let mut cleared = 0;
        loop {
            self.snapshot.check_age(&self.store)?;
            let value = self.fresh_lock(write).encode();
            let set = |family, value| Mutation::Set { family, timestamp: self.start_ts, value };
            let mut mutations = vec![set(Family::Lock, value.clone())];
            mutations.extend(long_value(write).map(|value| set(Family::Data, encode_data(value))));
            let lock = Cell { family: Family::Lock, timestamp: self.start_ts, value };
            let sent = self.store.env.monotonic();
            match self.store.store.check_and_mutate(write.key.clone(), conditions.clone(), mutations).await {
                Ok(true) => {
                    pace.note(self.store.env.monotonic().saturating_sub(sent));
                    self.note_locked(write, lock);
                    return Ok(());
                }
                Ok(false) => {
                    if let Some(lock) = self.why_refused(write, &mut backoff).await? {
                        self.note_locked(write, lock);
                        return Ok(());
                    }
                    // What was in the way went away by itself, again and again: others want the key too.
                    cleared += 1;
                    if cleared > CLEARED_AT_ONCE && !backoff.pause().await {
                        return Err(self.conflict(&write.key, ConflictKind::Lock, self.start_ts));
                    }
                }
                Err(StoreError::Undetermined(_) | StoreError::Unavailable(_)) if patience.pause().await => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn note_locked(&self, write: &FinalWrite, lock: Cell) {
        if write.key == self.primary {
            *self.primary_lock.lock() = Some(lock);
        }
    }

    /// Finds what refused a prewrite: our own lock, written by an attempt whose answer was lost, is
    /// returned. `None`: what was in the way is gone.
    async fn why_refused(&self, write: &FinalWrite, backoff: &mut Backoff) -> Result<Option<Cell>> {
        let since = TimestampRange::after(self.snapshot.ts().previous());
        let filter = ReadFilter::new()
            .with(Family::Lock, TimestampRange::at(self.start_ts), 1)
            .with(Family::Write, since, usize::MAX)
            .with(Family::Rollback, since, usize::MAX);
        let rows = self.store.store.read(std::slice::from_ref(&write.key), &filter).await?;
        let class = write.strength.conflicting_classes();
        let cells = || rows.iter().flat_map(|row| &row.cells);
        if let Some(cell) = cells().find(|cell| cell.family == Family::Rollback && cell.timestamp == self.start_ts) {
            let ours = ROLLBACK.contains(&cell.value);
            let kind = if ours { ConflictKind::RolledBack } else { ConflictKind::LockOnly };
            return Err(self.conflict(&write.key, kind, self.start_ts));
        }
        if let Some(own) = cells().find(|cell| cell.family == Family::Lock) {
            return Ok(Some(own.clone()));
        }
        for cell in cells() {
            if cell.timestamp <= self.snapshot.ts() || !class.contains(&cell.value) {
                continue;
            }
            // Names whoever wrote it: a record that cannot be read is damage, not a conflict.
            decode_record(cell)?;
            let kind = if cell.family == Family::Write { ConflictKind::Write } else { ConflictKind::LockOnly };
            return Err(self.conflict(&write.key, kind, cell.timestamp));
        }
        self.wait_for_lock(&write.key, write.strength, Some(self.start_ts), backoff).await?;
        Ok(None)
    }
}

impl<'a> Rows<'a> {
    /// The rows one by one, read from the buffer a step at a time.
    fn stream(self) -> impl Stream<Item = Result<FinalWrite>> + Send + 'a {
        stream::unfold(self, |mut rows| async move {
            match rows.next().await {
                Ok(None) => None,
                Ok(Some(write)) => Some((Ok(write), rows)),
                Err(error) => {
                    (rows.from, rows.ready) = (None, VecDeque::new());
                    Some((Err(error), rows))
                }
            }
        })
    }

    async fn next(&mut self) -> Result<Option<FinalWrite>> {
        while self.ready.is_empty() {
            let Some(from) = self.from.take() else { return Ok(None) };
            let (mut writes, next) = self.job.step(&from)?;
            writes.retain(|write| write.key != self.job.primary);
            (self.ready, self.from) = (writes.into(), next);
            if !self.ready.is_empty() {
                self.progress.pass(self.job.store.fail_points(), failpoint::BEFORE_PREWRITE).await?;
            }
        }
        if self.progress.has_failed() {
            return Ok(None);
        }
        let write = self.ready.pop_front();
        if let Some(write) = &write {
            // The primary is sent first, wherever it lies.
            let key = if write.key == self.job.primary { Bytes::new() } else { write.key.clone() };
            let mut reached = self.progress.reached.lock();
            *reached = reached.take().max(Some(key));
        }
        Ok(write)
    }
}
