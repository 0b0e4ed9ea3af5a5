//! Trigonometry in degrees, exact where the result is. Like PostgreSQL, it derives values from 30 and 60 degrees.

use sql_error::{Result, SqlError, state};
use std::f64::consts::PI;

const RADIANS: f64 = PI / 180.0;

fn out_of_range() -> SqlError {
    SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

fn sin_to_30(x: f64) -> f64 {
    ((x * RADIANS).sin() / (30.0 * RADIANS).sin()) / 2.0
}

fn cos_to_60(x: f64) -> f64 {
    1.0 - ((1.0 - (x * RADIANS).cos()) / (1.0 - (60.0 * RADIANS).cos())) / 2.0
}

fn sin_quarter(x: f64) -> f64 {
    if x <= 30.0 { sin_to_30(x) } else { cos_to_60(90.0 - x) }
}

fn cos_quarter(x: f64) -> f64 {
    if x <= 60.0 { cos_to_60(x) } else { sin_to_30(90.0 - x) }
}

/// An angle reduced to 0 to 90 degrees, and the signs of its sine and cosine.
fn quarter(x: f64) -> Result<(f64, f64, f64)> {
    if x.is_infinite() {
        return Err(out_of_range());
    }
    let (mut x, mut sine, mut cosine) = (x % 360.0, 1.0, 1.0);
    if x < 0.0 {
        x = -x;
        sine = -sine;
    }
    if x > 180.0 {
        x = 360.0 - x;
        sine = -sine;
    }
    if x > 90.0 {
        x = 180.0 - x;
        cosine = -cosine;
    }
    Ok((x, sine, cosine))
}

/// The SQL function sind: sine of degrees.
pub(super) fn sine(x: f64) -> Result<f64> {
    let (x, sine, _) = quarter(x)?;
    Ok(sine * sin_quarter(x))
}

/// The SQL function cosd: cosine of degrees.
pub(super) fn cosine(x: f64) -> Result<f64> {
    let (x, _, cosine) = quarter(x)?;
    Ok(cosine * cos_quarter(x))
}

fn no_negative_zero(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value }
}

/// The SQL function tand: tangent of degrees.
pub(super) fn tangent(x: f64) -> Result<f64> {
    let (x, sine, cosine) = quarter(x)?;
    let unit = sin_quarter(45.0) / cos_quarter(45.0);
    Ok(no_negative_zero(sine * cosine * ((sin_quarter(x) / cos_quarter(x)) / unit)))
}

/// The SQL function cotd: cotangent of degrees.
pub(super) fn cotangent(x: f64) -> Result<f64> {
    let (x, sine, cosine) = quarter(x)?;
    let unit = cos_quarter(45.0) / sin_quarter(45.0);
    Ok(no_negative_zero(sine * cosine * ((cos_quarter(x) / sin_quarter(x)) / unit)))
}

fn asin_quarter(x: f64) -> f64 {
    if x <= 0.5 { (x.asin() / 0.5f64.asin()) * 30.0 } else { 90.0 - (x.acos() / 0.5f64.acos()) * 60.0 }
}

fn acos_quarter(x: f64) -> f64 {
    if x <= 0.5 { 90.0 - (x.asin() / 0.5f64.asin()) * 30.0 } else { (x.acos() / 0.5f64.acos()) * 60.0 }
}

/// The SQL function asind, in degrees.
pub(super) fn arc_sine(x: f64) -> Result<f64> {
    if !x.is_nan() && !(-1.0..=1.0).contains(&x) {
        return Err(out_of_range());
    }
    Ok(if x >= 0.0 { asin_quarter(x) } else { -asin_quarter(-x) })
}

/// The SQL function acosd, in degrees.
pub(super) fn arc_cosine(x: f64) -> Result<f64> {
    if !x.is_nan() && !(-1.0..=1.0).contains(&x) {
        return Err(out_of_range());
    }
    Ok(if x >= 0.0 { acos_quarter(x) } else { 90.0 + asin_quarter(-x) })
}

/// The SQL function atand, in degrees.
pub(super) fn arc_tangent(x: f64) -> Result<f64> {
    Ok((x.atan() / 1.0f64.atan()) * 45.0)
}

/// The SQL function atan2d, in degrees.
pub(super) fn arc_tangent2(y: f64, x: f64) -> Result<f64> {
    Ok((y.atan2(x) / 1.0f64.atan()) * 45.0)
}
