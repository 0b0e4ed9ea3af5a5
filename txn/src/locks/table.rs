//! [`LockTable`]: the holders and waiters of names. It is fair: waiters are granted a name in order of arrival,
//! unless they already hold it in another mode. A wait that would close a cycle fails at once.

use super::call::SeenLocks;
use super::held_counts::HeldCounts;
use super::history::{EndedWait, LockEvent, LockHistory, WaitEnd};
use super::locker::{Home, Locker, LockerId};
use super::mode::{LockMode, LockName, ROW};
use super::spilled::AllSpilled;
use super::unlooking::UnlookingCommits;
use crate::buffer::Buffer;
use bytes::Bytes;
use futures::channel::oneshot;
use futures::future::{Either, select};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use storage::EnvRef;

mod unlisted;

/// A wait that lasts for this long is reported, as by PostgreSQL's log_lock_waits after deadlock_timeout.
pub const LONG_WAIT: Duration = Duration::from_secs(1);

/// What to do if another locker holds the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Wait, for at most this long (`lock_timeout`). `None` waits without limit.
    For(Option<Duration>),
    /// Fail (`NOWAIT`), or skip the row (`SKIP LOCKED`).
    No,
}

/// Why a name was not locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockFailure {
    /// Another locker holds it, and the caller did not want to wait. SQLSTATE 55P03.
    Held,
    /// The wait exceeded its limit. SQLSTATE 55P03.
    TimedOut,
    /// A deadlock of these lockers. Each waits for the next, and the last for the first. SQLSTATE 40P01.
    Deadlock(Vec<CircleMember>),
    /// Too many rows are locked. SQLSTATE 53200.
    TooMany,
    /// The locker, or all together for names of this kind, hold too many locks other than on rows. SQLSTATE 53200.
    TooManyNamed,
    /// Another node keeps the locks and did not answer in time. SQLSTATE 58030.
    Unavailable,
    /// Spilled row locks could not be written or read. SQLSTATE 53100 if the disk is `full`, else 58030.
    NotSpilled {
        /// Whether the disk had no room.
        full: bool,
    },
}

/// One locker of a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircleMember {
    /// The label of the waiting locker.
    pub label: i32,
    /// The tag of the name it waits for.
    pub tag: Bytes,
    /// The mode it wants.
    pub mode: LockMode,
    /// The label of the locker that holds the name, or is before it in the queue.
    pub blocked_by: i32,
}

/// A wait under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingLock {
    /// The label of the waiting locker.
    pub label: i32,
    /// The tag of the name it waits for.
    pub tag: Bytes,
    /// The mode it wants.
    pub mode: LockMode,
    /// The labels of the lockers that block it.
    pub blocked_by: Vec<i32>,
    /// The start of the wait, by the monotonic clock.
    pub since: Duration,
}

/// A held lock that is not on a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedLock {
    /// The label of the holder.
    pub label: i32,
    /// The tag that describes the name to people.
    pub tag: Bytes,
    /// The numbers of the held modes, as a set of bits.
    pub modes: u16,
}

struct Waiter {
    id: LockerId,
    mode: LockMode,
    granted: oneshot::Sender<()>,
}

#[derive(Default)]
struct Entry {
    /// The holders, each with the numbers of its modes as a set of bits.
    holders: Vec<(LockerId, u16)>,
    // Boxed, because of a million held rows hardly one has waiters.
    #[allow(clippy::box_collection)]
    queue: Option<Box<VecDeque<Waiter>>>,
    /// Describes the name to others. Not set for rows.
    tag: Option<Box<Bytes>>,
}

impl Entry {
    fn modes_of(&self, id: LockerId) -> u16 {
        self.holders.iter().find(|(holder, _)| *holder == id).map_or(0, |(_, modes)| *modes)
    }

    /// The lockers that keep `id` from a mode: holders, and waiters before it unless it already holds the name.
    fn blockers(&self, id: LockerId, mode: LockMode) -> impl Iterator<Item = LockerId> + '_ {
        let holders = self.holders.iter().filter(move |(holder, modes)| *holder != id && mode.excludes(*modes));
        let passes = self.modes_of(id) != 0;
        let queue = self.queue.iter().flat_map(|queue| queue.iter()).take_while(move |waiter| waiter.id != id);
        let before = queue.filter(move |waiter| !passes && mode.excludes(waiter.mode.bit()));
        holders.map(|(holder, _)| *holder).chain(before.map(|waiter| waiter.id))
    }

    fn is_free(&self, id: LockerId, mode: LockMode) -> bool {
        self.blockers(id, mode).next().is_none()
    }

    fn hold(&mut self, id: LockerId, mode: LockMode) {
        match self.holders.iter_mut().find(|(holder, _)| *holder == id) {
            Some((_, modes)) => *modes |= mode.bit(),
            None => self.holders.push((id, mode.bit())),
        }
    }

    fn is_unused(&self) -> bool {
        self.holders.is_empty() && self.queue.is_none()
    }
}

struct Waits {
    name: LockName,
    mode: LockMode,
    tag: Bytes,
    label: i32,
    since: Duration,
}

#[derive(Default)]
struct State {
    entries: HashMap<LockName, Entry>,
    waiting: HashMap<LockerId, Waits>,
    /// The labels of holders and waiters.
    labels: HashMap<LockerId, i32>,
    held: HeldCounts,
}

impl State {
    /// Grants a name to the waiters that can have it now.
    fn grant(&mut self, name: LockName) {
        let Some(entry) = self.entries.get_mut(&name) else { return };
        let Some(mut queue) = entry.queue.take() else { return };
        let mut left: VecDeque<Waiter> = VecDeque::new();
        while let Some(waiter) = queue.pop_front() {
            let passes = entry.modes_of(waiter.id) != 0;
            let behind = !passes && left.iter().any(|before| waiter.mode.excludes(before.mode.bit()));
            let free = !behind && entry.is_free(waiter.id, waiter.mode);
            if !free {
                left.push_back(waiter);
                continue;
            }
            entry.hold(waiter.id, waiter.mode);
            self.held.add(waiter.id, name);
            self.waiting.remove(&waiter.id);
            // A waiter that is dropped at this moment releases it: see `Waiting`.
            let _ = waiter.granted.send(());
        }
        if !left.is_empty() {
            *queue = left;
            entry.queue = Some(queue);
        }
    }

    /// Lists a row as held by `id`, even if another locker is about to hold it. Answers whether it was
    /// not listed so before.
    fn list(&mut self, id: LockerId, name: LockName, mode: LockMode) -> bool {
        let entry = self.entries.entry(name).or_default();
        let new = entry.modes_of(id) & mode.bit() == 0;
        if new {
            entry.hold(id, mode);
            self.held.add(id, name);
        }
        new
    }

    /// Releases modes of a holder, given as a set of bits.
    fn release(&mut self, id: LockerId, name: LockName, given_back: u16) {
        let Some(entry) = self.entries.get_mut(&name) else { return };
        let Some(at) = entry.holders.iter().position(|(holder, _)| *holder == id) else { return };
        if let Some((_, modes)) = entry.holders.get_mut(at)
            && *modes & given_back != 0
        {
            let count = (*modes & given_back).count_ones() as usize;
            *modes &= !given_back;
            let gone = *modes == 0;
            self.held.subtract(id, name, count);
            if gone {
                entry.holders.swap_remove(at);
            }
        }
        if entry.queue.is_some() {
            self.grant(name);
        }
        if self.entries.get(&name).is_some_and(Entry::is_unused) {
            self.entries.remove(&name);
        }
    }

    /// Removes `id` from the queue for a name. False if it is not in the queue, because it was granted the name.
    fn leave_line(&mut self, id: LockerId, name: LockName) -> bool {
        let Some(entry) = self.entries.get_mut(&name) else { return false };
        let Some(queue) = &mut entry.queue else { return false };
        let before = queue.len();
        queue.retain(|waiter| waiter.id != id);
        if queue.len() == before {
            return false;
        }
        if queue.is_empty() {
            entry.queue = None;
        }
        self.waiting.remove(&id);
        // Waiters behind it may have waited for it alone.
        self.grant(name);
        if self.entries.get(&name).is_some_and(Entry::is_unused) {
            self.entries.remove(&name);
        }
        true
    }

    fn blockers(&self, id: LockerId) -> Vec<LockerId> {
        let Some(waits) = self.waiting.get(&id) else { return Vec::new() };
        let Some(entry) = self.entries.get(&waits.name) else { return Vec::new() };
        entry.blockers(id, waits.mode).collect()
    }

    fn wait_of(&self, id: LockerId) -> Option<WaitingLock> {
        let waits = self.waiting.get(&id)?;
        Some(WaitingLock {
            label: waits.label,
            tag: waits.tag.clone(),
            mode: waits.mode,
            blocked_by: self.blockers(id).into_iter().map(|id| self.label(id)).collect(),
            since: waits.since,
        })
    }

    /// The cycle that the wait of `first` closes, if it does. Each locker waits for the next.
    fn circle(&self, first: LockerId) -> Option<Vec<LockerId>> {
        let mut seen = HashSet::from([first]);
        let mut path = vec![(first, self.blockers(first))];
        while let Some((_, blockers)) = path.last_mut() {
            match blockers.pop() {
                Some(next) if next == first => return Some(path.into_iter().map(|(id, _)| id).collect()),
                Some(next) if seen.insert(next) => path.push((next, self.blockers(next))),
                Some(_) => {}
                None => drop(path.pop()),
            }
        }
        None
    }

    fn label(&self, id: LockerId) -> i32 {
        self.labels.get(&id).copied().unwrap_or(0)
    }

    fn told(&self, circle: &[LockerId]) -> Vec<CircleMember> {
        let next = circle.iter().skip(1).chain(circle.first());
        let member = |(id, next): (&LockerId, &LockerId)| {
            let waits = self.waiting.get(id)?;
            Some(CircleMember {
                label: waits.label,
                tag: waits.tag.clone(),
                mode: waits.mode,
                blocked_by: self.label(*next),
            })
        };
        circle.iter().zip(next).filter_map(member).collect()
    }
}

/// The locks of a process, or of all nodes of a store at the node that keeps them.
pub struct LockTable {
    env: EnvRef,
    state: Mutex<State>,
    history: LockHistory,
    next: AtomicU64,
    /// The number of transactions that hold row locks.
    row_lockers: AtomicUsize,
    /// Commits under way that did not look for row locks.
    unlooking: UnlookingCommits,
    spilled: AllSpilled,
}

/// A commit that does not look for locks, with its writes. Held until the commit is published.
pub(crate) struct UnlookingCommit(Arc<LockTable>, Arc<Buffer>);

impl Drop for UnlookingCommit {
    fn drop(&mut self) {
        self.0.unlooking.leave(&self.1);
    }
}

impl LockTable {
    /// A table in which nothing is locked.
    pub(crate) fn new(env: EnvRef) -> Arc<LockTable> {
        Arc::new(LockTable {
            env,
            state: Mutex::default(),
            history: LockHistory::default(),
            next: AtomicU64::new(1),
            row_lockers: AtomicUsize::new(0),
            unlooking: UnlookingCommits::default(),
            spilled: AllSpilled::default(),
        })
    }

    /// A new locker that holds nothing. `label` identifies it to others.
    pub fn locker(self: &Arc<Self>, label: i32) -> Arc<Locker> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if label != 0 {
            self.state.lock().labels.insert(id, label);
        }
        Locker::new(Home::Here(self.clone()), id, label)
    }

    pub(super) fn forget(&self, id: LockerId) {
        self.state.lock().labels.remove(&id);
    }

    /// A permit to commit `writes` without looking for locks. `None` if there are holders of row locks.
    pub(crate) fn unlooking_commit(self: &Arc<Self>, writes: &Arc<Buffer>) -> Option<UnlookingCommit> {
        // The order matters: see `unlooking`.
        self.unlooking.enter(writes.clone());
        let permit = UnlookingCommit(self.clone(), writes.clone());
        (self.row_lockers.load(Ordering::SeqCst) == 0).then_some(permit)
    }

    /// Whether anybody holds row locks.
    pub(crate) fn has_row_lockers(&self) -> bool {
        self.row_lockers.load(Ordering::SeqCst) > 0
    }

    /// Notes that a transaction is about to take its first row lock. From now on, every commit that begins looks
    /// for locks. The transaction waits for the other commits row by row. (With several nodes, commits look if the
    /// oracle tells them to.)
    pub(crate) fn begin_row_locks(&self) {
        self.row_lockers.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that a transaction holds no row locks any more.
    pub(crate) fn end_row_locks(&self) {
        self.row_lockers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether other lockers keep this one from a name now.
    pub(crate) fn is_contended(&self, locker: &Locker, name: LockName, mode: LockMode) -> bool {
        let state = self.state.lock();
        let entry = state.entries.get(&name);
        entry.is_some_and(|entry| !mode.is_covered_by(entry.modes_of(locker.id())) && !entry.is_free(locker.id(), mode))
    }

    /// Takes a name, and waits as `wait` says. Answers whether it is newly held in this mode.
    pub(super) async fn acquire(
        &self,
        locker: &Locker,
        name: LockName,
        mode: LockMode,
        tag: &Bytes,
        wait: LockWait,
    ) -> Result<bool, LockFailure> {
        if name.kind() != ROW {
            return self.acquire_listed(locker, name, mode, tag, wait).await;
        }
        let wait = match self.unlooking.any() {
            true => Box::pin(self.pass_unlooking(tag, mode, wait)).await?,
            false => wait,
        };
        if !self.acquire_listed(locker, name, mode, tag, wait).await? {
            return Ok(false);
        }
        match self.spilled.any() {
            true => Box::pin(self.pass_spilled(locker, name, mode, tag, wait)).await.map(|()| true),
            false => Ok(true),
        }
    }

    /// Whether so many locks are held that transactions should spill theirs early.
    pub(super) fn is_crowded(&self) -> bool {
        self.state.lock().held.is_crowded()
    }

    async fn acquire_listed(
        &self,
        locker: &Locker,
        name: LockName,
        mode: LockMode,
        tag: &Bytes,
        wait: LockWait,
    ) -> Result<bool, LockFailure> {
        let id = locker.id();
        let (granted, began) = {
            let mut guard = self.state.lock();
            let state = &mut *guard;
            let entry = state.entries.entry(name).or_default();
            if mode.is_covered_by(entry.modes_of(id)) {
                return Ok(false);
            }
            if let Err(failure) = state.held.check_room(id, name) {
                if entry.is_unused() {
                    state.entries.remove(&name);
                }
                return Err(failure);
            }
            if name.kind() != ROW && entry.tag.is_none() {
                entry.tag = Some(Box::new(tag.clone()));
            }
            if entry.is_free(id, mode) {
                entry.hold(id, mode);
                state.held.add(id, name);
                return Ok(true);
            }
            if wait == LockWait::No {
                return Err(LockFailure::Held);
            }
            let (sender, granted) = oneshot::channel();
            entry.queue.get_or_insert_default().push_back(Waiter { id, mode, granted: sender });
            let waits = Waits { name, mode, tag: tag.clone(), label: locker.label(), since: self.env.monotonic() };
            state.waiting.insert(id, waits);
            let began = state.wait_of(id);
            if let Some(circle) = state.circle(id) {
                let told = state.told(&circle);
                state.leave_line(id, name);
                drop(guard);
                self.note(began, WaitEnd::Deadlock);
                self.history.tell(LockEvent::Deadlock(&told));
                return Err(LockFailure::Deadlock(told));
            }
            (granted, began)
        };
        let waiting = Waiting { table: self, id, name, mode, began, over: false };
        let timeout = match wait {
            LockWait::For(timeout) => timeout,
            LockWait::No => None,
        };
        let short = timeout.map_or(LONG_WAIT, |timeout| timeout.min(LONG_WAIT));
        let granted = match select(granted, self.env.sleep(short)).await {
            Either::Left(_) => None,
            Either::Right((_, granted)) => Some(granted),
        };
        let Some(granted) = granted else {
            waiting.end(WaitEnd::Granted);
            return Ok(true);
        };
        let left = timeout.map(|timeout| timeout.saturating_sub(short));
        if left.is_none_or(|left| !left.is_zero())
            && let Some(long) = self.state.lock().wait_of(id)
        {
            self.history.tell(LockEvent::Long(&long));
        }
        match left {
            Some(left) => match select(granted, self.env.sleep(left)).await {
                Either::Left(_) => {}
                Either::Right(_) if self.state.lock().leave_line(id, name) => {
                    waiting.end(WaitEnd::TimedOut);
                    return Err(LockFailure::TimedOut);
                }
                // It was granted at this moment.
                Either::Right(_) => {}
            },
            None => drop(granted.await),
        }
        waiting.end(WaitEnd::Granted);
        Ok(true)
    }

    fn note(&self, began: Option<WaitingLock>, end: WaitEnd) {
        let Some(WaitingLock { label, tag, mode, blocked_by, since }) = began else { return };
        let waited = self.env.monotonic().saturating_sub(since);
        self.history.note(EndedWait { label, tag, mode, blocked_by, since, waited, end });
    }

    pub(super) fn release(&self, id: LockerId, given_back: &[(LockName, LockMode)]) {
        // In chunks, so that others get in between: a transaction may hold a million locks.
        for chunk in given_back.chunks(1024) {
            let mut state = self.state.lock();
            for (name, mode) in chunk {
                state.release(id, *name, mode.bit());
            }
        }
    }

    /// Releases all locks of lockers that wait for nothing. Visits every held lock.
    pub(super) fn release_everything(&self, ids: &HashSet<LockerId>) {
        let of = |(name, entry): (&LockName, &Entry)| {
            let held = entry.holders.iter().filter(|(holder, _)| ids.contains(holder));
            held.map(|(holder, modes)| (*holder, *name, *modes)).collect::<Vec<_>>()
        };
        let held: Vec<_> = self.state.lock().entries.iter().flat_map(of).collect();
        for chunk in held.chunks(1024) {
            let mut state = self.state.lock();
            for (id, name, modes) in chunk {
                state.release(*id, *name, *modes);
            }
        }
    }

    /// The time by the clock of its waits.
    pub(super) fn now(&self) -> Duration {
        self.env.monotonic()
    }

    /// The waits under way, in no order.
    pub fn waiting(&self) -> Vec<WaitingLock> {
        let state = self.state.lock();
        state.waiting.keys().filter_map(|id| state.wait_of(*id)).collect()
    }

    /// The newest waits that have ended, oldest first.
    pub fn ended_waits(&self) -> Vec<EndedWait> {
        self.history.ended()
    }

    /// Calls `observer` for long waits and deadlocks from now on. Only the first observer is kept.
    pub fn observe(&self, observer: impl Fn(LockEvent<'_>) + Send + Sync + 'static) {
        self.history.observe(Box::new(observer));
    }

    /// The held locks that are not on rows, in no order.
    pub fn named(&self) -> Vec<NamedLock> {
        let state = self.state.lock();
        let mut found = Vec::new();
        for entry in state.entries.values() {
            let Some(tag) = &entry.tag else { continue };
            for (id, modes) in &entry.holders {
                found.push(NamedLock { label: state.label(*id), tag: tag.as_ref().clone(), modes: *modes });
            }
        }
        found
    }

    /// The visible state of the table now.
    pub fn seen(&self) -> SeenLocks {
        let (now, named, waiting) = (self.now(), self.named(), self.waiting());
        SeenLocks { now, named, waiting, ended: self.ended_waits() }
    }

    /// The approximate memory of all locks in bytes, and the limit for row locks.
    pub fn memory(&self) -> (usize, usize) {
        self.state.lock().held.bytes()
    }

    /// The number of held modes of names.
    pub fn held(&self) -> usize {
        self.state.lock().held.all()
    }
}

/// A wait under way. If it is dropped before its end because its statement was cancelled, it leaves the queue. If the
/// lock was granted at that moment, it releases the lock.
struct Waiting<'a> {
    table: &'a LockTable,
    id: LockerId,
    name: LockName,
    mode: LockMode,
    began: Option<WaitingLock>,
    over: bool,
}

impl Waiting<'_> {
    fn end(mut self, end: WaitEnd) {
        self.over = true;
        self.table.note(self.began.take(), end);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.over {
            let mut state = self.table.state.lock();
            if !state.leave_line(self.id, self.name) {
                state.release(self.id, self.name, self.mode.bit());
            }
            drop(state);
            self.table.note(self.began.take(), WaitEnd::GivenUp);
        }
    }
}
