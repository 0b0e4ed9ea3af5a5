//! Looks up types by their SQL names. User-defined types are not known here.

use super::{BaseType, SqlType, interval, make_numeric_modifier};

/// Looks up the types of system columns and of object names.
pub fn system_type(name: &str) -> Option<SqlType> {
    SqlType::ALL_BASES
        .into_iter()
        .filter(|base| {
            base.is_object_name() || matches!(base, BaseType::Xid | BaseType::Cid | BaseType::Xid8 | BaseType::Tid)
        })
        .map(SqlType::of)
        .find(|ty| ty.name() == name)
}

/// Looks up a type by its SQL name: `int4`, `integer`, `character varying(20)`, `text[]`, `_text`.
pub fn type_named(name: &str) -> Option<SqlType> {
    let mut name = name.trim().to_ascii_lowercase();
    if let Some(rest) = name.strip_prefix("pg_catalog.") {
        name = rest.to_string();
    }
    if let Some(element) = name.strip_suffix("[]").or_else(|| name.strip_prefix('_')) {
        return type_named(element).map(|ty| ty.element().with_modifier(ty.modifier).array_of());
    }
    let (base, modifier) = match name.split_once('(') {
        Some((base, rest)) => {
            let (inside, after) = rest.split_once(')')?;
            let numbers =
                inside.split(',').map(|number| number.trim().parse::<i32>().ok()).collect::<Option<Vec<_>>>()?;
            (format!("{} {}", base.trim(), after.trim()).trim().to_string(), numbers)
        }
        None => (name, Vec::new()),
    };
    let ty = match base.as_str() {
        "bool" | "boolean" => SqlType::BOOL,
        "int2" | "smallint" => SqlType::INT2,
        "int4" | "int" | "integer" => SqlType::INT4,
        "int8" | "bigint" => SqlType::INT8,
        "float4" | "real" => SqlType::FLOAT4,
        "float8" | "double precision" | "float" => SqlType::FLOAT8,
        "numeric" | "decimal" => SqlType::NUMERIC,
        "text" => SqlType::TEXT,
        "varchar" | "character varying" => SqlType::VARCHAR,
        "bpchar" | "character" | "char" => SqlType::CHAR,
        "name" => SqlType::NAME,
        "\"char\"" => SqlType::SINGLE_CHAR,
        "bytea" => SqlType::BYTEA,
        "date" => SqlType::DATE,
        "timestamp" | "timestamp without time zone" => SqlType::TIMESTAMP,
        "timestamptz" | "timestamp with time zone" => SqlType::TIMESTAMPTZ,
        "interval" => SqlType::INTERVAL,
        "time" | "time without time zone" => SqlType::TIME,
        "timetz" | "time with time zone" => SqlType::TIMETZ,
        "json" => SqlType::JSON,
        "jsonb" => SqlType::JSONB,
        "jsonpath" => SqlType::JSONPATH,
        "uuid" => SqlType::UUID,
        "oid" => SqlType::OID,
        name if system_type(name).is_some() => system_type(name)?,
        "int2vector" => SqlType::INT2VECTOR,
        "oidvector" => SqlType::OIDVECTOR,
        "unknown" => SqlType::UNKNOWN,
        "void" => SqlType::VOID,
        _ => return None,
    };
    Some(match (ty.base, modifier.as_slice()) {
        (BaseType::Numeric, [precision]) => ty.with_modifier(make_numeric_modifier(*precision, 0)),
        (BaseType::Numeric, [precision, scale]) => ty.with_modifier(make_numeric_modifier(*precision, *scale)),
        (BaseType::Varchar | BaseType::Char, [length]) => ty.with_modifier(length + 4),
        (BaseType::Char, []) if base != "bpchar" => ty.with_modifier(5),
        (BaseType::Time | BaseType::Timetz | BaseType::Timestamp | BaseType::Timestamptz, [digits @ 0..=6]) => {
            ty.with_modifier(*digits)
        }
        (BaseType::Interval, [digits @ 0..=6]) => {
            ty.with_modifier(interval::Restriction::of_precision(*digits).modifier())
        }
        (_, []) => ty,
        _ => return None,
    })
}
