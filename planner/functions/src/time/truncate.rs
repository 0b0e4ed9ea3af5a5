//! The function date_trunc of moments.

use super::field::{Fields, HOUR};
use super::unit;
use crate::kernel::{Call, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{SqlWrite, Text, Timestamp, Timestamptz, binary};
use sql_error::Result;
use std::sync::Arc;
use types::SqlType;
use types::datetime::{DAY, SECOND, checked_timestamp, days_from_civil, is_finite, to_local, to_utc, zone};

/// Truncates a local moment to `field`.
fn truncate(field: &str, local: i64, type_name: &str) -> Result<i64> {
    if !is_finite(local) {
        return Ok(local);
    }
    let unit = unit::span(field, type_name)?;
    let fields = Fields::new(local);
    let year = |year: i64| days_from_civil(year, 1, 1) * DAY;
    // The first year of a century, decade or millennium that begins with a year ending in 1.
    let span = |years: i64| (fields.year - 1).div_euclid(years) * years + 1;
    checked_timestamp(match unit {
        "microseconds" => local,
        "milliseconds" => local.div_euclid(1000) * 1000,
        "second" => local.div_euclid(SECOND) * SECOND,
        "minute" => local.div_euclid(60 * SECOND) * 60 * SECOND,
        "hour" => local.div_euclid(HOUR * SECOND) * HOUR * SECOND,
        "day" => fields.days * DAY,
        "week" => (fields.days - fields.iso_day_of_week() + 1) * DAY,
        "month" => days_from_civil(fields.year, fields.month, 1) * DAY,
        "quarter" => days_from_civil(fields.year, (fields.quarter() - 1) * 3 + 1, 1) * DAY,
        "year" => year(fields.year),
        "decade" => year(fields.decade() * 10),
        "century" => year(span(100)),
        "millennium" => year(span(1000)),
        _ => return Err(unit::unsupported(field, type_name)),
    })
}

/// The truncated moment in UTC. For hours and less, the moment's own offset applies, since an hour may occur twice.
fn back(field: &str, utc: i64, local: i64, start: i64, to_utc: impl Fn(i64) -> i64) -> i64 {
    let fine = ["hour", "minute", "second", "milliseconds", "microseconds"];
    if !unit::span(field, WITH_ZONE).is_ok_and(|unit| fine.contains(&unit)) || !is_finite(start) {
        to_utc(start)
    } else {
        start - (local - utc)
    }
}

const WITH_ZONE: &str = "timestamp with time zone";

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, timestamp, timestamptz) = (SqlType::TEXT, SqlType::TIMESTAMP, SqlType::TIMESTAMPTZ);
    vec![
        ScalarFunction::new(
            "date_trunc",
            &[text, timestamp],
            timestamp,
            Stability::Immutable,
            binary::<Text, Timestamp, Timestamp, _>(|field: &str, local: i64| {
                truncate(field, local, "timestamp without time zone")
            }),
        ),
        ScalarFunction::new(
            "date_trunc",
            &[text, timestamptz],
            timestamptz,
            Stability::Stable,
            Arc::new(|call: &Call<'_>| {
                let zone = call.context()?.settings.time_zone();
                let (names, moments) = (call.column::<Text>(0)?, call.column::<Timestamptz>(1)?);
                let mut builder = Timestamptz::builder(call.rows);
                for row in 0..call.rows {
                    let value = match (names.get(row)?, moments.get(row)?) {
                        (Some(field), Some(utc)) => {
                            let local = to_local(utc, zone);
                            let start = truncate(field, local, WITH_ZONE)?;
                            Some(checked_timestamp(back(field, utc, local, start, |start| to_utc(start, zone)))?)
                        }
                        _ => None,
                    };
                    Timestamptz::append(&mut builder, value)?;
                }
                Ok(Timestamptz::finish(builder))
            }),
        ),
        ScalarFunction::new(
            "date_trunc",
            &[text, timestamptz, text],
            timestamptz,
            Stability::Immutable,
            crate::typed::ternary::<Text, Timestamptz, Text, Timestamptz, _>(|field: &str, utc: i64, name: &str| {
                if !is_finite(utc) {
                    return Ok(utc);
                }
                let zone = zone(name)?;
                let local = zone.to_local(utc);
                let start = truncate(field, local, WITH_ZONE)?;
                checked_timestamp(back(field, utc, local, start, |start| zone.to_utc(start)))
            }),
        ),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use types::datetime::{DateFormat, Reading, parse_timestamp, write_timestamp};

    #[test]
    fn starts() {
        let moment = parse_timestamp("2001-02-16 20:38:40.123456", &Reading::PLAIN).unwrap();
        for (field, start) in [
            ("millisecond", "2001-02-16 20:38:40.123"),
            ("minute", "2001-02-16 20:38:00"),
            ("hour", "2001-02-16 20:00:00"),
            ("day", "2001-02-16 00:00:00"),
            ("week", "2001-02-12 00:00:00"),
            ("month", "2001-02-01 00:00:00"),
            ("quarter", "2001-01-01 00:00:00"),
            ("year", "2001-01-01 00:00:00"),
            ("decade", "2000-01-01 00:00:00"),
            ("century", "2001-01-01 00:00:00"),
            ("millennium", "2001-01-01 00:00:00"),
        ] {
            let mut out = Vec::new();
            write_timestamp(truncate(field, moment, "timestamp").unwrap(), DateFormat::ISO, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), start, "{field}");
        }
        assert!(truncate("x", moment, "timestamp").is_err());
    }
}
