//! `pg_attrdef`: defaults of columns. Its OIDs are computed from the table's OID and the column's number.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 2604,
    name: "pg_catalog.pg_attrdef",
    columns: "oid oid=0, adrelid oid=0, adnum int2=0, adbin text=",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 2] = [RelationKey::Oid("adrelid"), RelationKey::Part("oid")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in &rows.user_relations(context, &KEYS) {
        for column in table.live_columns().filter(|column| column.identity.is_none()) {
            if let Some(default) = column.default.as_ref().or(column.generated.as_ref()) {
                rows.add([
                    ("oid", value::oid(describe::default_oid(table.oid, column.id))),
                    ("adrelid", value::oid(table.oid)),
                    ("adnum", Datum::from(column.id)),
                    ("adbin", value::text(default)),
                ])?;
            }
        }
    }
    Ok(())
}
