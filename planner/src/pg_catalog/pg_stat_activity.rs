//! `pg_stat_activity`: this session. The others are not shown yet.

use super::definition::{Definition, Fill, Rows, value};
use crate::error::Result;
use crate::execution::StatementContext;
use crate::types::Datum;

/// `pg_catalog.pg_stat_activity`.
pub(super) const VIEW: Definition = Definition {
    oid: 12222,
    name: "pg_catalog.pg_stat_activity",
    columns: "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, application_name text, \
              client_addr text, client_hostname text, client_port int4, backend_start timestamptz, xact_start \
              timestamptz, query_start timestamptz, state_change timestamptz, wait_event_type text, wait_event text, \
              state text, backend_xid int8, backend_xmin int8, query_id int8, query text, backend_type text",
    fill: Fill::Now(rows),
};

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let session = &context.session;
    let started = |micros: i64| Datum::TimestampMicrosecond(Some(micros), Some("+00:00".into()));
    rows.add([
        ("datid", value::oid(session.database_oid)),
        ("datname", value::text(&session.database_name)),
        ("pid", Datum::from(session.backend_pid)),
        ("usesysid", value::oid(session.user_oid)),
        ("usename", value::text(&session.user)),
        ("application_name", value::text(context.settings.get("application_name").unwrap_or_default())),
        ("xact_start", started(context.transaction_time)),
        ("query_start", started(context.statement_time)),
        ("state", value::text("active")),
        ("backend_type", value::text("client backend")),
    ])
}
