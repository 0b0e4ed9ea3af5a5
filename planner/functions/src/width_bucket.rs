//! `width_bucket` with four arguments: the number of a range's bucket that contains a value. Numerics are computed
//! exactly.

use super::cast_kernel::out_of_range;
use super::kernel::{Kernel, Stability};
use super::registry::ScalarFunction;
use super::typed::{Float8, Int4, Numeric, quaternary};
use sql_error::{Result, SqlError};
use types::SqlType;
use types::numeric::Numeric as Number;

/// Checks the arguments: NaN, infinite bounds, equal bounds. Errors: 2201G.
fn check(count: i32, nan: bool, infinite: bool, equal: bool) -> Result<()> {
    let message = match (count, nan, infinite, equal) {
        (..=0, ..) => "count must be greater than zero",
        (_, true, ..) => "operand, lower bound, and upper bound cannot be NaN",
        (_, _, true, _) => "lower and upper bounds must be finite",
        (.., true) => "lower bound cannot equal upper bound",
        _ => return Ok(()),
    };
    Err(SqlError::new("2201G", message))
}

fn beyond(count: i32) -> Result<i32> {
    count.checked_add(1).ok_or_else(|| out_of_range("integer"))
}

fn of_floats(operand: f64, low: f64, high: f64, count: i32) -> Result<i32> {
    let nan = operand.is_nan() || low.is_nan() || high.is_nan();
    check(count, nan, low.is_infinite() || high.is_infinite(), low == high)?;
    let (operand, low, high) = if low < high { (operand, low, high) } else { (-operand, -low, -high) };
    Ok(if operand < low {
        0
    } else if operand >= high {
        beyond(count)?
    } else {
        // The order of operations is PostgreSQL's. A result outside int4 becomes what PostgreSQL's processor makes of
        // it.
        let bucket = f64::from(count) * (operand - low) / (high - low) + 1.0;
        if bucket <= f64::from(i32::MAX) { bucket as i32 } else { i32::MIN }
    })
}

fn of_numerics(operand: Number, low: Number, high: Number, count: i32) -> Result<i32> {
    let nan = operand.is_nan() || low.is_nan() || high.is_nan();
    check(count, nan, !low.is_finite() || !high.is_finite(), low == high)?;
    let ascending = low < high;
    let (before, behind) = if ascending { (operand < low, operand >= high) } else { (operand > low, operand <= high) };
    if before {
        return Ok(0);
    }
    if behind {
        return beyond(count);
    }
    let (from, range) =
        if ascending { (operand.sub(&low), high.sub(&low)) } else { (low.sub(&operand), low.sub(&high)) };
    let bucket = from.mul(&Number::from(i64::from(count))).div(&range)?.floor().to_i64("integer")?;
    i32::try_from(bucket + 1).map_err(|_| out_of_range("integer"))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let make = |ty: SqlType, kernel: Kernel| {
        let arguments = [ty, ty, ty, SqlType::INT4];
        ScalarFunction::new("width_bucket", &arguments, SqlType::INT4, Stability::Immutable, kernel)
    };
    vec![
        make(SqlType::FLOAT8, quaternary::<Float8, Float8, Float8, Int4, Int4, _>(of_floats)),
        make(SqlType::NUMERIC, quaternary::<Numeric, Numeric, Numeric, Int4, Int4, _>(of_numerics)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numerics_lie_where_they_are_written() {
        // Checked against PostgreSQL 15.
        let of = |operand: &str, low: &str, high: &str, count| {
            of_numerics(Number::parse(operand)?, Number::parse(low)?, Number::parse(high)?, count)
        };
        assert_eq!(of("0.29", "0", "1", 100).unwrap(), 30);
        assert_eq!(of_floats(0.29, 0.0, 1.0, 100).unwrap(), 29);
        assert_eq!(of_floats(-0.97, 2.06, -4.0, 100).unwrap(), 50);
        assert_eq!(of_floats(0.5, 1e100, 0.0, i32::MAX).unwrap(), i32::MIN);
        assert_eq!(of("5.35", "0.024", "10.06", 5).unwrap(), 3);
        assert_eq!(of("0.29", "1", "0", 100).unwrap(), 72);
        assert_eq!(of("10", "10", "0", 5).unwrap(), 1);
        assert_eq!(of("-1", "10", "0", 5).unwrap(), 6);
        assert_eq!(of("Infinity", "0", "10", 5).unwrap(), 6);
        assert_eq!(of("0.5", "1e100", "0", i32::MAX).unwrap_err().state(), "22003");
        for (low, high, count) in [("1", "1", 3), ("1", "Infinity", 3), ("NaN", "1", 3), ("1", "2", 0)] {
            assert_eq!(of("1", low, high, count).unwrap_err().state(), "2201G");
        }
    }
}
