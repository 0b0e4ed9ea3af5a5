//! `pg_database`: databases.

use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 1262,
    name: "pg_catalog.pg_database",
    columns: "oid oid=0, datname name=, datdba oid=0, encoding int4=0, datlocprovider char=, datistemplate bool=f, \
              datallowconn bool=f, datconnlimit int4=0, datfrozenxid xid=0, datminmxid xid=0, dattablespace oid=0, \
              datcollate text=, datctype text=, daticulocale text, datcollversion text, datacl text[]",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for database in context.catalog.databases() {
        rows.add([
            ("oid", value::oid(database.oid)),
            ("datname", value::text(&database.name)),
            ("datdba", value::oid(database.owner)),
            ("encoding", Datum::from(describe::UTF8)),
            ("datlocprovider", value::text("c")),
            ("datistemplate", Datum::from(database.is_template())),
            ("datallowconn", Datum::from(!database.is_closed())),
            (
                "datconnlimit",
                Datum::from(database.connection_limit.map_or(-1, |limit| i32::try_from(limit).unwrap_or(-1))),
            ),
            ("dattablespace", value::oid(1663)),
            ("datcollate", value::text(database.collation())),
            ("datctype", value::text(database.lc_ctype())),
            ("datacl", super::privileges::shown(&context.catalog, database.acl.as_ref())),
        ])?;
    }
    Ok(())
}
