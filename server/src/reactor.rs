//! [`Reactors`]: threads that each look after sockets of their own. A short statement runs from its socket's event to its
//! answer on one thread, and wakes no other: among threads that share their tasks each event may, which costs more than the
//! statement.
//!
//! A reactor has one thread at work, and a [`Reserve`] of threads that sleep until a poll holds that thread up. A new task goes to
//! a reactor that is not held up, or to the shared threads if all are: it may bring the word that ends what they compute.
//!
//! A task stays on its reactor only while it is quick. If it has computed for [`LONG`] without a pause twice in a row, it goes on
//! on a thread of its own: the system shares the processors among threads, so other connections are heard beside it. It comes back
//! once it has been quick for [`QUICK_FOR`]. Time that the system gave to other threads does not count ([`ThreadTime`]): on a
//! busy machine every task would be long now and then. A task is moved between two polls, as it is;
//! its socket stays with the reactor that knows it. A task that blocks inside a poll (`nextval` that waits for the store)
//! leaves its reactor another thread meanwhile.

use crate::reserve::Reserve;
use crate::runtime;
use crate::thread_time::ThreadTime;
use futures::future::{AbortHandle, Abortable};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use storage::env::EnvRef;
use tokio::runtime::{Handle, Runtime};
use tokio::task::{JoinError, JoinHandle, JoinSet};

/// Who computes for so long without a pause is not alone on its thread for nothing. Operators pause after a millisecond.
const LONG: Duration = Duration::from_millis(1);
/// Who computes for so long without a pause may do so for seconds. A task that begins elsewhere stays there, so that is for the worst.
const STUCK: Duration = Duration::from_millis(20);
/// How long nothing long was computed until a task goes back.
const QUICK_FOR: Duration = Duration::from_millis(100);
/// Spare threads of a reactor: so many polls may be stuck in it at once, and its other connections are still heard. A task that
/// pauses now and then leaves the reactor, so only tasks in their first long poll count.
const SPARE: usize = 8;

/// How long the timer of a reactor that has nothing to do with anybody runs: less than most that statements and connections set.
const BEAT: Duration = Duration::from_secs(20);

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// See the head of the module. The threads end when it is dropped, and what still runs on them is dropped with them.
pub struct Reactors {
    env: EnvRef,
    /// Where long tasks get a thread each.
    shared: Handle,
    reactors: Vec<Reactor>,
}

struct Reactor {
    /// `None` once it is being dropped.
    runtime: Option<Runtime>,
    reserve: Arc<Reserve>,
    /// How many tasks it looks after.
    tasks: Arc<AtomicUsize>,
}

impl Reactors {
    /// Starts `count` reactors; a task that turns out to be long goes on on a thread of `shared`. Errors are sentences for a person.
    pub fn start(count: usize, shared: Handle, env: EnvRef) -> Result<Reactors, String> {
        let reactors = (0..count.max(1)).map(|_| Reactor::start()).collect::<Result<_, String>>()?;
        Ok(Reactors { env, shared, reactors })
    }

    /// Runs a task on the reactor that has the fewest, of those that are not held up. `task` is called there, so that its socket
    /// is registered there.
    pub fn spawn<T>(&self, set: &mut JoinSet<()>, task: impl FnOnce() -> T + Send + 'static)
    where
        T: Future<Output = ()> + Send + 'static,
    {
        let now = self.env.monotonic();
        let fewest = |held_up: Duration| {
            let free = self.reactors.iter().filter(|reactor| reactor.reserve.held_up(now) < held_up);
            free.min_by_key(|reactor| reactor.tasks.load(Ordering::Relaxed))
        };
        let Some(reactor) = fewest(LONG).or_else(|| fewest(STUCK)) else {
            set.spawn_on(async move { task().await }, &self.shared);
            return;
        };
        let Some(runtime) = &reactor.runtime else { return };
        let counted = Counted::new(&reactor.tasks);
        let (env, shared, reserve) = (Arc::clone(&self.env), self.shared.clone(), Arc::clone(&reactor.reserve));
        let begin = async move {
            let place = Place::Here(Box::pin(async move { task().await }));
            Wandering { place, long: false, env, shared, reserve, _counted: counted }.await;
        };
        set.spawn_on(begin, runtime.handle());
    }

    /// The spare threads of each reactor, for the lookout.
    pub fn reserves(&self) -> Vec<Arc<Reserve>> {
        self.reactors.iter().map(|reactor| Arc::clone(&reactor.reserve)).collect()
    }
}

impl Reactor {
    fn start() -> Result<Reactor, String> {
        let runtime = runtime::start("percosql-reactor", Some(1 + SPARE))?;
        let reserve = Reserve::new(runtime.handle().clone(), 1 + SPARE, SPARE);
        // A timer that ends before all others are to has its thread wake itself to hear of it, two calls to the system: so that the one
        // of each new connection, for its authentication, is not that timer, there is another.
        runtime.spawn(async {
            loop {
                tokio::time::sleep(BEAT).await;
            }
        });
        Ok(Reactor { runtime: Some(runtime), reserve, tasks: Arc::default() })
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        self.reserve.end();
        // A task that blocks must not hold up the thread that drops this.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A task in a reactor's count, until it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(tasks: &Arc<AtomicUsize>) -> Counted {
        tasks.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(tasks))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A task that goes to a thread of its own while it is long. This stays with the reactor.
struct Wandering {
    place: Place,
    /// Whether the last poll took long, and perhaps by its own doing.
    long: bool,
    env: EnvRef,
    shared: Handle,
    reserve: Arc<Reserve>,
    _counted: Counted,
}

enum Place {
    /// On the reactor.
    Here(Task),
    /// On a thread of its own.
    There(Visit),
    Over,
}

impl Future for Wandering {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        loop {
            match &mut this.place {
                Place::Here(task) => {
                    // It costs as much as some statements: only who is under suspicion is measured.
                    let taken = if this.long { ThreadTime::now() } else { None };
                    let began = this.env.monotonic();
                    let polling = this.reserve.poll_begins(began);
                    let polled = task.as_mut().poll(context);
                    drop(polling);
                    if polled.is_ready() {
                        this.place = Place::Over;
                        return Poll::Ready(());
                    }
                    let long = is_long(this.env.monotonic().saturating_sub(began), taken);
                    if !(std::mem::replace(&mut this.long, long) && long) {
                        return Poll::Pending;
                    }
                    // Who wakes it from here on wakes nobody, so it is polled there at once.
                    let Place::Here(task) = std::mem::replace(&mut this.place, Place::Over) else { continue };
                    let visiting = Visiting { task: Some(task), env: Arc::clone(&this.env), last_long: None };
                    this.place = Place::There(Visit::begin(&this.shared, visiting));
                }
                Place::There(visit) => match std::task::ready!(Pin::new(&mut visit.thread).poll(context)) {
                    Ok(Some(task)) => this.place = Place::Here(task),
                    Ok(None) => {
                        this.place = Place::Over;
                        return Poll::Ready(());
                    }
                    Err(error) => {
                        this.place = Place::Over;
                        pass_on(error);
                        return Poll::Ready(());
                    }
                },
                Place::Over => return Poll::Ready(()),
            }
        }
    }
}

/// Whether a poll was long that took so much time, by its thread's reading before it.
fn is_long(passed: Duration, before: Option<ThreadTime>) -> bool {
    passed >= LONG && before.is_none_or(|before| before.taken(passed) >= LONG)
}

/// A panic there is one here: who waits for the task learns of it.
fn pass_on(error: JoinError) {
    if let Ok(panic) = error.try_into_panic() {
        std::panic::resume_unwind(panic);
    }
}

/// A task on a thread of its own. Dropping this ends the task at its next pause.
///
/// A thread each, and not a task among tasks: a poll may compute for seconds without a pause, and as many of them as there are
/// threads would keep all others waiting.
struct Visit {
    thread: JoinHandle<Option<Task>>,
    ends: AbortHandle,
}

impl Visit {
    fn begin(threads: &Handle, visiting: Visiting) -> Visit {
        let (ends, registration) = AbortHandle::new_pair();
        let (runtime, work) = (threads.clone(), Abortable::new(visiting, registration));
        let thread = threads.spawn_blocking(move || runtime.block_on(work).ok().flatten());
        Visit { thread, ends }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.ends.abort();
    }
}

/// Runs on the task's own thread: gives the task back once it has been quick for a while; `None` when it is over.
struct Visiting {
    task: Option<Task>,
    env: EnvRef,
    /// When something long ended last.
    last_long: Option<Duration>,
}

impl Future for Visiting {
    type Output = Option<Task>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Task>> {
        let (taken, began) = (ThreadTime::now(), self.env.monotonic());
        let Some(task) = &mut self.task else { return Poll::Ready(None) };
        if task.as_mut().poll(context).is_ready() {
            self.task = None;
            return Poll::Ready(None);
        }
        let now = self.env.monotonic();
        let last = *self.last_long.get_or_insert(now);
        if is_long(now.saturating_sub(began), taken) {
            self.last_long = Some(now);
        } else if now.saturating_sub(last) >= QUICK_FOR {
            return Poll::Ready(self.task.take());
        }
        Poll::Pending
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::thread::ThreadId;
    use std::time::Instant;
    use storage::env::SystemEnv;

    fn here() -> ThreadId {
        std::thread::current().id()
    }

    /// Takes so much time of a processor.
    fn compute(time: Duration) {
        let (began, before) = (Instant::now(), ThreadTime::now());
        while before.map_or(began.elapsed(), |before| before.taken(began.elapsed())) < time {}
    }

    async fn reactors(count: usize) -> Reactors {
        Reactors::start(count, Handle::current(), SystemEnv::current().unwrap()).unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_task_leaves_when_it_is_long_and_comes_back() {
        let reactors = reactors(1).await;
        let mut set = JoinSet::new();
        let places: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
        let seen = Arc::clone(&places);
        reactors.spawn(&mut set, move || async move {
            let note = || seen.lock().push(here());
            note();
            compute(LONG);
            tokio::task::yield_now().await;
            note();
            compute(LONG);
            tokio::task::yield_now().await;
            note();
            tokio::time::sleep(QUICK_FOR).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
            tokio::task::yield_now().await;
            note();
        });
        set.join_next().await.unwrap().unwrap();
        let places = places.lock();
        assert_eq!(places[0], places[1]);
        assert_ne!(places[0], places[2]);
        assert_eq!(places[0], places[3]);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_is_held_up_by_other_threads_stays() {
        let stop = Arc::new(AtomicUsize::new(0));
        let busy = || {
            let over = Arc::clone(&stop);
            std::thread::spawn(move || while over.load(Ordering::SeqCst) == 0 {})
        };
        let threads: Vec<_> = (0..4 * std::thread::available_parallelism().unwrap().get()).map(|_| busy()).collect();
        let reactors = reactors(1).await;
        let mut set = JoinSet::new();
        let places: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
        let seen = Arc::clone(&places);
        reactors.spawn(&mut set, move || async move {
            for _ in 0..20 {
                seen.lock().push(here());
                // Ready to go on, and others are let go first.
                let began = Instant::now();
                while began.elapsed() < 2 * LONG {
                    std::thread::yield_now();
                }
                tokio::task::yield_now().await;
            }
        });
        set.join_next().await.unwrap().unwrap();
        stop.store(1, Ordering::SeqCst);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let places = places.lock();
        assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_computes_keeps_nobody_else_waiting() {
        let reactors = reactors(1).await;
        let mut set = JoinSet::new();
        reactors.spawn(&mut set, || async {
            for _ in 0..100 {
                compute(Duration::from_millis(20));
                tokio::task::yield_now().await;
            }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let began = Instant::now();
        let mut quick = JoinSet::new();
        reactors.spawn(&mut quick, || async {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        });
        quick.join_next().await.unwrap().unwrap();
        assert!(!set.is_empty() && began.elapsed() < Duration::from_millis(200), "{:?}", began.elapsed());
        set.abort_all();
        set.join_next().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn tasks_are_shared_out_and_end_with_who_began_them() {
        let reactors = reactors(2).await;
        let mut set = JoinSet::new();
        let places: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
        for _ in 0..4 {
            let seen = Arc::clone(&places);
            reactors.spawn(&mut set, move || async move {
                seen.lock().push(here());
                std::future::pending::<()>().await;
            });
        }
        while places.lock().len() < 4 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let first = places.lock()[0];
        assert_eq!(places.lock().iter().filter(|place| **place == first).count(), 2);
        let dropped = Arc::new(());
        let held = Arc::clone(&dropped);
        reactors.spawn(&mut set, move || async move {
            let _held = held;
            loop {
                compute(LONG * 2);
                tokio::task::yield_now().await;
            }
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(set);
        while Arc::strong_count(&dropped) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(reactors.reactors.iter().all(|reactor| reactor.tasks.load(Ordering::Relaxed) == 0));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_new_task_begins_beside_those_that_compute() {
        let reactors = reactors(2).await;
        let (mut set, stop) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
        for stuck in 0..2 {
            // One that pauses never, with fewer tasks than the other.
            let over = Arc::clone(&stop);
            reactors.spawn(&mut set, move || async move {
                while over.load(Ordering::SeqCst) == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            if stuck == 0 {
                for _ in 0..3 {
                    reactors.spawn(&mut set, std::future::pending::<()>);
                }
            }
            tokio::time::sleep(STUCK * 2).await;
            let (say, said) = tokio::sync::oneshot::channel();
            reactors.spawn(&mut set, move || async move { say.send(()).unwrap() });
            tokio::time::timeout(Duration::from_secs(10), said).await.unwrap().unwrap();
        }
        stop.store(1, Ordering::SeqCst);
        set.abort_all();
        while set.join_next().await.is_some() {}
    }

    /// The longest that a connection of a reactor waited for an answer while other tasks of it were stuck in one poll.
    #[allow(clippy::disallowed_methods)]
    async fn longest_wait(stuck: usize) -> Duration {
        let reactors = reactors(1).await;
        let env: EnvRef = SystemEnv::current().unwrap();
        let _lookout = crate::lookout::Lookout::over(Vec::new(), reactors.reserves(), &env);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().unwrap();
        socket.set_nonblocking(true).unwrap();
        let mut set = JoinSet::new();
        reactors.spawn(&mut set, move || async move {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let (mut socket, mut byte) = (tokio::net::TcpStream::from_std(socket).unwrap(), [0]);
            while socket.read_exact(&mut byte).await.is_ok() {
                socket.write_all(&byte).await.unwrap();
            }
        });
        let stop = Arc::new(AtomicUsize::new(0));
        for _ in 0..stuck {
            let over = Arc::clone(&stop);
            reactors.spawn(&mut set, move || async move {
                while over.load(Ordering::SeqCst) == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
        let asked = tokio::task::spawn_blocking(move || {
            use std::io::{Read, Write};
            let mut longest = Duration::ZERO;
            for _ in 0..20 {
                let (began, mut byte) = (Instant::now(), [0]);
                client.write_all(b"x").unwrap();
                client.read_exact(&mut byte).unwrap();
                longest = longest.max(began.elapsed());
                std::thread::sleep(Duration::from_millis(10));
            }
            longest
        });
        let longest = asked.await.unwrap();
        stop.store(1, Ordering::SeqCst);
        while set.join_next().await.is_some() {}
        longest
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn polls_that_never_pause_keep_no_other_connection_waiting() {
        for stuck in [1, SPARE / 2] {
            let longest = longest_wait(stuck).await;
            assert!(longest < Duration::from_millis(500), "{stuck}: {longest:?}");
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn who_blocks_leaves_the_others_a_thread() {
        let reactors = reactors(1).await;
        let mut set = JoinSet::new();
        let (say, said) = std::sync::mpsc::channel();
        reactors.spawn(&mut set, move || async move {
            tokio::task::block_in_place(|| said.recv_timeout(Duration::from_secs(10)).unwrap());
        });
        reactors.spawn(&mut set, move || async move { say.send(()).unwrap() });
        while let Some(ended) = set.join_next().await {
            ended.unwrap();
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_panic_is_seen_wherever_it_happens() {
        let reactors = reactors(1).await;
        for long in [Duration::ZERO, LONG] {
            let mut set = JoinSet::new();
            reactors.spawn(&mut set, move || async move {
                for _ in 0..2 {
                    compute(long);
                    tokio::task::yield_now().await;
                }
                panic!("seen");
            });
            assert!(set.join_next().await.unwrap().unwrap_err().is_panic());
        }
    }
}
