//! Actors, and who is polled next. Deterministic: a run follows from its list of choices.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use storage::{BoxFuture, Env};

/// Requests in flight belong to no node.
pub(super) const NETWORK: usize = usize::MAX;

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Actor {
    node: usize,
    future: BoxFuture<'static, ()>,
    woken: Arc<Flag>,
}

/// Where new actors are put until the scheduler takes them up.
#[derive(Clone, Default)]
pub(super) struct Spawner(Arc<Mutex<VecDeque<(usize, BoxFuture<'static, ()>)>>>);

impl Spawner {
    pub(super) fn spawn(&self, node: usize, future: BoxFuture<'static, ()>) {
        self.0.lock().push_back((node, future));
    }
}

/// Time stands still, but for sleeps and for ticks.
#[derive(Clone)]
pub(super) struct Clock {
    now: Arc<AtomicU64>,
    tick: u64,
}

impl Clock {
    /// A clock that moves by `tick` microseconds whenever it is read.
    pub(super) fn new(tick: u64) -> Self {
        Clock { now: Arc::new(AtomicU64::new(1_000_000)), tick }
    }
    pub(super) fn advance(&self, duration: Duration) {
        self.now.fetch_add(duration.as_micros() as u64, Ordering::SeqCst);
    }
}

/// The environment of one node.
pub(super) struct NodeEnv {
    pub(super) node: usize,
    pub(super) clock: Clock,
    pub(super) spawner: Spawner,
}

impl Env for NodeEnv {
    fn now_micros(&self) -> u64 {
        self.clock.now.fetch_add(self.clock.tick, Ordering::SeqCst)
    }
    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.clock.now.load(Ordering::SeqCst))
    }
    fn random(&self) -> u64 {
        7
    }
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.clock.advance(duration);
        Box::pin(yield_now())
    }
    fn spawn(&self, _name: &'static str, task: BoxFuture<'static, ()>) {
        self.spawner.spawn(self.node, task);
    }
    fn spawn_thread(&self, _name: &'static str, _work: Box<dyn FnOnce() + Send + 'static>) {
        panic!("the explorer has no threads");
    }
}

/// Pending once, and woken at once: a step ends here.
pub(super) fn yield_now() -> impl Future<Output = ()> + Send {
    struct YieldNow(bool);
    impl Future for YieldNow {
        type Output = ();
        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            if std::mem::replace(&mut self.0, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }
    }
    YieldNow(false)
}

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Poll this actor.
    Poll(usize),
    /// This node dies.
    Crash(usize),
}

/// The actors of one run.
pub(super) struct Scheduler {
    actors: Vec<Option<Actor>>,
    current: usize,
    spawner: Spawner,
    /// Steps so far.
    pub(super) steps: u64,
}

impl Scheduler {
    pub(super) fn new(spawner: Spawner) -> Self {
        Scheduler { actors: Vec::new(), current: 0, spawner, steps: 0 }
    }

    /// A new actor of a node.
    pub(super) fn spawn(&self, node: usize, future: BoxFuture<'static, ()>) {
        self.spawner.spawn(node, future);
    }

    fn adopt(&mut self) {
        for (node, future) in self.spawner.0.lock().drain(..) {
            let woken = Arc::new(Flag(AtomicBool::new(true)));
            self.actors.push(Some(Actor { node, future, woken }));
        }
    }

    /// What may be polled, the default first: who was polled last, then the newest.
    pub(super) fn options(&mut self) -> Vec<Step> {
        self.adopt();
        let is_ready =
            |at: &usize| matches!(self.actors.get(*at), Some(Some(actor)) if actor.woken.0.load(Ordering::SeqCst));
        let current = Some(self.current).filter(is_ready);
        let others = (0..self.actors.len()).rev().filter(|at| Some(*at) != current).filter(is_ready);
        current.into_iter().chain(others).map(Step::Poll).collect()
    }

    /// Polls one actor.
    pub(super) fn poll(&mut self, at: usize) {
        self.steps += 1;
        self.current = at;
        let Some(Some(actor)) = self.actors.get_mut(at) else { return };
        actor.woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(actor.woken.clone());
        if actor.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            self.actors[at] = None;
        }
        self.adopt();
    }

    /// Drops the actors of a node; with `network`, requests in flight too.
    pub(super) fn crash(&mut self, node: usize, network: bool) {
        self.adopt();
        for actor in &mut self.actors {
            if actor.as_ref().is_some_and(|actor| actor.node == node || (network && actor.node == NETWORK)) {
                *actor = None;
            }
        }
    }

    /// Runs everything to its end in the default order.
    pub(super) fn finish(&mut self) {
        while let Some(Step::Poll(at)) = self.options().first().copied() {
            self.poll(at);
            assert!(self.steps < 100_000, "the run does not end");
        }
        assert!(self.actors.iter().all(Option::is_none), "an actor waits for ever");
    }
}

/// Runs one future, and what it spawns, to its end in the default order.
pub(super) fn block_on<T: Send + 'static>(
    scheduler: &mut Scheduler,
    future: impl Future<Output = T> + Send + 'static,
) -> T {
    let result = Arc::new(Mutex::new(None));
    let slot = result.clone();
    let work = async move {
        let value = future.await;
        *slot.lock() = Some(value);
    };
    scheduler.spawner.spawn(NETWORK, Box::pin(work));
    scheduler.finish();
    let value = result.lock().take();
    value.expect("the future did not end")
}
