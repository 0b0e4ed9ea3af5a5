//! What access methods, indexes and sequences are asked of: `pg_index_column_has_property` and its kin,
//! `pg_sequence_last_value`; and the numbers of `pg_stat_all_tables` one by one.

use super::{Arguments, Compute, function, kernel, some_bool};
use crate::catalog::TableDescriptor;
use crate::error::{Result, SqlError, state};
use crate::execution::StatementContext;
use crate::functions::{ScalarFunction, Stability, wait};
use crate::types::datetime::of_unix;
use crate::types::{Datum, SqlType};
use std::sync::Arc;

/// OID of the access method of indexes.
const BTREE: u32 = 403;

/// Every function of this file.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (text, oid, int4, int8) = (SqlType::TEXT, SqlType::OID, SqlType::INT4, SqlType::INT8);
    let (boolean, class, moment) = (SqlType::BOOL, SqlType::REGCLASS, SqlType::TIMESTAMPTZ);
    let mut all = vec![
        function("pg_indexam_has_property", &[oid, text], boolean, |_, arguments| {
            let known = ["can_order", "can_unique", "can_multi_col", "can_exclude", "can_include"];
            holds(arguments.oid(0) == Some(BTREE) && known.contains(&property(arguments, 1).as_str()))
        }),
        function("pg_index_has_property", &[class, text], boolean, |context, arguments| {
            let known = ["clusterable", "index_scan", "bitmap_scan", "backward_scan"];
            let there = arguments.oid(0).is_some_and(|oid| context.catalog.index(oid).is_some());
            holds(there && known.contains(&property(arguments, 1).as_str()))
        }),
        function("pg_index_column_has_property", &[class, int4, text], boolean, column_property),
        ScalarFunction::new("pg_sequence_last_value", &[class], int8, Stability::Volatile, kernel(last_value, true)),
    ];
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
    all.extend(counted.into_iter().map(|(name, compute)| function(name, &[oid], int8, compute)));
    // As in pg_stat_all_tables NULL says that nobody counts.
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

/// True, or NULL for what is not known.
fn holds(known: bool) -> Result<Option<Datum>> {
    if known { some_bool(true) } else { Ok(None) }
}

/// A property's name, which may be written large.
fn property(arguments: &Arguments, at: usize) -> String {
    arguments.text(at).unwrap_or_default().to_ascii_lowercase()
}

fn table(context: &StatementContext, arguments: &Arguments) -> Option<Arc<TableDescriptor>> {
    context.catalog.relation_by_oid(arguments.oid(0)?)
}

/// When ANALYZE looked at a table, by itself or because somebody said so.
fn gathered(context: &StatementContext, arguments: &Arguments, automatic: bool) -> Datum {
    let table = table(context, arguments);
    let known = table.as_ref().and_then(|table| table.statistics.as_ref());
    let at = known.filter(|known| known.automatic == automatic).map(|known| known.gathered);
    let micros = at.map(|at| of_unix(u64::try_from(at).unwrap_or(0)));
    Datum::TimestampMicrosecond(micros, Some("+00:00".into()))
}

/// What a column of a B-tree can: one that is only included has no order.
fn column_property(context: &StatementContext, arguments: &Arguments) -> Result<Option<Datum>> {
    let Some((table, position)) = arguments.oid(0).and_then(|oid| context.catalog.index(oid)) else { return Ok(None) };
    let Some(index) = table.indexes.get(position) else { return Ok(None) };
    let number = arguments.integer(1).and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
    let Some(at) = number.checked_sub(1).filter(|at| *at < index.columns.len() + index.include.len()) else {
        return Ok(None);
    };
    let key = index.columns.get(at);
    let ordered = |is: bool| if key.is_some() { some_bool(is) } else { Ok(None) };
    let (descending, nulls_first) = key.map_or((false, false), |key| (key.descending, key.nulls_first));
    match property(arguments, 2).as_str() {
        "asc" => ordered(!descending),
        "desc" => ordered(descending),
        "nulls_first" => ordered(nulls_first),
        "nulls_last" => ordered(!nulls_first),
        "search_array" | "search_nulls" => ordered(true),
        "orderable" => some_bool(key.is_some()),
        "distance_orderable" => some_bool(false),
        "returnable" => some_bool(true),
        _ => Ok(None),
    }
}

/// The value that a sequence gave last, as `pg_sequences` shows it. Errors: 42809, 42P01.
fn last_value(context: &StatementContext, arguments: &Arguments) -> Result<Option<Datum>> {
    let Some(found) = table(context, arguments) else {
        let message = format!("could not open relation with OID {}", arguments.oid(0).unwrap_or(0));
        return Err(SqlError::new(state::UNDEFINED_TABLE, message));
    };
    if found.sequence.is_none() {
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, format!("\"{}\" is not a sequence", found.name)));
    }
    let sequences = context.catalog.sequences()?;
    let stored = wait(sequences.stored(&context.transaction, &found))?;
    Ok(Some(Datum::Int64(stored.is_called.then_some(stored.last_value))))
}
