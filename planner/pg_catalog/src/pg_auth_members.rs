//! `pg_auth_members`: the members of roles.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 1261,
    name: "pg_catalog.pg_auth_members",
    columns: "roleid oid=0, member oid=0, grantor oid=0, admin_option bool=f",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for role in context.catalog.roles() {
        for membership in &role.member_of {
            rows.add([
                ("roleid", value::oid(membership.role)),
                ("member", value::oid(role.oid)),
                ("grantor", value::oid(membership.grantor)),
                ("admin_option", Datum::from(membership.admin)),
            ])?;
        }
    }
    Ok(())
}
