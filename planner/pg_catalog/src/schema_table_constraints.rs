//! `information_schema.table_constraints`.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use super::visible::{BEYOND_SELECT, ON_COLUMNS, Visible};
use catalog::acl::SELECT;
use catalog::{RelationKind, TableDescriptor};
use executor::StatementContext;
use sql_error::Result;
use std::sync::Arc;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 13411,
    name: "information_schema.table_constraints",
    columns: "constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema \
              name, table_name name, constraint_type varchar, is_deferrable varchar, initially_deferred varchar, \
              enforced varchar, nulls_distinct varchar",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Name("table_name"), RelationKey::SchemaName("table_schema")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let database = value::text(&context.catalog.database().name);
    let visible = Visible::new(context);
    let seen = |table: &&Arc<TableDescriptor>| {
        table.kind == RelationKind::Table && visible.table(table, BEYOND_SELECT, ON_COLUMNS & !SELECT)
    };
    for table in rows.user_relations(context, &KEYS).iter().filter(seen) {
        let keys = table.indexes.iter().filter(|index| index.constraint.is_some());
        let keys =
            keys.map(|index| (index.name.clone(), if index.is_declared_primary() { "PRIMARY KEY" } else { "UNIQUE" }));
        let checks = table.checks.iter().map(|check| (check.name.clone(), "CHECK"));
        let foreign = table.foreign_keys.iter().map(|key| (key.name.clone(), "FOREIGN KEY"));
        let nulls = table.live_columns().filter(|column| column.not_null);
        let nulls = nulls.map(|column| (describe::not_null_name(table, column.id), "CHECK"));
        for (name, kind) in keys.chain(checks).chain(foreign).chain(nulls) {
            let key = table.foreign_keys.iter().find(|key| key.name == name);
            let unique = table.indexes.iter().find(|index| index.name == name && index.constraint.is_some());
            let deferral = unique.and_then(|index| index.deferral);
            let yes_or_no = |is: bool| value::text(if is { "YES" } else { "NO" });
            rows.add([
                ("constraint_catalog", database.clone()),
                ("constraint_schema", value::text(&table.schema)),
                ("constraint_name", value::text(name)),
                ("table_catalog", database.clone()),
                ("table_schema", value::text(&table.schema)),
                ("table_name", value::text(&table.name)),
                ("constraint_type", value::text(kind)),
                ("is_deferrable", yes_or_no(deferral.is_some() || key.is_some_and(|key| key.deferrable))),
                (
                    "initially_deferred",
                    yes_or_no(
                        deferral.is_some_and(|deferral| deferral.deferred) || key.is_some_and(|key| key.deferred),
                    ),
                ),
                ("enforced", value::text("YES")),
                (
                    "nulls_distinct",
                    match unique.filter(|index| !index.is_declared_primary()) {
                        Some(index) => yes_or_no(!index.nulls_not_distinct),
                        None => Datum::Null,
                    },
                ),
            ])?;
        }
    }
    Ok(())
}
