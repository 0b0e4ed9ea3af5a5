//! Heartbeats: the owner of a transaction renews the primary's lock, so that others do not take it for dead. They
//! begin with its first prewrite. They end, and are answered, before the commit is sent.

use crate::commit::CommitJob;
use crate::error::{ConflictKind, Result, TxnError};
use crate::lock::Lock;
use crate::parallel_prewrite::Progress;
use crate::resolver::exactly;
use futures::channel::oneshot;
use futures::future::{Either, join, select};
use std::time::Duration;
use storage::{Family, Mutation, StoreError};

/// The shortest interval between heartbeats.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);
/// How often one heartbeat is retried while readers push the lock.
const ATTEMPTS: usize = 16;

impl CommitJob {
    /// Runs `work` with heartbeats beside it. When it returns, none is under way.
    pub(crate) async fn with_heart_beats<T>(&self, progress: &Progress, work: impl Future<Output = T>) -> T {
        let (alive, stopped) = oneshot::channel::<()>();
        *progress.alive.lock() = Some(alive);
        let work = async move {
            let result = work.await;
            progress.alive.lock().take();
            result
        };
        join(work, self.heart_beats(progress, stopped)).await.0
    }

    /// Sends heartbeats until `stopped` is signalled or its sender is dropped.
    pub(crate) async fn heart_beats(&self, progress: &Progress, mut stopped: oneshot::Receiver<()>) {
        let interval = (self.store.options.lock_time_to_live / 3).max(SHORTEST_INTERVAL);
        loop {
            match select(self.store.env.sleep(interval), stopped).await {
                Either::Left(((), still)) => stopped = still,
                Either::Right(_) => return,
            }
            // A missed heartbeat does no harm. The wave stops if others ended the transaction, or if it is
            // too old to commit.
            let beaten = match self.first_snapshot.check_age(&self.store) {
                Ok(()) => self.beat().await,
                Err(error) => Err(error),
            };
            match beaten {
                Ok(()) => {}
                Err(error @ (TxnError::Conflict(_) | TxnError::SnapshotTooOld { .. })) => {
                    progress.fail(error);
                    return;
                }
                Err(error) => tracing::debug!(%error, start_ts = %self.start_ts, "a heart-beat was lost"),
            }
        }
    }

    /// Sends one heartbeat. Errors: another transaction ended this one.
    async fn beat(&self) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let Some(cell) = self.primary_lock.lock().clone() else { return Ok(()) };
            let mut lock = Lock::decode(&cell.value)?;
            let expires_at = self.store.expires_at();
            if expires_at <= lock.expires_at {
                return Ok(());
            }
            lock.expires_at = expires_at;
            let value = lock.encode();
            let set = Mutation::Set { family: Family::Lock, timestamp: self.start_ts, value: value.clone() };
            if self.store.change_row(&self.primary, vec![exactly(&cell)], vec![set]).await? {
                *self.primary_lock.lock() = Some(storage::Cell { value, ..cell });
                return Ok(());
            }
            // A reader pushed the lock, our own change succeeded without an answer, or
            // another transaction ended ours.
            match self.store.read_primary(&self.primary, self.start_ts).await?.lock {
                Some(current) => *self.primary_lock.lock() = Some(current),
                None => return Err(self.conflict(&self.primary, ConflictKind::RolledBack, self.start_ts)),
            }
        }
        Err(StoreError::Unavailable("the primary's lock keeps changing".into()).into())
    }
}
