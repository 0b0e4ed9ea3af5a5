//! The bytes of a numeric: a key whose byte order is numeric order, then the display scale.
//!
//! | value | key |
//! |---|---|
//! | -Infinity | `01` |
//! | negative | `02`, then the complement of exponent, digits, end |
//! | zero | `03` |
//! | positive | `04`, exponent, digits, end |
//! | Infinity | `05` |
//! | NaN | `06` |
//!
//! The value is `0.d1 d2 d3… * 100^exponent` with base-100 digits. The first and last digits are not zero. Each digit
//! is stored plus one; the end is `00`. An exponent between -120 and 120 is one byte, `80 + exponent`. A lower one is
//! `00` and `2^31 + exponent` in four bytes. A higher one is `ff` and the same four bytes. No key is a prefix of
//! another. So the two bytes of the scale that follow only order equal values.

use super::{Numeric, Unscaled, power_of_ten};
use num_bigint::{BigInt, BigUint, Sign};
use sql_error::{Result, SqlError, state};

const NEGATIVE_INFINITY: u8 = 1;
const NEGATIVE: u8 = 2;
const ZERO: u8 = 3;
const POSITIVE: u8 = 4;
const INFINITY: u8 = 5;
const NAN: u8 = 6;

/// The key of a numeric's bytes: all but the last two, which hold the scale.
pub fn key_of(bytes: &[u8]) -> &[u8] {
    bytes.get(..bytes.len().saturating_sub(2)).unwrap_or_default()
}

fn corrupted() -> SqlError {
    SqlError::new(state::DATA_CORRUPTED, "invalid bytes of a numeric value")
}

fn push_exponent(exponent: i64, mask: u8, out: &mut Vec<u8>) {
    let wide = |first: u8, out: &mut Vec<u8>| {
        out.push(first ^ mask);
        let biased = (exponent + (1i64 << 31)) as u32;
        out.extend(biased.to_be_bytes().iter().map(|byte| byte ^ mask));
    };
    match exponent {
        -120..=120 => out.push((128 + exponent) as u8 ^ mask),
        i64::MIN..=-121 => wide(0, out),
        _ => wide(0xff, out),
    }
}

/// Writes the base-100 digits of `value`, most significant first, without leading zeros.
fn base_100(mut value: u128, out: &mut Vec<u8>) {
    let start = out.len();
    while value > u128::from(u64::MAX) {
        // One wide division yields nine digits, which are then split in 64-bit arithmetic.
        let (high, mut low) = (value / 1_000_000_000_000_000_000, (value % 1_000_000_000_000_000_000) as u64);
        for _ in 0..9 {
            out.push((low % 100) as u8);
            low /= 100;
        }
        value = high;
    }
    let mut low = value as u64;
    while low > 0 {
        out.push((low % 100) as u8);
        low /= 100;
    }
    if let Some(digits) = out.get_mut(start..) {
        digits.reverse();
    }
}

impl Numeric {
    /// Appends the key, without the scale.
    pub fn write_key(&self, out: &mut Vec<u8>) {
        let (unscaled, scale) = match self {
            Numeric::NegativeInfinity => return out.push(NEGATIVE_INFINITY),
            Numeric::Infinity => return out.push(INFINITY),
            Numeric::NaN => return out.push(NAN),
            Numeric::Finite { unscaled, scale } => (unscaled, i64::from(*scale)),
        };
        let mask = match unscaled.signum() {
            0 => return out.push(ZERO),
            -1 => {
                out.push(NEGATIVE);
                0xff
            }
            _ => {
                out.push(POSITIVE);
                0
            }
        };
        let odd = scale % 2 == 1;
        let mut digits = Vec::with_capacity(24);
        match unscaled {
            Unscaled::Small(value) => {
                let magnitude = value.unsigned_abs();
                match if odd { magnitude.checked_mul(10) } else { Some(magnitude) } {
                    Some(even) => base_100(even, &mut digits),
                    None => digits = (BigUint::from(magnitude) * 10u32).to_radix_be(100),
                }
            }
            Unscaled::Big(value) => {
                digits = (value.magnitude() * if odd { 10u32 } else { 1 }).to_radix_be(100);
            }
        }
        let exponent = digits.len() as i64 - (scale + 1) / 2;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        push_exponent(exponent, mask, out);
        out.extend(digits.iter().map(|digit| (digit + 1) ^ mask));
        out.push(mask);
    }
    /// Appends key and scale: the form of a numeric in Arrow and in rows.
    pub fn write_bytes(&self, out: &mut Vec<u8>) {
        self.write_key(out);
        out.extend_from_slice(&self.scale().to_be_bytes());
    }
    /// The bytes of key and scale.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16);
        self.write_bytes(&mut out);
        out
    }
    /// Reads a key whose display scale is stored elsewhere. The scale is raised to what the digits need. Also answers
    /// the length of the key in bytes.
    pub fn from_key(bytes: &[u8], scale: u16) -> Result<(Numeric, usize)> {
        let mask = match bytes.first() {
            Some(&NEGATIVE_INFINITY) => return Ok((Numeric::NegativeInfinity, 1)),
            Some(&INFINITY) => return Ok((Numeric::Infinity, 1)),
            Some(&NAN) => return Ok((Numeric::NaN, 1)),
            Some(&ZERO) => return Ok((Numeric::new(0, scale), 1)),
            Some(&NEGATIVE) => 0xffu8,
            Some(&POSITIVE) => 0,
            _ => return Err(corrupted()),
        };
        let first = bytes.get(1).ok_or_else(corrupted)? ^ mask;
        let (exponent, mut at) = if first == 0 || first == 0xff {
            let wide = bytes.get(2..6).and_then(|wide| <[u8; 4]>::try_from(wide).ok()).ok_or_else(corrupted)?;
            let biased = u32::from_be_bytes(wide.map(|byte| byte ^ mask));
            (i64::from(biased) - (1i64 << 31), 6)
        } else {
            (i64::from(first) - 128, 2)
        };
        let start = at;
        loop {
            let byte = bytes.get(at).ok_or_else(corrupted)? ^ mask;
            if byte == 0 {
                break;
            }
            if byte > 100 {
                return Err(corrupted());
            }
            at += 1;
        }
        let digits = bytes.get(start..at).ok_or_else(corrupted)?;
        if digits.is_empty() || exponent.abs() > 70_000 {
            return Err(corrupted());
        }
        // value = digits * 10^places
        let places = 2 * (exponent - digits.len() as i64);
        let needed = (-places).max(0) - i64::from(digits.last().is_some_and(|last| ((last ^ mask) - 1) % 10 == 0));
        let scale = i64::from(scale).max(needed).max(0);
        let scale = u16::try_from(scale).map_err(|_| corrupted())?;
        let shift = places + i64::from(scale);
        let digit = |byte: &u8| (byte ^ mask) - 1;
        let whole = match digits.len() {
            // Less than 10^18.
            ..=9 => Some(digits.iter().fold(0u64, |value, byte| value * 100 + u64::from(digit(byte))).into()),
            _ => digits
                .iter()
                .try_fold(0i128, |value, byte| value.checked_mul(100)?.checked_add(i128::from(digit(byte)))),
        };
        let small = whole.and_then(|value: i128| match shift {
            -1 => Some(value / 10),
            0.. => value.checked_mul(super::power_of_ten_small(u32::try_from(shift).ok()?)?),
            _ => None,
        });
        let value = match small {
            Some(value) => Numeric::new(if mask == 0 { value } else { -value }, scale),
            None => {
                let digits: Vec<u8> = digits.iter().map(|byte| (byte ^ mask) - 1).collect();
                let magnitude = BigUint::from_radix_be(&digits, 100).ok_or_else(corrupted)?;
                let value = BigInt::from_biguint(if mask == 0 { Sign::Plus } else { Sign::Minus }, magnitude);
                let value = if shift < 0 { value / 10 } else { value * power_of_ten(shift as u32) };
                Numeric::from_big(value, scale)
            }
        };
        Ok((value, at + 1))
    }
    /// Reads the bytes of key and scale.
    pub fn from_bytes(bytes: &[u8]) -> Result<Numeric> {
        let split = bytes.len().checked_sub(2).ok_or_else(corrupted)?;
        let (key, scale) = bytes.split_at(split);
        let scale = <[u8; 2]>::try_from(scale).map(u16::from_be_bytes).map_err(|_| corrupted())?;
        let (value, used) = Numeric::from_key(key, scale)?;
        if used == key.len() { Ok(value) } else { Err(corrupted()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        Numeric::parse(text).unwrap().to_bytes()
    }

    #[test]
    fn bytes_order_as_values_and_come_back() {
        let ordered = [
            "-Infinity",
            "-1e200",
            "-123456789012345678901234567890123456789012345678.5",
            "-1000",
            "-100.01",
            "-100",
            "-99.999",
            "-1.5",
            "-1",
            "-0.5",
            "-0.05",
            "-0.001",
            "-1e-300",
            "0",
            "1e-300",
            "0.001",
            "0.0099",
            "0.01",
            "0.05",
            "0.5",
            "0.99",
            "1",
            "1.01",
            "1.5",
            "9",
            "10",
            "99",
            "99.5",
            "100",
            "100.01",
            "101",
            "1000",
            "9999999999999999999",
            "170141183460469231731687303715884105727",
            "123456789012345678901234567890123456789012345678.5",
            "1e200",
            "1e1000",
            "Infinity",
            "NaN",
        ];
        for pair in ordered.windows(2) {
            assert!(bytes(pair[0]) < bytes(pair[1]), "{} < {}", pair[0], pair[1]);
        }
        for text in ordered {
            let value = Numeric::parse(text).unwrap();
            let back = Numeric::from_bytes(&value.to_bytes()).unwrap();
            assert_eq!(back, value);
            assert_eq!(back.to_string(), value.to_string());
        }
    }

    #[test]
    fn the_scale_is_kept_and_orders_only_equal_values() {
        assert_eq!(key_of(&bytes("1.50")), key_of(&bytes("1.5")));
        assert!(bytes("1.5") < bytes("1.50"));
        assert!(bytes("1.50") < bytes("1.51"));
        assert_eq!(Numeric::from_bytes(&bytes("1.500")).unwrap().to_string(), "1.500");
        assert_eq!(Numeric::from_bytes(&bytes("0.000")).unwrap().to_string(), "0.000");
    }

    #[test]
    fn garbage_is_refused() {
        for bytes in [&[][..], &[4], &[4, 0x80], &[4, 0x80, 0, 0, 0], &[9, 0, 0], &[4, 0x81, 200, 0, 0, 0]] {
            assert!(Numeric::from_bytes(bytes).is_err());
        }
    }
}
