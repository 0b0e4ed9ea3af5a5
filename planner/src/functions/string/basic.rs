//! Parts, padding, case, search and replacement of text.

use super::immutable;
use crate::error::{Result, SqlError, state};
use crate::functions::registry::ScalarFunction;
use crate::functions::typed::{
    Bool, Int4, Int8, MAX_TEXT, SqlWrite, Text, binary, check_length, quaternary, ternary, too_long, unary,
};
use crate::functions::{Call, Kernel};
use crate::types::SqlType;
use crate::types::value::ValueRef;
use datafusion::arrow::array::StringArray;
use std::fmt::Write;
use std::sync::Arc;

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
    let chars = text.chars().skip(skip);
    Ok(match end {
        Some(end) => chars.take((end - 1 - skip as i64).max(0) as usize).collect(),
        None => chars.collect(),
    })
}

/// The position of `part`, in characters from 1; 0 when it is not there.
fn position(text: &str, part: &str) -> i32 {
    text.find(part).and_then(|at| text.get(..at)).map_or(0, |head| head.chars().count() as i32 + 1)
}

/// The first `count` characters; all but the last `-count` when negative.
fn left(text: &str, count: i32) -> String {
    let take =
        if count >= 0 { count as usize } else { text.chars().count().saturating_sub(count.unsigned_abs() as usize) };
    text.chars().take(take).collect()
}

fn right(text: &str, count: i32) -> String {
    let length = text.chars().count();
    let skip = match count {
        0.. => length.saturating_sub(count as usize),
        _ => count.unsigned_abs() as usize,
    };
    text.chars().skip(skip).collect()
}

fn pad(text: &str, length: i32, fill: &str, before: bool) -> Result<String> {
    let present = text.chars().count();
    let wanted = length.max(0) as usize;
    // Nothing to fill with: the text is as long as it gets.
    let wanted = if fill.is_empty() { wanted.min(present) } else { wanted };
    if wanted.saturating_mul(4) > MAX_TEXT {
        return Err(too_long());
    }
    if present >= wanted {
        return Ok(text.chars().take(wanted).collect());
    }
    let padding: String = fill.chars().cycle().take(wanted - present).collect();
    Ok(if before { format!("{padding}{text}") } else { format!("{text}{padding}") })
}

fn replace(text: &str, from: &str, to: &str) -> Result<String> {
    if from.is_empty() {
        return Ok(text.to_string());
    }
    if to.len() > from.len() {
        let more = text.matches(from).count().saturating_mul(to.len() - from.len());
        check_length(0, text.len().saturating_add(more))?;
    }
    Ok(text.replace(from, to))
}

/// `||` of texts. Each is written once, into the column.
fn concatenation() -> Kernel {
    Arc::new(|call: &Call<'_>| {
        let (left, right) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let (Some(left), Some(right)) = (left.get(row)?, right.get(row)?) else {
                builder.append_null();
                continue;
            };
            check_length(builder.values_slice().len(), left.len().saturating_add(right.len()))?;
            // What was written becomes part of the value; it cannot fail.
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
    let part = match (delimiter.is_empty(), field > 0) {
        (true, _) => (before == 0).then_some(text),
        (false, true) => text.split(delimiter).nth(before),
        // Delimiters that overlap are told apart from the left, as above.
        (false, false) => {
            let parts = text.matches(delimiter).count() + 1;
            parts.checked_sub(before + 1).and_then(|at| text.split(delimiter).nth(at))
        }
    };
    Ok(part.unwrap_or_default().to_string())
}

/// The one capital letter of a letter, as C's `towupper` has it: letters without one (`ß`) stay.
fn upper(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next(), c) {
        (Some(one), None, _) => one,
        // Greek with iota below has capitals of its own, which the full mapping writes as two letters.
        (_, _, '\u{1f80}'..='\u{1faf}') => char::from_u32(u32::from(c) | 8).unwrap_or(c),
        (_, _, '\u{1fb3}') => '\u{1fbc}',
        (_, _, '\u{1fc3}') => '\u{1fcc}',
        (_, _, '\u{1ff3}') => '\u{1ffc}',
        _ => c,
    }
}

/// The one small letter of a letter, as C's `towlower` has it, wherever in a word it stands.
fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

fn initcap(text: &str) -> String {
    let mut within = false;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if within {
            out.push(lower(c));
        } else {
            out.push(upper(c));
        }
        within = c.is_alphanumeric();
    }
    out
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    text.chars()
        .filter_map(|c| match from.iter().position(|wanted| *wanted == c) {
            Some(at) => to.get(at).copied(),
            None => Some(c),
        })
        .collect()
}

fn overlay(text: &str, new: &str, start: i32, count: i32) -> Result<String> {
    if start <= 0 {
        return Err(SqlError::new(state::SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    let after = start.checked_add(count).ok_or_else(|| crate::functions::cast_kernel::out_of_range("integer"))?;
    Ok(format!("{}{new}{}", substring(text, 1, Some(start - 1))?, substring(text, after, None)?))
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

fn trim_set<'a>(text: &'a str, set: &str, start: bool, end: bool) -> &'a str {
    let within = |c: char| set.contains(c);
    let text = if start { text.trim_start_matches(within) } else { text };
    if end { text.trim_end_matches(within) } else { text }
}

fn string_to_array(text: &str, delimiter: Option<&str>, null: Option<&str>) -> Vec<Option<String>> {
    let parts: Vec<String> = match delimiter {
        _ if text.is_empty() => Vec::new(),
        None => text.chars().map(String::from).collect(),
        Some("") => vec![text.to_string()],
        Some(delimiter) => text.split(delimiter).map(str::to_string).collect(),
    };
    parts.into_iter().map(|part| if Some(part.as_str()) == null { None } else { Some(part) }).collect()
}

fn string_to_array_function(arguments: &[SqlType]) -> ScalarFunction {
    immutable(
        "string_to_array",
        arguments,
        SqlType::TEXT.array_of(),
        Arc::new(|call: &Call<'_>| {
            let (texts, delimiters) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
            let nulls = if call.arguments.len() > 2 { Some(call.column::<Text>(2)?) } else { None };
            let mut builder = crate::encoding::ColumnBuilder::new(SqlType::TEXT.array_of(), call.rows);
            for row in 0..call.rows {
                let null = match &nulls {
                    Some(nulls) => nulls.get(row)?,
                    None => None,
                };
                match texts.get(row)? {
                    Some(text) => {
                        let parts = string_to_array(text, delimiters.get(row)?, null);
                        builder.append(&ValueRef::array(Arc::new(StringArray::from(parts))))?;
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
        immutable("bit_length", &[text], int4, unary::<Text, Int4, _>(|v: &str| Ok(v.len() as i32 * 8))),
        immutable(
            "lower",
            &[text],
            text,
            unary::<Text, Text, _>(|v: &str| Ok(v.chars().map(lower).collect::<String>())),
        ),
        immutable(
            "upper",
            &[text],
            text,
            unary::<Text, Text, _>(|v: &str| Ok(v.chars().map(upper).collect::<String>())),
        ),
        immutable("initcap", &[text], text, unary::<Text, Text, _>(|v: &str| Ok(initcap(v)))),
        immutable("reverse", &[text], text, unary::<Text, Text, _>(|v: &str| Ok(v.chars().rev().collect()))),
        immutable(
            "ascii",
            &[text],
            int4,
            unary::<Text, Int4, _>(|v: &str| Ok(v.chars().next().map_or(0, |c| c as i32))),
        ),
        immutable("chr", &[int4], text, unary::<Int4, Text, _>(chr)),
        immutable("to_hex", &[int4], text, unary::<Int4, Text, _>(|v: i32| Ok(format!("{v:x}")))),
        immutable("to_hex", &[int8], text, unary::<Int8, Text, _>(|v: i64| Ok(format!("{v:x}")))),
        immutable("left", &[text, int4], text, binary::<Text, Int4, Text, _>(|v: &str, n: i32| Ok(left(v, n)))),
        immutable("right", &[text, int4], text, binary::<Text, Int4, Text, _>(|v: &str, n: i32| Ok(right(v, n)))),
        immutable(
            "strpos",
            &[text, text],
            int4,
            binary::<Text, Text, Int4, _>(|v: &str, part: &str| Ok(position(v, part))),
        ),
        immutable(
            "position",
            &[text, text],
            int4,
            binary::<Text, Text, Int4, _>(|v: &str, part: &str| Ok(position(v, part))),
        ),
        immutable(
            "repeat",
            &[text, int4],
            text,
            binary::<Text, Int4, Text, _>(|v: &str, n: i32| {
                let n = n.max(0) as usize;
                if v.len().saturating_mul(n) > MAX_TEXT { Err(too_long()) } else { Ok(v.repeat(n)) }
            }),
        ),
        immutable("replace", &[text, text, text], text, ternary::<Text, Text, Text, Text, _>(replace)),
        immutable("textcat", &[text, text], text, concatenation()),
        immutable(
            "translate",
            &[text, text, text],
            text,
            ternary::<Text, Text, Text, Text, _>(|v: &str, from: &str, to: &str| Ok(translate(v, from, to))),
        ),
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
                overlay(v, new, start, new.chars().count() as i32)
            }),
        ),
        string_to_array_function(&[text, text]),
        string_to_array_function(&[text, text, text]),
    ];
    for name in ["length", "char_length", "character_length"] {
        all.push(immutable(name, &[text], int4, unary::<Text, Int4, _>(|v: &str| Ok(v.chars().count() as i32))));
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
        all.push(immutable(
            name,
            &[text],
            text,
            unary::<Text, Text, _>(move |v: &str| Ok(trim_set(v, " ", start, end).to_string())),
        ));
        all.push(immutable(
            name,
            &[text, text],
            text,
            binary::<Text, Text, Text, _>(move |v: &str, set: &str| Ok(trim_set(v, set, start, end).to_string())),
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
        assert_eq!(left("hello", -2), "hel");
        assert_eq!(right("hello", -2), "llo");
        assert_eq!(split_part("a,b,c", ",", -1).unwrap(), "c");
        assert_eq!(split_part("a,b,c", ",", 4).unwrap(), "");
        assert_eq!(pad("hi", 5, "xy", true).unwrap(), "xyxhi");
        assert_eq!(pad("hello", 2, " ", false).unwrap(), "he");
        assert_eq!(overlay("Txxxxas", "hom", 2, 4).unwrap(), "Thomas");
        assert_eq!(translate("12345", "143", "ax"), "a2x5");
        assert_eq!(initcap("hi THOMAS-x"), "Hi Thomas-X");
        assert_eq!("straße ǰ ᾳé".chars().map(upper).collect::<String>(), "STRAßE ǰ ᾼÉ");
        assert_eq!("ΣΑΣ İ".chars().map(lower).collect::<String>(), "σασ i");
        assert_eq!(position("héllo", "l"), 3);
    }
}
