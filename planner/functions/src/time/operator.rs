//! Operators over dates, times, timestamps and intervals.

use crate::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::operator::no_operator;
use crate::typed::{
    Date, Float8, Int4, Int8, Interval, SqlRead, SqlWrite, TimeTz, Timestamp, Timestamptz, binary, unary,
};
use crate::{CastContext, Resolver, TypedExpr};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::datetime::{DAY, SECOND, date_to_timestamp, in_date_range, in_timestamp_range, is_finite, out_of_range};
use types::interval::Interval as Span;
use types::time::TimeTz as ZonedTime;
use types::{BaseType, SqlType};

/// Whether a type is a date, time, timestamp or interval.
pub(crate) fn is_time(ty: SqlType) -> bool {
    use BaseType as B;
    !ty.array && matches!(ty.base, B::Date | B::Timestamp | B::Timestamptz | B::Interval | B::Time | B::Timetz)
}

fn not_unique(symbol: &str, left: SqlType, right: SqlType) -> SqlError {
    SqlError::new(
        state::AMBIGUOUS_FUNCTION,
        format!("operator is not unique: {} {symbol} {}", left.name(), right.name()),
    )
    .hint("Could not choose a best candidate operator. You might need to add explicit type casts.")
}

/// The type for an unknown operand beside one of a time type. Errors: 42725, 42883.
fn partner(symbol: &str, known: SqlType, unknown_left: bool) -> Result<SqlType> {
    use BaseType as B;
    let (left, right) = if unknown_left { (SqlType::UNKNOWN, known) } else { (known, SqlType::UNKNOWN) };
    Ok(match (known.base, symbol) {
        (B::Date, "+") => return Err(not_unique(symbol, left, right)),
        (B::Interval, "*") => SqlType::FLOAT8,
        (B::Interval, "/") if !unknown_left => SqlType::FLOAT8,
        (_, "+") | (B::Timetz, "-") => SqlType::INTERVAL,
        (_, "-") => known.plain(),
        _ => return Err(no_operator(symbol, Some(left), right)),
    })
}

/// Resolves an operator with at least one operand of a time type.
pub(crate) fn operator(resolver: &Resolver<'_>, symbol: &str, left: TypedExpr, right: TypedExpr) -> Result<TypedExpr> {
    use BaseType as B;
    let implicit = CastContext::Implicit;
    let (left, right) = match (left.is_unknown(), right.is_unknown()) {
        (true, false) => (resolver.cast(left, partner(symbol, right.ty, true)?, implicit)?, right),
        (false, true) => {
            let ty = partner(symbol, left.ty, false)?;
            (left, resolver.cast(right, ty, implicit)?)
        }
        _ => (left, right),
    };
    let missing = || no_operator(symbol, Some(left.ty), right.ty);
    if left.ty.array || right.ty.array {
        return Err(missing());
    }
    let (a, b) = (left.ty.base, right.ty.base);
    // Addition commutes: put the interval second.
    let swapped = match (a, symbol, b) {
        (B::Interval, "+", B::Date | B::Timestamp | B::Timestamptz | B::Time | B::Timetz)
        | (B::Int2 | B::Int4, "+", B::Date)
        | (B::Time | B::Timetz, "+", B::Date) => true,
        (_, "*", B::Interval) => left.ty.is_number(),
        _ => false,
    };
    if swapped {
        return operator(resolver, symbol, right, left);
    }
    // The types to which the operands are converted.
    let (first, second) = match (a, symbol, b) {
        (B::Time, "+", B::Time) => return Err(not_unique(symbol, left.ty, right.ty)),
        (B::Date, "+" | "-", B::Int2 | B::Int4) => (SqlType::DATE, SqlType::INT4),
        (B::Date, "-", B::Date) => (SqlType::DATE, SqlType::DATE),
        (B::Date, "+", B::Time | B::Timetz) => (SqlType::DATE, right.ty.plain()),
        (B::Date, "+" | "-", B::Interval) => (SqlType::DATE, SqlType::INTERVAL),
        (B::Timestamp, "+" | "-", B::Interval) => (SqlType::TIMESTAMP, SqlType::INTERVAL),
        (B::Timestamptz, "+" | "-", B::Interval) => (SqlType::TIMESTAMPTZ, SqlType::INTERVAL),
        (B::Timestamp | B::Timestamptz, "+" | "-", B::Time) => (left.ty.plain(), SqlType::INTERVAL),
        (B::Date | B::Timestamp, "-", B::Date | B::Timestamp) => (SqlType::TIMESTAMP, SqlType::TIMESTAMP),
        (B::Date | B::Timestamp | B::Timestamptz, "-", B::Date | B::Timestamp | B::Timestamptz) => {
            (SqlType::TIMESTAMPTZ, SqlType::TIMESTAMPTZ)
        }
        (B::Time | B::Timetz, "+" | "-", B::Interval) => (left.ty.plain(), SqlType::INTERVAL),
        (B::Timetz, "+" | "-", B::Time) => (SqlType::TIMETZ, SqlType::INTERVAL),
        (B::Time, "-", B::Time) => (SqlType::TIME, SqlType::TIME),
        (B::Interval, "+" | "-", B::Interval | B::Time) => (SqlType::INTERVAL, SqlType::INTERVAL),
        (B::Interval | B::Time, "*" | "/", _) if right.ty.is_number() => (SqlType::INTERVAL, SqlType::FLOAT8),
        _ => return Err(missing()),
    };
    let left = resolver.cast(left, first, implicit)?;
    let right = resolver.cast(right, second, implicit)?;
    let (kernel, result, stability) =
        computed(symbol, first, second).ok_or_else(|| no_operator(symbol, Some(first), second))?;
    let slots = (stability == Stability::Stable).then(|| Arc::clone(resolver.slots));
    let name = format!("{} {symbol}", first.name());
    Ok(KernelFunction::new(name, vec![first, second], result, stability, kernel, slots)
        .strict(true)
        .call(vec![left.expr, right.expr]))
}

/// The prefix operator `- interval`.
pub(crate) fn negate(resolver: &Resolver<'_>, operand: TypedExpr) -> Result<TypedExpr> {
    let ty = SqlType::INTERVAL;
    let operand = resolver.cast(operand, ty, CastContext::Implicit)?;
    let kernel = unary::<Interval, Interval, _>(|span: Span| span.neg());
    let function = KernelFunction::new("-", vec![ty], ty, Stability::Immutable, kernel, None);
    match operand.constant() {
        Some(value) => Ok(TypedExpr::literal(function.evaluate(std::slice::from_ref(value))?, ty)),
        None => Ok(function.call(vec![operand.expr])),
    }
}

fn shift_date(date: i32, days: i64) -> Result<i32> {
    if date == i32::MIN || date == i32::MAX {
        return Ok(date);
    }
    let shifted = i64::from(date) + days;
    if in_date_range(shifted) { Ok(shifted as i32) } else { Err(out_of_range("date")) }
}

fn at_time(date: i32, micros: i64) -> Result<i64> {
    let midnight = date_to_timestamp(date)?;
    if !is_finite(midnight) {
        return Ok(midnight);
    }
    midnight.checked_add(micros).filter(|moment| in_timestamp_range(*moment)).ok_or_else(|| out_of_range("timestamp"))
}

fn signed(span: Span, minus: bool) -> Result<Span> {
    if minus { span.neg() } else { Ok(span) }
}

/// A kernel that needs the session's zone.
fn zoned<A: SqlRead, B: SqlRead, R: SqlWrite>(
    function: impl for<'a> Fn(A::Item<'a>, B::Item<'a>, types::datetime::TimeZone) -> Result<R::Owned>
    + Send
    + Sync
    + 'static,
) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let zone = call.context()?.settings.time_zone();
        let (left, right) = (call.column::<A>(0)?, call.column::<B>(1)?);
        let mut builder = R::builder(call.rows);
        for row in 0..call.rows {
            let value = match (left.get(row)?, right.get(row)?) {
                (Some(left), Some(right)) => Some(function(left, right, zone)?),
                _ => None,
            };
            R::append(&mut builder, value)?;
        }
        Ok(R::finish(builder))
    })
}

/// The kernel of an operator for these types, and its result type.
fn computed(symbol: &str, first: SqlType, second: SqlType) -> Option<(Kernel, SqlType, Stability)> {
    use BaseType as B;
    let minus = symbol == "-";
    let immutable = |kernel: Kernel, result: SqlType| Some((kernel, result, Stability::Immutable));
    match (first.base, symbol, second.base) {
        (B::Date, "+" | "-", B::Int4) => {
            let sign: i64 = if minus { -1 } else { 1 };
            let kernel =
                binary::<Date, Int4, Date, _>(move |date: i32, days: i32| shift_date(date, sign * i64::from(days)));
            immutable(kernel, SqlType::DATE)
        }
        (B::Date, "-", B::Date) => {
            let kernel = binary::<Date, Date, Int4, _>(|a: i32, b: i32| {
                if [a, b].iter().any(|date| *date == i32::MIN || *date == i32::MAX) {
                    return Err(SqlError::new(state::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite dates"));
                }
                Ok(a.wrapping_sub(b))
            });
            immutable(kernel, SqlType::INT4)
        }
        (B::Date, "+", B::Time) => immutable(binary::<Date, Int8, Timestamp, _>(at_time), SqlType::TIMESTAMP),
        (B::Date, "+", B::Timetz) => {
            let kernel = binary::<Date, TimeTz, Timestamptz, _>(|date: i32, time: ZonedTime| {
                at_time(date, time.micros - i64::from(time.offset) * SECOND)
            });
            immutable(kernel, SqlType::TIMESTAMPTZ)
        }
        (B::Date, "+" | "-", B::Interval) => {
            // Convert the date only if the interval is not NULL: a NULL must not cause a range error.
            let kernel = binary::<Date, Interval, Timestamp, _>(move |date: i32, span: Span| {
                let moment = date_to_timestamp(date)?;
                if !is_finite(moment) {
                    return Ok(moment);
                }
                signed(span, minus)?.after(moment)
            });
            immutable(kernel, SqlType::TIMESTAMP)
        }
        (B::Timestamp, "+" | "-", B::Interval) => {
            let kernel = binary::<Timestamp, Interval, Timestamp, _>(move |moment: i64, span: Span| {
                if !is_finite(moment) {
                    return Ok(moment);
                }
                signed(span, minus)?.after(moment)
            });
            immutable(kernel, SqlType::TIMESTAMP)
        }
        (B::Timestamptz, "+" | "-", B::Interval) => {
            let kernel = zoned::<Timestamptz, Interval, Timestamptz>(move |moment: i64, span: Span, zone| {
                signed(span, minus)?.after_in(moment, zone)
            });
            Some((kernel, SqlType::TIMESTAMPTZ, Stability::Stable))
        }
        (B::Timestamp | B::Timestamptz, "-", B::Timestamp | B::Timestamptz) => {
            let kernel = binary::<Timestamp, Timestamp, Interval, _>(|to: i64, from: i64| Span::between(from, to));
            immutable(kernel, SqlType::INTERVAL)
        }
        (B::Time, "+" | "-", B::Interval) => {
            let kernel = binary::<Int8, Interval, Int8, _>(move |time: i64, span: Span| {
                let by = span.micros % DAY;
                Ok((if minus { time - by } else { time + by }).rem_euclid(DAY))
            });
            immutable(kernel, SqlType::TIME)
        }
        (B::Timetz, "+" | "-", B::Interval) => {
            let kernel = binary::<TimeTz, Interval, TimeTz, _>(move |time: ZonedTime, span: Span| {
                let by = span.micros % DAY;
                let moved = if minus { time.micros - by } else { time.micros + by };
                Ok(ZonedTime { micros: moved.rem_euclid(DAY), ..time })
            });
            immutable(kernel, SqlType::TIMETZ)
        }
        (B::Time, "-", B::Time) => {
            immutable(binary::<Int8, Int8, Interval, _>(|a: i64, b: i64| Ok(Span::new(0, 0, a - b))), SqlType::INTERVAL)
        }
        (B::Interval, "+", B::Interval) => {
            immutable(binary::<Interval, Interval, Interval, _>(|a: Span, b: Span| a.add(&b)), SqlType::INTERVAL)
        }
        (B::Interval, "-", B::Interval) => {
            immutable(binary::<Interval, Interval, Interval, _>(|a: Span, b: Span| a.sub(&b)), SqlType::INTERVAL)
        }
        (B::Interval, "*", B::Float8) => {
            immutable(binary::<Interval, Float8, Interval, _>(|a: Span, b: f64| a.times(b)), SqlType::INTERVAL)
        }
        (B::Interval, "/", B::Float8) => {
            immutable(binary::<Interval, Float8, Interval, _>(|a: Span, b: f64| a.divided(b)), SqlType::INTERVAL)
        }
        _ => None,
    }
}
