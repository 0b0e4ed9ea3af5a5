//! [`Pace`]: how many calls of one large commit are under way at the same time. Begins with all that is allowed, so
//! that a small commit is one wave; comes down when calls take much longer than the fastest did and fewer of them are
//! answered no more slowly, for then they only queue, before everybody else's.

use parking_lot::Mutex;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

/// Calls under way are never brought below this.
const FEWEST: usize = 4;
/// The limit is looked at after as many calls as it allows, and never after fewer than these.
const SHORTEST_LOOK: usize = 64;
/// How many looks pass after another limit turned out to be no better, until the next is tried.
const REST: usize = 16;

pub(crate) struct Pace {
    most: usize,
    state: Mutex<State>,
}

struct State {
    limit: usize,
    fastest: Duration,
    /// Weighted towards the newest.
    typical: Duration,
    /// Calls since the limit was looked at, and when that was.
    calls: usize,
    since: Duration,
    /// The limit before another was tried, and the calls a second under it.
    before: Option<(usize, f64)>,
    /// Whether a higher one is tried next.
    up: bool,
    /// Looks to pass.
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

    /// Notes how long a call took that was answered `now`.
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
    /// Changes the limit, under which so many calls a second were answered.
    fn look(&mut self, rate: f64, most: usize) {
        // Calls that do not wait for each other are fewer, or more, by as much as the limit changed. Fewer under way
        // must not cost any; more must pay.
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

/// Lets everything else that is ready run first. Long work without it keeps from running what its own thread was told
/// to run next: the connections to the store, and so the readers' calls.
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
        // A store that serves one call a millisecond: what is under way waits for each other.
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
        // One was lucky; the others take their time, however many there are.
        pace.note(MILLISECOND, now);
        let mut limits = 0;
        for call in 0..100_000 {
            // Now and then the machine does something else.
            let late = if call % 777 == 0 { MILLISECOND * 3 } else { Duration::ZERO };
            now += MILLISECOND * 10 / pace.limit() as u32 + late;
            pace.note(MILLISECOND * 10, now);
            limits += pace.limit();
        }
        assert!(limits / 100_000 > 200, "{} on average", limits / 100_000);
    }
}
