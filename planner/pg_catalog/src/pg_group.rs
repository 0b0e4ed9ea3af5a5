//! `pg_group`: roles that cannot log in, under PostgreSQL's old name for them, with their members.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;

pub(super) const VIEW: Definition = Definition {
    oid: 12010,
    name: "pg_catalog.pg_group",
    columns: "groname name, grosysid oid, grolist oid[]",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let roles = context.catalog.roles();
    for role in roles.iter().filter(|role| !role.login) {
        let within = roles.iter().filter(|member| member.member_of.iter().any(|of| of.role == role.oid));
        rows.add([
            ("groname", value::text(&role.name)),
            ("grosysid", value::oid(role.oid)),
            ("grolist", value::oids(within.map(|member| member.oid))),
        ])?;
    }
    Ok(())
}
