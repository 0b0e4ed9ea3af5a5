//! `pg_stat_activity`: the sessions of the server and their present state.

use super::definition::{Definition, Fill, Rows, value};
use super::pg_locks::What;
use catalog::predefined;
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::Result;
use std::collections::HashMap;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 12222,
    name: "pg_catalog.pg_stat_activity",
    columns: "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, application_name text, \
              client_addr text, client_hostname text, client_port int4, backend_start timestamptz, xact_start \
              timestamptz, query_start timestamptz, state_change timestamptz, wait_event_type text, wait_event text, \
              state text, backend_xid xid, backend_xmin xid, query_id int8, query text, backend_type text",
    fill: Fill::Later(rows),
};

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let time = |micros: Option<i64>| Datum::TimestampMicrosecond(micros, Some("+00:00".into()));
        // A session without a server (tests) has no activity.
        let Ok(database) = context.session.database() else { return Ok(()) };
        let seen = database.transactions().seen_locks().await?;
        let locks: HashMap<i32, &'static str> = seen
            .waiting
            .into_iter()
            // Names of another database are not known here. Most waits are for rows.
            .map(|wait| (wait.label, What::of(context, &wait.tag).map_or("tuple", |what| what.kind())))
            .collect();
        let user = context.role();
        let (superuser, roles) = (context.catalog.is_superuser(user), context.catalog.acts_for(user));
        for activity in database.activities().list() {
            let (backend, doing) = (&activity.backend, activity.doing());
            let sees = superuser || roles.contains(&backend.user.0) || roles.contains(&predefined::READ_ALL_STATISTICS);
            if !sees {
                // These columns are visible to every role.
                rows.add([
                    ("datid", value::oid(backend.database.0)),
                    ("datname", value::text(&backend.database.1)),
                    ("pid", Datum::from(backend.pid)),
                    ("usesysid", value::oid(backend.user.0)),
                    ("usename", value::text(&backend.user.1)),
                    ("application_name", value::text(doing.application_name)),
                    ("query", value::text("<insufficient privilege>")),
                ])?;
                continue;
            }
            let (kind, event) = match locks.get(&backend.pid) {
                Some(event) => (Some("Lock"), Some(*event)),
                None if doing.state == "active" => (None, None),
                None => (Some("Client"), Some("ClientRead")),
            };
            rows.add([
                ("datid", value::oid(backend.database.0)),
                ("datname", value::text(&backend.database.1)),
                ("pid", Datum::from(backend.pid)),
                ("usesysid", value::oid(backend.user.0)),
                ("usename", value::text(&backend.user.1)),
                ("application_name", value::text(doing.application_name)),
                ("client_addr", Datum::Utf8(backend.link.client.map(|client| client.ip().to_canonical().to_string()))),
                ("client_port", Datum::Int32(backend.link.client.map(|client| i32::from(client.port())))),
                ("backend_start", time(Some(backend.started))),
                ("xact_start", time(doing.transaction_start)),
                ("query_start", time(doing.query_start)),
                ("state_change", time(doing.state_change)),
                ("wait_event_type", value::optional(kind)),
                ("wait_event", value::optional(event)),
                ("state", value::text(doing.state)),
                ("query", value::text(doing.query.as_ref())),
                ("backend_type", value::text("client backend")),
            ])?;
        }
        Ok(())
    })
}
