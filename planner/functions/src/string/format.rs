//! The functions concat, concat_ws and format.

use super::identifier::{quote_ident, quote_literal};
use crate::registry::{Param, ResultType, ScalarFunction};
use crate::typed::{SqlWrite, Text};
use crate::{Call, Stability};
use datafusion::arrow::array::Array;
use sql_error::value_size::{LongText, room};
use sql_error::{Result, SqlError, state};
use std::borrow::Cow;
use std::sync::Arc;
use types::SqlType;
use types::text::{OutputContext, output_string};

/// The arguments of a row from `first` on, as text. `None` for NULL.
fn texts(call: &Call<'_>, row: usize, first: usize, context: &OutputContext<'_>) -> Result<Vec<Option<String>>> {
    call.arguments
        .iter()
        .zip(call.types)
        .skip(first)
        .map(|(array, ty)| {
            let at = Call::row_of(array, row);
            let text = if array.is_null(at) { None } else { Some(output_string(*ty, array.as_ref(), at, context)?) };
            room(text.as_ref().map_or(0, String::len))?;
            Ok(text)
        })
        .collect()
}

/// A number in a format specifier. Errors: 22003.
fn within_integers(digits: &str) -> Result<usize> {
    let number = digits.parse::<i32>().ok().and_then(|number| usize::try_from(number).ok());
    number.ok_or_else(|| SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range"))
}

fn format(pattern: &str, arguments: &[Option<String>]) -> Result<String> {
    let invalid = |message: &str| SqlError::new(state::INVALID_PARAMETER_VALUE, message.to_string());
    let mut out = LongText::new(pattern.len())?;
    let mut chars = pattern.chars().peekable();
    let mut next = 0usize;
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c)?;
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            out.push('%')?;
            continue;
        }
        let mut number = String::new();
        let mut left = false;
        let mut position = None;
        loop {
            match chars.peek() {
                Some('-') => {
                    left = true;
                    chars.next();
                }
                Some(digit) if digit.is_ascii_digit() => {
                    number.push(*digit);
                    chars.next();
                }
                Some('$') if position.is_none() && !left && !number.is_empty() => {
                    chars.next();
                    let at = within_integers(&number)?;
                    if at == 0 {
                        return Err(invalid("format specifies argument 0, but arguments are numbered from 1"));
                    }
                    position = Some(at - 1);
                    number.clear();
                }
                Some('*') if number.is_empty() => {
                    chars.next();
                    // The width is an argument: a numbered one or the next one.
                    let mut place = String::new();
                    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                        place.push(digit);
                    }
                    let at = if place.is_empty() {
                        next += 1;
                        next - 1
                    } else {
                        if chars.next_if_eq(&'$').is_none() {
                            return Err(invalid("width argument position must be ended by \"$\""));
                        }
                        let at = within_integers(&place)?;
                        next = at;
                        at.checked_sub(1)
                            .ok_or_else(|| invalid("format specifies argument 0, but arguments are numbered from 1"))?
                    };
                    let width = arguments.get(at).ok_or_else(|| invalid("too few arguments for format()"))?;
                    let width = width.as_deref().unwrap_or("0");
                    let width = types::text::parse_integer(width, i64::from(i32::MIN), i64::from(i32::MAX), "integer")?;
                    left |= width < 0;
                    number = width.unsigned_abs().to_string();
                    break;
                }
                _ => break,
            }
        }
        let kind = chars
            .next()
            .ok_or_else(|| invalid("unterminated format() type specifier").hint("For a single \"%\" use \"%%\"."))?;
        let width = if number.is_empty() { 0 } else { within_integers(&number)? };
        if !matches!(kind, 's' | 'I' | 'L') {
            return Err(invalid(&format!("unrecognized format() type specifier \"{kind}\""))
                .hint("For a single \"%\" use \"%%\"."));
        }
        let at = position.unwrap_or(next);
        next = at + 1;
        let argument = arguments.get(at).ok_or_else(|| invalid("too few arguments for format()"))?;
        let text = match (kind, argument) {
            ('s', Some(text)) => Cow::Borrowed(text.as_str()),
            ('s', None) => Cow::Borrowed(""),
            ('I', Some(text)) => Cow::Owned(quote_ident(text)),
            ('I', None) => {
                return Err(SqlError::new(
                    state::NULL_VALUE_NOT_ALLOWED,
                    "null values cannot be formatted as an SQL identifier",
                ));
            }
            (_, Some(text)) => Cow::Owned(quote_literal(text)),
            (_, None) => Cow::Borrowed("NULL"),
        };
        let padding = width.saturating_sub(text.chars().count());
        if !left {
            out.fill(' ', padding)?;
        }
        out.add(&text)?;
        if left {
            out.fill(' ', padding)?;
        }
    }
    Ok(out.finish())
}

fn variadic(
    name: &'static str,
    arguments: &[Param],
    compute: fn(&Call<'_>, usize, &OutputContext<'_>) -> Result<Option<String>>,
) -> ScalarFunction {
    ScalarFunction::polymorphic(
        name,
        arguments,
        true,
        ResultType::Is(SqlType::TEXT),
        Stability::Stable,
        Arc::new(move |call: &Call<'_>| {
            let context = call.context()?;
            let context = context.text_output();
            let mut builder = Text::builder(call.rows);
            for row in 0..call.rows {
                Text::append(&mut builder, compute(call, row, &context)?)?;
            }
            Ok(Text::finish(builder))
        }),
    )
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let text = SqlType::TEXT;
    vec![
        variadic("concat", &[Param::Any], |call, row, context| {
            let parts: Vec<String> = texts(call, row, 0, context)?.into_iter().flatten().collect();
            room(parts.iter().map(String::len).sum())?;
            Ok(Some(parts.concat()))
        }),
        variadic("concat_ws", &[Param::Is(text), Param::Any], |call, row, context| {
            let Some(separator) = call.column::<Text>(0)?.get(row)? else { return Ok(None) };
            let parts: Vec<String> = texts(call, row, 1, context)?.into_iter().flatten().collect();
            let separators = separator.len().saturating_mul(parts.len().saturating_sub(1));
            room(separators.saturating_add(parts.iter().map(String::len).sum()))?;
            Ok(Some(parts.join(separator)))
        }),
        ScalarFunction {
            variadic: false,
            ..variadic("format", &[Param::Is(text)], |call, row, _| match call.column::<Text>(0)?.get(row)? {
                Some(pattern) => format(pattern, &[]).map(Some),
                None => Ok(None),
            })
        },
        variadic("format", &[Param::Is(text), Param::Any], |call, row, context| {
            match call.column::<Text>(0)?.get(row)? {
                Some(pattern) => format(pattern, &texts(call, row, 1, context)?).map(Some),
                None => Ok(None),
            }
        }),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn format_and_quotes() {
        let some = |text: &str| Some(text.to_string());
        assert_eq!(format("Hello %s, %1$s %%", &[some("World")]).unwrap(), "Hello World, World %");
        assert_eq!(format("%I %L %L", &[some("Foo"), some("it's"), None]).unwrap(), "\"Foo\" 'it''s' NULL");
        assert_eq!(format("|%5s|%-5s|", &[some("a"), some("b")]).unwrap(), "|    a|b    |");
        assert!(format("%s", &[]).is_err());
        // Checked against PostgreSQL 15.
        assert_eq!(format("|%*s|%-*s|", &[some("3"), some("x"), some("4"), some("a")]).unwrap(), "|  x|a   |");
        assert_eq!(format("%*s", &[some("-3"), some("x")]).unwrap(), "x  ");
        assert_eq!(format("%*1$s", &[some("3")]).unwrap_err().state(), "22023");
        assert_eq!(format("%*s", &[None, some("x")]).unwrap(), "x");
    }
}
