//! Dates and timestamps: the civil calendar, ranges, time zones. Text forms are in `parse` and `format`.
//!
//! As in PostgreSQL, a date is days and a timestamp is microseconds since 2000-01-01 (UTC for timestamptz). The extreme
//! values of the integers stand for the infinities. The calendar is the proleptic Gregorian one; year 0 is 1 BC. All
//! functions here count days and moments from 2000; only [`unix`] knows 1970.

pub mod abbreviation;
mod clock;
mod decode;
mod european;
mod fields;
mod format;
mod keyword;
mod parse;
mod posix;
mod style;
mod unix;
pub(super) mod words;
mod zone;

pub use clock::{parse_time, parse_timetz};
pub use format::{write_date, write_timestamp, write_timestamptz};
pub use format::{write_fraction, write_offset};
pub use parse::{Parsed, Reading, parse, parse_date, parse_timestamp, parse_timestamptz};
pub use posix::PosixZone;
pub use style::{DateFormat, DateOrder, DateStyle};
pub use unix::{UNIX_EPOCH, UNIX_EPOCH_DAY, of_unix, to_unix, wall_clock};
pub use zone::chrono_moment;
pub use zone::{TimeZone, ZoneName, offset_at_local, offset_at_utc, to_local, to_utc, zone};

use sql_error::{Result, SqlError, state};

/// Reads an offset (`+05`, `-0330`) in seconds east of UTC. `None` for other text; an error if it is too far from UTC.
pub fn displacement(text: &str) -> Option<std::result::Result<i64, ()>> {
    match fields::displacement(text) {
        Ok(east) => Some(Ok(east)),
        Err(fields::Fault::Displacement) => Some(Err(())),
        Err(_) => None,
    }
}

/// Microseconds in a day.
pub const DAY: i64 = 86_400_000_000;
/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;
/// 2000-01-01 as a Julian day.
const JULIAN_ORIGIN: i64 = 2_451_545;
/// The first valid day: 4714-11-24 BC (Julian day 0).
pub const MIN_DATE: i64 = -JULIAN_ORIGIN;
/// The first day beyond the range of dates: 5874898-01-01.
pub const END_DATE: i64 = 2_145_031_949;
/// The first microsecond beyond the range of timestamps: 294277-01-01. It is a week before `i64` ends, so local times
/// do not overflow.
pub const END_TIMESTAMP: i64 = 9_223_371_331_200_000_000;
/// The first valid timestamp: 4714-11-24 BC.
pub const MIN_TIMESTAMP: i64 = MIN_DATE * DAY;
/// Whether a moment is in the range of timestamps.
pub fn in_timestamp_range(micros: i64) -> bool {
    (MIN_TIMESTAMP..END_TIMESTAMP).contains(&micros)
}

/// Whether `days` is in the range of dates.
pub fn in_date_range(days: i64) -> bool {
    (MIN_DATE..END_DATE).contains(&days)
}

/// Checks that a moment is a timestamp or an infinity. Errors: 22008.
pub fn checked_timestamp(micros: i64) -> Result<i64> {
    if in_timestamp_range(micros) || !is_finite(micros) { Ok(micros) } else { Err(out_of_range("timestamp")) }
}

/// Whether the moment is neither infinity.
pub fn is_finite(micros: i64) -> bool {
    micros != i64::MIN && micros != i64::MAX
}

/// The timestamp `infinity`; `-infinity` is [`TIMESTAMP_NEGATIVE_INFINITY`].
pub const TIMESTAMP_INFINITY: i64 = i64::MAX;
/// The timestamp `-infinity`; see also [`TIMESTAMP_INFINITY`].
pub const TIMESTAMP_NEGATIVE_INFINITY: i64 = i64::MIN;

/// A calendar date; year 0 is 1 BC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// Astronomical year: 0 is 1 BC.
    pub year: i64,
    /// Month, from 1 to 12.
    pub month: i64,
    /// Day, from 1 to 31.
    pub day: i64,
}

/// Days from 0000-03-01, where the cycles of 400 years begin, to 2000-01-01.
const CIVIL_ORIGIN: i64 = 730_425;

/// Days since 2000-01-01 of a calendar date. `month` and `day` may be outside their ranges.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - CIVIL_ORIGIN
}

/// The calendar date of `days` since 2000-01-01.
pub fn civil_from_days(days: i64) -> Civil {
    let days = days + CIVIL_ORIGIN;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Civil { year, month, day: of_year - (153 * shifted + 2) / 5 + 1 }
}

/// Day of the week; 0 is Sunday.
pub fn weekday(days: i64) -> i64 {
    // 2000-01-01 was a Saturday.
    (days + 6).rem_euclid(7)
}

/// The Julian day of `days` since 2000-01-01.
pub fn julian(days: i64) -> i64 {
    days + JULIAN_ORIGIN
}

/// Days since 2000-01-01 of a Julian day.
pub fn days_from_julian(julian: i64) -> i64 {
    julian - JULIAN_ORIGIN
}

/// Number of days of a month (1 to 12).
pub fn days_in_month(year: i64, month: i64) -> i64 {
    days_from_civil(year, month + 1, 1) - days_from_civil(year, month, 1)
}

/// The error 22008, `what out of range`.
pub fn out_of_range(what: &str) -> SqlError {
    SqlError::new(state::DATETIME_FIELD_OVERFLOW, format!("{what} out of range"))
}

/// Midnight of a date as a timestamp. Errors: 22008 beyond timestamps.
pub fn date_to_timestamp(date: i32) -> Result<i64> {
    match date {
        i32::MIN => Ok(i64::MIN),
        i32::MAX => Ok(i64::MAX),
        _ => i64::from(date)
            .checked_mul(DAY)
            .filter(|micros| in_timestamp_range(*micros))
            .ok_or_else(|| SqlError::new(state::DATETIME_FIELD_OVERFLOW, "date out of range for timestamp")),
    }
}

/// The date of a local timestamp.
pub fn timestamp_to_date(micros: i64) -> i32 {
    match micros {
        i64::MIN => i32::MIN,
        i64::MAX => i32::MAX,
        _ => micros.div_euclid(DAY) as i32,
    }
}

/// Rounds microseconds to `digits` digits of seconds, half away from zero. Digits outside 0 to 5 change nothing. `None`
/// on overflow.
pub fn round_seconds(micros: i64, digits: i32) -> Option<i64> {
    let Ok(digits @ 0..=5) = u32::try_from(digits) else { return Some(micros) };
    let unit = 10i64.pow(6 - digits);
    let half = if micros < 0 { -unit / 2 } else { unit / 2 };
    Some(micros.checked_add(half)? / unit * unit)
}

/// Rounds a timestamp to the digits of its type's modifier. Infinities stay.
pub fn round_timestamp(micros: i64, modifier: i32) -> i64 {
    if is_finite(micros) { round_seconds(micros, modifier).unwrap_or(micros) } else { micros }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_goes_both_ways() {
        assert_eq!(days_from_civil(2000, 1, 1), 0);
        assert_eq!(days_from_civil(-4713, 11, 24), MIN_DATE);
        assert_eq!(days_from_civil(5_874_898, 1, 1), END_DATE);
        assert_eq!(days_from_civil(294_277, 1, 1) * DAY, END_TIMESTAMP);
        assert_eq!((weekday(0), weekday(-1), weekday(1)), (6, 5, 0));
        assert_eq!(julian(days_from_civil(1999, 1, 8)), 2_451_187);
        assert_eq!(days_from_julian(julian(-77)), -77);
        for days in (-3_000_000..3_000_000).step_by(977) {
            let civil = civil_from_days(days);
            assert_eq!(days_from_civil(civil.year, civil.month, civil.day), days);
        }
        assert_eq!(days_in_month(2024, 2), 29);
        assert_eq!(days_in_month(1900, 2), 28);
        assert_eq!(days_in_month(2023, 12), 31);
    }
}
