//! [`SimEnv`]: an [`Env`] in which everything follows from a seed. It has a virtual clock, seeded randomness, and
//! tasks that take turns on one thread in an order drawn from the seed.
//!
//! Threads ([`Env::spawn_thread`]) are real and therefore outside the simulation. Engines under simulation use none.

use crate::env::{BoxFuture, Env};
use futures::task::{ArcWake, waker};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The start of the virtual wall clock, in microseconds: 2026-01-01 00:00:00 UTC.
const START_MICROS: u64 = 1_767_225_600_000_000;

/// A deterministic environment. Time and tasks advance only inside [`SimEnv::block_on`].
pub struct SimEnv {
    state: Mutex<State>,
    offset_micros: AtomicU64,
    this: Weak<SimEnv>,
}

struct State {
    random: u64,
    elapsed: Duration,
    next_task: u64,
    next_timer: u64,
    ready: Vec<Arc<Task>>,
    timers: BTreeMap<(Duration, u64), Arc<Timer>>,
}

struct Task {
    id: u64,
    name: &'static str,
    queued: AtomicBool,
    future: Mutex<Option<BoxFuture<'static, ()>>>,
    env: Weak<SimEnv>,
}

impl ArcWake for Task {
    fn wake_by_ref(task: &Arc<Self>) {
        if !task.queued.swap(true, Ordering::AcqRel)
            && let Some(env) = task.env.upgrade()
        {
            env.state.lock().ready.push(task.clone());
        }
    }
}

#[derive(Default)]
struct Timer {
    fired: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

struct Sleep {
    env: Weak<SimEnv>,
    duration: Duration,
    timer: Option<(Duration, u64, Arc<Timer>)>,
}

impl Future for Sleep {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(env) = self.env.upgrade() else {
            return Poll::Ready(());
        };
        if let Some((_, _, timer)) = &self.timer {
            if timer.fired.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            *timer.waker.lock() = Some(context.waker().clone());
            return Poll::Pending;
        }
        let timer = Arc::new(Timer { fired: AtomicBool::new(false), waker: Mutex::new(Some(context.waker().clone())) });
        let mut state = env.state.lock();
        let key = (state.elapsed + self.duration, state.next_timer);
        state.next_timer += 1;
        state.timers.insert(key, timer.clone());
        drop(state);
        self.timer = Some((key.0, key.1, timer));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let (Some(env), Some((at, number, _))) = (self.env.upgrade(), &self.timer) {
            env.state.lock().timers.remove(&(*at, *number));
        }
    }
}

/// The error of [`SimEnv::block_on`]: the future has not ended, but no task can run and no timer is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

impl SimEnv {
    /// An environment that follows from `seed`.
    pub fn new(seed: u64) -> Arc<SimEnv> {
        Arc::new_cyclic(|this| SimEnv {
            state: Mutex::new(State {
                random: seed,
                elapsed: Duration::ZERO,
                next_task: 0,
                next_timer: 0,
                ready: Vec::new(),
                timers: BTreeMap::new(),
            }),
            offset_micros: AtomicU64::new(START_MICROS),
            this: this.clone(),
        })
    }

    /// Advances the virtual clocks without running anything.
    pub fn advance(&self, duration: Duration) {
        self.state.lock().elapsed += duration;
    }

    /// Makes the wall clock jump by `micros`, forwards or backwards. The monotonic clock does not change.
    pub fn jump_wall_clock(&self, micros: i64) {
        let offset = self.offset_micros.load(Ordering::Relaxed).saturating_add_signed(micros);
        self.offset_micros.store(offset, Ordering::Relaxed);
    }

    /// Runs `future`, and the tasks spawned meanwhile, until it ends. If no task can run, the clock jumps
    /// to the next timer.
    pub fn block_on<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Result<T, Stuck> {
        let result = Arc::new(Mutex::new(None));
        let slot = result.clone();
        self.spawn("block_on", Box::pin(async move { *slot.lock() = Some(future.await) }));
        loop {
            if let Some(value) = result.lock().take() {
                return Ok(value);
            }
            if !self.step() {
                return Err(Stuck);
            }
        }
    }

    /// Runs one task until it waits, or fires the next timer. False if there is neither.
    pub fn step(&self) -> bool {
        let choice = self.random();
        let mut state = self.state.lock();
        if state.ready.is_empty() {
            let Some((key, timer)) = state.timers.pop_first() else {
                return false;
            };
            state.elapsed = state.elapsed.max(key.0);
            drop(state);
            timer.fired.store(true, Ordering::Release);
            let waiting = timer.waker.lock().take();
            if let Some(waiting) = waiting {
                waiting.wake();
            }
            return true;
        }
        let chosen = (choice % state.ready.len() as u64) as usize;
        let task = state.ready.swap_remove(chosen);
        drop(state);
        task.queued.store(false, Ordering::Release);
        tracing::trace!(task = task.id, name = task.name, "simulated step");
        let waker = waker(task.clone());
        let mut slot = task.future.lock();
        if let Some(future) = slot.as_mut()
            && future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
        {
            *slot = None;
        }
        true
    }
}

impl Env for SimEnv {
    fn now_micros(&self) -> u64 {
        let elapsed = u64::try_from(self.state.lock().elapsed.as_micros()).unwrap_or(u64::MAX);
        self.offset_micros.load(Ordering::Relaxed).saturating_add(elapsed)
    }
    fn monotonic(&self) -> Duration {
        self.state.lock().elapsed
    }
    fn random(&self) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        let mut state = self.state.lock();
        state.random = state.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(Sleep { env: self.this.clone(), duration, timer: None })
    }
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>) {
        let mut state = self.state.lock();
        let id = state.next_task;
        state.next_task += 1;
        state.ready.push(Arc::new(Task {
            id,
            name,
            queued: AtomicBool::new(true),
            future: Mutex::new(Some(task)),
            env: self.this.clone(),
        }));
    }
    fn spawn_thread(&self, name: &'static str, work: Box<dyn FnOnce() + Send + 'static>) {
        if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(work) {
            tracing::error!(name, %error, "cannot start a thread");
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn order(seed: u64) -> Vec<u32> {
        let env = SimEnv::new(seed);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (inner, log) = (env.clone(), seen.clone());
        env.block_on(async move {
            for task in 0..8u32 {
                let (env, log) = (inner.clone(), log.clone());
                inner.spawn(
                    "task",
                    Box::pin(async move {
                        env.sleep(Duration::from_secs(1)).await;
                        log.lock().push(task);
                        env.sleep(Duration::from_secs(env.random() % 5)).await;
                        log.lock().push(task);
                    }),
                );
            }
            inner.sleep(Duration::from_secs(60)).await;
        })
        .unwrap();
        assert_eq!(env.monotonic(), Duration::from_secs(60));
        let seen = seen.lock().clone();
        assert_eq!(seen.len(), 16);
        seen
    }

    #[test]
    fn a_seed_decides_the_order_of_tasks() {
        assert_eq!(order(7), order(7));
        assert!((0..8).map(order).collect::<std::collections::BTreeSet<_>>().len() > 1);
    }

    #[test]
    fn a_future_that_cannot_end_is_reported() {
        assert_eq!(SimEnv::new(1).block_on(futures::future::pending::<()>()), Err(Stuck));
    }
}
