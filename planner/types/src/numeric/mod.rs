//! [`Numeric`]: PostgreSQL's numeric: exact decimals that keep their display scale, NaN and both infinities.
//!
//! A finite value is an integer and a display scale, the number of decimal places. Small integers are held in 128 bits;
//! larger ones in a `BigInt`.

mod arithmetic;
mod bytes;
mod convert;
mod text;
mod transcendental;

pub use arithmetic::division_by_zero;
pub use bytes::key_of;
pub use transcendental::{check_float_log, float_power};

use num_bigint::{BigInt, BigUint, Sign};
use std::cmp::Ordering;

/// The largest display scale that functions choose by themselves (`NUMERIC_MAX_DISPLAY_SCALE`).
pub const MAX_DISPLAY_SCALE: i64 = 1000;
/// The fewest significant digits of a quotient and similar results (`NUMERIC_MIN_SIG_DIGITS`).
pub const MIN_SIGNIFICANT_DIGITS: i64 = 16;
/// The largest display scale of a stored value.
pub const MAX_SCALE: i64 = 16383;
/// Most digits before the decimal point.
pub const MAX_INTEGER_DIGITS: i64 = 131_072;

/// The digits of a decimal as an integer, held in 128 bits if they fit.
#[derive(Clone, Debug)]
pub enum Unscaled {
    /// An integer that fits 128 bits.
    Small(i128),
    /// An integer that may not fit 128 bits. A small one is possible, so compare by value.
    Big(BigInt),
}

impl Unscaled {
    /// The integer as a `BigInt`.
    pub fn big(&self) -> BigInt {
        match self {
            Unscaled::Small(value) => BigInt::from(*value),
            Unscaled::Big(value) => value.clone(),
        }
    }
    /// The smallest representation of a `BigInt`.
    pub fn from_big(value: BigInt) -> Self {
        match i128::try_from(&value) {
            Ok(small) => Unscaled::Small(small),
            Err(_) => Unscaled::Big(value),
        }
    }
    /// The sign: -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match self {
            Unscaled::Small(value) => value.signum() as i32,
            Unscaled::Big(value) => match value.sign() {
                Sign::Minus => -1,
                Sign::NoSign => 0,
                Sign::Plus => 1,
            },
        }
    }
    /// Number of decimal digits of the absolute value; 1 for zero.
    pub fn digits(&self) -> usize {
        match self {
            Unscaled::Small(0) => 1,
            Unscaled::Small(value) => value.unsigned_abs().ilog10() as usize + 1,
            Unscaled::Big(value) => digits_of(value.magnitude()),
        }
    }
    /// The decimal digits of the absolute value.
    pub fn to_digits(&self) -> String {
        match self {
            Unscaled::Small(value) => value.unsigned_abs().to_string(),
            Unscaled::Big(value) => value.magnitude().to_str_radix(10),
        }
    }
    /// The integer with the opposite sign.
    #[must_use]
    pub fn negated(&self) -> Self {
        match self {
            Unscaled::Small(value) => match value.checked_neg() {
                Some(value) => Unscaled::Small(value),
                None => Unscaled::Big(-BigInt::from(*value)),
            },
            Unscaled::Big(value) => Unscaled::from_big(-value.clone()),
        }
    }
}

/// Number of decimal digits of a nonzero number.
fn digits_of(number: &BigUint) -> usize {
    // There is at most one power of ten between 2^(bits - 1) and 2^bits.
    let (bits, margin) = (number.bits() as f64, 1e-6);
    let least = ((bits - 1.0) * std::f64::consts::LOG10_2 - margin).max(0.0) as usize;
    let most = (bits * std::f64::consts::LOG10_2 + margin) as usize;
    match least == most || *number >= BigUint::from(10u32).pow(most as u32) {
        true => most + 1,
        false => most,
    }
}

/// 10 to the power `exponent`, if it fits 128 bits.
/// Ten to this power.
pub fn power_of_ten_small(exponent: u32) -> Option<i128> {
    const POWERS: [i128; 39] = {
        let mut powers = [1; 39];
        let mut exponent = 1;
        while exponent < powers.len() {
            powers[exponent] = powers[exponent - 1] * 10;
            exponent += 1;
        }
        powers
    };
    POWERS.get(exponent as usize).copied()
}

/// Ten to this power.
pub fn power_of_ten(exponent: u32) -> BigInt {
    match power_of_ten_small(exponent) {
        Some(small) => BigInt::from(small),
        None => BigInt::from(10).pow(exponent),
    }
}

/// A numeric value: finite, infinite or NaN.
#[derive(Clone, Debug)]
pub enum Numeric {
    /// `-Infinity`, less than every other value.
    NegativeInfinity,
    /// A finite value: `unscaled * 10^-scale`, shown with `scale` decimal places.
    Finite {
        /// All digits, without the point.
        unscaled: Unscaled,
        /// Number of decimal places.
        scale: u16,
    },
    /// `Infinity`, greater than every finite value.
    Infinity,
    /// `NaN`, equal to itself and greater than all others.
    NaN,
}

impl Numeric {
    /// A finite value in the 128-bit representation.
    pub fn new(unscaled: i128, scale: u16) -> Self {
        Numeric::Finite { unscaled: Unscaled::Small(unscaled), scale }
    }
    /// A finite value in its smallest representation.
    pub fn from_big(unscaled: BigInt, scale: u16) -> Self {
        Numeric::Finite { unscaled: Unscaled::from_big(unscaled), scale }
    }
    /// Zero with scale 0.
    pub fn zero() -> Self {
        Self::new(0, 0)
    }
    /// Number of decimal places shown; 0 if the value is not finite.
    pub fn scale(&self) -> u16 {
        match self {
            Numeric::Finite { scale, .. } => *scale,
            _ => 0,
        }
    }
    /// Whether the value has some thousands of digits. Computing with it may take long.
    pub fn is_long(&self) -> bool {
        matches!(self, Numeric::Finite { unscaled: Unscaled::Big(value), .. } if value.bits() > 8192)
    }
    /// Whether the value is NaN.
    pub fn is_nan(&self) -> bool {
        matches!(self, Numeric::NaN)
    }
    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        self.is_finite() && self.signum() == 0
    }
    /// Whether the value is neither NaN nor an infinity.
    pub fn is_finite(&self) -> bool {
        matches!(self, Numeric::Finite { .. })
    }
    /// The sign: -1, 0 or 1. NaN counts as positive.
    pub fn signum(&self) -> i32 {
        match self {
            Numeric::NegativeInfinity => -1,
            Numeric::Finite { unscaled, .. } => unscaled.signum(),
            Numeric::Infinity | Numeric::NaN => 1,
        }
    }
}

impl From<i64> for Numeric {
    fn from(value: i64) -> Self {
        Numeric::new(i128::from(value), 0)
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Numeric {}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Numeric {
    /// Numeric order, in which the display scale does not count. NaN equals itself and exceeds infinity.
    fn cmp(&self, other: &Self) -> Ordering {
        fn class(value: &Numeric) -> u8 {
            match value {
                Numeric::NegativeInfinity => 0,
                Numeric::Finite { .. } => 1,
                Numeric::Infinity => 2,
                Numeric::NaN => 3,
            }
        }
        match (self, other) {
            (Numeric::Finite { unscaled: a, scale: scale_a }, Numeric::Finite { unscaled: b, scale: scale_b }) => {
                if let (Unscaled::Small(a), Unscaled::Small(b)) = (a, b) {
                    let scale = (*scale_a).max(*scale_b);
                    let widen = |value: i128, from: u16| {
                        power_of_ten_small(u32::from(scale - from)).and_then(|ten| value.checked_mul(ten))
                    };
                    if let (Some(a), Some(b)) = (widen(*a, *scale_a), widen(*b, *scale_b)) {
                        return a.cmp(&b);
                    }
                }
                let scale = (*scale_a).max(*scale_b);
                let a = a.big() * power_of_ten(u32::from(scale - scale_a));
                let b = b.big() * power_of_ten(u32::from(scale - scale_b));
                a.cmp(&b)
            }
            (a, b) => class(a).cmp(&class(b)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted_without_writing_them() {
        for exponent in (40..700).step_by(7).chain([20_000]) {
            let ten = power_of_ten(exponent);
            for near in -1..=1 {
                let number = Unscaled::from_big(&ten + near);
                assert_eq!(number.digits(), number.to_digits().len(), "10^{exponent} + {near}");
            }
        }
        for bits in 128..2000u32 {
            let number = Unscaled::from_big(BigInt::from(1) << bits);
            assert_eq!(number.digits(), number.to_digits().len(), "2^{bits}");
        }
    }
}
