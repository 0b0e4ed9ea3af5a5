//! Functions that return single counters of `pg_stat_all_tables`.

use super::{Arguments, Compute, function};
use catalog::TableDescriptor;
use executor::StatementContext;
use functions::ScalarFunction;
use std::sync::Arc;
use types::datetime::of_unix;
use types::{Datum, SqlType};

/// Every function of this file.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (oid, int8, moment) = (SqlType::OID, SqlType::INT8, SqlType::TIMESTAMPTZ);
    let counted: [(&str, Compute); 2] = [
        ("pg_stat_get_live_tuples", |context, arguments| {
            let table = table(context, arguments);
            let rows = table.and_then(|table| table.statistics.as_ref().map(|known| known.rows as i64));
            Ok(Some(Datum::Int64(rows)))
        }),
        ("pg_stat_get_mod_since_analyze", |context, arguments| {
            let changes = table(context, arguments).map(|table| table.changes.count());
            Ok(Some(Datum::Int64(changes.map(|changes| i64::try_from(changes).unwrap_or(i64::MAX)))))
        }),
    ];
    let mut all: Vec<ScalarFunction> =
        counted.into_iter().map(|(name, compute)| function(name, &[oid], int8, compute)).collect();
    // As in pg_stat_all_tables, NULL stands for a counter that is not kept.
    let uncounted = [
        "pg_stat_get_numscans",
        "pg_stat_get_tuples_returned",
        "pg_stat_get_tuples_fetched",
        "pg_stat_get_tuples_inserted",
        "pg_stat_get_tuples_updated",
        "pg_stat_get_tuples_deleted",
        "pg_stat_get_tuples_hot_updated",
        "pg_stat_get_dead_tuples",
        "pg_stat_get_blocks_fetched",
        "pg_stat_get_blocks_hit",
    ];
    all.extend(uncounted.map(|name| function(name, &[oid], int8, |_, _| Ok(None))));
    all.push(function("pg_stat_get_last_analyze_time", &[oid], moment, |context, arguments| {
        Ok(Some(gathered(context, arguments, false)))
    }));
    all.push(function("pg_stat_get_last_autoanalyze_time", &[oid], moment, |context, arguments| {
        Ok(Some(gathered(context, arguments, true)))
    }));
    all
}

fn table(context: &StatementContext, arguments: &Arguments) -> Option<Arc<TableDescriptor>> {
    context.catalog.relation_by_oid(arguments.oid(0)?)
}

/// The time of the last automatic or manual ANALYZE of a table.
fn gathered(context: &StatementContext, arguments: &Arguments, automatic: bool) -> Datum {
    let table = table(context, arguments);
    let known = table.as_ref().and_then(|table| table.statistics.as_ref());
    let at = known.filter(|known| known.automatic == automatic).map(|known| known.gathered);
    let micros = at.map(|at| of_unix(u64::try_from(at).unwrap_or(0)));
    Datum::TimestampMicrosecond(micros, Some("+00:00".into()))
}
