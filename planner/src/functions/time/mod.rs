//! Dates and timestamps: operators and functions.

mod extract;
mod field;
mod number;
mod parse;
mod to_char;
mod truncate;

use super::kernel::{KernelFunction, Stability};
use super::operator::no_operator;
use super::registry::ScalarFunction;
use super::typed::{Date, Int4, binary};
use super::{CastContext, Resolver, TypedExpr};
use crate::error::{Result, SqlError};
use crate::types::datetime::{END_DATE, MIN_DATE, out_of_range};
use crate::types::{BaseType, SqlType};

fn shift_date(date: i32, days: i64) -> Result<i32> {
    if date == i32::MIN || date == i32::MAX {
        return Ok(date);
    }
    let shifted = i64::from(date) + days;
    if (MIN_DATE..END_DATE).contains(&shifted) { Ok(shifted as i32) } else { Err(out_of_range("date")) }
}

/// `date ± integer`, `date - date`. What would be an interval is refused.
pub(super) fn operator(resolver: &Resolver<'_>, symbol: &str, left: TypedExpr, right: TypedExpr) -> Result<TypedExpr> {
    let interval = || Err(SqlError::unsupported("type interval"));
    let implicit = CastContext::Implicit;
    let date = SqlType::DATE;
    match (left.ty.base, symbol, right.ty.base) {
        (BaseType::Date, "+" | "-", BaseType::Int2 | BaseType::Int4) => {
            let sign: i64 = if symbol == "+" { 1 } else { -1 };
            let kernel =
                binary::<Date, Int4, Date, _>(move |date: i32, days: i32| shift_date(date, sign * i64::from(days)));
            let right = resolver.cast(right, SqlType::INT4, implicit)?;
            let name = format!("date {symbol}");
            Ok(KernelFunction::new(name, vec![date, SqlType::INT4], date, Stability::Immutable, kernel, None)
                .call(vec![left.expr, right.expr]))
        }
        (BaseType::Int2 | BaseType::Int4, "+", BaseType::Date) => operator(resolver, symbol, right, left),
        (BaseType::Date, "-", BaseType::Date | BaseType::Unknown) | (BaseType::Unknown, "-", BaseType::Date) => {
            let (left, right) = (resolver.cast(left, date, implicit)?, resolver.cast(right, date, implicit)?);
            let kernel = binary::<Date, Date, Int4, _>(|a: i32, b: i32| {
                if [a, b].iter().any(|date| *date == i32::MIN || *date == i32::MAX) {
                    return Err(SqlError::new("22008", "cannot subtract infinite dates"));
                }
                Ok(a.wrapping_sub(b))
            });
            Ok(KernelFunction::new("date -", vec![date, date], SqlType::INT4, Stability::Immutable, kernel, None)
                .call(vec![left.expr, right.expr]))
        }
        (
            BaseType::Date | BaseType::Timestamp | BaseType::Timestamptz,
            "-",
            BaseType::Date | BaseType::Timestamp | BaseType::Timestamptz,
        ) => interval(),
        (_, "+" | "-", BaseType::Unknown) => interval(),
        _ => Err(no_operator(symbol, Some(left.ty), right.ty)),
    }
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    [extract::functions(), truncate::functions(), to_char::functions(), number::functions(), parse::functions()]
        .concat()
}
