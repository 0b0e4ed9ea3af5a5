//! to_date and to_timestamp with a format. Patterns beyond the common ones are refused.

use super::to_char::{MONTHS, PATTERNS};
use crate::error::{Result, SqlError, state};
use crate::functions::kernel::{Call, Stability};
use crate::functions::registry::ScalarFunction;
use crate::functions::typed::{Date, SqlWrite, Text, Timestamptz, binary};
use crate::types::SqlType;
use crate::types::datetime::{DAY, SECOND, days_from_civil, days_in_month, to_utc};
use std::sync::Arc;

/// Days since 1970-01-01 and microseconds of the day.
fn parse(text: &str, pattern: &str) -> Result<(i64, i64)> {
    let (mut year, mut month, mut day) = (None::<i64>, 1i64, 1i64);
    let (mut hour, mut minute, mut second, mut micros) = (0i64, 0i64, 0i64, 0i64);
    let (mut after_noon, mut half_day, mut day_of_year) = (None, false, None);
    let upper = pattern.to_uppercase();
    let (mut format, mut input) = (upper.as_str(), text);
    while !format.is_empty() {
        format = format.strip_prefix("FM").or_else(|| format.strip_prefix("FX")).unwrap_or(format);
        let found = PATTERNS
            .iter()
            .filter(|known| !known.chars().any(char::is_lowercase))
            .find(|known| format.starts_with(**known));
        let Some(found) = found else {
            let Some(c) = format.chars().next() else { break };
            format = format.get(c.len_utf8()..).unwrap_or_default();
            if c.is_ascii_alphanumeric() && c != 'T' {
                return Err(SqlError::unsupported(format!("pattern \"{c}\" in to_date or to_timestamp")));
            }
            // A separator stands for any separator, or none.
            input = match input.strip_prefix(|given: char| given == c || !given.is_alphanumeric()) {
                Some(rest) => rest,
                None => input,
            };
            continue;
        };
        format = format.get(found.len()..).unwrap_or_default();
        input = input.trim_start();
        let widest = match *found {
            "YYYY" if !format.starts_with(|c: char| c.is_ascii_alphanumeric()) => 9,
            "YYYY" => 4,
            "US" => 6,
            "MS" | "DDD" | "YYY" => 3,
            "Y" => 1,
            "SSSS" | "SSSSS" => 5,
            _ => 2,
        };
        let name = |names: &[&str], length: usize| -> Option<(i64, usize)> {
            names.iter().enumerate().find_map(|(at, name)| {
                let wanted = name.get(..length.min(name.len()))?;
                let given = input.get(..wanted.len())?;
                given.eq_ignore_ascii_case(wanted).then_some((at as i64 + 1, wanted.len()))
            })
        };
        let bad = || {
            let given: String = input.chars().take(widest).collect();
            SqlError::new(state::INVALID_DATETIME_FORMAT, format!("invalid value \"{given}\" for \"{found}\""))
        };
        let used = match *found {
            "MONTH" | "MON" => {
                let (number, used) = name(&MONTHS, if *found == "MON" { 3 } else { 9 }).ok_or_else(bad)?;
                month = number;
                used
            }
            "AM" | "PM" => {
                let (number, used) = name(&["AM", "PM"], 2).ok_or_else(bad)?;
                after_noon = Some(number == 2);
                used
            }
            "YYYY" | "YYY" | "YY" | "Y" | "MM" | "DD" | "DDD" | "HH24" | "HH12" | "HH" | "MI" | "SS" | "MS" | "US"
            | "SSSS" | "SSSSS" => {
                let used = input.bytes().take(widest).take_while(u8::is_ascii_digit).count();
                let digits = input.get(..used).unwrap_or_default();
                let number: i64 = digits.parse().map_err(|_| bad())?;
                match *found {
                    "YYYY" => year = Some(number),
                    "YYY" => year = Some(if number < 520 { 2000 } else { 1000 } + number),
                    "YY" => year = Some(if number < 70 { 2000 } else { 1900 } + number),
                    "Y" => year = Some(2000 + number),
                    "MM" => month = number,
                    "DD" => day = number,
                    "DDD" => day_of_year = Some(number),
                    "HH24" => hour = number,
                    "HH12" | "HH" => (hour, half_day) = (number, true),
                    "MI" => minute = number,
                    "SS" => second = number,
                    "SSSS" | "SSSSS" => (hour, minute, second) = (number / 3600, number / 60 % 60, number % 60),
                    fraction => {
                        let places = if fraction == "MS" { 3 } else { 6 };
                        let scaled: String = format!("{digits:0<places$}");
                        let value: i64 = scaled.parse().map_err(|_| bad())?;
                        micros += if fraction == "MS" { value * 1000 } else { value };
                    }
                }
                used
            }
            other => return Err(SqlError::unsupported(format!("pattern \"{other}\" in to_date or to_timestamp"))),
        };
        input = input.get(used..).unwrap_or_default();
    }
    if half_day {
        hour = hour % 12 + if after_noon == Some(true) { 12 } else { 0 };
    }
    let year = year.unwrap_or(0);
    let out_of_range =
        || SqlError::new(state::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{text}\""));
    if hour > 23 || minute > 59 || second > 59 {
        return Err(out_of_range());
    }
    let time = ((hour * 60 + minute) * 60 + second) * SECOND + micros;
    if let Some(of_year) = day_of_year {
        return Ok((days_from_civil(year, 1, 1) + of_year - 1, time));
    }
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return Err(out_of_range());
    }
    Ok((days_from_civil(year, month, day), time))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    vec![
        ScalarFunction::new(
            "to_date",
            &[text, text],
            SqlType::DATE,
            Stability::Immutable,
            binary::<Text, Text, Date, _>(|text: &str, pattern: &str| {
                i32::try_from(parse(text, pattern)?.0).map_err(|_| crate::types::datetime::out_of_range("date"))
            }),
        ),
        ScalarFunction::new(
            "to_timestamp",
            &[text, text],
            SqlType::TIMESTAMPTZ,
            Stability::Stable,
            Arc::new(|call: &Call<'_>| {
                let zone = call.context()?.settings.time_zone();
                let (texts, patterns) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
                let mut builder = Timestamptz::builder(call.rows);
                for row in 0..call.rows {
                    let value = match (texts.get(row)?, patterns.get(row)?) {
                        (Some(text), Some(pattern)) => {
                            let (days, time) = parse(text, pattern)?;
                            let local = days
                                .checked_mul(DAY)
                                .and_then(|day| day.checked_add(time))
                                .ok_or_else(|| crate::types::datetime::out_of_range("timestamp"))?;
                            Some(to_utc(local, zone))
                        }
                        _ => None,
                    };
                    Timestamptz::append(&mut builder, value)?;
                }
                Ok(Timestamptz::finish(builder))
            }),
        ),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn common_formats() {
        let day = days_from_civil(2000, 12, 5);
        assert_eq!(parse("05 Dec 2000", "DD Mon YYYY").unwrap(), (day, 0));
        assert_eq!(parse("2000-12-05", "YYYY-MM-DD").unwrap(), (day, 0));
        assert_eq!(parse("20001205", "YYYYMMDD").unwrap(), (day, 0));
        assert_eq!(
            parse("2000-12-05 01:02:03.5 PM", "YYYY-MM-DD HH12:MI:SS.MS AM").unwrap().1,
            ((13 * 60 + 2) * 60 + 3) * SECOND + 500_000
        );
        assert_eq!(parse("2000-13-05", "YYYY-MM-DD").unwrap_err().state(), state::DATETIME_FIELD_OVERFLOW);
        assert_eq!(parse("x", "YYYY").unwrap_err().state(), state::INVALID_DATETIME_FORMAT);
    }
}
