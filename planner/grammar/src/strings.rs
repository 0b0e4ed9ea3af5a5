//! Decodes the escapes of strings: `E'…'` and `U&'…'`.

use crate::error::{CHARACTER_NOT_IN_REPERTOIRE, Result, SyntaxError};

/// What an escape with a backslash says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escape {
    /// A character.
    Character(char),
    /// A byte, which may be a part of a character.
    Byte(u8),
    /// A code point, which may be half of a pair or none at all.
    Point(u32),
    /// `\u` or `\U` without all of its digits.
    Broken,
}

/// The number in this many hexadecimal digits at the start of a text.
fn hexadecimal(text: &str, digits: usize) -> Option<u32> {
    let text = text.get(..digits)?;
    if text.bytes().all(|byte| byte.is_ascii_hexdigit()) { u32::from_str_radix(text, 16).ok() } else { None }
}

/// The length of the run of such digits at the start of a text, but no more than `most`.
fn run(text: &str, most: usize, is: impl Fn(u8) -> bool) -> usize {
    text.bytes().take(most).take_while(|byte| is(*byte)).count()
}

/// The escape at the start of a text, and its length in bytes. The text begins with a backslash and one character more.
pub(crate) fn escape(text: &str) -> (Escape, usize) {
    let Some(character) = text.chars().nth(1) else { return (Escape::Character('\\'), 1) };
    let after = text.get(2..).unwrap_or("");
    let byte = |digits: &str, radix| {
        let number = u32::from_str_radix(digits, radix).unwrap_or(0);
        // PostgreSQL keeps the lowest eight bits of an octal number.
        Escape::Byte(number.to_le_bytes().first().copied().unwrap_or(0))
    };
    match character {
        'b' => (Escape::Character('\u{8}'), 2),
        'f' => (Escape::Character('\u{c}'), 2),
        'n' => (Escape::Character('\n'), 2),
        'r' => (Escape::Character('\r'), 2),
        't' => (Escape::Character('\t'), 2),
        'u' | 'U' => {
            let digits = if character == 'u' { 4 } else { 8 };
            match hexadecimal(after, digits) {
                Some(point) => (Escape::Point(point), 2 + digits),
                None => (Escape::Broken, 2 + run(after, digits, |byte| byte.is_ascii_hexdigit())),
            }
        }
        'x' if after.starts_with(|next: char| next.is_ascii_hexdigit()) => {
            let digits = run(after, 2, |byte| byte.is_ascii_hexdigit());
            (byte(after.get(..digits).unwrap_or(""), 16), 2 + digits)
        }
        '0'..='7' => {
            let end = 2 + run(after, 2, |byte| matches!(byte, b'0'..=b'7'));
            (byte(text.get(1..end).unwrap_or(""), 8), end)
        }
        other => (Escape::Character(other), 1 + other.len_utf8()),
    }
}

/// Whether a code point is the second half of a pair of surrogates. `None` if it is no half.
pub(crate) fn is_surrogate(point: u32) -> Option<bool> {
    match point {
        0xd800..=0xdbff => Some(false),
        0xdc00..=0xdfff => Some(true),
        _ => None,
    }
}

/// The character of a pair of surrogates.
pub(crate) fn paired(high: u32, low: u32) -> char {
    let point = 0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
    char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Whether an ASCII character may be the escape of `U&'…'`.
pub(crate) fn may_escape(byte: u8) -> bool {
    let blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
    !byte.is_ascii_hexdigit() && !blank && !matches!(byte, b'+' | b'\'' | b'"')
}

/// Decodes a text with escapes of code points. Errors: 42601 without a place, and the offset that it is about.
pub(crate) fn unicode(text: &str, escape: char) -> std::result::Result<String, (SyntaxError, usize)> {
    let (mut value, mut high) = (String::with_capacity(text.len()), None);
    let mut rest = text;
    loop {
        let at = text.len() - rest.len();
        let pair = || (SyntaxError::syntax("invalid Unicode surrogate pair"), at);
        let Some(character) = rest.chars().next() else {
            return if high.is_some() { Err(pair()) } else { Ok(value) };
        };
        rest = rest.get(character.len_utf8()..).unwrap_or("");
        if character != escape || rest.starts_with(escape) {
            if high.is_some() {
                return Err(pair());
            }
            value.push(character);
            if character == escape {
                rest = rest.get(escape.len_utf8()..).unwrap_or("");
            }
            continue;
        }
        let (sign, digits) = if rest.starts_with('+') { (1, 6) } else { (0, 4) };
        let Some(point) = rest.get(sign..).and_then(|text| hexadecimal(text, digits)) else {
            let error = SyntaxError::syntax("invalid Unicode escape");
            return Err((error.hint("Unicode escapes must be \\XXXX or \\+XXXXXX."), at));
        };
        rest = rest.get(sign + digits..).unwrap_or("");
        if !(1..=0x10_ffff).contains(&point) {
            return Err((SyntaxError::syntax("invalid Unicode escape value"), at));
        }
        match (high.take(), is_surrogate(point)) {
            (None, Some(false)) => high = Some(point),
            (Some(high), Some(true)) => value.push(paired(high, point)),
            (None, None) => value.extend(char::from_u32(point)),
            _ => return Err(pair()),
        }
    }
}

/// The text of bytes. Errors: 22021 without a place.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String> {
    let valid = match std::str::from_utf8(&bytes) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let zero = bytes.iter().take(valid).position(|byte| *byte == 0);
    if let Some(bad) = bytes.get(zero.unwrap_or(valid)..).filter(|bad| !bad.is_empty()) {
        // PostgreSQL shows as many bytes as the first one promises.
        let length = match bad.first() {
            Some(0xc0..=0xdf) => 2,
            Some(0xe0..=0xef) => 3,
            Some(0xf0..=0xf7) => 4,
            _ => 1,
        };
        return Err(no_text(bad.get(..length).unwrap_or(bad)));
    }
    String::from_utf8(bytes).map_err(|error| no_text(error.as_bytes()))
}

/// 22021 with these bytes.
pub(crate) fn no_text(bytes: &[u8]) -> SyntaxError {
    let shown: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    let message = format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" "));
    SyntaxError::new(CHARACTER_NOT_IN_REPERTOIRE, message)
}
