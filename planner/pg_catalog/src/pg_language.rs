//! `pg_language`: the languages of the built-in functions.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 2612,
    name: "pg_catalog.pg_language",
    columns: "oid oid=0, lanname name=, lanowner oid=0, lanispl bool=f, lanpltrusted bool=f, lanplcallfoid oid=0, \
              laninline oid=0, lanvalidator oid=0, lanacl text[]",
    fill: Fill::Now(rows),
};

fn rows(_context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for (oid, name, trusted, validator) in
        [(12, "internal", false, 2246), (13, "c", false, 2247), (14, "sql", true, 2248)]
    {
        rows.add([
            ("oid", value::oid(oid)),
            ("lanname", value::text(name)),
            ("lanowner", value::oid(10)),
            ("lanpltrusted", Datum::from(trusted)),
            ("lanvalidator", value::oid(validator)),
        ])?;
    }
    Ok(())
}
