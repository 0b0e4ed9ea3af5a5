//! Unicode: normalize, IS NORMALIZED, unistr.

use super::immutable;
use crate::registry::ScalarFunction;
use crate::typed::{Bool, Text, binary, unary};
use sql_error::value_size::{LongText, collected};
use sql_error::{Result, SqlError, state};
use types::SqlType;
use unicode_normalization::UnicodeNormalization;

fn normalize(text: &str, form: &str) -> Result<String> {
    Ok(match form.to_ascii_uppercase().as_str() {
        "NFC" => collected(text.nfc(), text.len())?,
        "NFD" => collected(text.nfd(), text.len())?,
        "NFKC" => collected(text.nfkc(), text.len())?,
        "NFKD" => collected(text.nfkd(), text.len())?,
        _ => {
            let message = format!("invalid normalization form: {form}");
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
        }
    })
}

/// Replaces the escapes `\XXXX`, `\+XXXXXX`, `\uXXXX`, `\UXXXXXXXX` and `\\` by their characters. Errors: 42601.
fn unistr(text: &str) -> Result<String> {
    let pair = || SqlError::syntax("invalid Unicode surrogate pair");
    let escape = || {
        SqlError::syntax("invalid Unicode escape")
            .hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
    };
    let mut out = LongText::new(text.len())?;
    let mut high: Option<u32> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c != '\\' || rest.starts_with('\\') {
            if high.is_some() {
                return Err(pair());
            }
            if c == '\\' {
                rest = rest.get(1..).unwrap_or_default();
            }
            out.push(c)?;
            continue;
        }
        let (skip, digits) = match rest.chars().next() {
            Some('+') => (1, 6),
            Some('u') => (1, 4),
            Some('U') => (1, 8),
            _ => (0, 4),
        };
        let number = rest.get(skip..skip + digits).filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = number.and_then(|hex| u32::from_str_radix(hex, 16).ok()).ok_or_else(escape)?;
        rest = rest.get(skip + digits..).unwrap_or_default();
        let code = match (high.take(), code) {
            (None, 0xd800..=0xdbff) => {
                high = Some(code);
                continue;
            }
            (None, 0xdc00..=0xdfff) => return Err(pair()),
            (Some(high), 0xdc00..=0xdfff) => 0x10000 + ((high - 0xd800) << 10) + (code - 0xdc00),
            (Some(_), _) => return Err(pair()),
            (None, code) => code,
        };
        match char::from_u32(code).filter(|c| *c != '\0') {
            Some(c) => out.push(c)?,
            None => {
                let message = format!("invalid Unicode code point: {code:04X}");
                return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
            }
        }
    }
    if high.is_some() { Err(pair()) } else { Ok(out.finish()) }
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    vec![
        immutable("normalize", &[text], text, unary::<Text, Text, _>(|v: &str| normalize(v, "NFC"))),
        immutable("normalize", &[text, text], text, binary::<Text, Text, Text, _>(normalize)),
        immutable(
            "is_normalized",
            &[text],
            SqlType::BOOL,
            unary::<Text, Bool, _>(|v: &str| Ok(normalize(v, "NFC")? == v)),
        ),
        immutable(
            "is_normalized",
            &[text, text],
            SqlType::BOOL,
            binary::<Text, Text, Bool, _>(|v: &str, form: &str| Ok(normalize(v, form)? == v)),
        ),
        immutable("unistr", &[text], text, unary::<Text, Text, _>(unistr)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_escapes() {
        // Checked against PostgreSQL 15.
        assert_eq!(normalize("a\u{308}", "nfc").unwrap(), "ä");
        assert_eq!(normalize("ä", "NFD").unwrap().chars().count(), 2);
        assert_eq!(normalize("a", "foo").unwrap_err().state(), "22023");
        assert_eq!(unistr("d\\0061t\\+000061").unwrap(), "data");
        assert_eq!(unistr("a\\\\b\\u0061\\U00000061").unwrap(), "a\\baa");
        assert_eq!(unistr("\\D83D\\DE00").unwrap(), "😀");
        for bad in ["\\006", "wrong: \\xyz", "\\D83D", "\\U0000D83D", "\\DE00", "\\D83Da"] {
            assert_eq!(unistr(bad).unwrap_err().state(), "42601", "{bad}");
        }
    }
}
