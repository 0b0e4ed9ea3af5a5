//! to_number: text by a pattern of digits, groups, a point and signs.

use crate::error::{Result, SqlError, state};
use crate::functions::kernel::Stability;
use crate::functions::registry::ScalarFunction;
use crate::functions::typed::{Nullable, Numeric, Text, binary};
use crate::types::SqlType;
use crate::types::numeric::Numeric as Number;

/// Reads as much of a text as a pattern has places for. NULL for no pattern.
/// Errors: 22P02 for a text without digits, 0A000 for RN and EEEE.
fn read(text: &str, pattern: &str) -> Result<Option<Number>> {
    if pattern.is_empty() {
        return Ok(None);
    }
    // Both say what patterns may not stand together.
    super::number_template::parse(pattern)?;
    let mut input = text.chars().peekable();
    let mut format = pattern.chars().peekable();
    let (mut digits, mut negative, mut point) = (String::new(), false, false);
    let pointed = pattern.contains(['.', 'd', 'D']);
    let mut behind: Option<i64> = None;
    while let Some(c) = format.next() {
        let upper = c.to_ascii_uppercase();
        let pair = (upper, format.peek().map(char::to_ascii_uppercase));
        match pair {
            ('F', Some('M')) | ('T', Some('H')) => {
                format.next();
            }
            ('M', Some('I')) | ('P', Some('L' | 'R')) | ('S', _) => {
                if upper != 'S' {
                    format.next();
                }
                while input.next_if(|c| *c == ' ').is_some() {}
                if let Some(sign) = input.next_if(|c| matches!(c, '+' | '-' | '<' | '>')) {
                    negative |= sign == '-' || sign == '<';
                }
            }
            ('R', Some('N')) => return Err(not_for_input("RN")),
            ('E', Some('E')) => return Err(not_for_input("EEEE")),
            ('V', _) => behind = Some(0),
            ('9' | '0', _) => {
                behind = behind.map(|places| places + 1);
                while input.next_if(|c| *c == ' ').is_some() {}
                if let Some(sign) =
                    input.next_if(|c| matches!(c, '+' | '-' | '<') && matches!(digits.as_str(), "" | "."))
                {
                    negative |= sign != '+';
                }
                match input.next_if(|c| *c == '.' && behind.is_none()).filter(|_| pointed && !point) {
                    // The point comes before the pattern's.
                    Some(_) => {
                        digits.push('.');
                        point = true;
                    }
                    None => digits.extend(input.next_if(char::is_ascii_digit)),
                }
            }
            ('.' | 'D', _) if point => digits.extend(input.next_if(char::is_ascii_digit)),
            ('.' | 'D', _) => {
                if input.next_if_eq(&'.').is_some() {
                    digits.push('.');
                }
                point = true;
            }
            (',' | 'G', _) => {
                input.next_if_eq(&',');
            }
            ('L', _) => {
                input.next_if(is_filling);
            }
            ('"', _) => {
                for _ in format.by_ref().take_while(|c| *c != '"') {
                    input.next_if(is_filling);
                }
            }
            _ => {
                input.next_if(is_filling);
            }
        }
    }
    negative |= input.peek() == Some(&'-') || input.peek() == Some(&'>') && negative;
    if !digits.contains(|c: char| c.is_ascii_digit()) {
        return Err(SqlError::new(state::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type numeric: \" \""));
    }
    let number = Number::parse(&digits)?;
    let number = if negative { number.neg() } else { number };
    match behind {
        // Digits behind V are decimal places, to the sixteen that a power of ten has.
        Some(places) => Ok(Some(number.mul(&Number::from(10).power(&Number::from(-places))?))),
        None => Ok(Some(number)),
    }
}

/// What a pattern's text stands for: anything that is not a part of a number.
fn is_filling(c: &char) -> bool {
    !c.is_ascii_digit() && !matches!(c, '.' | ',' | '+' | '-')
}

fn not_for_input(pattern: &str) -> SqlError {
    SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("\"{pattern}\" not supported for input"))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    let kernel = binary::<Text, Text, Numeric, _>(|text: &str, pattern: &str| Nullable(read(text, pattern)));
    vec![ScalarFunction::new("to_number", &[text, text], SqlType::NUMERIC, Stability::Immutable, kernel)]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::read;

    #[test]
    fn as_postgresql_reads() {
        // Checked against PostgreSQL 15.
        for (text, pattern, number) in [
            ("12,345.6", "99G999D9", "12345.6"),
            ("1.5", "9.99", "1.5"),
            ("-34,338,492", "99G999G999", "-34338492"),
            ("$12.50", "L99.99", "12.50"),
            ("<485>", "999PR", "-485"),
            ("485-", "999MI", "-485"),
            ("+5", "S9", "5"),
            ("  12 ", "99", "12"),
            ("123", "99", "12"),
            ("1234.5678", "9999.99", "1234.56"),
            (".5", "9.9", "0.5"),
            ("abc12", "\"abc\"99", "12"),
            ("1 2", "9 9", "12"),
            ("12345", "999V99", "123.4500000000000000"),
            (" . 0 1-", " 9 9 . 9 9 S", "-0.01"),
            (".-01", "99.99S", "-0.01"),
        ] {
            assert_eq!(read(text, pattern).unwrap().unwrap().to_string(), number, "{text} {pattern}");
        }
        assert_eq!(read("", "99").unwrap_err().state(), "22P02");
    }
}
