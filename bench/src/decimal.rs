//! [`Decimal`]: an exact decimal number, as text and in the binary form of PostgreSQL's numeric.

use bytes::{BufMut, BytesMut};
use std::fmt;

/// The number `units / 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    pub units: i64,
    pub scale: u32,
}

/// An amount of money, given in cents.
pub fn cents(units: i64) -> Decimal {
    Decimal { units, scale: 2 }
}

/// `value / divisor` rounded to the nearest integer. Halves round away from zero, as in PostgreSQL.
pub fn divide(value: i128, divisor: i128) -> i64 {
    let half = divisor / 2;
    let rounded = if value < 0 { (value - half) / divisor } else { (value + half) / divisor };
    i64::try_from(rounded).unwrap_or(if rounded < 0 { i64::MIN } else { i64::MAX })
}

impl Decimal {
    /// The units at another scale, rounded.
    pub fn at(self, scale: u32) -> i64 {
        let value = i128::from(self.units);
        if scale >= self.scale {
            divide(value * 10i128.pow(scale - self.scale), 1)
        } else {
            divide(value, 10i128.pow(self.scale - scale))
        }
    }

    /// Parses text such as `-12.34`.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let scale = u32::try_from(part.len()).ok().filter(|scale| *scale <= 18)?;
        let units: i64 = format!("{whole}{part}").parse().ok().filter(|units| *units >= 0)?;
        Some(Decimal { units: if negative { -units } else { units }, scale })
    }

    /// Decodes the binary form. Digits beyond eighteen decimal places are cut off.
    pub fn from_binary(raw: &[u8]) -> Option<Decimal> {
        let word = |place: usize| Some(i16::from_be_bytes(raw.get(2 * place..2 * place + 2)?.try_into().ok()?));
        let (count, weight, sign, shown) = (word(0)?, word(1)?, word(2)?, word(3)?);
        // The value is NaN or infinite.
        if !matches!(sign, 0 | 0x4000) {
            return None;
        }
        let scale = u32::try_from(shown).ok()?.min(16);
        let mut units: i128 = 0;
        for place in 0..count {
            let digit = i128::from(word(4 + usize::try_from(place).ok()?)?);
            // The digit stands for digit * 10000^(weight - place).
            let power = 4 * (i32::from(weight) - i32::from(place)) + i32::try_from(scale).ok()?;
            if power > 30 {
                return None;
            }
            units += if power >= 0 {
                digit * 10i128.pow(power.unsigned_abs())
            } else if power >= -4 {
                digit / 10i128.pow(power.unsigned_abs())
            } else {
                0
            };
        }
        let units = i64::try_from(units).ok()?;
        Some(Decimal { units: if sign == 0 { units } else { -units }, scale })
    }

    /// Appends the binary form.
    pub fn to_binary(self, out: &mut BytesMut) {
        // The fraction consists of whole groups of four digits.
        let groups = self.scale.div_ceil(4);
        let mut rest = u128::from(self.units.unsigned_abs()) * 10u128.pow(4 * groups - self.scale);
        let mut digits = Vec::new();
        while rest > 0 {
            digits.push(u16::try_from(rest % 10_000).unwrap_or(0));
            rest /= 10_000;
        }
        let weight = digits.len() as i64 - i64::from(groups) - 1;
        out.put_u16(u16::try_from(digits.len()).unwrap_or(0));
        out.put_i16(i16::try_from(weight).unwrap_or(0));
        out.put_u16(if self.units < 0 { 0x4000 } else { 0 });
        out.put_u16(u16::try_from(self.scale).unwrap_or(0));
        for digit in digits.into_iter().rev() {
            out.put_u16(digit);
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.units < 0 { "-" } else { "" };
        let power = 10u64.pow(self.scale);
        let units = self.units.unsigned_abs();
        if self.scale == 0 {
            return write!(out, "{sign}{units}");
        }
        write!(out, "{sign}{}.{:0width$}", units / power, units % power, width = self.scale as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_binary_say_the_same() {
        for text in
            ["0.00", "-0.01", "12.34", "9999.99", "10000.00", "-123456789.01", "0.15000", "20.00", "7", "1000000.5"]
        {
            let value = Decimal::parse(text).unwrap();
            assert_eq!(value.to_string(), text);
            let mut raw = BytesMut::new();
            value.to_binary(&mut raw);
            assert_eq!(Decimal::from_binary(&raw), Some(value), "{text}");
        }
    }

    #[test]
    fn rounding_is_that_of_numeric() {
        assert_eq!(Decimal::parse("1.005").unwrap().at(2), 101);
        assert_eq!(Decimal::parse("-1.005").unwrap().at(2), -101);
        assert_eq!(Decimal::parse("1.0049").unwrap().at(2), 100);
        assert_eq!(Decimal::parse("3").unwrap().at(2), 300);
    }
}
