//! `pg_tablespace`: PostgreSQL's two standard names. Tablespaces themselves do not exist.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 1213,
    name: "pg_catalog.pg_tablespace",
    columns: "oid oid=0, spcname name=, spcowner oid=0, spcacl text[], spcoptions text[]",
    fill: Fill::Now(rows),
};

fn rows(_context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for (oid, name) in [(1663, "pg_default"), (1664, "pg_global")] {
        rows.add([("oid", value::oid(oid)), ("spcname", value::text(name)), ("spcowner", value::oid(10))])?;
    }
    Ok(())
}
