//! Converts Unix time, which clocks and chrono use, to moments since 2000, and back. Only this module knows the
//! distance between 1970 and 2000.

use std::time::{SystemTime, UNIX_EPOCH as CLOCK_EPOCH};

/// The date 1970-01-01, in days since 2000.
pub const UNIX_EPOCH_DAY: i64 = -10_957;
/// The timestamp 1970-01-01 00:00, in microseconds since 2000.
pub const UNIX_EPOCH: i64 = UNIX_EPOCH_DAY * super::DAY;

/// The moment of a clock that counts microseconds since 1970.
pub fn of_unix(micros: u64) -> i64 {
    // A clock beyond the year 294276 gives the last valid microsecond, not infinity.
    i64::try_from(micros).unwrap_or(i64::MAX).saturating_add(UNIX_EPOCH).min(super::END_TIMESTAMP - 1)
}

/// Microseconds since 1970 of a moment, saturated to `i64`.
pub fn to_unix(moment: i64) -> i64 {
    moment.saturating_sub(UNIX_EPOCH)
}

/// The moment of the wall clock, for functions that read it while they run. Time that tests control comes from the
/// environment, through [`of_unix`].
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
