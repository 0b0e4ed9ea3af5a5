//! [`Reserve`]: threads of a runtime that sleep until every thread at work is held up.
//!
//! A reactor has one thread at work, so a short statement wakes no other thread. A poll that computes for seconds would
//! keep all other connections of that reactor waiting. So each reactor has spare threads. They are ordinary workers of
//! the same tokio runtime, and each one sleeps inside a task that blocks ([`Reserve::keep`]). Tokio sees them as busy,
//! so no event wakes them and they cost nothing.
//!
//! ```text
//! thread at work   poll ──────────────── long ────────────────▶ poll, poll
//! lookout                  │ held up: wake one                       │ calm: send one to sleep
//! spare thread     asleep  └▶ takes sockets, timers, queued tasks ───┘ asleep
//! ```
//!
//! The [lookout](crate::runtime_watchdog) asks every few milliseconds. It wakes a spare thread when every thread at work has been inside
//! one poll for [`PATIENCE`]. The woken thread steals what is queued and waits for sockets and timers in place of the others.
//! Once [`CALM`] has passed without need, a spare thread goes back to sleep.

use parking_lot::{Condvar, Mutex};
use std::cell::RefCell;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Wake, Waker};
use std::time::Duration;
use tokio::runtime::Handle;

/// A thread that has been inside one poll for this long is held up.
pub const PATIENCE: Duration = Duration::from_millis(10);

/// A spare thread goes back to sleep after this time without need. With a shorter time, a client that repeats a long
/// statement would meet a sleeping reserve each time.
const CALM: Duration = Duration::from_secs(1);

/// Longest wait at the start until the spare threads sleep.
const SETTLING: Duration = Duration::from_secs(1);

/// Start of the thread's current poll in µs of the monotonic clock. 0 means that the thread is outside a poll.
type Mark = AtomicU64;

thread_local! {
    /// The mark of this thread. A thread belongs to one runtime for its whole life.
    static MARK: RefCell<Option<Arc<Mark>>> = const { RefCell::new(None) };
}

/// The spare threads of one runtime, and the marks of its threads.
pub struct Reserve {
    runtime: Handle,
    /// Number of workers of the runtime, asleep or at work.
    threads: usize,
    marks: Mutex<Vec<Weak<Mark>>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Number of sleeping threads.
    asleep: usize,
    /// Tasks that were sent to put a thread to sleep and have not run yet, at most one.
    on_their_way: usize,
    /// Threads that were told to wake and still sleep.
    called: usize,
    /// Number of sleeping threads at the last check.
    seen_asleep: usize,
    /// Time of the monotonic clock when all threads at work were last needed.
    needed: Duration,
    /// The runtime ends, so no thread may sleep any more.
    over: bool,
}

impl Reserve {
    /// Puts `spare` of the `threads` workers of a new runtime to sleep, and waits until they sleep.
    pub fn new(runtime: Handle, threads: usize, spare: usize) -> Arc<Reserve> {
        let spare = spare.min(threads.saturating_sub(1));
        let (marks, state, changed) = (Mutex::default(), Mutex::default(), Condvar::new());
        let reserve = Arc::new(Reserve { runtime, threads, marks, state, changed });
        for _ in 0..spare {
            let mut state = reserve.state.lock();
            state.on_their_way = 1;
            reserve.send_keeper();
            reserve.changed.wait_while_for(&mut state, |state| state.on_their_way > 0, SETTLING);
        }
        reserve
    }

    /// Records that this thread of the runtime begins a poll at `now`. Dropping the value ends the record, also in a
    /// panic.
    pub fn poll_begins(&self, now: Duration) -> Polling {
        let since = u64::try_from(now.as_micros()).unwrap_or(u64::MAX).max(1);
        let mark = MARK.with_borrow_mut(|mark| Arc::clone(mark.get_or_insert_with(|| self.new_mark())));
        mark.store(since, Ordering::Relaxed);
        Polling(mark)
    }

    fn new_mark(&self) -> Arc<Mark> {
        let mark = Arc::new(Mark::new(0));
        self.marks.lock().push(Arc::downgrade(&mark));
        mark
    }

    /// How long every thread at work has been held up. Zero means that at least one is free.
    pub fn held_up(&self, now: Duration) -> Duration {
        let mut held = self.held(now);
        held.sort_unstable_by(|a, b| b.cmp(a));
        let at_work = self.at_work(&self.state.lock());
        held.get(at_work.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// How long each thread inside a poll has been there.
    fn held(&self, now: Duration) -> Vec<Duration> {
        let mut held = Vec::new();
        self.marks.lock().retain(|mark| {
            let Some(mark) = mark.upgrade() else { return false };
            match mark.load(Ordering::Relaxed) {
                0 => {}
                since => held.push(now.saturating_sub(Duration::from_micros(since))),
            }
            true
        });
        held
    }

    fn at_work(&self, state: &State) -> usize {
        (self.threads + state.called).saturating_sub(state.asleep + state.on_their_way)
    }

    /// Wakes a spare thread or sends one to sleep if necessary. The lookout calls this every few milliseconds.
    pub fn look(self: &Arc<Self>, now: Duration) {
        let held = self.held(now).into_iter().filter(|held| *held >= PATIENCE).count();
        let mut state = self.state.lock();
        let at_work = self.at_work(&state);
        // Of several awake threads, tokio lets one wait for sockets and wakes no other while that one computes. A task from
        // outside wakes one, which waits for sockets next. The same holds when the thread that fell asleep was the waiting one.
        let nudge = held > 0 || state.asleep > state.seen_asleep;
        state.seen_asleep = state.asleep;
        if held + 1 >= at_work && at_work > 1 {
            state.needed = now;
        }
        if held >= at_work && state.asleep > state.called {
            state.called += 1;
            state.needed = now;
            self.changed.notify_all();
        } else if at_work > held + 1 && state.on_their_way == 0 && now.saturating_sub(state.needed) >= CALM {
            state.on_their_way = 1;
            drop(state);
            self.send_keeper();
        }
        if nudge {
            drop(self.runtime.spawn(std::future::ready(())));
        }
    }

    /// Spawns a task that puts its thread to sleep.
    fn send_keeper(self: &Arc<Self>) {
        let this = Arc::clone(self);
        drop(self.runtime.spawn(async move {
            while !hand_tasks_over() {
                tokio::task::yield_now().await;
            }
            this.keep();
        }));
    }

    /// Blocks this thread until it is called.
    fn keep(&self) {
        let mut state = self.state.lock();
        state.on_their_way = state.on_their_way.saturating_sub(1);
        state.asleep += 1;
        self.changed.notify_all();
        self.changed.wait_while(&mut state, |state| state.called == 0 && !state.over);
        state.called = state.called.saturating_sub(1);
        state.asleep = state.asleep.saturating_sub(1);
    }

    /// Wakes all threads for good, because the runtime ends.
    pub fn end(&self) {
        self.state.lock().over = true;
        self.changed.notify_all();
    }

    /// Number of sleeping threads.
    #[cfg(test)]
    pub fn asleep(&self) -> usize {
        self.state.lock().asleep
    }
}

/// Hands the tasks of this thread over to other threads before it sleeps. False means that another thread now runs this
/// worker, so this thread need not sleep.
///
/// Two places of a tokio worker are invisible to other workers: the slot for the next task, and the list of tasks that
/// have yielded. A task there would stand still while the worker sleeps. `block_in_place` empties both. It also offers
/// the worker to another thread, which is rarely fast enough to take it. Outside a worker, `yield_now` wakes its task
/// at once; inside, it wakes the task later.
fn hand_tasks_over() -> bool {
    struct Woken(AtomicBool);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    tokio::task::block_in_place(|| ());
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let yielding = std::pin::pin!(tokio::task::yield_now());
    let _ = yielding.poll(&mut Context::from_waker(&Waker::from(Arc::clone(&woken))));
    !woken.0.load(Ordering::Relaxed)
}

/// Marks a poll as running until it is dropped.
pub struct Polling(Arc<Mark>);

impl Drop for Polling {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::runtime;

    const SPARE: usize = 3;

    struct Ended(Arc<Reserve>);

    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.end();
        }
    }

    #[test]
    fn a_reserve_is_there_at_once() {
        for _ in 0..100 {
            let began = std::time::Instant::now();
            let runtime = runtime::start("test-reserve", Some(9)).unwrap();
            let reserve = Reserve::new(runtime.handle().clone(), 9, 8);
            let _ended = Ended(Arc::clone(&reserve));
            assert_eq!(reserve.asleep(), 8);
            assert!(began.elapsed() < SETTLING, "{:?}", began.elapsed());
        }
    }

    /// Each round wakes a thread and lets one sleep again, beside tasks that yield all the time.
    #[test]
    fn a_thread_that_falls_asleep_takes_no_task_along() {
        let runtime = runtime::start("test-reserve", Some(1 + SPARE)).unwrap();
        let reserve = Reserve::new(runtime.handle().clone(), 1 + SPARE, SPARE);
        let _ended = Ended(Arc::clone(&reserve));
        let turns: Vec<Arc<AtomicU64>> = (0..4).map(|_| Arc::default()).collect();
        for turns in turns.iter().map(Arc::clone) {
            drop(runtime.spawn(async move {
                loop {
                    turns.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
            }));
        }
        let until = |what: &str, reached: &dyn Fn() -> bool| {
            let deadline = std::time::Instant::now() + Duration::from_secs(10);
            while !reached() {
                assert!(std::time::Instant::now() < deadline, "{what}");
                std::thread::sleep(Duration::from_micros(50));
            }
        };
        let mut now = Duration::from_secs(100);
        for round in 0..200 {
            reserve.state.lock().called += 1;
            reserve.changed.notify_all();
            until("no thread wakes", &|| reserve.asleep() == SPARE - 1);
            now += 2 * CALM;
            reserve.look(now);
            until("no thread sleeps", &|| reserve.asleep() == SPARE);
            reserve.look(now);
            for turns in &turns {
                let before = turns.load(Ordering::Relaxed);
                until(&format!("a task stands still, round {round}"), &|| turns.load(Ordering::Relaxed) > before);
            }
        }
    }

    #[test]
    fn spare_threads_sleep_until_all_others_are_held_up() {
        let runtime = runtime::start("test-reserve", Some(1 + SPARE)).unwrap();
        let reserve = Reserve::new(runtime.handle().clone(), 1 + SPARE, SPARE);
        // Wakes the threads also when the test fails, because the runtime waits for them.
        let _ended = Ended(Arc::clone(&reserve));
        assert_eq!(reserve.asleep(), SPARE);
        let (began, clock) = (std::time::Instant::now(), Duration::from_secs(100));
        let now = || clock + began.elapsed();
        reserve.look(now());
        assert_eq!(reserve.asleep(), SPARE);
        // Two polls that do not end, each on the thread that is free at that moment.
        let mut stuck = Vec::new();
        for held in 1..=2 {
            let (release, released) = std::sync::mpsc::channel::<()>();
            let (say, said) = std::sync::mpsc::channel();
            let (marks, at) = (Arc::clone(&reserve), now());
            drop(runtime.spawn(async move {
                let _polling = marks.poll_begins(at);
                say.send(()).unwrap();
                let _ = released.recv();
            }));
            said.recv_timeout(Duration::from_secs(10)).unwrap();
            stuck.push(release);
            assert!(reserve.held_up(now() + Duration::from_secs(1)) >= PATIENCE);
            // The poll may still turn out to be short.
            reserve.look(at);
            assert_eq!(reserve.state.lock().called, 0);
            reserve.look(at + PATIENCE);
            let (say, said) = std::sync::mpsc::channel();
            drop(runtime.spawn(async move { say.send(()).unwrap() }));
            said.recv_timeout(Duration::from_secs(10)).unwrap();
            assert_eq!(reserve.asleep(), SPARE - held);
            assert_eq!(reserve.held_up(now() + Duration::from_secs(1)), Duration::ZERO);
        }
        drop(stuck);
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        let mut later = now() + CALM;
        while reserve.asleep() < SPARE {
            assert!(std::time::Instant::now() < deadline, "they do not go back to sleep");
            later += CALM;
            reserve.look(later);
            std::thread::sleep(Duration::from_millis(1));
        }
        // The thread at work still waits for sockets and timers.
        reserve.look(later);
        let slept = runtime.spawn(async { tokio::time::sleep(Duration::from_millis(5)).await });
        let in_time = async { tokio::time::timeout(Duration::from_secs(10), slept).await };
        runtime.block_on(in_time).unwrap().unwrap();
    }
}
