//! Converts type names of the syntax tree to [`SqlType`]s.

use catalog::{Catalog, RelationKind};
use sql_error::{Missing, Result, SqlError, state};
use sqlparser::ast::{ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, ObjectNamePart, TimezoneInfo};
use syntax::fold_name;
use types::enumeration::EnumType;
use types::interval::Restriction;
use types::{BaseType, SqlType, make_numeric_modifier, system_type};

/// The type that a name of the syntax tree refers to. Errors: 42704 for an unknown type, 0A000 for an unsupported one,
/// 22023 for a modifier out of range.
pub fn sql_type(name: &DataType) -> Result<SqlType> {
    use DataType as D;
    let ty = match name {
        D::Bool | D::Boolean => SqlType::BOOL,
        D::SmallInt(None) | D::Int2(None) => SqlType::INT2,
        D::Int(None) | D::Integer(None) | D::Int4(None) => SqlType::INT4,
        D::BigInt(None) | D::Int8(None) => SqlType::INT8,
        D::Real | D::Float4 => SqlType::FLOAT4,
        D::Float(ExactNumberInfo::None) | D::Float8 | D::DoublePrecision | D::Double(ExactNumberInfo::None) => {
            SqlType::FLOAT8
        }
        D::Float(ExactNumberInfo::Precision(bits)) => match bits {
            1..=24 => SqlType::FLOAT4,
            25..=53 => SqlType::FLOAT8,
            0 => return Err(invalid("precision for type float must be at least 1 bit")),
            _ => return Err(invalid("precision for type float must be less than 54 bits")),
        },
        D::Numeric(info) | D::Decimal(info) | D::Dec(info) => numeric(info)?,
        D::Text => SqlType::TEXT,
        D::CharacterVarying(length) | D::CharVarying(length) | D::Varchar(length) | D::Nvarchar(length) => {
            match self::length(length, "varchar")? {
                Some(length) => SqlType::VARCHAR.with_modifier(length + 4),
                None => SqlType::VARCHAR,
            }
        }
        D::Character(length) | D::Char(length) => {
            SqlType::CHAR.with_modifier(self::length(length, "char")?.unwrap_or(1) + 4)
        }
        D::Bytea => SqlType::BYTEA,
        D::Date => SqlType::DATE,
        D::Timestamp(precision, zone) | D::Time(precision, zone) => {
            let zoned = matches!(zone, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz);
            let ty = match (matches!(name, D::Time(..)), zoned) {
                (false, false) => SqlType::TIMESTAMP,
                (false, true) => SqlType::TIMESTAMPTZ,
                (true, false) => SqlType::TIME,
                (true, true) => SqlType::TIMETZ,
            };
            with_precision(ty, *precision)
        }
        D::Interval { fields, precision } => {
            let words = fields.as_ref().map(|fields| fields.to_string().to_lowercase());
            let (first, last) = match words.as_deref().map(|words| words.split_once(" to ").ok_or(words)) {
                None => (None, None),
                Some(Ok((first, last))) => (Some(first), Some(last)),
                Some(Err(first)) => (Some(first), None),
            };
            interval(first, last, *precision)?
        }
        D::Uuid => SqlType::UUID,
        D::JSON => SqlType::JSON,
        D::JSONB => SqlType::JSONB,
        D::Regclass => SqlType::REGCLASS,
        D::Array(ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::Qualified(element, _)) => {
            let element = sql_type(element)?;
            // A type does not contain its number of dimensions: int[][] is int[].
            if element.array { element } else { element.array_of() }
        }
        D::Custom(name, modifiers) => {
            let folded = fold_name(name)?;
            let quoted = |part: &ObjectNamePart| part.as_ident().is_some_and(|ident| ident.quote_style.is_some());
            if GRAMMAR_NAMES.contains(&folded.1.as_str()) && (folded.0.is_some() || name.0.iter().any(quoted)) {
                return Err(unknown(folded.0.as_deref(), &folded.1));
            }
            named(&folded, modifiers)?
        }
        D::SmallInt(Some(_))
        | D::Int2(Some(_))
        | D::Int(Some(_))
        | D::Integer(Some(_))
        | D::Int4(Some(_))
        | D::BigInt(Some(_))
        | D::Int8(Some(_)) => return Err(SqlError::syntax("syntax error at or near \"(\"")),
        other => return Err(SqlError::unsupported(format!("the type {}", other.to_string().to_lowercase()))),
    };
    Ok(ty)
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
    let Some(precision) = i32::try_from(precision).ok().filter(|precision| (1..=1000).contains(precision)) else {
        return Err(invalid(format!("NUMERIC precision {precision} must be between 1 and 1000")));
    };
    let Some(scale) = i32::try_from(scale).ok().filter(|scale| (-1000..=1000).contains(scale)) else {
        return Err(invalid(format!("NUMERIC scale {scale} must be between -1000 and 1000")));
    };
    Ok(SqlType::NUMERIC.with_modifier(make_numeric_modifier(precision, scale)))
}

fn length(length: &Option<CharacterLength>, name: &str) -> Result<Option<i32>> {
    match length {
        None => Ok(None),
        Some(CharacterLength::IntegerLength { length, .. }) => match i32::try_from(*length) {
            Ok(0) => Err(invalid(format!("length for type {name} must be at least 1"))),
            Ok(length) if length <= 10_485_760 => Ok(Some(length)),
            _ => Err(invalid(format!("length for type {name} cannot exceed 10485760"))),
        },
        Some(CharacterLength::Max) => Err(SqlError::syntax("syntax error at or near \"max\"")),
    }
}

/// A time type with a precision; more than six digits count as six.
fn with_precision(ty: SqlType, precision: Option<u64>) -> SqlType {
    match precision {
        None => ty,
        Some(digits) => ty.with_modifier(seconds_digits(digits)),
    }
}

fn seconds_digits(digits: u64) -> i32 {
    i32::try_from(digits).unwrap_or(i32::MAX).min(6)
}

/// An interval type with its first and last field (`day`, `second`) and precision. Errors: 42601 for fields that do not
/// form a range.
pub fn interval(first: Option<&str>, last: Option<&str>, precision: Option<u64>) -> Result<SqlType> {
    let digits = precision.map(seconds_digits);
    let restriction = match (first, digits) {
        (None, None) => return Ok(SqlType::INTERVAL),
        (None, Some(digits)) => Restriction::of_precision(digits),
        (Some(first), digits) => Restriction::of_fields(first, last, digits)
            .ok_or_else(|| SqlError::syntax(format!("syntax error at or near \"{}\"", last.map_or(first, |_| "to"))))?,
    };
    Ok(SqlType::INTERVAL.with_modifier(restriction.modifier()))
}

/// Like [`sql_type`], with the enums of a catalog: along a search path, or with `anywhere` (for stored types) in any
/// schema.
pub fn catalog_type(name: &DataType, catalog: &Catalog, search_path: &[String], anywhere: bool) -> Result<SqlType> {
    let error = match sql_type(name) {
        Err(error) if error.state() == state::UNDEFINED_OBJECT => error,
        other => return other,
    };
    match name {
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::Qualified(element, _)) => {
            let element = catalog_type(element, catalog, search_path, anywhere)?;
            Ok(if element.array { element } else { element.array_of() })
        }
        DataType::Custom(name, modifiers) if modifiers.is_empty() => {
            let (schema, name) = fold_name(name)?;
            let along = catalog.enum_named(schema.as_deref(), &name, search_path);
            let found = along.or_else(|| {
                let stored = catalog.enums().find(|ty| ty.name == name).filter(|_| anywhere && schema.is_none());
                stored.map(EnumType::new)
            });
            // A table's name is also its row type's name.
            let table = || {
                let table = catalog.relation(schema.as_deref(), &name, search_path)?;
                (table.kind != RelationKind::Sequence).then(|| table.row_type())
            };
            found.map(|ty| SqlType::of(BaseType::Enum(ty))).or_else(table).ok_or(error)
        }
        _ => Err(error),
    }
}

/// Catalog names of types that have array types.
const CATALOG_NAMES: &str = "bool int2 int4 int8 float4 float8 numeric text varchar bpchar name char bytea date timestamp timestamptz \
                             time timetz interval uuid json jsonb jsonpath oid regclass regtype regproc xid tid";

/// Type names that only the grammar knows. They do not exist in quotes or with a schema.
const GRAMMAR_NAMES: [&str; 8] = ["boolean", "smallint", "integer", "int", "bigint", "real", "decimal", "nchar"];

/// Looks up types that sqlparser does not know.
fn named((schema, name): &(Option<String>, String), modifiers: &[String]) -> Result<SqlType> {
    if schema.as_deref().is_some_and(|schema| schema != "pg_catalog") {
        return Err(unknown(schema.as_deref(), name));
    }
    let modifier = |at: usize| modifiers.get(at).and_then(|text| text.trim().parse::<u64>().ok());
    let system = system_type(name).is_some();
    let lengthy = || modifier(0).map(|length| CharacterLength::IntegerLength { length, unit: None });
    let ty = match name.as_str() {
        name if system => system_type(name).unwrap_or(SqlType::OID),
        "bool" | "boolean" => SqlType::BOOL,
        "int2" | "smallint" => SqlType::INT2,
        "int4" | "integer" | "int" => SqlType::INT4,
        "int8" | "bigint" => SqlType::INT8,
        "float4" | "real" => SqlType::FLOAT4,
        "float8" => SqlType::FLOAT8,
        "numeric" | "decimal" => {
            let scale = modifiers.get(1).and_then(|text| text.trim().parse::<i64>().ok());
            return numeric(&match (modifier(0), scale) {
                (None, _) => ExactNumberInfo::None,
                (Some(precision), None) => ExactNumberInfo::Precision(precision),
                (Some(precision), Some(scale)) => ExactNumberInfo::PrecisionAndScale(precision, scale),
            });
        }
        "text" => SqlType::TEXT,
        "varchar" => {
            return Ok(match length(&lengthy(), "varchar")? {
                Some(length) => SqlType::VARCHAR.with_modifier(length + 4),
                None => SqlType::VARCHAR,
            });
        }
        "nchar" => return Ok(SqlType::CHAR.with_modifier(length(&lengthy(), "char")?.unwrap_or(1) + 4)),
        "bpchar" => {
            return Ok(match length(&lengthy(), "char")? {
                Some(length) => SqlType::CHAR.with_modifier(length + 4),
                None => SqlType::CHAR,
            });
        }
        "name" => SqlType::NAME,
        "char" => SqlType::SINGLE_CHAR,
        "bytea" => SqlType::BYTEA,
        "date" => SqlType::DATE,
        "timestamp" => return Ok(with_precision(SqlType::TIMESTAMP, modifier(0))),
        "timestamptz" => return Ok(with_precision(SqlType::TIMESTAMPTZ, modifier(0))),
        "time" => return Ok(with_precision(SqlType::TIME, modifier(0))),
        "timetz" => return Ok(with_precision(SqlType::TIMETZ, modifier(0))),
        "interval" => return interval(None, None, modifier(0)),
        "uuid" => SqlType::UUID,
        "oid" => SqlType::OID,
        "int2vector" => SqlType::INT2VECTOR,
        "oidvector" => SqlType::OIDVECTOR,
        "record" => SqlType::of(BaseType::Record(types::record::RecordType::any())),
        "unknown" => SqlType::UNKNOWN,
        "void" => SqlType::VOID,
        "json" => SqlType::JSON,
        "jsonb" => SqlType::JSONB,
        "jsonpath" => SqlType::JSONPATH,
        "xml" | "inet" | "cidr" | "macaddr" | "money" | "bit" | "varbit" | "point" | "line" | "lseg" | "box"
        | "path" | "polygon" | "circle" | "tsvector" | "tsquery" | "pg_lsn" | "pg_snapshot" | "int4range"
        | "int8range" | "numrange" | "tsrange" | "tstzrange" | "daterange" | "pg_node_tree" | "anyarray"
        | "anyelement" | "cstring" => {
            return Err(SqlError::unsupported(format!("the type {name}")));
        }
        // The catalog name of an array type.
        name if name.strip_prefix('_').is_some_and(|base| CATALOG_NAMES.split(' ').any(|known| known == base)) => {
            let element = name.get(1..).unwrap_or_default().to_string();
            let element = named(&(schema.clone(), element), &[]).map_err(|_| unknown(schema.as_deref(), name))?;
            element.array_of()
        }
        _ => return Err(unknown(schema.as_deref(), name)),
    };
    if !modifiers.is_empty() {
        return Err(SqlError::syntax(format!("type modifier is not allowed for type \"{name}\"")));
    }
    Ok(ty)
}

/// Whether calling a type's name is a cast of a value of another type. `error` is the failure of the call as a
/// function.
pub fn casts(from: SqlType, error: &SqlError) -> bool {
    match error.state() {
        state::UNDEFINED_FUNCTION => from.as_record().is_none(),
        // No function takes an unconverted text; `text(text)` returns the text.
        state::AMBIGUOUS_FUNCTION => from.is_string() && from != SqlType::UNKNOWN,
        _ => false,
    }
}

fn unknown(schema: Option<&str>, name: &str) -> SqlError {
    let shown = schema.map_or(name.to_string(), |schema| format!("{schema}.{name}"));
    let missing = Missing::Type(schema.map(str::to_string), name.to_string());
    SqlError::new(state::UNDEFINED_OBJECT, format!("type \"{shown}\" does not exist")).about(name).missing(missing)
}
