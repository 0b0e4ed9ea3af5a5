//! `information_schema.key_column_usage`.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::visible::Visible;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 13329,
    name: "information_schema.key_column_usage",
    columns: "constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema \
              name, table_name name, column_name name, ordinal_position int4, position_in_unique_constraint int4",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Name("table_name"), RelationKey::SchemaName("table_schema")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let database = value::text(&context.catalog.database().name);
    let visible = Visible::new(context);
    for table in &rows.user_relations(context, &KEYS) {
        for index in table.indexes.iter().filter(|index| index.constraint.is_some()) {
            for (position, key) in (1_i32..).zip(&index.columns) {
                let column = table.column(key.column).filter(|column| visible.column(table, column));
                let Some(column) = column else { continue };
                rows.add([
                    ("constraint_catalog", database.clone()),
                    ("constraint_schema", value::text(&table.schema)),
                    ("constraint_name", value::text(&index.name)),
                    ("table_catalog", database.clone()),
                    ("table_schema", value::text(&table.schema)),
                    ("table_name", value::text(&table.name)),
                    ("column_name", value::text(&column.name)),
                    ("ordinal_position", Datum::from(position)),
                ])?;
            }
        }
        for key in &table.foreign_keys {
            let parent = context.catalog.relation_by_oid(key.parent);
            let index = parent.as_ref().and_then(|parent| parent.indexes.iter().find(|index| index.oid == key.index));
            for (position, (id, referenced)) in (1_i32..).zip(key.columns.iter().zip(&key.referenced)) {
                let column = table.column(*id).filter(|column| visible.column(table, column));
                let Some(column) = column else { continue };
                let place = index.and_then(|index| {
                    (1_i32..).zip(&index.columns).find(|(_, part)| part.column == *referenced).map(|(place, _)| place)
                });
                rows.add([
                    ("constraint_catalog", database.clone()),
                    ("constraint_schema", value::text(&table.schema)),
                    ("constraint_name", value::text(&key.name)),
                    ("table_catalog", database.clone()),
                    ("table_schema", value::text(&table.schema)),
                    ("table_name", value::text(&table.name)),
                    ("column_name", value::text(&column.name)),
                    ("ordinal_position", Datum::from(position)),
                    ("position_in_unique_constraint", Datum::Int32(place)),
                ])?;
            }
        }
    }
    Ok(())
}
