//! OVERLAPS: whether two periods share a moment.

use crate::kernel::{Call, Kernel, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Bool, Int8, Interval, SqlRead, SqlWrite, TimeTz, Timestamp};
use sql_error::Result;
use std::sync::Arc;
use types::datetime::{DAY, TimeZone, is_finite};
use types::interval::Interval as Span;
use types::time::TimeTz as ZonedTime;
use types::{BaseType, SqlType};

/// Whether two periods overlap. Each is given by two ends in any order, and one end may be NULL.
fn overlap<K: Ord>(first: (Option<K>, Option<K>), second: (Option<K>, Option<K>)) -> Option<bool> {
    let ordered = |period: (Option<K>, Option<K>)| match period {
        (Some(start), Some(end)) => Some(if start > end { (end, Some(start)) } else { (start, Some(end)) }),
        (Some(known), None) | (None, Some(known)) => Some((known, None)),
        (None, None) => None,
    };
    let ((a, a_end), (b, b_end)) = (ordered(first)?, ordered(second)?);
    if a == b {
        return (a_end.is_some() && b_end.is_some()).then_some(true);
    }
    // They overlap if the later start lies in the other period.
    let (later, later_end, earlier_end) = if a > b { (a, a_end, b_end) } else { (b, b_end, a_end) };
    if later < earlier_end? {
        return Some(true);
    }
    later_end.map(|_| false)
}

/// A kernel over moments that are read as `T`. `spans` says which periods have a length as their end.
fn kernel<T, K>(spans: [bool; 2], later: fn(K, Span, TimeZone) -> Result<K>) -> Kernel
where
    T: for<'a> SqlRead<Item<'a> = K>,
    K: Ord + Clone + 'static,
{
    Arc::new(move |call: &Call<'_>| {
        let zone = call.context().map_or(TimeZone::UTC, |context| context.settings.time_zone());
        let period = |at: usize, span: bool, row: usize| -> Result<(Option<K>, Option<K>)> {
            let start = call.column::<T>(at)?.get(row)?;
            let end = if span {
                match (&start, call.column::<Interval>(at + 1)?.get(row)?) {
                    (Some(start), Some(by)) => Some(later(start.clone(), by, zone)?),
                    _ => None,
                }
            } else {
                call.column::<T>(at + 1)?.get(row)?
            };
            Ok((start, end))
        };
        let [first, second] = spans;
        let mut builder = Bool::builder(call.rows);
        for row in 0..call.rows {
            Bool::append(&mut builder, overlap(period(0, first, row)?, period(2, second, row)?))?;
        }
        Ok(Bool::finish(builder))
    })
}

/// A time of day with a zone, ordered by moment and zone.
#[derive(Clone, PartialEq, Eq)]
struct Zoned(ZonedTime);

impl Ord for Zoned {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.to_bytes().cmp(&other.0.to_bytes())
    }
}

impl PartialOrd for Zoned {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

struct ZonedTimes;

impl SqlRead for ZonedTimes {
    type Array = <TimeTz as SqlRead>::Array;
    type Item<'a> = Zoned;
    fn item(array: &Self::Array, row: usize) -> Result<Zoned> {
        TimeTz::item(array, row).map(Zoned)
    }
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let mut all = Vec::new();
    for ty in [SqlType::TIMESTAMPTZ, SqlType::TIMESTAMP, SqlType::TIME, SqlType::TIMETZ] {
        for spans in [[false, false], [false, true], [true, false], [true, true]] {
            let end = |span: bool| if span { SqlType::INTERVAL } else { ty };
            let kernel = match ty.base {
                BaseType::Timestamptz => kernel::<Timestamp, i64>(spans, |moment, by, zone| {
                    if is_finite(moment) { by.after_in(moment, zone) } else { Ok(moment) }
                }),
                BaseType::Timestamp => {
                    kernel::<Timestamp, i64>(
                        spans,
                        |moment, by, _| {
                            if is_finite(moment) { by.after(moment) } else { Ok(moment) }
                        },
                    )
                }
                BaseType::Time => {
                    kernel::<Int8, i64>(spans, |time, by, _| Ok((time + by.micros % DAY).rem_euclid(DAY)))
                }
                _ => kernel::<ZonedTimes, Zoned>(spans, |Zoned(time), by, _| {
                    Ok(Zoned(ZonedTime { micros: (time.micros + by.micros % DAY).rem_euclid(DAY), ..time }))
                }),
            };
            let stability = if ty == SqlType::TIMESTAMPTZ { Stability::Stable } else { Stability::Immutable };
            let arguments = [ty, end(spans[0]), ty, end(spans[1])];
            all.push(ScalarFunction::new("overlaps", &arguments, SqlType::BOOL, stability, kernel));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::overlap;

    #[test]
    fn periods_overlap_as_the_standard_says() {
        // Checked against PostgreSQL 15.
        let some = |a: i32, b: i32| (Some(a), Some(b));
        assert_eq!(overlap(some(1, 3), some(2, 4)), Some(true));
        assert_eq!(overlap(some(3, 1), some(2, 4)), Some(true));
        assert_eq!(overlap(some(1, 2), some(2, 3)), Some(false));
        assert_eq!(overlap(some(2, 2), some(2, 2)), Some(true));
        assert_eq!(overlap(some(1, 2), (Some(5), None)), None);
        assert_eq!(overlap(some(1, 6), (Some(5), None)), Some(true));
        assert_eq!(overlap((None, Some(7)), some(1, 6)), None);
        assert_eq!(overlap::<i32>((None, None), (Some(1), Some(2))), None);
    }
}
