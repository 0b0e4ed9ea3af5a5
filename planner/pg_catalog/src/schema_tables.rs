//! `information_schema.tables`.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use super::visible::{ON_COLUMNS, ON_TABLES, Visible};
use catalog::is_temporary;
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 13425,
    name: "information_schema.tables",
    columns: "table_catalog name, table_schema name, table_name name, table_type varchar, self_referencing_column_name \
              name, reference_generation varchar, user_defined_type_catalog name, user_defined_type_schema name, \
              user_defined_type_name name, is_insertable_into varchar, is_typed varchar, commit_action varchar",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Name("table_name"), RelationKey::SchemaName("table_schema")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let visible = Visible::new(context);
    for table in rows.relations(context, &KEYS) {
        if !visible.table(&table, ON_TABLES, ON_COLUMNS) {
            continue;
        }
        let kind = match describe::relation_kind(&table) {
            "r" => "BASE TABLE",
            "v" => "VIEW",
            _ => continue,
        };
        let writable = if binder::events(&context.catalog, &table, None) & 8 == 8 { "YES" } else { "NO" };
        rows.add([
            ("table_catalog", value::text(&context.catalog.database().name)),
            ("table_schema", value::text(&table.schema)),
            ("table_name", value::text(&table.name)),
            (
                "table_type",
                value::text(if is_temporary(&table.schema) && kind != "VIEW" { "LOCAL TEMPORARY" } else { kind }),
            ),
            ("is_insertable_into", value::text(writable)),
            ("is_typed", value::text("NO")),
        ])?;
    }
    Ok(())
}
