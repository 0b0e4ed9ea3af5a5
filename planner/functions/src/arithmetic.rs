//! Checked arithmetic. Overflow is 22003; division by zero is 22012.

use super::TypedExpr;
use super::cast_kernel::out_of_range;
use super::kernel::{Kernel, KernelFunction, Stability};
use super::math::power;
use super::typed::{Float4, Float8, Int2, Int4, Int8, Numeric, binary, unary};
use sql_error::interrupt;
use sql_error::{Result, SqlError, state};
use types::numeric::{Numeric as NumericValue, division_by_zero, float_power};
use types::{BaseType, SqlType};

/// The type to which both operands of an operator are converted. `None` if there is no such operator.
pub(super) fn operand_type(symbol: &str, left: SqlType, right: SqlType) -> Option<SqlType> {
    use BaseType as B;
    let float = |ty: SqlType| matches!(ty.base, B::Float4 | B::Float8);
    let integers = left.is_integer() && right.is_integer();
    let ty = if symbol == "^" {
        if left.base == B::Numeric && !float(right) || right.base == B::Numeric && !float(left) {
            SqlType::NUMERIC
        } else {
            SqlType::FLOAT8
        }
    } else if left.base == right.base {
        left.plain()
    } else if integers {
        if left.base > right.base { left } else { right }
    } else if float(left) || float(right) {
        SqlType::FLOAT8
    } else {
        SqlType::NUMERIC
    };
    let allowed = match symbol {
        "%" => ty.is_integer() || ty.base == B::Numeric,
        "|" | "&" | "#" => ty.is_integer(),
        _ => true,
    };
    allowed.then_some(ty)
}

/// The error 22003 for floats.
pub(super) fn overflow() -> SqlError {
    SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

fn underflow() -> SqlError {
    SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")
}

macro_rules! integer_kernel {
    ($symbol:expr, $marker:ident, $type:ty, $name:literal) => {{
        let range = || out_of_range($name);
        match $symbol {
            "+" => binary::<$marker, $marker, $marker, _>(move |a: $type, b: $type| a.checked_add(b).ok_or_else(range)),
            "-" => binary::<$marker, $marker, $marker, _>(move |a: $type, b: $type| a.checked_sub(b).ok_or_else(range)),
            "*" => binary::<$marker, $marker, $marker, _>(move |a: $type, b: $type| a.checked_mul(b).ok_or_else(range)),
            "/" => binary::<$marker, $marker, $marker, _>(move |a: $type, b: $type| match b {
                0 => Err(division_by_zero()),
                _ => a.checked_div(b).ok_or_else(range),
            }),
            "%" => binary::<$marker, $marker, $marker, _>(move |a: $type, b: $type| match b {
                0 => Err(division_by_zero()),
                // The lowest value modulo -1 is 0.
                _ => Ok(a.checked_rem(b).unwrap_or(0)),
            }),
            "|" => binary::<$marker, $marker, $marker, _>(|a: $type, b: $type| Ok(a | b)),
            "&" => binary::<$marker, $marker, $marker, _>(|a: $type, b: $type| Ok(a & b)),
            "#" => binary::<$marker, $marker, $marker, _>(|a: $type, b: $type| Ok(a ^ b)),
            _ => return None,
        }
    }};
}

macro_rules! float_kernel {
    ($symbol:expr, $marker:ident, $type:ty) => {{
        /// Infinity is an error unless an operand was infinite; zero is an error on underflow.
        fn check(value: $type, infinite: bool, zero: bool) -> Result<$type> {
            // Use one canonical NaN that sorts above everything: the processor makes negative ones, which sort below.
            if value.is_nan() {
                return Ok(<$type>::NAN);
            }
            if value.is_infinite() && !infinite {
                return Err(overflow());
            }
            if value == 0.0 && !zero {
                return Err(underflow());
            }
            Ok(value)
        }
        match $symbol {
            "+" => binary::<$marker, $marker, $marker, _>(|a: $type, b: $type| {
                check(a + b, a.is_infinite() || b.is_infinite(), true)
            }),
            "-" => binary::<$marker, $marker, $marker, _>(|a: $type, b: $type| {
                check(a - b, a.is_infinite() || b.is_infinite(), true)
            }),
            "*" => binary::<$marker, $marker, $marker, _>(|a: $type, b: $type| {
                check(a * b, a.is_infinite() || b.is_infinite(), a == 0.0 || b == 0.0)
            }),
            "/" => binary::<$marker, $marker, $marker, _>(|a: $type, b: $type| {
                if b == 0.0 && !a.is_nan() {
                    return Err(division_by_zero());
                }
                check(a / b, a.is_infinite(), a == 0.0 || b.is_infinite())
            }),
            _ => return None,
        }
    }};
}

/// Checks for cancellation before an operation on long numbers, which may take longer than many rows. Errors: those of
/// a cancelled statement.
fn unless_stopped(a: &NumericValue, b: &NumericValue) -> Result<()> {
    if a.is_long() && b.is_long() { interrupt::check() } else { Ok(()) }
}

/// The kernel of an operator over operands of one type.
fn kernel(symbol: &str, ty: SqlType) -> Option<Kernel> {
    Some(match ty.base {
        BaseType::Int2 => integer_kernel!(symbol, Int2, i16, "smallint"),
        BaseType::Int4 => integer_kernel!(symbol, Int4, i32, "integer"),
        BaseType::Int8 => integer_kernel!(symbol, Int8, i64, "bigint"),
        BaseType::Float4 => float_kernel!(symbol, Float4, f32),
        BaseType::Float8 if symbol == "^" => binary::<Float8, Float8, Float8, _>(|a: f64, b: f64| {
            float_power(a, b).map(|value| if value.is_nan() { f64::NAN } else { value })
        }),
        BaseType::Float8 => float_kernel!(symbol, Float8, f64),
        BaseType::Numeric => {
            type N = NumericValue;
            match symbol {
                "+" => binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| Ok(a.add(&b))),
                "-" => binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| Ok(a.sub(&b))),
                "*" => binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| unless_stopped(&a, &b).map(|()| a.mul(&b))),
                "/" => binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| {
                    unless_stopped(&a, &b)?;
                    a.div(&b)
                }),
                "%" => binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| {
                    unless_stopped(&a, &b)?;
                    a.rem(&b)
                }),
                "^" => binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| power(&a, &b)),
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// An operator call whose operands are both of type `ty`.
pub(super) fn binary_operator(symbol: &str, left: TypedExpr, right: TypedExpr, ty: SqlType) -> Result<TypedExpr> {
    let kernel = kernel(symbol, ty).ok_or_else(|| super::operator::no_operator(symbol, Some(left.ty), right.ty))?;
    let function = KernelFunction::new(symbol, vec![ty, ty], ty, Stability::Immutable, kernel, None);
    Ok(function.strict(true).call(vec![left.expr, right.expr]))
}

/// `<<` and `>>`. The distance is int4, modulo the width.
pub(super) fn shift(symbol: &str, left: TypedExpr, right: TypedExpr) -> Result<TypedExpr> {
    let up = symbol == "<<";
    let ty = left.ty.plain();
    let kernel = match ty.base {
        BaseType::Int2 => binary::<Int2, Int4, Int2, _>(move |a: i16, b: i32| {
            let by = (b as u32) & 31;
            let a = i32::from(a);
            Ok(if up { a.wrapping_shl(by) as i16 } else { a.wrapping_shr(by) as i16 })
        }),
        BaseType::Int4 => binary::<Int4, Int4, Int4, _>(move |a: i32, b: i32| {
            Ok(if up { a.wrapping_shl(b as u32) } else { a.wrapping_shr(b as u32) })
        }),
        _ => binary::<Int8, Int4, Int8, _>(move |a: i64, b: i32| {
            Ok(if up { a.wrapping_shl(b as u32) } else { a.wrapping_shr(b as u32) })
        }),
    };
    let function = KernelFunction::new(symbol, vec![ty, SqlType::INT4], ty, Stability::Immutable, kernel, None);
    Ok(function.strict(true).call(vec![left.expr, right.expr]))
}

fn unary_call(name: &str, operand: TypedExpr, kernel: Kernel) -> Result<TypedExpr> {
    let ty = operand.ty.plain();
    let function = KernelFunction::new(name, vec![ty], ty, Stability::Immutable, kernel, None);
    // `-1` is folded to a constant, so that `column = -1` compares with a constant.
    match operand.constant() {
        Some(value) => Ok(TypedExpr::literal(function.evaluate(std::slice::from_ref(value))?, ty)),
        None => Ok(function.call(vec![operand.expr])),
    }
}

/// The operator `-` with one operand.
pub(super) fn negate(operand: TypedExpr) -> Result<TypedExpr> {
    let kernel = match operand.ty.base {
        BaseType::Int2 => unary::<Int2, Int2, _>(|v: i16| v.checked_neg().ok_or_else(|| out_of_range("smallint"))),
        BaseType::Int4 => unary::<Int4, Int4, _>(|v: i32| v.checked_neg().ok_or_else(|| out_of_range("integer"))),
        BaseType::Int8 => unary::<Int8, Int8, _>(|v: i64| v.checked_neg().ok_or_else(|| out_of_range("bigint"))),
        BaseType::Float4 => unary::<Float4, Float4, _>(|v: f32| Ok(if v.is_nan() { v } else { -v })),
        BaseType::Float8 => unary::<Float8, Float8, _>(|v: f64| Ok(if v.is_nan() { v } else { -v })),
        BaseType::Numeric => unary::<Numeric, Numeric, _>(|v: NumericValue| Ok(v.neg())),
        _ => return Err(super::operator::no_operator("-", None, operand.ty)),
    };
    unary_call("-", operand, kernel)
}

/// The bitwise complement, `~`.
pub(super) fn complement(operand: TypedExpr) -> Result<TypedExpr> {
    let kernel = match operand.ty.base {
        BaseType::Int2 => unary::<Int2, Int2, _>(|v: i16| Ok(!v)),
        BaseType::Int4 => unary::<Int4, Int4, _>(|v: i32| Ok(!v)),
        _ => unary::<Int8, Int8, _>(|v: i64| Ok(!v)),
    };
    unary_call("~", operand, kernel)
}
