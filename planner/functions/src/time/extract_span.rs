//! The functions extract and date_part of intervals and times.

use super::field::HOUR;
use super::unit::{self, unsupported};
use crate::kernel::Stability;
use crate::registry::ScalarFunction;
use crate::typed::{Float8, Int8, Interval, Numeric, SqlRead, Text, TimeTz, binary};
use sql_error::Result;
use types::SqlType;
use types::datetime::SECOND;
use types::interval::Interval as Span;
use types::numeric::Numeric as Number;
use types::time::TimeTz as ZonedTime;

/// A field of hours, minutes or seconds. Each has the sign of the whole.
fn of_clock(name: &str, micros: i64) -> Option<Number> {
    let in_minute = micros % (60 * SECOND);
    Some(match name {
        "microseconds" => Number::from(in_minute),
        "milliseconds" => Number::new(i128::from(in_minute), 3),
        "second" => Number::new(i128::from(in_minute), 6),
        "minute" => Number::from(micros / (60 * SECOND) % 60),
        "hour" => Number::from(micros / (HOUR * SECOND)),
        _ => return None,
    })
}

fn of_interval(field: &str, span: Span) -> Result<Number> {
    let name = unit::field(field, "interval")?;
    let (years, months) = (i64::from(span.months / 12), i64::from(span.months % 12));
    if let Some(number) = of_clock(name, span.micros) {
        return Ok(number);
    }
    Ok(Number::from(match name {
        "day" => i64::from(span.days),
        "month" => months,
        "quarter" => months / 3 + 1,
        "year" => years,
        "decade" => years / 10,
        "century" => years / 100,
        "millennium" => years / 1000,
        "epoch" => {
            // A year counts 365.25 days here, a month 30.
            let quarter_days = i128::from(years) * 1461 + i128::from(months) * 120 + i128::from(span.days) * 4;
            return Ok(Number::new(quarter_days * 21_600_000_000 + i128::from(span.micros), 6));
        }
        _ => return Err(unsupported(field, "interval")),
    }))
}

fn of_time(field: &str, micros: i64) -> Result<Number> {
    let name = unit::field(field, "time without time zone")?;
    match of_clock(name, micros) {
        Some(number) => Ok(number),
        None if name == "epoch" => Ok(Number::new(i128::from(micros), 6)),
        None => Err(unsupported(field, "time without time zone")),
    }
}

fn of_timetz(field: &str, time: ZonedTime) -> Result<Number> {
    let name = unit::field(field, "time with time zone")?;
    let offset = i64::from(time.offset);
    if let Some(number) = of_clock(name, time.micros) {
        return Ok(number);
    }
    Ok(match name {
        "epoch" => Number::new(i128::from(time.micros - offset * SECOND), 6),
        "timezone" => Number::from(offset),
        "timezone_hour" => Number::from(offset / HOUR),
        "timezone_minute" => Number::from(offset / 60 % 60),
        _ => return Err(unsupported(field, "time with time zone")),
    })
}

fn both<A: SqlRead>(
    ty: SqlType,
    field: impl for<'a> Fn(&str, A::Item<'a>) -> Result<Number> + Copy + Send + Sync + 'static,
) -> Vec<ScalarFunction> {
    let arguments = [SqlType::TEXT, ty];
    let immutable = Stability::Immutable;
    vec![
        ScalarFunction::new(
            "extract",
            &arguments,
            SqlType::NUMERIC,
            immutable,
            binary::<Text, A, Numeric, _>(move |name: &str, value: A::Item<'_>| field(name, value)),
        ),
        ScalarFunction::new(
            "date_part",
            &arguments,
            SqlType::FLOAT8,
            immutable,
            binary::<Text, A, Float8, _>(move |name: &str, value: A::Item<'_>| field(name, value)?.to_f64()),
        ),
    ]
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    [
        both::<Interval>(SqlType::INTERVAL, of_interval),
        both::<Int8>(SqlType::TIME, of_time),
        both::<TimeTz>(SqlType::TIMETZ, of_timetz),
    ]
    .concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sql_error::state;

    #[test]
    fn fields_as_postgresql_answers_them() {
        let span = Span::new(14, 3, 4 * HOUR * SECOND + 65_500_000);
        for (field, value) in [
            ("year", "1"),
            ("month", "2"),
            ("quarter", "1"),
            ("day", "3"),
            ("hour", "4"),
            ("minute", "1"),
            ("second", "5.500000"),
            ("milliseconds", "5500.000"),
            ("epoch", "37015265.500000"),
        ] {
            assert_eq!(of_interval(field, span).unwrap().to_string(), value, "{field}");
        }
        assert_eq!(of_interval("week", span).unwrap_err().state(), state::FEATURE_NOT_SUPPORTED);
        assert_eq!(of_interval("nosuch", span).unwrap_err().state(), state::INVALID_PARAMETER_VALUE);
        assert_eq!(of_time("day", 0).unwrap_err().state(), state::FEATURE_NOT_SUPPORTED);
        let time = ZonedTime { micros: 0, offset: -12_600 };
        assert_eq!(of_timetz("timezone_minute", time).unwrap().to_string(), "-30");
    }
}
