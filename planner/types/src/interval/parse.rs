//! Parses intervals: quantities with units, `days hours:minutes`, `years-months`, and ISO 8601 (in `iso`).

use super::{DAYS_PER_MONTH, Interval, out_of_range};
use crate::datetime::words::{Shape, Word, split_within};
use crate::datetime::{DAY, SECOND, round_seconds};
use sql_error::{Result, SqlError, state};

const YEAR: i32 = 1 << 2;
const MONTH: i32 = 1 << 1;
const DAY_BIT: i32 = 1 << 3;
const HOUR: i32 = 1 << 10;
const MINUTE: i32 = 1 << 11;
const SECOND_BIT: i32 = 1 << 12;
const ALL_FIELDS: i32 = 0x7fff;
const FULL_PRECISION: i32 = 0xffff;

/// The fields (`year to month`) and digits of seconds that a type interval allows, as PostgreSQL's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restriction {
    fields: i32,
    precision: i32,
}

impl Restriction {
    /// No restriction: all fields and all digits.
    pub const NONE: Restriction = Restriction { fields: ALL_FIELDS, precision: FULL_PRECISION };

    /// Decodes the modifier of a type.
    pub fn of_modifier(modifier: i32) -> Self {
        if modifier < 0 {
            return Restriction::NONE;
        }
        Restriction { fields: modifier >> 16 & ALL_FIELDS, precision: modifier & FULL_PRECISION }
    }
    /// Restricts to the fields from `first` to `last` and to `precision` digits of seconds. `None` if the fields do not
    /// form a range.
    pub fn of_fields(first: &str, last: Option<&str>, precision: Option<i32>) -> Option<Self> {
        let fields = match (first, last) {
            ("year", None) => YEAR,
            ("month", None) => MONTH,
            ("day", None) => DAY_BIT,
            ("hour", None) => HOUR,
            ("minute", None) => MINUTE,
            ("second", None) => SECOND_BIT,
            ("year", Some("month")) => YEAR | MONTH,
            ("day", Some("hour")) => DAY_BIT | HOUR,
            ("day", Some("minute")) => DAY_BIT | HOUR | MINUTE,
            ("day", Some("second")) => DAY_BIT | HOUR | MINUTE | SECOND_BIT,
            ("hour", Some("minute")) => HOUR | MINUTE,
            ("hour", Some("second")) => HOUR | MINUTE | SECOND_BIT,
            ("minute", Some("second")) => MINUTE | SECOND_BIT,
            _ => return None,
        };
        Some(Restriction { fields, precision: precision.unwrap_or(FULL_PRECISION) })
    }
    /// Restricts only the digits of seconds.
    pub fn of_precision(precision: i32) -> Self {
        Restriction { fields: ALL_FIELDS, precision }
    }
    /// Encodes the restriction as the type's modifier.
    pub fn modifier(self) -> i32 {
        if self == Restriction::NONE { -1 } else { self.fields << 16 | self.precision }
    }
    /// The suffix that `format_type` prints behind `interval`: ` year to month`, `(3)`.
    pub fn suffix(self) -> String {
        let fields = match self.fields {
            YEAR => " year",
            MONTH => " month",
            DAY_BIT => " day",
            HOUR => " hour",
            MINUTE => " minute",
            SECOND_BIT => " second",
            f if f == YEAR | MONTH => " year to month",
            f if f == DAY_BIT | HOUR => " day to hour",
            f if f == DAY_BIT | HOUR | MINUTE => " day to minute",
            f if f == DAY_BIT | HOUR | MINUTE | SECOND_BIT => " day to second",
            f if f == HOUR | MINUTE => " hour to minute",
            f if f == HOUR | MINUTE | SECOND_BIT => " hour to second",
            f if f == MINUTE | SECOND_BIT => " minute to second",
            _ => "",
        };
        if self.precision == FULL_PRECISION { fields.to_string() } else { format!("{fields}({})", self.precision) }
    }
    /// Number of digits of seconds that are kept.
    pub fn digits(self) -> i32 {
        if self.precision == FULL_PRECISION { 6 } else { self.precision }
    }
    /// The field names for information_schema: `YEAR TO MONTH`.
    pub fn field_names(self) -> String {
        if self.fields == ALL_FIELDS { String::new() } else { self.suffix().trim().to_uppercase() }
    }
    pub(super) fn apply(self, interval: Interval) -> Result<Interval> {
        let Interval { months, days, micros } = interval;
        let whole = |unit: i64| micros / unit * unit;
        let mut cut = match self.fields {
            YEAR => Interval::new(months / 12 * 12, 0, 0),
            f if f == MONTH || f == YEAR | MONTH => Interval::new(months, 0, 0),
            DAY_BIT => Interval::new(months, days, 0),
            f if f == HOUR || f == DAY_BIT | HOUR => Interval::new(months, days, whole(3600 * SECOND)),
            f if f & MINUTE != 0 && f & SECOND_BIT == 0 && f != ALL_FIELDS => {
                Interval::new(months, days, whole(60 * SECOND))
            }
            _ => interval,
        };
        cut.micros = round_seconds(cut.micros, self.precision).ok_or_else(out_of_range)?;
        Ok(cut)
    }
    /// The unit of a number without one.
    fn default_unit(self) -> Unit {
        match self.fields {
            YEAR => Unit::Years(1),
            f if f == MONTH || f == YEAR | MONTH => Unit::Months,
            DAY_BIT => Unit::Days(1),
            f if f == HOUR || f == DAY_BIT | HOUR => Unit::Time(3600 * SECOND),
            f if f == MINUTE || f == HOUR | MINUTE || f == DAY_BIT | HOUR | MINUTE => Unit::Time(60 * SECOND),
            _ => Unit::Time(SECOND),
        }
    }
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// The number of years in one unit.
    Years(i64),
    Months,
    /// The number of days in one unit.
    Days(i64),
    /// The number of microseconds in one unit.
    Time(i64),
    /// A known word that is not a unit of length.
    Nothing,
}

fn unit(word: &str) -> Option<Unit> {
    // PostgreSQL compares ten characters.
    let word = word.get(..10).unwrap_or(word);
    Some(match word {
        "y" | "year" | "years" | "yr" | "yrs" => Unit::Years(1),
        "dec" | "decs" | "decade" | "decades" => Unit::Years(10),
        "c" | "cent" | "century" | "centuries" => Unit::Years(100),
        "mil" | "mils" | "millennium" | "millennia" => Unit::Years(1000),
        "mon" | "mons" | "month" | "months" => Unit::Months,
        "w" | "week" | "weeks" => Unit::Days(7),
        "d" | "day" | "days" => Unit::Days(1),
        "h" | "hour" | "hours" | "hr" | "hrs" => Unit::Time(3600 * SECOND),
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Time(60 * SECOND),
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Time(SECOND),
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecon" => Unit::Time(1000),
        "qtr" | "quarter" | "timezone" | "timezone_h" | "timezone_m" => Unit::Nothing,
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" => Unit::Time(1),
        _ => return None,
    })
}

/// Why a text is not an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Syntax,
    Range,
    /// Years and months each fit, but not their sum.
    Total,
}

/// An interval under construction. Its fields are wide enough for sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    months: i64,
    days: i64,
    micros: i64,
    /// Whether a unit of years was added.
    years: bool,
}

impl Sum {
    fn add_time(&mut self, micros: i64) -> std::result::Result<(), Wrong> {
        self.micros = self.micros.checked_add(micros).ok_or(Wrong::Range)?;
        Ok(())
    }
    fn add_days(&mut self, days: i64) -> std::result::Result<(), Wrong> {
        self.days = self.days.checked_add(days).ok_or(Wrong::Range)?;
        Ok(())
    }
    fn add_fraction_of_days(&mut self, days: f64) -> std::result::Result<(), Wrong> {
        self.add_days(days.trunc() as i64)?;
        self.add_fraction_of_time(days.fract(), DAY)
    }
    /// Rounds to microseconds; exactly half a microsecond is dropped.
    fn add_fraction_of_time(&mut self, fraction: f64, unit: i64) -> std::result::Result<(), Wrong> {
        let micros = fraction * unit as f64;
        let beyond = micros.fract();
        let rounded = micros.trunc() + if beyond.abs() > 0.5 { beyond.signum() } else { 0.0 };
        self.add_time(rounded as i64)
    }
    /// Adds a quantity: a whole part and a fraction of the same sign.
    pub(super) fn add(&mut self, whole: i64, fraction: f64, unit: Unit) -> std::result::Result<(), Wrong> {
        let product = |count: i64| whole.checked_mul(count).ok_or(Wrong::Range);
        match unit {
            Unit::Years(years) => {
                self.years = true;
                let months = (fraction * years as f64 * 12.0).round_ties_even() as i64;
                let whole = product(years)?.checked_mul(12).ok_or(Wrong::Range)?;
                self.months =
                    self.months.checked_add(whole.checked_add(months).ok_or(Wrong::Range)?).ok_or(Wrong::Range)?;
            }
            Unit::Months => {
                self.months = self.months.checked_add(whole).ok_or(Wrong::Range)?;
                self.add_fraction_of_days(fraction * DAYS_PER_MONTH as f64)?;
            }
            Unit::Days(days) => {
                self.add_days(product(days)?)?;
                self.add_fraction_of_days(fraction * days as f64)?;
            }
            Unit::Time(micros) => {
                self.add_time(product(micros)?)?;
                self.add_fraction_of_time(fraction, micros)?;
            }
            Unit::Nothing => return Err(Wrong::Syntax),
        }
        Ok(())
    }
    pub(super) fn finish(self, negated: bool) -> std::result::Result<Interval, Wrong> {
        let sign = if negated { -1 } else { 1 };
        // A field must fit both before and after it is negated.
        let narrow = |value: i64| i32::try_from(value).ok()?.checked_mul(sign);
        let interval = || {
            Some(Interval {
                // Years and months are negated separately.
                months: if self.years {
                    i32::try_from(self.months.checked_mul(sign.into())?).ok()
                } else {
                    narrow(self.months)
                }?,
                days: narrow(self.days)?,
                micros: self.micros.checked_mul(sign.into())?,
            })
        };
        // Each of the two fits, but their sum does not.
        let total = self.years && i32::try_from(self.months / 12).is_ok() && i32::try_from(self.months).is_err();
        interval().ok_or(if total { Wrong::Total } else { Wrong::Range })
    }
}

/// Most bytes of a text's words.
const MOST_BYTES: usize = 256;

/// Reads the leading digits as a number (0 if there are none). Also answers the rest.
fn leading(text: &str) -> std::result::Result<(i64, &str), Wrong> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let value = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| Wrong::Range)? };
    Ok((value, rest))
}

/// Reads a point and the digits behind it, of which there may be none.
fn fraction(text: &str) -> std::result::Result<f64, Wrong> {
    let digits = text.strip_prefix('.').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    format!("0.{}0", digits.ok_or(Wrong::Syntax)?).parse().map_err(|_| Wrong::Syntax)
}

/// Reads `hours:minutes` or `hours:minutes:seconds` in microseconds. It reads `minutes:seconds` if there is a fraction
/// or `minutes_first`.
fn clock(text: &str, minutes_first: bool) -> std::result::Result<i64, Wrong> {
    let (hours, rest) = leading(text)?;
    let (minutes, rest) = leading(rest.strip_prefix(':').ok_or(Wrong::Syntax)?)?;
    let ((hours, minutes, seconds), rest) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (seconds, rest) = leading(rest)?;
            ((hours, minutes, seconds), rest)
        }
        None if !rest.is_empty() || minutes_first => ((0, hours, minutes), rest),
        None => ((hours, minutes, 0), rest),
    };
    let micros = if rest.is_empty() { 0 } else { (fraction(rest)? * 1e6).round_ties_even() as i64 };
    if minutes > 59 || seconds > 60 {
        return Err(Wrong::Range);
    }
    hours
        .checked_mul(3600 * SECOND)
        .and_then(|hours| hours.checked_add((minutes * 60 + seconds) * SECOND + micros))
        .ok_or(Wrong::Range)
}

/// The meaning of a word that begins with digits.
enum Quantity {
    /// `years-months`, in months.
    Months(i64),
    /// A whole part and a fraction of the same sign.
    Count(i64, f64),
}

fn quantity(text: &str) -> std::result::Result<Quantity, Wrong> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    let digits = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let (digits, rest) = body.split_at(digits);
    let signed = format!("{}{digits}", if negative { "-" } else { "" });
    let whole: i64 = if digits.is_empty() { 0 } else { signed.parse().map_err(|_| Wrong::Range)? };
    if let Some(rest) = rest.strip_prefix('-') {
        if rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| ('1'..='9').contains(&c))) {
            return Err(Wrong::Range);
        }
        let (months, rest) = leading(rest)?;
        if months > 11 {
            return Err(Wrong::Range);
        }
        if !rest.is_empty() {
            return Err(Wrong::Syntax);
        }
        let months = if negative { -months } else { months };
        let all = whole.checked_mul(12).and_then(|years| years.checked_add(months));
        return all.map(Quantity::Months).ok_or(Wrong::Range);
    }
    let part = if rest.is_empty() { 0.0 } else { fraction(rest)? };
    Ok(Quantity::Count(whole, if negative { -part } else { part }))
}

/// Reads words from last to first, because a unit follows its number.
fn traditional(text: &str, restriction: Restriction, one_sign: bool) -> std::result::Result<Interval, Wrong> {
    let mut sum = Sum::default();
    let mut current: Option<Unit> = None;
    // Units already used: each may occur once. A clock uses hours, minutes, seconds and their parts.
    let mut used: Vec<Unit> = Vec::new();
    let mut take = |unit: Unit| -> std::result::Result<(), Wrong> {
        if used.contains(&unit) {
            return Err(Wrong::Syntax);
        }
        used.push(unit);
        Ok(())
    };
    let (mut ago, mut any) = (false, false);
    let words = split_within(text, usize::MAX).ok_or(Wrong::Syntax)?;
    if words.iter().map(|word| word.text.len() + 1).sum::<usize>() > MOST_BYTES {
        return Err(Wrong::Syntax);
    }
    let signs = words.iter().filter(|word| word.text.starts_with(['-', '+'])).count();
    let all_negative = one_sign && signs == 1 && words.first().is_some_and(|first| first.text.starts_with('-'));
    let minutes_first = restriction.fields == MINUTE | SECOND_BIT;
    for Word { shape, text } in words.iter().rev() {
        let time = match shape {
            Shape::Time => Some(clock(text, minutes_first)?),
            // A signed word that is not a clock may be years and months.
            Shape::Zone if text.contains(':') => text.get(1..).and_then(|clocked| {
                let time = clock(clocked, minutes_first).ok()?;
                Some(if text.starts_with('-') { -time } else { time })
            }),
            _ => None,
        };
        if let Some(time) = time {
            // The clock overwrites the time, so a fraction of days behind it is lost.
            sum.micros = if all_negative { -time.abs() } else { time };
            for micros in [3600 * SECOND, 60 * SECOND, SECOND, 1000, 1] {
                take(Unit::Time(micros))?;
            }
            current = Some(Unit::Days(1));
            any = true;
            continue;
        }
        match shape {
            Shape::Text | Shape::Special if text == "ago" => {
                ago = true;
                current = Some(Unit::Nothing);
            }
            Shape::Text | Shape::Special => current = Some(unit(text).ok_or(Wrong::Syntax)?),
            _ => {
                any = true;
                match quantity(text)? {
                    Quantity::Months(months) => {
                        sum.add(if all_negative { -months.abs() } else { months }, 0.0, Unit::Months)?;
                        take(Unit::Months)?;
                        current = Some(Unit::Months);
                    }
                    Quantity::Count(whole, fraction) => {
                        let unit = current.unwrap_or_else(|| restriction.default_unit());
                        let (whole, fraction) = match all_negative && (whole > 0 || fraction > 0.0) {
                            true => (-whole, -fraction),
                            false => (whole, fraction),
                        };
                        sum.add(whole, fraction, unit)?;
                        take(unit)?;
                        if unit == Unit::Time(SECOND) && fraction != 0.0 {
                            // A fraction of seconds also uses up milliseconds and microseconds.
                            take(Unit::Time(1000))?;
                            take(Unit::Time(1))?;
                        }
                        // In `1 2` of the type day to hour, days precede hours.
                        current = Some(if unit == Unit::Time(3600 * SECOND) { Unit::Days(1) } else { unit });
                    }
                }
            }
        }
    }
    if any { sum.finish(ago) } else { Err(Wrong::Syntax) }
}

/// Parses an interval in any accepted form. Errors: 22007 for other text, 22015 on overflow.
pub fn parse_interval(text: &str, restriction: Restriction) -> Result<Interval> {
    parse_interval_signed(text, restriction, false)
}

/// Like [`parse_interval`]. With `one_sign`, a sign before the first field applies to all fields if it is the only
/// sign.
pub fn parse_interval_signed(text: &str, restriction: Restriction, one_sign: bool) -> Result<Interval> {
    let read = match traditional(text, restriction, one_sign) {
        Err(Wrong::Syntax) => super::iso::parse(text),
        read => read,
    };
    let interval = read.map_err(|wrong| match wrong {
        Wrong::Syntax => {
            SqlError::new(state::INVALID_DATETIME_FORMAT, format!("invalid input syntax for type interval: \"{text}\""))
        }
        Wrong::Range => SqlError::new("22015", format!("interval field value out of range: \"{text}\"")),
        Wrong::Total => out_of_range(),
    })?;
    restriction.apply(interval)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{Style, write_interval};
    use super::*;

    fn shown(text: &str) -> String {
        let mut out = Vec::new();
        write_interval(&parse_interval(text, Restriction::NONE).unwrap(), Style::Postgres, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_form_is_read() {
        // Checked against PostgreSQL 15.
        for (text, printed) in [
            ("1 2:03", "1 day 02:03:00"),
            ("1-2", "1 year 2 mons"),
            ("-1-2 3", "-1 years -2 mons +00:00:03"),
            ("1.5 years", "1 year 6 mons"),
            ("1.5 months", "1 mon 15 days"),
            ("1.23456789 s", "00:00:01.234568"),
            ("1 day ago", "-1 days"),
            ("-1 day 2:03", "-1 days +02:03:00"),
            ("1 day -2:03:04.5", "1 day -02:03:04.5"),
            ("1y2m", "1 year 00:02:00"),
            ("@ 1 minute", "00:01:00"),
            ("5 ms 3 us", "00:00:00.005003"),
            ("100:00", "100:00:00"),
            ("1 day - 2 hours", "1 day -02:00:00"),
            ("+ 1 mon - 3:04", "1 mon -03:04:00"),
            ("P1Y2M3DT4H5M6.7S", "1 year 2 mons 3 days 04:05:06.7"),
            ("P0001-02-03T04:05:06", "1 year 2 mons 3 days 04:05:06"),
            ("P00010203T040506", "1 year 2 mons 3 days 04:05:06"),
            ("PT-1H", "-01:00:00"),
            ("P1W", "7 days"),
            ("0", "00:00:00"),
            ("1:02:.5", "01:02:00.5"),
            ("1 -1:02:.5", "1 day -01:02:00.5"),
            ("1.99999:1:0", "1 day 24:59:59.136"),
            ("1::5", "01:00:05"),
            ("1-", "1 year"),
            ("P1e2D", "100 days"),
            ("P12345678T010203.5", "1238 years 8 mons 78 days 01:02:03"),
            ("P-1--2--3T-4:-5:-6", "-1 years -2 mons -3 days -04:05:06"),
        ] {
            assert_eq!(shown(text), printed, "{text}");
        }
        for (text, sqlstate) in [
            ("x", "22007"),
            ("", "22007"),
            ("1 day 2 day", "22007"),
            ("1e3 s", "22007"),
            ("1 quarter", "22007"),
            ("- - 1 day", "22007"),
            ("+", "22007"),
            ("1 ago", "22007"),
            ("-.5 day", "22007"),
            ("P+2Y", "22007"),
            ("P1D ", "22007"),
            ("1--2", "22015"),
            ("P1e20D", "22015"),
            ("1:60", "22015"),
            ("1-13", "22015"),
            ("99999999999 years", "22015"),
            ("3000000000 days", "22015"),
        ] {
            assert_eq!(parse_interval(text, Restriction::NONE).unwrap_err().state(), sqlstate, "{text}");
        }
    }

    #[test]
    fn restrictions_cut() {
        let cut = |text: &str, first: &str, last: Option<&str>, precision: Option<i32>| {
            let restriction = Restriction::of_fields(first, last, precision).unwrap();
            assert_eq!(Restriction::of_modifier(restriction.modifier()), restriction);
            let mut out = Vec::new();
            write_interval(&parse_interval(text, restriction).unwrap(), Style::Postgres, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(cut("1", "hour", None, None), "01:00:00");
        assert_eq!(cut("2:03", "minute", Some("second"), None), "00:02:03");
        assert_eq!(cut("1 year 3 months", "year", None, None), "1 year");
        assert_eq!(cut("1 day 2:03:04.567", "second", None, Some(1)), "1 day 02:03:04.6");
    }
}
