//! Prewrite over rows: one parallel wave of requests, with the primary among the first. Requests under way
//! and memory are bounded.
//!
//! A row is refused on: a conflicting lock of another transaction; a conflicting write or lock-only record newer than
//! the snapshot; a rollback or lock-only record at exactly our start_ts.
//!
//! A request never writes our own lock twice, because a delayed copy must not undo what readers and heartbeats wrote
//! into the lock. A retry after a lost answer finds the lock there, and that is success. A lock written before COMMIT
//! ([`crate::pipelined_prewrite`]) that no longer says what remains is changed on condition of its contents. It is changed once,
//! so this condition never holds again.
//!
//! Keys that nobody else knows ([`crate::Transaction::made`]) cannot conflict. They are locked at COMMIT, when their
//! final values are known, in unconditional requests of many rows. A delayed copy writes the same lock again. A
//! reader of that lock finds its owner committed and writes the same record again, or finds it rolled back.

use crate::backoff::Backoff;
use crate::buffer::{Early, FinalWrite};
use crate::commit::{CommitJob, STEP_BYTES, STEP_ROWS, STORE_PATIENCE, no_lock};
use crate::concurrency_limiter::{Pace, let_others_run};
use crate::data::encode_data;
use crate::distributed_commit::is_passing;
use crate::error::{ConflictKind, Result, TxnError};
use crate::failpoint::{self, FailPoints};
use crate::lock::Lock;
use crate::prewrite::long_value;
use crate::resolver::{Cleared, exactly};
use crate::system;
use crate::write::{ROLLBACK, decode_record};
use bytes::Bytes;
use futures::channel::oneshot;
use futures::future::Either;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, Stream, StreamExt, stream};
use parking_lot::Mutex;
use std::collections::VecDeque;
use storage::{
    Cell, ClassRange, Condition, Family, Mutation, ReadFilter, RowMutation, StoreError, Timestamp, TimestampRange,
};

/// How many calls are begun or answered before other tasks get their turn.
const TURN: usize = 8;
/// How often a prewrite retries without a pause when the lock that refused it is already gone.
const CLEARED_AT_ONCE: usize = 8;
/// Requests for many rows under way at the same time.
const PARALLEL_BATCHES: usize = 4;

/// Which keys may be locked.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// No key can be locked yet.
    #[default]
    Nothing,
    /// Keys up to this one.
    UpTo(Bytes),
    /// Any key may be locked.
    Everything,
}

/// The progress of a wave, for stopping it or rolling it back.
#[derive(Default)]
pub(crate) struct Progress {
    /// The greatest key whose prewrite was sent.
    pub(crate) reached: Mutex<Reached>,
    /// The reason why no more rows are sent.
    failed: Mutex<Option<TxnError>>,
    /// Dropped to end the heartbeats.
    pub(crate) alive: Mutex<Option<oneshot::Sender<()>>>,
}

impl Progress {
    /// Stops sending rows. Only the first error is kept.
    pub(crate) fn fail(&self, error: TxnError) {
        self.failed.lock().get_or_insert(error);
    }

    /// Reaches a fail point. If it stops there for ever, as by a death, the heartbeats stop too.
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

/// Answers the writes from a key on, and the key to continue at.
pub(crate) type Step<'a> = dyn Fn(&Bytes) -> Result<(Vec<FinalWrite>, Option<Bytes>)> + Send + Sync + 'a;

/// The rows of a wave that are still to be sent.
pub(crate) struct Rows<'a> {
    job: &'a CommitJob,
    progress: &'a Progress,
    step: &'a Step<'a>,
    ready: VecDeque<FinalWrite>,
    from: Option<Bytes>,
}

impl CommitJob {
    /// Writes every lock. When it returns, none of its requests is under way: each was answered, or given
    /// up after all retries.
    pub(crate) async fn prewrite_wave(&self, progress: &Progress) -> Result<()> {
        // A large transaction has already locked its primary.
        let locked = self.primary_lock.lock().is_some();
        let ready = if locked { None } else { self.primary_write()? };
        let step = |from: &Bytes| {
            let (mut writes, next) = self.step(from)?;
            writes.retain(|write| write.key != self.primary && write.early != Early::Held);
            Ok((writes, next))
        };
        let pace = Pace::new(self.store.options.parallel_rows, self.store.env.monotonic());
        self.send(Rows::new(self, progress, ready, &step), progress, &pace).await
    }

    /// Writes the locks of `rows`. When it returns, none of its requests is under way.
    pub(crate) async fn send(&self, rows: Rows<'_>, progress: &Progress, pace: &Pace) -> Result<()> {
        let mut rows = std::pin::pin!(rows.stream());
        let mut under_way = FuturesUnordered::new();
        let (mut batch, mut bytes, mut batches) = (Vec::new(), 0, 0);
        let (mut more, mut turn) = (true, 0);
        while more || !under_way.is_empty() {
            let mut begun = 0;
            while more && begun < TURN && under_way.len() < pace.limit() && batches < PARALLEL_BATCHES {
                match rows.next().await {
                    Some(Ok(write)) if write.key != self.primary && self.is_fresh(&write.key) => {
                        bytes += write.bytes();
                        batch.push(write);
                    }
                    Some(Ok(write)) => {
                        under_way.push(Either::Left(async { (0, self.prewrite_row(write, pace).await) }));
                        begun += 1;
                    }
                    Some(Err(error)) => progress.fail(error),
                    None => more = false,
                }
                if batch.len() >= STEP_ROWS || bytes >= STEP_BYTES || (!more && !batch.is_empty()) {
                    let full = std::mem::take(&mut batch);
                    (bytes, batches, begun) = (0, batches + 1, TURN);
                    under_way.push(Either::Right(async move { (1, self.prewrite_fresh(full, progress).await) }));
                }
            }
            turn += 1;
            if begun == TURN || turn == TURN {
                turn = 0;
                let_others_run().await;
            }
            let answered = match begun {
                // There is room for more: this sends the begun requests without waiting for answers.
                TURN => under_way.next().now_or_never().flatten(),
                _ => under_way.next().await,
            };
            let Some((done, result)) = answered else { continue };
            batches -= done;
            if let Err(error) = result {
                progress.fail(error);
            }
        }
        let failed = progress.failed.lock().clone();
        failed.map_or(Ok(()), Err)
    }

    /// Locks rows that nobody else knows, unconditionally.
    async fn prewrite_fresh(&self, writes: Vec<FinalWrite>, progress: &Progress) -> Result<()> {
        if progress.has_failed() {
            return Ok(());
        }
        let rows = writes.into_iter().map(|write| {
            let mutations = self.lock_mutations(&write, self.fresh_lock(&write).encode());
            RowMutation { key: write.key, mutations }
        });
        self.mutate_rows_patiently(rows.collect()).await
    }

    /// The mutations that write a lock and its long value, if it has one.
    fn lock_mutations(&self, write: &FinalWrite, lock: Bytes) -> Vec<Mutation> {
        let set = |family, value| Mutation::Set { family, timestamp: self.start_ts, value };
        let mut mutations = vec![set(Family::Lock, lock)];
        mutations.extend(long_value(write).map(|value| set(Family::Data, encode_data(value))));
        mutations
    }

    /// Locks one row by one conditional mutation.
    async fn prewrite_row(&self, write: FinalWrite, pace: &Pace) -> Result<()> {
        let write = &write;
        let class = write.strength.conflicting_classes();
        let none = |family, range, class| Condition::NoCell { family, range, class, except: None };
        let newer = TimestampRange::after(self.since(write));
        let own = TimestampRange::at(self.start_ts);
        let conditions = vec![
            no_lock(write.strength, None),
            none(Family::Lock, own, ClassRange::ANY),
            none(Family::Write, newer, class),
            none(Family::Rollback, newer, class),
            // Our own rollback, or the record of another transaction whose commit was pushed
            // to exactly this timestamp.
            none(Family::Rollback, own, ClassRange::ANY),
        ];
        let mut backoff = Backoff::new(self.store.env.clone(), self.store.options.lock_wait);
        let mut patience = Backoff::within(self.store.env.clone(), STORE_PATIENCE);
        let mut cleared = 0;
        loop {
            self.first_snapshot.check_age(&self.store)?;
            let value = self.fresh_lock(write).encode();
            let mutations = self.lock_mutations(write, value.clone());
            let lock = Cell { family: Family::Lock, timestamp: self.start_ts, value };
            let sent = self.store.env.monotonic();
            match self.store.store.check_and_mutate(write.key.clone(), conditions.clone(), mutations).await {
                Ok(true) => {
                    let now = self.store.env.monotonic();
                    pace.note(now.saturating_sub(sent), now);
                    self.note_locked(write, lock);
                    return Ok(());
                }
                Ok(false) => match self.why_refused(write, &mut backoff).await? {
                    Some(lock) if self.says(&lock, write)? || self.change_lock(&lock, write).await? => {
                        self.note_locked(write, lock);
                        return Ok(());
                    }
                    Some(_) if patience.pause().await => {}
                    Some(_) => {
                        return Err(StoreError::Unavailable("the store does not change a lock".into()).into());
                    }
                    None => {
                        // The conflicting lock went away by itself several times, so others want the key too.
                        cleared += 1;
                        if cleared > CLEARED_AT_ONCE && !backoff.pause().await {
                            return Err(self.conflict(&write.key, ConflictKind::Lock, self.start_ts));
                        }
                    }
                },
                Err(error) if is_passing(&error) && patience.pause().await => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether our lock says what `write` does. A lock that COMMIT changed does. The contents of a long
    /// value are not compared.
    fn says(&self, cell: &Cell, write: &FinalWrite) -> Result<bool> {
        if write.early != Early::Maybe {
            return Ok(true);
        }
        let (lock, wanted) = (Lock::decode(&cell.value)?, self.lock_for(write));
        let same = lock.kind == wanted.kind && lock.strength == wanted.strength && lock.inlined == wanted.inlined;
        Ok(lock.min_commit_ts > Timestamp::ZERO || (same && long_value(write).is_none()))
    }

    /// Makes our lock say what `write` does. A bound on the commit that holds anyway marks the changed lock, so no
    /// two locks of a key are equal. False: it was already changed, or the store did not answer.
    async fn change_lock(&self, cell: &Cell, write: &FinalWrite) -> Result<bool> {
        let lock = Lock { min_commit_ts: self.start_ts.next(), ..self.fresh_lock(write) };
        let set = |family, value| Mutation::Set { family, timestamp: self.start_ts, value };
        let data = match long_value(write) {
            Some(value) => set(Family::Data, encode_data(value)),
            None => Mutation::Delete { family: Family::Data, range: TimestampRange::at(self.start_ts) },
        };
        let mutations = vec![set(Family::Lock, lock.encode()), data];
        match self.store.store.check_and_mutate(write.key.clone(), vec![exactly(cell)], mutations).await {
            Err(error) if is_passing(&error) => Ok(false),
            answer => Ok(answer?),
        }
    }

    fn note_locked(&self, write: &FinalWrite, lock: Cell) {
        if write.key == self.primary {
            *self.primary_lock.lock() = Some(lock);
        }
    }

    /// Finds what refused a prewrite. Returns our own lock if an attempt with a lost answer wrote it. `None` if
    /// the obstacle is gone.
    async fn why_refused(&self, write: &FinalWrite, backoff: &mut Backoff) -> Result<Option<Cell>> {
        let base = self.since(write);
        let since = TimestampRange::after(base.min(self.start_ts).previous());
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
            if cell.timestamp <= base || !class.contains(&cell.value) {
                continue;
            }
            // A record that cannot be decoded is damage, not a conflict.
            decode_record(cell)?;
            let kind = if cell.family == Family::Write { ConflictKind::Write } else { ConflictKind::LockOnly };
            return Err(self.conflict(&write.key, kind, cell.timestamp));
        }
        self.wait_or_wound(write, backoff).await?;
        Ok(None)
    }

    /// Waits a little for the live owner of a conflicting lock. Two transactions may each hold what the other wants.
    /// So after a moment the one that goes first ends the other (wound-wait: Rosenkrantz, Stearns and Lewis 1978,
    /// section 4). Errors: the owner lives on.
    async fn wait_or_wound(&self, write: &FinalWrite, backoff: &mut Backoff) -> Result<()> {
        let cleared = self.store.clear_locks(&write.key, write.strength, Some(self.start_ts)).await?;
        if let Cleared::HeldBy(owner, cell) = &cleared
            && backoff.waited() >= self.store.options.wound_after
        {
            let lock = Lock::decode(&cell.value)?;
            if self.goes_before(*owner, &lock) {
                return self.store.wound(&write.key, cell, &lock).await;
            }
        }
        self.wait_a_little(&write.key, &cleared, backoff).await
    }

    /// Orders all transactions, so that the first of those that wait for each other always proceeds. Large ones come
    /// first, because they lose the most; then older ones.
    fn goes_before(&self, owner: Timestamp, lock: &Lock) -> bool {
        let place = |primary: &[u8], start_ts| (!system::is_outcome_key(primary), start_ts);
        place(&self.primary, self.start_ts) < place(&lock.primary, owner)
    }
}

impl<'a> Rows<'a> {
    /// The rows of `first`, then those that `step` answers from the smallest key on.
    pub(crate) fn new(
        job: &'a CommitJob,
        progress: &'a Progress,
        first: Option<FinalWrite>,
        step: &'a Step<'a>,
    ) -> Self {
        Rows { job, progress, step, ready: first.into_iter().collect(), from: Some(Bytes::new()) }
    }

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
            let (writes, next) = (self.step)(&from)?;
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
            // The primary is sent first, wherever its key sorts.
            let key = if write.key == self.job.primary { Bytes::new() } else { write.key.clone() };
            let mut reached = self.progress.reached.lock();
            *reached = std::mem::take(&mut *reached).max(Reached::UpTo(key));
        }
        Ok(write)
    }
}
