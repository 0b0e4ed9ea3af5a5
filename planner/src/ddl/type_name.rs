//! From a type's name in SQL to [`SqlType`], modifier included. Must not know the catalog.

use crate::error::{Result, SqlError, state};
use crate::parse::fold_name;
use crate::types::{BaseType, SqlType, make_numeric_modifier};
use sqlparser::ast::{ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, ObjectName, TimezoneInfo};

/// `smallserial`, `serial`, `bigserial` and their other names, as the integer type behind them.
pub fn serial_type(ty: &DataType) -> Option<SqlType> {
    let DataType::Custom(name, arguments) = ty else { return None };
    if !arguments.is_empty() {
        return None;
    }
    match fold_name(name).ok()?.1.as_str() {
        "smallserial" | "serial2" => Some(SqlType::INT2),
        "serial" | "serial4" => Some(SqlType::INT4),
        "bigserial" | "serial8" => Some(SqlType::INT8),
        _ => None,
    }
}

/// The type with this name. Errors: 0A000 for types of PostgreSQL that are not there, 42704 for
/// unknown names, 22023 for modifiers out of range.
pub fn sql_type(ty: &DataType) -> Result<SqlType> {
    Ok(match ty {
        DataType::Bool | DataType::Boolean => SqlType::BOOL,
        DataType::SmallInt(None) | DataType::Int2(None) => SqlType::INT2,
        DataType::Int(None) | DataType::Integer(None) | DataType::Int4(None) => SqlType::INT4,
        DataType::BigInt(None) | DataType::Int8(None) => SqlType::INT8,
        DataType::Real | DataType::Float4 => SqlType::FLOAT4,
        DataType::DoublePrecision | DataType::Double(ExactNumberInfo::None) | DataType::Float8 => SqlType::FLOAT8,
        DataType::Float(ExactNumberInfo::None) => SqlType::FLOAT8,
        DataType::Float(ExactNumberInfo::Precision(bits)) => match bits {
            1..=24 => SqlType::FLOAT4,
            25..=53 => SqlType::FLOAT8,
            0 => return Err(invalid("precision for type float must be at least 1 bit")),
            _ => return Err(invalid("precision for type float must be less than 54 bits")),
        },
        DataType::Numeric(info) | DataType::Decimal(info) | DataType::Dec(info) => numeric(info)?,
        DataType::Text => SqlType::TEXT,
        DataType::Varchar(length) | DataType::CharacterVarying(length) | DataType::CharVarying(length) => {
            match length {
                None => SqlType::VARCHAR,
                Some(length) => SqlType::VARCHAR.with_modifier(character_length(length, "varchar")?),
            }
        }
        DataType::Char(length) | DataType::Character(length) => match length {
            None => SqlType::CHAR.with_modifier(5),
            Some(length) => SqlType::CHAR.with_modifier(character_length(length, "char")?),
        },
        DataType::Bytea => SqlType::BYTEA,
        DataType::Uuid => SqlType::UUID,
        DataType::Date => SqlType::DATE,
        DataType::Timestamp(precision, zone) => {
            if precision.is_some_and(|precision| precision != 6) {
                return Err(SqlError::unsupported("timestamp with a precision other than 6"));
            }
            match zone {
                TimezoneInfo::None | TimezoneInfo::WithoutTimeZone => SqlType::TIMESTAMP,
                TimezoneInfo::WithTimeZone | TimezoneInfo::Tz => SqlType::TIMESTAMPTZ,
            }
        }
        DataType::Regclass => SqlType::REGCLASS,
        DataType::Array(
            ArrayElemTypeDef::SquareBracket(element, _)
            | ArrayElemTypeDef::Qualified(element, _)
            | ArrayElemTypeDef::AngleBracket(element),
        ) => {
            // int[][] is the type int[] in PostgreSQL.
            sql_type(element)?.array_of()
        }
        DataType::Custom(name, arguments) => custom(name, arguments)?,
        other => return Err(SqlError::unsupported(format!("type {}", other.to_string().to_lowercase()))),
    })
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

fn numeric(info: &ExactNumberInfo) -> Result<SqlType> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => return Ok(SqlType::NUMERIC),
        ExactNumberInfo::Precision(precision) => (*precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (*precision, *scale),
    };
    if !(1..=1000).contains(&precision) {
        return Err(invalid(format!("NUMERIC precision {precision} must be between 1 and 1000")));
    }
    if !(-1000..=1000).contains(&scale) {
        return Err(invalid(format!("NUMERIC scale {scale} must be between -1000 and 1000")));
    }
    let narrow = |value: i64| i32::try_from(value).map_err(SqlError::internal);
    let precision = i64::try_from(precision).map_err(SqlError::internal)?;
    Ok(SqlType::NUMERIC.with_modifier(make_numeric_modifier(narrow(precision)?, narrow(scale)?)))
}

fn character_length(length: &CharacterLength, name: &str) -> Result<i32> {
    let CharacterLength::IntegerLength { length, .. } = length else {
        return Err(SqlError::syntax("syntax error at or near \"max\""));
    };
    match i32::try_from(*length) {
        Ok(0) => Err(invalid(format!("length for type {name} must be at least 1"))),
        Ok(length) if length <= 10_485_760 => Ok(length + 4),
        _ => Err(invalid(format!("length for type {name} cannot exceed 10485760"))),
    }
}

fn custom(name: &ObjectName, arguments: &[String]) -> Result<SqlType> {
    let (schema, name) = fold_name(name)?;
    if schema.as_deref().is_some_and(|schema| schema != crate::pg_catalog::PG_CATALOG) {
        let schema = schema.unwrap_or_default();
        return Err(undefined(&format!("{schema}.{name}")));
    }
    let (name, array) = match name.strip_prefix('_') {
        Some(element) => (element.to_string(), true),
        None => (name, false),
    };
    let length = |what: &str| -> Result<Option<i32>> {
        let Some(text) = arguments.first() else { return Ok(None) };
        let length = text.parse().map_err(|_| SqlError::syntax(format!("syntax error at or near \"{text}\"")))?;
        character_length(&CharacterLength::IntegerLength { length, unit: None }, what).map(Some)
    };
    let ty = match name.as_str() {
        "varchar" => length("varchar")?.map_or(SqlType::VARCHAR, |length| SqlType::VARCHAR.with_modifier(length)),
        "bpchar" => length("char")?.map_or(SqlType::CHAR, |length| SqlType::CHAR.with_modifier(length)),
        "char" => SqlType::SINGLE_CHAR,
        _ if !arguments.is_empty() => {
            return Err(SqlError::syntax(format!("type modifier is not allowed for type \"{name}\"")));
        }
        "bool" => SqlType::BOOL,
        "int2" => SqlType::INT2,
        "int4" => SqlType::INT4,
        "int8" => SqlType::INT8,
        "float4" => SqlType::FLOAT4,
        "float8" => SqlType::FLOAT8,
        "numeric" => SqlType::NUMERIC,
        "text" => SqlType::TEXT,
        "name" => SqlType::NAME,
        "bytea" => SqlType::BYTEA,
        "date" => SqlType::DATE,
        "timestamp" => SqlType::TIMESTAMP,
        "timestamptz" => SqlType::TIMESTAMPTZ,
        "uuid" => SqlType::UUID,
        "oid" => SqlType::OID,
        "regclass" => SqlType::REGCLASS,
        "regtype" => SqlType::of(BaseType::Regtype),
        "regproc" => SqlType::of(BaseType::Regproc),
        "regnamespace" => SqlType::of(BaseType::Regnamespace),
        "unknown" => SqlType::UNKNOWN,
        "void" => SqlType::VOID,
        "interval" | "time" | "timetz" | "json" | "jsonb" | "xml" | "money" | "bit" | "varbit" | "inet" | "cidr"
        | "macaddr" | "macaddr8" | "point" | "line" | "lseg" | "box" | "path" | "polygon" | "circle" | "tsvector"
        | "tsquery" | "int4range" | "int8range" | "numrange" | "tsrange" | "tstzrange" | "daterange" | "hstore"
        | "citext" | "xid" | "cid" | "tid" | "regprocedure" | "regoper" | "regoperator" | "regrole" | "regconfig"
        | "regdictionary" | "regcollation" | "pg_lsn" | "jsonpath" => {
            return Err(SqlError::unsupported(format!("type {name}")));
        }
        _ => return Err(undefined(&name)),
    };
    Ok(if array { ty.array_of() } else { ty })
}

fn undefined(name: &str) -> SqlError {
    SqlError::new(state::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::parse::parse_type;

    fn named(sql: &str) -> Result<SqlType> {
        sql_type(&parse_type(sql)?)
    }

    #[test]
    fn names_and_modifiers_become_types() {
        for (sql, formatted) in [
            ("int", "integer"),
            ("int8", "bigint"),
            ("numeric(10,2)", "numeric(10,2)"),
            ("decimal(5)", "numeric(5,0)"),
            ("character varying(20)", "character varying(20)"),
            ("char", "character(1)"),
            ("bpchar", "character"),
            ("\"char\"", "\"char\""),
            ("double precision", "double precision"),
            ("float(20)", "real"),
            ("timestamptz", "timestamp with time zone"),
            ("timestamp with time zone", "timestamp with time zone"),
            ("text[]", "text[]"),
            ("pg_catalog.int4", "integer"),
            ("oid", "oid"),
        ] {
            assert_eq!(named(sql).unwrap().format(), formatted, "{sql}");
        }
    }

    #[test]
    fn wrong_types_are_refused_with_their_state() {
        for (sql, state) in [
            ("numeric(0)", state::INVALID_PARAMETER_VALUE),
            ("varchar(0)", state::INVALID_PARAMETER_VALUE),
            ("jsonb", state::FEATURE_NOT_SUPPORTED),
            ("wombat", state::UNDEFINED_OBJECT),
            ("other.int4", state::UNDEFINED_OBJECT),
        ] {
            assert_eq!(named(sql).unwrap_err().state(), state, "{sql}");
        }
    }
}
