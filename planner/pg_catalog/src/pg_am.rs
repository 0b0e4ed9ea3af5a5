//! `pg_am`: access methods.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 2601,
    name: "pg_catalog.pg_am",
    columns: "oid oid=0, amname name=, amhandler regproc=0, amtype char=",
    fill: Fill::Now(rows),
};

/// The OID of the access method of tables.
pub(super) const HEAP: u32 = 2;
/// The OID of the access method of indexes.
pub(super) const BTREE: u32 = 403;

fn rows(_context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for (oid, name, handler, kind) in [(HEAP, "heap", 3, "t"), (BTREE, "btree", 330, "i")] {
        rows.add([
            ("oid", value::oid(oid)),
            ("amname", value::text(name)),
            ("amhandler", value::oid(handler)),
            ("amtype", value::text(kind)),
        ])?;
    }
    Ok(())
}
