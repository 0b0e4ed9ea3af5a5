//! The value of an added column in rows that were written before.

use crate::ColumnDescriptor;
use sql_error::{Result, SqlError};
use types::Datum;
use types::text::{InputContext, input};

/// Evaluates `ColumnDescriptor::missing`: NULL, a number, a boolean or a quoted text, with an optional `::type`.
pub(super) fn missing_value(column: &ColumnDescriptor) -> Result<Datum> {
    let null = || Ok(Datum::try_from(&column.ty.arrow())?);
    let Some(text) = column.missing.as_deref() else {
        return null();
    };
    let text = text.trim();
    let literal = match text.strip_prefix('\'') {
        Some(body) => {
            let mut value = String::new();
            let mut chars = body.chars().peekable();
            loop {
                match chars.next() {
                    Some('\'') if chars.next_if_eq(&'\'').is_some() => value.push('\''),
                    Some('\'') => break,
                    Some(c) => value.push(c),
                    None => {
                        return Err(SqlError::internal(format!("the constant {text} of column {}", column.name)));
                    }
                }
            }
            value
        }
        None => {
            let bare = text.split("::").next().unwrap_or(text).trim();
            let bare = bare.trim_start_matches('(').trim_end_matches(')');
            if bare.eq_ignore_ascii_case("null") {
                return null();
            }
            bare.to_string()
        }
    };
    input(column.ty, &literal, &InputContext::PLAIN)
}
