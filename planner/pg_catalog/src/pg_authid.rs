//! `pg_authid`: roles with their password verifiers, for superusers.

use super::definition::{Definition, Fill, Rows, value};
use catalog::builder::SUPERUSER_OID;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 1260,
    name: "pg_catalog.pg_authid",
    columns: "oid oid=0, rolname name=, rolsuper bool=f, rolinherit bool=f, rolcreaterole bool=f, rolcreatedb bool=f, \
              rolcanlogin bool=f, rolreplication bool=f, rolbypassrls bool=f, rolconnlimit int4=0, rolpassword text, \
              rolvaliduntil timestamptz",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for role in context.catalog.roles() {
        rows.add([
            ("oid", value::oid(role.oid)),
            ("rolname", value::text(&role.name)),
            ("rolsuper", Datum::from(role.superuser)),
            ("rolinherit", Datum::from(role.inherits())),
            ("rolcreaterole", Datum::from(role.create_role)),
            ("rolcreatedb", Datum::from(role.create_database)),
            ("rolcanlogin", Datum::from(role.login)),
            ("rolreplication", Datum::from(role.replication || role.oid == SUPERUSER_OID)),
            ("rolbypassrls", Datum::from(role.bypass_rls || role.oid == SUPERUSER_OID)),
            ("rolconnlimit", Datum::from(role.connection_limit.map_or(-1, |limit| i32::try_from(limit).unwrap_or(-1)))),
            ("rolpassword", value::optional(role.password.as_deref())),
            ("rolvaliduntil", value::moment(role.valid_until)),
        ])?;
    }
    Ok(())
}
