//! Text to intervals: quantities with units, `days hours:minutes`, `years-months`, and (in `iso`) ISO 8601.

use super::{DAYS_PER_MONTH, Interval, out_of_range};
use crate::error::{Result, SqlError, state};
use crate::types::datetime::{DAY, SECOND, round_seconds};
use std::borrow::Cow;

const YEAR: i32 = 1 << 2;
const MONTH: i32 = 1 << 1;
const DAY_BIT: i32 = 1 << 3;
const HOUR: i32 = 1 << 10;
const MINUTE: i32 = 1 << 11;
const SECOND_BIT: i32 = 1 << 12;
const ALL_FIELDS: i32 = 0x7fff;
const FULL_PRECISION: i32 = 0xffff;

/// What the type interval is restricted to: fields (`year to month`) and digits of seconds, in PostgreSQL's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restriction {
    fields: i32,
    precision: i32,
}

impl Restriction {
    /// Anything.
    pub const NONE: Restriction = Restriction { fields: ALL_FIELDS, precision: FULL_PRECISION };

    /// Of a type's modifier.
    pub fn of_modifier(modifier: i32) -> Self {
        if modifier < 0 {
            return Restriction::NONE;
        }
        Restriction { fields: modifier >> 16 & ALL_FIELDS, precision: modifier & FULL_PRECISION }
    }
    /// Of field names, first and last, and digits of seconds. `None` for fields that do not go together.
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
    /// Only digits of seconds.
    pub fn of_precision(precision: i32) -> Self {
        Restriction { fields: ALL_FIELDS, precision }
    }
    /// The type's modifier.
    pub fn modifier(self) -> i32 {
        if self == Restriction::NONE { -1 } else { self.fields << 16 | self.precision }
    }
    /// As `format_type` shows it behind the word interval: ` year to month`, `(3)`.
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
    /// Digits of seconds kept.
    pub fn digits(self) -> i32 {
        if self.precision == FULL_PRECISION { 6 } else { self.precision }
    }
    /// The fields alone, for information_schema: `YEAR TO MONTH`.
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
    /// The unit of a bare number.
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

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// So many years.
    Years(i64),
    Months,
    /// So many days.
    Days(i64),
    /// So many microseconds.
    Time(i64),
}

fn unit(word: &str) -> Option<Unit> {
    // PostgreSQL looks at ten characters.
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
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" => Unit::Time(1),
        _ => return None,
    })
}

/// Why a text is not an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Syntax,
    Range,
    /// Years and months fit, but not together.
    Total,
}

/// An interval under construction, wide enough for sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    months: i64,
    days: i64,
    micros: i64,
    /// Whether years are among the months.
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
        self.add_time((days.fract() * DAY as f64).round() as i64)
    }
    /// Adds a quantity: its whole part, and its fraction, which has the same sign.
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
                self.add_time((fraction * micros as f64).round_ties_even() as i64)?;
            }
        }
        Ok(())
    }
    pub(super) fn finish(self, negated: bool) -> std::result::Result<Interval, Wrong> {
        let sign = if negated { -1 } else { 1 };
        let narrow = |value: i64| i32::try_from(value.checked_mul(sign)?).ok();
        let interval = || {
            Some(Interval {
                months: narrow(self.months)?,
                days: narrow(self.days)?,
                micros: self.micros.checked_mul(sign)?,
            })
        };
        // Each of the two fits by itself.
        let total = self.years && i32::try_from(self.months / 12).is_ok() && i32::try_from(self.months).is_err();
        interval().ok_or(if total { Wrong::Total } else { Wrong::Range })
    }
}

/// A piece of the text.
#[derive(Debug)]
enum Piece<'a> {
    /// `1:02:03.5`, perhaps with a sign.
    Clock(Cow<'a, str>),
    /// `12`, `-1.5`, `+1-2`.
    Number(Cow<'a, str>),
    Word(&'a str),
}

/// Pieces of a text, at most: PostgreSQL's MAXDATEFIELDS.
const MOST_PIECES: usize = 25;

/// Splits a text in lower case.
fn pieces(text: &str) -> std::result::Result<Vec<Piece<'_>>, Wrong> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if pieces.len() > MOST_PIECES {
            return Err(Wrong::Syntax);
        }
        let length = |of: &str, accept: &dyn Fn(char) -> bool| of.find(|c| !accept(c)).unwrap_or(of.len());
        if c.is_ascii_digit() || c == '.' || c == '+' || c == '-' {
            let body = rest.strip_prefix(['+', '-']).map_or(rest, str::trim_ascii_start);
            let taken = length(body, &|c| c.is_ascii_digit() || matches!(c, ':' | '.' | '-'));
            if taken == 0 {
                return Err(Wrong::Syntax);
            }
            let (unsigned, tail) = body.split_at(taken);
            let signed = c == '-' || c == '+';
            let piece = if signed { Cow::Owned(format!("{c}{unsigned}")) } else { Cow::Borrowed(unsigned) };
            pieces.push(if piece.contains(':') { Piece::Clock(piece) } else { Piece::Number(piece) });
            rest = tail;
        } else if c.is_ascii_alphabetic() {
            let (word, tail) = rest.split_at(length(rest, &|c| c.is_ascii_alphabetic()));
            let glued = tail.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '/' | '.'));
            if glued && !matches!(word, "d" | "h" | "m" | "s" | "y" | "mon" | "dec") {
                return Err(Wrong::Syntax);
            }
            pieces.push(Piece::Word(word));
            rest = tail;
        } else if c.is_ascii_whitespace() || c.is_ascii_punctuation() {
            rest = rest.get(1..).unwrap_or_default();
        } else {
            return Err(Wrong::Syntax);
        }
    }
    Ok(pieces)
}

/// `hours:minutes`, `hours:minutes:seconds`, with `minutes:seconds` where the type says so. Microseconds.
pub(super) fn clock(text: &str, minutes_first: bool) -> std::result::Result<i64, Wrong> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let parts: Vec<&str> = body.split(':').collect();
    let number = |digits: &str| -> std::result::Result<i64, Wrong> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Wrong::Syntax);
        }
        digits.parse().map_err(|_| Wrong::Range)
    };
    let (hours, minutes, seconds) = match parts.as_slice() {
        [minutes, seconds] if minutes_first || seconds.contains('.') => ("0", *minutes, *seconds),
        [hours, minutes] => (*hours, *minutes, "0"),
        [hours, minutes, seconds] => (*hours, *minutes, *seconds),
        _ => return Err(Wrong::Syntax),
    };
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let (hours, minutes, seconds) = (number(hours)?, number(minutes)?, number(seconds)?);
    let micros = match fraction {
        "" => 0,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            (format!("0.{digits}").parse::<f64>().map_err(|_| Wrong::Syntax)? * 1e6).round_ties_even() as i64
        }
        _ => return Err(Wrong::Syntax),
    };
    if minutes > 59 || seconds > 60 {
        return Err(Wrong::Range);
    }
    let total = hours
        .checked_mul(3600 * SECOND)
        .and_then(|hours| hours.checked_add((minutes * 60 + seconds) * SECOND + micros));
    let total = total.ok_or(Wrong::Range)?;
    Ok(if negative { -total } else { total })
}

/// A number with its sign: the whole part and the fraction, which has its sign too.
pub(super) fn number(text: &str) -> std::result::Result<(i64, f64), Wrong> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return Err(Wrong::Syntax);
    }
    let signed = format!("{}{whole}", if negative { "-" } else { "" });
    let whole = if whole.is_empty() { 0 } else { signed.parse::<i64>().map_err(|_| Wrong::Range)? };
    let fraction = format!("0.{fraction}0").parse::<f64>().map_err(|_| Wrong::Syntax)?;
    Ok((whole, if negative { -fraction } else { fraction }))
}

/// `years-months` with one sign. Nothing for other texts.
fn years_months(text: &str) -> std::result::Result<Option<i64>, Wrong> {
    let (sign, body) = match text.strip_prefix('-') {
        Some(body) => (-1, body),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let Some((years, months)) = body.split_once('-') else { return Ok(None) };
    let number = |digits: &str| -> std::result::Result<i64, Wrong> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Wrong::Syntax);
        }
        digits.parse().map_err(|_| Wrong::Range)
    };
    let (years, months) = (number(years)?, number(months)?);
    if months > 11 {
        return Err(Wrong::Range);
    }
    years.checked_mul(12).and_then(|all| all.checked_add(months)).map(|all| Some(sign * all)).ok_or(Wrong::Range)
}

/// Gives the sign of the first piece, if it is `-` and the only one, to all others.
fn spread_sign(pieces: &mut [Piece<'_>]) {
    let sign = |piece: &Piece<'_>| match piece {
        Piece::Clock(text) | Piece::Number(text) => text.chars().next().filter(|c| matches!(c, '-' | '+')),
        Piece::Word(_) => None,
    };
    let Some((first, others)) = pieces.split_first_mut() else { return };
    if sign(first) != Some('-') || others.iter().any(|piece| sign(piece).is_some()) {
        return;
    }
    for piece in others {
        if let Piece::Clock(text) | Piece::Number(text) = piece {
            text.to_mut().insert(0, '-');
        }
    }
}

/// From the last piece to the first, since units follow their numbers.
fn traditional(text: &str, restriction: Restriction, one_sign: bool) -> std::result::Result<Interval, Wrong> {
    let mut sum = Sum::default();
    let mut current: Option<Unit> = None;
    // Units used, so that none is used twice; a clock uses hours, minutes and seconds with their parts.
    let mut used: Vec<Unit> = Vec::new();
    let mut take = |unit: Unit| -> std::result::Result<(), Wrong> {
        if used.contains(&unit) {
            return Err(Wrong::Syntax);
        }
        used.push(unit);
        Ok(())
    };
    let (mut ago, mut any) = (false, false);
    let mut pieces = pieces(text)?;
    if one_sign {
        spread_sign(&mut pieces);
    }
    for piece in pieces.into_iter().rev() {
        match piece {
            Piece::Clock(text) => {
                let minutes_first = restriction.fields == MINUTE | SECOND_BIT;
                sum.add_time(clock(&text, minutes_first)?)?;
                for micros in [3600 * SECOND, 60 * SECOND, SECOND, 1000, 1] {
                    take(Unit::Time(micros))?;
                }
                current = Some(Unit::Days(1));
                any = true;
            }
            Piece::Number(text) => {
                if let Some(months) = years_months(&text)? {
                    sum.add(months, 0.0, Unit::Months)?;
                    take(Unit::Months)?;
                    current = Some(Unit::Months);
                } else {
                    let unit = current.unwrap_or_else(|| restriction.default_unit());
                    let (whole, fraction) = number(&text)?;
                    sum.add(whole, fraction, unit)?;
                    take(unit)?;
                    if unit == Unit::Time(SECOND) && fraction != 0.0 {
                        // A fraction of seconds is milliseconds and microseconds.
                        take(Unit::Time(1000))?;
                        take(Unit::Time(1))?;
                    }
                    // `1 2` of the type day to hour: before hours stand days.
                    current = Some(if unit == Unit::Time(3600 * SECOND) { Unit::Days(1) } else { unit });
                }
                any = true;
            }
            Piece::Word("ago") => ago = true,
            Piece::Word(word) => current = Some(unit(word).ok_or(Wrong::Syntax)?),
        }
    }
    if any { sum.finish(ago) } else { Err(Wrong::Syntax) }
}

/// Reads an interval of any accepted form. Errors: 22007 for other text, 22015 for what does not fit.
pub fn parse_interval(text: &str, restriction: Restriction) -> Result<Interval> {
    parse_interval_signed(text, restriction, false)
}

/// The same; with `one_sign` a sign before the first field, if it is the only one, is that of all fields.
pub fn parse_interval_signed(text: &str, restriction: Restriction, one_sign: bool) -> Result<Interval> {
    let lower = text.trim().to_ascii_lowercase();
    let read = match traditional(&lower, restriction, one_sign) {
        Err(Wrong::Syntax) => super::iso::parse(text.trim()),
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
