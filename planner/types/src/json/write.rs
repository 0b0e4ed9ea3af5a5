//! Writes jsonb in its canonical form, and combines canonical parts.

use super::parse::{Node, Value, parse};
use crate::numeric::Numeric;
use sql_error::interrupt;
use sql_error::value_size::scratch;
use sql_error::{Result, SqlError};
use std::fmt::Write;

/// Quotes a string as JSON.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            // Writing to a String cannot fail.
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Writes a number as a numeric prints. Errors: 22003.
pub fn number(text: &str) -> Result<String> {
    Ok(Numeric::parse(text)?.to_string())
}

/// An array of canonical values.
pub fn array(elements: impl IntoIterator<Item = String>) -> String {
    let elements: Vec<String> = elements.into_iter().collect();
    format!("[{}]", elements.join(", "))
}

/// An object of canonical values. Of equal keys the last counts.
pub fn object(pairs: impl IntoIterator<Item = (String, String)>) -> String {
    let mut kept: Vec<(String, String)> = pairs.into_iter().collect();
    // The sort is stable, so equal keys keep their order.
    kept.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    let mut out = String::from("{");
    let mut rest = kept.iter().peekable();
    let mut first = true;
    while let Some((key, value)) = rest.next() {
        if rest.peek().is_some_and(|(next, _)| next == key) {
            continue;
        }
        if !first {
            out.push_str(", ");
        }
        first = false;
        out.push_str(&quote(key));
        out.push_str(": ");
        out.push_str(value);
    }
    out.push('}');
    out
}

/// The canonical form of a value. Errors: 22P05 for a character that no text can hold, 22003.
pub fn canonical(node: &Node<'_>) -> Result<String> {
    interrupt::step()?;
    Ok(match &node.value {
        Value::Null => "null".to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Number(digits) => number(digits)?,
        Value::String(text) => quote(storable(text)?),
        Value::Array(elements) => array(elements.iter().map(canonical).collect::<Result<Vec<_>>>()?),
        Value::Object(pairs) => object(
            pairs
                .iter()
                .map(|(key, value)| Ok((storable(key)?.to_string(), canonical(value)?)))
                .collect::<Result<Vec<_>>>()?,
        ),
    })
}

/// Checks that a text can hold the string. Errors: 22P05 for the character with code 0.
pub fn storable(text: &str) -> Result<&str> {
    if text.contains('\0') {
        return Err(SqlError::new("22P05", "unsupported Unicode escape sequence")
            .detail("\\u0000 cannot be converted to text."));
    }
    Ok(text)
}

/// Converts a JSON text to jsonb. Errors: 22P02, 22P05, 22003, 54001.
pub fn to_jsonb(text: &str) -> Result<String> {
    // Room for the strings, the parts and the whole.
    let _held = scratch(text.len().saturating_mul(3))?;
    canonical(&parse(text)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn jsonb_has_one_form() {
        for (text, shown) in [
            (r#"{"bb":1,"a":2, "c":[1 ,2],"a":3}"#, r#"{"a": 3, "c": [1, 2], "bb": 1}"#),
            ("1e2", "100"),
            ("1.50", "1.50"),
            (r#""a\u0041\/\u0001""#, r#""aA/\u0001""#),
            ("[]", "[]"),
            ("{}", "{}"),
        ] {
            assert_eq!(to_jsonb(text).unwrap(), shown);
            assert_eq!(to_jsonb(shown).unwrap(), shown);
        }
        assert_eq!(to_jsonb(r#""\u0000""#).unwrap_err().state(), "22P05");
    }
}
