//! Length rules of varchar(n), char(n) and name.

use crate::error::{Result, SqlError, state};
use std::borrow::Cow;

/// Bytes of a name, at most.
const NAME_BYTES: usize = 63;

fn too_long(type_name: &str, length: usize) -> SqlError {
    SqlError::new(state::STRING_DATA_RIGHT_TRUNCATION, format!("value too long for type {type_name}({length})"))
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
    let Ok(length) = usize::try_from(modifier - 4) else {
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
    let Ok(length) = usize::try_from(modifier - 4) else {
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
    let characters = if text.is_ascii() { text.len() } else { text.chars().count() };
    if characters == length {
        return Ok(Cow::Borrowed(text));
    }
    let mut padded = String::with_capacity(text.len() + length - characters);
    padded.push_str(text);
    padded.extend(std::iter::repeat_n(' ', length - characters));
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
