//! `percosql.plan_cache`: the planned statements of this server, for superusers. `hits` counts executions that
//! found a free plan instance. `misses` counts executions that had to make one: the first one, and concurrent
//! ones. `idle_plans` counts free instances, with their approximate memory. A row without a query sums up evicted
//! plans of all databases.

use super::definition::{Definition, Fill, Rows, value};
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::Result;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 15_003,
    name: "percosql.plan_cache",
    columns: "query text, parameter_types regtype[], search_path text[], role text, hits int8, misses int8, idle_plans int4, \
              memory_bytes int8",
    // The rows change while the catalog does not.
    fill: Fill::Later(rows),
};

fn number(count: u64) -> Datum {
    Datum::from(i64::try_from(count).unwrap_or(i64::MAX))
}

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let Some(upper) = context.session.database().ok().and_then(|server| server.upper()) else { return Ok(()) };
        for plan in upper.cached_plans(context.session.database_oid) {
            rows.add([
                ("query", value::text(&plan.text)),
                ("parameter_types", value::int8s(plan.parameters.iter().map(|oid| i64::from(*oid)))),
                ("search_path", value::texts(plan.search_path)),
                ("role", value::optional(plan.role.as_deref())),
                ("hits", number(plan.hits)),
                ("misses", number(plan.misses)),
                ("idle_plans", Datum::from(i32::try_from(plan.idle).unwrap_or(i32::MAX))),
                ("memory_bytes", number(plan.bytes as u64)),
            ])?;
        }
        let (hits, misses) = upper.evicted_plans();
        rows.add([("hits", number(hits)), ("misses", number(misses))])
    })
}
