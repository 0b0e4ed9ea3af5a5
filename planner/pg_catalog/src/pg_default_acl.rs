//! `pg_default_acl`: the default privileges of objects that roles will create.

use super::definition::{Definition, Fill, Rows, value};
use super::privileges::shown;
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 826,
    name: "pg_catalog.pg_default_acl",
    columns: "oid oid=0, defaclrole oid=0, defaclnamespace oid=0, defaclobjtype char=, defaclacl text[]",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for entry in &context.catalog.database().default_acls {
        rows.add([
            ("oid", value::oid(entry.oid)),
            ("defaclrole", value::oid(entry.role)),
            ("defaclnamespace", value::oid(entry.schema)),
            ("defaclobjtype", value::text(entry.kind.to_string())),
            ("defaclacl", shown(&context.catalog, Some(&entry.acl))),
        ])?;
    }
    Ok(())
}
