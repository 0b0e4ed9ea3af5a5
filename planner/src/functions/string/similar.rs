//! SIMILAR TO: SQL's patterns as regular expressions.

use super::immutable;
use crate::error::{Result, SqlError};
use crate::functions::registry::ScalarFunction;
use crate::functions::typed::{Text, binary, unary};
use crate::types::SqlType;

/// The regular expression of a pattern.
fn regular(pattern: &str, escape: Option<char>) -> String {
    let mut out = String::from("^(?:");
    let (mut escaped, mut in_class) = (false, false);
    for c in pattern.chars() {
        if escaped {
            out.push('\\');
            out.push(c);
            escaped = false;
        } else if Some(c) == escape {
            escaped = true;
        } else if in_class {
            if c == '\\' {
                out.push('\\');
            }
            out.push(c);
            in_class = c != ']';
        } else {
            match c {
                '[' => {
                    out.push('[');
                    in_class = true;
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
    out
}

fn with_escape(pattern: &str, escape: &str) -> Result<String> {
    let mut chars = escape.chars();
    let first = chars.next();
    if chars.next().is_some() {
        return Err(
            SqlError::new("22025", "invalid escape string").hint("Escape string must be empty or one character.")
        );
    }
    Ok(regular(pattern, first))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    let plain = unary::<Text, Text, _>(|pattern: &str| Ok(regular(pattern, Some('\\'))));
    vec![
        immutable("similar_to_escape", &[text], text, plain),
        immutable("similar_to_escape", &[text, text], text, binary::<Text, Text, Text, _>(with_escape)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn patterns_become_regular_expressions() {
        assert_eq!(regular("(a|b)%_.", Some('\\')), "^(?:(?:a|b).*.\\.)$");
        assert_eq!(regular("[a\\%]", None), "^(?:[a\\\\%])$");
        assert_eq!(with_escape("a#%", "#").unwrap(), "^(?:a\\%)$");
        assert_eq!(with_escape("a", "##").unwrap_err().state(), "22025");
    }
}
