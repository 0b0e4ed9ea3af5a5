//! Unix time, which clocks and chrono count in, to moments as datums count them (module `datetime`), and back. Nothing else
//! knows how far 1970 is from 2000.

use std::time::{SystemTime, UNIX_EPOCH as CLOCK_EPOCH};

/// 1970-01-01 as a date.
pub const UNIX_EPOCH_DAY: i64 = -10_957;
/// 1970-01-01 00:00 as a timestamp.
pub const UNIX_EPOCH: i64 = UNIX_EPOCH_DAY * super::DAY;

/// The moment that a clock of microseconds since 1970 shows.
pub fn of_unix(micros: u64) -> i64 {
    // A clock beyond the year 294276 stands at the last microsecond, not at infinity.
    i64::try_from(micros).unwrap_or(i64::MAX).saturating_add(UNIX_EPOCH).min(super::END_TIMESTAMP - 1)
}

/// Microseconds since 1970 of a moment, the nearest that an i64 holds.
pub fn to_unix(moment: i64) -> i64 {
    moment.saturating_sub(UNIX_EPOCH)
}

/// The moment of the wall clock, for functions that read it while they run. What tests hold still comes from the
/// environment, by [`of_unix`].
pub fn wall_clock() -> i64 {
    let since = SystemTime::now().duration_since(CLOCK_EPOCH).unwrap_or_default();
    of_unix(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::days_from_civil;
    use super::*;

    #[test]
    fn unix_time_and_back() {
        assert_eq!(days_from_civil(1970, 1, 1), UNIX_EPOCH_DAY);
        assert_eq!(of_unix(946_684_800_000_000), 0);
        assert_eq!(to_unix(0), 946_684_800_000_000);
        assert_eq!(of_unix(u64::MAX), 9_222_425_352_054_775_807);
        assert_eq!(to_unix(i64::MAX - 1), i64::MAX);
    }
}
