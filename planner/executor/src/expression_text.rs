//! Expressions for people: DataFusion's text without its column positions and internal names.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;
use types::array::ArrayValue;
use types::array::literal::{write_bounds, write_element, write_nested};
use types::datetime::{DateFormat, TimeZone, write_date, write_timestamp, write_timestamptz};
use types::numeric::Numeric;

/// Prefix of internal names, which no user's name has.
pub const INTERNAL: char = '\0';

/// `a@1 = $1()` becomes `a = $1`.
pub fn readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['@', '$', '\'']) {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        rest = match tail.as_bytes().first() {
            // A column's position: a letter or digit, an at-sign, digits.
            Some(b'@') if head.ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
                tail.get(1..).unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_digit())
            }
            // A slot: a call without arguments.
            Some(b'$') => {
                let end = tail
                    .char_indices()
                    .skip(1)
                    .find(|(_, c)| !(c.is_alphanumeric() || *c == '_' || *c == ':'))
                    .map_or(tail.len(), |(end, _)| end);
                let (name, after) = tail.split_at(end);
                out.push_str(name);
                after.strip_prefix("()").unwrap_or(after)
            }
            // The contents of a string constant are not changed.
            Some(b'\'') => {
                let end = tail.get(1..).and_then(|text| text.find('\'')).map_or(tail.len(), |end| end + 2);
                let (literal, after) = tail.split_at(end);
                out.push_str(literal);
                after
            }
            _ => {
                out.push('@');
                tail.get(1..).unwrap_or_default()
            }
        };
    }
    out.push_str(rest);
    // This character marks names that are not columns of a table.
    out.retain(|letter| letter != INTERNAL);
    out
}

/// A constant in SQL syntax, if DataFusion prints it differently.
pub fn literal(value: &ScalarValue) -> Option<String> {
    match value {
        ScalarValue::Binary(Some(bytes)) => Numeric::from_bytes(bytes).ok().map(|number| number.to_string()),
        ScalarValue::Utf8(Some(text)) => Some(format!("'{}'", text.replace('\'', "''"))),
        ScalarValue::Date32(Some(date)) => moment("date", |out| write_date(*date, DateFormat::ISO, out)),
        ScalarValue::TimestampMicrosecond(Some(local), None) => {
            moment("timestamp", |out| write_timestamp(*local, DateFormat::ISO, out))
        }
        ScalarValue::TimestampMicrosecond(Some(utc), Some(_)) => {
            moment("timestamptz", |out| write_timestamptz(*utc, TimeZone::UTC, DateFormat::ISO, out))
        }
        ScalarValue::Struct(_) => array(value).ok(),
        _ => None,
    }
}

/// A constant of a date or time type.
fn moment(ty: &str, write: impl FnOnce(&mut Vec<u8>)) -> Option<String> {
    let mut text = Vec::new();
    write(&mut text);
    Some(format!("'{}'::{ty}", String::from_utf8(text).ok()?))
}

/// An array in SQL syntax.
fn array(value: &ScalarValue) -> sql_error::Result<String> {
    let Some(array) = ArrayValue::of(value)? else { return Ok("NULL".into()) };
    let (dimensions, mut text) = (array.dimensions(), vec![b'\'']);
    write_bounds(&dimensions, &mut text);
    write_nested(&dimensions, (b'{', b'}'), &mut text, &mut |at, text| {
        match ScalarValue::try_from_array(array.elements(), at)? {
            element if element.is_null() => text.extend_from_slice(b"NULL"),
            ScalarValue::Utf8(Some(element)) => write_element(element.replace('\'', "''").as_bytes(), text),
            element => text.extend_from_slice(literal(&element).unwrap_or_else(|| element.to_string()).as_bytes()),
        }
        Ok(())
    })?;
    text.push(b'\'');
    String::from_utf8(text).map_err(sql_error::SqlError::internal)
}

/// A condition in parentheses.
pub fn condition(expression: &Arc<dyn PhysicalExpr>) -> String {
    let shown = Arc::clone(expression).transform(|inner| {
        let text = inner.downcast_ref::<Literal>().and_then(|found| literal(found.value()));
        Ok(match text {
            Some(text) => {
                Transformed::yes(Arc::new(Literal::new(ScalarValue::Utf8(Some(text)))) as Arc<dyn PhysicalExpr>)
            }
            None => Transformed::no(inner),
        })
    });
    let text = match shown {
        Ok(shown) => readable(&shown.data.to_string()),
        Err(_) => readable(&expression.to_string()),
    };
    if text.starts_with('(') && text.ends_with(')') { text } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn arrays_are_shown_as_they_are_written() {
        use types::text::{InputContext, input};
        for text in ["{{1,2},{3,NULL}}", "[0:0]={7}"] {
            let value = input(types::SqlType::INT4.array_of(), text, &InputContext::PLAIN);
            assert_eq!(value.ok().and_then(|value| super::literal(&value)), Some(format!("'{text}'")));
        }
    }

    #[test]
    fn internal_names_disappear_and_text_stays() {
        assert_eq!(readable("a@1 = $1() AND b@22 < 'x@1 $2()'"), "a = $1 AND b < 'x@1 $2()'");
        assert_eq!(readable("ts@0 > $:now()"), "ts > $:now");
        assert_eq!(readable("a @ b"), "a @ b");
    }
}
