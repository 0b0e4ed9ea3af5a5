//! The functions make_timestamptz and timeofday.

use super::extract::timestamp_of;
use crate::kernel::{Call, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Float8, Int4, SqlWrite, Text, Timestamptz};
use datafusion::arrow::array::ArrayRef;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::datetime::{ZoneName, civil_from_days, displacement, in_timestamp_range, out_of_range, zone};

/// A zone for make_timestamptz. A numeric zone counts east of UTC, unlike in AT TIME ZONE.
fn named_zone(name: &str) -> Result<ZoneName> {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        let message = format!("invalid input syntax for type numeric time zone: \"{name}\"");
        return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message)
            .hint("Numeric time zones must have \"-\" or \"+\" as first character."));
    }
    match displacement(name) {
        Some(Ok(east)) => Ok(ZoneName::Fixed(east)),
        Some(Err(())) => {
            let message = format!("numeric time zone \"{name}\" out of range");
            Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message))
        }
        None => zone(name),
    }
}

fn make_timestamptz(call: &Call<'_>) -> Result<ArrayRef> {
    let session = ZoneName::Zone(call.context()?.settings.time_zone());
    let seconds = call.column::<Float8>(5)?;
    let zones = if call.arguments.len() > 6 { Some(call.column::<Text>(6)?) } else { None };
    let mut builder = Timestamptz::builder(call.rows);
    for row in 0..call.rows {
        let mut parts = [0i32; 5];
        let mut null = false;
        for (at, part) in parts.iter_mut().enumerate() {
            match call.column::<Int4>(at)?.get(row)? {
                Some(value) => *part = value,
                None => null = true,
            }
        }
        let name = match &zones {
            Some(zones) => zones.get(row)?,
            None => Some(""),
        };
        let value = match (seconds.get(row)?, name) {
            (Some(seconds), Some(name)) if !null => {
                let zone = if zones.is_some() { named_zone(name)? } else { session };
                let utc = zone.to_utc(timestamp_of(parts, seconds)?);
                Some(Some(utc).filter(|utc| in_timestamp_range(*utc)).ok_or_else(|| out_of_range("timestamp"))?)
            }
            _ => None,
        };
        Timestamptz::append(&mut builder, value)?;
    }
    Ok(Timestamptz::finish(builder))
}

/// The wall clock's time, such as `Wed Feb 26 20:17:23.123456 2020 UTC`.
fn time_of_day(call: &Call<'_>) -> Result<ArrayRef> {
    use types::datetime::{DAY, SECOND, to_local, wall_clock, weekday};
    const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let zone = call.context()?.settings.time_zone();
    let mut builder = Text::builder(call.rows);
    for _ in 0..call.rows {
        let now = wall_clock();
        let local = to_local(now, zone);
        let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let civil = civil_from_days(days);
        let of_week = WEEKDAYS.get(weekday(days) as usize).copied().unwrap_or_default();
        let month = MONTHS.get((civil.month - 1) as usize).copied().unwrap_or_default();
        let seconds = time / SECOND;
        let text = format!(
            "{of_week} {month} {:02} {:02}:{:02}:{:02}.{:06} {} {}",
            civil.day,
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60,
            time % SECOND,
            civil.year,
            zone.abbreviation_at(now)
        );
        Text::append(&mut builder, Some(text))?;
    }
    Ok(Text::finish(builder))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (int4, text) = (SqlType::INT4, SqlType::TEXT);
    let parts = [int4, int4, int4, int4, int4, SqlType::FLOAT8];
    let zoned = [int4, int4, int4, int4, int4, SqlType::FLOAT8, text];
    let make = |arguments: &[SqlType]| {
        let kernel = Arc::new(make_timestamptz);
        ScalarFunction::new("make_timestamptz", arguments, SqlType::TIMESTAMPTZ, Stability::Stable, kernel)
    };
    vec![
        make(&parts),
        make(&zoned),
        ScalarFunction::new("timeofday", &[], text, Stability::Volatile, Arc::new(time_of_day)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numeric_zones_count_east() {
        // Checked against PostgreSQL 15.
        assert_eq!(named_zone("+2").unwrap(), ZoneName::Fixed(7200));
        assert_eq!(named_zone("-0330").unwrap(), ZoneName::Fixed(-12_600));
        assert_eq!(named_zone("+16").unwrap_err().state(), "22023");
        assert_eq!(named_zone("2").unwrap_err().state(), "22023");
        assert_eq!(named_zone("Nehwon/Lankhmar").unwrap_err().state(), "22023");
    }
}
