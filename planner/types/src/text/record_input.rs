//! Parses rows such as `(1,"a b",)`. [`mod@input`] parses the fields.

use super::{InputContext, input};
use crate::Datum;
use crate::packed::push_record;
use crate::record::RecordType;
use crate::value::value_at;
use sql_error::{Result, SqlError, state};
use std::iter::Peekable;
use std::str::Chars;

fn malformed(text: &str, detail: &str) -> SqlError {
    SqlError::new(state::INVALID_TEXT_REPRESENTATION, format!("malformed record literal: \"{text}\"")).detail(detail)
}

/// Reads a field up to the next comma or parenthesis outside quotes. An empty field is `None`, which is NULL.
fn field(text: &str, rest: &mut Peekable<Chars<'_>>) -> Result<Option<String>> {
    let ended = || malformed(text, "Unexpected end of input.");
    if matches!(rest.peek(), Some(',' | ')')) {
        return Ok(None);
    }
    let (mut value, mut quoted) = (String::new(), false);
    loop {
        match rest.peek() {
            None => return Err(ended()),
            Some(',' | ')') if !quoted => return Ok(Some(value)),
            Some(_) => {}
        }
        match rest.next() {
            Some('\\') => value.push(rest.next().ok_or_else(ended)?),
            Some('"') if !quoted => quoted = true,
            Some('"') if rest.peek() == Some(&'"') => {
                rest.next();
                value.push('"');
            }
            Some('"') => quoted = false,
            other => value.extend(other),
        }
    }
}

/// Parses a row of the type's fields. Errors: 22P02, and those of the fields.
pub(super) fn read_record(ty: RecordType, text: &str, context: &InputContext<'_>) -> Result<Datum> {
    let mut rest = text.trim_start().chars().peekable();
    if rest.next() != Some('(') {
        return Err(malformed(text, "Missing left parenthesis."));
    }
    let mut columns = Vec::new();
    for (at, ty) in ty.types().enumerate() {
        if at > 0 && rest.next_if_eq(&',').is_none() {
            return Err(malformed(text, "Too few columns."));
        }
        let value = match field(text, &mut rest)? {
            Some(value) => input(ty, &value, context)?,
            None => Datum::try_from(&ty.arrow())?,
        };
        columns.push(value.to_array()?);
    }
    if rest.next() != Some(')') {
        return Err(malformed(text, "Too many columns."));
    }
    if rest.any(|c| !c.is_whitespace()) {
        return Err(malformed(text, "Junk after right parenthesis."));
    }
    let values = columns.iter().map(|column| value_at(column.as_ref(), 0)).collect::<Result<Vec<_>>>()?;
    let mut bytes = Vec::new();
    push_record(ty.types(), &values, &mut bytes)?;
    Ok(Datum::Binary(Some(bytes)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::SqlType;

    #[test]
    fn fields_are_split_and_unquoted() {
        let pair = RecordType::new(vec![("a".into(), SqlType::TEXT), ("b".into(), SqlType::INT4)]);
        let read = |text: &str| read_record(pair, text, &InputContext::PLAIN);
        assert_eq!(read(r#" ("x",7) "#).unwrap(), read("(x,7)").unwrap());
        assert_eq!(read(r#"("a""b\,",)"#).unwrap(), read(r#"(a\"b\,,)"#).unwrap());
        for wrong in ["", "x", "(x)", "(x,1,2)", "(x,1) y", "(x,1", "(\"x,1)", "(x,y)"] {
            assert_eq!(read(wrong).unwrap_err().state(), state::INVALID_TEXT_REPRESENTATION, "{wrong}");
        }
    }
}
