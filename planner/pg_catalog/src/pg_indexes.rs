//! `pg_indexes`: indexes and their definitions, by name.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::deparse::Context;
use super::describe;
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 12043,
    name: "pg_catalog.pg_indexes",
    columns: "schemaname name, tablename name, indexname name, tablespace name, indexdef text",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 3] =
    [RelationKey::Name("tablename"), RelationKey::Name("indexname"), RelationKey::SchemaName("schemaname")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let reader = Context::of_statement(context);
    for table in &rows.user_relations(context, &KEYS) {
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
