//! `pg_db_role_setting`: the initial settings of sessions, by role and database.

use super::definition::{Definition, Fill, Rows, value};
use super::privileges::settings;
use catalog::StoredSettings;
use executor::StatementContext;
use sql_error::Result;
use types::Oid;

pub(super) const VIEW: Definition = Definition {
    oid: 2964,
    name: "pg_catalog.pg_db_role_setting",
    columns: "setdatabase oid=0, setrole oid=0, setconfig text[]",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let mut add = |database: Oid, role: Oid, list: &StoredSettings| -> Result<()> {
        if list.is_empty() {
            return Ok(());
        }
        rows.add([
            ("setdatabase", value::oid(database)),
            ("setrole", value::oid(role)),
            ("setconfig", settings(Some(list))),
        ])
    };
    for role in context.catalog.roles() {
        add(0, 0, &role.settings_of_all)?;
        for (database, list) in &role.settings {
            add(*database, role.oid, list)?;
        }
    }
    for database in context.catalog.databases() {
        add(database.oid, 0, &database.settings)?;
    }
    Ok(())
}
