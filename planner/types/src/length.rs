//! Length rules of varchar(n), char(n) and name.

use sql_error::{Result, SqlError, state};
use std::borrow::Cow;

/// Most bytes of a name.
const NAME_BYTES: usize = 63;

fn too_long(type_name: &str, length: usize) -> SqlError {
    SqlError::new(state::STRING_DATA_RIGHT_TRUNCATION, format!("value too long for type {type_name}({length})"))
}

/// The length in characters that a modifier of varchar or char gives. `None` if it gives none.
pub fn characters(modifier: i32) -> Option<usize> {
    usize::try_from(modifier.saturating_sub(4)).ok()
}

/// The byte offset of the character at `length`, if the text is longer.
fn cut_at(text: &str, length: usize) -> Option<usize> {
    if text.len() <= length {
        return None;
    }
    text.char_indices().nth(length).map(|(at, _)| at)
}

/// Applies the modifier of a varchar. Excess characters are cut if they are spaces or the cast is explicit. Errors:
/// 22001.
pub fn varchar(text: &str, modifier: i32, explicit: bool) -> Result<&str> {
    let Some(length) = characters(modifier) else {
        return Ok(text);
    };
    match cut_at(text, length) {
        None => Ok(text),
        Some(at) => {
            let (kept, excess) = text.split_at(at);
            if explicit || excess.bytes().all(|byte| byte == b' ') {
                Ok(kept)
            } else {
                Err(too_long("character varying", length))
            }
        }
    }
}

/// Applies the length of a char(n): cuts like [`varchar`] and pads with spaces. Errors: 22001.
pub fn character(text: &str, modifier: i32, explicit: bool) -> Result<Cow<'_, str>> {
    let Some(length) = characters(modifier) else {
        return Ok(Cow::Borrowed(text));
    };
    if let Some(at) = cut_at(text, length) {
        let (kept, excess) = text.split_at(at);
        return if explicit || excess.bytes().all(|byte| byte == b' ') {
            Ok(Cow::Borrowed(kept))
        } else {
            Err(too_long("character", length))
        };
    }
    let present = if text.is_ascii() { text.len() } else { text.chars().count() };
    if present == length {
        return Ok(Cow::Borrowed(text));
    }
    let mut padded = String::with_capacity(text.len() + length - present);
    padded.push_str(text);
    padded.extend(std::iter::repeat_n(' ', length - present));
    Ok(Cow::Owned(padded))
}

/// Truncates a name to 63 bytes, at a character boundary.
pub fn name(text: &str) -> &str {
    let mut end = text.len().min(NAME_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Converts a text to `"char"`, which is one byte. It is the text's first byte, or the byte of the octal digits behind
/// a backslash. The value is the character of that number, or empty for zero.
pub fn single_char(text: &str) -> String {
    let octal = |digit: u8| matches!(digit, b'0'..=b'7').then(|| u32::from(digit - b'0'));
    let byte = match *text.as_bytes() {
        [b'\\', first, second, third] => match (octal(first), octal(second), octal(third)) {
            (Some(first), Some(second), Some(third)) => (first * 64 + second * 8 + third) % 256,
            _ => u32::from(b'\\'),
        },
        [first, ..] => u32::from(first),
        [] => 0,
    };
    char::from_u32(byte).filter(|c| *c != '\0').map(String::from).unwrap_or_default()
}

/// The output form of a `"char"`: a byte beyond ASCII is written as octal digits.
pub fn shown_single_char(kept: &str) -> Cow<'_, str> {
    match kept.chars().next() {
        Some(c) if !c.is_ascii() => Cow::Owned(format!("\\{:03o}", u32::from(c) % 256)),
        _ => Cow::Borrowed(kept),
    }
}
