//! Positions of errors about columns and constraints of CREATE TABLE. The syntax tree does not keep the position of a
//! constraint, so its words are searched after the column's name. Knows no catalog.

use super::canonical;
use catalog::{ColumnDescriptor, Identity};
use sql_error::{SqlError, state};
use sqlparser::ast::{ColumnDef, ColumnOption, CreateTable, Ident, ObjectName};
use sqlparser::tokenizer::Span;

/// Positions an error about the type of a new column by the column's name. It points at the type, at a bad precision of
/// float, or at a parenthesis that the type does not permit.
pub(super) fn at_type(error: SqlError, name: Span) -> SqlError {
    let fields = error.fields();
    if fields.position.is_some() || fields.about.is_some() {
        return error;
    }
    let count = match fields.message.as_str() {
        message if message.starts_with("precision for type float") => 2,
        "syntax error at or near \"(\"" => 1,
        _ => 0,
    };
    error.about_behind(name, count)
}

/// Points an error at the name of a new table, if its schema is missing or refuses the table.
pub(super) fn at_new_name(error: SqlError, name: &ObjectName) -> SqlError {
    match error.state() {
        state::INVALID_SCHEMA_NAME | state::INVALID_TABLE_DEFINITION | state::INSUFFICIENT_PRIVILEGE
            if error.fields().about.is_none() =>
        {
            error.about_part(binder::span_of(name))
        }
        _ => error,
    }
}

/// 42601 for NULL and NOT NULL together, at the later one.
pub(super) fn conflicting_nulls(definition: &ColumnDef, column: &str, table: &str) -> SqlError {
    let error = SqlError::syntax(format!(
        "conflicting NULL/NOT NULL declarations for column \"{column}\" of table \"{table}\""
    ));
    let is_null =
        |option: &&sqlparser::ast::ColumnOptionDef| matches!(option.option, ColumnOption::Null | ColumnOption::NotNull);
    let nulls: Vec<_> = definition.options.iter().filter(is_null).collect();
    match nulls.last().map(|last| &last.option) {
        Some(ColumnOption::NotNull) => error.about_words(&["not", "null"], definition.name.span, 0),
        _ => error.about_words(&["null"], definition.name.span, nulls.len().saturating_sub(1)),
    }
}

/// 42601 for a generated column with a default or identity, at the later one.
pub(super) fn also_generated(definition: &ColumnDef, column: &ColumnDescriptor, table: &str) -> SqlError {
    let what = if column.identity.is_some() { "identity" } else { "default" };
    let error = SqlError::syntax(format!(
        "both {what} and generation expression specified for column \"{}\" of table \"{table}\"",
        column.name
    ));
    let value = |option: &&sqlparser::ast::ColumnOptionDef| {
        matches!(option.option, ColumnOption::Default(_) | ColumnOption::Generated { .. })
    };
    let words: &[&str] = match definition.options.iter().rfind(value).map(|last| &last.option) {
        Some(ColumnOption::Default(_)) => &["default"],
        _ => &["generated"],
    };
    error.about_words(words, definition.name.span, usize::from(column.identity.is_some()))
}

/// Positions an error about a second DEFAULT. For a serial column it has none.
pub(super) fn second_default(
    error: SqlError,
    definition: &ColumnDef,
    column: &ColumnDescriptor,
    serial: bool,
) -> SqlError {
    // BY DEFAULT of an identity contains an earlier DEFAULT.
    let nth = usize::from(column.identity != Some(Identity::Always));
    if serial { error } else { error.about_words(&["default"], definition.name.span, nth) }
}

/// Positions an error about an identity beside another or a default. For a serial column it has none.
pub(super) fn second_identity(
    error: SqlError,
    definition: &ColumnDef,
    column: &ColumnDescriptor,
    serial: bool,
) -> SqlError {
    let nth = usize::from(column.identity.is_some());
    if serial { error } else { error.about_words(&["generated"], definition.name.span, nth) }
}

/// Points an error about a key's columns at its CONSTRAINT, or at its first word.
pub(super) fn at_key(error: SqlError, name: Option<&Ident>, primary: bool) -> SqlError {
    match name {
        Some(name) => error.about_before(name.span, 1),
        None if primary => error.about_words(&["primary", "key"], Span::empty(), 0),
        None => error.about_words(&["unique"], Span::empty(), 0),
    }
}

/// Positions an error about a second primary key.
pub(super) fn second_key(error: SqlError, name: Option<&Ident>) -> SqlError {
    match name {
        Some(name) => error.about_before(name.span, 1),
        None => error.about_words(&["primary", "key"], Span::empty(), 1),
    }
}

/// Points an error at the column that a generated column's expression names.
pub(super) fn in_generated(error: SqlError, create: &CreateTable) -> SqlError {
    let named = error.fields().message.strip_prefix("cannot use generated column \"");
    let Some(named) = named.and_then(|rest| rest.split('"').next()).map(str::to_string) else { return error };
    let generated = create.columns.iter().flat_map(|column| &column.options).find_map(|option| match &option.option {
        ColumnOption::Generated { generation_expr: Some(expr), .. } => canonical::place_of_column(expr, &named),
        _ => None,
    });
    match generated {
        Some(place) => error.about_part(place),
        None => error,
    }
}
