//! `pg_tables`: tables with their owners and properties, by name.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 12033,
    name: "pg_catalog.pg_tables",
    columns: "schemaname name, tablename name, tableowner name, tablespace name, hasindexes bool, hasrules bool, \
              hastriggers bool, rowsecurity bool",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Name("tablename"), RelationKey::SchemaName("schemaname")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in rows.relations(context, &KEYS) {
        if describe::relation_kind(&table) != "r" {
            continue;
        }
        rows.add([
            ("schemaname", value::text(&table.schema)),
            ("tablename", value::text(&table.name)),
            ("tableowner", value::text(describe::role_name(&context.catalog, table.owner))),
            ("hasindexes", Datum::from(!table.indexes.is_empty())),
            ("hasrules", Datum::from(false)),
            ("hastriggers", Datum::from(!table.foreign_keys.is_empty() || context.catalog.is_referenced(table.oid))),
            ("rowsecurity", Datum::from(false)),
        ])?;
    }
    Ok(())
}
