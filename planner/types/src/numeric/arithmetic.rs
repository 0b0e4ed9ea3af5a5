//! Arithmetic of numerics with PostgreSQL's result scales. It rounds half away from zero.

use super::{
    MAX_DISPLAY_SCALE, MAX_SCALE, MIN_SIGNIFICANT_DIGITS, Numeric, Unscaled, power_of_ten, power_of_ten_small,
};
use num_bigint::{BigInt, Sign};
use sql_error::{Result, SqlError, state};

/// The error 22012, `division by zero`.
pub fn division_by_zero() -> SqlError {
    SqlError::new(state::DIVISION_BY_ZERO, "division by zero")
}

/// `dividend / divisor`, rounded half away from zero.
pub(super) fn divide_rounded(dividend: &BigInt, divisor: &BigInt) -> BigInt {
    let quotient = dividend / divisor;
    let remainder = dividend - &quotient * divisor;
    if remainder.magnitude() * 2u32 >= *divisor.magnitude() {
        if (dividend.sign() == Sign::Minus) == (divisor.sign() == Sign::Minus) { quotient + 1 } else { quotient - 1 }
    } else {
        quotient
    }
}

/// How excess digits are dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    HalfAway,
    TowardsZero,
    Up,
    Down,
}

impl Numeric {
    /// The power of ten of the first digit: 0 for the values 1 to 9, and for zero.
    pub fn leading_exponent(&self) -> i64 {
        match self {
            Numeric::Finite { unscaled, scale } => unscaled.digits() as i64 - 1 - i64::from(*scale),
            _ => 0,
        }
    }

    /// Rescales digits from `from` to `to` decimal places. `to` must not be lower.
    fn unscaled_at(unscaled: &Unscaled, from: u16, to: u16) -> Unscaled {
        let by = u32::from(to.saturating_sub(from));
        if by == 0 {
            return unscaled.clone();
        }
        if let (Unscaled::Small(value), Some(ten)) = (unscaled, power_of_ten_small(by))
            && let Some(value) = value.checked_mul(ten)
        {
            return Unscaled::Small(value);
        }
        Unscaled::from_big(unscaled.big() * power_of_ten(by))
    }

    fn cut(&self, places: i64, rounding: Rounding) -> Numeric {
        let Numeric::Finite { unscaled, scale } = self else {
            return self.clone();
        };
        let target = places.clamp(0, MAX_SCALE) as u16;
        let drop = i64::from(*scale) - places;
        if drop <= 0 {
            return Numeric::Finite { unscaled: Self::unscaled_at(unscaled, *scale, target), scale: target };
        }
        let drop = drop.min(300_000) as u32;
        // Digits left of the point that were rounded away become zeros.
        let restore = (-places).clamp(0, 300_000) as u32;
        if let (Unscaled::Small(value), Some(ten)) = (unscaled, power_of_ten_small(drop)) {
            let (quotient, remainder) = (value / ten, value % ten);
            let step = match rounding {
                Rounding::HalfAway if remainder.unsigned_abs() >= ten.unsigned_abs().div_ceil(2) => value.signum(),
                Rounding::Up if remainder > 0 => 1,
                Rounding::Down if remainder < 0 => -1,
                _ => 0,
            };
            if let Some(value) = power_of_ten_small(restore).and_then(|ten| (quotient + step).checked_mul(ten)) {
                return Numeric::new(value, target);
            }
        }
        let (value, ten) = (unscaled.big(), power_of_ten(drop));
        let rounded = match rounding {
            Rounding::HalfAway => divide_rounded(&value, &ten),
            other => {
                let quotient = &value / &ten;
                let exact = (&quotient * &ten) == value;
                match other {
                    Rounding::Up if !exact && value.sign() == Sign::Plus => quotient + 1,
                    Rounding::Down if !exact && value.sign() == Sign::Minus => quotient - 1,
                    _ => quotient,
                }
            }
        };
        Numeric::from_big(rounded * power_of_ten(restore), target)
    }

    /// Rounds half away from zero to `places` decimal places. Negative places are before the point.
    #[must_use]
    pub fn round(&self, places: i64) -> Numeric {
        self.cut(places, Rounding::HalfAway)
    }
    /// Truncates to `places` decimal places.
    #[must_use]
    pub fn trunc(&self, places: i64) -> Numeric {
        self.cut(places, Rounding::TowardsZero)
    }
    /// The smallest whole number that is not less.
    #[must_use]
    pub fn ceil(&self) -> Numeric {
        self.cut(0, Rounding::Up)
    }
    /// The largest whole number that is not greater.
    #[must_use]
    pub fn floor(&self) -> Numeric {
        self.cut(0, Rounding::Down)
    }
    /// The absolute value, with the same scale.
    #[must_use]
    pub fn abs(&self) -> Numeric {
        if self.signum() < 0 { self.neg() } else { self.clone() }
    }
    /// The value with the opposite sign.
    #[must_use]
    pub fn neg(&self) -> Numeric {
        match self {
            Numeric::NaN => Numeric::NaN,
            Numeric::Infinity => Numeric::NegativeInfinity,
            Numeric::NegativeInfinity => Numeric::Infinity,
            Numeric::Finite { unscaled, scale } => Numeric::Finite { unscaled: unscaled.negated(), scale: *scale },
        }
    }

    /// The sum, with the larger of both scales.
    #[must_use]
    pub fn add(&self, other: &Numeric) -> Numeric {
        match (self, other) {
            (Numeric::Finite { unscaled: a, scale: scale_a }, Numeric::Finite { unscaled: b, scale: scale_b }) => {
                let scale = (*scale_a).max(*scale_b);
                let (a, b) = (Self::unscaled_at(a, *scale_a, scale), Self::unscaled_at(b, *scale_b, scale));
                if let (Unscaled::Small(a), Unscaled::Small(b)) = (&a, &b)
                    && let Some(sum) = a.checked_add(*b)
                {
                    return Numeric::new(sum, scale);
                }
                Numeric::from_big(a.big() + b.big(), scale)
            }
            (Numeric::NaN, _) | (_, Numeric::NaN) => Numeric::NaN,
            (Numeric::Infinity, Numeric::NegativeInfinity) | (Numeric::NegativeInfinity, Numeric::Infinity) => {
                Numeric::NaN
            }
            (Numeric::Finite { .. }, infinite) | (infinite, _) => infinite.clone(),
        }
    }
    /// The difference, with the larger of both scales.
    #[must_use]
    pub fn sub(&self, other: &Numeric) -> Numeric {
        self.add(&other.neg())
    }
    /// The product. Its scale is the sum of both scales.
    #[must_use]
    pub fn mul(&self, other: &Numeric) -> Numeric {
        match (self, other) {
            (Numeric::Finite { unscaled: a, scale: scale_a }, Numeric::Finite { unscaled: b, scale: scale_b }) => {
                let scale = u32::from(*scale_a) + u32::from(*scale_b);
                let product = match (a, b) {
                    (Unscaled::Small(a), Unscaled::Small(b)) => match a.checked_mul(*b) {
                        Some(product) => Unscaled::Small(product),
                        None => Unscaled::from_big(BigInt::from(*a) * BigInt::from(*b)),
                    },
                    _ => Unscaled::from_big(a.big() * b.big()),
                };
                match u16::try_from(scale) {
                    Ok(scale) if i64::from(scale) <= MAX_SCALE => Numeric::Finite { unscaled: product, scale },
                    _ => {
                        let excess = scale - MAX_SCALE as u32;
                        let rounded = divide_rounded(&product.big(), &power_of_ten(excess));
                        Numeric::from_big(rounded, MAX_SCALE as u16)
                    }
                }
            }
            (Numeric::NaN, _) | (_, Numeric::NaN) => Numeric::NaN,
            (a, b) => match a.signum() * b.signum() {
                0 => Numeric::NaN,
                1 => Numeric::Infinity,
                _ => Numeric::NegativeInfinity,
            },
        }
    }

    /// PostgreSQL's `select_div_scale`: at least 16 significant digits, and no fewer places than either operand.
    fn division_scale(&self, divisor: &Numeric) -> i64 {
        // Weight in base 10000, and the first digit in that base.
        let head = |value: &Numeric| -> (i64, i64) {
            let Numeric::Finite { unscaled, .. } = value else {
                return (0, 0);
            };
            if unscaled.signum() == 0 {
                return (0, 0);
            }
            let exponent = value.leading_exponent();
            let weight = exponent.div_euclid(4);
            let count = (exponent - 4 * weight + 1) as usize;
            let digits = unscaled.to_digits();
            let first = match digits.get(..count) {
                Some(first) => first.parse().unwrap_or(0),
                None => format!("{digits:0<count$}").parse().unwrap_or(0),
            };
            (weight, first)
        };
        let ((weight_a, first_a), (weight_b, first_b)) = (head(self), head(divisor));
        let mut weight = weight_a - weight_b;
        if first_a <= first_b {
            weight -= 1;
        }
        (MIN_SIGNIFICANT_DIGITS - weight * 4)
            .max(i64::from(self.scale()))
            .max(i64::from(divisor.scale()))
            .clamp(0, MAX_DISPLAY_SCALE)
    }

    /// The quotient with PostgreSQL's scale. Errors: 22012.
    pub fn div(&self, divisor: &Numeric) -> Result<Numeric> {
        match (self, divisor) {
            (Numeric::NaN, _) | (_, Numeric::NaN) => Ok(Numeric::NaN),
            (_, b) if b.is_zero() => Err(division_by_zero()),
            (Numeric::Finite { .. }, Numeric::Finite { .. }) => self.div_at(divisor, self.division_scale(divisor)),
            (Numeric::Finite { .. }, _) => Ok(Numeric::zero()),
            (a, b @ Numeric::Finite { .. }) => Ok(if b.signum() > 0 { a.clone() } else { a.neg() }),
            _ => Ok(Numeric::NaN),
        }
    }

    /// The quotient of two finite values, rounded to `scale` places. Errors: 22012.
    pub fn div_at(&self, divisor: &Numeric, scale: i64) -> Result<Numeric> {
        let (Numeric::Finite { unscaled: a, scale: scale_a }, Numeric::Finite { unscaled: b, scale: scale_b }) =
            (self, divisor)
        else {
            return self.div(divisor);
        };
        if b.signum() == 0 {
            return Err(division_by_zero());
        }
        let scale = scale.clamp(0, MAX_SCALE);
        // a * 10^-sa / (b * 10^-sb) = (a * 10^(scale + sb - sa) / b) * 10^-scale
        let shift = scale + i64::from(*scale_b) - i64::from(*scale_a);
        if let (Unscaled::Small(a), Unscaled::Small(b)) = (a, b) {
            let wide = u32::try_from(shift).ok().and_then(power_of_ten_small).and_then(|ten| a.checked_mul(ten));
            if let Some(a) = wide.filter(|_| *b != i128::MIN)
                && let (Some(quotient), Some(remainder)) = (a.checked_div(*b), a.checked_rem(*b))
            {
                let away = remainder.unsigned_abs() >= b.unsigned_abs() - remainder.unsigned_abs();
                let step = if away && remainder != 0 { a.signum() * b.signum() } else { 0 };
                return Ok(Numeric::new(quotient + step, scale as u16));
            }
        }
        let (mut dividend, mut divisor) = (a.big(), b.big());
        if shift >= 0 {
            dividend *= power_of_ten(shift as u32);
        } else {
            divisor *= power_of_ten((-shift) as u32);
        }
        Ok(Numeric::from_big(divide_rounded(&dividend, &divisor), scale as u16))
    }

    /// The whole part of the quotient. Errors: 22012.
    pub fn div_whole(&self, divisor: &Numeric) -> Result<Numeric> {
        match (self, divisor) {
            (Numeric::Finite { unscaled: a, scale: scale_a }, Numeric::Finite { unscaled: b, scale: scale_b }) => {
                if b.signum() == 0 {
                    return Err(division_by_zero());
                }
                let scale = (*scale_a).max(*scale_b);
                let (a, b) = (Self::unscaled_at(a, *scale_a, scale), Self::unscaled_at(b, *scale_b, scale));
                Ok(Numeric::from_big(a.big() / b.big(), 0))
            }
            _ => self.div(divisor),
        }
    }

    /// The remainder, with the sign of the dividend and the larger scale. Errors: 22012.
    pub fn rem(&self, divisor: &Numeric) -> Result<Numeric> {
        match (self, divisor) {
            (Numeric::NaN, _) | (_, Numeric::NaN) => Ok(Numeric::NaN),
            (_, b) if b.is_zero() => Err(division_by_zero()),
            (Numeric::Finite { unscaled: a, scale: scale_a }, Numeric::Finite { unscaled: b, scale: scale_b }) => {
                let scale = (*scale_a).max(*scale_b);
                let (a, b) = (Self::unscaled_at(a, *scale_a, scale), Self::unscaled_at(b, *scale_b, scale));
                if let (Unscaled::Small(a), Unscaled::Small(b)) = (&a, &b)
                    && let Some(remainder) = a.checked_rem(*b)
                {
                    return Ok(Numeric::new(remainder, scale));
                }
                Ok(Numeric::from_big(a.big() % b.big(), scale))
            }
            (Numeric::Finite { .. }, _) => Ok(self.clone()),
            _ => Ok(Numeric::NaN),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn n(text: &str) -> Numeric {
        Numeric::parse(text).unwrap()
    }

    #[test]
    fn results_have_postgresqls_scales() {
        // Checked against PostgreSQL 15.
        for (a, b, quotient) in [
            ("1", "3", "0.33333333333333333333"),
            ("10", "3", "3.3333333333333333"),
            ("2", "1", "2.0000000000000000"),
            ("1.0", "3", "0.33333333333333333333"),
            ("100", "7", "14.2857142857142857"),
            ("1", "10000", "0.000100000000000000000000"),
            ("123456789", "7", "17636684.142857142857"),
            ("-1", "3", "-0.33333333333333333333"),
            ("0", "5", "0.00000000000000000000"),
            ("7.5", "2.5", "3.0000000000000000"),
        ] {
            assert_eq!(n(a).div(&n(b)).unwrap().to_string(), quotient, "{a} / {b}");
        }
        assert_eq!(n("1.10").add(&n("2.2")).to_string(), "3.30");
        assert_eq!(n("1.10").mul(&n("2.2")).to_string(), "2.420");
        assert_eq!(n("5.5").rem(&n("-2")).unwrap().to_string(), "1.5");
        assert_eq!(n("-5.5").rem(&n("2")).unwrap().to_string(), "-1.5");
        assert_eq!(n("1").div(&n("0")).unwrap_err().state(), state::DIVISION_BY_ZERO);
    }

    #[test]
    fn rounding() {
        for (text, places, rounded) in [
            ("2.5", 0, "3"),
            ("-2.5", 0, "-3"),
            ("2.45", 1, "2.5"),
            ("1234.5", -2, "1200"),
            ("0.5", -1, "0"),
            ("1", 2, "1.00"),
            ("55", -2, "100"),
            ("5", -1, "10"),
            ("4", -1, "0"),
        ] {
            assert_eq!(n(text).round(places).to_string(), rounded, "{text}");
        }
        assert_eq!(n("-1.5").ceil().to_string(), "-1");
        assert_eq!(n("-1.5").floor().to_string(), "-2");
        assert_eq!(n("1.01").ceil().to_string(), "2");
        assert_eq!(n("-1.59").trunc(1).to_string(), "-1.5");
    }

    #[test]
    fn large_values_do_not_wrap() {
        let big = n("170141183460469231731687303715884105727");
        assert_eq!(big.add(&n("1")).to_string(), "170141183460469231731687303715884105728");
        assert_eq!(big.mul(&n("10")).to_string(), "1701411834604692317316873037158841057270");
        assert_eq!(
            n("-170141183460469231731687303715884105728").neg().to_string(),
            "170141183460469231731687303715884105728"
        );
    }
}
