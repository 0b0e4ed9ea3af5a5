//! Catalog functions without arguments that return the rows of a view, such as `FROM pg_timezone_names()`.

use catalog::PG_CATALOG;
use sqlparser::ast::{Ident, ObjectName, TableAlias, TableFactor};
use syntax::fold_name;

/// The functions and their views.
const VIEWS: [(&str, &str); 6] = [
    ("pg_timezone_names", "pg_timezone_names"),
    ("pg_timezone_abbrevs", "pg_timezone_abbrevs"),
    ("pg_show_all_settings", "pg_settings"),
    ("pg_lock_status", "pg_locks"),
    ("pg_cursor", "pg_cursors"),
    ("pg_prepared_statement", "pg_prepared_statements"),
];

/// Replaces a call of such a function in FROM by its view. `None` for other items.
pub fn as_view(factor: &TableFactor) -> Option<TableFactor> {
    let TableFactor::Table { name, args: Some(arguments), with_ordinality: false, .. } = factor else { return None };
    let (schema, called) = fold_name(name).ok()?;
    let (function, view) = VIEWS.iter().find(|(function, _)| *function == called)?;
    if !arguments.args.is_empty() || schema.is_some_and(|schema| schema != PG_CATALOG) {
        return None;
    }
    let mut read = factor.clone();
    if let TableFactor::Table { name, args, alias, .. } = &mut read {
        *args = None;
        *name = ObjectName::from(vec![Ident::new(PG_CATALOG), Ident::new(*view)]);
        // Without an alias, it has the function's name.
        let named = || TableAlias { explicit: true, name: Ident::new(*function), columns: Vec::new(), at: None };
        alias.get_or_insert_with(named);
    }
    Some(read)
}
