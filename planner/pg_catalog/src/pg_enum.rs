//! `pg_enum`: the labels of enums.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 3501,
    name: "pg_catalog.pg_enum",
    columns: "oid oid=0, enumtypid oid=0, enumsortorder float4=0, enumlabel name=",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for ty in context.catalog.enums() {
        for label in &ty.labels {
            rows.add([
                ("oid", value::oid(label.oid)),
                ("enumtypid", value::oid(ty.oid)),
                ("enumsortorder", Datum::Float32(Some(label.sort_order()))),
                ("enumlabel", value::text(&label.name)),
            ])?;
        }
    }
    Ok(())
}
