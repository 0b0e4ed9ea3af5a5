//! Substrings, padding, case, search and replacement of text.

use super::{immutable, of_letters};
use crate::registry::ScalarFunction;
use crate::typed::{Bool, Int4, Int8, SqlWrite, Text, binary, quaternary, ternary, unary};
use crate::{Call, Kernel};
use datafusion::arrow::array::{ArrayBuilder, StringArray, StringBuilder};
use sql_error::interrupt::{self, Steps};
use sql_error::value_size::{LongText, MOST, collected, room, room_behind, room_to_grow, too_long};
use sql_error::{Result, SqlError, state};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;
use types::value::ValueRef;
use types::{Ctype, SqlType};

/// Characters `start..start + length`, counted from 1; `start` may lie before the text.
fn substring(text: &str, start: i32, length: Option<i32>) -> Result<String> {
    let from = i64::from(start);
    let end = match length {
        Some(length) if length < 0 => {
            return Err(SqlError::new(state::SUBSTRING_ERROR, "negative substring length not allowed"));
        }
        Some(length) => Some(from + i64::from(length)),
        None => None,
    };
    let skip = (from - 1).max(0) as usize;
    let rest = text.get(byte_of(text, skip)?..).unwrap_or_default();
    let taken = match end {
        Some(end) => byte_of(rest, (end - 1 - skip as i64).max(0) as usize)?,
        None => rest.len(),
    };
    copied(rest.get(..taken).unwrap_or_default())
}

/// Byte offset of a character counted from 0, or the length of a shorter text. Errors: those of a cancelled statement.
fn byte_of(text: &str, character: usize) -> Result<usize> {
    let mut steps = Steps::default();
    for (at, (byte, _)) in text.char_indices().enumerate() {
        if at == character {
            return Ok(byte);
        }
        steps.step()?;
    }
    Ok(text.len())
}

/// Number of characters. Errors: those of a cancelled statement.
pub(super) fn length(text: &str) -> Result<usize> {
    let mut count = 0;
    // Each character has exactly one byte that is not a continuation byte.
    interrupt::in_pieces(text.as_bytes(), |piece| count += piece.iter().filter(|byte| **byte & 0xc0 != 0x80).count())?;
    Ok(count)
}

fn copied(text: &str) -> Result<String> {
    room(text.len())?;
    Ok(text.to_string())
}

/// The position of `part` in characters from 1; 0 if it does not occur.
fn position(text: &str, part: &str) -> Result<i32> {
    let Some(head) = found(text, part)?.and_then(|at| text.get(..at)) else { return Ok(0) };
    Ok(length(head)? as i32 + 1)
}

/// Byte offset of a part. Errors: those of a cancelled statement.
fn found(text: &str, part: &str) -> Result<Option<usize>> {
    /// Bytes searched between two checks for cancellation.
    const PIECE: usize = 1 << 20;
    let (size, mut from) = (PIECE.max(part.len()), 0);
    let border =
        |at: usize| (at.min(text.len())..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    while text.len() - from > size {
        let end = border(from + size);
        // A match may begin in a piece and end behind it.
        let piece = text.get(from..border(end.saturating_add(part.len()))).unwrap_or_default();
        if let Some(at) = piece.find(part) {
            return Ok(Some(from + at));
        }
        interrupt::check()?;
        from = end;
    }
    Ok(text.get(from..).and_then(|rest| rest.find(part)).map(|at| from + at))
}

/// The first `count` characters. A negative count drops the last `-count` characters.
fn left(text: &str, count: i32) -> Result<String> {
    let take = if count >= 0 { count as usize } else { length(text)?.saturating_sub(count.unsigned_abs() as usize) };
    copied(text.get(..byte_of(text, take)?).unwrap_or_default())
}

fn right(text: &str, count: i32) -> Result<String> {
    let skip = match count {
        0.. => length(text)?.saturating_sub(count as usize),
        _ => count.unsigned_abs() as usize,
    };
    copied(text.get(byte_of(text, skip)?..).unwrap_or_default())
}

fn pad(text: &str, wanted: i32, fill: &str, before: bool) -> Result<String> {
    let present = length(text)?;
    let wanted = wanted.max(0) as usize;
    // Without fill characters the text gets no longer.
    let wanted = if fill.is_empty() { wanted.min(present) } else { wanted };
    // As in PostgreSQL, assume the longest encoding for each character.
    if wanted.saturating_mul(4) > MOST {
        return Err(too_long());
    }
    if present >= wanted {
        return left(text, i32::try_from(wanted).unwrap_or(i32::MAX));
    }
    let padding = wanted - present;
    let widest = fill.chars().map(char::len_utf8).max().unwrap_or(1);
    let bytes = text.len().saturating_add(padding.saturating_mul(widest));
    interrupt::long_when(bytes, || {
        let padding = fill.chars().cycle().take(padding);
        if before {
            collected(padding.chain(text.chars()), bytes)
        } else {
            collected(text.chars().chain(padding), bytes)
        }
    })
}

fn replace(text: &str, from: &str, to: &str) -> Result<String> {
    if from.is_empty() {
        return copied(text);
    }
    let more = match to.len().checked_sub(from.len()) {
        Some(more) if more > 0 => count_of(text, from)?.saturating_mul(more),
        _ => 0,
    };
    let mut rest = text;
    let mut out = LongText::new(text.len().saturating_add(more))?;
    while let Some(at) = found(rest, from)? {
        out.add(rest.get(..at).unwrap_or_default())?;
        out.add(to)?;
        rest = rest.get(at + from.len()..).unwrap_or_default();
    }
    out.add(rest)?;
    Ok(out.finish())
}

/// The function `repeat`. It writes each value directly to the column.
fn repetition() -> Kernel {
    Arc::new(|call: &Call<'_>| {
        let (texts, counts) = (call.column::<Text>(0)?, call.column::<Int4>(1)?);
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let (Some(text), Some(count)) = (texts.get(row)?, counts.get(row)?) else {
                builder.append_null();
                continue;
            };
            let count = if text.is_empty() { 0 } else { count.max(0) as usize };
            let bytes = text.len().saturating_mul(count);
            room_behind(builder.values_slice().len(), bytes)?;
            if call.rows == 1 {
                builder = StringBuilder::with_capacity(1, bytes);
            }
            interrupt::long_when(bytes, || repeat_into(&mut builder, text, count))?;
            builder.append_value("");
        }
        Ok(Text::finish(builder))
    })
}

/// Appends repetitions of a text to the column's next value.
fn repeat_into(builder: &mut StringBuilder, text: &str, count: usize) -> Result<()> {
    /// Bytes copied between two checks for cancellation.
    const PIECE: usize = 1 << 20;
    let at_once = (PIECE / text.len().max(1)).clamp(1, count.max(1));
    let piece = if at_once == 1 { Cow::Borrowed(text) } else { Cow::Owned(text.repeat(at_once)) };
    let mut left = count;
    while left > 0 {
        interrupt::check()?;
        let now = left.min(at_once);
        // Writing to the builder cannot fail; the text becomes part of the value.
        let _ = builder.write_str(piece.get(..now * text.len()).unwrap_or_default());
        left -= now;
    }
    Ok(())
}

/// The operator `||` of texts. It writes each value directly to the column.
fn concatenation() -> Kernel {
    Arc::new(|call: &Call<'_>| {
        let (left, right) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let (Some(left), Some(right)) = (left.get(row)?, right.get(row)?) else {
                builder.append_null();
                continue;
            };
            room_behind(builder.values_slice().len(), left.len().saturating_add(right.len()))?;
            // Writing to the builder cannot fail; the text becomes part of the value.
            let _ = builder.write_str(left);
            builder.append_value(right);
        }
        Ok(Text::finish(builder))
    })
}

fn split_part(text: &str, delimiter: &str, field: i32) -> Result<String> {
    if field == 0 {
        return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "field position must not be zero"));
    }
    if text.is_empty() {
        return Ok(String::new());
    }
    let before = field.unsigned_abs() as usize - 1;
    if delimiter.is_empty() {
        return if before == 0 { copied(text) } else { Ok(String::new()) };
    }
    // Overlapping delimiters are matched from the left, even if fields are counted from the right.
    let before = match field {
        0.. => Some(before),
        _ => count_of(text, delimiter)?.checked_sub(before),
    };
    let Some(before) = before else { return Ok(String::new()) };
    let (mut rest, mut steps) = (text, Steps::default());
    for _ in 0..before {
        steps.step()?;
        match found(rest, delimiter)? {
            Some(at) => rest = rest.get(at + delimiter.len()..).unwrap_or_default(),
            None => return Ok(String::new()),
        }
    }
    copied(rest.get(..found(rest, delimiter)?.unwrap_or(rest.len())).unwrap_or_default())
}

/// Number of occurrences of a part. Errors: those of a cancelled statement.
fn count_of(text: &str, part: &str) -> Result<usize> {
    let (mut rest, mut count, mut steps) = (text, 0, Steps::default());
    while let Some(at) = found(rest, part)? {
        steps.many(1 + at / 8)?;
        rest = rest.get(at + part.len()..).unwrap_or_default();
        count += 1;
    }
    Ok(count)
}

fn upper(ctype: Ctype, text: &str) -> Result<String> {
    collected(text.chars().map(|c| ctype.upper(c)), text.len())
}

pub(super) fn lower(ctype: Ctype, text: &str) -> Result<String> {
    collected(text.chars().map(|c| ctype.lower(c)), text.len())
}

fn initcap(ctype: Ctype, text: &str) -> Result<String> {
    let mut within = false;
    let capital = |c: char| {
        let shown = if within { ctype.lower(c) } else { ctype.upper(c) };
        within = ctype.is_alphanumeric(c);
        shown
    };
    collected(text.chars().map(capital), text.len())
}

fn reverse(text: &str) -> Result<String> {
    collected(text.chars().rev(), text.len())
}

fn translate(text: &str, from: &str, to: &str) -> Result<String> {
    let mut replaced = HashMap::new();
    let mut to = to.chars();
    for c in from.chars() {
        let with = to.next();
        replaced.entry(c).or_insert(with);
    }
    collected(text.chars().filter_map(|c| replaced.get(&c).copied().unwrap_or(Some(c))), text.len())
}

fn overlay(text: &str, new: &str, start: i32, count: i32) -> Result<String> {
    if start <= 0 {
        return Err(SqlError::new(state::SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    let after = start.checked_add(count).ok_or_else(|| crate::cast_kernel::out_of_range("integer"))?;
    let (head, tail) = (substring(text, 1, Some(start - 1))?, substring(text, after, None)?);
    room(head.len().saturating_add(new.len()).saturating_add(tail.len()))?;
    Ok([head.as_str(), new, tail.as_str()].concat())
}

fn chr(code: i32) -> Result<String> {
    let limit = |message: String| SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message);
    match u32::try_from(code) {
        Ok(0) => Err(limit("null character not permitted".into())),
        Ok(0xd800..=0xdfff) => Err(limit(format!("requested character not valid for encoding: {code}"))),
        Ok(code) => char::from_u32(code)
            .map(String::from)
            .ok_or_else(|| limit(format!("requested character too large for encoding: {code}"))),
        Err(_) => Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "character number must be positive")),
    }
}

fn trim_set(text: &str, set: &str, start: bool, end: bool) -> Result<String> {
    let set: HashSet<char> = set.chars().collect();
    // Bytes of the characters to trim.
    let trimmed = |chars: &mut dyn Iterator<Item = char>| -> Result<usize> {
        let (mut bytes, mut steps) = (0, Steps::default());
        for c in chars.take_while(|c| set.contains(c)) {
            steps.step()?;
            bytes += c.len_utf8();
        }
        Ok(bytes)
    };
    let from = if start { trimmed(&mut text.chars())? } else { 0 };
    let text = text.get(from..).unwrap_or_default();
    let behind = if end { trimmed(&mut text.chars().rev())? } else { 0 };
    copied(text.get(..text.len() - behind).unwrap_or_default())
}

/// Bytes of an element in an array of texts, besides its text.
const ELEMENT_BYTES: usize = size_of::<Option<&str>>();

fn string_to_array(text: &str, delimiter: Option<&str>, null: Option<&str>) -> Result<StringArray> {
    let shown = |part: &'_ str| Some(part) != null;
    let mut parts = StringBuilder::new();
    let mut steps = Steps::default();
    let mut claimed = 0;
    let mut add = |part: &str| -> Result<()> {
        steps.many(1 + part.len() / 8)?;
        let bytes = parts.values_slice().len() + parts.len() * ELEMENT_BYTES;
        if bytes >= claimed {
            let next = (bytes * 2).clamp(1 << 16, MOST.max(bytes));
            room_to_grow(claimed, next)?;
            claimed = next;
        }
        if shown(part) {
            parts.append_value(part)
        } else {
            parts.append_null()
        }
        Ok(())
    };
    match delimiter {
        _ if text.is_empty() => {}
        None => {
            for (at, c) in text.char_indices() {
                add(text.get(at..at + c.len_utf8()).unwrap_or_default())?;
            }
        }
        Some("") => add(text)?,
        Some(delimiter) => text.split(delimiter).try_for_each(add)?,
    }
    Ok(parts.finish())
}

fn string_to_array_function(arguments: &[SqlType]) -> ScalarFunction {
    immutable(
        "string_to_array",
        arguments,
        SqlType::TEXT.array_of(),
        Arc::new(|call: &Call<'_>| {
            let (texts, delimiters) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
            let nulls = if call.arguments.len() > 2 { Some(call.column::<Text>(2)?) } else { None };
            let mut builder = catalog::encoding::ColumnBuilder::new(SqlType::TEXT.array_of(), call.rows);
            for row in 0..call.rows {
                let null = match &nulls {
                    Some(nulls) => nulls.get(row)?,
                    None => None,
                };
                match texts.get(row)? {
                    Some(text) => {
                        let parts = string_to_array(text, delimiters.get(row)?, null)?;
                        builder.append(&ValueRef::array(Arc::new(parts)))?;
                    }
                    None => builder.append_null(),
                }
            }
            builder.finish()
        }),
    )
}

/// The functions of this module.
#[allow(clippy::too_many_lines)]
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, int4, int8) = (SqlType::TEXT, SqlType::INT4, SqlType::INT8);
    let mut all = vec![
        immutable("octet_length", &[text], int4, unary::<Text, Int4, _>(|v: &str| Ok(v.len() as i32))),
        immutable("octet_length", &[SqlType::CHAR], int4, unary::<Text, Int4, _>(|v: &str| Ok(v.len() as i32))),
        immutable(
            "bit_length",
            &[text],
            int4,
            unary::<Text, Int4, _>(|v: &str| {
                i32::try_from(v.len() * 8).map_err(|_| crate::cast_kernel::out_of_range("integer"))
            }),
        ),
        immutable("lower", &[text], text, of_letters(lower)),
        immutable("upper", &[text], text, of_letters(upper)),
        immutable("initcap", &[text], text, of_letters(initcap)),
        immutable("reverse", &[text], text, unary::<Text, Text, _>(reverse)),
        immutable(
            "ascii",
            &[text],
            int4,
            unary::<Text, Int4, _>(|v: &str| Ok(v.chars().next().map_or(0, |c| c as i32))),
        ),
        immutable("chr", &[int4], text, unary::<Int4, Text, _>(chr)),
        immutable("to_hex", &[int4], text, unary::<Int4, Text, _>(|v: i32| Ok(format!("{v:x}")))),
        immutable("to_hex", &[int8], text, unary::<Int8, Text, _>(|v: i64| Ok(format!("{v:x}")))),
        immutable("left", &[text, int4], text, binary::<Text, Int4, Text, _>(left)),
        immutable("right", &[text, int4], text, binary::<Text, Int4, Text, _>(right)),
        immutable("strpos", &[text, text], int4, binary::<Text, Text, Int4, _>(position)),
        immutable("position", &[text, text], int4, binary::<Text, Text, Int4, _>(position)),
        immutable("repeat", &[text, int4], text, repetition()),
        immutable("replace", &[text, text, text], text, ternary::<Text, Text, Text, Text, _>(replace)),
        immutable("textcat", &[text, text], text, concatenation()),
        immutable("translate", &[text, text, text], text, ternary::<Text, Text, Text, Text, _>(translate)),
        immutable("split_part", &[text, text, int4], text, ternary::<Text, Text, Int4, Text, _>(split_part)),
        immutable(
            "starts_with",
            &[text, text],
            SqlType::BOOL,
            binary::<Text, Text, Bool, _>(|v: &str, head: &str| Ok(v.starts_with(head))),
        ),
        immutable("overlay", &[text, text, int4, int4], text, quaternary::<Text, Text, Int4, Int4, Text, _>(overlay)),
        immutable(
            "overlay",
            &[text, text, int4],
            text,
            ternary::<Text, Text, Int4, Text, _>(|v: &str, new: &str, start: i32| {
                overlay(v, new, start, length(new)? as i32)
            }),
        ),
        string_to_array_function(&[text, text]),
        string_to_array_function(&[text, text, text]),
    ];
    for name in ["length", "char_length", "character_length"] {
        all.push(immutable(name, &[text], int4, unary::<Text, Int4, _>(|v: &str| Ok(length(v)? as i32))));
    }
    for name in ["substring", "substr"] {
        all.push(immutable(
            name,
            &[text, int4],
            text,
            binary::<Text, Int4, Text, _>(|v: &str, start: i32| substring(v, start, None)),
        ));
        all.push(immutable(
            name,
            &[text, int4, int4],
            text,
            ternary::<Text, Int4, Int4, Text, _>(|v: &str, start: i32, length: i32| substring(v, start, Some(length))),
        ));
    }
    for (name, before) in [("lpad", true), ("rpad", false)] {
        all.push(immutable(
            name,
            &[text, int4],
            text,
            binary::<Text, Int4, Text, _>(move |v: &str, n: i32| pad(v, n, " ", before)),
        ));
        all.push(immutable(
            name,
            &[text, int4, text],
            text,
            ternary::<Text, Int4, Text, Text, _>(move |v: &str, n: i32, fill: &str| pad(v, n, fill, before)),
        ));
    }
    for (name, start, end) in
        [("btrim", true, true), ("trim", true, true), ("ltrim", true, false), ("rtrim", false, true)]
    {
        all.push(immutable(name, &[text], text, unary::<Text, Text, _>(move |v: &str| trim_set(v, " ", start, end))));
        all.push(immutable(
            name,
            &[text, text],
            text,
            binary::<Text, Text, Text, _>(move |v: &str, set: &str| trim_set(v, set, start, end)),
        ));
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_text() {
        // As PostgreSQL 15 answers.
        assert_eq!(substring("héllo", 2, Some(3)).unwrap(), "éll");
        assert_eq!(substring("hello", -1, Some(4)).unwrap(), "he");
        assert_eq!(substring("hello", 0, None).unwrap(), "hello");
        assert_eq!(substring("hello", 1, Some(-1)).unwrap_err().state(), state::SUBSTRING_ERROR);
        assert_eq!(left("hello", -2).unwrap(), "hel");
        assert_eq!(right("hello", -2).unwrap(), "llo");
        assert_eq!(split_part("a,b,c", ",", -1).unwrap(), "c");
        assert_eq!(split_part("a,b,c", ",", 4).unwrap(), "");
        assert_eq!(split_part("a,b,c", ",", -3).unwrap(), "a");
        assert_eq!(split_part("a,b,c", ",", -4).unwrap(), "");
        assert_eq!(split_part("abc", "", -1).unwrap(), "abc");
        assert_eq!(replace("aXbXX", "X", "yz").unwrap(), "ayzbyzyz");
        assert_eq!(trim_set("xyäbyx", "yx", true, true).unwrap(), "äb");
        assert_eq!(pad("hi", 5, "xy", true).unwrap(), "xyxhi");
        assert_eq!(pad("hello", 2, " ", false).unwrap(), "he");
        assert_eq!(overlay("Txxxxas", "hom", 2, 4).unwrap(), "Thomas");
        assert_eq!(translate("12345", "143", "ax").unwrap(), "a2x5");
        assert_eq!(initcap(Ctype::Unicode, "hi THOMAS-x éCOLE").unwrap(), "Hi Thomas-X École");
        assert_eq!(initcap(Ctype::Ascii, "hi THOMAS-x éCOLE").unwrap(), "Hi Thomas-X éCole");
        assert_eq!(position("héllo", "l").unwrap(), 3);
    }
    #[test]
    fn a_part_is_found_across_the_borders_of_pieces() {
        for before in [0, (1 << 20) - 3, (1 << 20) - 1, 1 << 20, (2 << 20) - 1] {
            let text = format!("{}äöü{}", "ß".repeat(before / 2), "x".repeat(3 << 20));
            assert_eq!(found(&text, "äöü").unwrap(), Some(before / 2 * 2), "{before}");
            assert_eq!(found(&text, "öä").unwrap(), None, "{before}");
        }
    }
}
