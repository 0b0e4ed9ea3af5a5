//! Writes intervals in the four IntervalStyles.

use super::Interval;
use crate::datetime::SECOND;
use std::io::Write;

// Writing to a Vec cannot fail: the results of `write!` are dropped.

/// The output style of intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Style {
    /// The default: `1 year 2 mons 3 days 04:05:06`
    #[default]
    Postgres,
    /// Verbose units: `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs`
    Verbose,
    /// The SQL standard's form: `+1-2 +3 +4:05:06`
    SqlStandard,
    /// The form of ISO 8601: `P1Y2M3DT4H5M6S`
    Iso8601,
}

impl Style {
    /// The style that a value of the setting IntervalStyle names.
    pub fn named(name: &str) -> Style {
        match name {
            "sql_standard" => Style::SqlStandard,
            "postgres_verbose" => Style::Verbose,
            "iso_8601" => Style::Iso8601,
            _ => Style::Postgres,
        }
    }
}

/// An interval split into units. Each field has the sign of its part.
struct Parts {
    years: i32,
    months: i32,
    days: i32,
    hours: i64,
    minutes: i64,
    seconds: i64,
    micros: i64,
}

impl Parts {
    fn new(interval: &Interval) -> Self {
        let seconds = interval.micros / SECOND;
        Parts {
            years: interval.months / 12,
            months: interval.months % 12,
            days: interval.days,
            hours: seconds / 3600,
            minutes: seconds / 60 % 60,
            seconds: seconds % 60,
            micros: interval.micros % SECOND,
        }
    }
    fn has_time(&self) -> bool {
        self.hours != 0 || self.minutes != 0 || self.has_seconds()
    }
    fn has_seconds(&self) -> bool {
        self.seconds != 0 || self.micros != 0
    }
    /// Writes the absolute seconds with at least `width` digits before the point.
    fn write_seconds(&self, width: usize, out: &mut Vec<u8>) {
        let _ = write!(out, "{:0width$}", self.seconds.unsigned_abs());
        super::super::datetime::write_fraction(self.micros.unsigned_abs(), out);
    }
}

/// Appends an interval as text.
pub fn write_interval(interval: &Interval, style: Style, out: &mut Vec<u8>) {
    let parts = Parts::new(interval);
    match style {
        Style::Postgres => postgres(&parts, interval.micros < 0, out),
        Style::Verbose => verbose(&parts, out),
        Style::SqlStandard => sql_standard(interval, &parts, out),
        Style::Iso8601 => iso(&parts, out),
    }
}

fn postgres(parts: &Parts, negative_time: bool, out: &mut Vec<u8>) {
    let (mut empty, mut before) = (true, false);
    for (value, unit) in [(parts.years, "year"), (parts.months, "mon"), (parts.days, "day")] {
        if value == 0 {
            continue;
        }
        let space = if empty { "" } else { " " };
        let plus = if before && value > 0 { "+" } else { "" };
        let plural = if value == 1 { "" } else { "s" };
        let _ = write!(out, "{space}{plus}{value} {unit}{plural}");
        (empty, before) = (false, value < 0);
    }
    if empty || parts.has_time() {
        let space = if empty { "" } else { " " };
        let sign = if negative_time {
            "-"
        } else if before {
            "+"
        } else {
            ""
        };
        let _ = write!(out, "{space}{sign}{:02}:{:02}:", parts.hours.unsigned_abs(), parts.minutes.unsigned_abs());
        parts.write_seconds(2, out);
    }
}

fn verbose(parts: &Parts, out: &mut Vec<u8>) {
    out.push(b'@');
    let (mut empty, mut ago) = (true, false);
    let whole = [
        (i64::from(parts.years), "year"),
        (i64::from(parts.months), "mon"),
        (i64::from(parts.days), "day"),
        (parts.hours, "hour"),
        (parts.minutes, "min"),
    ];
    // The sign of the first field applies to all: "ago" says that it is negative.
    for (value, unit) in whole {
        if value == 0 {
            continue;
        }
        if empty {
            ago = value < 0;
        }
        let shown = if ago { -value } else { value };
        let plural = if shown == 1 { "" } else { "s" };
        let _ = write!(out, " {shown} {unit}{plural}");
        empty = false;
    }
    if parts.has_seconds() {
        let negative = parts.seconds < 0 || parts.micros < 0;
        if empty {
            ago = negative;
        }
        out.push(b' ');
        if negative != ago {
            out.push(b'-');
        }
        parts.write_seconds(1, out);
        let one = parts.seconds.abs() == 1 && parts.micros == 0;
        out.extend_from_slice(if one { b" sec" } else { b" secs" });
        empty = false;
    }
    if empty {
        out.extend_from_slice(b" 0");
    }
    if ago {
        out.extend_from_slice(b" ago");
    }
}

fn sql_standard(interval: &Interval, parts: &Parts, out: &mut Vec<u8>) {
    let negative = interval.months < 0 || interval.days < 0 || interval.micros < 0;
    let positive = interval.months > 0 || interval.days > 0 || interval.micros > 0;
    let (year_month, day_time) = (interval.months != 0, interval.days != 0 || interval.micros != 0);
    let sign = |negative: bool| if negative { '-' } else { '+' };
    let (years, months) = (parts.years.unsigned_abs(), parts.months.unsigned_abs());
    let (days, hours, minutes) = (parts.days.unsigned_abs(), parts.hours.unsigned_abs(), parts.minutes.unsigned_abs());
    if !negative && !positive {
        out.push(b'0');
    } else if (negative && positive) || (year_month && day_time) {
        // A form outside the standard: each part has its sign.
        let _ = write!(
            out,
            "{}{years}-{months} {}{days} {}{hours}:{minutes:02}:",
            sign(interval.months < 0),
            sign(interval.days < 0),
            sign(interval.micros < 0)
        );
        parts.write_seconds(2, out);
    } else {
        if negative {
            out.push(b'-');
        }
        if year_month {
            let _ = write!(out, "{years}-{months}");
        } else if interval.days != 0 {
            let _ = write!(out, "{days} {hours}:{minutes:02}:");
            parts.write_seconds(2, out);
        } else {
            let _ = write!(out, "{hours}:{minutes:02}:");
            parts.write_seconds(2, out);
        }
    }
}

fn iso(parts: &Parts, out: &mut Vec<u8>) {
    if parts.years == 0 && parts.months == 0 && parts.days == 0 && !parts.has_time() {
        out.extend_from_slice(b"PT0S");
        return;
    }
    out.push(b'P');
    for (value, unit) in [(parts.years, 'Y'), (parts.months, 'M'), (parts.days, 'D')] {
        if value != 0 {
            let _ = write!(out, "{value}{unit}");
        }
    }
    if !parts.has_time() {
        return;
    }
    out.push(b'T');
    for (value, unit) in [(parts.hours, 'H'), (parts.minutes, 'M')] {
        if value != 0 {
            let _ = write!(out, "{value}{unit}");
        }
    }
    if parts.has_seconds() {
        if parts.seconds < 0 || parts.micros < 0 {
            out.push(b'-');
        }
        parts.write_seconds(1, out);
        out.push(b'S');
    }
}
