//! [`EarlyLocks`]: the locks that a large transaction writes before COMMIT, on a store that changes one row at a
//! time. Each run that its buffer spills is sent at once, and the writer waits for it. So memory stays bounded, and
//! COMMIT has little left to do.
//!
//! The buffer stays authoritative. A sent lock says what its run says. If that differs from the final write, because
//! the key was written again or a savepoint was rolled back, COMMIT changes the lock once. The transaction's own
//! reads look into the buffer and ignore its locks ([`crate::lock_resolution`]).
//!
//! The primary is the row of the transaction's outcome, which no savepoint can undo; heartbeats begin with it. If a
//! lock cannot be written, the transaction can no longer commit.

use crate::buffer::{Buffer, Early, FinalWrite};
use crate::commit::{CommitJob, STEP_ROWS};
use crate::concurrency_limiter::Pace;
use crate::error::Result;
use crate::lock::LockStrength;
use crate::parallel_prewrite::{Progress, Reached, Rows, Step};
use crate::snapshot::Snapshot;
use crate::store::TransactionStore;
use crate::system;
use crate::transaction::{Transaction, Write, WriteKind};
use bytes::Bytes;
use futures::channel::oneshot;
use std::sync::Arc;
use storage::Timestamp;

/// The early locks of a transaction. Dropping them ends the heartbeats.
pub(crate) struct EarlyLocks {
    /// Writes the locks. Its buffer is empty, because the transaction still owns the real one.
    job: Arc<CommitJob>,
    /// The first failure, and the handle that ends the heartbeats.
    pub(crate) progress: Arc<Progress>,
    pace: Pace,
    /// Resolves when no heartbeat is under way any more.
    ended: oneshot::Receiver<()>,
}

/// The write that records the outcome of the transaction `start_ts`.
pub(crate) fn outcome_write(start_ts: Timestamp) -> Write {
    let kind = WriteKind::Put(Bytes::new());
    Write { key: system::outcome_key(start_ts), kind, strength: LockStrength::Update }
}

impl EarlyLocks {
    /// Starts without locks. The heartbeats begin with the primary's lock.
    fn begin(store: &Arc<TransactionStore>, snapshot: Arc<Snapshot>, start_ts: Timestamp) -> EarlyLocks {
        let buffer = Arc::new(Buffer::new(usize::MAX, None));
        let mut job = CommitJob::new(store.clone(), snapshot, buffer, Some(start_ts), Vec::new(), true);
        job.primary = system::outcome_key(start_ts);
        let (job, progress) = (Arc::new(job), Arc::new(Progress::default()));
        *progress.reached.lock() = Reached::Everything;
        let (alive, stopped) = oneshot::channel();
        *progress.alive.lock() = Some(alive);
        let (end, ended) = oneshot::channel();
        let (of_job, of_progress) = (job.clone(), progress.clone());
        let beats = async move {
            of_job.heart_beats(&of_progress, stopped).await;
            // The receiver may be gone.
            let _ = end.send(());
        };
        store.env.spawn("heart-beats", Box::pin(beats));
        let pace = Pace::new(store.options.parallel_rows, store.env.monotonic());
        EarlyLocks { job, progress, pace, ended }
    }

    /// Writes the locks that `step` answers, the primary's first.
    async fn lock(&self, step: &Step<'_>) -> Result<()> {
        let outcome = outcome_write(self.job.start_ts);
        let primary = FinalWrite {
            key: outcome.key,
            kind: outcome.kind,
            strength: outcome.strength,
            command: 0,
            put_then_deleted: false,
            early: Early::Not,
        };
        let ready = match self.job.primary_lock.lock().is_some() {
            true => None,
            false => Some(primary),
        };
        self.job.send(Rows::new(&self.job, &self.progress, ready, step), &self.progress, &self.pace).await
    }

    /// Hands the primary's lock over to the transaction's commit.
    pub(crate) fn hand_over(self, commit: &mut CommitJob) {
        commit.primary_lock = self.job.primary_lock.clone();
        commit.early = Some(self);
    }

    /// Ends the heartbeats. When it returns, none is under way.
    pub(crate) async fn stop(mut self) {
        self.progress.alive.lock().take();
        // Not sent if the task was dropped with its runtime.
        let _ = (&mut self.ended).await;
    }

    /// Removes the locks of a rolled-back transaction, in the background. `buffer` holds its writes.
    pub(crate) fn undo(self, buffer: Arc<Buffer>) {
        let store = self.job.store.clone();
        let (snapshot, start_ts) = (self.job.snapshot.clone(), self.job.start_ts);
        let mut job = CommitJob::new(store.clone(), snapshot, buffer, Some(start_ts), Vec::new(), true);
        job.primary = self.job.primary.clone();
        let work = async move {
            self.stop().await;
            job.roll_back(Reached::Everything).await;
        };
        store.env.spawn("rollback", Box::pin(work));
    }
}

impl Drop for EarlyLocks {
    fn drop(&mut self) {
        self.progress.alive.lock().take();
    }
}

impl Transaction {
    /// Writes the locks of the spilled runs. If dropped halfway it may have written some; COMMIT deals with them.
    /// Errors: a conflict, after which the transaction cannot commit.
    pub(crate) async fn prewrite_spilled(&self) -> Result<()> {
        let mut slot = self.early().lock().await;
        let (start_ts, snapshot) = (self.start_ts().await?, self.snapshot().await?);
        let early = slot.get_or_insert_with(|| EarlyLocks::begin(self.store(), snapshot, start_ts));
        // COMMIT locks these keys in batches.
        let fresh = self.fresh();
        loop {
            let Some(run) = self.buffer().write().begin_sending() else { return Ok(()) };
            let step = |from: &Bytes| {
                let (mut writes, next) = self.buffer().read().writes_of_run(run, from, STEP_ROWS)?;
                writes.retain(|write| !fresh.iter().any(|range| range.contains(&write.key)));
                Ok((writes, next))
            };
            early.lock(&step).await?;
            self.buffer().write().sent(run);
        }
    }
}
