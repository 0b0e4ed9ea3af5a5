//! SIMILAR TO: converts SQL's patterns to regular expressions.

use super::immutable;
use crate::kernel::Call;
use crate::registry::ScalarFunction;
use crate::typed::{SqlWrite, Text, binary, unary};
use datafusion::arrow::array::ArrayRef;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::SqlType;

/// The regular expression of a pattern. Errors: 2200C for more than two separators of SUBSTRING's pattern.
fn regular(pattern: &str, escape: Option<char>) -> Result<String> {
    let mut out = String::from("^(?:");
    let (mut escaped, mut separators) = (false, 0);
    // Depth of open brackets, and whether the next character is the first in them.
    let (mut depth, mut first) = (0, false);
    for c in pattern.chars() {
        if escaped {
            escaped = false;
            if c == '"' && depth == 0 {
                // The part before the first separator matches as little as possible.
                out.push_str(match separators {
                    0 => "){1,1}?(",
                    1 => "){1,1}(?:",
                    _ => {
                        let message =
                            "SQL regular expression may not contain more than two escape-double-quote separators";
                        return Err(SqlError::new("2200C", message));
                    }
                });
                separators += 1;
                continue;
            }
            out.push('\\');
            out.push(c);
            first = false;
        } else if Some(c) == escape {
            escaped = true;
        } else if depth > 0 {
            if c == '\\' {
                out.push('\\');
            }
            out.push(c);
            match c {
                '[' => depth += 1,
                ']' if !first => depth -= 1,
                _ => {}
            }
            first &= c == '^';
        } else {
            match c {
                '[' => {
                    out.push('[');
                    (depth, first) = (1, true);
                }
                '%' => out.push_str(".*"),
                '_' => out.push('.'),
                '(' => out.push_str("(?:"),
                '\\' | '.' | '^' | '$' => {
                    out.push('\\');
                    out.push(c);
                }
                other => out.push(other),
            }
        }
    }
    out.push_str(")$");
    Ok(out)
}

pub(super) fn with_escape(pattern: &str, escape: &str) -> Result<String> {
    let mut chars = escape.chars();
    let first = chars.next();
    if chars.next().is_some() {
        return Err(
            SqlError::new("22025", "invalid escape string").hint("Escape string must be empty or one character.")
        );
    }
    regular(pattern, first)
}

/// similar_escape; the default escape character is the backslash.
fn escaped(call: &Call<'_>) -> Result<ArrayRef> {
    let (patterns, escapes) = (call.column::<Text>(0)?, call.column::<Text>(1)?);
    let mut builder = Text::builder(call.rows);
    for row in 0..call.rows {
        let made = patterns.get(row)?.map(|pattern| with_escape(pattern, escapes.get(row)?.unwrap_or("\\")));
        Text::append(&mut builder, made.transpose()?)?;
    }
    Ok(Text::finish(builder))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    let plain = unary::<Text, Text, _>(|pattern: &str| regular(pattern, Some('\\')));
    vec![
        immutable("similar_to_escape", &[text], text, plain),
        immutable("similar_escape", &[text, text], text, Arc::new(escaped)),
        immutable("similar_to_escape", &[text, text], text, binary::<Text, Text, Text, _>(with_escape)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_regular_expressions() {
        assert_eq!(regular("(a|b)%_.", Some('\\')).unwrap(), "^(?:(?:a|b).*.\\.)$");
        assert_eq!(regular("[a\\%]", None).unwrap(), "^(?:[a\\\\%])$");
        assert_eq!(with_escape("a#%", "#").unwrap(), "^(?:a\\%)$");
        // Checked against PostgreSQL 15.
        assert_eq!(regular("[]a]x%[^]%_]", Some('\\')).unwrap(), "^(?:[]a]x.*[^]%_])$");
        assert_eq!(with_escape("a#\"%#\"g", "#").unwrap(), "^(?:a){1,1}?(.*){1,1}(?:g)$");
        assert_eq!(with_escape("#\"#\"#\"", "#").unwrap_err().state(), "2200C");
        assert_eq!(with_escape("a", "##").unwrap_err().state(), "22025");
    }
}
