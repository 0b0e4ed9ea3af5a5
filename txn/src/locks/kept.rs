//! [`KeptSession`]: the locks that one node holds at the keeper, by its lockers. Requests may be delayed or
//! duplicated; their numbers tell which still count.

use super::call::{AcquireCall, GivenBack, HeldLock, Taken};
use super::locker::{Locker, LockerId};
use super::mode::LockName;
use super::table::{LockFailure, LockTable, LockWait};
use futures::channel::oneshot;
use futures::future::{Either, select};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The error for a request that no longer counts.
pub(super) struct Late;

/// A locker of another node.
struct Kept {
    locker: Arc<Locker>,
    /// Held by the acquisition under way.
    busy: tokio::sync::Mutex<()>,
    state: Mutex<KeptState>,
}

#[derive(Default)]
struct KeptState {
    /// The newest acquisition that was begun or abandoned.
    last: u64,
    /// Whether the table counts the locker among those whose locks commits must look for.
    looked_for: bool,
    /// Ends the acquisition under way.
    stop: Option<oneshot::Sender<()>>,
}

impl Kept {
    /// Begins an acquisition. `None` if it was begun before, or was abandoned.
    fn begin(&self, number: u64) -> Option<oneshot::Receiver<()>> {
        let mut state = self.state.lock();
        if number <= state.last {
            return None;
        }
        let (stop, stopped) = oneshot::channel();
        state.last = number;
        state.stop = Some(stop);
        Some(stopped)
    }

    /// Ends acquisitions up to this number. When it returns, none is under way.
    async fn stop(&self, number: u64) -> tokio::sync::MutexGuard<'_, ()> {
        {
            let mut state = self.state.lock();
            state.last = state.last.max(number);
            // Dropping the sender stops the acquisition.
            state.stop = None;
        }
        self.busy.lock().await
    }

    fn look_for(&self, table: &LockTable) {
        if !std::mem::replace(&mut self.state.lock().looked_for, true) {
            table.begin_row_locks();
        }
    }

    fn do_not_look_for(&self, table: &LockTable) {
        if std::mem::replace(&mut self.state.lock().looked_for, false) {
            table.end_row_locks();
        }
    }
}

/// The session of one node at the keeper.
pub(super) struct KeptSession {
    pub(super) node: u64,
    /// The number of the request that opened it.
    pub(super) attempt: u64,
    /// Whether it belongs to the keeper's own node.
    pub(super) own: bool,
    /// Whether it may hold locks, so that a successor must know of it.
    pub(super) holds: AtomicBool,
    table: Arc<LockTable>,
    heard: Mutex<Duration>,
    lockers: Mutex<HashMap<u64, Arc<Kept>>>,
    /// Dropped lockers with their last acquisitions, until these have certainly ended.
    gone: Mutex<HashMap<u64, u64>>,
    /// The number of the newest release.
    released: tokio::sync::Mutex<u64>,
    floor: AtomicU64,
    ended: AtomicBool,
}

impl KeptSession {
    pub(super) fn new(table: Arc<LockTable>, node: u64, attempt: u64, own: bool) -> Arc<KeptSession> {
        let heard = Mutex::new(table.now());
        Arc::new(KeptSession {
            node,
            attempt,
            own,
            holds: AtomicBool::new(false),
            table,
            heard,
            lockers: Mutex::default(),
            gone: Mutex::default(),
            released: tokio::sync::Mutex::default(),
            floor: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        })
    }

    pub(super) fn hear(&self) {
        *self.heard.lock() = self.table.now();
    }

    /// The time since the last heartbeat.
    pub(super) fn silence(&self) -> Duration {
        self.table.now().saturating_sub(*self.heard.lock())
    }

    fn kept(&self, locker: u64, label: i32, number: u64) -> Option<Arc<Kept>> {
        // The order matters: a dropped locker is noted in `gone` before it is removed here.
        let mut lockers = self.lockers.lock();
        if number < self.floor.load(Ordering::SeqCst) || self.gone.lock().contains_key(&locker) {
            return None;
        }
        let made = || {
            let (locker, busy) = (self.table.locker(label), tokio::sync::Mutex::new(()));
            Arc::new(Kept { locker, busy, state: Mutex::default() })
        };
        Some(lockers.entry(locker).or_insert_with(made).clone())
    }

    fn found(&self, locker: u64) -> Option<Arc<Kept>> {
        self.lockers.lock().get(&locker).cloned()
    }

    /// Takes names one after the other, once `begun` resolves. If it is dropped or refused, it may have taken some of
    /// them. The node then releases all that it was not told of. Errors: the request came late.
    pub(super) async fn acquire(
        &self,
        call: AcquireCall,
        begun: impl Future<Output = Result<LockWait, LockFailure>>,
    ) -> Result<(Vec<Taken>, Option<LockFailure>), Late> {
        let kept = self.kept(call.locker, call.label, call.number).ok_or(Late)?;
        let _busy = kept.busy.lock().await;
        let stopped = kept.begin(call.number).filter(|_| !self.ended.load(Ordering::SeqCst)).ok_or(Late)?;
        let taking = async {
            let mut taken = Vec::with_capacity(call.names.len());
            let wait = match begun.await {
                Ok(wait) => wait,
                Err(failure) => return (taken, Some(failure)),
            };
            if call.looked_for {
                // Before the first lock is granted: see `LockKeeper::must_look`.
                kept.look_for(&self.table);
            }
            for lock in &call.names {
                taken.push(match kept.locker.acquire(lock.name, lock.mode, &lock.tag, wait).await {
                    Ok(true) => Taken::Newly,
                    Ok(false) => Taken::Already,
                    Err(LockFailure::Held) => Taken::Held,
                    Err(failure) => return (taken, Some(failure)),
                });
            }
            (taken, None)
        };
        match select(pin!(taking), stopped).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right(_) => Err(Late),
        }
    }

    /// Takes the locks that the node held before, if nobody else holds them. Answers those it did not get.
    pub(super) async fn reclaim(&self, locks: Vec<HeldLock>, looked_for: Vec<(u64, i32)>) -> Vec<(u64, LockName)> {
        let mut lost = Vec::new();
        for HeldLock { locker, label, lock } in locks {
            // Acquisitions have numbers above 0.
            let Some(kept) = self.kept(locker, label, u64::MAX) else { continue };
            let _busy = kept.busy.lock().await;
            let ended = self.ended.load(Ordering::SeqCst);
            if ended || kept.locker.acquire(lock.name, lock.mode, &lock.tag, LockWait::No).await.is_err() {
                lost.push((locker, lock.name));
            }
        }
        for (locker, label) in looked_for {
            if let Some(kept) = self.kept(locker, label, u64::MAX) {
                let _busy = kept.busy.lock().await;
                if !self.ended.load(Ordering::SeqCst) {
                    kept.look_for(&self.table);
                }
            }
        }
        lost
    }

    /// Applies releases, unless this or a newer request was applied before.
    pub(super) async fn release(&self, number: u64, floor: u64, given_back: Vec<GivenBack>) {
        let mut released = self.released.lock().await;
        if number <= *released {
            return;
        }
        for item in given_back {
            match item {
                GivenBack::Locks { locker, locks } => {
                    if let Some(kept) = self.found(locker) {
                        self.table.release(kept.locker.id(), &locks);
                    }
                }
                GivenBack::Abandoned { locker, label, number, locks } => {
                    // The locker is created if it is absent, so that it knows the number
                    // when the acquisition arrives.
                    if let Some(kept) = self.kept(locker, label, number) {
                        let _stopped = kept.stop(number).await;
                        self.table.release(kept.locker.id(), &locks);
                    }
                }
                GivenBack::LookedFor { locker } => {
                    if let Some(kept) = self.found(locker) {
                        kept.do_not_look_for(&self.table);
                    }
                }
                GivenBack::Locker { locker, last } => {
                    self.gone.lock().insert(locker, last);
                    let kept = self.lockers.lock().remove(&locker);
                    if let Some(kept) = kept {
                        self.empty(std::slice::from_ref(&kept)).await;
                    }
                }
            }
        }
        self.floor.fetch_max(floor, Ordering::SeqCst);
        self.gone.lock().retain(|_, last| *last >= floor);
        *released = number;
    }

    /// Releases all locks of `lockers`. When it returns, they acquire nothing any more.
    async fn empty(&self, lockers: &[Arc<Kept>]) {
        for kept in lockers {
            let _stopped = kept.stop(u64::MAX).await;
            kept.do_not_look_for(&self.table);
        }
        let ids: HashSet<LockerId> = lockers.iter().map(|kept| kept.locker.id()).collect();
        self.table.release_everything(&ids);
    }

    /// Ends the session and frees its locks for others.
    pub(super) async fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        let lockers: Vec<Arc<Kept>> = self.lockers.lock().drain().map(|(_, kept)| kept).collect();
        self.empty(&lockers).await;
    }
}
