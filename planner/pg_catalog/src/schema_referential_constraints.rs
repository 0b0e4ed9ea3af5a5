//! `information_schema.referential_constraints`.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::visible::{BEYOND_SELECT, ON_COLUMNS, Visible};
use catalog::TableDescriptor;
use catalog::acl::SELECT;
use executor::StatementContext;
use sql_error::Result;
use std::sync::Arc;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 13339,
    name: "information_schema.referential_constraints",
    columns: "constraint_catalog name, constraint_schema name, constraint_name name, unique_constraint_catalog name, \
              unique_constraint_schema name, unique_constraint_name name, match_option varchar, update_rule varchar, \
              delete_rule varchar",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 1] = [RelationKey::SchemaName("constraint_schema")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let database = value::text(&context.catalog.database().name);
    let visible = Visible::new(context);
    let seen = |table: &&Arc<TableDescriptor>| visible.table(table, BEYOND_SELECT, ON_COLUMNS & !SELECT);
    for table in rows.user_relations(context, &KEYS).iter().filter(seen) {
        for key in &table.foreign_keys {
            let Some(parent) = context.catalog.relation_by_oid(key.parent) else { continue };
            let unique = parent.indexes.iter().find(|index| index.oid == key.index && index.constraint.is_some());
            let unset = || Datum::Utf8(None);
            let of_unique = |text: &str| unique.map_or_else(unset, |_| value::text(text));
            rows.add([
                ("constraint_catalog", database.clone()),
                ("constraint_schema", value::text(&table.schema)),
                ("constraint_name", value::text(&key.name)),
                ("match_option", value::text(if key.match_full { "FULL" } else { "NONE" })),
                ("update_rule", value::text(key.on_update.words())),
                ("delete_rule", value::text(key.on_delete.words())),
                ("unique_constraint_catalog", of_unique(&context.catalog.database().name)),
                ("unique_constraint_schema", of_unique(&parent.schema)),
                ("unique_constraint_name", unique.map_or_else(unset, |index| value::text(&index.name))),
            ])?;
        }
    }
    Ok(())
}
