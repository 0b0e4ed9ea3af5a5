//! `pg_stat_all_tables` and `pg_stat_user_tables`: tables with the results of ANALYZE. `pg_stat_all_indexes` and
//! `pg_stat_user_indexes`: their indexes. Other counters are not kept and are NULL.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use executor::StatementContext;
use sql_error::Result;
use types::Datum;
use types::datetime::of_unix;

/// The columns of both views.
macro_rules! columns {
    () => {
        "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, \
         n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8, \
         n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz, \
         last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8, analyze_count \
         int8, autoanalyze_count int8"
    };
}

pub(super) const ALL: Definition =
    Definition { oid: 12141, name: "pg_catalog.pg_stat_all_tables", columns: columns!(), fill: Fill::Now(all) };

pub(super) const USER: Definition =
    Definition { oid: 12161, name: "pg_catalog.pg_stat_user_tables", columns: columns!(), fill: Fill::Now(user) };

/// The columns of the views of indexes.
macro_rules! index_columns {
    () => {
        "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, idx_tup_read int8, \
         idx_tup_fetch int8"
    };
}

/// System relations have no indexes here.
pub(super) const ALL_INDEXES: Definition = Definition {
    oid: 12183,
    name: "pg_catalog.pg_stat_all_indexes",
    columns: index_columns!(),
    fill: Fill::Now(indexes),
};

pub(super) const USER_INDEXES: Definition = Definition {
    oid: 12192,
    name: "pg_catalog.pg_stat_user_indexes",
    columns: index_columns!(),
    fill: Fill::Now(indexes),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 3] =
    [RelationKey::Oid("relid"), RelationKey::Name("relname"), RelationKey::SchemaName("schemaname")];

fn indexes(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in &rows.user_relations(context, &KEYS) {
        for index in &table.indexes {
            rows.add([
                ("relid", value::oid(table.oid)),
                ("indexrelid", value::oid(index.oid)),
                ("schemaname", value::text(&table.schema)),
                ("relname", value::text(&table.name)),
                ("indexrelname", value::text(&index.name)),
            ])?;
        }
    }
    Ok(())
}

fn add(context: &StatementContext, rows: &mut Rows, system: bool) -> Result<()> {
    for table in rows.relations(context, &KEYS) {
        let own = ["pg_catalog", "information_schema"].contains(&table.schema.as_str());
        if describe::relation_kind(&table) != "r" || (own && !system) {
            continue;
        }
        let known = table.statistics.as_ref();
        let moment = |automatic| {
            let gathered = known.filter(|known| known.automatic == automatic).map(|known| known.gathered);
            value::moment(gathered.map(|at| of_unix(u64::try_from(at).unwrap_or(0))))
        };
        rows.add([
            ("relid", value::oid(table.oid)),
            ("schemaname", value::text(&table.schema)),
            ("relname", value::text(&table.name)),
            ("n_live_tup", Datum::Int64(known.map(|known| known.rows as i64))),
            ("n_mod_since_analyze", Datum::from(i64::try_from(table.changes.count()).unwrap_or(i64::MAX))),
            ("last_analyze", moment(false)),
            ("last_autoanalyze", moment(true)),
        ])?;
    }
    Ok(())
}

fn all(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    add(context, rows, true)
}

fn user(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    add(context, rows, false)
}
