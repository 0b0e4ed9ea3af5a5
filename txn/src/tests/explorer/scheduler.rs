//! Actors, and the choice of the next one. Deterministic: a run follows from its list of choices.

use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use storage::{BoxFuture, Env};

/// The pseudo-node of requests in flight, which belong to no node.
pub(super) const NETWORK: usize = usize::MAX;
/// Sleeps of at least this length are timers, which the scheduler fires. Shorter ones end at once.
const TIMER: Duration = Duration::from_millis(100);

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
    /// Whether it comes last in the default order: a request whose answer nobody awaits any more.
    late: bool,
}

/// A request in flight, with the faults that can happen to it.
pub(super) struct Request {
    /// Tells the sender that the outcome is unknown. `None` once it was answered.
    pub(super) lose: Option<Box<dyn FnOnce() + Send>>,
    /// Does the request once more.
    pub(super) repeat: Box<dyn Fn() -> BoxFuture<'static, ()> + Send>,
}

#[derive(Default)]
struct Pool {
    new: VecDeque<(usize, BoxFuture<'static, ()>)>,
    timers: Vec<Arc<Timer>>,
    requests: BTreeMap<u64, Request>,
    sent: u64,
}

/// Collects new actors, timers and requests until the scheduler takes them up.
#[derive(Clone, Default)]
pub(super) struct Spawner(Arc<Mutex<Pool>>);

impl Spawner {
    pub(super) fn spawn(&self, node: usize, future: BoxFuture<'static, ()>) {
        self.0.lock().new.push_back((node, future));
    }

    /// Adds a request that is being sent. Answers its number.
    pub(super) fn sent(&self, request: Request) -> u64 {
        let mut pool = self.0.lock();
        pool.sent += 1;
        let number = pool.sent;
        pool.requests.insert(number, request);
        number
    }

    /// Removes a request that was done: no fault can happen to it any more.
    pub(super) fn done(&self, number: u64) {
        self.0.lock().requests.remove(&number);
    }
}

/// A sleep that the scheduler ends.
struct Timer {
    at: u64,
    fired: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

struct Sleep {
    timer: Arc<Timer>,
    spawner: Spawner,
}

impl Future for Sleep {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.timer.fired.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        *self.timer.waker.lock() = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.spawner.0.lock().timers.retain(|timer| !Arc::ptr_eq(timer, &self.timer));
    }
}

/// A clock that advances only by sleeps and by ticks.
#[derive(Clone)]
pub(super) struct Clock {
    now: Arc<AtomicU64>,
    tick: u64,
}

impl Clock {
    /// A clock that advances by `tick` microseconds whenever it is read.
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
        if duration >= TIMER {
            let at = self.clock.now.load(Ordering::SeqCst) + duration.as_micros() as u64;
            let timer = Arc::new(Timer { at, fired: AtomicBool::new(false), waker: Mutex::default() });
            self.spawner.0.lock().timers.push(timer.clone());
            return Box::pin(Sleep { timer, spawner: self.spawner.clone() });
        }
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

/// Pending once and woken at once, which ends a step.
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

/// A possible next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Polls an actor once.
    Poll(usize),
    /// The next timer fires: time passes.
    Fire,
    /// A node dies with all its actors.
    Crash(usize),
    /// The answer to this request is lost. The request itself may arrive at any time.
    Lose(u64),
    /// A copy of this request stays in flight and may arrive at any time.
    Repeat(u64),
}

/// The actors of one run.
pub(super) struct Scheduler {
    actors: Vec<Option<Actor>>,
    current: usize,
    spawner: Spawner,
    clock: Clock,
    pub(super) steps: u64,
}

impl Scheduler {
    pub(super) fn new(spawner: Spawner, clock: Clock) -> Self {
        Scheduler { actors: Vec::new(), current: 0, spawner, clock, steps: 0 }
    }

    /// Adds an actor of a node.
    pub(super) fn spawn(&self, node: usize, future: BoxFuture<'static, ()>) {
        self.spawner.spawn(node, future);
    }

    fn adopt(&mut self) {
        for (node, future) in self.spawner.0.lock().new.drain(..) {
            let woken = Arc::new(Flag(AtomicBool::new(true)));
            self.actors.push(Some(Actor { node, future, woken, late: false }));
        }
    }

    /// The possible next steps, the default first: the actor polled last, then the newest, then late ones, then time.
    pub(super) fn options(&mut self) -> Vec<Step> {
        self.adopt();
        let (mut first, mut others, mut late) = (None, Vec::new(), Vec::new());
        for (at, actor) in self.actors.iter().enumerate().rev() {
            let Some(actor) = actor.as_ref().filter(|actor| actor.woken.0.load(Ordering::SeqCst)) else { continue };
            match actor.late {
                true => late.push(Step::Poll(at)),
                false if at == self.current => first = Some(Step::Poll(at)),
                false => others.push(Step::Poll(at)),
            }
        }
        let mut options: Vec<Step> = first.into_iter().chain(others).chain(late).collect();
        if !self.spawner.0.lock().timers.is_empty() {
            options.push(Step::Fire);
        }
        options
    }

    /// The faults that can happen to the requests in flight.
    pub(super) fn faults(&self) -> Vec<Step> {
        let pool = self.spawner.0.lock();
        let unanswered = pool.requests.iter().filter(|(_, request)| request.lose.is_some());
        unanswered.flat_map(|(number, _)| [Step::Lose(*number), Step::Repeat(*number)]).collect()
    }

    /// Applies a fault of the network.
    pub(super) fn fault(&mut self, step: Step) {
        self.steps += 1;
        self.adopt();
        let mut pool = self.spawner.0.lock();
        let copy = match step {
            Step::Lose(number) => pool.requests.get_mut(&number).and_then(|request| {
                let lose = request.lose.take()?;
                lose();
                Some((request.repeat)())
            }),
            Step::Repeat(number) => pool.requests.get(&number).map(|request| (request.repeat)()),
            _ => None,
        };
        drop(pool);
        if let Some(future) = copy {
            let woken = Arc::new(Flag(AtomicBool::new(true)));
            self.actors.push(Some(Actor { node: NETWORK, future, woken, late: true }));
        }
    }

    /// Lets time pass until the next timer.
    pub(super) fn fire(&mut self) {
        self.steps += 1;
        let next = {
            let mut pool = self.spawner.0.lock();
            let next = (0..pool.timers.len()).min_by_key(|at| pool.timers[*at].at);
            next.map(|at| pool.timers.remove(at))
        };
        let Some(timer) = next else { return };
        self.clock.now.fetch_max(timer.at, Ordering::SeqCst);
        timer.fired.store(true, Ordering::SeqCst);
        let waker = timer.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes a step that is not a crash.
    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Poll(at) => self.poll(at),
            Step::Fire => self.fire(),
            step => self.fault(step),
        }
    }

    fn poll(&mut self, at: usize) {
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

    /// Drops the actors of a node. With `network`, also requests in flight.
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
        while let Some(step) = self.options().first().copied() {
            self.take(step);
            assert!(self.steps < 100_000, "the run does not end");
        }
        assert!(self.actors.iter().all(Option::is_none), "an actor waits for ever");
    }
}

/// Runs one future, and everything it spawns, to its end in the default order.
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
