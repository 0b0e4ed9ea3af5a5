//! `pg_views`: the views of users and of the system.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::deparse::Context;
use super::describe;
use super::view_definition::{Layout, view_definition};
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 12028,
    name: "pg_catalog.pg_views",
    columns: "schemaname name, viewname name, viewowner name, definition text",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Name("viewname"), RelationKey::SchemaName("schemaname")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let reader = Context::of_statement(context);
    for view in rows.relations(context, &KEYS) {
        if describe::relation_kind(&view) == "v" {
            let definition = view_definition(&reader, &view, Layout::PLAIN);
            rows.add([
                ("schemaname", value::text(&view.schema)),
                ("viewname", value::text(&view.name)),
                ("definition", value::optional(definition.as_deref())),
                ("viewowner", value::text(describe::role_name(&context.catalog, view.owner))),
            ])?;
        }
    }
    Ok(())
}
