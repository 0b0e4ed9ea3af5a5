//! `pg_user`: roles that can log in, under PostgreSQL's old name for them.

use super::definition::{Definition, Fill, Rows, value};
use catalog::builder::SUPERUSER_OID;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 12014,
    name: "pg_catalog.pg_user",
    columns: "usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, passwd \
              text, valuntil timestamptz, useconfig text[]",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for role in context.catalog.roles().iter().filter(|role| role.login) {
        rows.add([
            ("usename", value::text(&role.name)),
            ("usesysid", value::oid(role.oid)),
            ("usecreatedb", Datum::from(role.create_database)),
            ("usesuper", Datum::from(role.superuser)),
            ("userepl", Datum::from(role.replication || role.oid == SUPERUSER_OID)),
            ("usebypassrls", Datum::from(role.superuser)),
            ("passwd", value::text("********")),
            ("valuntil", value::moment(role.valid_until)),
            ("useconfig", super::privileges::settings(role.everywhere())),
        ])?;
    }
    Ok(())
}
