//! Ends a transaction by COMMIT or ROLLBACK, as its owner asks. [`crate::commit`] does the commit.

use super::{ENDED, Transaction};
use crate::buffer::Buffer;
use crate::commit::CommitJob;
use crate::error::{Result, TxnError};
use crate::pipelined_prewrite::outcome_write;
use crate::row_locks::{LOCKED_AT_ONCE, LOCKED_BYTES};
use crate::snapshot::Snapshot;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use storage::Timestamp;

impl Transaction {
    /// Commits. Answers the commit_ts, or the snapshot's timestamp if nothing was written. After an error other than
    /// `Undetermined`, nothing was or will be written.
    pub async fn commit(&self) -> Result<Timestamp> {
        let committed = self.commit_writes().await;
        // The remaining locks are released after the commit was published.
        self.shared.row_locks.end();
        committed
    }

    async fn commit_writes(&self) -> Result<Timestamp> {
        let shared = &self.shared;
        let snapshot = self.snapshot().await?;
        let start_ts = {
            let mut state = shared.state.write();
            if std::mem::replace(&mut state.ended, true) {
                return Err(ENDED);
            }
            state.start_ts
        };
        *self.snapshot.write() = None;
        // No statement writes to it any more.
        if start_ts.is_none() && shared.buffer.read().is_empty() {
            shared.let_go();
            return shared.row_locks.confirm().await.map(|()| snapshot.ts());
        }
        let buffer = std::mem::replace(&mut *shared.buffer.write(), Buffer::new(usize::MAX, None));
        // Boxed, because the future of a commit is large and read-only transactions should not carry it.
        Box::pin(self.commit_buffer(snapshot, buffer, start_ts)).await
    }

    async fn commit_buffer(
        &self,
        snapshot: Arc<Snapshot>,
        mut buffer: Buffer,
        start_ts: Option<Timestamp>,
    ) -> Result<Timestamp> {
        let shared = &self.shared;
        if let Some(start_ts) = start_ts {
            buffer.write(self.command(), outcome_write(start_ts))?;
        }
        let by_row = shared.store.store.atomic().is_none();
        let buffer = Arc::new(buffer);
        let one_snapshot = shared.options.isolation.has_one_snapshot();
        let looks = one_snapshot && shared.store.can_lock_rows();
        // If another node keeps the locks, the commit timestamp tells whether the commit should have looked for them.
        let elsewhere = shared.store.agent.is_some();
        let unlooking = if looks && !elsewhere { shared.store.locks.unlooking_commit(&buffer) } else { None };
        let must_look = looks && if elsewhere { shared.store.oracle.saw_locks() } else { unlooking.is_none() };
        if must_look
            && let Err(error) =
                Box::pin(shared.lock_writes(|from| buffer.final_writes(from, LOCKED_AT_ONCE, LOCKED_BYTES))).await
        {
            self.forget(start_ts);
            return Err(error);
        }
        let mut unchanged = std::mem::take(&mut *shared.unchanged.lock());
        unchanged.extend(shared.row_locks.guarded());
        let mut job =
            CommitJob::new(shared.store.clone(), snapshot, buffer, start_ts, unchanged, shared.options.durable);
        job.unlooking = unlooking;
        job.bases = shared.row_locks.bases();
        if let Some(first) = shared.first_snapshot.lock().take() {
            job.first_snapshot = first;
        }
        job.reads = shared.reads.as_ref().map(|reads| reads.ranges().into());
        job.fresh = self.fresh();
        if !by_row && shared.row_locks.holds_any() {
            job.gives_up = Some(shared.clone());
        }
        if elsewhere {
            job.unlooked = (looks && !must_look).then(|| shared.clone());
            job.locker = shared.row_locks.holder();
        }
        if let Some(early) = shared.early.lock().await.take() {
            early.hand_over(&mut job);
        }
        let result = job.run().await;
        shared.let_go();
        // On one log the outcome stays unknown until a restart.
        if matches!(result, Err(TxnError::Undetermined { .. })) && !by_row {
            shared.undetermined.store(true, Ordering::SeqCst);
        } else {
            self.forget(start_ts);
        }
        result
    }

    /// Ends the transaction without a commit. Cannot fail: others resolve what it leaves behind.
    pub async fn rollback(&self) {
        let start_ts = {
            let mut state = self.shared.state.write();
            state.ended = true;
            state.start_ts
        };
        *self.snapshot.write() = None;
        self.shared.let_go();
        self.shared.row_locks.end();
        let buffer = std::mem::replace(&mut *self.shared.buffer.write(), Buffer::new(usize::MAX, None));
        self.forget(start_ts);
        if let Some(start_ts) = start_ts {
            self.shared.store.note_abort(start_ts).await;
        }
        if let Some(early) = self.shared.early.lock().await.take() {
            early.undo(Arc::new(buffer));
        }
    }
}
