//! [`AgedTimestamps`]: finds timestamps so old that no snapshot at or below them is still in use, whatever
//! the wall clocks say.
//!
//! If several nodes read, the safe point of garbage collection must not pass a snapshot of any of them. Each
//! node ends its snapshots after half the history. It measures that on its own monotonic clock, from the
//! request for their timestamp.
//!
//! Here a node notes the timestamps it received, and when. The oracle hands timestamps out in order. So a
//! snapshot at or below a noted timestamp was requested before that timestamp was noted. Once three quarters of
//! the history have passed since, the snapshot has ended. The quarter in between allows for requests under way
//! and for clocks of different speed.
//!
//! Wall clocks play no part. If the oracle's clock jumps ahead by an hour, earlier timestamps stay as young as they
//! were. A node that has just started knows no aged timestamp, so for that time nothing is collected.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::Duration;
use storage::Timestamp;

/// How many timestamps are noted within the time in which they age.
const NOTED: u32 = 64;

/// Notes timestamps and tells which have aged. See the module documentation.
pub(crate) struct AgedTimestamps {
    /// The time after which a timestamp is aged.
    age: Duration,
    /// Noted timestamps, each with the monotonic time of the note, oldest first.
    noted: Mutex<VecDeque<(Duration, Timestamp)>>,
}

impl AgedTimestamps {
    /// Starts without timestamps. They age in three quarters of `history`.
    pub(crate) fn new(history: Duration) -> AgedTimestamps {
        AgedTimestamps { age: history - history / 4, noted: Mutex::default() }
    }

    /// Notes a timestamp that was received before `now`.
    pub(crate) fn note(&self, now: Duration, timestamp: Timestamp) {
        let mut noted = self.noted.lock();
        // The newest is always kept, and earlier ones are spaced out.
        let before = noted.len().checked_sub(2).and_then(|place| noted.get(place));
        if before.is_some_and(|(before, _)| now.saturating_sub(*before) < self.age / NOTED) {
            noted.pop_back();
        }
        noted.push_back((now, timestamp));
    }

    /// The newest aged timestamp, if there is one.
    pub(crate) fn newest(&self, now: Duration) -> Option<Timestamp> {
        let mut noted = self.noted.lock();
        let is_aged = |(at, _): &(Duration, Timestamp)| now.saturating_sub(*at) >= self.age;
        while noted.get(1).is_some_and(is_aged) {
            noted.pop_front();
        }
        noted.front().filter(|first| is_aged(first)).map(|(_, timestamp)| *timestamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_ages_by_the_monotonic_clock_alone() {
        let at = Duration::from_secs;
        let aged = AgedTimestamps::new(at(4000));
        assert_eq!(aged.newest(at(9000)), None);
        for second in 0..4000 {
            // The wall clock jumps ahead.
            let timestamp = if second < 2000 { second } else { second + 1_000_000 };
            aged.note(at(second), Timestamp(timestamp));
        }
        assert_eq!(aged.newest(at(2999)), None);
        assert_eq!(aged.newest(at(3000)), Some(Timestamp(0)));
        let newest = aged.newest(at(4999)).map_or(0, |newest| newest.0);
        assert!((1900..2000).contains(&newest), "{newest}");
        assert!(aged.noted.lock().len() < 70);
        assert!(aged.newest(at(9000)).is_some_and(|newest| newest.0 > 1_000_000));
    }
}
