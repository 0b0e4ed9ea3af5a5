//! Quotes names and constants for SQL: quote_ident, quote_literal, quote_nullable, parse_ident.

use super::immutable;
use crate::registry::{Param, ResultType, ScalarFunction};
use crate::typed::{Bool, SqlWrite, Text, unary};
use crate::{Call, Stability};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringArray};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::text::{output_string, quote_identifier};
use types::value::ValueRef;
use types::{BaseType, SqlType};

/// Keywords that must be quoted as names, sorted.
const KEYWORDS: &str = "all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case \
    cast char character check coalesce collate collation column concurrently constraint create cross current_catalog \
    current_date current_role current_schema current_time current_timestamp current_user dec decimal default deferrable desc \
    distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest group grouping \
    having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading least left like \
    limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric offset on only or \
    order out outer overlaps overlay placing position precision primary real references returning right row select \
    session_user setof similar smallint some substring symmetric table tablesample then time timestamp to trailing treat trim \
    true union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement \
    xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable";

/// Quotes a name if necessary.
pub(super) fn quote_ident(name: &str) -> String {
    if KEYWORDS.split_ascii_whitespace().any(|word| word == name) {
        format!("\"{name}\"")
    } else if name.contains('$') {
        // Like PostgreSQL, this also quotes keywords that would be accepted unquoted.
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        quote_identifier(name)
    }
}

/// Quotes a text as a literal such as `'it''s'`, with `E` if it has backslashes.
pub(super) fn quote_literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if text.contains('\\') { format!("E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

/// The parts of a qualified name. Errors: 22023.
fn parse_ident(text: &str, strict: bool) -> Result<Vec<String>> {
    let wrong =
        || SqlError::new(state::INVALID_PARAMETER_VALUE, format!("string is not a valid identifier: \"{text}\""));
    let blank = |c: char| c.is_ascii_whitespace();
    let mut rest = text.trim_start_matches(blank);
    let mut parts = Vec::new();
    let mut after_dot = false;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut chars = quoted.chars();
            loop {
                match chars.next() {
                    Some('"') if chars.as_str().starts_with('"') => {
                        chars.next();
                        name.push('"');
                    }
                    Some('"') => break,
                    Some(c) => name.push(c),
                    None => return Err(wrong().detail("String has unclosed double quotes.")),
                }
            }
            if name.is_empty() {
                return Err(wrong().detail("Quoted identifier must not be empty."));
            }
            parts.push(name);
            rest = chars.as_str();
        } else {
            let start = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
            if !rest.starts_with(start) {
                return Err(match (rest.chars().next(), after_dot) {
                    (Some('.'), _) => wrong().detail("No valid identifier before \".\"."),
                    (_, true) => wrong().detail("No valid identifier after \".\"."),
                    _ => wrong(),
                });
            }
            let end = rest.find(|c: char| !(start(c) || c.is_ascii_digit() || c == '$')).unwrap_or(rest.len());
            let (name, tail) = rest.split_at(end);
            parts.push(name.to_ascii_lowercase());
            rest = tail;
        }
        rest = rest.trim_start_matches(blank);
        match rest.strip_prefix('.') {
            Some(tail) => {
                rest = tail.trim_start_matches(blank);
                after_dot = true;
            }
            None if rest.is_empty() || !strict => return Ok(parts),
            None => return Err(wrong()),
        }
    }
}

fn parsed(call: &Call<'_>) -> Result<ArrayRef> {
    let texts = call.column::<Text>(0)?;
    let stricts = if call.arguments.len() > 1 { Some(call.column::<Bool>(1)?) } else { None };
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let strict = match &stricts {
            Some(stricts) => stricts.get(row)?,
            None => Some(true),
        };
        match (texts.get(row)?, strict) {
            (Some(text), Some(strict)) => {
                builder.append(&ValueRef::array(Arc::new(StringArray::from(parse_ident(text, strict)?))))?;
            }
            _ => builder.append_null(),
        }
    }
    builder.finish()
}

/// quote_literal or quote_nullable for values of any type.
fn quoting(name: &'static str, null: Option<&'static str>) -> ScalarFunction {
    let kernel = Arc::new(move |call: &Call<'_>| {
        let context = call.context()?;
        let context = context.text_output();
        let (array, ty) = (call.array(0)?, call.types.first().copied().unwrap_or(SqlType::TEXT));
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let at = Call::row_of(array, row);
            let quoted = if array.is_null(at) {
                null.map(str::to_string)
            } else {
                // The text form of a cast.
                let text = match ty == SqlType::BOOL {
                    true => array.as_boolean().value(at).to_string(),
                    false => output_string(ty, array.as_ref(), at, &context)?,
                };
                let padded = ty.base == BaseType::Char && !ty.array;
                Some(quote_literal(if padded { text.trim_end_matches(' ') } else { &text }))
            };
            Text::append(&mut builder, quoted)?;
        }
        Ok(Text::finish(builder))
    });
    ScalarFunction::polymorphic(name, &[Param::Any], false, ResultType::Is(SqlType::TEXT), Stability::Stable, kernel)
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, texts) = (SqlType::TEXT, SqlType::TEXT.array_of());
    vec![
        immutable("quote_ident", &[text], text, unary::<Text, Text, _>(|v: &str| Ok(quote_ident(v)))),
        quoting("quote_literal", None),
        quoting("quote_nullable", Some("NULL")),
        immutable("parse_ident", &[text], texts, Arc::new(parsed)),
        immutable("parse_ident", &[text, SqlType::BOOL], texts, Arc::new(parsed)),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_and_constants() {
        // Checked against PostgreSQL 15.
        assert_eq!(quote_ident("select"), "\"select\"");
        assert_eq!(quote_ident("name"), "name");
        assert_eq!(quote_ident("a\"b"), "\"a\"\"b\"");
        assert_eq!(quote_literal("a\\b"), "E'a\\\\b'");
        assert_eq!(parse_ident("\"SomeSchema\".someTable", true).unwrap(), ["SomeSchema", "sometable"]);
        assert_eq!(parse_ident(" a . \"b\"\"c\" ", true).unwrap(), ["a", "b\"c"]);
        assert_eq!(parse_ident("a.b[1]", false).unwrap(), ["a", "b"]);
        for bad in ["a b", "", "a.", "\"a", "1a", "a..b", "\"\""] {
            assert_eq!(parse_ident(bad, true).unwrap_err().state(), "22023", "{bad}");
        }
    }
}
