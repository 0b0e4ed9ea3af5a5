//! Trading time, its calendar, and the text forms of dates and moments. Trading time is a continuous axis of days of
//! eight hours. Moments are microseconds since 2000-01-01, and days count from the same date, as in PostgreSQL.

use super::scale::DAY_MS;
use std::fmt::Write;

/// Monday 2000-01-03, the first day of daily_market and of financial figures.
pub const MARKET_START: i64 = 2;
/// Monday 2005-01-03, the first day of the trade history.
pub const HISTORY_START: i64 = 1829;
/// Trading starts at 9 o'clock.
const OPENING_MS: i64 = 9 * 3600 * 1000;
pub const DAY_MICROS: i64 = 86_400_000_000;

/// The moment of a trading time in the history.
pub fn moment(trading_ms: i64) -> i64 {
    let day = weekday(HISTORY_START, trading_ms.div_euclid(DAY_MS));
    day * DAY_MICROS + (OPENING_MS + trading_ms.rem_euclid(DAY_MS)) * 1000
}

/// The n-th weekday from a Monday on.
pub fn weekday(monday: i64, n: i64) -> i64 {
    monday + n.div_euclid(5) * 7 + n.rem_euclid(5)
}

/// Year, month and day of the month (Howard Hinnant's civil_from_days).
pub fn civil(day: i64) -> (i64, i64, i64) {
    let z = day + 730_425;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

/// The day number of a date.
pub fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let y = year - i64::from(month <= 2);
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 730_425
}

/// Text form of a day, such as `2005-01-03`.
pub fn date_text(day: i64) -> String {
    let (year, month, day) = civil(day);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Text form of a moment, such as `2005-01-03 09:00:00.25`.
pub fn moment_text(micros: i64) -> String {
    let mut text = date_text(micros.div_euclid(DAY_MICROS));
    let rest = micros.rem_euclid(DAY_MICROS);
    let seconds = rest / 1_000_000;
    // Writing to a string cannot fail.
    let _ = write!(text, " {:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if rest % 1_000_000 != 0 {
        let _ = write!(text, ".{:06}", rest % 1_000_000);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_the_calendars() {
        assert_eq!(date_text(MARKET_START), "2000-01-03");
        assert_eq!(date_text(HISTORY_START), "2005-01-03");
        assert_eq!(date_text(59), "2000-02-29");
        for day in [-40_000, -1, 0, 59, 60, 1829, 9_999] {
            let (year, month, of_month) = civil(day);
            assert_eq!(day_of(year, month, of_month), day);
        }
    }

    #[test]
    fn trading_time_skips_nights_and_weekends() {
        assert_eq!(moment_text(moment(0)), "2005-01-03 09:00:00");
        assert_eq!(moment_text(moment(DAY_MS - 1)), "2005-01-03 16:59:59.999000");
        assert_eq!(moment_text(moment(DAY_MS)), "2005-01-04 09:00:00");
        assert_eq!(moment_text(moment(5 * DAY_MS)), "2005-01-10 09:00:00");
    }
}
