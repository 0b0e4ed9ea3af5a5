//! `pg_views`: the views of the system.

use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use crate::error::Result;
use crate::execution::StatementContext;

/// `pg_catalog.pg_views`.
pub(super) const VIEW: Definition = Definition {
    oid: 12028,
    name: "pg_catalog.pg_views",
    columns: "schemaname name, viewname name, viewowner name, definition text",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for view in context.catalog.relations() {
        if describe::relation_kind(&view) == "v" {
            rows.add([
                ("schemaname", value::text(&view.schema)),
                ("viewname", value::text(&view.name)),
                ("viewowner", value::text(describe::role_name(&context.catalog, view.owner))),
            ])?;
        }
    }
    Ok(())
}
