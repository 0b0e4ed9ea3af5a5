//! `information_schema.information_schema_catalog_name` and `character_sets`: one row each.

use super::definition::{Definition, Fill, Rows, value};
use crate::error::Result;
use crate::execution::StatementContext;

/// `information_schema.information_schema_catalog_name`.
pub(super) const CATALOG_NAME: Definition = Definition {
    oid: 13118,
    name: "information_schema.information_schema_catalog_name",
    columns: "catalog_name name",
    fill: Fill::Now(|context, rows| rows.add([("catalog_name", value::text(&context.catalog.database().name))])),
};

/// `information_schema.character_sets`.
pub(super) const CHARACTER_SETS: Definition = Definition {
    oid: 13143,
    name: "information_schema.character_sets",
    columns: "character_set_catalog name, character_set_schema name, character_set_name name, character_repertoire name, \
              form_of_use name, default_collate_catalog name, default_collate_schema name, default_collate_name name",
    fill: Fill::Now(character_sets),
};

fn character_sets(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let database = || value::text(&context.catalog.database().name);
    rows.add([
        ("character_set_name", value::text("UTF8")),
        ("character_repertoire", value::text("UCS")),
        ("form_of_use", value::text("UTF8")),
        ("default_collate_catalog", database()),
        ("default_collate_schema", value::text("pg_catalog")),
        ("default_collate_name", value::text("C")),
    ])
}
