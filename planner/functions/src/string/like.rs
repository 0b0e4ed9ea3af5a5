//! LIKE and ILIKE with patterns that are not constant or end in their escape character. Also other escape characters.

use super::basic::lower;
use super::immutable;
use crate::registry::ScalarFunction;
use crate::typed::{Bool, Bytea, Text, binary};
use crate::{Call, Kernel};
use sql_error::interrupt::Steps;
use sql_error::value_size::scratch;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::{Ctype, SqlType};

/// The error 22025, an unfinished escape.
fn unfinished() -> SqlError {
    SqlError::new("22025", "LIKE pattern must not end with escape character")
}

/// Whether a text matches a pattern. Errors: 22025 if the match reaches an escape character at the pattern's end.
fn matches<T: PartialEq + Copy>(text: &[T], pattern: &[T], any: T, one: T, escape: T) -> Result<bool> {
    let (mut t, mut p) = (0, 0);
    // Position behind the last `any` in the pattern, and the text position from which to retry.
    let mut back: Option<(usize, usize)> = None;
    let mut steps = Steps::default();
    while let Some(c) = text.get(t).copied() {
        steps.step()?;
        let fits = match pattern.get(p).copied() {
            Some(symbol) if symbol == any => {
                p += 1;
                back = Some((p, t));
                continue;
            }
            Some(symbol) if symbol == one => true,
            Some(symbol) if symbol == escape => {
                let literal = pattern.get(p + 1).copied().ok_or_else(unfinished)?;
                let fits = literal == c;
                p += usize::from(fits);
                fits
            }
            Some(symbol) => symbol == c,
            None => false,
        };
        if fits {
            (t, p) = (t + 1, p + 1);
            continue;
        }
        match &mut back {
            Some((after, from)) => {
                *from += 1;
                (t, p) = (*from, *after);
            }
            None => return Ok(false),
        }
    }
    Ok(pattern.iter().skip(p).all(|symbol| *symbol == any))
}

fn like(text: &str, pattern: &str) -> Result<bool> {
    let _held = scratch((text.len() + pattern.len()).saturating_mul(size_of::<char>()))?;
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    matches(&text, &pattern, '%', '_', '\\')
}

fn ilike(ctype: Ctype, text: &str, pattern: &str) -> Result<bool> {
    like(&lower(ctype, text)?, &lower(ctype, pattern)?)
}

fn insensitive(negated: bool) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let ctype = call.ctype()?;
        let matches = move |t: &str, p: &str| ilike(ctype, t, p).map(|found| found != negated);
        binary::<Text, Text, Bool, _>(matches)(call)
    })
}

/// Converts a pattern with another escape character to one with a backslash. An escape character at the end stays: only
/// a match that reaches it reports an error. Errors: 22025.
fn with_backslashes<T: PartialEq + Copy>(pattern: &[T], escape: &[T], backslash: T) -> Result<Vec<T>> {
    let escape = match escape {
        [] => None,
        [escape] => Some(*escape),
        _ => {
            return Err(SqlError::new(state::INVALID_ESCAPE_SEQUENCE, "invalid escape string")
                .hint("Escape string must be empty or one character."));
        }
    };
    let mut made = Vec::with_capacity(pattern.len());
    let mut rest = pattern.iter().copied();
    while let Some(c) = rest.next() {
        if Some(c) == escape {
            made.push(backslash);
            made.extend(rest.next());
        } else {
            made.extend((c == backslash).then_some(backslash));
            made.push(c);
        }
    }
    Ok(made)
}

fn like_escape(pattern: &str, escape: &str) -> Result<String> {
    let (pattern, escape): (Vec<char>, Vec<char>) = (pattern.chars().collect(), escape.chars().collect());
    Ok(with_backslashes(&pattern, &escape, '\\')?.into_iter().collect())
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (texts, bytes) = ([SqlType::TEXT, SqlType::TEXT], [SqlType::BYTEA, SqlType::BYTEA]);
    let text = |name, kernel| immutable(name, &texts, SqlType::BOOL, kernel);
    let escaped = binary::<Bytea, Bytea, Bytea, _>(|p: &[u8], escape: &[u8]| with_backslashes(p, escape, b'\\'));
    let mut all = vec![
        immutable("like_escape", &texts, SqlType::TEXT, binary::<Text, Text, Text, _>(like_escape)),
        immutable("like_escape", &bytes, SqlType::BYTEA, escaped),
    ];
    for name in ["textlike", "like"] {
        all.push(text(name, binary::<Text, Text, Bool, _>(like)));
    }
    for name in ["textnlike", "notlike"] {
        all.push(text(name, binary::<Text, Text, Bool, _>(|t: &str, p: &str| like(t, p).map(|found| !found))));
    }
    all.push(text("texticlike", insensitive(false)));
    all.push(text("texticnlike", insensitive(true)));
    let of_bytes = |negated: bool| {
        binary::<Bytea, Bytea, Bool, _>(move |t: &[u8], p: &[u8]| {
            matches(t, p, b'%', b'_', b'\\').map(|found| found != negated)
        })
    };
    for (name, negated) in [("bytealike", false), ("byteanlike", true), ("like", false), ("notlike", true)] {
        all.push(immutable(name, &bytes, SqlType::BOOL, of_bytes(negated)));
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_postgresql() {
        // Checked against PostgreSQL 15.
        for (text, pattern, found) in [
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "_b_", true),
            ("abc", "a_", false),
            ("aXbXc", "a%X_", true),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("", "%", true),
            ("", "_", false),
            ("abc", "x\\", false),
            ("abc", "abc\\", false),
            ("äb", "_b", true),
        ] {
            assert_eq!(like(text, pattern).unwrap(), found, "{text} {pattern}");
        }
        for (text, pattern) in [("abc", "a\\"), ("abc", "a%\\")] {
            assert_eq!(like(text, pattern).unwrap_err().state(), "22025", "{text} {pattern}");
        }
        assert!(ilike(Ctype::Unicode, "ABC", "a%").unwrap());
        assert!(ilike(Ctype::Unicode, "ÉA", "é_").unwrap());
        assert!(!ilike(Ctype::Ascii, "ÉA", "é_").unwrap());
        assert!(ilike(Ctype::Ascii, "éA", "éa").unwrap());
    }

    #[test]
    fn other_escape_characters_become_backslashes() {
        assert_eq!(like_escape("10#%a\\", "#").unwrap(), "10\\%a\\\\");
        assert_eq!(like_escape("a\\%#", "").unwrap(), "a\\\\%#");
        // An escape at the end is an error only if the match reaches it.
        assert_eq!(like_escape("ab#", "#").unwrap(), "ab\\");
        assert_eq!(like_escape("ab", "##").unwrap_err().state(), "22025");
        assert_eq!(with_backslashes(b"a#%", b"#", b'\\').unwrap(), b"a\\%");
    }
}
