//! The parts of a moment for extract, date_trunc and to_char.

use types::datetime::{DAY, SECOND, civil_from_days, days_from_civil, julian, weekday};

/// Seconds in one hour.
pub(super) const HOUR: i64 = 3600;

/// The parts of a local moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// Days since 2000-01-01, negative before.
    pub days: i64,
    /// Astronomical year: 0 is 1 BC.
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub micros: i64,
}

impl Fields {
    /// The parts of a local moment.
    pub(super) fn new(local: i64) -> Self {
        Self::at(local.div_euclid(DAY), local.rem_euclid(DAY))
    }
    /// The parts of a day and the microseconds of the day. Dates have a wider range than moments.
    pub(super) fn at(days: i64, time: i64) -> Self {
        let civil = civil_from_days(days);
        let seconds = time / SECOND;
        Fields {
            days,
            year: civil.year,
            month: civil.month,
            day: civil.day,
            hour: seconds / HOUR,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            micros: time % SECOND,
        }
    }
    /// The year as it is written: there is no year 0.
    pub(super) fn shown_year(&self) -> i64 {
        if self.year > 0 { self.year } else { self.year - 1 }
    }
    /// Day of the week; 0 is Sunday.
    pub(super) fn day_of_week(&self) -> i64 {
        weekday(self.days)
    }
    /// ISO day of the week, from Monday (1) to Sunday (7).
    pub(super) fn iso_day_of_week(&self) -> i64 {
        weekday(self.days - 1) + 1
    }
    /// Day of the year; 1 is January 1.
    pub(super) fn day_of_year(&self) -> i64 {
        self.days - days_from_civil(self.year, 1, 1) + 1
    }
    /// Year and week of ISO 8601.
    pub(super) fn iso_week(&self) -> (i64, i64) {
        let thursday = self.days - self.iso_day_of_week() + 4;
        let year = civil_from_days(thursday).year;
        (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
    }
    /// Number of the century (or millennium) of `years` years, counted from the year 1.
    pub(super) fn span(&self, years: i64) -> i64 {
        let year = self.shown_year();
        if year > 0 { (year + years - 1) / years } else { -((years - 1 - year) / years) }
    }
    pub(super) fn decade(&self) -> i64 {
        self.year.div_euclid(10)
    }
    pub(super) fn quarter(&self) -> i64 {
        (self.month - 1) / 3 + 1
    }
    /// The Julian day of the date.
    pub(super) fn julian(&self) -> i64 {
        julian(self.days)
    }
}
