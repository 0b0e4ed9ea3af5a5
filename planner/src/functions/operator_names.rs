//! Functions by the names that PostgreSQL's operators are implemented under: `int4pl(1, 2)` is `1 + 2`.

use super::{CastContext, Resolver, TypedExpr};
use crate::error::Result;
use crate::types::{BaseType, SqlType};

/// Names of operations on numbers, and their symbols.
const ARITHMETIC: [(&str, &str); 4] = [("pl", "+"), ("mi", "-"), ("mul", "*"), ("div", "/")];
const COMPARISON: [(&str, &str); 6] = [("eq", "="), ("ne", "<>"), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")];
/// Numbers by what their functions' names begin with; two widths for two types.
const NUMBERS: [(&str, BaseType, BaseType); 13] = [
    ("int2", BaseType::Int2, BaseType::Int2),
    ("int4", BaseType::Int4, BaseType::Int4),
    ("int8", BaseType::Int8, BaseType::Int8),
    ("int24", BaseType::Int2, BaseType::Int4),
    ("int42", BaseType::Int4, BaseType::Int2),
    ("int28", BaseType::Int2, BaseType::Int8),
    ("int82", BaseType::Int8, BaseType::Int2),
    ("int48", BaseType::Int4, BaseType::Int8),
    ("int84", BaseType::Int8, BaseType::Int4),
    ("float4", BaseType::Float4, BaseType::Float4),
    ("float8", BaseType::Float8, BaseType::Float8),
    ("float48", BaseType::Float4, BaseType::Float8),
    ("float84", BaseType::Float8, BaseType::Float4),
];
/// Other types whose comparisons are named with and without an underscore.
const OTHERS: [(&str, BaseType); 18] = [
    ("bool", BaseType::Bool),
    ("text", BaseType::Text),
    ("text_", BaseType::Text),
    ("bpchar", BaseType::Char),
    ("name", BaseType::Name),
    ("bytea", BaseType::Bytea),
    ("oid", BaseType::Oid),
    ("date_", BaseType::Date),
    ("time_", BaseType::Time),
    ("timetz_", BaseType::Timetz),
    ("timestamp_", BaseType::Timestamp),
    ("timestamptz_", BaseType::Timestamptz),
    ("interval_", BaseType::Interval),
    ("numeric_", BaseType::Numeric),
    ("uuid_", BaseType::Uuid),
    ("jsonb_", BaseType::Jsonb),
    ("char", BaseType::SingleChar),
    ("enum_", BaseType::Unknown),
];

/// The symbol of a function of two operands, and their types.
fn binary(name: &str) -> Option<(&'static str, SqlType, SqlType)> {
    let (jsonb, text, int4) = (SqlType::JSONB, SqlType::TEXT, SqlType::INT4);
    let (texts, numeric, float8) = (SqlType::TEXT.array_of(), SqlType::NUMERIC, SqlType::FLOAT8);
    let (date, interval) = (SqlType::DATE, SqlType::INTERVAL);
    Some(match name {
        "numeric_add" => ("+", numeric, numeric),
        "numeric_sub" => ("-", numeric, numeric),
        "numeric_mul" => ("*", numeric, numeric),
        "numeric_div" => ("/", numeric, numeric),
        "numeric_mod" => ("%", numeric, numeric),
        "dpow" => ("^", float8, float8),
        "int4mod" => ("%", int4, int4),
        "int4and" => ("&", int4, int4),
        "int4or" => ("|", int4, int4),
        "int4xor" => ("#", int4, int4),
        "textcat" => ("||", text, text),
        "textregexne" => ("!~", text, text),
        "texticregexne" => ("!~*", text, text),
        "date_pli" => ("+", date, int4),
        "date_mii" => ("-", date, int4),
        "date_mi" => ("-", date, date),
        "date_pl_interval" => ("+", date, interval),
        "date_mi_interval" => ("-", date, interval),
        "interval_pl" => ("+", interval, interval),
        "interval_mi" => ("-", interval, interval),
        "interval_mul" => ("*", interval, float8),
        "interval_div" => ("/", interval, float8),
        "timestamp_pl_interval" => ("+", SqlType::TIMESTAMP, interval),
        "timestamp_mi_interval" => ("-", SqlType::TIMESTAMP, interval),
        "timestamptz_pl_interval" => ("+", SqlType::TIMESTAMPTZ, interval),
        "timestamptz_mi_interval" => ("-", SqlType::TIMESTAMPTZ, interval),
        "timestamp_mi" => ("-", SqlType::TIMESTAMP, SqlType::TIMESTAMP),
        "timestamptz_mi" => ("-", SqlType::TIMESTAMPTZ, SqlType::TIMESTAMPTZ),
        "jsonb_concat" => ("||", jsonb, jsonb),
        "jsonb_contains" => ("@>", jsonb, jsonb),
        "jsonb_contained" => ("<@", jsonb, jsonb),
        "jsonb_exists" => ("?", jsonb, text),
        "jsonb_exists_any" => ("?|", jsonb, texts),
        "jsonb_exists_all" => ("?&", jsonb, texts),
        "jsonb_delete_path" => ("#-", jsonb, texts),
        "jsonb_object_field" => ("->", jsonb, text),
        "jsonb_object_field_text" => ("->>", jsonb, text),
        "jsonb_array_element" => ("->", jsonb, int4),
        "jsonb_array_element_text" => ("->>", jsonb, int4),
        "json_object_field" => ("->", SqlType::JSON, text),
        "json_object_field_text" => ("->>", SqlType::JSON, text),
        "json_array_element" => ("->", SqlType::JSON, int4),
        "json_array_element_text" => ("->>", SqlType::JSON, int4),
        _ => {
            let (stem, ending) = name.split_at_checked(name.len().checked_sub(2)?)?;
            let compared = COMPARISON.iter().find(|(known, _)| *known == ending).map(|(_, symbol)| *symbol);
            if let (Some(symbol), Some((_, base))) = (compared, OTHERS.iter().find(|(known, _)| *known == stem)) {
                let ty = SqlType::of(*base);
                return Some((symbol, ty, ty));
            }
            NUMBERS.iter().find_map(|(prefix, left, right)| {
                let rest = name.strip_prefix(prefix)?;
                let (_, symbol) = ARITHMETIC.iter().chain(&COMPARISON).find(|(known, _)| *known == rest)?;
                Some((*symbol, SqlType::of(*left), SqlType::of(*right)))
            })?
        }
    })
}

/// The symbol of a function of one operand, its type, and what stands to the right, if something does.
fn unary(name: &str) -> Option<(&'static str, SqlType, Option<&'static str>)> {
    Some(match name {
        "int2um" => ("-", SqlType::INT2, None),
        "int4um" => ("-", SqlType::INT4, None),
        "int8um" => ("-", SqlType::INT8, None),
        "float4um" => ("-", SqlType::FLOAT4, None),
        "float8um" => ("-", SqlType::FLOAT8, None),
        "numeric_uminus" => ("-", SqlType::NUMERIC, None),
        "interval_um" => ("-", SqlType::INTERVAL, None),
        "int4not" => ("~", SqlType::INT4, None),
        "dsqrt" => ("|/", SqlType::FLOAT8, None),
        "dcbrt" => ("||/", SqlType::FLOAT8, None),
        "int4abs" => ("@", SqlType::INT4, None),
        "float8abs" => ("@", SqlType::FLOAT8, None),
        "numeric_abs" => ("@", SqlType::NUMERIC, None),
        "int4inc" => ("+", SqlType::INT4, Some("1")),
        "int8inc" => ("+", SqlType::INT8, Some("1")),
        "numeric_inc" => ("+", SqlType::NUMERIC, Some("1")),
        _ => return None,
    })
}

/// Whether an operator goes by this name.
pub(super) fn exists(name: &str) -> bool {
    binary(name).is_some() || unary(name).is_some()
}

/// A call of an operator by its function's name; `None` where there is none of that name and number of operands.
pub(super) fn resolve(resolver: &Resolver<'_>, name: &str, args: &[TypedExpr]) -> Result<Option<TypedExpr>> {
    let operand = |arg: &TypedExpr, ty: SqlType| {
        let known = ty.base != BaseType::Unknown;
        if known { resolver.cast(arg.clone(), ty, CastContext::Implicit) } else { Ok(arg.clone()) }
    };
    let missing = |_| resolver.no_function(name, args);
    match args {
        // A key, several keys, or a place.
        [json, key] if name == "jsonb_delete" => {
            let json = operand(json, SqlType::JSONB).map_err(missing)?;
            let key = if key.is_unknown() { operand(key, SqlType::TEXT)? } else { key.clone() };
            resolver.operator("-", Some(json), key).map(Some)
        }
        [left, right] => {
            let Some((symbol, left_type, right_type)) = binary(name) else { return Ok(None) };
            let left = operand(left, left_type).map_err(missing)?;
            let right = operand(right, right_type).map_err(missing)?;
            resolver.operator(symbol, Some(left), right).map(Some)
        }
        [only] => {
            let Some((symbol, ty, right)) = unary(name) else { return Ok(None) };
            let only = operand(only, ty).map_err(missing)?;
            match right {
                Some(text) => {
                    let right = resolver.cast(TypedExpr::unknown(text), ty, CastContext::Implicit)?;
                    resolver.operator(symbol, Some(only), right).map(Some)
                }
                None => resolver.operator(symbol, None, only).map(Some),
            }
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_are_operators() {
        assert_eq!(binary("int4pl").unwrap().0, "+");
        assert_eq!(binary("int84mul").unwrap(), ("*", SqlType::INT8, SqlType::INT4));
        assert_eq!(binary("texteq").unwrap(), ("=", SqlType::TEXT, SqlType::TEXT));
        assert_eq!(binary("date_le").unwrap(), ("<=", SqlType::DATE, SqlType::DATE));
        assert_eq!(binary("float8ge").unwrap().0, ">=");
        assert!(binary("upper").is_none() && binary("eq").is_none() && binary("é").is_none());
        assert_eq!(unary("numeric_inc").unwrap().2, Some("1"));
    }
}
