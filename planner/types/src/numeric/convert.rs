//! Converts numerics to and from integers, floats and the binary wire format.

use super::{Numeric, Unscaled, power_of_ten};
use num_bigint::{BigInt, BigUint, Sign};
use sql_error::{Result, SqlError, state};

fn out_of_range(type_name: &str) -> SqlError {
    SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, format!("{type_name} out of range"))
}

const WIRE_NEGATIVE: u16 = 0x4000;
const WIRE_NAN: u16 = 0xC000;
const WIRE_INFINITY: u16 = 0xD000;
const WIRE_NEGATIVE_INFINITY: u16 = 0xF000;

impl Numeric {
    /// Rounds half away from zero to an integer. Errors: 22003 if it does not fit `i64`, 0A000 for NaN and infinities.
    pub fn to_i64(&self, type_name: &str) -> Result<i64> {
        let special =
            |what: &str| SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("cannot convert {what} to {type_name}"));
        match self {
            Numeric::NaN => Err(special("NaN")),
            Numeric::Infinity | Numeric::NegativeInfinity => Err(special("infinity")),
            Numeric::Finite { .. } => match self.round(0) {
                Numeric::Finite { unscaled: Unscaled::Small(value), .. } => {
                    i64::try_from(value).map_err(|_| out_of_range(type_name))
                }
                _ => Err(out_of_range(type_name)),
            },
        }
    }
    /// The nearest float8. Errors: 22003 on overflow.
    pub fn to_f64(&self) -> Result<f64> {
        match self {
            Numeric::NaN => Ok(f64::NAN),
            Numeric::Infinity => Ok(f64::INFINITY),
            Numeric::NegativeInfinity => Ok(f64::NEG_INFINITY),
            Numeric::Finite { .. } => {
                let text = self.to_string();
                match text.parse::<f64>() {
                    Ok(value) if value.is_finite() => Ok(value),
                    _ => Err(SqlError::new(
                        state::NUMERIC_VALUE_OUT_OF_RANGE,
                        format!("\"{text}\" is out of range for type double precision"),
                    )),
                }
            }
        }
    }
    /// A float8 with 15 significant digits, as PostgreSQL casts it.
    pub fn from_f64(value: f64) -> Numeric {
        Self::from_float_digits(value, 14)
    }
    /// A float4 with 6 significant digits, as PostgreSQL casts it.
    pub fn from_f32(value: f32) -> Numeric {
        Self::from_float_digits(f64::from(value), 5)
    }
    fn from_float_digits(value: f64, digits: usize) -> Numeric {
        if value.is_nan() {
            return Numeric::NaN;
        }
        if value.is_infinite() {
            return if value > 0.0 { Numeric::Infinity } else { Numeric::NegativeInfinity };
        }
        // C's `%.15g` drops trailing zeros.
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa =
            if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        Numeric::parse(&format!("{mantissa}e{exponent}")).unwrap_or(Numeric::NaN)
    }

    /// Appends the binary wire format: ndigits, weight, sign, dscale, then base-10000 digits, all 16 bits.
    pub fn write_wire(&self, out: &mut Vec<u8>) {
        // PostgreSQL sends the display scale 32 for infinities.
        let special = |sign: u16, out: &mut Vec<u8>| {
            let scale = if sign == WIRE_NAN { 0 } else { 32u16 };
            for word in [0u16, 0, sign, scale] {
                out.extend_from_slice(&word.to_be_bytes());
            }
        };
        let (unscaled, scale) = match self {
            Numeric::NaN => return special(WIRE_NAN, out),
            Numeric::Infinity => return special(WIRE_INFINITY, out),
            Numeric::NegativeInfinity => return special(WIRE_NEGATIVE_INFINITY, out),
            Numeric::Finite { unscaled, scale } => (unscaled, *scale),
        };
        let groups_after = usize::from(scale).div_ceil(4);
        let pad = groups_after * 4 - usize::from(scale);
        let mut digits: Vec<u16> = Vec::new();
        let magnitude = unscaled.big().magnitude() * BigUint::from(10u32).pow(pad as u32);
        let mut text = magnitude.to_str_radix(10);
        while text.len() % 4 != 0 {
            text.insert(0, '0');
        }
        for group in text.as_bytes().chunks(4) {
            digits.push(group.iter().fold(0u16, |value, byte| value * 10 + u16::from(byte - b'0')));
        }
        let mut weight = digits.len() as i64 - groups_after as i64 - 1;
        let leading = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..leading);
        weight -= leading as i64;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        if digits.is_empty() {
            weight = 0;
        }
        let sign = if unscaled.signum() < 0 { WIRE_NEGATIVE } else { 0 };
        out.extend_from_slice(&(digits.len() as u16).to_be_bytes());
        out.extend_from_slice(&(weight as i16).to_be_bytes());
        out.extend_from_slice(&sign.to_be_bytes());
        out.extend_from_slice(&scale.to_be_bytes());
        for digit in digits {
            out.extend_from_slice(&digit.to_be_bytes());
        }
    }

    /// Reads the binary wire format. Errors: 22P03.
    pub fn from_wire(bytes: &[u8]) -> Result<Numeric> {
        let invalid = |what: &str| {
            SqlError::new(state::INVALID_BINARY_REPRESENTATION, format!("invalid {what} in external \"numeric\" value"))
        };
        let words: Vec<u16> =
            bytes.chunks_exact(2).map(|pair| pair.iter().fold(0, |word, byte| word << 8 | u16::from(*byte))).collect();
        let (Some([count, weight, sign, scale]), true) = (words.first_chunk::<4>(), bytes.len().is_multiple_of(2))
        else {
            return Err(invalid("length"));
        };
        let digits = words.get(4..).unwrap_or_default();
        if digits.len() != usize::from(*count) {
            return Err(invalid("length"));
        }
        match *sign {
            WIRE_NAN => return Ok(Numeric::NaN),
            WIRE_INFINITY => return Ok(Numeric::Infinity),
            WIRE_NEGATIVE_INFINITY => return Ok(Numeric::NegativeInfinity),
            0 | WIRE_NEGATIVE => {}
            _ => return Err(invalid("sign")),
        }
        if *scale > super::MAX_SCALE as u16 {
            return Err(invalid("scale"));
        }
        let mut magnitude = BigUint::default();
        for digit in digits {
            if *digit > 9999 {
                return Err(invalid("digit"));
            }
            magnitude = magnitude * 10_000u32 + u32::from(*digit);
        }
        let value = BigInt::from_biguint(if *sign == 0 { Sign::Plus } else { Sign::Minus }, magnitude);
        // value * 10000^(weight + 1 - count), shown with `scale` places. Digits beyond them are truncated.
        let places = 4 * (i64::from(*weight as i16) + 1 - i64::from(*count)) + i64::from(*scale);
        let value =
            if places >= 0 { value * power_of_ten(places as u32) } else { value / power_of_ten((-places) as u32) };
        Ok(Numeric::from_big(value, *scale))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_form_comes_back() {
        for text in [
            "0",
            "0.00",
            "1",
            "-1.5",
            "12345.678",
            "10000",
            "0.0001",
            "0.00001",
            "-99999999999999999999.123450",
            "NaN",
            "Infinity",
            "-Infinity",
        ] {
            let value = Numeric::parse(text).unwrap();
            let mut wire = Vec::new();
            value.write_wire(&mut wire);
            assert_eq!(Numeric::from_wire(&wire).unwrap().to_string(), text);
        }
        let mut wire = Vec::new();
        Numeric::parse("12345.678").unwrap().write_wire(&mut wire);
        assert_eq!(wire, [0, 3, 0, 1, 0, 0, 0, 3, 0, 1, 0x09, 0x29, 0x1a, 0x7c]);
        assert!(Numeric::from_wire(&[0, 1]).is_err());
    }

    #[test]
    fn integers_and_floats() {
        assert_eq!(Numeric::parse("2.5").unwrap().to_i64("integer").unwrap(), 3);
        assert_eq!(Numeric::parse("-2.5").unwrap().to_i64("integer").unwrap(), -3);
        assert!(Numeric::parse("1e30").unwrap().to_i64("bigint").is_err());
        assert_eq!(Numeric::from_f64(0.1).to_string(), "0.1");
        assert_eq!(Numeric::from_f64(1e20).to_string(), "100000000000000000000");
        assert_eq!(Numeric::from_f64(123456.789).to_string(), "123456.789");
        assert_eq!(Numeric::from_f32(1.1).to_string(), "1.1");
    }
}
