//! to_number: parses a text by a pattern of digits, groups, a point and signs.

use super::number_template::{Kind, Node, Template, parse};
use crate::kernel::Stability;
use crate::registry::ScalarFunction;
use crate::typed::{Nullable, Numeric, Text, binary};
use sql_error::{Result, SqlError, state};
use types::numeric::Numeric as Number;
use types::{SqlType, make_numeric_modifier};

/// A text that is read byte by byte.
struct Reader<'a> {
    template: &'a Template,
    input: &'a [u8],
    at: usize,
    sign: Option<char>,
    /// Digits and the point.
    number: String,
    /// Digits before and behind the point, and whether the point was read.
    before: usize,
    after: usize,
    point: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    /// Skips one character.
    fn skip(&mut self) {
        self.at += 1;
        while self.peek().is_some_and(|byte| byte & 0xc0 == 0x80) {
            self.at += 1;
        }
    }

    /// Skips up to `count` characters that cannot belong to a number.
    fn filling(&mut self, count: usize) {
        for _ in 0..count {
            if self.peek().is_none_or(|byte| b"0123456789.,+-".contains(&byte)) {
                break;
            }
            self.skip();
        }
    }

    /// The sign at the current position, `+` or `-`.
    fn sign_here(&self) -> Option<char> {
        self.peek().map(char::from).filter(|c| matches!(c, '+' | '-'))
    }

    /// Reads a sign at its own position; another character is skipped.
    fn own_sign(&mut self, accepted: &[char]) {
        match self.sign_here().filter(|sign| accepted.contains(sign)) {
            Some(sign) => {
                self.sign = Some(sign);
                self.at += 1;
            }
            None => self.filling(1),
        }
    }

    /// Reads a digit or the point. A sign may precede the first and follow the last.
    fn place(&mut self, digit: bool) {
        if self.peek() == Some(b' ') {
            self.at += 1;
        }
        if self.sign.is_none() && digit && self.before + self.after == 0 {
            let bracket = self.template.brackets && self.peek() == Some(b'<');
            let sign = self.sign_here().or(bracket.then_some('-'));
            if sign.is_some() {
                self.sign = sign;
                self.at += 1;
            }
        }
        let Some(byte) = self.peek() else { return };
        let mut read = true;
        if byte.is_ascii_digit() {
            if self.point && self.after == self.template.after {
                // All positions are used; the digit is skipped too.
                self.at += 1;
                return;
            }
            self.number.push(char::from(byte));
            *(if self.point { &mut self.after } else { &mut self.before }) += 1;
        } else if byte == b'.' && self.template.point && !self.point {
            self.number.push('.');
            self.point = true;
        } else {
            read = false;
        }
        if self.sign.is_none() && self.before + self.after > 0 {
            if self.template.sign.is_some() {
                if read && let Some(next @ (b'+' | b'-')) = self.input.get(self.at + 1) {
                    self.sign = Some(char::from(*next));
                    self.at += 1;
                }
            } else if !read && (self.template.plus || self.template.minus) {
                self.sign = self.sign_here();
            }
        }
        self.at += 1;
    }

    fn node(&mut self, node: &Node) {
        match node {
            // A literal text skips as many characters, whatever they are.
            Node::Text(text) => text.chars().for_each(|_| {
                if self.at < self.input.len() {
                    self.skip();
                }
            }),
            Node::Pattern(kind) => match kind {
                Kind::Nine | Kind::Zero => self.place(true),
                Kind::Point => self.place(false),
                Kind::Group if !self.template.fill && self.peek() == Some(b',') => self.at += 1,
                Kind::Currency => self.filling(1),
                Kind::Ordinal(_) if !self.template.point => self.filling(2),
                Kind::Minus => self.own_sign(&['-']),
                Kind::Plus => self.own_sign(&['+']),
                Kind::Either => self.own_sign(&['+', '-']),
                _ => {}
            },
        }
    }
}

/// Reads as much of a text as a pattern has positions for. NULL if the pattern is empty. Errors: 22P02 for a text
/// without digits, 22003 for more digits than positions, 0A000 for RN and EEEE.
fn read(text: &str, pattern: &str) -> Result<Option<Number>> {
    if pattern.is_empty() {
        return Ok(None);
    }
    let template = parse(pattern)?;
    if template.scientific {
        return Err(not_for_input("EEEE"));
    }
    if template.roman {
        return Err(not_for_input("RN"));
    }
    let mut reader = Reader {
        template: &template,
        input: text.as_bytes(),
        at: 0,
        sign: None,
        number: String::new(),
        before: 0,
        after: 0,
        point: false,
    };
    for node in &template.nodes {
        if reader.at >= reader.input.len() {
            break;
        }
        reader.node(node);
    }
    let digits = reader.number.strip_suffix('.').unwrap_or(&reader.number);
    let number = Number::parse(&format!("{}{digits}", reader.sign.unwrap_or(' ')))?;
    let places = template.before + template.shift + reader.after;
    let narrow = |count: usize| i32::try_from(count).unwrap_or(0x7fff);
    let number = number.apply_modifier(make_numeric_modifier(narrow(places), narrow(reader.after)))?;
    if !template.shifting {
        return Ok(Some(number));
    }
    // Digits behind V are decimal places, up to the 16 of a power of ten.
    let places = Number::from(-(template.shift as i64));
    Ok(Some(number.mul(&Number::from(10).power(&places)?)))
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
            ("  12 ", "99", "1"),
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
