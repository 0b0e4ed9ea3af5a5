//! How a reader deals with the locks it meets on a store that changes one row at a time. It asks the primary of each
//! owner once. It pushes a live owner's commit above its snapshot, and reads beneath or through the lock. It waits
//! neither for the owner nor for the removal of the lock, which runs in the background. The readers of a process
//! share what they learn.

use crate::data::RecordKind;
use crate::error::Result;
use crate::lock::Lock;
use crate::resolver::Status;
use crate::snapshot::{ReadCounts, Snapshot};
use crate::store::TransactionStore;
use bytes::Bytes;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;
use storage::{Cell, Family, Row, Timestamp};

/// The most locks whose removal is under way. Later readers meet the other locks again.
const PENDING_LOCKS: usize = 4096;
/// How many locks one reader removes at the same time.
const PARALLEL_LOCKS: usize = 32;
/// The most live owners that are remembered.
const LIVE_OWNERS: usize = 4096;
/// The most final states in each of two generations.
const FINAL_STATES: usize = 1 << 14;

/// A lock that a reader met, whose owner's fate is final.
pub(crate) type Met = (Bytes, Cell, Status);

/// The fates of owners of locks that a snapshot has learned: final fates, and `Live` for owners that were pushed above it.
/// For this snapshot `Live` is final too.
#[derive(Default)]
pub(crate) struct Owners {
    known: Mutex<HashMap<Timestamp, Status>>,
    /// Allows one question at a time, because the readers of a snapshot mostly meet the same owner.
    asking: tokio::sync::Mutex<()>,
}

/// Final fates, shared by the whole process. Bounded.
#[derive(Default)]
pub(crate) struct FinalStates(Mutex<[HashMap<Timestamp, Status>; 2]>);

impl FinalStates {
    /// The fate of `start_ts`, if it is known and final.
    pub(crate) fn get(&self, start_ts: Timestamp) -> Option<Status> {
        let states = self.0.lock();
        states.iter().find_map(|generation| generation.get(&start_ts).copied())
    }

    /// Remembers `status` if it is final.
    pub(crate) fn remember(&self, start_ts: Timestamp, status: Status) {
        if !matches!(status, Status::Committed(_) | Status::RolledBack) {
            return;
        }
        let mut states = self.0.lock();
        let [young, old] = &mut *states;
        if young.len() >= FINAL_STATES {
            *old = std::mem::take(young);
        }
        young.insert(start_ts, status);
    }
}

/// For each live owner, the timestamp above which its commit was pushed. That holds whatever becomes of the owner. So
/// readers of this process with an older snapshot need not ask. Bounded.
#[derive(Default)]
pub(crate) struct Pushed(Mutex<HashMap<Timestamp, Timestamp>>);

impl Pushed {
    fn is_above(&self, start_ts: Timestamp, snapshot_ts: Timestamp) -> bool {
        self.0.lock().get(&start_ts).is_some_and(|min_commit_ts| *min_commit_ts > snapshot_ts)
    }

    /// Remembers a `min_commit_ts` that the primary's lock holds.
    pub(crate) fn remember(&self, start_ts: Timestamp, min_commit_ts: Timestamp) {
        let mut pushed = self.0.lock();
        if pushed.len() >= LIVE_OWNERS {
            pushed.clear();
        }
        let known = pushed.entry(start_ts).or_default();
        *known = min_commit_ts.max(*known);
    }
}

/// What a row shows to a snapshot, as far as its locks tell.
pub(crate) enum Shown {
    /// The value that a committed lock stands for.
    Value(Option<Bytes>),
    /// The newest write at or below the snapshot.
    Written,
    /// Unknown: the lock is so old that garbage collection may have removed its owner's record. The row must be read
    /// again. If the lock is still there then, nothing of its owner was collected, because locks are resolved first.
    Again,
}

impl TransactionStore {
    /// What `row` shows despite its locks. Adds the locks of finished owners to `met`. `second_look`: the row was
    /// read again after the answer [`Shown::Again`].
    pub(crate) async fn look_past_locks(
        &self,
        snapshot: &Snapshot,
        row: &Row,
        counts: &ReadCounts,
        second_look: bool,
        met: &Mutex<Vec<Met>>,
    ) -> Result<Shown> {
        for cell in row.family(Family::Lock) {
            let lock = Lock::decode(&cell.value)?;
            if lock.kind == RecordKind::Lock || snapshot.owns(cell.timestamp) {
                continue;
            }
            counts.locks.fetch_add(1, Ordering::Relaxed);
            let status = self.status_for(snapshot, cell.timestamp, &lock, counts).await?;
            if status == Status::RolledBack && !second_look && self.may_be_collected(cell.timestamp) {
                return Ok(Shown::Again);
            }
            if status != Status::Live {
                met.lock().push((row.key.clone(), cell.clone(), status));
            }
            // A delayed copy of a lock may arrive late ([`crate::parallel_prewrite`]). Then the write of its owner is there,
            // or a newer one.
            let written = row.newest(Family::Write).map_or(Timestamp::ZERO, |write| write.timestamp);
            match status {
                Status::Committed(commit_ts) if commit_ts <= snapshot.ts() && commit_ts > written => {
                    return Ok(Shown::Value(self.locked_value(snapshot, row, cell.timestamp, lock, counts).await?));
                }
                // Not committed, committed above the snapshot, or pushed: read beneath the lock.
                Status::Committed(_) | Status::RolledBack | Status::Live | Status::Gone => {}
            }
        }
        Ok(Shown::Written)
    }

    /// Whether the safe point, by the oracle's clock, may have passed this transaction meanwhile.
    fn may_be_collected(&self, start_ts: Timestamp) -> bool {
        let age = self.oracle.physical_now().saturating_sub(start_ts.0);
        Duration::from_micros(age) > self.options.history / 2
    }

    /// The fate of a lock's owner from the view of `snapshot`. `Live` means that it will commit above the snapshot.
    async fn status_for(
        &self,
        snapshot: &Snapshot,
        start_ts: Timestamp,
        lock: &Lock,
        counts: &ReadCounts,
    ) -> Result<Status> {
        let known = || match self.pushed.is_above(start_ts, snapshot.ts()) {
            true => Some(Status::Live),
            false => snapshot.owners.known.lock().get(&start_ts).copied(),
        };
        if let Some(status) = known() {
            return Ok(status);
        }
        let _one_at_a_time = snapshot.owners.asking.lock().await;
        if let Some(status) = known() {
            return Ok(status);
        }
        let _call = counts.call();
        let status = self.primary_status(start_ts, lock, false, Some(snapshot.ts())).await?;
        snapshot.owners.known.lock().insert(start_ts, status);
        Ok(status)
    }

    /// Removes the locks of finished owners in the background.
    pub(crate) fn resolve_later(&self, met: Vec<Met>) {
        let Some(store) = self.this.upgrade() else { return };
        let count = met.len();
        if count == 0 {
            return;
        }
        if self.resolving.fetch_add(count, Ordering::Relaxed) >= PENDING_LOCKS {
            self.resolving.fetch_sub(count, Ordering::Relaxed);
            return;
        }
        let work = async move {
            let removals = stream::iter(met).map(|(key, cell, status)| {
                let store = store.clone();
                async move {
                    let removed = match Lock::decode(&cell.value) {
                        Ok(lock) => store.resolve_lock(&key, &cell, &lock, status).await.map(drop),
                        Err(error) => Err(error.into()),
                    };
                    if let Err(error) = removed {
                        tracing::debug!(%error, "a lock is left to others");
                    }
                }
            });
            removals.buffer_unordered(PARALLEL_LOCKS).for_each(std::future::ready).await;
            store.resolving.fetch_sub(count, Ordering::Relaxed);
        };
        self.env.spawn("resolve-locks", Box::pin(work));
    }
}
