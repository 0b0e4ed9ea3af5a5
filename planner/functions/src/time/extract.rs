//! The functions extract, date_part, isfinite, make_date and make_timestamp.

use super::field::{Fields, HOUR};
use super::unit;
use crate::kernel::{Call, Kernel, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Bool, Date, Float8, Int4, Numeric, SqlWrite, Text, Timestamp, Timestamptz, unary};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::datetime::{
    DAY, END_TIMESTAMP, MIN_TIMESTAMP, SECOND, UNIX_EPOCH, UNIX_EPOCH_DAY, date_to_timestamp, days_from_civil,
    days_in_month, in_date_range, in_timestamp_range, is_finite, offset_at_utc,
};
use types::numeric::Numeric as Number;

/// The type of the value that a field is extracted from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Date,
    Timestamp,
    Timestamptz,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Source::Date => "date",
            Source::Timestamp => "timestamp without time zone",
            Source::Timestamptz => "timestamp with time zone",
        }
    }
}

/// Extracts a field of a moment in microseconds (of UTC for timestamptz). `offset` is in seconds east of UTC.
fn extract(field: &str, source: Source, micros: i64, offset: i64) -> Result<Option<Number>> {
    if is_finite(micros) {
        let local = micros.saturating_add(offset * SECOND);
        // PostgreSQL divides numbers beyond an int8 of microseconds since 1970, which gives fewer digits.
        let since = match micros.checked_sub(UNIX_EPOCH) {
            Some(since) => Number::new(i128::from(since), 6),
            None => Number::new(i128::from(micros) - i128::from(UNIX_EPOCH), 0).div(&Number::from(SECOND))?.round(6),
        };
        return extract_finite(field, source, &Fields::new(local), local.rem_euclid(DAY), since, offset);
    }
    // Check the field's name on an arbitrary day.
    let unit = unit::field(field, source.name())?;
    if !(source == Source::Timestamp && unit.starts_with("timezone")) {
        extract_finite(field, source, &Fields::new(0), 0, Number::from(0), offset)?;
    }
    Ok(match unit {
        "epoch" | "year" | "julian" | "decade" | "century" | "millennium" | "isoyear" => {
            Some(if micros > 0 { Number::Infinity } else { Number::NegativeInfinity })
        }
        _ => None,
    })
}

/// Extracts a field of a date.
fn extract_date(field: &str, date: i32) -> Result<Option<Number>> {
    match date {
        i32::MIN => extract(field, Source::Date, i64::MIN, 0),
        i32::MAX => extract(field, Source::Date, i64::MAX, 0),
        // Dates have a wider range than timestamps.
        _ => {
            let days = i64::from(date);
            let since = Number::from((days - UNIX_EPOCH_DAY) * (DAY / SECOND));
            extract_finite(field, Source::Date, &Fields::at(days, 0), 0, since, 0)
        }
    }
}

/// Extracts a field of a finite value: its parts, microseconds of the day, seconds since 1970.
fn extract_finite(
    field: &str,
    source: Source,
    fields: &Fields,
    of_day: i64,
    since: Number,
    offset: i64,
) -> Result<Option<Number>> {
    let name = unit::field(field, source.name())?;
    let whole = |value: i64| Ok(Some(Number::from(value)));
    let unsupported = || Err(unit::unsupported(field, source.name()));
    let date = source == Source::Date;
    match name {
        "year" => whole(fields.shown_year()),
        "month" => whole(fields.month),
        "day" => whole(fields.day),
        "quarter" => whole(fields.quarter()),
        "week" => whole(fields.iso_week().1),
        "isoyear" => {
            let year = fields.iso_week().0;
            whole(if year > 0 { year } else { year - 1 })
        }
        "dow" => whole(fields.day_of_week()),
        "isodow" => whole(fields.iso_day_of_week()),
        "doy" => whole(fields.day_of_year()),
        "decade" => whole(fields.decade()),
        "century" => whole(fields.span(100)),
        "millennium" => whole(fields.span(1000)),
        "julian" if date => whole(fields.julian()),
        "julian" => {
            let fraction = Number::from(of_day).div(&Number::from(DAY))?;
            Ok(Some(Number::from(fields.julian()).add(&fraction)))
        }
        "epoch" => Ok(Some(since)),
        _ if date => unsupported(),
        "hour" => whole(fields.hour),
        "minute" => whole(fields.minute),
        "second" => Ok(Some(Number::new(i128::from(fields.second * SECOND + fields.micros), 6))),
        "milliseconds" => Ok(Some(Number::new(i128::from(fields.second * SECOND + fields.micros), 3))),
        "microseconds" => whole(fields.second * SECOND + fields.micros),
        "timezone" | "timezone_hour" | "timezone_minute" if source == Source::Timestamp => unsupported(),
        "timezone" => whole(offset),
        "timezone_hour" => whole(offset / HOUR),
        "timezone_minute" => whole(offset / 60 % 60),
        _ => unsupported(),
    }
}

/// A kernel over the source's type that passes each number to `write`.
fn kernel<R: SqlWrite>(source: Source, write: fn(Number) -> Result<R::Owned>) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let names = call.column::<Text>(0)?;
        let zone = match source {
            Source::Timestamptz => Some(call.context()?.settings.time_zone()),
            _ => None,
        };
        let mut builder = R::builder(call.rows);
        for row in 0..call.rows {
            let found = match (names.get(row)?, source) {
                (None, _) => None,
                (Some(field), Source::Date) => match call.column::<Date>(1)?.get(row)? {
                    Some(date) => extract_date(field, date)?,
                    None => None,
                },
                (Some(field), _) => match call.column::<Timestamp>(1)?.get(row)? {
                    Some(micros) => extract(field, source, micros, zone.map_or(0, |zone| offset_at_utc(zone, micros)))?,
                    None => None,
                },
            };
            R::append(&mut builder, found.map(write).transpose()?)?;
        }
        Ok(R::finish(builder))
    })
}

/// Writes six digits, as C's `%g` does.
fn short_float(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if (-4..6).contains(&exponent) {
        return trimmed(&format!("{value:.*}", (5 - exponent) as usize));
    }
    format!("{}e{}{:02}", trimmed(digits), if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn make_date(year: i32, month: i32, day: i32) -> Result<i32> {
    let astronomical = i64::from(if year < 0 { year + 1 } else { year });
    // PostgreSQL's message shows the year 1 BC as 0.
    let invalid = || {
        SqlError::new(
            state::DATETIME_FIELD_OVERFLOW,
            format!("date field value out of range: {astronomical}-{month:02}-{day:02}"),
        )
    };
    if year == 0
        || !(1..=12).contains(&month)
        || day < 1
        || i64::from(day) > days_in_month(astronomical, i64::from(month))
    {
        return Err(invalid());
    }
    let days = days_from_civil(astronomical, i64::from(month), i64::from(day));
    if in_date_range(days) { Ok(days as i32) } else { Err(invalid()) }
}

/// A local timestamp from year, month, day, hour, minute and seconds. Errors: 22008.
pub(super) fn timestamp_of([year, month, day, hour, minute]: [i32; 5], seconds: f64) -> Result<i64> {
    let beyond_day = hour == 24 && (minute > 0 || seconds > 0.0);
    if beyond_day || !(0..=24).contains(&hour) || !(0..60).contains(&minute) || !(0.0..=60.0).contains(&seconds) {
        return Err(SqlError::new(
            state::DATETIME_FIELD_OVERFLOW,
            format!("time field value out of range: {hour}:{minute:02}:{seconds:02}"),
        ));
    }
    let beyond = || {
        let message = format!("timestamp out of range: {year}-{month:02}-{day:02} {hour}:{minute:02}:{seconds:02}");
        SqlError::new(state::DATETIME_FIELD_OVERFLOW, message)
    };
    let midnight = date_to_timestamp(make_date(year, month, day)?).map_err(|_| beyond())?;
    let time = (i64::from(hour) * 60 + i64::from(minute)) * 60 * SECOND + (seconds * 1e6).round_ties_even() as i64;
    Some(midnight + time).filter(|moment| in_timestamp_range(*moment)).ok_or_else(beyond)
}

fn make_timestamp(call: &Call<'_>) -> Result<datafusion::arrow::array::ArrayRef> {
    let seconds = call.column::<Float8>(5)?;
    let mut builder = Timestamp::builder(call.rows);
    for row in 0..call.rows {
        let mut parts = [0i32; 5];
        let mut null = false;
        for (at, part) in parts.iter_mut().enumerate() {
            match call.column::<Int4>(at)?.get(row)? {
                Some(value) => *part = value,
                None => null = true,
            }
        }
        let value = match seconds.get(row)? {
            Some(seconds) if !null => Some(timestamp_of(parts, seconds)?),
            _ => None,
        };
        Timestamp::append(&mut builder, value)?;
    }
    Ok(Timestamp::finish(builder))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, date, timestamp, timestamptz) = (SqlType::TEXT, SqlType::DATE, SqlType::TIMESTAMP, SqlType::TIMESTAMPTZ);
    let (int4, float8, boolean) = (SqlType::INT4, SqlType::FLOAT8, SqlType::BOOL);
    let immutable = Stability::Immutable;
    let mut all = Vec::new();
    for (source, ty) in [(Source::Date, date), (Source::Timestamp, timestamp), (Source::Timestamptz, timestamptz)] {
        let stability = if source == Source::Timestamptz { Stability::Stable } else { immutable };
        all.push(ScalarFunction::new(
            "extract",
            &[text, ty],
            SqlType::NUMERIC,
            stability,
            kernel::<Numeric>(source, Ok),
        ));
        // date_part of a date is that of its timestamp.
        let source = if source == Source::Date { None } else { Some(source) };
        if let Some(source) = source {
            all.push(ScalarFunction::new(
                "date_part",
                &[text, ty],
                float8,
                stability,
                kernel::<Float8>(source, |value| value.to_f64()),
            ));
        }
    }
    all.push(ScalarFunction::new(
        "date_part",
        &[text, date],
        float8,
        immutable,
        Arc::new(|call: &Call<'_>| {
            let (names, dates) = (call.column::<Text>(0)?, call.column::<Date>(1)?);
            let mut builder = Float8::builder(call.rows);
            for row in 0..call.rows {
                let value = match (names.get(row)?, dates.get(row)?) {
                    (Some(field), Some(date)) => extract(field, Source::Timestamp, date_to_timestamp(date)?, 0)?
                        .map(|value| value.to_f64())
                        .transpose()?,
                    _ => None,
                };
                Float8::append(&mut builder, value)?;
            }
            Ok(Float8::finish(builder))
        }),
    ));
    all.push(ScalarFunction::new(
        "isfinite",
        &[date],
        boolean,
        immutable,
        unary::<Date, Bool, _>(|v: i32| Ok(v != i32::MIN && v != i32::MAX)),
    ));
    for ty in [timestamp, timestamptz] {
        all.push(ScalarFunction::new(
            "isfinite",
            &[ty],
            boolean,
            immutable,
            unary::<Timestamp, Bool, _>(|v: i64| Ok(is_finite(v))),
        ));
    }
    all.push(ScalarFunction::new(
        "make_date",
        &[int4, int4, int4],
        date,
        immutable,
        crate::typed::ternary::<Int4, Int4, Int4, Date, _>(make_date),
    ));
    all.push(ScalarFunction::new(
        "make_timestamp",
        &[int4, int4, int4, int4, int4, float8],
        timestamp,
        immutable,
        Arc::new(make_timestamp),
    ));
    all.push(ScalarFunction::new(
        "to_timestamp",
        &[float8],
        timestamptz,
        immutable,
        unary::<Float8, Timestamptz, _>(|seconds: f64| {
            if seconds.is_infinite() {
                return Ok(if seconds > 0.0 { i64::MAX } else { i64::MIN });
            }
            if seconds.is_nan() {
                return Err(SqlError::new(state::DATETIME_FIELD_OVERFLOW, "timestamp cannot be NaN"));
            }
            // Move the epoch before converting to microseconds: this determines the rounding.
            let micros = ((seconds + (UNIX_EPOCH / SECOND) as f64) * 1e6).round_ties_even();
            let within = (MIN_TIMESTAMP as f64..END_TIMESTAMP as f64).contains(&micros);
            within.then_some(micros as i64).filter(|micros| in_timestamp_range(*micros)).ok_or_else(|| {
                let message = format!("timestamp out of range: \"{}\"", short_float(seconds));
                SqlError::new(state::DATETIME_FIELD_OVERFLOW, message)
            })
        }),
    ));
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use types::datetime::{Reading, parse_timestamp};

    #[test]
    fn fields_as_postgresql_answers_them() {
        let moment = parse_timestamp("2001-02-16 20:38:40.12", &Reading::PLAIN).unwrap();
        let get = |field: &str| extract(field, Source::Timestamp, moment, 0).unwrap().unwrap().to_string();
        for (field, value) in [
            ("century", "21"),
            ("day", "16"),
            ("decade", "200"),
            ("dow", "5"),
            ("doy", "47"),
            ("epoch", "982355920.120000"),
            ("hour", "20"),
            ("isodow", "5"),
            ("isoyear", "2001"),
            ("microseconds", "40120000"),
            ("millennium", "3"),
            ("milliseconds", "40120.000"),
            ("minute", "38"),
            ("month", "2"),
            ("quarter", "1"),
            ("second", "40.120000"),
            ("week", "7"),
            ("year", "2001"),
            ("julian", "2451957.86018657407407407407"),
        ] {
            assert_eq!(get(field), value, "{field}");
        }
        assert_eq!(extract("hour", Source::Date, 0, 0).unwrap_err().state(), state::FEATURE_NOT_SUPPORTED);
        assert_eq!(extract("x", Source::Timestamp, 0, 0).unwrap_err().state(), state::INVALID_PARAMETER_VALUE);
        assert_eq!(make_date(2024, 2, 29).unwrap(), 8_825);
        assert!(make_date(2023, 2, 29).is_err());
    }
}
