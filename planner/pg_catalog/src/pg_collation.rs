//! `pg_collation`: the collation "C" under each of its names.

use super::definition::{Definition, Fill, Rows, value};
use super::object_names::COLLATIONS;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 3456,
    name: "pg_catalog.pg_collation",
    columns: "oid oid=0, collname name=, collnamespace oid=0, collowner oid=0, collprovider char=, collisdeterministic \
              bool=f, collencoding int4=0, collcollate text, collctype text, colliculocale text, collversion text",
    fill: Fill::Now(rows),
};

fn rows(_context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for (oid, name) in COLLATIONS {
        let (provider, encoding) = match name {
            "default" => ("d", -1),
            "C" | "POSIX" => ("c", -1),
            _ => ("c", 6),
        };
        let locale = match name {
            "default" => None,
            "ucs_basic" => Some("C"),
            other => Some(other),
        };
        rows.add([
            ("oid", value::oid(oid)),
            ("collname", value::text(name)),
            ("collnamespace", value::oid(11)),
            ("collowner", value::oid(10)),
            ("collprovider", value::text(provider)),
            ("collisdeterministic", Datum::from(true)),
            ("collencoding", Datum::from(encoding)),
            ("collcollate", value::optional(locale)),
            ("collctype", value::optional(locale)),
        ])?;
    }
    Ok(())
}
