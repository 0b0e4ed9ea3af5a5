//! Converts dates and timestamps to a wider type for comparisons. A comparison has no range errors. A date beyond
//! timestamps is greater than all of them and less than infinity.

use crate::kernel::{Call, KernelFunction, Stability};
use crate::typed::{Date, SqlWrite, Timestamp, Timestamptz};
use crate::{Resolver, TypedExpr};
use datafusion::arrow::array::ArrayRef;
use sql_error::Result;
use std::sync::Arc;
use types::datetime::{DAY, END_TIMESTAMP, MIN_TIMESTAMP, TimeZone, is_finite, to_utc};
use types::{BaseType, SqlType};

/// Whether this module compares one type as the other.
pub(crate) fn applies(from: SqlType, to: SqlType) -> bool {
    use BaseType as B;
    !from.array
        && matches!((from.base, to.base), (B::Date, B::Timestamp | B::Timestamptz) | (B::Timestamp, B::Timestamptz))
}

/// Converts a date or timestamp to the wider type for a comparison.
pub(crate) fn compared(resolver: &Resolver<'_>, expr: TypedExpr, to: SqlType) -> Result<TypedExpr> {
    let (from, to) = (expr.ty.plain(), to.plain());
    let zoned = to == SqlType::TIMESTAMPTZ;
    let kernel = Arc::new(move |call: &Call<'_>| {
        let zone = if zoned { Some(call.context()?.settings.time_zone()) } else { None };
        if from == SqlType::DATE {
            let dates = call.column::<Date>(0)?;
            filled(call.rows, zone, |row| Ok(dates.get(row)?.map(local)))
        } else {
            let moments = call.column::<Timestamp>(0)?;
            filled(call.rows, zone, |row| moments.get(row))
        }
    });
    let (stability, slots) = match zoned {
        true => (Stability::Stable, Some(Arc::clone(resolver.slots))),
        false => (Stability::Immutable, None),
    };
    let function = KernelFunction::new("compared", vec![from], to, stability, kernel, slots).strict(true);
    match expr.constant() {
        Some(value) if !zoned => Ok(TypedExpr::literal(function.evaluate(std::slice::from_ref(value))?, to)),
        _ => Ok(function.call(vec![expr.expr])),
    }
}

/// Midnight of a date, or the first moment beyond all timestamps.
fn local(date: i32) -> i64 {
    match date {
        i32::MIN => i64::MIN,
        i32::MAX => i64::MAX,
        _ => i64::from(date).checked_mul(DAY).unwrap_or(END_TIMESTAMP).min(END_TIMESTAMP),
    }
}

/// A column of local moments, converted to UTC if there is a zone.
fn filled(rows: usize, zone: Option<TimeZone>, moment: impl Fn(usize) -> Result<Option<i64>>) -> Result<ArrayRef> {
    let utc = |local: i64| match zone {
        Some(zone) if is_finite(local) && local < END_TIMESTAMP => {
            to_utc(local, zone).clamp(MIN_TIMESTAMP - 1, END_TIMESTAMP)
        }
        _ => local,
    };
    if zone.is_some() {
        let mut builder = Timestamptz::builder(rows);
        for row in 0..rows {
            Timestamptz::append(&mut builder, moment(row)?.map(utc))?;
        }
        return Ok(Timestamptz::finish(builder));
    }
    let mut builder = Timestamp::builder(rows);
    for row in 0..rows {
        Timestamp::append(&mut builder, moment(row)?)?;
    }
    Ok(Timestamp::finish(builder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_on_behind_timestamps() {
        assert_eq!(local(0), 0);
        assert_eq!(local(106_751_991), END_TIMESTAMP);
        assert_eq!(local(i32::MAX - 1), END_TIMESTAMP);
        assert_eq!(local(i32::MAX), i64::MAX);
    }
}
