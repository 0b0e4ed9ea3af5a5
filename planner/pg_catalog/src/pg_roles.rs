//! `pg_roles`: roles, without their passwords.

use super::definition::{Definition, Fill, Rows, value};
use catalog::builder::SUPERUSER_OID;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 12000,
    name: "pg_catalog.pg_roles",
    columns: "rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, rolcanlogin bool, \
              rolreplication bool, rolconnlimit int4, rolpassword text, rolvaliduntil timestamptz, rolbypassrls bool, \
              rolconfig text[], oid oid",
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
            ("rolpassword", value::text("********")),
            ("rolvaliduntil", value::moment(role.valid_until)),
            ("rolconfig", super::privileges::settings(role.everywhere())),
        ])?;
    }
    Ok(())
}
