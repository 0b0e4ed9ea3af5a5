//! Parses floats as C's `strtod` does: decimal and hexadecimal digits, `inf` and `nan`.

use sql_error::{Result, SqlError, state};

/// The kind of a number at the beginning of a text.
enum Kind {
    Infinity,
    NotANumber,
    Decimal,
    /// Hexadecimal: a whole number times a power of two.
    Hexadecimal(u128, i64),
}

/// A number at the beginning of a text.
pub struct Leading<'a> {
    text: &'a str,
    negative: bool,
    kind: Kind,
    /// Whether some digit is not 0.
    nonzero: bool,
}

/// Most significant hexadecimal digits: more than any float keeps.
const HEX_DIGITS: usize = 30;
/// Exponents beyond this are outside the range of every float.
const FARTHEST: i64 = 20_000;

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Length of an exponent with its letter and sign; 0 if there is none.
fn exponent(text: &str, letter: char) -> usize {
    let Some(rest) = text.strip_prefix([letter, letter.to_ascii_uppercase()]) else { return 0 };
    let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    match digits(unsigned) {
        0 => 0,
        digits => text.len() - unsigned.len() + digits,
    }
}

fn hexadecimal(text: &str) -> Option<(Kind, usize, bool)> {
    let body = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let (mut mantissa, mut power, mut kept, mut any, mut point) = (0u128, 0i64, 0, false, false);
    let mut length = 0;
    for c in body.chars() {
        if c == '.' && !point {
            point = true;
        } else if let Some(digit) = c.to_digit(16) {
            any = true;
            if kept < HEX_DIGITS {
                mantissa = mantissa << 4 | u128::from(digit);
                kept += usize::from(mantissa != 0);
                power -= if point { 4 } else { 0 };
            } else {
                // Further digits only set the lowest bit, which affects rounding.
                mantissa |= u128::from(digit != 0);
                power += if point { 0 } else { 4 };
            }
        } else {
            break;
        }
        length += 1;
    }
    if !any {
        return None;
    }
    let tail = body.get(length..).unwrap_or_default();
    let behind = exponent(tail, 'p');
    if behind > 0 {
        let said = tail.get(1..behind).unwrap_or_default();
        let far = if said.starts_with('-') { -FARTHEST } else { FARTHEST };
        power = power.saturating_add(said.parse::<i64>().map_or(far, |said| said.clamp(-FARTHEST, FARTHEST)));
    }
    Some((Kind::Hexadecimal(mantissa, power), 2 + length + behind, mantissa != 0))
}

impl<'a> Leading<'a> {
    /// The longest number at the beginning of a text.
    pub fn of(text: &'a str) -> Option<Self> {
        let body = text.strip_prefix(['+', '-']).unwrap_or(text);
        let sign = text.len() - body.len();
        let word = |word: &str| body.get(..word.len()).is_some_and(|given| given.eq_ignore_ascii_case(word));
        let (kind, length, nonzero) = if word("infinity") {
            (Kind::Infinity, 8, false)
        } else if word("inf") {
            (Kind::Infinity, 3, false)
        } else if word("nan") {
            let payload = body.get(3..).and_then(|rest| rest.strip_prefix('(')).map_or(0, |rest| {
                let inside = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
                if rest.get(inside..).is_some_and(|rest| rest.starts_with(')')) { inside + 2 } else { 0 }
            });
            (Kind::NotANumber, 3 + payload, false)
        } else if let Some(found) = hexadecimal(body) {
            found
        } else {
            let whole = digits(body);
            let fraction = body.get(whole..).and_then(|rest| rest.strip_prefix('.')).map(digits);
            if whole + fraction.unwrap_or(0) == 0 {
                return None;
            }
            let mantissa = whole + fraction.map_or(0, |digits| digits + 1);
            let nonzero = body.bytes().take(mantissa).any(|byte| (b'1'..=b'9').contains(&byte));
            let behind = exponent(body.get(mantissa..).unwrap_or_default(), 'e');
            (Kind::Decimal, mantissa + behind, nonzero)
        };
        Some(Leading { text: text.get(..sign + length)?, negative: text.starts_with('-'), kind, nonzero })
    }

    /// The text of the number.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Whether the number is written with digits: neither infinity nor NaN.
    fn is_digits(&self) -> bool {
        matches!(self.kind, Kind::Decimal | Kind::Hexadecimal(..))
    }

    /// The number as a float8. `None` on overflow and underflow.
    pub fn float8(&self) -> Option<f64> {
        let value = match self.kind {
            Kind::Infinity if self.negative => f64::NEG_INFINITY,
            Kind::Infinity => f64::INFINITY,
            Kind::NotANumber => f64::NAN,
            Kind::Decimal => self.text.parse().ok()?,
            Kind::Hexadecimal(mantissa, power) => {
                let value = scaled(mantissa as f64, power);
                if self.negative { -value } else { value }
            }
        };
        (!self.is_digits() || value.is_finite() && (value != 0.0 || !self.nonzero)).then_some(value)
    }

    /// The number as a float4. `None` on overflow and underflow.
    fn float4(&self) -> Option<f32> {
        let value = match self.kind {
            Kind::Decimal => self.text.parse().ok()?,
            Kind::Hexadecimal(mantissa, power) => {
                let value = scaled(f64::from(mantissa as f32), power) as f32;
                if self.negative { -value } else { value }
            }
            _ => self.float8()? as f32,
        };
        (!self.is_digits() || value.is_finite() && (value != 0.0 || !self.nonzero)).then_some(value)
    }
}

fn scaled(value: f64, power: i64) -> f64 {
    let power = power.clamp(-4000, 4000) as i32;
    // Four factors, none of which is out of range by itself.
    let part = |at: i32| 2f64.powi((power + at).div_euclid(4));
    value * part(0) * part(1) * part(2) * part(3)
}

fn read<T>(text: &str, type_name: &str, value: impl Fn(&Leading<'_>) -> Option<T>) -> Result<T> {
    let invalid = || {
        let message = format!("invalid input syntax for type {type_name}: \"{text}\"");
        SqlError::new(state::INVALID_TEXT_REPRESENTATION, message)
    };
    let space = |c: char| c.is_ascii_whitespace() || c == '\x0b';
    let body = text.trim_start_matches(space);
    let leading = Leading::of(body).ok_or_else(invalid)?;
    let value = value(&leading).ok_or_else(|| {
        let message = format!("\"{}\" is out of range for type {type_name}", leading.text);
        SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, message)
    })?;
    match body.get(leading.text.len()..).unwrap_or_default().trim_matches(space) {
        "" => Ok(value),
        _ => Err(invalid()),
    }
}

/// Parses a float8. Errors: 22P02; 22003 on overflow and underflow.
pub fn parse_float8(text: &str) -> Result<f64> {
    read(text, "double precision", |leading| leading.float8())
}

/// Parses a float4. Errors: as [`parse_float8`].
pub fn parse_float4(text: &str) -> Result<f32> {
    read(text, "real", |leading| leading.float4())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_c_reads_them() {
        // Checked against PostgreSQL 15.
        for (text, value) in [
            ("0x10", 16.0),
            (" -0x1.8p1 ", -3.0),
            ("0x.8", 0.5),
            ("1e5", 1e5),
            ("5.", 5.0),
            (".5", 0.5),
            ("-Infinity", f64::NEG_INFINITY),
            ("0e400", 0.0),
            ("0x1p-1074", 5e-324),
        ] {
            assert_eq!(parse_float8(text).unwrap(), value, "{text}");
        }
        assert!(parse_float8("nan(12)").unwrap().is_nan());
        assert_eq!(parse_float4("0xA").unwrap(), 10.0);
        for (text, sqlstate) in [
            ("0x", "22P02"),
            ("0x1p", "22P02"),
            ("", "22P02"),
            (".", "22P02"),
            ("1e", "22P02"),
            ("0x1p-1080", "22003"),
            ("0x1p2000", "22003"),
            ("1e400x", "22003"),
        ] {
            assert_eq!(parse_float8(text).unwrap_err().state(), sqlstate, "{text}");
        }
    }
}
