//! `pg_indexes`: indexes, by name.

use super::definition::{Definition, Fill, Rows, value};
use super::deparse::Context;
use super::describe;
use crate::error::Result;
use crate::execution::StatementContext;

/// `pg_catalog.pg_indexes`.
pub(super) const VIEW: Definition = Definition {
    oid: 12043,
    name: "pg_catalog.pg_indexes",
    columns: "schemaname name, tablename name, indexname name, tablespace name, indexdef text",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let reader = Context::of_statement(context);
    for table in context.catalog.user_relations() {
        for index in &table.indexes {
            rows.add([
                ("schemaname", value::text(&table.schema)),
                ("tablename", value::text(&table.name)),
                ("indexname", value::text(&index.name)),
                ("indexdef", value::text(describe::index_definition(&reader, table, index, true, false))),
            ])?;
        }
    }
    Ok(())
}
