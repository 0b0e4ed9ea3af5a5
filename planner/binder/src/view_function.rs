//! Catalog functions without arguments that return the rows of a view, such as `FROM pg_timezone_names()`.

use catalog::PG_CATALOG;
use syntax::ast::{Alias, ExprKind, FromItem, Ident, Name, RelationName};
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
pub fn as_view(item: &FromItem) -> Option<FromItem> {
    let FromItem::Function { functions, ordinality: false, alias, span, .. } = item else { return None };
    let [function] = functions.as_slice() else { return None };
    let ExprKind::Call(call) = &function.call.kind else { return None };
    let (schema, called) = fold_name(&call.name).ok()?;
    let (function, view) = VIEWS.iter().find(|(function, _)| *function == called)?;
    if !call.arguments.is_empty() || call.star || schema.is_some_and(|schema| schema != PG_CATALOG) {
        return None;
    }
    let parts = vec![Ident::new(PG_CATALOG), Ident::new(*view)];
    // Without an alias, it has the function's name.
    let mut alias = alias.clone().unwrap_or_else(|| Alias {
        name: None,
        columns: Vec::new(),
        definitions: Vec::new(),
        span: *span,
    });
    alias.name.get_or_insert_with(|| Ident::new(*function));
    Some(FromItem::Table {
        relation: RelationName { name: Name { parts, span: call.name.span }, only: false },
        alias: Some(alias),
        sample: None,
        span: *span,
    })
}
