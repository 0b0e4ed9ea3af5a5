//! The functions age and date_bin, over moments and intervals.

use crate::kernel::{Call, Kernel, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Interval, SqlWrite, Timestamp, Timestamptz, binary, ternary};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::datetime::{DAY, in_timestamp_range, is_finite, to_local};
use types::interval::Interval as Span;

/// age of moments of UTC by the clock of the session's zone. With one argument, age from today's midnight.
fn zoned_age(call: &Call<'_>) -> Result<datafusion::arrow::array::ArrayRef> {
    let context = call.context()?;
    let zone = context.settings.time_zone();
    let zoned = call.types.first() == Some(&SqlType::TIMESTAMPTZ);
    let local = |moment: i64| if zoned { to_local(moment, zone) } else { moment };
    let today = to_local(context.transaction_time, zone).div_euclid(DAY) * DAY;
    let first = call.column::<Timestamp>(0)?;
    let second = if call.arguments.len() > 1 { Some(call.column::<Timestamp>(1)?) } else { None };
    let mut builder = Interval::builder(call.rows);
    for row in 0..call.rows {
        let value = match (&second, first.get(row)?) {
            (Some(second), Some(to)) => match second.get(row)? {
                Some(from) => Some(Span::age(local(from), local(to))?),
                None => None,
            },
            (None, Some(from)) => Some(Span::age(local(from), today)?),
            (_, None) => None,
        };
        Interval::append(&mut builder, value)?;
    }
    Ok(Interval::finish(builder))
}

/// The start of the moment's bin. Bins are one stride long and begin at the origin.
fn bin(stride: Span, moment: i64, origin: i64) -> Result<i64> {
    if !is_finite(moment) {
        return Ok(moment);
    }
    let wrong = |message: &str| Err(SqlError::new(state::DATETIME_FIELD_OVERFLOW, message));
    if !is_finite(origin) {
        return wrong("origin out of range");
    }
    if stride.months != 0 {
        let message = "timestamps cannot be binned into intervals containing months or years";
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
    }
    let length = i64::from(stride.days).checked_mul(DAY).and_then(|days| days.checked_add(stride.micros));
    let Some(length) = length else { return wrong("interval out of range") };
    if length <= 0 {
        return wrong("stride must be greater than zero");
    }
    let Some(since) = moment.checked_sub(origin).map(i128::from) else { return wrong("interval out of range") };
    let start = i128::from(origin) + since.div_euclid(i128::from(length)) * i128::from(length);
    i64::try_from(start)
        .ok()
        .filter(|start| in_timestamp_range(*start))
        .map_or_else(|| wrong("timestamp out of range"), Ok)
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (interval, timestamp, timestamptz) = (SqlType::INTERVAL, SqlType::TIMESTAMP, SqlType::TIMESTAMPTZ);
    let age =
        |arguments: &[SqlType], stability, kernel| ScalarFunction::new("age", arguments, interval, stability, kernel);
    let plain = binary::<Timestamp, Timestamp, Interval, _>(|to: i64, from: i64| Span::age(from, to));
    let zoned: Kernel = Arc::new(zoned_age);
    let (immutable, stable) = (Stability::Immutable, Stability::Stable);
    vec![
        age(&[timestamp, timestamp], immutable, plain),
        age(&[timestamptz, timestamptz], stable, Arc::clone(&zoned)),
        age(&[timestamp], stable, Arc::clone(&zoned)),
        age(&[timestamptz], stable, zoned),
        ScalarFunction::new(
            "date_bin",
            &[interval, timestamp, timestamp],
            timestamp,
            immutable,
            ternary::<Interval, Timestamp, Timestamp, Timestamp, _>(bin),
        ),
        ScalarFunction::new(
            "date_bin",
            &[interval, timestamptz, timestamptz],
            timestamptz,
            immutable,
            ternary::<Interval, Timestamptz, Timestamptz, Timestamptz, _>(bin),
        ),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bins() {
        let quarter = Span::new(0, 0, 900_000_000);
        assert_eq!(bin(quarter, 1_000_000_000, 0).unwrap(), 900_000_000);
        assert_eq!(bin(quarter, -1, 0).unwrap(), -900_000_000);
        assert_eq!(bin(Span::default(), 0, 0).unwrap_err().state(), "22008");
        assert_eq!(bin(Span::new(1, 0, 0), 0, 0).unwrap_err().state(), "0A000");
    }
}
