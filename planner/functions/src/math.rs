//! Mathematical functions, with PostgreSQL's errors.

use super::cast_kernel::out_of_range;
use super::degrees;
use super::kernel::{Call, Kernel, Stability};
use super::registry::ScalarFunction;
use super::typed::{Float4, Float8, Int2, Int4, Int8, Nullable, Numeric, SqlWrite, binary, unary};
use sql_error::interrupt;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::numeric::{Numeric as NumericValue, check_float_log, division_by_zero, float_power};

type N = NumericValue;

fn immutable(name: &'static str, arguments: &[SqlType], result: SqlType, kernel: Kernel) -> ScalarFunction {
    ScalarFunction::new(name, arguments, result, Stability::Immutable, kernel)
}

fn float(name: &'static str, function: fn(f64) -> Result<f64>) -> ScalarFunction {
    immutable(name, &[SqlType::FLOAT8], SqlType::FLOAT8, unary::<Float8, Float8, _>(function))
}

fn numeric(name: &'static str, function: fn(N) -> Result<N>) -> ScalarFunction {
    immutable(name, &[SqlType::NUMERIC], SqlType::NUMERIC, unary::<Numeric, Numeric, _>(function))
}

/// A power or factorial of a larger number may take long.
const LARGE_EXPONENT: i64 = 1000;
/// PostgreSQL's limit: the next number's factorial has too many digits.
const GREATEST_FACTORIAL: i64 = 32_177;

fn range(message: &str) -> SqlError {
    SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, message)
}

fn finite(value: f64, argument: f64) -> Result<f64> {
    if value.is_infinite() && argument.is_finite() { Err(range("value out of range: overflow")) } else { Ok(value) }
}

fn domain(value: f64) -> Result<f64> {
    if value.is_nan() { Err(range("input is out of range")) } else { Ok(value) }
}

fn sign_of(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

/// Runs a computation on numbers that may be long.
fn of_long<T>(values: &[&N], work: impl FnOnce() -> T) -> T {
    if values.iter().any(|value| value.is_long()) { interrupt::long(work) } else { work() }
}

/// A power. A short number to a large exponent has many digits.
pub(super) fn power(base: &N, exponent: &N) -> Result<N> {
    let raised = || base.power(exponent);
    let large = exponent.abs() >= N::from(LARGE_EXPONENT) && exponent.is_finite();
    if large { interrupt::long(raised) } else { of_long(&[base, exponent], raised) }
}

/// The greatest common divisor, with the larger scale of both. NaN unless both are finite.
fn numeric_gcd(a: &N, b: &N) -> Result<N> {
    if !a.is_finite() || !b.is_finite() {
        return Ok(N::NaN);
    }
    let scale = i64::from(a.scale().max(b.scale()));
    let (mut a, mut b) = (a.abs(), b.abs());
    while b.signum() != 0 {
        interrupt::check()?;
        (a, b) = (b.clone(), a.rem(&b)?);
    }
    Ok(a.round(scale))
}

fn numeric_lcm(a: &N, b: &N) -> Result<N> {
    if !a.is_finite() || !b.is_finite() {
        return Ok(N::NaN);
    }
    let scale = i64::from(a.scale().max(b.scale()));
    if a.signum() == 0 || b.signum() == 0 {
        return Ok(N::from(0).round(scale));
    }
    let whole = a.div_whole(&numeric_gcd(a, b)?)?;
    Ok(whole.mul(b).abs().round(scale))
}

fn sqrt(value: f64) -> Result<f64> {
    if value < 0.0 {
        return Err(SqlError::new("2201F", "cannot take square root of a negative number"));
    }
    Ok(value.sqrt())
}

/// Number of decimal places without trailing zeros.
fn least_scale(value: &N) -> i64 {
    let mut scale = i64::from(value.scale());
    while scale > 0 && value.round(scale - 1) == *value {
        scale -= 1;
    }
    scale
}

/// The functions of this module.
#[allow(clippy::too_many_lines)]
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (int2, int4, int8) = (SqlType::INT2, SqlType::INT4, SqlType::INT8);
    let (float4, float8, decimal) = (SqlType::FLOAT4, SqlType::FLOAT8, SqlType::NUMERIC);
    let mut all = vec![
        immutable(
            "abs",
            &[int2],
            int2,
            unary::<Int2, Int2, _>(|v: i16| v.checked_abs().ok_or_else(|| out_of_range("smallint"))),
        ),
        immutable(
            "abs",
            &[int4],
            int4,
            unary::<Int4, Int4, _>(|v: i32| v.checked_abs().ok_or_else(|| out_of_range("integer"))),
        ),
        immutable(
            "abs",
            &[int8],
            int8,
            unary::<Int8, Int8, _>(|v: i64| v.checked_abs().ok_or_else(|| out_of_range("bigint"))),
        ),
        immutable("abs", &[float4], float4, unary::<Float4, Float4, _>(|v: f32| Ok(v.abs()))),
        float("abs", |v| Ok(v.abs())),
        numeric("abs", |v| Ok(v.abs())),
        float("floor", |v| Ok(v.floor())),
        numeric("floor", |v| Ok(v.floor())),
        float("round", |v| Ok(v.round_ties_even())),
        numeric("round", |v| Ok(v.round(0))),
        float("trunc", |v| Ok(v.trunc())),
        numeric("trunc", |v| Ok(v.trunc(0))),
        float("sign", |v| Ok(sign_of(v))),
        numeric("sign", |v| Ok(if v.is_nan() { v } else { N::from(i64::from(v.signum())) })),
        float("sqrt", sqrt),
        numeric("sqrt", |v| of_long(&[&v], || v.sqrt())),
        float("cbrt", |v| Ok(v.cbrt())),
        float("exp", |v| match finite(v.exp(), v)? {
            0.0 if v.is_finite() => Err(range("value out of range: underflow")),
            result => Ok(result),
        }),
        numeric("exp", |v| of_long(&[&v], || v.exp())),
        float("ln", |v| Ok(check_float_log(v)?.ln())),
        numeric("ln", |v| of_long(&[&v], || v.ln())),
        // One rounding each, as in PostgreSQL: divide or multiply by the size of one degree.
        float("degrees", |v| finite(v / (std::f64::consts::PI / 180.0), v)),
        float("radians", |v| match v.to_radians() {
            0.0 if v != 0.0 => Err(range("value out of range: underflow")),
            result => Ok(result),
        }),
        float("sin", |v| if v.is_nan() { Ok(v) } else { domain(v.sin()) }),
        float("cos", |v| if v.is_nan() { Ok(v) } else { domain(v.cos()) }),
        float("tan", |v| if v.is_nan() { Ok(v) } else { domain(v.tan()) }),
        float("cot", |v| if v.is_nan() { Ok(v) } else { domain(v.tan().recip()) }),
        float("asin", |v| if v.is_nan() { Ok(v) } else { domain(v.asin()) }),
        float("acos", |v| if v.is_nan() { Ok(v) } else { domain(v.acos()) }),
        float("atan", |v| Ok(v.atan())),
        float("sinh", |v| Ok(v.sinh())),
        float("cosh", |v| Ok(v.cosh())),
        float("tanh", |v| Ok(v.tanh())),
        // The square of a large value would overflow.
        float("asinh", |v| {
            let large = v.abs() > 1e150 && v.is_finite();
            Ok(if large { (v.abs().ln() + std::f64::consts::LN_2).copysign(v) } else { v.asinh() })
        }),
        float("acosh", |v| match v {
            _ if v < 1.0 => Err(range("input is out of range")),
            // The formula of C's library, which agrees to the last digit.
            _ if v > f64::from(1 << 28) => Ok(v.ln() + std::f64::consts::LN_2),
            _ if v > 2.0 => Ok((2.0 * v - 1.0 / (v + (v * v - 1.0).sqrt())).ln()),
            _ => Ok((v - 1.0 + (2.0 * (v - 1.0) + (v - 1.0) * (v - 1.0)).sqrt()).ln_1p()),
        }),
        float("atanh", |v| {
            if !v.is_nan() && !(-1.0..=1.0).contains(&v) { Err(range("input is out of range")) } else { Ok(v.atanh()) }
        }),
        float("sind", degrees::sine),
        float("cosd", degrees::cosine),
        float("tand", degrees::tangent),
        float("cotd", degrees::cotangent),
        float("asind", degrees::arc_sine),
        float("acosd", degrees::arc_cosine),
        float("atand", degrees::arc_tangent),
        immutable("atan2d", &[float8, float8], float8, binary::<Float8, Float8, Float8, _>(degrees::arc_tangent2)),
        numeric("trim_scale", |v| if v.is_finite() { Ok(v.round(least_scale(&v))) } else { Ok(v) }),
        immutable(
            "min_scale",
            &[decimal],
            int4,
            unary::<Numeric, Int4, _>(|v: N| {
                let least = i32::try_from(least_scale(&v)).ok();
                Nullable(Ok(least.filter(|_| v.is_finite())))
            }),
        ),
        immutable(
            "atan2",
            &[float8, float8],
            float8,
            binary::<Float8, Float8, Float8, _>(|a: f64, b: f64| Ok(a.atan2(b))),
        ),
        immutable(
            "round",
            &[decimal, int4],
            decimal,
            binary::<Numeric, Int4, Numeric, _>(|v: N, places: i32| {
                Ok(v.round(i64::from(places.clamp(-131_072, 16_383))))
            }),
        ),
        immutable(
            "trunc",
            &[decimal, int4],
            decimal,
            binary::<Numeric, Int4, Numeric, _>(|v: N, places: i32| {
                Ok(v.trunc(i64::from(places.clamp(-131_072, 16_383))))
            }),
        ),
        immutable(
            "log",
            &[decimal, decimal],
            decimal,
            binary::<Numeric, Numeric, Numeric, _>(|base: N, v: N| of_long(&[&base, &v], || v.log(&base))),
        ),
        immutable(
            "div",
            &[decimal, decimal],
            decimal,
            binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| a.div_whole(&b)),
        ),
        immutable(
            "mod",
            &[int2, int2],
            int2,
            binary::<Int2, Int2, Int2, _>(
                |a: i16, b: i16| {
                    if b == 0 { Err(division_by_zero()) } else { Ok(a.wrapping_rem(b)) }
                },
            ),
        ),
        immutable(
            "mod",
            &[int4, int4],
            int4,
            binary::<Int4, Int4, Int4, _>(
                |a: i32, b: i32| {
                    if b == 0 { Err(division_by_zero()) } else { Ok(a.wrapping_rem(b)) }
                },
            ),
        ),
        immutable(
            "mod",
            &[int8, int8],
            int8,
            binary::<Int8, Int8, Int8, _>(
                |a: i64, b: i64| {
                    if b == 0 { Err(division_by_zero()) } else { Ok(a.wrapping_rem(b)) }
                },
            ),
        ),
        immutable("mod", &[decimal, decimal], decimal, binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| a.rem(&b))),
        immutable(
            "gcd",
            &[int4, int4],
            int4,
            binary::<Int4, Int4, Int4, _>(|a: i32, b: i32| {
                i32::try_from(gcd(i128::from(a), i128::from(b))).map_err(|_| out_of_range("integer"))
            }),
        ),
        immutable(
            "gcd",
            &[int8, int8],
            int8,
            binary::<Int8, Int8, Int8, _>(|a: i64, b: i64| {
                i64::try_from(gcd(i128::from(a), i128::from(b))).map_err(|_| out_of_range("bigint"))
            }),
        ),
        immutable(
            "lcm",
            &[int4, int4],
            int4,
            binary::<Int4, Int4, Int4, _>(|a: i32, b: i32| {
                let (a, b) = (i128::from(a), i128::from(b));
                let lcm = if a == 0 || b == 0 { 0 } else { (a / gcd(a, b) * b).abs() };
                i32::try_from(lcm).map_err(|_| out_of_range("integer"))
            }),
        ),
        immutable(
            "lcm",
            &[int8, int8],
            int8,
            binary::<Int8, Int8, Int8, _>(|a: i64, b: i64| {
                let (a, b) = (i128::from(a), i128::from(b));
                let lcm = if a == 0 || b == 0 { 0 } else { (a / gcd(a, b) * b).abs() };
                i64::try_from(lcm).map_err(|_| out_of_range("bigint"))
            }),
        ),
        immutable(
            "factorial",
            &[int8],
            decimal,
            unary::<Int8, Numeric, _>(|v: i64| {
                if v < 0 {
                    return Err(range("factorial of a negative number is undefined"));
                }
                if v > GREATEST_FACTORIAL {
                    return Err(range("value overflows numeric format"));
                }
                let product = || {
                    (2..=v).try_fold(N::from(1), |product, factor| {
                        interrupt::check()?;
                        Ok(product.mul(&N::from(factor)))
                    })
                };
                if v >= LARGE_EXPONENT { interrupt::long(product) } else { product() }
            }),
        ),
        immutable(
            "scale",
            &[decimal],
            int4,
            unary::<Numeric, Int4, _>(|v: N| Nullable(Ok(v.is_finite().then(|| i32::from(v.scale()))))),
        ),
        immutable(
            "pi",
            &[],
            float8,
            Arc::new(|call: &Call<'_>| {
                let mut builder = Float8::builder(call.rows);
                for _ in 0..call.rows {
                    Float8::append(&mut builder, Some(std::f64::consts::PI))?;
                }
                Ok(Float8::finish(builder))
            }),
        ),
    ];
    for name in ["ceil", "ceiling"] {
        all.push(float(name, |v| Ok(v.ceil())));
        all.push(numeric(name, |v| Ok(v.ceil())));
    }
    for name in ["log", "log10"] {
        all.push(float(name, |v| Ok(check_float_log(v)?.log10())));
        all.push(numeric(name, |v| of_long(&[&v], || v.log(&N::from(10)))));
    }
    for name in ["power", "pow"] {
        all.push(immutable(name, &[float8, float8], float8, binary::<Float8, Float8, Float8, _>(float_power)));
        all.push(immutable(
            name,
            &[decimal, decimal],
            decimal,
            binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| power(&a, &b)),
        ));
    }
    all.push(immutable(
        "gcd",
        &[decimal, decimal],
        decimal,
        binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| of_long(&[&a, &b], || numeric_gcd(&a, &b))),
    ));
    all.push(immutable(
        "lcm",
        &[decimal, decimal],
        decimal,
        binary::<Numeric, Numeric, Numeric, _>(|a: N, b: N| of_long(&[&a, &b], || numeric_lcm(&a, &b))),
    ));
    all
}
