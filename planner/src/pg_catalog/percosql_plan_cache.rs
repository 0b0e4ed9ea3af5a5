//! `percosql.plan_cache`: the planned statements of this server, for superusers. `hits` counts executions that
//! found a free plan instance. `misses` counts executions that had to make one: the first one, and concurrent
//! ones. `idle_plans` counts free instances, with their approximate memory. A row without a query sums up evicted
//! plans of all databases.

use super::definition::{Definition, Fill, Rows, value};
use crate::error::Result;
use crate::execution::StatementContext;
use crate::plan::Uses;
use crate::types::Datum;
use futures::future::BoxFuture;

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
        let Ok(database) = context.session.database().and_then(|server| crate::session::Database::of(server)) else {
            return Ok(());
        };
        let own = context.session.database_oid;
        for (key, planned) in database.plans().list() {
            if key.surroundings.database() != own {
                continue;
            }
            let mut uses = Uses::default();
            let (mut plans, mut bytes) = (0, 0);
            for plan in planned.plans() {
                uses += plan.uses();
                let (idle, taken) = plan.idle_instances();
                (plans, bytes) = (plans + idle, bytes + taken);
            }
            rows.add([
                ("query", value::text(&key.text)),
                ("parameter_types", value::int8s(planned.parameters.iter().map(|ty| i64::from(ty.oid())))),
                ("search_path", value::texts(key.surroundings.search_path().iter().cloned())),
                ("role", value::optional(key.surroundings.user())),
                ("hits", number(uses.hits)),
                ("misses", number(uses.misses)),
                ("idle_plans", Datum::from(i32::try_from(plans).unwrap_or(i32::MAX))),
                ("memory_bytes", number(bytes as u64)),
            ])?;
        }
        let gone = database.engine().departed();
        rows.add([("hits", number(gone.hits)), ("misses", number(gone.misses))])
    })
}
