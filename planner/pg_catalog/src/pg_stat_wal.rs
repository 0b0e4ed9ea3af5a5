//! `pg_stat_wal`: writes and syncs of the store's write-ahead log since the server started. A record holds a group of
//! commits. Over Bigtable there is no such log, and the row is all NULL.

use super::definition::{Definition, Fill};
use types::Datum;
use types::numeric::Numeric;

pub(super) const VIEW: Definition = Definition {
    oid: 12293,
    name: "pg_catalog.pg_stat_wal",
    columns: "wal_records int8, wal_fpi int8, wal_bytes numeric, wal_buffers_full int8, wal_write int8, wal_sync int8, \
              wal_write_time float8, wal_sync_time float8, stats_reset timestamptz",
    fill: Fill::Now(|context, rows| {
        let Ok(database) = context.session.database() else { return Ok(()) };
        let transactions = database.transactions();
        let log = transactions.store().atomic().map(|atomic| atomic.log_statistics());
        let Some(log) = log else { return rows.add([]) };
        let number = |value: u64| Datum::from(i64::try_from(value).unwrap_or(i64::MAX));
        // Each record is one write, and full pages are never written. Times are not measured, as in PostgreSQL with
        // track_wal_io_timing off.
        rows.add([
            ("wal_records", number(log.records)),
            ("wal_fpi", number(0)),
            ("wal_bytes", Datum::Binary(Some(Numeric::new(i128::from(log.bytes), 0).to_bytes()))),
            ("wal_buffers_full", number(0)),
            ("wal_write", number(log.records)),
            ("wal_sync", number(log.syncs)),
            ("wal_write_time", Datum::from(0.0)),
            ("wal_sync_time", Datum::from(0.0)),
        ])
    }),
};
