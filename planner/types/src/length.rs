//! Length rules of varchar(n), char(n) and name.

use sql_error::{Result, SqlError, state};
use std::borrow::Cow;

/// Bytes of a name, at most.
const NAME_BYTES: usize = 63;

fn too_long(type_name: &str, length: usize) -> SqlError {
    SqlError::new(state::STRING_DATA_RIGHT_TRUNCATION, format!("value too long for type {type_name}({length})"))
}

/// The length that a modifier of varchar or char tells, in characters, if it tells one.
pub fn characters(modifier: i32) -> Option<usize> {
    usize::try_from(modifier.saturating_sub(4)).ok()
}

/// The byte offset after `length` characters, if the text is longer.
fn cut_at(text: &str, length: usize) -> Option<usize> {
    if text.len() <= length {
        return None;
    }
    text.char_indices().nth(length).map(|(at, _)| at)
}

/// A text as varchar with a modifier. Excess is cut when it is spaces or the cast is explicit.
/// Errors: 22001.
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

/// A text as char(n): cut as [`varchar`], padded with spaces. Errors: 22001.
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

/// A text as a name: cut at 63 bytes.
pub fn name(text: &str) -> &str {
    let mut end = text.len().min(NAME_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// A text as "char", which is one byte: the first of the text, or the one whose octal digits are behind a backslash. Kept is the
/// character of that number; of zero nothing.
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

/// A "char" as it is shown: what is no ASCII in octal digits.
pub fn shown_single_char(kept: &str) -> Cow<'_, str> {
    match kept.chars().next() {
        Some(c) if !c.is_ascii() => Cow::Owned(format!("\\{:03o}", u32::from(c) % 256)),
        _ => Cow::Borrowed(kept),
    }
}
