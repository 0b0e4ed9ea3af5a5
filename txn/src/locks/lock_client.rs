//! [`LockAgent`]: asks the node that keeps the locks of all nodes ([`super::lock_server`]) for this node's lockers. It has
//! a session there and sends a heartbeat each second. If the keeper is another node, or no longer knows the session,
//! it opens a new one and reclaims what its lockers hold.
//!
//! An answer counts only while the session is the same and its lease is valid. So a late answer of a former keeper
//! never grants a lock that is another's by now.
//!
//! A request whose answer was lost, or is not awaited any more, is abandoned. The agent releases what it may have
//! taken, and its number keeps a late copy from taking anything. A locker that has released something sends its next
//! request only after the release has arrived.

use super::call::{HeldLock, LockCall, LockReply, LockRequest, SeenLocks, Taken, WantedLock};
use super::lock_server::LEASE;
use super::locker::{Home, Locker, Lost};
use super::mode::{LockMode, LockName};
use super::registry::Registry;
use super::table::{LockFailure, LockWait};
use crate::oracle::Oracle;
use futures::future::{Either, select};
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::EnvRef;
use tokio::sync::{Notify, watch};

/// The longest interval between heartbeats.
const BEAT: Duration = Duration::from_secs(1);
/// How much sooner than the keeper the agent considers its lease over, because clocks run at different speeds.
const MARGIN: Duration = Duration::from_secs(1);
/// Time limit of one call that does not wait for locks, before the next is made.
const ATTEMPT: Duration = Duration::from_secs(1);
/// Pause between calls that fail.
const PAUSE: Duration = Duration::from_millis(20);
/// How long an agent waits for a keeper: longer than an election takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long COMMIT waits until it is certain that no lock was lost.
const CONFIRM: Duration = Duration::from_secs(10);
/// The most names in one request, and the most bytes of their tags.
const NAMES: usize = 1024;
const TAG_BYTES: usize = 256 << 10;

/// A session of this node at the keeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Session {
    tenure: u64,
    id: u64,
    /// Whether this node is the keeper. Its locks then end with its tenure, because no successor waits for
    /// it to reclaim them.
    own: bool,
}

#[derive(Default)]
struct State {
    registry: Registry,
    session: Option<Session>,
    /// Until when, by the monotonic clock, the held locks are certainly this node's.
    lease: Duration,
    /// The number of requests so far to open a session.
    attempts: u64,
    /// Whether there ever was a session.
    opened: bool,
    /// The number of the last release request in this session.
    releases: u64,
}

/// This node's side of the distributed locks. See the module documentation.
pub(crate) struct LockAgent {
    env: EnvRef,
    oracle: Arc<Oracle>,
    node: u64,
    next: AtomicU64,
    state: Mutex<State>,
    /// Counts the changes that waiting tasks look for: sessions, and arrived releases.
    changes: watch::Sender<u64>,
    /// Notified when there is something to release.
    outbox: Arc<Notify>,
    /// Notified when the session is over.
    over: Arc<Notify>,
    this: Weak<LockAgent>,
}

impl LockAgent {
    /// Starts an agent, which runs until its last handle is dropped. `node` identifies this node.
    pub(crate) fn start(oracle: Arc<Oracle>, env: EnvRef, node: u64) -> Arc<LockAgent> {
        let agent = Arc::new_cyclic(|this| LockAgent {
            env: env.clone(),
            oracle,
            node,
            next: AtomicU64::new(1),
            state: Mutex::default(),
            changes: watch::Sender::new(0),
            outbox: Arc::default(),
            over: Arc::default(),
            this: this.clone(),
        });
        env.spawn("lock-session", Box::pin(keep_session(agent.this.clone(), env.clone())));
        env.spawn("lock-releases", Box::pin(give_back(agent.this.clone(), env.clone())));
        agent
    }

    /// A new locker, which holds nothing.
    pub(crate) fn locker(self: &Arc<Self>, label: i32) -> Arc<Locker> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.state.lock().registry.enter(id, label);
        Locker::new(Home::Kept(self.clone()), id, label)
    }

    /// Whether the held locks, by `state`, are certainly this node's now.
    fn is_sure(&self, state: &State, now: Duration) -> bool {
        state.session.is_some_and(|session| !session.own || self.oracle.keeps_locks(session.tenure))
            && now < state.lease
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    fn sent(&self) {
        self.outbox.notify_one();
    }

    pub(super) fn release(&self, locker: u64, given_back: &[(LockName, LockMode)]) {
        if !given_back.is_empty() {
            self.state.lock().registry.release(locker, given_back);
            self.sent();
        }
    }

    pub(super) fn begin_row_locks(&self, locker: u64) {
        self.state.lock().registry.begin_row_locks(locker);
    }

    pub(super) fn end_row_locks(&self, locker: u64) {
        self.state.lock().registry.end_row_locks(locker);
        self.sent();
    }

    pub(super) fn forget(&self, locker: u64) {
        self.state.lock().registry.forget(locker);
        self.sent();
    }

    pub(super) fn has_lost(&self, locker: u64) -> bool {
        self.state.lock().registry.has_lost_named(locker)
    }

    /// Implements [`Locker::confirm`]: resolves once the locker certainly has all its locks.
    pub(super) async fn confirm(&self, locker: u64) -> Result<(), Lost> {
        let until = self.env.monotonic() + CONFIRM;
        loop {
            let mut changes = self.changes.subscribe();
            let now = self.env.monotonic();
            {
                let state = self.state.lock();
                if state.registry.has_lost(locker) {
                    return Err(Lost);
                }
                if !state.registry.holds_named(locker) || self.is_sure(&state, now) {
                    return Ok(());
                }
            }
            if now >= until {
                return Err(Lost);
            }
            select(pin!(changes.changed()), self.env.sleep((until - now).min(ATTEMPT))).await;
        }
    }

    /// Implements [`Locker::has_given_back`]: waits until the locker's releases have arrived.
    pub(super) async fn has_given_back(&self, locker: u64) {
        let until = self.env.monotonic() + ATTEMPT;
        loop {
            let mut changes = self.changes.subscribe();
            let now = self.env.monotonic();
            if self.state.lock().registry.is_clear(locker) || now >= until {
                return;
            }
            select(pin!(changes.changed()), self.env.sleep(until - now)).await;
        }
    }

    /// Takes names one after the other. Answers the results up to the first failure, and that failure. `note` is
    /// called for each newly held name as soon as it is known. If the future is dropped later, these stay held.
    pub(crate) async fn acquire(
        &self,
        locker: u64,
        names: Vec<WantedLock>,
        wait: LockWait,
        mut note: impl FnMut(&WantedLock),
    ) -> (Vec<Taken>, Option<LockFailure>) {
        let turn = self.state.lock().registry.turn(locker);
        let _turn = turn.lock().await;
        let mut taken = Vec::with_capacity(names.len());
        let mut rest = names.into_iter().peekable();
        while rest.peek().is_some() {
            let (mut chunk, mut bytes) = (Vec::new(), 0);
            while let Some(lock) = rest.next_if(|_| chunk.len() < NAMES && bytes < TAG_BYTES) {
                bytes += lock.tag.len();
                chunk.push(lock);
            }
            let held: Vec<bool> = {
                let state = self.state.lock();
                chunk.iter().map(|lock| state.registry.covers(locker, lock)).collect()
            };
            let missing: Vec<WantedLock> =
                chunk.into_iter().zip(&held).filter(|(_, held)| !**held).map(|(lock, _)| lock).collect();
            let (answers, failure) =
                if missing.is_empty() { (Vec::new(), None) } else { self.ask(locker, &missing, wait).await };
            // No await comes before this, so that no result gets lost.
            for (lock, _) in missing.iter().zip(&answers).filter(|(_, taken)| **taken == Taken::Newly) {
                note(lock);
            }
            let mut answers = answers.into_iter();
            for held in held {
                match if held { Some(Taken::Already) } else { answers.next() } {
                    Some(answer) => taken.push(answer),
                    None => break,
                }
            }
            if failure.is_some() {
                return (taken, failure);
            }
        }
        (taken, None)
    }

    /// Asks until there is an answer.
    async fn ask(&self, locker: u64, names: &[WantedLock], wait: LockWait) -> (Vec<Taken>, Option<LockFailure>) {
        let began = self.env.monotonic();
        let patience = match wait {
            LockWait::For(Some(timeout)) => timeout.min(PATIENCE),
            _ => PATIENCE,
        };
        // The time since when there has been no keeper.
        let mut without = began;
        loop {
            let mut changes = self.changes.subscribe();
            let now = self.env.monotonic();
            // Up to its lease, a keeper has certainly answered, however long this request waits in its queue.
            without = without.max(self.state.lock().lease);
            let waited = now.saturating_sub(began);
            let timed_out = matches!(wait, LockWait::For(Some(timeout)) if waited > timeout);
            if timed_out || now.saturating_sub(without) > patience {
                let failure = if timed_out { LockFailure::TimedOut } else { LockFailure::Unavailable };
                return (Vec::new(), Some(failure));
            }
            let wait = match wait {
                LockWait::For(Some(timeout)) => LockWait::For(Some(timeout.saturating_sub(waited))),
                wait => wait,
            };
            let Some((session, mut begun, request)) = self.begin(locker, names, wait) else {
                // Always a pause, because a wait of zero length would spin.
                select(pin!(changes.changed()), self.env.sleep(BEAT.min(patience).max(PAUSE))).await;
                continue;
            };
            let over = async {
                while self.state.lock().session == Some(session) {
                    let _ = changes.changed().await;
                }
            };
            let answer = match select(self.oracle.ask_for_locks(request), pin!(over)).await {
                Either::Left((answer, _)) => answer,
                Either::Right(_) => Err("the session is over".to_owned()),
            };
            if let Ok(LockReply::Taken { taken, .. }) = &answer
                && begun.end(taken)
                && let Ok(LockReply::Taken { taken, failure }) = answer
            {
                return (taken, failure);
            }
            drop(begun);
            match answer {
                Ok(LockReply::Unknown) => self.lose_session(session),
                Ok(_) => {
                    // The answer came after the lease had expired. The next heartbeat renews it.
                    without = self.env.monotonic();
                    self.env.sleep(PAUSE).await;
                }
                Err(why) => {
                    tracing::debug!(why, "asking for locks again");
                    self.oracle.look_soon();
                    self.env.sleep(PAUSE).await;
                }
            }
        }
    }

    /// Starts an acquisition, if there is a session and the locker's releases have arrived.
    fn begin<'a>(
        &'a self,
        locker: u64,
        names: &'a [WantedLock],
        wait: LockWait,
    ) -> Option<(Session, Begun<'a>, LockRequest)> {
        let mut state = self.state.lock();
        let session = state.session?;
        if !state.registry.is_clear(locker) {
            return None;
        }
        let (number, label, looked_for) = state.registry.begin(locker);
        let names_of = names.to_vec();
        let call = super::call::AcquireCall { number, locker, label, looked_for, wait, names: names_of };
        let begun = Begun { agent: self, session, number, locker, names, over: false };
        Some((
            session,
            begun,
            LockRequest { tenure: session.tenure, session: session.id, call: LockCall::Acquire(call) },
        ))
    }

    fn lose_session(&self, session: Session) {
        let mut state = self.state.lock();
        if state.session == Some(session) {
            state.session = None;
            drop(state);
            self.changed();
            self.over.notify_one();
        }
    }

    /// The holders and waiters of locks, on all nodes. Errors are messages: the keeper does not answer.
    pub(crate) async fn seen(&self) -> Result<SeenLocks, String> {
        let until = self.env.monotonic() + PATIENCE;
        loop {
            let why = match self.oracle.lock_tenure() {
                Some(tenure) => match self.attempt(LockRequest { tenure, session: 0, call: LockCall::Look }).await {
                    Ok(LockReply::Seen(seen)) => return Ok(seen.by_clock(self.env.monotonic())),
                    Ok(_) => "it was not understood".to_owned(),
                    Err(why) => why,
                },
                None => "no node is the oracle yet".to_owned(),
            };
            if self.env.monotonic() >= until {
                return Err(why);
            }
            self.oracle.look_soon();
            self.env.sleep(PAUSE).await;
        }
    }

    /// Makes a call that does not wait for locks.
    async fn attempt(&self, request: LockRequest) -> Result<LockReply, String> {
        match select(self.oracle.ask_for_locks(request), self.env.sleep(ATTEMPT)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err("no answer in time".to_owned()),
        }
    }

    /// Sends a heartbeat, or opens a new session if there is none at the current keeper.
    async fn tend(&self) -> Result<(), String> {
        let tenure = self.oracle.lock_tenure().ok_or("no node is the oracle yet")?;
        let session = {
            let mut state = self.state.lock();
            match state.session {
                Some(session) if session.tenure == tenure => Some(session),
                _ => {
                    state.session = None;
                    None
                }
            }
        };
        let Some(session) = session else {
            self.changed();
            return self.open(tenure).await;
        };
        let sent = self.env.monotonic();
        let request = LockRequest { tenure, session: session.id, call: LockCall::Beat };
        match self.attempt(request).await? {
            LockReply::Done => {
                let mut state = self.state.lock();
                if state.session == Some(session) {
                    state.lease = sent + LEASE - MARGIN;
                }
                drop(state);
                self.changed();
                Ok(())
            }
            _ => {
                self.lose_session(session);
                self.open(tenure).await
            }
        }
    }

    async fn open(&self, tenure: u64) -> Result<(), String> {
        let (sent, own) = (self.env.monotonic(), self.oracle.keeps_locks(tenure));
        let (attempt, opened) = {
            let mut state = self.state.lock();
            state.attempts += 1;
            (state.attempts, state.opened)
        };
        let call = LockCall::Open { node: self.node, attempt };
        let LockReply::Opened(id) = self.attempt(LockRequest { tenure, session: 0, call }).await? else {
            return Err("no session was opened".to_owned());
        };
        let (locks, looked_for) = self.state.lock().registry.begin_reclaim();
        let mut chunks: Vec<Vec<HeldLock>> = locks.chunks(NAMES).map(<[HeldLock]>::to_vec).collect();
        if chunks.is_empty() {
            chunks.push(Vec::new());
        }
        let (count, mut looked_for, mut lost) = (chunks.len(), Some(looked_for), Vec::new());
        for (at, locks) in chunks.into_iter().enumerate() {
            let (looked_for, last) = (looked_for.take().unwrap_or_default(), at + 1 == count);
            if !opened {
                // The node never had a session, so no keeper waits for it to reclaim locks.
                break;
            }
            let call = LockCall::Reclaim { locks, looked_for, last };
            match self.attempt(LockRequest { tenure, session: id, call }).await? {
                LockReply::Lost(names) => lost.extend(names),
                _ => return Err("the session is over already".to_owned()),
            }
        }
        {
            let mut state = self.state.lock();
            state.registry.lose(&lost);
            state.session = Some(Session { tenure, id, own });
            (state.lease, state.opened, state.releases) = (sent + LEASE - MARGIN, true, 0);
        }
        if !lost.is_empty() {
            tracing::warn!(locks = lost.len(), "locks of this server were lost");
        }
        self.changed();
        self.sent();
        Ok(())
    }

    /// Implements [`crate::TransactionStore::give_locks_back`]: waits until all releases have arrived.
    pub(crate) async fn give_everything_back(&self) {
        let until = self.env.monotonic() + ATTEMPT;
        while self.env.monotonic() < until {
            match self.give_back_some().await {
                Ok(true) => {}
                Ok(false) => return,
                Err(_) => self.env.sleep(PAUSE).await,
            }
        }
    }

    /// Sends the oldest releases. Answers whether there were any.
    async fn give_back_some(&self) -> Result<bool, String> {
        let (session, number, (items, floor, given_back)) = {
            let mut state = self.state.lock();
            let Some(session) = state.session else { return Ok(false) };
            let Some(unsent) = state.registry.unsent() else { return Ok(false) };
            // A repeated request has a new number. If the earlier copy still arrives, the keeper ignores it.
            state.releases += 1;
            (session, state.releases, unsent)
        };
        let call = LockCall::Release { number, floor, given_back };
        match self.attempt(LockRequest { tenure: session.tenure, session: session.id, call }).await? {
            LockReply::Done => {
                let mut state = self.state.lock();
                if state.session == Some(session) {
                    state.registry.arrived(items);
                }
                drop(state);
                self.changed();
            }
            _ => self.lose_session(session),
        }
        Ok(true)
    }
}

/// An acquisition under way. If dropped before its end, it is abandoned.
struct Begun<'a> {
    agent: &'a LockAgent,
    session: Session,
    number: u64,
    locker: u64,
    names: &'a [WantedLock],
    over: bool,
}

impl Begun<'_> {
    /// Takes the answer. False if it no longer counts.
    fn end(&mut self, taken: &[Taken]) -> bool {
        let mut state = self.agent.state.lock();
        let counts = state.session == Some(self.session) && self.agent.is_sure(&state, self.agent.env.monotonic());
        if counts {
            state.registry.note(self.number, self.locker, self.names, taken);
            self.over = true;
        }
        drop(state);
        counts
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.over {
            let mut state = self.agent.state.lock();
            let open = state.session == Some(self.session);
            state.registry.abandon(self.number, self.locker, self.names, open);
            drop(state);
            self.agent.sent();
        }
    }
}

/// Sends heartbeats while the agent is in use.
async fn keep_session(agent: Weak<LockAgent>, env: EnvRef) {
    loop {
        let Some(some) = agent.upgrade() else { return };
        let Some(mut roles) = some.oracle.role_changes() else { return };
        let pause = match some.tend().await {
            Ok(()) => BEAT,
            Err(why) => {
                tracing::debug!(why, "no session at the node that keeps the locks");
                some.oracle.look_soon();
                PAUSE
            }
        };
        let over = some.over.clone();
        drop(some);
        let woken = async {
            select(pin!(roles.changed()), pin!(over.notified())).await;
        };
        select(pin!(woken), env.sleep(pause)).await;
    }
}

/// Sends releases while the agent is in use.
async fn give_back(agent: Weak<LockAgent>, env: EnvRef) {
    loop {
        let Some(some) = agent.upgrade() else { return };
        let pause = match some.give_back_some().await {
            Ok(true) => continue,
            Ok(false) => BEAT,
            Err(why) => {
                tracing::debug!(why, "giving locks back again");
                PAUSE
            }
        };
        let outbox = some.outbox.clone();
        drop(some);
        select(pin!(outbox.notified()), env.sleep(pause)).await;
    }
}
