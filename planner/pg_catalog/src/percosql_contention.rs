//! `percosql.contention`: waits for locks and refused transactions, newest last. It holds the last thousand waits on
//! all servers of a store, and the last thousand refusals on this one. A role sees a key if it may read the key's
//! columns or is a member of pg_read_all_stats. `kind` names the lock of a wait (tuple, relation, advisory), and is
//! `conflict` for a refused transaction.

use super::definition::{Definition, Fill, Rows, value};
use super::pg_locks::What;
use bytes::Bytes;
use context::conflict::{key_columns, key_text};
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::Result;
use std::time::Duration;
use txn::locks::WaitEnd;
use types::Datum;

pub(super) const VIEW: Definition = Definition {
    oid: 15_002,
    name: "percosql.contention",
    columns: "at timestamptz, kind text, relation text, key text, pid int4, blocked_by int4[], waited_ms float8, \
              outcome text, retries int4, detail text",
    fill: Fill::Later(rows),
};

fn milliseconds(duration: Duration) -> Datum {
    Datum::from(duration.as_secs_f64() * 1000.0)
}

fn time(micros: i64) -> Datum {
    Datum::TimestampMicrosecond(Some(micros), Some("+00:00".into()))
}

/// The table and key that a tag describes.
async fn named(context: &StatementContext, what: &What, tag: &Bytes) -> Result<(Option<String>, Option<String>)> {
    let name = |oid| context.catalog.relation_by_oid(oid).map(|table| format!("{}.{}", table.schema, table.name));
    Ok(match what {
        What::Advisory(key) => (None, Some(format!("({}, {})", key.class, key.object))),
        What::Table(_, table) => (name(*table), None),
        What::Row(table) => {
            let storage = catalog::encoding::storage_id_of(tag);
            let found = storage.and_then(|storage| context.catalog.by_storage_id(storage));
            let text = match found {
                Some((table, index)) if context.catalog.watches(context.role(), &table, key_columns(&table, index)) => {
                    key_text(context.session.database()?, &table, index, tag).await
                }
                _ => None,
            };
            (name(*table), text)
        }
    })
}

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let Ok(database) = context.session.database() else { return Ok(()) };
        let seen = database.transactions().seen_locks().await?;
        let now = database.now();
        for wait in seen.ended {
            let Some(what) = What::of(context, &wait.tag) else { continue };
            let (relation, key) = named(context, &what, &wait.tag).await?;
            let ago = i64::try_from(seen.now.saturating_sub(wait.since).as_micros()).unwrap_or(0);
            let at = now.saturating_sub(ago);
            let outcome = match wait.end {
                WaitEnd::Granted => "granted",
                WaitEnd::TimedOut => "lock_timeout",
                WaitEnd::Deadlock => "deadlock",
                WaitEnd::GivenUp => "cancelled",
            };
            rows.add([
                ("at", time(at)),
                ("kind", value::text(what.kind())),
                ("relation", value::optional(relation.as_deref())),
                ("key", value::optional(key.as_deref())),
                ("pid", Datum::from(wait.label)),
                ("blocked_by", value::int4s(wait.blocked_by)),
                ("waited_ms", milliseconds(wait.waited)),
                ("outcome", value::text(outcome)),
            ])?;
        }
        let own = context.session.database_oid;
        for refused in database.contention().refused().into_iter().filter(|refused| refused.database == own) {
            let fields = refused.error.fields();
            let named = fields.schema.as_ref().zip(fields.table.as_ref());
            let relation = named.map(|(schema, table)| format!("{schema}.{table}"));
            // The detail shows a key of the table.
            let shown = named.is_none_or(|(schema, table)| {
                let table = context.catalog.relation(Some(schema.as_str()), table, &[]);
                table.is_some_and(|table| {
                    let all = table.live_columns().map(|column| column.id);
                    context.catalog.watches(context.role(), &table, all)
                })
            });
            let detail = fields.detail.as_deref().filter(|_| shown);
            rows.add([
                ("at", time(refused.at)),
                ("kind", value::text("conflict")),
                ("relation", value::optional(relation.as_deref())),
                ("pid", Datum::from(refused.pid)),
                ("outcome", value::text(refused.error.state())),
                ("retries", Datum::from(i32::try_from(refused.retries).unwrap_or(i32::MAX))),
                ("detail", value::optional(detail)),
            ])?;
        }
        Ok(())
    })
}
