//! `pg_depend`: which column owns which sequence, which default takes its values from one, and which columns a view
//! needs. Other dependencies are not shown.

use super::definition::{Definition, Fill, Rows, value};
use super::describe::default_oid;
use crate::ddl::next_value_text;
use crate::error::Result;
use crate::execution::StatementContext;
use crate::types::Datum;
use std::collections::HashMap;

/// `pg_catalog.pg_depend`.
pub(super) const VIEW: Definition = Definition {
    oid: 2608,
    name: "pg_catalog.pg_depend",
    columns: "classid oid=0, objid oid=0, objsubid int4=0, refclassid oid=0, refobjid oid=0, refobjsubid int4=0, \
              deptype char=",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    const PG_CLASS: u32 = 1259;
    const PG_REWRITE: u32 = 2618;
    const PG_ATTRDEF: u32 = 2604;
    let mut next_values = HashMap::new();
    for sequence in context.catalog.user_relations().filter(|relation| relation.sequence.is_some()) {
        next_values.insert(next_value_text(&sequence.schema, &sequence.name), sequence.oid);
    }
    for table in context.catalog.user_relations() {
        for column in table.live_columns().filter(|column| column.identity.is_none()) {
            let Some(sequence) = column.default.as_ref().and_then(|text| next_values.get(text)) else { continue };
            rows.add([
                ("classid", value::oid(PG_ATTRDEF)),
                ("objid", value::oid(default_oid(table.oid, column.id))),
                ("refclassid", value::oid(PG_CLASS)),
                ("refobjid", value::oid(*sequence)),
                ("deptype", value::text("n")),
            ])?;
        }
    }
    for sequence in context.catalog.user_relations() {
        let Some((table, column)) = sequence.sequence.as_ref().and_then(|parameters| parameters.owned_by) else {
            continue;
        };
        let identity = context
            .catalog
            .relation_by_oid(table)
            .is_some_and(|table| table.column(column).is_some_and(|column| column.identity.is_some()));
        rows.add([
            ("classid", value::oid(PG_CLASS)),
            ("objid", value::oid(sequence.oid)),
            ("refclassid", value::oid(PG_CLASS)),
            ("refobjid", value::oid(table)),
            ("refobjsubid", Datum::from(i32::from(column))),
            ("deptype", value::text(if identity { "i" } else { "a" })),
        ])?;
    }
    for table in context.catalog.user_relations() {
        let Some(view) = &table.view else { continue };
        let mut add = |relation: u32, column: i32, kind: &str| {
            rows.add([
                ("classid", value::oid(PG_REWRITE)),
                ("objid", value::oid(view.rule)),
                ("refclassid", value::oid(PG_CLASS)),
                ("refobjid", value::oid(relation)),
                ("refobjsubid", Datum::from(column)),
                ("deptype", value::text(kind)),
            ])
        };
        add(table.oid, 0, "i")?;
        add(table.oid, 0, "n")?;
        for relation in &view.relations {
            if relation.used.is_empty() {
                add(relation.oid, 0, "n")?;
            }
            for column in &relation.used {
                add(relation.oid, i32::from(*column), "n")?;
            }
        }
    }
    Ok(())
}
