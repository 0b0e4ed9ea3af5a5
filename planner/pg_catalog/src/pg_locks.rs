//! `pg_locks`: named locks (on tables, by LOCK TABLE and writers, and advisory locks) and waits for locks, including
//! row locks. As in PostgreSQL, row locks without a waiter are omitted. It covers all servers of a store.

use super::definition::{Definition, Fill, Rows, value};
use bytes::Bytes;
use catalog::encoding::storage_id_of;
use context::advisory::AdvisoryKey;
use context::table_locks;
use executor::StatementContext;
use futures::future::BoxFuture;
use sql_error::Result;
use syntax::TableLockMode;
use txn::locks::LockMode;
use types::{Datum, Oid};

pub(super) const VIEW: Definition = Definition {
    oid: 12073,
    name: "pg_catalog.pg_locks",
    columns: "locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, transactionid xid, \
              classid oid, objid oid, objsubid int2, virtualtransaction text, pid int4, mode text, granted bool, \
              fastpath bool, waitstart timestamptz",
    fill: Fill::Later(rows),
};

/// The object of a lock.
pub(super) enum What {
    Advisory(AdvisoryKey),
    Table(Oid, Oid),
    Row(Oid),
}

impl What {
    pub(super) fn of(context: &StatementContext, tag: &Bytes) -> Option<What> {
        if let Some(key) = AdvisoryKey::from_tag(tag) {
            return Some(What::Advisory(key));
        }
        if let Some((database, table)) = table_locks::from_tag(tag) {
            return Some(What::Table(database, table));
        }
        let (table, _) = context.catalog.by_storage_id(storage_id_of(tag)?)?;
        Some(What::Row(table.oid))
    }
    /// The object's `locktype`, and the `wait_event` in pg_stat_activity.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            What::Advisory(_) => "advisory",
            What::Table(..) => "relation",
            What::Row(_) => "tuple",
        }
    }
    fn mode(&self, number: u8) -> String {
        match self {
            What::Advisory(_) if number == 0 => "ShareLock".into(),
            What::Advisory(_) => "ExclusiveLock".into(),
            What::Table(..) => {
                TableLockMode::ALL.get(usize::from(number)).map_or_else(String::new, |mode| mode.lock_name())
            }
            What::Row(_) => match number {
                0 => "AccessShareLock".into(),
                1 => "RowShareLock".into(),
                2 => "ExclusiveLock".into(),
                _ => "AccessExclusiveLock".into(),
            },
        }
    }
}

fn rows<'a>(context: &'a StatementContext, rows: &'a mut Rows) -> BoxFuture<'a, Result<()>> {
    Box::pin(async move {
        let Ok(database) = context.session.database() else { return Ok(()) };
        let seen = database.transactions().seen_locks().await?;
        for lock in seen.named {
            let Some(what) = What::of(context, &lock.tag) else { continue };
            for number in (0..16).filter(|number| lock.modes & (1 << number) != 0) {
                row(context, rows, &what, what.mode(number), lock.label, None)?;
            }
        }
        let now = database.now();
        for wait in seen.waiting {
            let Some(what) = What::of(context, &wait.tag) else { continue };
            let waited = i64::try_from(seen.now.saturating_sub(wait.since).as_micros()).unwrap_or(0);
            let since = Some(now.saturating_sub(waited));
            row(context, rows, &what, what.mode(LockMode::number(wait.mode)), wait.label, since)?;
        }
        Ok(())
    })
}

fn row(
    context: &StatementContext,
    rows: &mut Rows,
    what: &What,
    mode: String,
    pid: i32,
    waits_since: Option<i64>,
) -> Result<()> {
    let (database, relation, key) = match what {
        What::Advisory(key) => (key.database, None, Some(key)),
        What::Table(database, table) => (*database, Some(*table), None),
        What::Row(table) => (context.session.database_oid, Some(*table), None),
    };
    let oid = |number: Option<Oid>| number.map_or(Datum::Int64(None), value::oid);
    rows.add([
        ("locktype", value::text(what.kind())),
        ("database", value::oid(database)),
        ("relation", oid(relation)),
        ("classid", oid(key.map(|key| key.class))),
        ("objid", oid(key.map(|key| key.object))),
        ("objsubid", Datum::Int16(key.map(|key| i16::from(key.numbers)))),
        ("virtualtransaction", value::text(format!("{pid}/0"))),
        ("pid", Datum::from(pid)),
        ("mode", value::text(&mode)),
        ("granted", Datum::from(waits_since.is_none())),
        ("fastpath", Datum::from(false)),
        ("waitstart", Datum::TimestampMicrosecond(waits_since, Some("+00:00".into()))),
    ])
}
