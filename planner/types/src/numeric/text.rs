//! Parses and writes numerics, and applies their modifier.

use super::{MAX_INTEGER_DIGITS, MAX_SCALE, Numeric, Unscaled};
use num_bigint::BigInt;
use sql_error::{Result, SqlError, state};
use std::fmt;

fn invalid(text: &str) -> SqlError {
    SqlError::new(state::INVALID_TEXT_REPRESENTATION, format!("invalid input syntax for type numeric: \"{text}\""))
}

/// The error 22003 for a value outside the range of numeric.
pub(super) fn overflow() -> SqlError {
    SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}

impl Numeric {
    /// Parses `123.450`, `-1e10`, `NaN` or `Infinity`, with white space around. Errors: 22P02 for other text, 22003 on
    /// overflow.
    pub fn parse(text: &str) -> Result<Numeric> {
        let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace());
        let (negative, body) = match trimmed.as_bytes().first() {
            Some(b'-') => (true, trimmed.get(1..).unwrap_or_default()),
            Some(b'+') => (false, trimmed.get(1..).unwrap_or_default()),
            _ => (false, trimmed),
        };
        if !body.as_bytes().first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') {
            if body.eq_ignore_ascii_case("nan") && body.len() == trimmed.len() {
                return Ok(Numeric::NaN);
            }
            if body.eq_ignore_ascii_case("infinity") || body.eq_ignore_ascii_case("inf") {
                return Ok(if negative { Numeric::NegativeInfinity } else { Numeric::Infinity });
            }
            return Err(invalid(text));
        }
        let (mantissa, exponent) = match body.find(['e', 'E']) {
            Some(at) => {
                let digits = body.get(at + 1..).unwrap_or_default();
                let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
                if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(invalid(text));
                }
                let exponent: i64 = digits.parse().map_err(|_| overflow())?;
                if exponent.abs() > i64::from(i32::MAX) / 2 {
                    return Err(overflow());
                }
                (body.get(..at).unwrap_or_default(), exponent)
            }
            None => (body, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if (whole.is_empty() && fraction.is_empty())
            || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
        {
            return Err(invalid(text));
        }
        let scale = fraction.len() as i64 - exponent;
        let mut digits = String::with_capacity(whole.len() + fraction.len() + 1);
        if negative {
            digits.push('-');
        }
        digits.push_str(whole);
        digits.push_str(fraction);
        let significant = whole.trim_start_matches('0').len() as i64 + exponent;
        if significant > MAX_INTEGER_DIGITS || scale > MAX_SCALE {
            return Err(overflow());
        }
        let zeros = (-scale).max(0) as u32;
        let unscaled = match digits.parse::<i128>() {
            Ok(value) => Unscaled::Small(value),
            Err(_) => Unscaled::from_big(digits.parse::<BigInt>().map_err(|_| invalid(text))?),
        };
        let value = Numeric::Finite { unscaled, scale: 0 }.shifted(zeros);
        Ok(value.with_raw_scale(scale.max(0) as u16))
    }

    /// Checks the number of digits before the point. Errors: 22003 for more than PostgreSQL stores.
    pub fn check_size(&self) -> Result<()> {
        match self {
            // A value of fewer bits cannot have too many digits.
            Numeric::Finite { unscaled: Unscaled::Big(value), .. } if value.bits() > 400_000 => {
                if self.leading_exponent() >= MAX_INTEGER_DIGITS { Err(overflow()) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    fn shifted(self, zeros: u32) -> Numeric {
        match self {
            Numeric::Finite { unscaled, scale } if zeros > 0 => {
                Numeric::from_big(unscaled.big() * super::power_of_ten(zeros), scale)
            }
            other => other,
        }
    }

    fn with_raw_scale(self, scale: u16) -> Numeric {
        match self {
            Numeric::Finite { unscaled, .. } => Numeric::Finite { unscaled, scale },
            other => other,
        }
    }

    /// Rounds to the scale of `modifier` (-1 changes nothing) and checks the precision. Errors: 22003 if the digits
    /// before the point do not fit.
    pub fn apply_modifier(self, modifier: i32) -> Result<Numeric> {
        if modifier < 4 {
            return Ok(self);
        }
        let (precision, scale) = crate::numeric_modifier(modifier);
        let overflow =
            |detail: String| SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow").detail(detail);
        match self {
            Numeric::NaN => Ok(self),
            Numeric::Infinity | Numeric::NegativeInfinity => Err(overflow(format!(
                "A field with precision {precision}, scale {scale} cannot hold an infinite value."
            ))),
            Numeric::Finite { .. } => {
                let rounded = self.round(i64::from(scale));
                let limit = precision - scale;
                if rounded.signum() != 0 && rounded.leading_exponent() >= i64::from(limit) {
                    let bound = if limit == 0 { "1".to_string() } else { format!("10^{limit}") };
                    return Err(overflow(format!(
                        "A field with precision {precision}, scale {scale} must round to an absolute value less than {bound}."
                    )));
                }
                Ok(rounded)
            }
        }
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unscaled, scale) = match self {
            Numeric::NaN => return f.write_str("NaN"),
            Numeric::Infinity => return f.write_str("Infinity"),
            Numeric::NegativeInfinity => return f.write_str("-Infinity"),
            Numeric::Finite { unscaled, scale } => (unscaled, usize::from(*scale)),
        };
        let digits = unscaled.to_digits();
        if unscaled.signum() < 0 {
            f.write_str("-")?;
        }
        if scale == 0 {
            return f.write_str(&digits);
        }
        match digits.len().checked_sub(scale).filter(|whole| *whole > 0) {
            Some(whole) => {
                let (whole, fraction) = digits.split_at(whole);
                write!(f, "{whole}.{fraction}")
            }
            None => write!(f, "0.{digits:0>scale$}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::make_numeric_modifier;

    #[test]
    fn text_comes_back_in_postgresqls_form() {
        for (text, printed) in [
            ("0", "0"),
            ("-0", "0"),
            ("1.50", "1.50"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-0.001", "-0.001"),
            ("1e3", "1000"),
            ("1.5e-3", "0.0015"),
            (" 7 ", "7"),
            ("inf", "Infinity"),
            ("-Infinity", "-Infinity"),
            ("nan", "NaN"),
            ("+12", "12"),
            (
                "12345678901234567890123456789012345678901234567890.5",
                "12345678901234567890123456789012345678901234567890.5",
            ),
        ] {
            assert_eq!(Numeric::parse(text).unwrap().to_string(), printed, "{text}");
        }
        for text in ["", "x", "1x", "--1", "1e", ".", "1.2.3", "-nan", "1 2"] {
            assert_eq!(Numeric::parse(text).unwrap_err().state(), state::INVALID_TEXT_REPRESENTATION, "{text}");
        }
    }

    #[test]
    fn modifiers_round_half_away_and_overflow() {
        let money = make_numeric_modifier(5, 2);
        let apply = |text: &str, modifier| Numeric::parse(text).unwrap().apply_modifier(modifier);
        assert_eq!(apply("1.005", money).unwrap().to_string(), "1.01");
        assert_eq!(apply("-1.005", money).unwrap().to_string(), "-1.01");
        assert_eq!(apply("999.994", money).unwrap().to_string(), "999.99");
        let error = apply("999.995", money).unwrap_err();
        assert_eq!(error.state(), state::NUMERIC_VALUE_OUT_OF_RANGE);
        assert_eq!(
            error.fields().detail.as_deref(),
            Some("A field with precision 5, scale 2 must round to an absolute value less than 10^3.")
        );
        assert_eq!(apply("1234", make_numeric_modifier(2, -2)).unwrap().to_string(), "1200");
        assert!(apply("0.5", make_numeric_modifier(2, 2)).is_ok());
        assert!(apply("1.0", make_numeric_modifier(2, 2)).is_err());
    }
}
