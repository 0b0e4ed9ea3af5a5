//! to_char of numbers: digits, group and point, signs, FM. Other patterns are refused.

use crate::error::{Result, SqlError};
use crate::functions::kernel::{Kernel, Stability};
use crate::functions::registry::ScalarFunction;
use crate::functions::typed::{Float4, Float8, Int4, Int8, Numeric, Text, binary};
use crate::types::SqlType;
use crate::types::numeric::Numeric as Number;

/// Where the sign goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SignStyle {
    /// Before the first digit, a space when positive.
    Default,
    /// `S` before the number: anchored to it, `+` when positive.
    Before,
    /// `S` after the number.
    After,
    /// `MI` at its place: `-` or a space.
    Minus,
    /// `PR`: negative in angle brackets.
    Brackets,
}

fn format(value: &Number, pattern: &str) -> Result<String> {
    let unsupported = |what: &str| SqlError::unsupported(format!("to_char number pattern \"{what}\""));
    let (mut fill, mut style) = (true, SignStyle::Default);
    // Parts left and right of the point: '9', '0', ',' or literal text.
    let mut whole: Vec<String> = Vec::new();
    let mut fraction: Vec<String> = Vec::new();
    let mut point = false;
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let upper: String = rest.chars().take(2).collect::<String>().to_uppercase();
        let mut length = c.len_utf8();
        let parts = if point { &mut fraction } else { &mut whole };
        match (upper.as_str(), c.to_ascii_uppercase()) {
            ("FM", _) => {
                fill = false;
                length = 2;
            }
            ("MI", _) => {
                style = SignStyle::Minus;
                parts.push("MI".into());
                length = 2;
            }
            ("PR", _) => {
                style = SignStyle::Brackets;
                length = 2;
            }
            ("EE" | "RN" | "TH" | "PL" | "SG", _) => return Err(unsupported(&upper)),
            (_, '9' | '0') => parts.push(c.to_string()),
            (_, ',' | 'G') => parts.push(",".into()),
            (_, '.' | 'D') if point => return Err(SqlError::syntax("multiple decimal points")),
            (_, '.' | 'D') => point = true,
            (_, 'S') => {
                style = if whole.is_empty() && !point { SignStyle::Before } else { SignStyle::After };
            }
            (_, 'V' | 'L') => return Err(unsupported(&c.to_string())),
            (_, '"') => {
                let quoted = rest.get(1..).unwrap_or_default();
                let end = quoted.find('"').unwrap_or(quoted.len());
                parts.push(format!("\"{}", quoted.get(..end).unwrap_or_default()));
                length = (end + 2).min(rest.len());
            }
            _ => parts.push(format!("\"{c}")),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    let is_digit = |part: &str| part == "9" || part == "0";
    let places = fraction.iter().filter(|part| is_digit(part)).count();
    let room = whole.iter().filter(|part| is_digit(part)).count();
    let rounded = value.round(places as i64);
    let negative = rounded.signum() < 0 && !rounded.is_nan();
    let shown = rounded.abs().to_string();
    let (digits, decimals) = shown.split_once('.').unwrap_or((&shown, ""));
    let digits = if digits == "0" { "" } else { digits };
    let overflow = !value.is_finite() || digits.len() > room;
    let mut number = String::new();
    // Zeros are shown from the first '0' of the pattern on.
    let first_zero = whole.iter().filter(|part| is_digit(part)).position(|part| part == "0");
    let mut at = 0usize;
    let mut started = false;
    for part in &whole {
        match part.as_str() {
            "9" | "0" => {
                let skip = room - digits.len().min(room);
                let zero = first_zero.is_some_and(|first| at >= first);
                if overflow {
                    number.push('#');
                    started = true;
                } else if at >= skip {
                    number.push(digits.as_bytes().get(at - skip).copied().map_or('0', char::from));
                    started = true;
                } else if zero || (at + 1 == room && places == 0 && digits.is_empty()) {
                    number.push('0');
                    started = true;
                } else if fill {
                    number.push(' ');
                }
                at += 1;
            }
            "," if started => number.push(','),
            "," if fill => number.push(' '),
            "," => {}
            "MI" => number.push_str(if negative {
                "-"
            } else if fill {
                " "
            } else {
                ""
            }),
            literal => number.push_str(literal.strip_prefix('"').unwrap_or(literal)),
        }
    }
    if point {
        number.push('.');
        let mut decimals = decimals.chars();
        let digits_after: Vec<&String> = fraction.iter().filter(|part| is_digit(part)).collect();
        let last_zero = digits_after.iter().rposition(|part| *part == "0");
        let mut shown = String::new();
        let mut at = 0usize;
        let mut keep = 0usize;
        for part in &fraction {
            match part.as_str() {
                "9" | "0" => {
                    let digit = if overflow { '#' } else { decimals.next().unwrap_or('0') };
                    shown.push(digit);
                    if digit != '0' || last_zero.is_some_and(|last| at <= last) {
                        keep = shown.len();
                    }
                    at += 1;
                }
                "MI" => shown.push_str(if negative { "-" } else { " " }),
                "," => shown.push(','),
                literal => shown.push_str(literal.strip_prefix('"').unwrap_or(literal)),
            }
        }
        if !fill {
            shown.truncate(keep);
        }
        number.push_str(&shown);
    }
    // The sign stands right before the first character that is not a filling space.
    let blanks = number.len() - number.trim_start_matches(' ').len();
    Ok(match style {
        SignStyle::Default | SignStyle::Before => {
            let sign = match (negative, style) {
                (true, _) => "-",
                (false, SignStyle::Before) => "+",
                (false, _) if fill => " ",
                _ => "",
            };
            number.insert_str(blanks, sign);
            number
        }
        SignStyle::After => {
            number.push(if negative { '-' } else { '+' });
            number
        }
        SignStyle::Minus => number,
        SignStyle::Brackets if negative => {
            number.insert(blanks, '<');
            number + ">"
        }
        SignStyle::Brackets if fill => format!(" {number} "),
        SignStyle::Brackets => number,
    })
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    let make =
        |ty: SqlType, kernel: Kernel| ScalarFunction::new("to_char", &[ty, text], text, Stability::Immutable, kernel);
    vec![
        make(SqlType::INT4, binary::<Int4, Text, Text, _>(|v: i32, p: &str| format(&Number::from(i64::from(v)), p))),
        make(SqlType::INT8, binary::<Int8, Text, Text, _>(|v: i64, p: &str| format(&Number::from(v), p))),
        make(SqlType::NUMERIC, binary::<Numeric, Text, Text, _>(|v: Number, p: &str| format(&v, p))),
        make(SqlType::FLOAT4, binary::<Float4, Text, Text, _>(|v: f32, p: &str| format(&Number::from_f32(v), p))),
        make(SqlType::FLOAT8, binary::<Float8, Text, Text, _>(|v: f64, p: &str| format(&Number::from_f64(v), p))),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn as_postgresql_formats() {
        // Checked against PostgreSQL 15.
        for (value, pattern, text) in [
            ("125", "999", " 125"),
            ("-125", "999", "-125"),
            ("12", "9990999.9", "    0012.0"),
            ("0.1", "0.9", " 0.1"),
            ("1485", "9,999", " 1,485"),
            ("-485", "999MI", "485-"),
            ("485", "FM999", "485"),
            ("485", "S999", "+485"),
            ("-485", "999S", "485-"),
            ("-485", "999PR", "<485>"),
            ("1234567.891", "FM9,999,999.00", "1,234,567.89"),
            ("1234.5", "999", " ###"),
            ("0", "999", "   0"),
            ("12.5", "FM999.999", "12.5"),
            ("-0.1", "99.99", "  -.10"),
        ] {
            assert_eq!(format(&Number::parse(value).unwrap(), pattern).unwrap(), text, "{value} {pattern}");
        }
    }
}
