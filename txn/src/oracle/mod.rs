//! [`Oracle`]: the source of every timestamp. Strictly increasing microseconds; never handed out
//! twice, not even after a crash with the clock turned back.
//!
//! Percolator's timestamp oracle (paper, section 2.3) reserves ranges by writing their end to
//! stable storage. So does this one: the high-water mark lies in the store's meta area, is raised ahead
//! of need, and after a restart the first timestamp lies above it and above every commit that
//! was recovered. What the committer stamps is durable with the stamped cells themselves, so
//! [`TimestampSource::take`] need not wait for the mark; [`Oracle::timestamp`], whose results
//! may be shown to clients or lie in locks, does.

use crate::error::Result;
use crate::lease::NodeLease;
use crate::system;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Wake, Waker};
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
}

struct State {
    /// Last timestamp handed out.
    last: u64,
    /// Wall-clock reading that `base_monotonic` corresponds to.
    base_wall: u64,
    /// Monotonic reading, in microseconds, at `base_wall`.
    base_monotonic: u64,
    /// The durable high-water mark; `u64::MAX` while there is no store to keep one.
    reserved: u64,
}

/// Hands out timestamps.
pub struct Oracle {
    env: EnvRef,
    state: Mutex<State>,
    /// Weak, because the store holds the oracle.
    store: OnceLock<Weak<dyn Store>>,
    /// Where several nodes could open the store: what lets this one hand timestamps out.
    lease: OnceLock<Arc<NodeLease>>,
    renewing: AtomicBool,
    renewal: tokio::sync::Mutex<()>,
    this: Weak<Oracle>,
}

impl Oracle {
    /// An oracle without a durable mark yet: [`crate::TransactionStore::open`] attaches the store.
    pub fn new(env: EnvRef) -> Arc<Oracle> {
        let state = State {
            last: 0,
            base_wall: env.now_micros(),
            base_monotonic: env.monotonic().as_micros() as u64,
            reserved: u64::MAX,
        };
        Arc::new_cyclic(|this| Oracle {
            env,
            state: Mutex::new(state),
            store: OnceLock::new(),
            lease: OnceLock::new(),
            renewing: AtomicBool::new(false),
            renewal: tokio::sync::Mutex::new(()),
            this: this.clone(),
        })
    }

    /// Hands out timestamps only while `lease` is held. To be called before the store is attached.
    pub fn hold(&self, lease: Arc<NodeLease>) {
        // A second lease keeps the first.
        let _ = self.lease.set(lease);
    }

    /// Keeps the high-water mark in `store` from now on; timestamps start above the mark found
    /// there and above `recovered`, the greatest commit_ts of the store.
    pub(crate) async fn attach(&self, store: &StoreRef, recovered: Timestamp) -> Result<()> {
        let mark = system::load(store, system::HIGH_WATER).await?;
        let floor = mark.max(recovered);
        let wait = floor.0.saturating_sub(self.physical_now() + MAX_AHEAD_MICROS / 2);
        if wait <= MAX_AHEAD_MICROS / 2 {
            // Restarted at once: begin with room for a burst, not at the limit.
            self.env.sleep(std::time::Duration::from_micros(wait)).await;
        }
        {
            let mut state = self.state.lock();
            let now = self.physical(&mut state);
            if floor.0 > now + MAX_AHEAD_MICROS {
                // The clock was turned back while the server was down. Waiting could take hours:
                // the oracle's own clock goes on from where it was.
                tracing::warn!(behind_micros = floor.0 - now, "the system clock is behind the store's timestamps");
                state.base_wall = floor.0;
                state.base_monotonic = self.env.monotonic().as_micros() as u64;
            }
            state.last = state.last.max(floor.0);
            state.reserved = state.last;
        }
        // A second attach (the same oracle, the same store) keeps the first.
        let _ = self.store.set(Arc::downgrade(store));
        self.renew().await
    }

    /// The oracle's clock: the wall clock, but never backwards while the process lives.
    fn physical(&self, state: &mut State) -> u64 {
        let monotonic = self.env.monotonic().as_micros() as u64;
        let carried = state.base_wall + monotonic.saturating_sub(state.base_monotonic);
        let wall = self.env.now_micros();
        if wall > carried {
            state.base_wall = wall;
            state.base_monotonic = monotonic;
            return wall;
        }
        carried
    }

    /// The oracle's clock, in microseconds since the Unix epoch.
    pub fn physical_now(&self) -> u64 {
        self.physical(&mut self.state.lock())
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

    /// `count` consecutive timestamps, or how long to wait for them.
    fn try_take(&self, count: u64) -> std::result::Result<(OracleReading, bool), std::time::Duration> {
        let mut state = self.state.lock();
        let now = self.physical(&mut state);
        let first = now.max(state.last + 1);
        let last = first + count.max(1) - 1;
        // A request for more than a second's worth at once is served when the oracle is not ahead
        // already: it could never be served otherwise.
        let ahead = if count > MAX_AHEAD_MICROS { first } else { last };
        if ahead > now + MAX_AHEAD_MICROS {
            return Err(std::time::Duration::from_micros(ahead - now - MAX_AHEAD_MICROS));
        }
        state.last = last;
        let renew = last.saturating_add(RENEW_MICROS) > state.reserved;
        Ok((OracleReading { timestamp: Timestamp(first), physical_micros: now }, renew))
    }

    /// A new timestamp, durably above all those of earlier runs.
    pub async fn timestamp(&self) -> Result<OracleReading> {
        loop {
            // Before the timestamp is assigned: what was asked before this moment may be answered.
            self.lease.get().map_or(Ok(()), |lease| lease.check())?;
            match self.try_take(1) {
                Ok((reading, renew)) => {
                    if reading.timestamp.0 > self.state.lock().reserved {
                        self.renew().await?;
                    } else if renew {
                        self.renew_later();
                    }
                    return Ok(reading);
                }
                Err(wait) => self.env.sleep(wait).await,
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
                if let Err(error) = this.renew().await {
                    tracing::warn!(%error, "the oracle's high-water mark could not be raised");
                }
                this.renewing.store(false, Ordering::SeqCst);
            }),
        );
    }

    /// Raises the durable mark, when it needs it.
    async fn renew(&self) -> Result<()> {
        let Some(store) = self.store.get() else { return Ok(()) };
        let Some(store) = store.upgrade() else {
            return Err(StoreError::Unavailable("the store was closed".into()).into());
        };
        let _one_at_a_time = self.renewal.lock().await;
        let target = {
            let mut state = self.state.lock();
            let now = self.physical(&mut state);
            let needed = now.max(state.last);
            if needed + RENEW_MICROS <= state.reserved {
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
                Ok((reading, renew)) => {
                    if renew {
                        self.renew_later();
                    }
                    return reading.timestamp;
                }
                Err(wait) => block_on(self.env.sleep(wait)),
            }
        }
    }
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
