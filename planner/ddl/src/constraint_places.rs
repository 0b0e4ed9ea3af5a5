//! Errors about columns and constraints of CREATE TABLE, with their places. Knows no catalog.

use super::canonical;
use sql_error::{About, Result, SqlError, state};
use syntax::Span;
use syntax::ast::{Column, ColumnConstraintKind as Kind, Name, TypeName};

/// Points an error about the type of a new column at the type.
pub(super) fn at_type(error: SqlError, data_type: &TypeName) -> SqlError {
    if matches!(error.fields().about, Some(About::Part(_))) { error } else { error.about_part(data_type.span) }
}

/// Points an error at the name of a new table, if its schema is missing or refuses the table.
pub(super) fn at_new_name(error: SqlError, name: &Name) -> SqlError {
    match error.state() {
        state::INVALID_SCHEMA_NAME | state::INVALID_TABLE_DEFINITION | state::INSUFFICIENT_PRIVILEGE
            if error.fields().about.is_none() =>
        {
            error.about_part(name.span)
        }
        _ => error,
    }
}

/// A property of a column that excludes others.
#[derive(Clone, Copy)]
enum Property {
    /// NOT NULL (true) or NULL (false).
    NotNull(bool),
    Default,
    Identity,
    Generated,
}

/// The properties of a column that were read so far.
#[derive(Default)]
struct Properties {
    not_null: Option<bool>,
    default: bool,
    identity: bool,
    generated: bool,
}

impl Properties {
    /// Adds a property. Answers what is wrong with it, if anything.
    fn add(&mut self, property: Property) -> Option<&'static str> {
        let not_null = match property {
            Property::NotNull(not_null) => Some(not_null),
            Property::Default => {
                if std::mem::replace(&mut self.default, true) {
                    return Some("multiple default values specified");
                }
                None
            }
            Property::Identity => {
                if std::mem::replace(&mut self.identity, true) {
                    return Some("multiple identity specifications");
                }
                Some(true)
            }
            Property::Generated => {
                if std::mem::replace(&mut self.generated, true) {
                    return Some("multiple generation clauses specified");
                }
                None
            }
        };
        if let Some(not_null) = not_null
            && self.not_null.replace(not_null).is_some_and(|before| before != not_null)
        {
            return Some("conflicting NULL/NOT NULL declarations");
        }
        match (self.default, self.identity, self.generated) {
            (true, true, _) => Some("both default and identity specified"),
            (true, _, true) => Some("both default and generation expression specified"),
            (_, true, true) => Some("both identity and generation expression specified"),
            _ => None,
        }
    }
}

/// Checks that the properties of a new column fit together. A serial column has a default and NOT NULL behind all
/// others, and no text says them. Errors: 42601 at the later of two properties.
pub(super) fn properties_agree(column: &Column, serial: bool, table: &str) -> Result<()> {
    let written = column.constraints.iter().filter_map(|constraint| {
        let property = match constraint.kind {
            Kind::NotNull => Property::NotNull(true),
            Kind::Null => Property::NotNull(false),
            Kind::Default(_) => Property::Default,
            Kind::Identity { .. } => Property::Identity,
            Kind::Generated { .. } => Property::Generated,
            Kind::Check { .. } | Kind::Unique(_) | Kind::PrimaryKey(_) | Kind::References(_) => return None,
        };
        Some((property, constraint.span))
    });
    let of_serial = [Property::Default, Property::NotNull(true)].into_iter().filter(|_| serial);
    let mut properties = Properties::default();
    for (property, place) in written.chain(of_serial.map(|property| (property, Span::NONE))) {
        if let Some(wrong) = properties.add(property) {
            let message = format!("{wrong} for column \"{}\" of table \"{table}\"", column.name.value);
            return Err(SqlError::syntax(message).about_part(place));
        }
    }
    Ok(())
}

/// Points an error at the column that a generated column's expression names.
pub(super) fn in_generated<'c>(error: SqlError, columns: impl Iterator<Item = &'c Column>) -> SqlError {
    let named = error.fields().message.strip_prefix("cannot use generated column \"");
    let Some(named) = named.and_then(|rest| rest.split('"').next()).map(str::to_string) else { return error };
    let mut constraints = columns.flat_map(|column| &column.constraints);
    let place = constraints.find_map(|constraint| match &constraint.kind {
        Kind::Generated { value, .. } => canonical::place_of_column(value, &named),
        _ => None,
    });
    match place {
        Some(place) => error.about_part(place),
        None => error,
    }
}
