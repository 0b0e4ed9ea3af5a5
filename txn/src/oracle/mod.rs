//! [`Oracle`]: the source of every timestamp. Strictly increasing microseconds; never handed out
//! twice, not even after a crash with the clock turned back.
//!
//! Percolator's timestamp oracle (paper, section 2.3) reserves ranges by writing their end to
//! stable storage. So does this one: the high-water mark lies in the store's meta area, is raised ahead
//! of need, and after a restart the first timestamp lies above it and above every commit that
//! was recovered. What the committer stamps is durable with the stamped cells themselves, so
//! [`TimestampSource::take`] need not wait for the mark; [`Oracle::timestamp`], whose results
//! may be shown to clients or lie in locks, does.
//!
//! Where several nodes share a store, one of them hands timestamps out and the others ask it: [`Oracle::join`],
//! `election`, `asking`. Who it is, and how far it may go, lies in one row: `lease`. None of them prefetches: a
//! timestamp from before the request would let a transaction miss what was committed before it began.

mod asking;
mod clock;
mod election;
mod keeping;
mod lease;

pub use asking::{OracleRequest, OracleTransport};
pub use election::OracleNode;

use crate::error::{Result, TxnError};
use crate::system;
use clock::Clock;
use election::Election;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Wake, Waker};
use std::time::Duration;
use storage::{BoxFuture, EnvRef, Store, StoreError, StoreRef, Timestamp, TimestampSource};

/// Timestamps are never further ahead of the oracle's clock than this: microseconds.
const MAX_AHEAD_MICROS: u64 = 1_000_000;
/// How far ahead of need the high-water mark is put: microseconds. Not more than the clock's
/// lead, so that a restart, which begins above the mark, need not wait.
const RESERVE_MICROS: u64 = MAX_AHEAD_MICROS;
/// The mark is raised when less than this is left: microseconds.
const RENEW_MICROS: u64 = RESERVE_MICROS / 2;

/// A timestamp and when it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OracleReading {
    /// Orders; does not measure.
    pub timestamp: Timestamp,
    /// Measures: the oracle's clock, microseconds since the Unix epoch. Never goes backwards.
    pub physical_micros: u64,
    /// Whether, at a moment after the timestamp was assigned, somebody held locks of several nodes that commits at snapshot
    /// level must look for.
    pub locked: bool,
}

/// Whether this process may hand timestamps out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tenure {
    /// Nobody else could: the store is its own.
    Always,
    /// Until this moment of the monotonic clock: by its lease.
    Until(Duration),
    /// Another node does, or nobody.
    Not,
}

struct State {
    /// Newest timestamp handed out, or received.
    last: u64,
    clock: Clock,
    /// The durable high-water mark; `u64::MAX` while there is no store to keep one.
    reserved: u64,
    /// Under the same lock as `last`: none is handed out after a look at what was handed out last.
    tenure: Tenure,
}

/// Why no timestamp can be had at this moment.
enum Refused {
    /// The oracle is as far ahead of its clock as it may be: wait so long.
    Ahead(Duration),
    /// The durable mark must be raised first.
    Mark,
    /// Not here.
    NotHere,
}

/// Hands out timestamps.
pub struct Oracle {
    env: EnvRef,
    state: Mutex<State>,
    /// Weak, because the store holds the oracle.
    store: OnceLock<Weak<dyn Store>>,
    /// Where several nodes share the store.
    election: Option<Election>,
    /// What the newest timestamp told of locks.
    locked: AtomicBool,
    renewing: AtomicBool,
    renewal: tokio::sync::Mutex<()>,
    this: Weak<Oracle>,
}

impl Oracle {
    /// An oracle of its own, without a durable mark yet: [`crate::TransactionStore::open`] attaches the store.
    pub fn new(env: EnvRef) -> Arc<Oracle> {
        let clock = Clock::showing(&*env, env.now_micros());
        Oracle::with(env, State { last: 0, clock, reserved: u64::MAX, tenure: Tenure::Always }, None)
    }

    fn with(env: EnvRef, state: State, election: Option<Election>) -> Arc<Oracle> {
        Arc::new_cyclic(|this| Oracle {
            env,
            state: Mutex::new(state),
            store: OnceLock::new(),
            election,
            locked: AtomicBool::new(false),
            renewing: AtomicBool::new(false),
            renewal: tokio::sync::Mutex::new(()),
            this: this.clone(),
        })
    }

    /// Keeps the high-water mark in `store` from now on; timestamps start above the mark found
    /// there and above `recovered`, the greatest commit_ts of the store.
    pub(crate) async fn attach(&self, store: &StoreRef, recovered: Timestamp) -> Result<()> {
        if self.election.is_some() {
            // The mark lies in the row of the lease.
            return Ok(());
        }
        let mark = system::load(store, system::HIGH_WATER).await?;
        let floor = mark.max(recovered);
        let wait = floor.0.saturating_sub(self.physical_now() + MAX_AHEAD_MICROS / 2);
        if wait <= MAX_AHEAD_MICROS / 2 {
            // Restarted at once: begin with room for a burst, not at the limit.
            self.env.sleep(Duration::from_micros(wait)).await;
        }
        {
            let mut state = self.state.lock();
            self.start_above(&mut state, floor.0);
            state.reserved = state.last;
        }
        // A second attach (the same oracle, the same store) keeps the first.
        let _ = self.store.set(Arc::downgrade(store));
        self.renew(None).await
    }

    /// Every later timestamp is greater than `floor`.
    fn start_above(&self, state: &mut State, floor: u64) {
        let now = state.clock.own(&*self.env);
        if floor > now + MAX_AHEAD_MICROS {
            // The clock was turned back while the server was down, or another node's was ahead. Waiting could
            // take hours: the oracle's own clock goes on from where it was.
            tracing::warn!(behind_micros = floor - now, "the system clock is behind the store's timestamps");
            state.clock.set(&*self.env, floor);
        }
        state.last = state.last.max(floor);
    }

    /// The oracle's clock, in microseconds since the Unix epoch; where another node is the oracle, what it told
    /// last and the time since: never ahead of it but for what clocks drift apart meanwhile.
    pub fn physical_now(&self) -> u64 {
        let mut state = self.state.lock();
        match state.tenure {
            Tenure::Not => state.clock.carried(&*self.env),
            Tenure::Always | Tenure::Until(_) => state.clock.own(&*self.env),
        }
    }

    /// Whether locks were to be looked for when the newest timestamp was taken: a hint.
    pub(crate) fn saw_locks(&self) -> bool {
        self.locked.load(Ordering::Relaxed)
    }

    /// The newest timestamp handed out.
    pub fn last(&self) -> Timestamp {
        Timestamp(self.state.lock().last)
    }

    /// Makes every later timestamp greater than `ts`, which must not lie in the future.
    pub(crate) fn advance_to(&self, ts: Timestamp) {
        let mut state = self.state.lock();
        state.last = state.last.max(ts.0);
    }

    /// `count` consecutive timestamps from here, whether they lie below the durable mark, and whether that is near.
    /// A single step of the lock: the lease is checked, then they are assigned.
    fn try_take(&self, count: u64) -> std::result::Result<(OracleReading, bool, bool), Refused> {
        let mut state = self.state.lock();
        let state = &mut *state;
        match state.tenure {
            Tenure::Always => {}
            Tenure::Until(end) if self.env.monotonic() < end => {}
            Tenure::Until(_) | Tenure::Not => return Err(Refused::NotHere),
        }
        let now = state.clock.own(&*self.env);
        let first = now.max(state.last + 1);
        let last = first + count.max(1) - 1;
        // A request for more than a second's worth at once is served when the oracle is not ahead
        // already: it could never be served otherwise.
        let ahead = if count > MAX_AHEAD_MICROS { first } else { last };
        if ahead > now + MAX_AHEAD_MICROS {
            return Err(Refused::Ahead(Duration::from_micros(ahead - now - MAX_AHEAD_MICROS)));
        }
        if last > state.reserved && state.tenure != Tenure::Always {
            // Not even assigned: what this node knows of as assigned lies below the mark that a successor finds.
            return Err(Refused::Mark);
        }
        state.last = last;
        let near = last.saturating_add(RENEW_MICROS) > state.reserved;
        let locked = self.election.as_ref().is_some_and(|election| election.keeper.must_look());
        self.locked.store(locked, Ordering::Relaxed);
        let reading = OracleReading { timestamp: Timestamp(first), physical_micros: now, locked };
        Ok((reading, last <= state.reserved, near))
    }

    /// A new timestamp, durably above all those of earlier runs and greater than every one that any node had before
    /// this call. Errors: nobody could be asked for half a minute.
    pub async fn timestamp(&self) -> Result<OracleReading> {
        match &self.election {
            None => self.take_here(1).await,
            Some(election) => self.ask(election).await,
        }
    }

    /// `count` new timestamps from this process.
    async fn take_here(&self, count: u64) -> Result<OracleReading> {
        loop {
            match self.try_take(count) {
                Ok((reading, durable, near)) => {
                    if !durable {
                        self.renew(Some(reading.timestamp.0 + count.max(1) - 1)).await?;
                    } else if near {
                        self.renew_later();
                    }
                    return Ok(reading);
                }
                Err(Refused::Ahead(wait)) => self.env.sleep(wait).await,
                Err(Refused::Mark) => self.renew(None).await?,
                Err(Refused::NotHere) => {
                    return Err(unavailable("this node hands out no timestamps"));
                }
            }
        }
    }

    fn renew_later(&self) {
        let Some(this) = self.this.upgrade() else { return };
        if self.store.get().is_none() || self.renewing.swap(true, Ordering::SeqCst) {
            return;
        }
        self.env.clone().spawn(
            "oracle-reserve",
            Box::pin(async move {
                if let Err(error) = this.renew(None).await {
                    tracing::warn!(%error, "the oracle's high-water mark could not be raised");
                }
                this.renewing.store(false, Ordering::SeqCst);
            }),
        );
    }

    /// Raises the durable mark, when it needs it. `below`: what has to lie below the mark. A caller that only wants that waits for
    /// the sync under way, and not for another one, however long the first took.
    async fn renew(&self, below: Option<u64>) -> Result<()> {
        if let Some(election) = &self.election {
            return self.renew_lease(election).await;
        }
        let Some(store) = self.store.get() else { return Ok(()) };
        let Some(store) = store.upgrade() else {
            return Err(unavailable("the store was closed"));
        };
        let _one_at_a_time = self.renewal.lock().await;
        let target = {
            let mut state = self.state.lock();
            let now = state.clock.own(&*self.env);
            let needed = now.max(state.last);
            if needed + RENEW_MICROS <= state.reserved || below.is_some_and(|below| below <= state.reserved) {
                return Ok(());
            }
            needed + RESERVE_MICROS
        };
        system::save(&store, system::HIGH_WATER, Timestamp(target)).await?;
        let mut state = self.state.lock();
        state.reserved = state.reserved.max(target);
        Ok(())
    }
}

impl TimestampSource for Oracle {
    fn take(&self, count: u64) -> Timestamp {
        loop {
            match self.try_take(count) {
                Ok((reading, _, near)) => {
                    if near {
                        self.renew_later();
                    }
                    return reading.timestamp;
                }
                Err(Refused::Ahead(wait)) => block_on(self.env.sleep(wait)),
                // An engine that stamps by itself is nobody else's, and its oracle holds no lease.
                Err(Refused::NotHere | Refused::Mark) => block_on(self.env.sleep(Duration::from_secs(1))),
            }
        }
    }

    fn take_at(&self, at: Timestamp) -> bool {
        loop {
            let wait = {
                let mut state = self.state.lock();
                if at.0 <= state.last {
                    return false;
                }
                let latest = state.clock.own(&*self.env) + MAX_AHEAD_MICROS;
                if at.0 <= latest {
                    // As in `take`: what is stamped is durable with its cells.
                    state.last = at.0;
                    break;
                }
                Duration::from_micros(at.0 - latest)
            };
            block_on(self.env.sleep(wait));
        }
        self.renew_later();
        true
    }
}

fn unavailable(why: &str) -> TxnError {
    StoreError::Unavailable(why.to_owned()).into()
}

/// Waits for `future` on this thread, which has no executor of its own (the committer's).
fn block_on(mut future: BoxFuture<'static, ()>) {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    while future.as_mut().poll(&mut context).is_pending() {
        std::thread::park();
    }
}
