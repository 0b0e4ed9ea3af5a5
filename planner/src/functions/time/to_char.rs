//! to_char of dates and timestamps: the patterns of manual, 9.8, in English. Others are refused.

use super::field::Fields;
use crate::error::{Result, SqlError};
use crate::functions::kernel::{Call, Stability};
use crate::functions::registry::ScalarFunction;
use crate::functions::typed::{Interval, SqlWrite, Text, Timestamp, binary};
use crate::types::SqlType;
use crate::types::datetime::{SECOND, is_finite, offset_at_utc};
use crate::types::interval::Interval as Span;
use chrono_tz::Tz;
use std::sync::Arc;

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// Every pattern, longer ones before those they begin with.
pub(super) const PATTERNS: [&str; 66] = [
    "SSSSS", "SSSS", "YYYY", "IYYY", "Y,YYY", "HH24", "HH12", "MONTH", "Month", "month", "A.M.", "P.M.", "a.m.",
    "p.m.", "B.C.", "A.D.", "b.c.", "a.d.", "IDDD", "YYY", "IYY", "MON", "Mon", "mon", "DAY", "Day", "day", "DDD",
    "TZH", "TZM", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6", "HH", "MI", "SS", "MS", "US", "AM", "PM", "am", "pm", "YY",
    "IY", "BC", "AD", "bc", "ad", "MM", "DY", "Dy", "dy", "DD", "ID", "WW", "IW", "CC", "RM", "rm", "TZ", "tz", "OF",
    "Y",
];

fn with_case(name: &str, pattern: &str) -> String {
    let mut letters = pattern.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_uppercase() => name.to_uppercase(),
        (Some(first), _) if first.is_lowercase() => name.to_lowercase(),
        _ => name.to_string(),
    }
}

fn ordinal(number: i64, upper: bool) -> &'static str {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => ("TH", "th"),
        (_, 1) => ("ST", "st"),
        (_, 2) => ("ND", "nd"),
        (_, 3) => ("RD", "rd"),
        _ => ("TH", "th"),
    };
    if upper { ending.0 } else { ending.1 }
}

/// A moment, its offset and zone, in a format.
fn format(local: i64, offset: i64, zone: Option<Tz>, pattern: &str) -> Result<Option<String>> {
    if !is_finite(local) {
        return Ok(None);
    }
    let fields = Fields::new(local);
    fill(pattern, |found, fill| Ok(write(&fields, local, offset, zone, found, fill))).map(Some)
}

/// An interval in a format. Errors: 22007 for patterns that need a date.
fn format_interval(span: Span, pattern: &str) -> Result<String> {
    let seconds = span.micros / SECOND;
    let fields = Fields {
        days: 0,
        year: i64::from(span.months / 12),
        month: i64::from(span.months % 12),
        day: i64::from(span.days),
        hour: seconds / 3600,
        minute: seconds / 60 % 60,
        second: seconds % 60,
        micros: span.micros % SECOND,
    };
    fill(pattern, |found, fill| {
        let number = |value: i64, width: usize| {
            let width = width + usize::from(value < 0);
            Ok((if fill { format!("{value:0width$}") } else { value.to_string() }, Some(value)))
        };
        match found {
            "YYYY" => number(fields.year, 4),
            "YYY" => number(fields.year % 1000, 3),
            "YY" => number(fields.year % 100, 2),
            "Y" | "y" => number(fields.year % 10, 1),
            "MM" => number(fields.month, 2),
            "DD" => number(fields.day, 2),
            "DDD" => number(i64::from(span.months) * 30 + fields.day, 3),
            "HH24" => number(fields.hour, 2),
            "HH" | "HH12" => number(if fields.hour % 12 == 0 { 12 } else { fields.hour % 12 }, 2),
            "MI" | "SS" | "SSSS" | "SSSSS" | "MS" | "US" | "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" | "AM"
            | "PM" | "am" | "pm" | "A.M." | "P.M." | "a.m." | "p.m." => Ok(write(&fields, 0, 0, None, found, fill)),
            _ => Err(SqlError::new(
                crate::error::state::INVALID_DATETIME_FORMAT,
                "invalid format specification for an interval value",
            )
            .hint("Intervals are not tied to specific calendar dates.")),
        }
    })
}

/// Writes a format, each pattern of it by `write`, which answers the text and the number that it shows, if it is one.
fn fill(pattern: &str, write: impl Fn(&str, bool) -> Result<(String, Option<i64>)>) -> Result<String> {
    let mut out = String::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').unwrap_or(quoted.len());
            out.push_str(quoted.get(..end).unwrap_or_default());
            rest = quoted.get(end + 1..).unwrap_or_default();
            continue;
        }
        let (fill, tail) = match rest.strip_prefix("FM").or_else(|| rest.strip_prefix("fm")) {
            Some(tail) => (false, tail),
            None => (true, rest),
        };
        let found =
            PATTERNS.iter().find(|known| tail.starts_with(**known)).copied().or_else(|| numeric_pattern(tail)).or_else(
                || {
                    ["D", "d", "J", "j", "Q", "q", "W", "w", "I", "y"]
                        .iter()
                        .find(|known| tail.starts_with(**known))
                        .copied()
                },
            );
        let Some(found) = found else {
            let Some(c) = rest.chars().next() else { break };
            if c.is_ascii_alphabetic() && ["TM", "SP"].iter().any(|word| rest.starts_with(word)) {
                return Err(SqlError::unsupported(format!("to_char pattern \"{}\"", rest.get(..2).unwrap_or(rest))));
            }
            out.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        };
        rest = tail.get(found.len()..).unwrap_or_default();
        let written = write(found, fill)?;
        out.push_str(&written.0);
        for (suffix, upper) in [("TH", true), ("th", false)] {
            if let (Some(number), Some(tail)) = (written.1, rest.strip_prefix(suffix)) {
                out.push_str(ordinal(number, upper));
                rest = tail;
                break;
            }
        }
    }
    Ok(out)
}

/// Numeric patterns may be written in lower case.
fn numeric_pattern(text: &str) -> Option<&'static str> {
    let head: String = text.chars().take(5).collect::<String>().to_uppercase();
    PATTERNS
        .iter()
        .find(|known| {
            head.starts_with(**known)
                && !known.chars().any(char::is_lowercase)
                && !matches!(**known, "MONTH" | "MON" | "DAY" | "DY")
        })
        .copied()
}

/// What a pattern shows, and the number it shows, if it is one.
fn write(
    fields: &Fields,
    local: i64,
    offset: i64,
    zone: Option<Tz>,
    pattern: &str,
    fill: bool,
) -> (String, Option<i64>) {
    let number =
        |value: i64, width: usize| (if fill { format!("{value:0width$}") } else { value.to_string() }, Some(value));
    let padded = |name: String| (if fill { format!("{name:<9}") } else { name }, None);
    let year = if fields.year > 0 { fields.year } else { 1 - fields.year };
    let month = MONTHS.get((fields.month - 1).max(0) as usize).copied().unwrap_or_default();
    let weekday = DAYS.get(fields.day_of_week() as usize).copied().unwrap_or_default();
    let noon = |letters: (&str, &str)| (if fields.hour < 12 { letters.0 } else { letters.1 }.to_string(), None);
    let era = |letters: (&str, &str)| (if fields.year > 0 { letters.1 } else { letters.0 }.to_string(), None);
    let hour12 = if fields.hour % 12 == 0 { 12 } else { fields.hour % 12 };
    let iso_year = fields.iso_week().0;
    let (sign, east) = if offset < 0 { ('-', -offset) } else { ('+', offset) };
    match pattern {
        "YYYY" => number(year, 4),
        "YYY" => number(year % 1000, 3),
        "YY" => number(year % 100, 2),
        "Y" | "y" => number(year % 10, 1),
        "Y,YYY" => (format!("{},{:03}", year / 1000, year % 1000), None),
        "IYYY" => number(iso_year, 4),
        "IYY" => number(iso_year % 1000, 3),
        "IY" => number(iso_year % 100, 2),
        "I" => number(iso_year % 10, 1),
        "MONTH" | "Month" | "month" => padded(with_case(month, pattern)),
        "MON" | "Mon" | "mon" => (with_case(month.get(..3).unwrap_or(month), pattern), None),
        "MM" => number(fields.month, 2),
        "DAY" | "Day" | "day" => padded(with_case(weekday, pattern)),
        "DY" | "Dy" | "dy" => (with_case(weekday.get(..3).unwrap_or(weekday), pattern), None),
        "DDD" => number(fields.day_of_year(), 3),
        "IDDD" => number((fields.iso_week().1 - 1) * 7 + fields.iso_day_of_week(), 3),
        "DD" => number(fields.day, 2),
        "D" | "d" => number(fields.day_of_week() + 1, 1),
        "ID" => number(fields.iso_day_of_week(), 1),
        "W" | "w" => number((fields.day - 1) / 7 + 1, 1),
        "WW" => number((fields.day_of_year() - 1) / 7 + 1, 2),
        "IW" => number(fields.iso_week().1, 2),
        "CC" => number(fields.span(100), 2),
        "Q" | "q" => number(fields.quarter(), 1),
        "J" | "j" => number(fields.julian(), 1),
        "RM" | "rm" => {
            let roman = ROMAN.get(fields.month as usize - 1).copied().unwrap_or_default();
            let roman = with_case(roman, if pattern == "RM" { "RM" } else { "rm" });
            (if fill { format!("{roman:<4}") } else { roman }, None)
        }
        "HH24" => number(fields.hour, 2),
        "HH" | "HH12" => number(hour12, 2),
        "MI" => number(fields.minute, 2),
        "SS" => number(fields.second, 2),
        "SSSS" | "SSSSS" => number((fields.hour * 60 + fields.minute) * 60 + fields.second, 1),
        "MS" | "FF3" => number(fields.micros / 1000, 3),
        "US" | "FF6" => number(fields.micros, 6),
        "FF1" => number(fields.micros / 100_000, 1),
        "FF2" => number(fields.micros / 10_000, 2),
        "FF4" => number(fields.micros / 100, 4),
        "FF5" => number(fields.micros / 10, 5),
        "AM" | "PM" => noon(("AM", "PM")),
        "am" | "pm" => noon(("am", "pm")),
        "A.M." | "P.M." => noon(("A.M.", "P.M.")),
        "a.m." | "p.m." => noon(("a.m.", "p.m.")),
        "BC" | "AD" => era(("BC", "AD")),
        "bc" | "ad" => era(("bc", "ad")),
        "B.C." | "A.D." => era(("B.C.", "A.D.")),
        "b.c." | "a.d." => era(("b.c.", "a.d.")),
        "TZ" | "tz" => {
            let name = zone.map(|zone| {
                use chrono::{DateTime, TimeZone};
                let utc = DateTime::from_timestamp_micros(local - offset * SECOND).unwrap_or_default().naive_utc();
                chrono_tz::OffsetName::abbreviation(&zone.offset_from_utc_datetime(&utc))
                    .unwrap_or_default()
                    .to_string()
            });
            let name = name.unwrap_or_default();
            (if pattern == "TZ" { name } else { name.to_lowercase() }, None)
        }
        "TZH" => (format!("{sign}{:02}", east / 3600), None),
        "TZM" => (format!("{:02}", east / 60 % 60), None),
        "OF" => {
            let minutes = if east % 3600 == 0 { String::new() } else { format!(":{:02}", east / 60 % 60) };
            (format!("{sign}{:02}{minutes}", east / 3600), None)
        }
        other => (other.to_string(), None),
    }
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    vec![
        ScalarFunction::new(
            "to_char",
            &[SqlType::INTERVAL, text],
            text,
            Stability::Immutable,
            binary::<Interval, Text, Text, _>(format_interval),
        ),
        ScalarFunction::new(
            "to_char",
            &[SqlType::TIMESTAMP, text],
            text,
            Stability::Immutable,
            binary::<Timestamp, Text, Text, _>(|local: i64, pattern: &str| {
                crate::functions::typed::Nullable(format(local, 0, None, pattern))
            }),
        ),
        ScalarFunction::new(
            "to_char",
            &[SqlType::TIMESTAMPTZ, text],
            text,
            Stability::Stable,
            Arc::new(|call: &Call<'_>| {
                let zone = call.context()?.settings.time_zone();
                let (moments, patterns) = (call.column::<Timestamp>(0)?, call.column::<Text>(1)?);
                let mut builder = Text::builder(call.rows);
                for row in 0..call.rows {
                    let value = match (moments.get(row)?, patterns.get(row)?) {
                        (Some(utc), Some(pattern)) => {
                            let offset = offset_at_utc(zone, utc);
                            let local = if is_finite(utc) { utc + offset * SECOND } else { utc };
                            format(local, offset, Some(zone), pattern)?
                        }
                        _ => None,
                    };
                    Text::append(&mut builder, value)?;
                }
                Ok(Text::finish(builder))
            }),
        ),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::types::datetime::parse_timestamp;

    #[test]
    fn as_postgresql_formats() {
        let moment = parse_timestamp("2001-02-06 20:08:40.12", Tz::UTC, 0).unwrap();
        for (pattern, text) in [
            ("YYYY-MM-DD HH24:MI:SS", "2001-02-06 20:08:40"),
            ("Month Mon MONTH", "February  Feb FEBRUARY "),
            ("FMMonth FMDD, YYYY", "February 6, 2001"),
            ("Day DY D", "Tuesday   TUE 3"),
            ("HH12:MI PM", "08:08 PM"),
            ("MS US", "120 120000"),
            ("DDth \"of\" MON", "06th of FEB"),
            ("IYYY-IW-ID", "2001-06-2"),
            ("Q WW DDD CC J", "1 06 037 21 2451947"),
            ("yyyy/mm/dd", "2001/02/06"),
        ] {
            assert_eq!(format(moment, 0, None, pattern).unwrap().unwrap(), text, "{pattern}");
        }
    }
}
