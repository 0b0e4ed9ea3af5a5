//! `information_schema.check_constraints`.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::deparse::Context;
use super::describe;
use super::visible::Visible;
use catalog::{RelationKind, TableDescriptor};
use executor::StatementContext;
use sql_error::Result;
use std::sync::Arc;

pub(super) const VIEW: Definition = Definition {
    oid: 13260,
    name: "information_schema.check_constraints",
    columns: "constraint_catalog name, constraint_schema name, constraint_name name, check_clause varchar",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 1] = [RelationKey::SchemaName("constraint_schema")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let database = value::text(&context.catalog.database().name);
    let reader = Context::of_statement(context);
    let visible = Visible::new(context);
    let owned = |table: &&Arc<TableDescriptor>| table.kind == RelationKind::Table && visible.owns(table.owner);
    for table in rows.user_relations(context, &KEYS).iter().filter(owned) {
        let checks = table.checks.iter().map(|check| {
            let shown = describe::check_definition(&reader, table, check, false);
            let clause = shown.strip_prefix("CHECK ").unwrap_or_default();
            (check.name.clone(), clause.to_string())
        });
        let nulls = table.live_columns().filter(|column| column.not_null);
        let nulls =
            nulls.map(|column| (describe::not_null_name(table, column.id), format!("{} IS NOT NULL", column.name)));
        for (name, clause) in checks.chain(nulls) {
            rows.add([
                ("constraint_catalog", database.clone()),
                ("constraint_schema", value::text(&table.schema)),
                ("constraint_name", value::text(name)),
                ("check_clause", value::text(clause)),
            ])?;
        }
    }
    Ok(())
}
