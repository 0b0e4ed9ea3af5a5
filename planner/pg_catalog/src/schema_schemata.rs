//! `information_schema.schemata`.

use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use super::visible::Visible;
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 13382,
    name: "information_schema.schemata",
    columns: "catalog_name name, schema_name name, schema_owner name, default_character_set_catalog name, \
              default_character_set_schema name, default_character_set_name name, sql_path varchar",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let visible = Visible::new(context);
    for schema in context.catalog.schemas().into_iter().filter(|schema| visible.schema(schema)) {
        rows.add([
            ("catalog_name", value::text(&context.catalog.database().name)),
            ("schema_name", value::text(&schema.name)),
            ("schema_owner", value::text(describe::role_name(&context.catalog, schema.owner))),
        ])?;
    }
    Ok(())
}
