//! `information_schema.constraint_column_usage`.

use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use super::visible::Visible;
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 13300,
    name: "information_schema.constraint_column_usage",
    columns: "table_catalog name, table_schema name, table_name name, column_name name, constraint_catalog name, \
              constraint_schema name, constraint_name name",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let database = value::text(&context.catalog.database().name);
    let visible = Visible::new(context);
    for table in context.catalog.user_relations().filter(|table| visible.owns(table.owner)) {
        let keys = table.indexes.iter().filter(|index| index.constraint.is_some());
        let keys =
            keys.map(|index| (index.name.as_str(), index.columns.iter().map(|key| key.column).collect::<Vec<_>>()));
        let checks = table.checks.iter().map(|check| (check.name.as_str(), describe::check_columns(table, check)));
        for (name, columns) in keys.chain(checks) {
            for column in columns.into_iter().filter_map(|id| table.column(id)) {
                rows.add([
                    ("table_catalog", database.clone()),
                    ("table_schema", value::text(&table.schema)),
                    ("table_name", value::text(&table.name)),
                    ("column_name", value::text(&column.name)),
                    ("constraint_catalog", database.clone()),
                    ("constraint_schema", value::text(&table.schema)),
                    ("constraint_name", value::text(name)),
                ])?;
            }
        }
    }
    // A FOREIGN KEY uses the columns that it refers to.
    for table in context.catalog.user_relations() {
        for key in &table.foreign_keys {
            let parent = context.catalog.relation_by_oid(key.parent).filter(|parent| visible.owns(parent.owner));
            let Some(parent) = parent else { continue };
            for column in key.referenced.iter().filter_map(|id| parent.column(*id)) {
                rows.add([
                    ("table_catalog", database.clone()),
                    ("table_schema", value::text(&parent.schema)),
                    ("table_name", value::text(&parent.name)),
                    ("column_name", value::text(&column.name)),
                    ("constraint_catalog", database.clone()),
                    ("constraint_schema", value::text(&table.schema)),
                    ("constraint_name", value::text(&key.name)),
                ])?;
            }
        }
    }
    Ok(())
}
