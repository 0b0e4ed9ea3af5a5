//! [`Pace`]: limits how many calls of one large commit are under way. It begins at the maximum, so that a small
//! commit is one wave. It lowers the limit if calls take much longer than the fastest did, and a lower limit costs no
//! throughput. Then calls only queue, before the calls of others.

use parking_lot::Mutex;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

/// The lowest limit on calls under way.
const FEWEST: usize = 4;
/// The limit is reconsidered after as many calls as it allows, but never after fewer than these.
const SHORTEST_LOOK: usize = 64;
/// How many considerations are skipped after another limit turned out to be no better.
const REST: usize = 16;

pub(crate) struct Pace {
    most: usize,
    state: Mutex<State>,
}

struct State {
    limit: usize,
    fastest: Duration,
    /// A moving average, weighted towards the newest calls.
    typical: Duration,
    /// Calls since the limit was last reconsidered, and the time of that.
    calls: usize,
    since: Duration,
    /// The limit before the current trial, and the calls per second under it.
    before: Option<(usize, f64)>,
    /// Whether the next trial raises the limit.
    up: bool,
    /// Considerations left to skip.
    rest: usize,
}

impl Pace {
    /// At most `most` calls at the same time, from `now` on.
    pub(crate) fn new(most: usize, now: Duration) -> Self {
        let limit = most.max(1);
        let state = State {
            limit,
            fastest: Duration::MAX,
            typical: Duration::ZERO,
            calls: 0,
            since: now,
            before: None,
            up: false,
            rest: 0,
        };
        Pace { most: limit, state: Mutex::new(state) }
    }

    /// Notes a call that took `took` and was answered at `now`.
    pub(crate) fn note(&self, took: Duration, now: Duration) {
        let mut state = self.state.lock();
        state.fastest = state.fastest.min(took);
        state.typical = if state.typical.is_zero() { took } else { state.typical * 7 / 8 + took / 8 };
        state.calls += 1;
        if state.calls >= state.limit.max(SHORTEST_LOOK) {
            let rate = state.calls as f64 / now.saturating_sub(state.since).as_secs_f64().max(1e-6);
            (state.calls, state.since) = (0, now);
            state.look(rate, self.most);
        }
    }

    /// How many calls may be under way now.
    pub(crate) fn limit(&self) -> usize {
        self.state.lock().limit
    }
}

impl State {
    /// Reconsiders the limit, under which `rate` calls per second were answered.
    fn look(&mut self, rate: f64, most: usize) {
        // The throughput of independent calls changes in proportion to the limit. A lower limit must not cost
        // throughput, and a higher one must raise it.
        if let Some((limit, before)) = self.before.take() {
            let better = if limit < self.limit { rate > before * 9.0 / 8.0 } else { rate > before * 7.0 / 8.0 };
            if !better {
                (self.limit, self.rest, self.up) = (limit, REST, !self.up);
            }
        }
        if self.rest > 0 {
            self.rest -= 1;
        } else if self.typical > self.fastest * 4 {
            let next = if self.up { self.limit * 4 / 3 + 1 } else { self.limit * 3 / 4 };
            let next = next.clamp(FEWEST.min(most), most);
            match next == self.limit {
                true => self.up = !self.up,
                false => self.before = Some((self.limit, rate)),
            }
            self.limit = next;
        } else if self.typical < self.fastest * 2 {
            self.limit = (self.limit + self.limit / 8 + 1).min(most);
        }
    }
}

/// Lets all other ready tasks run first. Otherwise long work delays the tasks that its own thread was told to run
/// next: connections to the store, and so the calls of readers.
pub(crate) async fn let_others_run() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn comes_down_when_calls_queue_and_goes_up_again() {
        let mut now = Duration::ZERO;
        let pace = Pace::new(256, now);
        assert_eq!(pace.limit(), 256);
        // A store that serves one call per millisecond, so calls wait for each other.
        for call in 0..5000 {
            now += MILLISECOND;
            pace.note(MILLISECOND * if call == 0 { 1 } else { pace.limit() as u32 }, now);
        }
        assert!(pace.limit() <= FEWEST + 2, "{}", pace.limit());
        for _ in 0..5000 {
            now += MILLISECOND;
            pace.note(MILLISECOND, now);
        }
        assert_eq!(pace.limit(), 256);
        assert_eq!(Pace::new(0, now).limit(), 1);
    }

    #[test]
    fn stays_where_calls_only_take_long() {
        let mut now = Duration::ZERO;
        let pace = Pace::new(256, now);
        // One call was fast. The others are slow, however many there are.
        pace.note(MILLISECOND, now);
        let mut limits = 0;
        for call in 0..100_000 {
            // Now and then the machine is busy with something else.
            let late = if call % 777 == 0 { MILLISECOND * 3 } else { Duration::ZERO };
            now += MILLISECOND * 10 / pace.limit() as u32 + late;
            pace.note(MILLISECOND * 10, now);
            limits += pace.limit();
        }
        assert!(limits / 100_000 > 200, "{} on average", limits / 100_000);
    }
}
