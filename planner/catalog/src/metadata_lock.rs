//! [`TableLocks`]: metadata locks within this process. Writers share a table until their transaction ends. DDL locks it
//! exclusively. An online index build only waits for writers with an older version. Names that DDL takes are locked
//! too. Waiting is fair, and a wait that would close a cycle fails at once.
//!
//! These locks avoid conflicts, but correctness does not depend on them. Descriptors, names and fences are rows
//! (`keys`). A transaction that overlooks a change of them fails at COMMIT. If several nodes serve a store, tables are
//! also locked on the other nodes (`nodes`).

use super::schema_leases::{Nodes, Wished};
use bytes::Bytes;
use parking_lot::Mutex;
use sql_error::{Result, SqlError, state};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use storage::env::EnvRef;
use tokio::sync::Notify;
use types::Oid;

/// Identity of a transaction that holds locks.
type Owner = u64;

/// An object that is locked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LockTarget {
    /// A table or sequence, by OID.
    Table(Oid),
    /// The right to change a table. An online index build holds it throughout.
    Change(Oid),
    /// A schema of a database. Transactions that create objects in it share it.
    Schema(Oid, Oid),
    /// A name that is being taken, by its row key.
    Name(Bytes),
}

/// The mode of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Held by a writer that knows this version of the descriptor.
    Shared(u64),
    /// Held by DDL, exclusively.
    Exclusive,
    /// Not held: waits until no writer has a version below this one. It blocks nobody.
    Drain(u64),
}

impl LockMode {
    fn conflicts(self, other: LockMode) -> bool {
        match (self, other) {
            (LockMode::Drain(below), LockMode::Shared(version)) => version < below,
            (LockMode::Drain(_), LockMode::Exclusive) => true,
            (_, LockMode::Drain(_)) => false,
            (one, other) => one == LockMode::Exclusive || other == LockMode::Exclusive,
        }
    }
}

#[derive(Debug, Default)]
struct TableState {
    holders: Vec<(Owner, LockMode)>,
    queue: VecDeque<(Owner, LockMode)>,
}

impl TableState {
    /// The transactions for which `owner` has to wait.
    fn blockers(&self, owner: Owner, mode: LockMode) -> Vec<Owner> {
        let blocks = |(other, held): &&(Owner, LockMode)| *other != owner && mode.conflicts(*held);
        let mut blockers: Vec<Owner> = self.holders.iter().filter(blocks).map(|(other, _)| *other).collect();
        let in_line = !matches!(mode, LockMode::Drain(_));
        if in_line && !self.holders.iter().any(|(holder, _)| *holder == owner) {
            // Waiters are served in order of arrival. A holder passes all waiters.
            let before = self.queue.iter().take_while(|(other, _)| *other != owner);
            blockers.extend(before.filter(blocks).map(|(other, _)| *other));
        }
        blockers
    }
}

#[derive(Debug, Default)]
struct State {
    tables: HashMap<LockTarget, TableState>,
    waiting: HashMap<Owner, (LockTarget, LockMode)>,
}

impl State {
    /// Whether `from` waits, directly or indirectly, for itself.
    fn closes_a_circle(&self, from: Owner) -> bool {
        let mut seen = HashSet::new();
        let mut next = vec![from];
        while let Some(owner) = next.pop() {
            let Some((target, mode)) = self.waiting.get(&owner) else { continue };
            let Some(table) = self.tables.get(target) else { continue };
            for blocker in table.blockers(owner, *mode) {
                if blocker == from {
                    return true;
                }
                if seen.insert(blocker) {
                    next.push(blocker);
                }
            }
        }
        false
    }
    fn stop_waiting(&mut self, owner: Owner) {
        if let Some((table, _)) = self.waiting.remove(&owner)
            && let Some(table) = self.tables.get_mut(&table)
        {
            table.queue.retain(|(other, _)| *other != owner);
        }
    }
}

/// The metadata locks of all tables. Each server has one instance.
pub struct TableLocks {
    env: EnvRef,
    state: Mutex<State>,
    changed: Notify,
    next_owner: AtomicU64,
    /// The other nodes, if there can be any.
    nodes: OnceLock<Weak<Nodes>>,
}

impl TableLocks {
    /// A new instance without any locks.
    pub fn new(env: EnvRef) -> Arc<Self> {
        Arc::new(TableLocks {
            env,
            state: Mutex::new(State::default()),
            changed: Notify::new(),
            next_owner: AtomicU64::new(1),
            nodes: OnceLock::new(),
        })
    }
    /// Locks tables on other nodes too from now on.
    pub(super) fn spread(&self, nodes: &Arc<Nodes>) {
        let _ = self.nodes.set(Arc::downgrade(nodes));
    }
    /// Makes the lock holder of a new transaction. Dropping it releases its locks.
    pub fn begin(self: &Arc<Self>) -> Arc<HeldLocks> {
        let owner = self.next_owner.fetch_add(1, Ordering::Relaxed);
        Arc::new(HeldLocks {
            owner,
            locks: Arc::clone(self),
            asked: AtomicBool::new(false),
            elsewhere: Mutex::default(),
            fences: Mutex::default(),
        })
    }

    /// Tries to acquire a lock once. `Ok(false)` means that it has to wait and is queued.
    fn try_acquire(&self, owner: Owner, target: &LockTarget, mode: LockMode) -> Result<bool> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let entry = state.tables.entry(target.clone()).or_default();
        let held = entry.holders.iter_mut().find(|(holder, _)| *holder == owner).map(|(_, held)| held);
        let has = match (held, mode) {
            (Some(LockMode::Exclusive), _) => true,
            (Some(LockMode::Shared(held)), LockMode::Shared(version)) => {
                // A writer with two versions counts as one with the older.
                *held = version.min(*held);
                true
            }
            _ => false,
        };
        if has {
            state.stop_waiting(owner);
            return Ok(true);
        }
        if entry.blockers(owner, mode).is_empty() {
            match entry.holders.iter_mut().find(|(holder, _)| *holder == owner) {
                _ if matches!(mode, LockMode::Drain(_)) => {}
                Some((_, held)) => *held = mode,
                None => entry.holders.push((owner, mode)),
            }
            if entry.holders.is_empty() && entry.queue.is_empty() {
                state.tables.remove(target);
            }
            state.stop_waiting(owner);
            return Ok(true);
        }
        let in_line = !matches!(mode, LockMode::Drain(_));
        if in_line && !entry.queue.iter().any(|(other, _)| *other == owner) {
            entry.queue.push_back((owner, mode));
        }
        state.waiting.insert(owner, (target.clone(), mode));
        if state.closes_a_circle(owner) {
            state.stop_waiting(owner);
            return Err(SqlError::new(state::DEADLOCK_DETECTED, "deadlock detected")
                .detail("Transactions wait for each other's tables.")
                .hint("The transaction might succeed if retried."));
        }
        Ok(false)
    }
    /// Resolves when this many transactions wait for locks. For tests.
    pub async fn until_waiting(&self, count: usize) {
        self.until(|state| state.waiting.len() >= count).await;
    }
    /// Resolves when somebody has a table alone. For tests.
    pub async fn until_exclusive(&self) {
        let alone = |(target, table): (&LockTarget, &TableState)| {
            matches!(target, LockTarget::Table(_)) && table.holders.iter().any(|(_, mode)| *mode == LockMode::Exclusive)
        };
        self.until(|state| state.tables.iter().any(alone)).await;
    }
    async fn until(&self, so: impl Fn(&State) -> bool) {
        let begin = self.env.monotonic();
        while !so(&self.state.lock()) {
            assert!(self.env.monotonic().saturating_sub(begin) < Duration::from_secs(60), "it does not come to pass");
            self.env.sleep(Duration::from_millis(2)).await;
        }
    }
    /// Whether transactions wait for locks.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.state.lock().waiting.is_empty()
    }
    fn release(&self, owner: Owner) {
        let mut state = self.state.lock();
        state.stop_waiting(owner);
        state.tables.retain(|_, table| {
            table.holders.retain(|(holder, _)| *holder != owner);
            !table.holders.is_empty() || !table.queue.is_empty()
        });
        drop(state);
        self.changed.notify_waiters();
    }
}

impl std::fmt::Debug for TableLocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TableLocks")
    }
}

/// The metadata locks of one transaction. Dropping it releases them.
#[derive(Debug)]
pub struct HeldLocks {
    owner: Owner,
    locks: Arc<TableLocks>,
    /// Whether it ever requested a lock. A transaction that only reads does no work on release.
    asked: AtomicBool,
    /// Locks held on other nodes.
    elsewhere: Mutex<HashMap<LockTarget, Wished>>,
    /// The node's fences at the time of these locks. If the node has another fence now, it has lost the locks.
    fences: Mutex<HashSet<Bytes>>,
}

impl HeldLocks {
    /// Acquires a lock on all nodes. Errors: 55P03 after `timeout` (`lock_timeout`; `None` waits forever), 40P01 for a
    /// deadlock, 40001 if another node goes first.
    pub async fn acquire(&self, target: LockTarget, mode: LockMode, timeout: Option<Duration>) -> Result<()> {
        self.acquire_here(target.clone(), mode, timeout).await?;
        let drain = match mode {
            LockMode::Shared(_) => return Ok(()),
            LockMode::Exclusive => None,
            LockMode::Drain(version) => Some(version),
        };
        self.acquire_elsewhere(target, drain, timeout).await.map(|_| ())
    }
    /// Acquires a lock on other nodes. Answers whether there are any that must be asked.
    async fn acquire_elsewhere(
        &self,
        target: LockTarget,
        drain: Option<u64>,
        timeout: Option<Duration>,
    ) -> Result<bool> {
        let Some(nodes) = self.locks.nodes.get() else { return Ok(false) };
        if drain.is_none() && self.elsewhere.lock().contains_key(&target) {
            return Ok(false);
        }
        let Some(nodes) = nodes.upgrade() else {
            return Err(SqlError::new(state::ADMIN_SHUTDOWN, "the server is stopping"));
        };
        let fence = nodes.fence().await?;
        let wished = nodes.everywhere(self.owner, &target, drain, timeout).await?;
        if let (Some(wished), None) = (wished, drain) {
            self.elsewhere.lock().insert(target, wished);
            self.fences.lock().insert(fence);
        }
        Ok(true)
    }
    /// Like [`HeldLocks::acquire`], on this node only.
    pub(super) async fn acquire_here(
        &self,
        target: LockTarget,
        mode: LockMode,
        timeout: Option<Duration>,
    ) -> Result<()> {
        struct Waiting<'a>(&'a HeldLocks);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.locks.state.lock().stop_waiting(self.0.owner);
                self.0.locks.changed.notify_waiters();
            }
        }
        self.asked.store(true, Ordering::Relaxed);
        if self.locks.try_acquire(self.owner, &target, mode)? {
            return Ok(());
        }
        let waiting = Waiting(self);
        let env = &self.locks.env;
        let deadline = timeout.map(|timeout| env.monotonic() + timeout);
        loop {
            let changed = self.locks.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.locks.try_acquire(self.owner, &target, mode)? {
                drop(waiting);
                return Ok(());
            }
            match deadline {
                None => changed.await,
                Some(deadline) => {
                    let left = deadline.saturating_sub(env.monotonic());
                    if left.is_zero() {
                        return Err(SqlError::new(
                            state::LOCK_NOT_AVAILABLE,
                            "canceling statement due to lock timeout",
                        ));
                    }
                    futures::future::select(changed, env.sleep(left)).await;
                }
            }
        }
    }
    /// Locks a table to write its rows with this version of its descriptor.
    pub async fn shared(&self, table: Oid, version: u64, timeout: Option<Duration>) -> Result<()> {
        self.acquire(LockTarget::Table(table), LockMode::Shared(version), timeout).await
    }
    /// Locks a table exclusively to change its descriptor, after an index build on it, if any. Answers whether other
    /// nodes were asked: their transactions' writes may then be newer than an earlier snapshot.
    pub async fn exclusive(&self, table: Oid, timeout: Option<Duration>) -> Result<bool> {
        self.exclusive_here(table, timeout).await?;
        self.acquire_elsewhere(LockTarget::Table(table), None, timeout).await
    }
    /// Like [`HeldLocks::exclusive`], on this node only.
    pub(super) async fn exclusive_here(&self, table: Oid, timeout: Option<Duration>) -> Result<()> {
        self.acquire_here(LockTarget::Change(table), LockMode::Exclusive, timeout).await?;
        self.acquire_here(LockTarget::Table(table), LockMode::Exclusive, timeout).await
    }
    /// The row that a transaction with locks on other nodes requires to be unchanged. `None` with a single node.
    /// Errors: 40001 if the others have given up this node and its locks.
    pub async fn fence(&self) -> Result<Option<Bytes>> {
        let Some(nodes) = self.locks.nodes.get().and_then(Weak::upgrade) else { return Ok(None) };
        let fence = nodes.fence().await?;
        if self.fences.lock().iter().any(|taken| *taken != fence) {
            let message = "the locks of this transaction were lost: the server gave no sign of life";
            return Err(SqlError::new(state::SERIALIZATION_FAILURE, message));
        }
        Ok(Some(fence))
    }
}

impl Drop for HeldLocks {
    fn drop(&mut self) {
        if *self.asked.get_mut() {
            self.locks.release(self.owner);
        }
    }
}
