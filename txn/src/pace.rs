//! [`Pace`]: how many calls of one large commit are under way at the same time. Begins with all that is allowed, so
//! that a small commit is one wave; comes down when calls take much longer than the fastest did, for then they only
//! queue in the store, before everybody else's. Must not know what the calls do.

use parking_lot::Mutex;
use std::time::Duration;

/// Calls under way are never brought below this.
const FEWEST: usize = 16;

pub(crate) struct Pace {
    most: usize,
    state: Mutex<State>,
}

struct State {
    limit: usize,
    fastest: Duration,
    /// Weighted towards the newest.
    typical: Duration,
    /// Calls since the limit was looked at.
    calls: usize,
}

impl Pace {
    /// At most `most` calls at the same time.
    pub(crate) fn new(most: usize) -> Self {
        let limit = most.max(1);
        let state = State { limit, fastest: Duration::MAX, typical: Duration::ZERO, calls: 0 };
        Pace { most: limit, state: Mutex::new(state) }
    }

    /// Notes how long a call took.
    pub(crate) fn note(&self, took: Duration) {
        let mut state = self.state.lock();
        state.fastest = state.fastest.min(took);
        state.typical =
            if state.calls == 0 && state.typical.is_zero() { took } else { state.typical * 7 / 8 + took / 8 };
        state.calls += 1;
        if state.calls < state.limit {
            return;
        }
        state.calls = 0;
        if state.typical > state.fastest * 4 {
            state.limit = (state.limit * 3 / 4).max(FEWEST.min(self.most));
        } else if state.typical < state.fastest * 2 {
            state.limit = (state.limit + state.limit / 8 + 1).min(self.most);
        }
    }

    /// How many calls may be under way now.
    pub(crate) fn limit(&self) -> usize {
        self.state.lock().limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_down_when_calls_queue_and_goes_up_again() {
        let pace = Pace::new(256);
        assert_eq!(pace.limit(), 256);
        // A store that serves one call a millisecond: what is under way waits for each other.
        for call in 0..5000 {
            pace.note(Duration::from_millis(if call == 0 { 1 } else { pace.limit() as u64 }));
        }
        assert_eq!(pace.limit(), FEWEST);
        for _ in 0..5000 {
            pace.note(Duration::from_millis(1));
        }
        assert_eq!(pace.limit(), 256);
        assert_eq!(Pace::new(0).limit(), 1);
    }
}
