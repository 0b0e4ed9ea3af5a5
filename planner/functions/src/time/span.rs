//! Functions that make, justify and truncate intervals and times of day.

use crate::kernel::{Call, Kernel, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Bool, Float8, Int4, Int8, Interval, SqlWrite, Text, binary, ternary, unary};
use sql_error::Result;
use std::sync::Arc;
use types::SqlType;
use types::datetime::SECOND;
use types::interval::{Interval as Span, out_of_range};
use types::time::make_time;

/// Truncates an interval to a unit.
fn truncate(field: &str, span: Span) -> Result<Span> {
    let months = |unit: i32| Span::new(span.months / unit * unit, 0, 0);
    let time = |unit: i64| Span { micros: span.micros / unit * unit, ..span };
    Ok(match super::unit::span(field, "interval")? {
        "millennium" => months(12_000),
        "century" => months(1200),
        "decade" => months(120),
        "year" => months(12),
        "quarter" => months(3),
        "month" => months(1),
        "day" => Span { micros: 0, ..span },
        "hour" => time(3600 * SECOND),
        "minute" => time(60 * SECOND),
        "second" => time(SECOND),
        "milliseconds" => time(1000),
        "microseconds" => span,
        "week" => {
            return Err(super::unit::unsupported(field, "interval").detail("Months usually have fractional weeks."));
        }
        _ => return Err(super::unit::unsupported(field, "interval")),
    })
}

/// Makes an interval from years, months, weeks, days, hours, minutes and seconds.
fn make_interval(parts: [i32; 6], seconds: f64) -> Result<Span> {
    let [years, months, weeks, days, hours, minutes] = parts;
    let months = years.checked_mul(12).and_then(|all| all.checked_add(months));
    let days = weeks.checked_mul(7).and_then(|all| all.checked_add(days));
    let micros = (seconds * 1e6).round_ties_even();
    if !micros.is_finite() || micros.abs() >= 9.2e18 {
        return Err(out_of_range());
    }
    let whole = (i64::from(hours) * 60 + i64::from(minutes)) * 60 * SECOND;
    match (months, days, whole.checked_add(micros as i64)) {
        (Some(months), Some(days), Some(micros)) => Ok(Span { months, days, micros }),
        _ => Err(out_of_range()),
    }
}

/// make_interval with its first `count` arguments; the rest are 0.
fn make_interval_of(count: usize) -> ScalarFunction {
    let types: Vec<SqlType> = (0..count).map(|at| if at == 6 { SqlType::FLOAT8 } else { SqlType::INT4 }).collect();
    let kernel: Kernel = Arc::new(|call: &Call<'_>| {
        let mut builder = Interval::builder(call.rows);
        for row in 0..call.rows {
            let (mut parts, mut seconds, mut null) = ([0i32; 6], 0.0, false);
            for at in 0..call.arguments.len() {
                match parts.get_mut(at) {
                    Some(part) => match call.column::<Int4>(at)?.get(row)? {
                        Some(value) => *part = value,
                        None => null = true,
                    },
                    None => match call.column::<Float8>(at)?.get(row)? {
                        Some(value) => seconds = value,
                        None => null = true,
                    },
                }
            }
            let value = if null { None } else { Some(make_interval(parts, seconds)?) };
            Interval::append(&mut builder, value)?;
        }
        Ok(Interval::finish(builder))
    });
    ScalarFunction::new("make_interval", &types, SqlType::INTERVAL, Stability::Immutable, kernel)
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let interval = SqlType::INTERVAL;
    let immutable = Stability::Immutable;
    let of_span = |name, kernel| ScalarFunction::new(name, &[interval], interval, immutable, kernel);
    let mut all: Vec<ScalarFunction> = (0..=7).map(make_interval_of).collect();
    all.extend([
        of_span("frame time", unary::<Interval, Interval, _>(|span: Span| Ok(Span::new(0, 0, span.micros)))),
        of_span("justify_hours", unary::<Interval, Interval, _>(|span: Span| span.justify_hours())),
        of_span("justify_days", unary::<Interval, Interval, _>(|span: Span| span.justify_days())),
        of_span("justify_interval", unary::<Interval, Interval, _>(|span: Span| span.justify())),
        ScalarFunction::new(
            "isfinite",
            &[interval],
            SqlType::BOOL,
            immutable,
            unary::<Interval, Bool, _>(|_: Span| Ok(true)),
        ),
        ScalarFunction::new(
            "date_trunc",
            &[SqlType::TEXT, interval],
            interval,
            immutable,
            binary::<Text, Interval, Interval, _>(truncate),
        ),
        ScalarFunction::new(
            "make_time",
            &[SqlType::INT4, SqlType::INT4, SqlType::FLOAT8],
            SqlType::TIME,
            immutable,
            ternary::<Int4, Int4, Float8, Int8, _>(make_time),
        ),
    ]);
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sql_error::state;

    #[test]
    fn spans_are_cut_and_made() {
        let span = Span::new(27, 3, 3_723_500_000);
        assert_eq!(truncate("year", span).unwrap(), Span::new(24, 0, 0));
        assert_eq!(truncate("day", span).unwrap(), Span::new(27, 3, 0));
        assert_eq!(truncate("minute", span).unwrap(), Span::new(27, 3, 3_720_000_000));
        assert_eq!(truncate("week", span).unwrap_err().state(), state::FEATURE_NOT_SUPPORTED);
        assert_eq!(make_interval([1, 2, 1, 3, 4, 5], 6.5).unwrap(), Span::new(14, 10, 14_706_500_000));
        assert_eq!(make_interval([i32::MAX, 0, 0, 0, 0, 0], 0.0).unwrap_err().state(), "22008");
    }
}
