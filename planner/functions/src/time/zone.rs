//! AT TIME ZONE: the function timezone, with zones given by name or interval.

use crate::kernel::{Call, Kernel, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Interval, SqlWrite, Text, TimeTz, Timestamp, Timestamptz, binary};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::datetime::{SECOND, checked_timestamp, in_timestamp_range, is_finite, out_of_range, zone};
use types::interval::{self, Interval as Span, Style, write_interval};
use types::time::TimeTz as ZonedTime;

/// Seconds east of UTC from an interval. Errors: 22023 for days and months.
fn offset(span: Span) -> Result<i64> {
    if span.months == 0 && span.days == 0 {
        return Ok(span.micros / SECOND);
    }
    let mut shown = Vec::new();
    write_interval(&span, Style::Postgres, &mut shown);
    let message = format!("interval time zone \"{}\" must not include months or days", String::from_utf8_lossy(&shown));
    Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message))
}

/// A moment shifted by an interval, with a sign of 1 or -1. Errors: 22008 beyond timestamps, 22023 for days and months.
fn shifted(moment: i64, span: Span, sign: i64) -> Result<i64> {
    if !is_finite(moment) {
        return Ok(moment);
    }
    let moved = (offset(span)? * sign).checked_mul(SECOND).and_then(|by| moment.checked_add(by));
    moved.filter(|moment| in_timestamp_range(*moment)).ok_or_else(|| out_of_range("timestamp"))
}

/// Converts a time of day to the current clock of a named zone.
fn time_in_zone(call: &Call<'_>) -> Result<datafusion::arrow::array::ArrayRef> {
    let now = call.context()?.transaction_time;
    let (names, times) = (call.column::<Text>(0)?, call.column::<TimeTz>(1)?);
    let mut builder = TimeTz::builder(call.rows);
    for row in 0..call.rows {
        let value = match (names.get(row)?, times.get(row)?) {
            (Some(name), Some(time)) => Some(time.at_offset(zone(name)?.offset_at_utc(now) as i32)),
            _ => None,
        };
        TimeTz::append(&mut builder, value)?;
    }
    Ok(TimeTz::finish(builder))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, span) = (SqlType::TEXT, SqlType::INTERVAL);
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
            binary::<Text, Timestamp, Timestamptz, _>(|name: &str, local: i64| {
                if !is_finite(local) {
                    // The zone is not checked.
                    return Ok(local);
                }
                checked_timestamp(zone(name)?.to_utc(local))
            }),
        ),
        make(
            text,
            timestamptz,
            timestamp,
            immutable,
            binary::<Text, Timestamptz, Timestamp, _>(|name: &str, utc: i64| {
                if !is_finite(utc) {
                    return Ok(utc);
                }
                checked_timestamp(zone(name)?.to_local(utc))
            }),
        ),
        make(
            span,
            timestamp,
            timestamptz,
            immutable,
            binary::<Interval, Timestamp, Timestamptz, _>(|span: Span, local: i64| shifted(local, span, -1)),
        ),
        make(
            span,
            timestamptz,
            timestamp,
            immutable,
            binary::<Interval, Timestamptz, Timestamp, _>(|span: Span, utc: i64| shifted(utc, span, 1)),
        ),
        make(
            span,
            timetz,
            timetz,
            immutable,
            binary::<Interval, TimeTz, TimeTz, _>(|span: Span, time: ZonedTime| {
                let offset = i32::try_from(offset(span)?).map_err(|_| interval::out_of_range())?;
                Ok(time.at_offset(offset))
            }),
        ),
        make(text, timetz, timetz, Stability::Stable, Arc::new(time_in_zone)),
    ]
}
