//! [`Oracle`]: the source of every timestamp: strictly increasing microseconds, never handed out twice, not even
//! after a crash with the clock set back.
//!
//! It is Percolator's timestamp oracle (paper, section 2.3), which reserves ranges by writing their end to stable
//! storage. Here the high-water mark is in the store's meta area and is raised ahead of need. After a restart the
//! first timestamp lies above the mark and above every recovered commit.
//!
//! Cells that the committer stamps make their timestamps durable by themselves. So [`TimestampSource::take`] need not
//! wait for the mark. [`Oracle::timestamp`] must, because its results may be shown to clients or be in locks.
//!
//! If several nodes share a store, one of them hands out timestamps and the others ask it ([`Oracle::join`],
//! `election`, `asking`). One row (`lease`) names that node and bounds its timestamps. No node prefetches: with a
//! timestamp from before its request, a transaction could miss commits from before its start.

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

/// How far timestamps may lie ahead of the oracle's clock, in microseconds.
const MAX_AHEAD_MICROS: u64 = 1_000_000;
/// How far ahead of need the high-water mark is set, in microseconds. At most the clock's lead, so that a restart,
/// which begins above the mark, need not wait.
const RESERVE_MICROS: u64 = MAX_AHEAD_MICROS;
/// The mark is raised when less than this is left, in microseconds.
const RENEW_MICROS: u64 = RESERVE_MICROS / 2;

/// A timestamp, and the oracle's clock when it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OracleReading {
    /// A point in the order of all timestamps. It does not measure time.
    pub timestamp: Timestamp,
    /// The oracle's clock, in microseconds since the Unix epoch. Never goes backwards.
    pub physical_micros: u64,
    /// Whether there were locks that commits at snapshot level must look for, at a moment after the timestamp was
    /// assigned. Only where several nodes share the store.
    pub locked: bool,
}

/// Whether this process may hand out timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tenure {
    /// Always, because the store belongs to this process alone.
    Always,
    /// Until this moment of the monotonic clock, by its lease.
    Until(Duration),
    /// Not now: another node may, or none.
    Not,
}

struct State {
    /// The newest timestamp handed out or received.
    last: u64,
    clock: Clock,
    /// The durable high-water mark. `u64::MAX` while there is no store to keep one.
    reserved: u64,
    /// Under the same lock as `last`, so that no timestamp is handed out after the tenure ended.
    tenure: Tenure,
}

/// Why no timestamp can be taken now.
enum Refused {
    /// The oracle is as far ahead of its clock as allowed. The caller must wait this long.
    Ahead(Duration),
    /// The durable mark must be raised first.
    Mark,
    /// This node does not hand out timestamps.
    NotHere,
}

/// The source of timestamps. See the module documentation.
pub struct Oracle {
    env: EnvRef,
    state: Mutex<State>,
    /// Weak, because the store holds the oracle.
    store: OnceLock<Weak<dyn Store>>,
    /// Set where several nodes share the store.
    election: Option<Election>,
    /// The `locked` flag of the newest reading.
    locked: AtomicBool,
    renewing: AtomicBool,
    renewal: tokio::sync::Mutex<()>,
    this: Weak<Oracle>,
}

impl Oracle {
    /// An oracle for one process, without a durable mark yet. [`crate::TransactionStore::open`] attaches the store.
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

    /// Keeps the high-water mark in `store` from now on. Timestamps start above the mark found there and above
    /// `recovered`, the greatest commit_ts of the store.
    pub(crate) async fn attach(&self, store: &StoreRef, recovered: Timestamp) -> Result<()> {
        if self.election.is_some() {
            // The mark is in the row of the lease.
            return Ok(());
        }
        let mark = system::load(store, system::HIGH_WATER).await?;
        let floor = mark.max(recovered);
        let wait = floor.0.saturating_sub(self.physical_now() + MAX_AHEAD_MICROS / 2);
        if wait <= MAX_AHEAD_MICROS / 2 {
            // After a quick restart, begin with room for a burst instead of at the limit.
            self.env.sleep(Duration::from_micros(wait)).await;
        }
        {
            let mut state = self.state.lock();
            self.start_above(&mut state, floor.0);
            state.reserved = state.last;
        }
        // A second attach of the same oracle to the same store keeps the first.
        let _ = self.store.set(Arc::downgrade(store));
        self.renew(None).await
    }

    /// Makes every later timestamp greater than `floor`.
    fn start_above(&self, state: &mut State, floor: u64) {
        let now = state.clock.own(&*self.env);
        if floor > now + MAX_AHEAD_MICROS {
            // The clock was set back while the server was down, or another node's clock was ahead. Waiting could take
            // hours, so the oracle's own clock continues from where it was.
            tracing::warn!(behind_micros = floor - now, "the system clock is behind the store's timestamps");
            state.clock.set(&*self.env, floor);
        }
        state.last = state.last.max(floor);
    }

    /// The oracle's clock, in microseconds since the Unix epoch. On other nodes: its last answer plus the time since.
    /// That is ahead of the oracle only by the drift of the clocks.
    pub fn physical_now(&self) -> u64 {
        let mut state = self.state.lock();
        match state.tenure {
            Tenure::Not => state.clock.carried(&*self.env),
            Tenure::Always | Tenure::Until(_) => state.clock.own(&*self.env),
        }
    }

    /// Whether the newest timestamp came with locks to look for. A hint.
    pub(crate) fn saw_locks(&self) -> bool {
        self.locked.load(Ordering::Relaxed)
    }

    /// The newest timestamp handed out or received.
    pub fn last(&self) -> Timestamp {
        Timestamp(self.state.lock().last)
    }

    /// Makes every later timestamp greater than `ts`, which must not lie in the future.
    pub(crate) fn advance_to(&self, ts: Timestamp) {
        let mut state = self.state.lock();
        state.last = state.last.max(ts.0);
    }

    /// Takes `count` consecutive timestamps on this node. Also answers whether they lie below the durable mark, and
    /// whether that is near. Checking the lease and assigning the timestamps is one step under the lock.
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
        // A request for more than a second's worth is served if the oracle is not ahead already. Otherwise it
        // could never be served.
        let ahead = if count > MAX_AHEAD_MICROS { first } else { last };
        if ahead > now + MAX_AHEAD_MICROS {
            return Err(Refused::Ahead(Duration::from_micros(ahead - now - MAX_AHEAD_MICROS)));
        }
        if last > state.reserved && state.tenure != Tenure::Always {
            // Not even assigned, because a successor relies on the mark: all timestamps assigned here lie below it.
            return Err(Refused::Mark);
        }
        state.last = last;
        let near = last.saturating_add(RENEW_MICROS) > state.reserved;
        let locked = self.election.as_ref().is_some_and(|election| election.keeper.must_look());
        self.locked.store(locked, Ordering::Relaxed);
        let reading = OracleReading { timestamp: Timestamp(first), physical_micros: now, locked };
        Ok((reading, last <= state.reserved, near))
    }

    /// A new timestamp, durably above those of earlier runs. It is greater than every timestamp that any node had
    /// before this call. Errors: no oracle answered for half a minute.
    pub async fn timestamp(&self) -> Result<OracleReading> {
        match &self.election {
            None => self.take_here(1).await,
            Some(election) => self.ask(election).await,
        }
    }

    /// Takes `count` new timestamps from this process.
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

    /// Raises the durable mark if needed. `below`: the timestamp that must lie below the mark. A caller that wants
    /// only that waits for the sync under way, but not for another one.
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
                // An engine that stamps cells itself belongs to one process, so its oracle holds no lease.
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
                    // As in `take`: the stamped cells make the timestamp durable.
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
