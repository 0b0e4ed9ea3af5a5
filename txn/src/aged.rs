//! [`AgedTimestamps`]: which timestamps were handed out so long ago that no snapshot at or below them is in use, whatever the wall
//! clocks say.
//!
//! Where several nodes read, the safe point of garbage collection must not pass a snapshot that one of them reads. Each node ends
//! its snapshots when half the history has passed on its own monotonic clock, counted from when it asked for their timestamp.
//! Here a node notes timestamps that it received, and when. The oracle hands them out in order. So a snapshot at or below a
//! noted timestamp was asked for before it was noted, and once three quarters of the history have passed since, it has ended. The
//! quarter between is for requests that are still on their way, and for clocks that do not run alike.
//!
//! No wall clock comes into this. When the oracle's jumps ahead by an hour, the timestamps from before the jump are as young as
//! they were. A node that has just started knows of no old timestamp, and lets nothing be collected for that time.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::Duration;
use storage::Timestamp;

/// Timestamps noted within the time in which they age.
const NOTED: u32 = 64;

/// See the head of the module.
pub(crate) struct AgedTimestamps {
    /// When a timestamp is aged.
    age: Duration,
    /// When it was noted, by the monotonic clock, oldest first.
    noted: Mutex<VecDeque<(Duration, Timestamp)>>,
}

impl AgedTimestamps {
    /// None is known.
    pub(crate) fn new(history: Duration) -> AgedTimestamps {
        AgedTimestamps { age: history - history / 4, noted: Mutex::default() }
    }

    /// Notes a timestamp that was received before `now`.
    pub(crate) fn note(&self, now: Duration, timestamp: Timestamp) {
        let mut noted = self.noted.lock();
        // The newest is always kept; those before it lie apart.
        let before = noted.len().checked_sub(2).and_then(|place| noted.get(place));
        if before.is_some_and(|(before, _)| now.saturating_sub(*before) < self.age / NOTED) {
            noted.pop_back();
        }
        noted.push_back((now, timestamp));
    }

    /// The newest timestamp that has aged.
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
            // The wall clock jumps.
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
