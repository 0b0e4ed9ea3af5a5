//! [`LockKeeper`]: the locks of all nodes of a store, at the node that is the oracle. So queues are fair
//! among all nodes, and deadlocks are found at once. Each node has a session, which loses its locks after
//! [`LEASE`] without a heartbeat.
//!
//! When another node becomes the oracle, only the nodes themselves know what they hold. So a tenure begins
//! with a *grace*: nodes that may hold locks reclaim them. Nobody else gets a lock until all have done so or
//! their leases have expired.
//!
//! The row of the oracle's lease lists these nodes ([`LockKeeper::nodes_to_note`]). A node is listed before it
//! is granted anything, and removed before its locks are given to others. So of two nodes that claim one lock,
//! one is not listed.

use super::call::{AcquireCall, LockCall, LockReply, LockRequest, SeenLocks};
use super::kept::KeptSession;
use super::table::{LockFailure, LockTable, LockWait};
use futures::future::select;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::EnvRef;
use tokio::sync::Notify;

/// How long a session lives after its last heartbeat.
pub(crate) const LEASE: Duration = Duration::from_secs(5);
/// The interval of the check for silent sessions.
const LOOK: Duration = Duration::from_millis(250);
/// Sessions count as holders of locks until nothing was held or requested for this long.
const IDLE: Duration = Duration::from_secs(10);

/// The keeper of all locks. Every node makes one; it is active on the oracle's node.
pub(crate) struct LockKeeper {
    env: EnvRef,
    table: Arc<LockTable>,
    state: Mutex<State>,
    /// Whether a grace is under way.
    grace: AtomicBool,
    grace_over: Notify,
    this: Weak<LockKeeper>,
}

#[derive(Default)]
struct State {
    /// Zero if there is none.
    tenure: u64,
    grace: Option<Grace>,
    sessions: HashMap<u64, Arc<KeptSession>>,
    /// Ended sessions. Their locks become free when the row no longer lists their nodes.
    over: Vec<Arc<KeptSession>>,
    /// Ended sessions for which the row is being changed.
    leaving: Vec<Arc<KeptSession>>,
    /// Nodes that the row lists.
    noted: BTreeSet<u64>,
    /// Nodes that the row should list.
    wanted: BTreeSet<u64>,
    /// The time of the last request for locks.
    used: Duration,
}

impl State {
    /// Whether a node may still reclaim its locks.
    fn awaits(&self, node: u64) -> bool {
        self.grace.as_ref().is_some_and(|grace| !grace.ends && grace.awaited.contains(&node))
    }
}

struct Grace {
    until: Duration,
    /// Nodes that have not reclaimed everything.
    awaited: BTreeSet<u64>,
    /// Whether the row is being changed so that it no longer lists them.
    ends: bool,
}

impl LockKeeper {
    pub(crate) fn new(env: EnvRef) -> Arc<LockKeeper> {
        let table = LockTable::new(env.clone());
        Arc::new_cyclic(|this| LockKeeper {
            env,
            table,
            state: Mutex::default(),
            grace: AtomicBool::new(false),
            grace_over: Notify::new(),
            this: this.clone(),
        })
    }

    /// The table of locks, which is in use while this node is the oracle.
    pub(crate) fn table(&self) -> &Arc<LockTable> {
        &self.table
    }

    /// Begins a tenure of this node. `awaited`: the nodes that may hold locks, by the row.
    pub(crate) async fn begin(&self, tenure: u64, awaited: BTreeSet<u64>) {
        self.end().await;
        let now = self.env.monotonic();
        {
            let mut state = self.state.lock();
            let noted = awaited.clone();
            let grace = (!awaited.is_empty()).then(|| Grace { until: now + LEASE, awaited, ends: false });
            self.grace.store(grace.is_some(), Ordering::SeqCst);
            *state = State { tenure, grace, noted, used: now, ..State::default() };
        }
        let (weak, env) = (self.this.clone(), self.env.clone());
        let watch = async move {
            loop {
                env.sleep(LOOK).await;
                let Some(keeper) = weak.upgrade() else { return };
                let mut state = keeper.state.lock();
                if state.tenure != tenure {
                    return;
                }
                let silent: Vec<_> = state.sessions.extract_if(|_, session| session.silence() > LEASE).collect();
                for (_, session) in silent {
                    tracing::warn!(
                        node = session.node,
                        "a server gives no sign of life: its locks are given to others"
                    );
                    state.over.push(session);
                }
            }
        };
        self.env.spawn("lock-keeper", Box::pin(watch));
    }

    /// Ends the tenure, with all locks that are kept here.
    pub(crate) async fn end(&self) {
        let State { sessions, over, leaving, .. } = std::mem::take(&mut *self.state.lock());
        self.grace.store(false, Ordering::SeqCst);
        self.grace_over.notify_waiters();
        for session in sessions.into_values().chain(over).chain(leaving) {
            session.end().await;
        }
    }

    fn end_grace(&self, state: &mut State) {
        state.grace = None;
        self.grace.store(false, Ordering::SeqCst);
        self.grace_over.notify_waiters();
    }

    /// Whether commits at snapshot level must look for locks. It is set before the first such lock is granted.
    /// A commit that finds it unset after its commit_ts was assigned has prewritten its locks. So every later
    /// lock holder meets them.
    pub(crate) fn must_look(&self) -> bool {
        self.grace.load(Ordering::SeqCst) || self.table.has_row_lockers()
    }

    /// The nodes that the row of the lease must list. Until [`LockKeeper::noted`] is called, no other node
    /// may be granted locks.
    pub(crate) fn nodes_to_note(&self) -> BTreeSet<u64> {
        let mut state = self.state.lock();
        let state = &mut *state;
        if self.env.monotonic().saturating_sub(state.used) > IDLE && self.table.held() == 0 {
            state.sessions.values().for_each(|session| session.holds.store(false, Ordering::SeqCst));
        }
        state.leaving.append(&mut state.over);
        let holders = state.sessions.values().filter(|session| session.holds.load(Ordering::SeqCst));
        let mut nodes: BTreeSet<u64> = holders.map(|session| session.node).collect();
        nodes.extend(&state.wanted);
        if let Some(grace) = &mut state.grace {
            grace.ends |= self.env.monotonic() >= grace.until;
            if !grace.ends {
                nodes.extend(&grace.awaited);
            }
        }
        state.noted.retain(|node| nodes.contains(node));
        nodes
    }

    /// Notes that the row now lists exactly these nodes.
    pub(crate) async fn noted(&self, nodes: BTreeSet<u64>) {
        let left = {
            let mut state = self.state.lock();
            state.wanted.retain(|node| !nodes.contains(node));
            state.noted = nodes;
            if state.grace.as_ref().is_some_and(|grace| grace.ends) {
                self.end_grace(&mut state);
            }
            std::mem::take(&mut state.leaving)
        };
        for session in left {
            session.end().await;
        }
    }

    /// Whether a session may be granted locks. If not, the row must list its node first.
    pub(crate) fn admits(&self, request: &LockRequest) -> bool {
        if !matches!(request.call, LockCall::Acquire(_) | LockCall::Reclaim { .. }) {
            return true;
        }
        let mut state = self.state.lock();
        state.used = self.env.monotonic();
        let Some(session) = state.sessions.get(&request.session).cloned() else { return true };
        // The locks of the keeper's own node end with it.
        if session.own {
            return true;
        }
        let is_reclaim = matches!(request.call, LockCall::Reclaim { .. });
        if is_reclaim && !state.awaits(session.node) {
            // The node will be told that all its locks are lost. If the next keeper starts before the node hears
            // that, it must not wait for the node: others may have had these locks meanwhile.
            return true;
        }
        if state.noted.contains(&session.node) {
            session.holds.store(true, Ordering::SeqCst);
            return true;
        }
        state.wanted.insert(session.node);
        false
    }

    /// Answers a node. `own`: it is this node. If dropped, it stops waiting for locks. Errors are messages:
    /// the request came late.
    pub(crate) async fn serve(&self, request: LockRequest, own: bool) -> Result<LockReply, String> {
        let found = {
            let state = self.state.lock();
            if state.tenure != request.tenure {
                return Err("this node does not keep the locks".to_owned());
            }
            state.sessions.get(&request.session).cloned()
        };
        if let Some(session) = &found {
            session.hear();
        }
        let session = match (request.call, found) {
            (LockCall::Look, _) => return Ok(LockReply::Seen(self.seen())),
            (LockCall::Open { node, attempt }, _) => return self.open(node, attempt, own).await,
            (_, None) => return Ok(LockReply::Unknown),
            (LockCall::Beat, Some(_)) => return Ok(LockReply::Done),
            (LockCall::Release { number, floor, given_back }, Some(session)) => {
                session.release(number, floor, given_back).await;
                return Ok(LockReply::Done);
            }
            (LockCall::Reclaim { locks, looked_for, last }, Some(session)) => {
                let names = locks.iter().map(|held| (held.locker, held.lock.name)).collect();
                let lost = match self.may_reclaim(&session) {
                    true => session.reclaim(locks, looked_for).await,
                    false => names,
                };
                if last {
                    self.reclaimed(&session);
                }
                return Ok(LockReply::Lost(lost));
            }
            (LockCall::Acquire(call), Some(session)) => (session, call),
        };
        let (session, call) = session;
        self.acquire(&session, call).await
    }

    /// Opens a session that replaces the node's earlier ones.
    async fn open(&self, node: u64, attempt: u64, own: bool) -> Result<LockReply, String> {
        let id = self.env.random().max(1);
        let (older, awaited): (Vec<Arc<KeptSession>>, bool) = {
            let mut state = self.state.lock();
            if state.sessions.values().any(|session| session.node == node && session.attempt >= attempt) {
                return Err("the request came late".to_owned());
            }
            let older = state.sessions.extract_if(|_, session| session.node == node).map(|(_, session)| session);
            (older.collect(), state.awaits(node))
        };
        // The locks of replaced sessions become free when the row no longer lists the node. Until then the node may
        // not know that it lost them, and may reclaim them at the next keeper. But a node that is reclaiming starts
        // again with all of its locks, and nobody gets them before.
        let (held, idle): (Vec<_>, Vec<_>) =
            older.into_iter().partition(|session| session.holds.load(Ordering::SeqCst) && !session.own && !awaited);
        self.state.lock().over.extend(held);
        for session in idle {
            session.end().await;
        }
        self.state.lock().sessions.insert(id, KeptSession::new(self.table.clone(), node, attempt, own));
        Ok(LockReply::Opened(id))
    }

    async fn acquire(&self, session: &KeptSession, call: AcquireCall) -> Result<LockReply, String> {
        let wait = call.wait;
        match session.acquire(call, self.after_grace(wait)).await {
            Ok((taken, failure)) => Ok(LockReply::Taken { taken, failure }),
            Err(_) => Err("the request came late".to_owned()),
        }
    }

    /// Whether the session may reclaim locks: its node is awaited, and nobody else is granted locks yet.
    fn may_reclaim(&self, session: &KeptSession) -> bool {
        self.state.lock().awaits(session.node)
    }

    fn reclaimed(&self, session: &KeptSession) {
        let mut state = self.state.lock();
        // A session that was replaced has no locks any more.
        if !state.sessions.values().any(|open| std::ptr::eq(Arc::as_ptr(open), session)) {
            return;
        }
        let Some(grace) = &mut state.grace else { return };
        grace.awaited.remove(&session.node);
        if grace.awaited.is_empty() {
            self.end_grace(&mut state);
        }
    }

    /// Resolves when the grace is over, with the rest of the wait. A caller that does not want to wait must wait for
    /// this too, because before it nobody knows what is held.
    async fn after_grace(&self, wait: LockWait) -> Result<LockWait, LockFailure> {
        let began = self.env.monotonic();
        loop {
            let over = self.grace_over.notified();
            let waited = self.env.monotonic().saturating_sub(began);
            if !self.grace.load(Ordering::SeqCst) {
                return Ok(match wait {
                    LockWait::For(Some(timeout)) => LockWait::For(Some(timeout.saturating_sub(waited))),
                    wait => wait,
                });
            }
            let left = match wait {
                LockWait::For(Some(timeout)) => timeout.saturating_sub(waited).min(LOOK),
                _ => LOOK,
            };
            if left.is_zero() {
                return Err(LockFailure::TimedOut);
            }
            select(pin!(over), self.env.sleep(left)).await;
        }
    }

    fn seen(&self) -> SeenLocks {
        self.table.seen()
    }
}
