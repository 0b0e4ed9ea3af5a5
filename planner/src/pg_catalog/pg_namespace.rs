//! `pg_namespace`: schemas.

use super::definition::{Definition, Fill, Rows, value};
use crate::error::Result;
use crate::execution::StatementContext;

/// `pg_catalog.pg_namespace`.
pub(super) const VIEW: Definition = Definition {
    oid: 2615,
    name: "pg_catalog.pg_namespace",
    columns: "oid oid=0, nspname name=, nspowner oid=0, nspacl text[]",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for schema in context.catalog.schemas() {
        rows.add([
            ("oid", value::oid(schema.oid)),
            ("nspname", value::text(&schema.name)),
            ("nspowner", value::oid(schema.owner)),
        ])?;
    }
    Ok(())
}
