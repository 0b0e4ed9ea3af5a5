//! Square root, exponential, logarithms and powers of numerics, with PostgreSQL's result scales.

use super::arithmetic::divide_rounded;
use super::{MAX_DISPLAY_SCALE, MAX_INTEGER_DIGITS, MIN_SIGNIFICANT_DIGITS, Numeric, power_of_ten};
use num_bigint::{BigInt, Sign};
use sql_error::interrupt;
use sql_error::{Result, SqlError, state};

/// PostgreSQL reports an overflow of exp from this exponent on.
const EXP_LIMIT: f64 = 6000.0;
/// The same limit for the exponent of e in a power.
const POWER_LIMIT: f64 = 6020.0;
/// A power is computed exactly if its exact value has at most this many binary digits.
const EXACT_POWER_BITS: u64 = 1 << 20;
/// Longest exponent (decimal) of which the logarithm is taken directly. Beyond it, the number is scaled to near one
/// first.
const LONG_EXPONENT: i64 = 64;
/// From this many digits on, a power is computed by squaring: logarithms would take long.
const LONG_POWER_DIGITS: f64 = 1000.0;
const COMPLEX: &str = "a negative number raised to a non-integer power yields a complex result";

fn invalid_log(message: &str) -> SqlError {
    SqlError::new("2201E", message)
}

fn invalid_power(message: &str) -> SqlError {
    SqlError::new("2201F", message)
}

/// The value as a fixed-point number with `places` decimal places.
fn fixed(value: &Numeric, places: i64) -> BigInt {
    match value.round(places) {
        Numeric::Finite { unscaled, .. } => unscaled.big(),
        _ => BigInt::default(),
    }
}

/// The natural logarithm of a positive fixed-point number.
fn ln_fixed(value: &BigInt, places: i64) -> Result<BigInt> {
    let one = power_of_ten(places as u32);
    // Take square roots until x is near one, then the series of 2 * atanh((x - 1) / (x + 1)).
    let (mut x, mut doublings) = (value.clone(), 0u32);
    let near: BigInt = &one / 10;
    while (&x - &one).magnitude() > near.magnitude() {
        interrupt::check()?;
        x = (x * &one).sqrt();
        doublings += 1;
    }
    let ratio = ((&x - &one) * &one) / (&x + &one);
    let square = (&ratio * &ratio) / &one;
    let (mut term, mut sum, mut n) = (ratio.clone(), ratio, 3u32);
    while term.sign() != Sign::NoSign {
        interrupt::check()?;
        term = (&term * &square) / &one;
        sum += &term / n;
        n += 2;
    }
    Ok(sum * (BigInt::from(2) << doublings))
}

/// e to the power of a fixed-point number.
fn exp_fixed(value: &BigInt, places: i64) -> Result<BigInt> {
    let one = power_of_ten(places as u32);
    let mut halvings = 0u32;
    let mut x = value.clone();
    let small: BigInt = &one / 100;
    while x.magnitude() > small.magnitude() {
        x /= 2;
        halvings += 1;
    }
    let (mut term, mut sum, mut n) = (one.clone(), one.clone(), 1u32);
    while term.sign() != Sign::NoSign {
        interrupt::check()?;
        term = (&term * &x) / &one / n;
        sum += &term;
        n += 1;
    }
    for _ in 0..halvings {
        interrupt::check()?;
        sum = (&sum * &sum) / &one;
    }
    Ok(sum)
}

/// Decimal weight of ln(x), as PostgreSQL's `estimate_ln_dweight` gives it.
fn ln_weight(value: &Numeric) -> i64 {
    // Infinite if the value exceeds the range of a float.
    let approximate = value.to_f64().unwrap_or(f64::INFINITY);
    if (0.9..=1.1).contains(&approximate) {
        let distance = value.sub(&Numeric::from(1)).abs();
        return if distance.is_zero() { 0 } else { distance.leading_exponent() };
    }
    let ln = if approximate.is_finite() && approximate > 0.0 {
        approximate.ln().abs()
    } else {
        (value.leading_exponent() as f64 * std::f64::consts::LN_10).abs()
    };
    ln.log10().trunc() as i64
}

impl Numeric {
    /// The square root. Errors: 2201F for negative values.
    pub fn sqrt(&self) -> Result<Numeric> {
        match self {
            Numeric::NaN | Numeric::Infinity => Ok(self.clone()),
            value if value.signum() < 0 => Err(invalid_power("cannot take square root of a negative number")),
            _ => {
                // Zero has the weight of a units digit, whatever its scale.
                let weight = if self.is_zero() { 0 } else { self.leading_exponent().div_euclid(4) };
                let result_weight = if weight >= 0 { weight * 4 / 2 + 1 } else { 1 - (1 - weight * 4) / 2 };
                let scale =
                    (MIN_SIGNIFICANT_DIGITS - result_weight).max(i64::from(self.scale())).clamp(0, MAX_DISPLAY_SCALE);
                let wide = fixed(self, 2 * (scale + 2));
                let root = wide.sqrt();
                Ok(Numeric::from_big(divide_rounded(&root, &BigInt::from(100)), scale as u16))
            }
        }
    }
    /// e to the power of this value. Errors: 22003 on overflow.
    pub fn exp(&self) -> Result<Numeric> {
        match self {
            Numeric::NaN | Numeric::Infinity => Ok(self.clone()),
            Numeric::NegativeInfinity => Ok(Numeric::zero()),
            _ => {
                let approximate = self.to_f64()?;
                if approximate >= EXP_LIMIT {
                    return Err(super::text::overflow());
                }
                let digits = (approximate * std::f64::consts::LOG10_E).clamp(-2000.0, 2000.0) as i64;
                let scale = (MIN_SIGNIFICANT_DIGITS - digits).max(i64::from(self.scale())).clamp(0, MAX_DISPLAY_SCALE);
                self.exp_at(scale)
            }
        }
    }
    fn exp_at(&self, scale: i64) -> Result<Numeric> {
        let digits = self.to_f64()? * std::f64::consts::LOG10_E;
        if digits > MAX_INTEGER_DIGITS as f64 {
            return Err(super::text::overflow());
        }
        if digits < -(scale as f64) - 5.0 {
            return Ok(Numeric::new(0, scale as u16));
        }
        let places = scale + digits.max(0.0) as i64 + 15;
        let value = exp_fixed(&fixed(self, places), places)?;
        Ok(Numeric::from_big(divide_rounded(&value, &power_of_ten((places - scale) as u32)), scale as u16))
    }
    fn check_positive(&self) -> Result<()> {
        if self.is_zero() {
            return Err(invalid_log("cannot take logarithm of zero"));
        }
        if self.signum() < 0 {
            return Err(invalid_log("cannot take logarithm of a negative number"));
        }
        Ok(())
    }
    fn ln_at(&self, scale: i64) -> Result<Numeric> {
        let Numeric::Finite { unscaled, scale: own } = self else { return Ok(Numeric::NaN) };
        let exponent = self.leading_exponent();
        let (places, value) = if exponent.abs() <= LONG_EXPONENT {
            let places = scale + 10 + exponent.abs();
            (places, ln_fixed(&fixed(self, places), places)?)
        } else {
            // ln(m * 10^exponent). m has one digit before the point and all significant digits behind it.
            let places = scale + 20;
            let shift = places - i64::from(*own) - exponent;
            let power = power_of_ten(u32::try_from(shift.unsigned_abs()).map_err(SqlError::internal)?);
            let first = if shift >= 0 { unscaled.big() * power } else { divide_rounded(&unscaled.big(), &power) };
            let ten = power_of_ten(u32::try_from(places + 1).map_err(SqlError::internal)?);
            (places, ln_fixed(&first, places)? + ln_fixed(&ten, places)? * exponent)
        };
        Ok(Numeric::from_big(divide_rounded(&value, &power_of_ten((places - scale) as u32)), scale as u16))
    }
    /// The natural logarithm. Errors: 2201E.
    pub fn ln(&self) -> Result<Numeric> {
        if self.is_nan() {
            return Ok(Numeric::NaN);
        }
        self.check_positive()?;
        if !self.is_finite() {
            return Ok(Numeric::Infinity);
        }
        let scale = (MIN_SIGNIFICANT_DIGITS - ln_weight(self)).max(i64::from(self.scale())).clamp(0, MAX_DISPLAY_SCALE);
        self.ln_at(scale)
    }
    /// The logarithm of `self` to `base`. Errors: 2201E; 22012 for base 1.
    pub fn log(&self, base: &Numeric) -> Result<Numeric> {
        if self.is_nan() || base.is_nan() {
            return Ok(Numeric::NaN);
        }
        base.check_positive()?;
        self.check_positive()?;
        if !self.is_finite() || !base.is_finite() {
            return Ok(if self.is_finite() {
                Numeric::zero()
            } else if base.is_finite() {
                Numeric::Infinity
            } else {
                Numeric::NaN
            });
        }
        let result_weight = ln_weight(self) - ln_weight(base);
        let scale = (MIN_SIGNIFICANT_DIGITS - result_weight)
            .max(i64::from(self.scale()))
            .max(i64::from(base.scale()))
            .clamp(0, MAX_DISPLAY_SCALE);
        let wide = scale + result_weight.abs() + ln_weight(base).abs() + 10;
        self.ln_at(wide)?.div_at(&base.ln_at(wide)?, scale)
    }
    /// `self` to the power `exponent`. Errors: 2201F if the result is not a real number, 22003 on overflow.
    pub fn power(&self, exponent: &Numeric) -> Result<Numeric> {
        let one = Numeric::from(1);
        if self.is_nan() || exponent.is_nan() {
            return Ok(if *self == one || exponent.is_zero() { one } else { Numeric::NaN });
        }
        if !self.is_finite() || !exponent.is_finite() {
            if self.is_zero() && exponent.signum() < 0 {
                return Err(invalid_power("zero raised to a negative power is undefined"));
            }
            if self.signum() < 0 && exponent.is_finite() && exponent.trunc(0) != *exponent {
                return Err(invalid_power(COMPLEX));
            }
            let result = self.to_f64()?.powf(exponent.to_f64()?);
            return Ok(Numeric::from_f64(result));
        }
        if self.is_zero() && exponent.signum() < 0 {
            return Err(invalid_power("zero raised to a negative power is undefined"));
        }
        let whole = exponent.trunc(0) == *exponent;
        if self.signum() < 0 && !whole {
            return Err(invalid_power(COMPLEX));
        }
        let least = i64::from(self.scale()).max(i64::from(exponent.scale()));
        if self.is_zero() {
            let scale = MIN_SIGNIFICANT_DIGITS.max(least);
            return Ok(if exponent.is_zero() { one.round(scale) } else { Numeric::zero().round(scale) });
        }
        // The result's decimal exponent, estimated by logarithms.
        let log10 = self.abs().log10_estimate();
        let digits = (log10 * exponent.to_f64()?).clamp(-200_000.0, 200_000.0);
        let most = if whole { MAX_INTEGER_DIGITS as f64 } else { POWER_LIMIT * std::f64::consts::LOG10_E };
        if digits > most {
            return Err(super::text::overflow());
        }
        let mut scale = (MIN_SIGNIFICANT_DIGITS - digits.trunc() as i64).max(least).clamp(0, MAX_DISPLAY_SCALE);
        let count = exponent.to_i64("integer").ok().and_then(|count| i32::try_from(count).ok()).filter(|_| whole);
        if let (Some(count), Numeric::Finite { unscaled, .. }) = (count, self) {
            scale = MIN_SIGNIFICANT_DIGITS.max(i64::from(self.scale())).min(MAX_DISPLAY_SCALE);
            if unscaled.big().bits().saturating_mul(u64::from(count.unsigned_abs())) <= EXACT_POWER_BITS {
                return self.power_whole(i64::from(count), scale);
            }
            if digits > LONG_POWER_DIGITS {
                return self.power_rounded(count, digits as u64, scale);
            }
        }
        if digits < -(scale as f64) - 5.0 {
            return Ok(Numeric::new(0, scale as u16));
        }
        let wide = scale + digits.max(0.0) as i64 + 20;
        let product = exponent.mul(&self.abs().ln_at(wide)?).round(wide);
        let value = product.exp_at(scale)?;
        let odd = whole && !exponent.rem(&Numeric::from(2))?.is_zero();
        Ok(if self.signum() < 0 && odd { value.neg() } else { value })
    }
    fn log10_estimate(&self) -> f64 {
        match self.to_f64() {
            Ok(value) if value > 0.0 => value.log10(),
            _ => self.leading_exponent() as f64,
        }
    }
    /// Computes a power of about `digits` digits before the point by squaring. Only the necessary binary digits are
    /// kept.
    fn power_rounded(&self, count: i32, digits: u64, scale: i64) -> Result<Numeric> {
        let Numeric::Finite { unscaled, scale: own } = self else { return Ok(Numeric::NaN) };
        let exponent = count.unsigned_abs();
        // The error of the base grows with each multiplication, and each product is truncated once. 64 extra bits cover
        // both.
        let precision = (digits + scale.unsigned_abs()) * 10 / 3 + 96;
        let cut = |(value, power): (BigInt, i64)| {
            let excess = value.bits().saturating_sub(precision);
            (value >> excess, power + excess as i64)
        };
        let base = (unscaled.big() << (precision + u64::from(*own) * 4)) / power_of_ten(u32::from(*own));
        let base = cut((base, -(precision as i64) - i64::from(*own) * 4));
        let mut value = (BigInt::from(1), 0i64);
        for bit in (0..u32::BITS - exponent.leading_zeros()).rev() {
            interrupt::check()?;
            value = cut((&value.0 * &value.0, 2 * value.1));
            if exponent >> bit & 1 == 1 {
                value = cut((&value.0 * &base.0, value.1 + base.1));
            }
        }
        if count < 0 {
            let bits = value.0.bits() + precision;
            value = ((BigInt::from(1) << bits) / value.0, -value.1 - bits as i64);
        }
        // Round to the nearest value with `scale` places.
        let scaled = value.0 * power_of_ten(scale as u32) * 2;
        let shift = value.1 - 1;
        let doubled = if shift >= 0 { scaled << (shift as u64 + 1) } else { scaled >> (-(shift + 1)) as u64 };
        Ok(Numeric::from_big((doubled + 1) >> 1u32, scale as u16))
    }
    fn power_whole(&self, count: i64, scale: i64) -> Result<Numeric> {
        let Numeric::Finite { unscaled, scale: own } = self else {
            return Ok(Numeric::NaN);
        };
        let exponent = count.unsigned_abs() as u32;
        let raised = unscaled.big().pow(exponent);
        let places = i64::from(*own) * i64::from(exponent);
        // raised * 10^-places, or its reciprocal, with `scale` places.
        let value = if count >= 0 {
            let shift = scale - places;
            if shift >= 0 {
                raised * power_of_ten(shift as u32)
            } else {
                divide_rounded(&raised, &power_of_ten((-shift) as u32))
            }
        } else {
            divide_rounded(&power_of_ten((places + scale) as u32), &raised)
        };
        Ok(Numeric::from_big(value, scale as u16))
    }
}

/// Checks the argument of a float logarithm. Errors: 2201E, as for numerics.
pub fn check_float_log(value: f64) -> Result<f64> {
    if value == 0.0 {
        return Err(invalid_log("cannot take logarithm of zero"));
    }
    if value < 0.0 {
        return Err(invalid_log("cannot take logarithm of a negative number"));
    }
    Ok(value)
}

/// A float8 power with PostgreSQL's errors: 2201F, 22003.
pub fn float_power(base: f64, exponent: f64) -> Result<f64> {
    if base == 0.0 && exponent < 0.0 {
        return Err(invalid_power("zero raised to a negative power is undefined"));
    }
    if base < 0.0 && exponent.is_finite() && exponent.fract() != 0.0 {
        return Err(invalid_power(COMPLEX));
    }
    let value = base.powf(exponent);
    if value.is_infinite() && base.is_finite() && exponent.is_finite() {
        return Err(SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow"));
    }
    if value == 0.0 && base != 0.0 && base.is_finite() && exponent.is_finite() {
        return Err(SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow"));
    }
    Ok(value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn as_postgresql_computes_them() {
        let n = |text: &str| Numeric::parse(text).unwrap();
        // Checked against PostgreSQL 15.
        assert_eq!(n("2").sqrt().unwrap().to_string(), "1.414213562373095");
        assert_eq!(n("1").exp().unwrap().to_string(), "2.7182818284590452");
        assert_eq!(n("2").ln().unwrap().to_string(), "0.6931471805599453");
        assert_eq!(n("100").log(&n("10")).unwrap().to_string(), "2.0000000000000000");
        assert_eq!(n("2").power(&n("10")).unwrap().to_string(), "1024.0000000000000000");
        assert_eq!(n("2").power(&n("0.5")).unwrap().to_string(), "1.4142135623730950");
        assert_eq!(n("1000.0").log(&n("2.0")).unwrap().to_string(), "9.9657842846620870");
        assert_eq!(n("3.14").power(&n("2.5")).unwrap().to_string(), "17.471255712810113");
        assert_eq!(n("1234567.89").sqrt().unwrap().to_string(), "1111.1111060555555");
        assert_eq!(n("-5.5").exp().unwrap().to_string(), "0.004086771438464067");
        assert_eq!(n("0.001").ln().unwrap().to_string(), "-6.9077552789821371");
        assert_eq!(n("2").power(&n("-1")).unwrap().to_string(), "0.5000000000000000");
        assert_eq!(n("10.0").power(&n("-2147483648")).unwrap().to_string(), "0.0000000000000000");
        assert_eq!(n("1.000000000123").power(&n("-2147483648")).unwrap().to_string(), "0.7678656556403084");
        assert_eq!(n("-1").sqrt().unwrap_err().state(), "2201F");
        assert_eq!(n("0").ln().unwrap_err().state(), "2201E");
    }

    #[test]
    fn logarithms_of_long_numbers_are_those_of_short_ones() {
        let n = |text: &str| Numeric::parse(text).unwrap();
        // Values around the switch between the two algorithms.
        for exponent in [60, 63, 64, 65, 66, 400] {
            let long = n(&format!("{}e{exponent}", "1.2345678901234567")).ln_at(30).unwrap();
            let parts = n("1.2345678901234567").ln_at(40).unwrap();
            let sum = parts.add(&n("10").ln_at(45).unwrap().mul(&n(&exponent.to_string()))).round(30);
            assert_eq!(long.to_string(), sum.to_string(), "{exponent}");
            let small = n(&format!("{}e-{exponent}", "1.2345678901234567")).ln_at(30).unwrap();
            let sum = parts.sub(&n("10").ln_at(45).unwrap().mul(&n(&exponent.to_string()))).round(30);
            assert_eq!(small.to_string(), sum.to_string(), "-{exponent}");
        }
        // A value that is infinite as a float.
        assert_eq!(n(&"9".repeat(1000)).ln().unwrap().to_string(), "2302.5850929940457");
    }

    #[test]
    fn long_powers_take_no_logarithms() {
        let n = |text: &str| Numeric::parse(text).unwrap();
        let exact = format!("1{}.0000000000000000", "0".repeat(100_000));
        assert_eq!(n("10.0").power(&n("100000")).unwrap().to_string(), exact);
        // The same power, too long to be computed exactly.
        let rounded = n("10.0000000000").power_rounded(100_000, 100_000, 16).unwrap().to_string();
        assert!(rounded == exact);
        let exact = n("-3.7").power_whole(2_001, 16).unwrap();
        assert!(n("-3.7").power_rounded(2_001, 1_200, 16).unwrap().to_string() == exact.to_string());
        let exact = n("0.27").power_whole(-2_000, 16).unwrap();
        assert!(n("0.27").power_rounded(-2_000, 1_200, 16).unwrap().to_string() == exact.to_string());
        assert_eq!(n("10").power(&n("131073")).unwrap_err().state(), "22003");
    }
}
