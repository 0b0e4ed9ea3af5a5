//! `percosql.memory`: the server's memory by area, for members of pg_read_all_stats (pg_monitor is one).
//! `process` is the whole process as the system counts it. The areas listed do not add up to it: code and stacks,
//! among others, are missing.

use super::definition::{Definition, Fill, Rows, value};
use catalog::predefined;
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::{Result, SqlError, state};
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 15_004,
    name: "percosql.memory",
    columns: "area text, used_bytes int8, limit_bytes int8",
    // The rows change while the catalog does not.
    fill: Fill::Later(rows),
};

fn number(bytes: u64) -> Datum {
    Datum::from(i64::try_from(bytes).unwrap_or(i64::MAX))
}

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let user = context.role();
        let sees = context.catalog.is_superuser(user)
            || context.catalog.acts_for(user).contains(&predefined::READ_ALL_STATISTICS);
        if !sees {
            return Err(SqlError::new(state::INSUFFICIENT_PRIVILEGE, "permission denied for view memory"));
        }
        let Some(upper) = context.session.database().ok().and_then(|server| server.upper()) else { return Ok(()) };
        for part in upper.memory() {
            rows.add([
                ("area", value::text(part.area)),
                ("used_bytes", number(part.used)),
                ("limit_bytes", number(part.limit)),
            ])?;
        }
        Ok(())
    })
}
