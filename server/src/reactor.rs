//! [`Reactors`]: threads that each serve their own sockets. A short statement runs from its socket's event to its
//! answer on one thread and wakes no other. Among threads that share their tasks, each event may wake another thread,
//! which costs more than the statement.
//!
//! A reactor has one thread at work, and a [`Reserve`] of threads that sleep until a poll holds that thread up. A new
//! task goes to a reactor that is not held up. If all are held up, it goes to the shared threads, because it may carry
//! the cancel request for their work.
//!
//! A task stays on its reactor only while its polls are short. After two polls in a row of [`LONG`] or more, it
//! continues on a thread of its own. The system then shares the processors among threads, so other connections are
//! served beside it. The task returns after [`QUICK_FOR`] without a long poll.
//!
//! Time that the system gave to other threads does not count ([`ThreadTime`]). On a busy machine every task would be
//! long now and then. A task moves between two polls, as it is, and its socket stays registered with its reactor. A
//! task that blocks inside a poll, such as `nextval`, leaves its reactor another thread meanwhile.

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

/// A poll of this length counts as long. Operators yield after a millisecond.
const LONG: Duration = Duration::from_millis(1);
/// A poll of this length may last for seconds more. A task that starts on the shared threads stays there, so the limit
/// is high.
const STUCK: Duration = Duration::from_millis(20);
/// Time without a long poll after which a task returns to its reactor.
const QUICK_FOR: Duration = Duration::from_millis(100);
/// Spare threads of a reactor. So many polls may be stuck in it at once while its other connections are still served. A
/// task with several long polls leaves the reactor, so only first long polls count.
const SPARE: usize = 8;

/// Period of a reactor's background timer. It is shorter than most timeouts of statements and connections.
const BEAT: Duration = Duration::from_secs(20);

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Threads that each serve their own sockets. Dropping this ends the threads and drops the tasks on them.
pub struct Reactors {
    env: EnvRef,
    /// Runtime whose threads run long tasks, one thread each.
    shared: Handle,
    reactors: Vec<Reactor>,
}

struct Reactor {
    /// `None` while the reactor is being dropped.
    runtime: Option<Runtime>,
    reserve: Arc<Reserve>,
    /// Number of tasks on this reactor.
    tasks: Arc<AtomicUsize>,
}

impl Reactors {
    /// Starts `count` reactors. A long task continues on a thread of `shared`. Errors are sentences for a person.
    pub fn start(count: usize, shared: Handle, env: EnvRef) -> Result<Reactors, String> {
        let reactors = (0..count.max(1)).map(|_| Reactor::start()).collect::<Result<_, String>>()?;
        Ok(Reactors { env, shared, reactors })
    }

    /// Runs a task on the reactor with the fewest tasks, among those that are not held up. `task` is called there,
    /// which registers its socket there.
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
        // A new timer with the earliest deadline makes the thread wake itself, which costs two system calls. This timer
        // keeps an earlier deadline than the authentication timers of new connections.
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
        // A blocked task must not hold up the thread that drops the reactor.
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

/// A task that moves to a thread of its own while its polls are long. This handle stays on the reactor.
struct Wandering {
    place: Place,
    /// Whether the last poll was long, and possibly by its own work.
    long: bool,
    env: EnvRef,
    shared: Handle,
    reserve: Arc<Reserve>,
    _counted: Counted,
}

enum Place {
    /// On the reactor's thread.
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
                    // Measuring costs as much as some statements, so only a task with a long last poll is measured.
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
                    // A wake-up through the old waker would be lost for the new thread. The new thread therefore polls
                    // the task at once.
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

/// Whether a poll of duration `passed` was long. `before` is the thread's reading at its start.
fn is_long(passed: Duration, before: Option<ThreadTime>) -> bool {
    passed >= LONG && before.is_none_or(|before| before.taken(passed) >= LONG)
}

/// Passes a panic of the other thread on, so that it reaches the task's caller.
fn pass_on(error: JoinError) {
    if let Ok(panic) = error.try_into_panic() {
        std::panic::resume_unwind(panic);
    }
}

/// A task on a thread of its own. Dropping this ends the task at its next pause.
///
/// Each task needs its own thread, because a poll may compute for seconds without a pause. As many such tasks as a
/// runtime has threads would block all others.
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

/// Polls the task on its own thread. Resolves to the task after [`QUICK_FOR`] without a long poll, or to `None` when
/// the task has ended.
struct Visiting {
    task: Option<Task>,
    env: EnvRef,
    /// End of the last long poll.
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

    /// Uses this much processor time.
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
                // The task stays runnable but yields the processor to other threads.
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
            // A task that never pauses, on the reactor with fewer tasks.
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

    /// The longest wait of a connection for an answer while `stuck` tasks of its reactor never return from a poll.
    #[allow(clippy::disallowed_methods)]
    async fn longest_wait(stuck: usize) -> Duration {
        let reactors = reactors(1).await;
        let env: EnvRef = SystemEnv::current().unwrap();
        let _lookout = crate::runtime_watchdog::Lookout::over(Vec::new(), reactors.reserves(), &env);
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
