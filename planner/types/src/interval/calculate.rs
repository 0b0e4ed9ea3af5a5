//! Arithmetic of intervals, and of intervals with moments.

use super::{DAYS_PER_MONTH, Interval, out_of_range};
use crate::datetime::TimeZone;
use crate::datetime::{
    Civil, DAY, MIN_TIMESTAMP, SECOND, civil_from_days, days_from_civil, days_in_month, in_timestamp_range, is_finite,
    to_local, to_utc,
};
use sql_error::{Result, SqlError, state};

/// The smallest value above the range of `i64`.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

fn timestamp_out_of_range() -> SqlError {
    SqlError::new(state::DATETIME_FIELD_OVERFLOW, "timestamp out of range")
}

impl Interval {
    /// The sum of both. Errors: 22008.
    pub fn add(&self, other: &Interval) -> Result<Interval> {
        self.combine(other, i32::checked_add, i64::checked_add)
    }
    /// The difference of both. Errors: 22008.
    pub fn sub(&self, other: &Interval) -> Result<Interval> {
        self.combine(other, i32::checked_sub, i64::checked_sub)
    }
    fn combine(
        &self,
        other: &Interval,
        narrow: fn(i32, i32) -> Option<i32>,
        wide: fn(i64, i64) -> Option<i64>,
    ) -> Result<Interval> {
        let combined = || {
            Some(Interval {
                months: narrow(self.months, other.months)?,
                days: narrow(self.days, other.days)?,
                micros: wide(self.micros, other.micros)?,
            })
        };
        combined().ok_or_else(out_of_range)
    }
    /// The interval with the opposite sign. Errors: 22008.
    pub fn neg(&self) -> Result<Interval> {
        Interval::default().sub(self)
    }
    /// Multiplies by a number. A fraction of a month carries over to days, a fraction of a day to the time. Errors:
    /// 22008.
    pub fn times(&self, factor: f64) -> Result<Interval> {
        self.scaled(|value| value * factor)
    }
    /// Divides by a number. Errors: 22008, 22012.
    pub fn divided(&self, divisor: f64) -> Result<Interval> {
        if divisor == 0.0 {
            return Err(SqlError::new(state::DIVISION_BY_ZERO, "division by zero"));
        }
        self.scaled(|value| value / divisor)
    }
    fn scaled(&self, scale: impl Fn(f64) -> f64) -> Result<Interval> {
        let narrow = |value: f64| -> Result<i32> {
            if !(-2_147_483_648.0..2_147_483_648.0).contains(&value) {
                return Err(out_of_range());
            }
            Ok(value as i32)
        };
        let (months, days) = (scale(f64::from(self.months)), scale(f64::from(self.days)));
        let (whole_months, whole_days) = (narrow(months)?, narrow(days)?);
        let round = |value: f64| (value * 1e6).round_ties_even() / 1e6;
        let day_seconds = (DAY / SECOND) as f64;
        let mut extra_days = round((months - f64::from(whole_months)) * DAYS_PER_MONTH as f64);
        let mut seconds = round((days - f64::from(whole_days) + extra_days - extra_days.trunc()) * day_seconds);
        // Rounding may have produced a whole day.
        if seconds.abs() >= day_seconds {
            let whole = (seconds / day_seconds).trunc();
            extra_days += whole;
            seconds -= whole * day_seconds;
        }
        let days = whole_days.checked_add(narrow(extra_days)?).ok_or_else(out_of_range)?;
        let micros = (scale(self.micros as f64) + seconds * 1e6).round_ties_even();
        if !(-TWO_TO_63..TWO_TO_63).contains(&micros) {
            return Err(out_of_range());
        }
        Ok(Interval { months: whole_months, days, micros: micros as i64 })
    }
    /// Converts each 24 hours to a day.
    pub fn justify_hours(&self) -> Result<Interval> {
        let days = i32::try_from(self.micros / DAY).ok().and_then(|days| self.days.checked_add(days));
        let (mut days, mut micros) = (days.ok_or_else(out_of_range)?, self.micros % DAY);
        if days > 0 && micros < 0 {
            (days, micros) = (days - 1, micros + DAY);
        } else if days < 0 && micros > 0 {
            (days, micros) = (days + 1, micros - DAY);
        }
        Ok(Interval { months: self.months, days, micros })
    }
    /// Converts each 30 days to a month.
    pub fn justify_days(&self) -> Result<Interval> {
        let month = DAYS_PER_MONTH as i32;
        let mut months = self.months.checked_add(self.days / month).ok_or_else(out_of_range)?;
        let mut days = self.days % month;
        if months > 0 && days < 0 {
            (months, days) = (months - 1, days + month);
        } else if months < 0 && days > 0 {
            (months, days) = (months + 1, days - month);
        }
        Ok(Interval { months, days, micros: self.micros })
    }
    /// Converts both hours and days, so that all parts have one sign.
    pub fn justify(&self) -> Result<Interval> {
        let month = DAYS_PER_MONTH as i32;
        // If both have one sign, convert days to months first. Then the days from the hours cannot overflow.
        let mut first = *self;
        if (first.days > 0 && first.micros > 0) || (first.days < 0 && first.micros < 0) {
            first.months = first.months.checked_add(first.days / month).ok_or_else(out_of_range)?;
            first.days %= month;
        }
        let carried = i32::try_from(first.micros / DAY).ok().and_then(|days| first.days.checked_add(days));
        let (mut days, mut micros) = (carried.ok_or_else(out_of_range)?, first.micros % DAY);
        let mut months = first.months.checked_add(days / month).ok_or_else(out_of_range)?;
        days %= month;
        if months > 0 && (days < 0 || (days == 0 && micros < 0)) {
            (months, days) = (months - 1, days + month);
        } else if months < 0 && (days > 0 || (days == 0 && micros > 0)) {
            (months, days) = (months + 1, days - month);
        }
        if days > 0 && micros < 0 {
            (days, micros) = (days - 1, micros + DAY);
        } else if days < 0 && micros > 0 {
            (days, micros) = (days + 1, micros - DAY);
        }
        Ok(Interval { months, days, micros })
    }
    /// Adds the interval to a local moment: first months (the day is capped at the month's length), then days, then the
    /// time. Errors: 22008.
    pub fn after(&self, local: i64) -> Result<i64> {
        let moved = self.date_part_after(local)?;
        moved.checked_add(self.micros).filter(|moment| in_timestamp_range(*moment)).ok_or_else(timestamp_out_of_range)
    }
    /// Adds the interval to a moment of UTC: months and days by the zone's clock, the time by UTC.
    pub fn after_in(&self, utc: i64, zone: TimeZone) -> Result<i64> {
        if !is_finite(utc) {
            return Ok(utc);
        }
        let moved = if self.months == 0 && self.days == 0 {
            utc
        } else {
            to_utc(self.date_part_after(to_local(utc, zone))?, zone)
        };
        moved.checked_add(self.micros).filter(|moment| in_timestamp_range(*moment)).ok_or_else(timestamp_out_of_range)
    }
    fn date_part_after(&self, local: i64) -> Result<i64> {
        if !is_finite(local) {
            return Ok(local);
        }
        let (mut day, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        if self.months != 0 {
            let Civil { year, month, day: of_month } = civil_from_days(day);
            let months = year * 12 + month - 1 + i64::from(self.months);
            let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
            day = days_from_civil(year, month, of_month.min(days_in_month(year, month)));
        }
        day += i64::from(self.days);
        day.checked_mul(DAY)
            .and_then(|micros| micros.checked_add(time))
            .filter(|micros| *micros >= MIN_TIMESTAMP && in_timestamp_range(*micros))
            .ok_or_else(timestamp_out_of_range)
    }
    /// The distance between two moments in days and time. Errors: 22008 for infinities and overflow.
    pub fn between(from: i64, to: i64) -> Result<Interval> {
        if [from, to].iter().any(|moment| !is_finite(*moment)) {
            return Err(SqlError::new(state::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite timestamps"));
        }
        let micros = to.checked_sub(from).ok_or_else(out_of_range)?;
        Interval { months: 0, days: 0, micros }.justify_hours()
    }
    /// The distance between two local moments in years, months, days and time, counted by the calendar. Errors: 22008.
    pub fn age(from: i64, to: i64) -> Result<Interval> {
        if [from, to].iter().any(|moment| !is_finite(*moment)) {
            return Err(timestamp_out_of_range());
        }
        let (later, earlier, negative) = if to >= from { (to, from, false) } else { (from, to, true) };
        let (a, b) = (civil_from_days(later.div_euclid(DAY)), civil_from_days(earlier.div_euclid(DAY)));
        let mut micros = later.rem_euclid(DAY) - earlier.rem_euclid(DAY);
        let mut days = a.day - b.day;
        let mut months = (a.year - b.year) * 12 + a.month - b.month;
        if micros < 0 {
            micros += DAY;
            days -= 1;
        }
        while days < 0 {
            // A borrowed month has the length of the earlier moment's month.
            days += days_in_month(b.year, b.month);
            months -= 1;
        }
        let age = Interval {
            months: i32::try_from(months).map_err(|_| out_of_range())?,
            days: i32::try_from(days).map_err(|_| out_of_range())?,
            micros,
        };
        if negative { age.neg() } else { Ok(age) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{Restriction, Style, parse_interval, write_interval};
    use super::*;
    use crate::datetime::{parse_timestamp, write_timestamp};

    fn interval(text: &str) -> Interval {
        parse_interval(text, Restriction::NONE).unwrap()
    }
    fn shown(interval: Interval) -> String {
        let mut out = Vec::new();
        write_interval(&interval, Style::Postgres, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn products_and_quotients() {
        assert_eq!(shown(interval("1 month").times(0.5).unwrap()), "15 days");
        assert_eq!(shown(interval("1 year 3 days").divided(2.0).unwrap()), "6 mons 1 day 12:00:00");
        assert_eq!(shown(interval("1 hour").times(2.5).unwrap()), "02:30:00");
        assert_eq!(interval("1 day").divided(0.0).unwrap_err().state(), "22012");
        assert_eq!(interval("1 year").times(1e12).unwrap_err().state(), "22008");
    }

    #[test]
    fn parts_are_justified() {
        assert_eq!(shown(interval("1 mon -1 hour").justify().unwrap()), "29 days 23:00:00");
        assert_eq!(shown(interval("27 hours").justify_hours().unwrap()), "1 day 03:00:00");
        assert_eq!(shown(interval("35 days").justify_days().unwrap()), "1 mon 5 days");
    }

    #[test]
    fn moments_move_by_the_calendar() {
        let moment = |text: &str| parse_timestamp(text, &crate::datetime::Reading::PLAIN).unwrap();
        let after = |text: &str, by: &str| {
            let mut out = Vec::new();
            write_timestamp(interval(by).after(moment(text)).unwrap(), crate::datetime::DateFormat::ISO, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(after("2024-01-31", "1 month"), "2024-02-29 00:00:00");
        assert_eq!(after("2024-02-29", "-1 year"), "2023-02-28 00:00:00");
        assert_eq!(after("2024-02-29 12:00", "1 day -13 hours"), "2024-02-29 23:00:00");
        let age = |to: &str, from: &str| shown(Interval::age(moment(from), moment(to)).unwrap());
        assert_eq!(age("2001-04-10", "1957-06-13"), "43 years 9 mons 27 days");
        assert_eq!(age("1957-06-13", "2001-04-10"), "-43 years -9 mons -27 days");
        let zone = TimeZone::parse("Europe/Berlin").unwrap();
        let eve = crate::datetime::parse_timestamptz(
            "2024-03-30 12:00",
            &crate::datetime::Reading { zone, ..crate::datetime::Reading::PLAIN },
        )
        .unwrap();
        assert_eq!(interval("1 day").after_in(eve, zone).unwrap() - eve, 23 * 3600 * SECOND);
        assert_eq!(interval("24 hours").after_in(eve, zone).unwrap() - eve, 24 * 3600 * SECOND);
    }
}
