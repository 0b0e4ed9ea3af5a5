//! Converts type names of the syntax tree to [`SqlType`]s.

use catalog::{Catalog, RelationKind};
use sql_error::{Missing, Result, SqlError, state};
use std::num::IntErrorKind;
use syntax::ast::{Expr, ExprKind, IntervalFields, Literal, TypeBase, TypeName};
use syntax::fold_name;
use types::enumeration::EnumType;
use types::interval::Restriction;
use types::{BaseType, SqlType, make_numeric_modifier, system_type};

/// The type that a name of the syntax tree refers to. Errors: 42704 for an unknown type, 0A000 for an unsupported one,
/// 22023 for a modifier out of range, 42601 for a modifier that the type does not have.
pub fn sql_type(name: &TypeName) -> Result<SqlType> {
    let modifiers = name.modifiers.as_slice();
    let ty = match &name.base {
        TypeBase::Boolean => SqlType::BOOL,
        TypeBase::SmallInt => SqlType::INT2,
        TypeBase::Integer => SqlType::INT4,
        TypeBase::BigInt => SqlType::INT8,
        TypeBase::Real => SqlType::FLOAT4,
        TypeBase::DoublePrecision => SqlType::FLOAT8,
        TypeBase::Numeric => numeric(modifiers)?,
        TypeBase::Char => SqlType::CHAR.with_modifier(length(modifiers, "char")?.unwrap_or(1) + 4),
        TypeBase::VarChar => of_length(SqlType::VARCHAR, modifiers, "varchar")?,
        TypeBase::Time(false) => of_precision(SqlType::TIME, modifiers, "TIME", "")?,
        TypeBase::Time(true) => of_precision(SqlType::TIMETZ, modifiers, "TIME", ZONED)?,
        TypeBase::Timestamp(false) => of_precision(SqlType::TIMESTAMP, modifiers, "TIMESTAMP", "")?,
        TypeBase::Timestamp(true) => of_precision(SqlType::TIMESTAMPTZ, modifiers, "TIMESTAMP", ZONED)?,
        TypeBase::Interval(fields) => interval(*fields, modifiers)?,
        TypeBase::Bit => return Err(SqlError::unsupported("the type bit")),
        TypeBase::BitVarying => return Err(SqlError::unsupported("the type bit varying")),
        TypeBase::OfColumn(_) => return Err(SqlError::unsupported("%TYPE")),
        TypeBase::Named(name) => named(&fold_name(name)?, modifiers)?,
    };
    // A type does not contain its number of dimensions: int[][] is int[].
    Ok(if name.array_bounds.is_empty() || ty.array { ty } else { ty.array_of() })
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// The modifiers as whole numbers. Errors: 42601 for expressions, 22P02 and 22003 for other texts.
fn numbers(modifiers: &[Expr]) -> Result<Vec<i32>> {
    let number = |modifier: &Expr| {
        let text = match &modifier.kind {
            ExprKind::Literal(Literal::Integer(text) | Literal::Decimal(text) | Literal::String(text)) => text,
            ExprKind::Column(names) => match names.as_slice() {
                [only] => &only.value,
                _ => return Err(no_constant()),
            },
            _ => return Err(no_constant()),
        };
        text.trim().parse::<i32>().map_err(|error| match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => SqlError::new(
                state::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("value \"{text}\" is out of range for type integer"),
            ),
            _ => SqlError::new(
                state::INVALID_TEXT_REPRESENTATION,
                format!("invalid input syntax for type integer: \"{text}\""),
            ),
        })
    };
    modifiers.iter().map(number).collect()
}

fn no_constant() -> SqlError {
    SqlError::syntax("type modifiers must be simple constants or identifiers")
}

/// The only modifier of a type. Errors: 22023 for several.
fn only_number(modifiers: &[Expr], message: &str) -> Result<Option<i32>> {
    match numbers(modifiers)?.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        _ => Err(invalid(message)),
    }
}

fn numeric(modifiers: &[Expr]) -> Result<SqlType> {
    let (precision, scale) = match numbers(modifiers)?.as_slice() {
        [] => return Ok(SqlType::NUMERIC),
        [precision] => (*precision, 0),
        [precision, scale] => (*precision, *scale),
        _ => return Err(invalid("invalid NUMERIC type modifier")),
    };
    if !(1..=1000).contains(&precision) {
        return Err(invalid(format!("NUMERIC precision {precision} must be between 1 and 1000")));
    }
    if !(-1000..=1000).contains(&scale) {
        return Err(invalid(format!("NUMERIC scale {scale} must be between -1000 and 1000")));
    }
    Ok(SqlType::NUMERIC.with_modifier(make_numeric_modifier(precision, scale)))
}

fn length(modifiers: &[Expr], name: &str) -> Result<Option<i32>> {
    match only_number(modifiers, "invalid type modifier")? {
        Some(..1) => Err(invalid(format!("length for type {name} must be at least 1"))),
        Some(10_485_761..) => Err(invalid(format!("length for type {name} cannot exceed 10485760"))),
        length => Ok(length),
    }
}

/// A type of texts with its length, if there is one.
fn of_length(ty: SqlType, modifiers: &[Expr], name: &str) -> Result<SqlType> {
    Ok(length(modifiers, name)?.map_or(ty, |length| ty.with_modifier(length + 4)))
}

/// What errors show behind the name of a type with a time zone.
const ZONED: &str = " WITH TIME ZONE";

/// A time type with a precision; more than six digits count as six. Errors show `word` and `zone`.
fn of_precision(ty: SqlType, modifiers: &[Expr], word: &str, zone: &str) -> Result<SqlType> {
    match only_number(modifiers, "invalid type modifier")? {
        None => Ok(ty),
        Some(digits @ ..0) => Err(invalid(format!("{word}({digits}){zone} precision must not be negative"))),
        Some(digits) => Ok(ty.with_modifier(digits.min(6))),
    }
}

/// An interval type with its fields and precision.
fn interval(fields: Option<IntervalFields>, modifiers: &[Expr]) -> Result<SqlType> {
    let digits = match only_number(modifiers, "invalid INTERVAL type modifier")? {
        Some(digits @ ..0) => return Err(invalid(format!("INTERVAL({digits}) precision must not be negative"))),
        digits => digits.map(|digits| digits.min(6)),
    };
    let restriction = match (fields.map(first_and_last), digits) {
        (None, None) => return Ok(SqlType::INTERVAL),
        (None, Some(digits)) => Restriction::of_precision(digits),
        (Some((first, last)), digits) => Restriction::of_fields(first, last, digits)
            .ok_or_else(|| SqlError::internal("fields of an interval that are no range"))?,
    };
    Ok(SqlType::INTERVAL.with_modifier(restriction.modifier()))
}

/// The first and the last of an interval's fields.
fn first_and_last(fields: IntervalFields) -> (&'static str, Option<&'static str>) {
    match fields {
        IntervalFields::Year => ("year", None),
        IntervalFields::Month => ("month", None),
        IntervalFields::Day => ("day", None),
        IntervalFields::Hour => ("hour", None),
        IntervalFields::Minute => ("minute", None),
        IntervalFields::Second => ("second", None),
        IntervalFields::YearToMonth => ("year", Some("month")),
        IntervalFields::DayToHour => ("day", Some("hour")),
        IntervalFields::DayToMinute => ("day", Some("minute")),
        IntervalFields::DayToSecond => ("day", Some("second")),
        IntervalFields::HourToMinute => ("hour", Some("minute")),
        IntervalFields::HourToSecond => ("hour", Some("second")),
        IntervalFields::MinuteToSecond => ("minute", Some("second")),
    }
}

/// Like [`sql_type`], with the enums of a catalog: along a search path, or with `anywhere` (for stored types) in any
/// schema.
pub fn catalog_type(name: &TypeName, catalog: &Catalog, search_path: &[String], anywhere: bool) -> Result<SqlType> {
    let error = match sql_type(name) {
        Err(error) if error.state() == state::UNDEFINED_OBJECT => error,
        other => return other,
    };
    let TypeName { base: TypeBase::Named(written), modifiers, array_bounds, .. } = name else { return Err(error) };
    if !modifiers.is_empty() {
        return Err(error);
    }
    let (schema, name) = fold_name(written)?;
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
    let ty = found.map(|ty| SqlType::of(BaseType::Enum(ty))).or_else(table).ok_or(error)?;
    Ok(if array_bounds.is_empty() || ty.array { ty } else { ty.array_of() })
}

/// Catalog names of types that have array types.
const CATALOG_NAMES: &str = "bool int2 int4 int8 float4 float8 numeric text varchar bpchar name char bytea date timestamp \
                             timestamptz time timetz interval uuid json jsonb jsonpath oid regclass regtype regproc xid tid";

/// Looks up types that have no grammar of their own.
fn named((schema, name): &(Option<String>, String), modifiers: &[Expr]) -> Result<SqlType> {
    if schema.as_deref().is_some_and(|schema| schema != "pg_catalog") {
        return Err(unknown(schema.as_deref(), name));
    }
    let system = system_type(name).is_some();
    let ty = match name.as_str() {
        name if system => system_type(name).unwrap_or(SqlType::OID),
        "bool" => SqlType::BOOL,
        "int2" => SqlType::INT2,
        "int4" => SqlType::INT4,
        "int8" => SqlType::INT8,
        "float4" => SqlType::FLOAT4,
        "float8" => SqlType::FLOAT8,
        "numeric" => return numeric(modifiers),
        "text" => SqlType::TEXT,
        "varchar" => return of_length(SqlType::VARCHAR, modifiers, "varchar"),
        "bpchar" => return of_length(SqlType::CHAR, modifiers, "char"),
        "name" => SqlType::NAME,
        "char" => SqlType::SINGLE_CHAR,
        "bytea" => SqlType::BYTEA,
        "date" => SqlType::DATE,
        "timestamp" => return of_precision(SqlType::TIMESTAMP, modifiers, "TIMESTAMP", ""),
        "timestamptz" => return of_precision(SqlType::TIMESTAMPTZ, modifiers, "TIMESTAMP", ZONED),
        "time" => return of_precision(SqlType::TIME, modifiers, "TIME", ""),
        "timetz" => return of_precision(SqlType::TIMETZ, modifiers, "TIME", ZONED),
        "interval" => return interval(None, modifiers),
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
