//! What a reader makes of the locks it meets on a store that changes one row at a time: it asks the
//! owner's primary once a transaction, pushes a live owner's commit above itself, and reads beneath
//! or through the lock. The readers of a process share what they learn. It never waits for an owner, nor for the removal of a lock, which goes on
//! behind it.

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

/// Locks whose removal is under way, at most: what is beyond, later readers meet again.
const PENDING_LOCKS: usize = 4096;
/// Locks removed at the same time by one reader.
const PARALLEL_LOCKS: usize = 32;
/// Live owners remembered.
const LIVE_OWNERS: usize = 4096;
/// Final states remembered, twice.
const FINAL_STATES: usize = 1 << 14;

/// A lock that a reader met whose owner's fate is final.
pub(crate) type Met = (Bytes, Cell, Status);

/// What a snapshot learned of the owners of locks: final fates, and `Live` for owners that were pushed
/// above it, which is as final for this snapshot.
#[derive(Default)]
pub(crate) struct Owners {
    known: Mutex<HashMap<Timestamp, Status>>,
    /// One question at a time: the readers of a snapshot mostly meet the same owner.
    asking: tokio::sync::Mutex<()>,
}

/// Final fates, remembered by the whole process. Bounded.
#[derive(Default)]
pub(crate) struct FinalStates(Mutex<[HashMap<Timestamp, Status>; 2]>);

impl FinalStates {
    /// The fate of `start_ts`, when it is known and final.
    pub(crate) fn get(&self, start_ts: Timestamp) -> Option<Status> {
        let states = self.0.lock();
        states.iter().find_map(|generation| generation.get(&start_ts).copied())
    }

    /// Remembers `status`, when it is final.
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

/// Above where the commits of live owners were pushed. That holds whatever becomes of them, for every reader of this
/// process whose snapshot lies below: none of them need ask. Bounded.
#[derive(Default)]
pub(crate) struct Pushed(Mutex<HashMap<Timestamp, Timestamp>>);

impl Pushed {
    fn is_above(&self, start_ts: Timestamp, snapshot_ts: Timestamp) -> bool {
        self.0.lock().get(&start_ts).is_some_and(|min_commit_ts| *min_commit_ts > snapshot_ts)
    }

    /// Remembers what the primary's lock says.
    pub(crate) fn remember(&self, start_ts: Timestamp, min_commit_ts: Timestamp) {
        let mut pushed = self.0.lock();
        if pushed.len() >= LIVE_OWNERS {
            pushed.clear();
        }
        let known = pushed.entry(start_ts).or_default();
        *known = min_commit_ts.max(*known);
    }
}

/// What a row shows to a snapshot.
pub(crate) enum Shown {
    /// This value, or none.
    Value(Option<Bytes>),
    /// What the newest write at or below the snapshot says.
    Written,
    /// A lock so old that garbage collection may have passed its owner's record: read the row again. When the
    /// lock is still there, nothing of its owner has been collected yet, for locks go first.
    Again,
}

impl TransactionStore {
    /// What the locks of `row` leave to see. Locks of finished owners are added to `met`. `second_look`: the row
    /// was read again after `Again` was answered.
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
            // A copy of a lock may come late ([`crate::wave`]): what its owner wrote is there, or something newer.
            let written = row.newest(Family::Write).map_or(Timestamp::ZERO, |write| write.timestamp);
            match status {
                Status::Committed(commit_ts) if commit_ts <= snapshot.ts() && commit_ts > written => {
                    return Ok(Shown::Value(self.locked_value(snapshot, row, cell.timestamp, lock, counts).await?));
                }
                // Committed above the snapshot, or not at all, or pushed: beneath the lock.
                Status::Committed(_) | Status::RolledBack | Status::Live | Status::Gone => {}
            }
        }
        Ok(Shown::Written)
    }

    /// Whether the safe point, by the oracle's clock, may have passed this transaction while nobody looked.
    fn may_be_collected(&self, start_ts: Timestamp) -> bool {
        let age = self.oracle.physical_now().saturating_sub(start_ts.0);
        Duration::from_micros(age) > self.options.history / 2
    }

    /// The fate of a lock's owner as far as `snapshot` is concerned; `Live`: it will commit above.
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

    /// Removes locks of finished owners behind the reader that met them.
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
