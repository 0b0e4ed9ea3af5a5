//! to_char of dates, timestamps and intervals, by the patterns of the manual (9.8), in English.

use super::field::Fields;
use super::template::{self, Part};
use crate::kernel::{Call, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Interval, SqlWrite, Text, Timestamp, binary};
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::SqlType;
use types::datetime::{SECOND, TimeZone, is_finite, offset_at_utc};
use types::interval::Interval as Span;

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
pub(super) const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
pub(super) const ROMAN: [&str; 12] = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

fn with_case(name: &str, pattern: &str) -> String {
    let mut letters = pattern.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_uppercase() => name.to_uppercase(),
        (Some(first), _) if first.is_lowercase() => name.to_lowercase(),
        _ => name.to_string(),
    }
}

fn ordinal(number: i64, upper: bool) -> &'static str {
    let ending = match (number.abs() % 100, number.abs() % 10) {
        (11..=13, _) => ("TH", "th"),
        (_, 1) => ("ST", "st"),
        (_, 2) => ("ND", "nd"),
        (_, 3) => ("RD", "rd"),
        _ => ("TH", "th"),
    };
    if upper { ending.0 } else { ending.1 }
}

/// Formats a moment with its offset and zone. NULL if the pattern is empty.
fn format(local: i64, offset: i64, zone: Option<TimeZone>, pattern: &str) -> Result<Option<String>> {
    if !is_finite(local) || pattern.is_empty() {
        return Ok(None);
    }
    let fields = Fields::new(local);
    fill(pattern, |found, fill| Ok(write(&fields, local, offset, zone, found, fill))).map(Some)
}

/// The Julian day of an interval's years, months and days. Months below 1 count back from the year's start.
fn julian(fields: &Fields) -> i64 {
    let (year, month) = match fields.month {
        month @ 3.. => (fields.year + 4800, month + 1),
        month => (fields.year + 4799, month + 13),
    };
    365 * year + year / 4 - year / 100 + year / 400 + 7834 * month / 256 + fields.day - 32_167
}

/// The Julian day on which an ISO year begins.
fn iso_start(year: i64) -> i64 {
    let fourth = julian(&Fields { year, month: 1, day: 4, ..Fields::new(0) });
    fourth - fourth.rem_euclid(7)
}

/// ISO year and week of an interval's years, months and days.
fn iso_week(fields: &Fields) -> (i64, i64) {
    let day = julian(fields);
    let week = |year: i64| (year, (day - iso_start(year)) / 7 + 1);
    let found = week(if day < iso_start(fields.year) { fields.year - 1 } else { fields.year });
    if found.1 >= 52 && day >= iso_start(fields.year + 1) { week(fields.year + 1) } else { found }
}

/// Formats an interval. NULL if the pattern is empty. Errors: 22007 for patterns that need a date.
fn format_interval(span: Span, pattern: &str) -> Result<Option<String>> {
    if pattern.is_empty() {
        return Ok(None);
    }
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
    // The width of ISO years includes the sign of the ordinary year.
    let before = usize::from(fields.year < 0);
    fill(pattern, |found, fill| {
        let number = |value: i64, width: usize| {
            let width = width + usize::from(value < 0);
            Ok((if fill { format!("{value:0width$}") } else { value.to_string() }, Some(value)))
        };
        let plain = |value: i64, width: usize| {
            Ok((if fill { format!("{value:0width$}") } else { value.to_string() }, Some(value)))
        };
        match found {
            "YYYY" => number(fields.year, 4),
            "YYY" => number(fields.year % 1000, 3),
            "YY" => number(fields.year % 100, 2),
            "Y" => number(fields.year % 10, 1),
            "MM" => number(fields.month, 2),
            "DD" => plain(fields.day, 2),
            "DDD" => plain(i64::from(span.months) * 30 + fields.day, 3),
            "CC" => number(fields.year / 100, 2),
            "W" => plain((fields.day - 1) / 7 + 1, 1),
            "WW" => plain((i64::from(span.months) * 30 + fields.day - 1) / 7 + 1, 2),
            "Q" if fields.month == 0 => Ok((String::new(), None)),
            "Q" => plain((fields.month - 1) / 3 + 1, 1),
            "J" => plain(julian(&fields), 1),
            "IW" => plain(iso_week(&fields).1, 2),
            "IDDD" => plain(julian(&fields) - iso_start(iso_week(&fields).0) + 1, 3),
            "IYYY" => plain(iso_week(&fields).0, 4 + before),
            "IYY" => plain(iso_week(&fields).0 % 1000, 3 + before),
            "IY" => plain(iso_week(&fields).0 % 100, 2 + before),
            "I" => plain(iso_week(&fields).0 % 10, 1 + before),
            "Y,YYY" => {
                let text = format!("{},{:03}", fields.year / 1000, fields.year % 1000);
                Ok((text, Some(fields.year)))
            }
            "RM" | "rm" if fields.year == 0 && fields.month == 0 => Ok((String::new(), None)),
            "RM" | "rm" => {
                // Negative months are counted from the end of the year.
                let month = match fields.month {
                    0 if fields.year > 0 => 12,
                    0 => 1,
                    month if month < 0 => 13 + month,
                    month => month,
                };
                Ok(write(&Fields { month, ..fields }, 0, 0, None, found, fill))
            }
            "HH24" => number(fields.hour, 2),
            "HH" | "HH12" => {
                let hour = if fields.hour % 12 == 0 { 12 } else { fields.hour % 12 };
                plain(hour, 2 + usize::from(fields.hour < 0))
            }
            "MI" | "SS" | "SSSS" | "SSSSS" | "MS" | "US" | "FF1" | "FF2" | "FF3" | "FF4" | "FF5" | "FF6" | "AM"
            | "PM" | "am" | "pm" | "A.M." | "P.M." | "a.m." | "p.m." => Ok(write(&fields, 0, 0, None, found, fill)),
            _ => Err(SqlError::new(
                sql_error::state::INVALID_DATETIME_FORMAT,
                "invalid format specification for an interval value",
            )
            .hint("Intervals are not tied to specific calendar dates.")),
        }
    })
    .map(Some)
}

/// Patterns whose letter case determines the case of the output.
const CASED: [&str; 15] =
    ["month", "mon", "day", "dy", "rm", "tz", "am", "pm", "ad", "bc", "a.m.", "p.m.", "a.d.", "b.c.", "of"];

/// Formats a template. `write` returns the text of a pattern, and its number if it is one.
fn fill(pattern: &str, write: impl Fn(&str, bool) -> Result<(String, Option<i64>)>) -> Result<String> {
    let mut out = String::new();
    for part in template::parse(pattern) {
        match part {
            Part::Literal(text) | Part::Bare(text) | Part::Separator(text) => out.push_str(text),
            Part::Pattern { name: "FX" | "fx", .. } => {}
            Part::Pattern { name, fill, translated, ordinal: suffix } => {
                let cased = CASED.contains(&name.to_ascii_lowercase().as_str());
                let canonical = if cased { name.to_string() } else { name.to_ascii_uppercase() };
                let (text, number) = write(&canonical, !fill && !translated)?;
                out.push_str(&text);
                if let (Some(number), Some(upper)) = (number, suffix) {
                    out.push_str(ordinal(number, upper));
                }
            }
        }
    }
    Ok(out)
}

/// The text of a pattern, and its number if it is one.
fn write(
    fields: &Fields,
    local: i64,
    offset: i64,
    zone: Option<TimeZone>,
    pattern: &str,
    fill: bool,
) -> (String, Option<i64>) {
    let number = |value: i64, width: usize| {
        let width = width + usize::from(value < 0);
        (if fill { format!("{value:0width$}") } else { value.to_string() }, Some(value))
    };
    let padded = |name: String| (if fill { format!("{name:<9}") } else { name }, None);
    let year = if fields.year > 0 { fields.year } else { 1 - fields.year };
    let month = MONTHS.get((fields.month - 1).max(0) as usize).copied().unwrap_or_default();
    let weekday = DAYS.get(fields.day_of_week() as usize).copied().unwrap_or_default();
    // An interval may have more than 24 hours.
    let noon = |letters: (&str, &str)| (if fields.hour % 24 < 12 { letters.0 } else { letters.1 }.to_string(), None);
    let era = |letters: (&str, &str)| (if fields.year > 0 { letters.1 } else { letters.0 }.to_string(), None);
    let hour12 = if fields.hour % 12 == 0 { 12 } else { fields.hour % 12 };
    let iso_year = fields.iso_week().0;
    let iso_year = if iso_year > 0 { iso_year } else { 1 - iso_year };
    let (sign, east) = if offset < 0 { ('-', -offset) } else { ('+', offset) };
    match pattern {
        "YYYY" => number(year, 4),
        "YYY" => number(year % 1000, 3),
        "YY" => number(year % 100, 2),
        "Y" => number(year % 10, 1),
        "Y,YYY" => (format!("{},{:03}", year / 1000, year % 1000), Some(year)),
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
        "D" => number(fields.day_of_week() + 1, 1),
        "ID" => number(fields.iso_day_of_week(), 1),
        "W" => number((fields.day - 1) / 7 + 1, 1),
        "WW" => number((fields.day_of_year() - 1) / 7 + 1, 2),
        "IW" => number(fields.iso_week().1, 2),
        "CC" => number(fields.span(100), 2),
        "Q" => number(fields.quarter(), 1),
        "J" => number(fields.julian(), 1),
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
            let name = zone.map(|zone| zone.abbreviation_at(local - offset * SECOND)).unwrap_or_default();
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
            binary::<Interval, Text, Text, _>(|span: Span, pattern: &str| {
                crate::typed::Nullable(format_interval(span, pattern))
            }),
        ),
        ScalarFunction::new(
            "to_char",
            &[SqlType::TIMESTAMP, text],
            text,
            Stability::Immutable,
            binary::<Timestamp, Text, Text, _>(|local: i64, pattern: &str| {
                crate::typed::Nullable(format(local, 0, None, pattern))
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
    use types::datetime::{Reading, parse_timestamp};

    #[test]
    fn as_postgresql_formats() {
        let moment = parse_timestamp("2001-02-06 20:08:40.12", &Reading::PLAIN).unwrap();
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
            ("FMDDTH FMDDth \"a\\\"b\" \\\"x", "6TH 6th a\"b \"x"),
            ("TMMonth CCth Y,YYY RM fmdd", "February 21st 2,001 II   6"),
            ("Yyyy hh24 tZ", "1001 20 tZ"),
        ] {
            assert_eq!(format(moment, 0, None, pattern).unwrap().unwrap(), text, "{pattern}");
        }
    }
}
