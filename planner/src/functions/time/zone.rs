//! AT TIME ZONE: the function timezone, with zones by name and by interval.

use crate::error::{Result, SqlError, state};
use crate::functions::kernel::{Call, Kernel, Stability};
use crate::functions::registry::ScalarFunction;
use crate::functions::typed::{Interval, SqlWrite, Text, TimeTz, Timestamp, Timestamptz, binary};
use crate::types::SqlType;
use crate::types::datetime::{SECOND, offset_at_utc, to_local, to_utc, zone};
use crate::types::interval::{Interval as Span, Style, write_interval};
use crate::types::time::TimeTz as ZonedTime;
use std::sync::Arc;

/// Seconds east of UTC that an interval says. Errors: 22023 for days and months.
fn offset(span: Span) -> Result<i64> {
    if span.months == 0 && span.days == 0 {
        return Ok(span.micros / SECOND);
    }
    let mut shown = Vec::new();
    write_interval(&span, Style::Postgres, &mut shown);
    let message = format!("interval time zone \"{}\" must not include months or days", String::from_utf8_lossy(&shown));
    Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message))
}

fn shifted(moment: i64, seconds: i64) -> i64 {
    if moment == i64::MIN || moment == i64::MAX { moment } else { moment.saturating_add(seconds * SECOND) }
}

/// A time of day by the clock of a named zone, as it goes now.
fn time_in_zone(call: &Call<'_>) -> Result<datafusion::arrow::array::ArrayRef> {
    let now = call.context()?.transaction_time;
    let (names, times) = (call.column::<Text>(0)?, call.column::<TimeTz>(1)?);
    let mut builder = TimeTz::builder(call.rows);
    for row in 0..call.rows {
        let value = match (names.get(row)?, times.get(row)?) {
            (Some(name), Some(time)) => Some(time.at_offset(offset_at_utc(zone(name)?, now) as i32)),
            _ => None,
        };
        TimeTz::append(&mut builder, value)?;
    }
    Ok(TimeTz::finish(builder))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, interval) = (SqlType::TEXT, SqlType::INTERVAL);
    let (timestamp, timestamptz, timetz) = (SqlType::TIMESTAMP, SqlType::TIMESTAMPTZ, SqlType::TIMETZ);
    let immutable = Stability::Immutable;
    let make = |zone, from, to, stability, kernel: Kernel| {
        ScalarFunction::new("timezone", &[zone, from], to, stability, kernel)
    };
    vec![
        make(
            text,
            timestamp,
            timestamptz,
            immutable,
            binary::<Text, Timestamp, Timestamptz, _>(|name: &str, local: i64| Ok(to_utc(local, zone(name)?))),
        ),
        make(
            text,
            timestamptz,
            timestamp,
            immutable,
            binary::<Text, Timestamptz, Timestamp, _>(|name: &str, utc: i64| Ok(to_local(utc, zone(name)?))),
        ),
        make(
            interval,
            timestamp,
            timestamptz,
            immutable,
            binary::<Interval, Timestamp, Timestamptz, _>(|span: Span, local: i64| Ok(shifted(local, -offset(span)?))),
        ),
        make(
            interval,
            timestamptz,
            timestamp,
            immutable,
            binary::<Interval, Timestamptz, Timestamp, _>(|span: Span, utc: i64| Ok(shifted(utc, offset(span)?))),
        ),
        make(
            interval,
            timetz,
            timetz,
            immutable,
            binary::<Interval, TimeTz, TimeTz, _>(|span: Span, time: ZonedTime| {
                Ok(time.at_offset(offset(span)? as i32))
            }),
        ),
        make(text, timetz, timetz, Stability::Stable, Arc::new(time_in_zone)),
    ]
}
