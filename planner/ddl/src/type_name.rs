//! Type names that only CREATE TABLE accepts, beside those of [`bind::sql_type`](binder::sql_type).

use super::DdlContext;
use binder::catalog_type;
use sql_error::{Result, SqlError, state};
use syntax::ast::{Name, TypeBase, TypeName};
use syntax::fold_name;
use types::SqlType;

/// The integer type behind `smallserial`, `serial`, `bigserial` and their synonyms. Errors: 0A000 for arrays of them.
pub fn serial_type(ty: &TypeName) -> Result<Option<SqlType>> {
    let found = serial(ty);
    if found.is_some() && !ty.array_bounds.is_empty() {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "array of serial is not implemented"));
    }
    Ok(found)
}

fn serial(ty: &TypeName) -> Option<SqlType> {
    let TypeBase::Named(name) = &ty.base else { return None };
    if !ty.modifiers.is_empty() {
        return None;
    }
    match fold_name(name).ok()?.1.as_str() {
        "smallserial" | "serial2" => Some(SqlType::INT2),
        "serial" | "serial4" => Some(SqlType::INT4),
        "bigserial" | "serial8" => Some(SqlType::INT8),
        _ => None,
    }
}

/// The error for a bad type of a new column: 42P16 for a pseudo-type, some of which are unknown elsewhere.
pub fn of_pseudo_type(error: SqlError, column: &str, ty: &TypeName) -> SqlError {
    let name = ty.to_string().to_lowercase();
    let unknown = matches!(error.state(), state::FEATURE_NOT_SUPPORTED | state::UNDEFINED_OBJECT);
    if !unknown || !pg_catalog::present::is_pseudo_type(&name) {
        return error;
    }
    let message = format!("column \"{column}\" has pseudo-type {name}");
    SqlError::new(state::INVALID_TABLE_DEFINITION, message)
}

/// A type's name as PostgreSQL's parser sees it, for notices of DROP … IF EXISTS. Standard names become
/// names of its catalog.
pub fn as_read(ty: &TypeName) -> String {
    match &ty.base {
        TypeBase::Named(name) => in_parts(name, ty),
        TypeBase::OfColumn(name) => format!("{}%TYPE", in_parts(name, ty)),
        base => format!("pg_catalog.{}{}", base.catalog_name().unwrap_or_default(), brackets(ty)),
    }
}

fn in_parts(name: &Name, ty: &TypeName) -> String {
    let parts: Vec<&str> = name.parts.iter().map(|part| part.value.as_str()).collect();
    format!("{}{}", parts.join("."), brackets(ty))
}

/// PostgreSQL shows no number of dimensions.
fn brackets(ty: &TypeName) -> &'static str {
    if ty.array_bounds.is_empty() { "" } else { "[]" }
}

/// Checks that the types in a DROP and their schemas exist. Errors: 42704, 3F000.
pub fn known(context: &DdlContext, types: &[TypeName]) -> Result<()> {
    let path = context.settings.search_path();
    for ty in types {
        if let TypeBase::Named(name) = &ty.base
            && let Some(schema) = fold_name(name)?.0
        {
            context.schema(&schema)?;
        }
        catalog_type(ty, &context.catalog, path, false).map_err(SqlError::without_position)?;
    }
    Ok(())
}

/// The collation of a column. `None` for the type's default. Errors: 42704, 42804.
pub fn collation(name: &Name, ty: SqlType) -> Result<Option<String>> {
    let found = binder::collation_named(name)?;
    binder::check_collatable(ty)?;
    Ok(Some(found).filter(|found| *found != "default").map(str::to_string))
}

/// The number of array dimensions in a type name.
pub fn dimensions(ty: &TypeName) -> i16 {
    i16::try_from(ty.array_bounds.len()).unwrap_or(i16::MAX)
}

pub use binder::sql_type;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sql_error::state;
    use syntax::parse_type;

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
            ("xml", state::FEATURE_NOT_SUPPORTED),
            ("wombat", state::UNDEFINED_OBJECT),
            ("other.int4", state::UNDEFINED_OBJECT),
        ] {
            assert_eq!(named(sql).unwrap_err().state(), state, "{sql}");
        }
    }
}
