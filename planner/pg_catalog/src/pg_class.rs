//! `pg_class`: tables, sequences, indexes and system views.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::pg_am::{BTREE, HEAP};
use super::{describe, privileges};
use catalog::{RelationKind, ReplicaIdentity, StoredParameters, TableDescriptor};
use executor::StatementContext;
use sql_error::Result;
use types::Datum;
use types::record::row_type_oids;

pub(super) const VIEW: Definition = Definition {
    oid: 1259,
    name: "pg_catalog.pg_class",
    columns: "oid oid=0, relname name=, relnamespace oid=0, reltype oid=0, reloftype oid=0, relowner oid=0, relam \
              oid=0, relfilenode oid=0, reltablespace oid=0, relpages int4=0, reltuples float4=0, relallvisible \
              int4=0, reltoastrelid oid=0, relhasindex bool=f, relisshared bool=f, relpersistence char=, relkind \
              char=, relnatts int2=0, relchecks int2=0, relhasrules bool=f, relhastriggers bool=f, relhassubclass \
              bool=f, relrowsecurity bool=f, relforcerowsecurity bool=f, relispopulated bool=f, relreplident char=, \
              relispartition bool=f, relrewrite oid=0, relfrozenxid xid=0, relminmxid xid=0, relacl text[], \
              reloptions text[], relpartbound text",
    fill: Fill::Now(rows),
};

/// The letter of the table's REPLICA IDENTITY.
fn replica_identity(table: &TableDescriptor) -> &'static str {
    match table.replica_identity {
        _ if table.kind != RelationKind::Table => "n",
        ReplicaIdentity::Default => "d",
        ReplicaIdentity::Full => "f",
        ReplicaIdentity::Nothing => "n",
        ReplicaIdentity::Index(_) => "i",
    }
}

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 4] = [
    RelationKey::Oid("oid"),
    RelationKey::RowType("reltype"),
    RelationKey::Name("relname"),
    RelationKey::Schema("relnamespace"),
];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in rows.relations(context, &KEYS) {
        let stored = !matches!(table.kind, RelationKind::SystemView | RelationKind::View);
        let kind = describe::relation_kind(&table);
        rows.add([
            ("oid", value::oid(table.oid)),
            ("relname", value::text(&table.name)),
            ("relnamespace", value::oid(table.schema_oid)),
            ("reltype", value::oid(if table.kind == RelationKind::Sequence { 0 } else { row_type_oids(table.oid).0 })),
            ("relowner", value::oid(table.owner)),
            ("relam", value::oid(if table.kind == RelationKind::Table { HEAP } else { 0 })),
            ("relfilenode", value::oid(if stored { table.oid } else { 0 })),
            ("reltuples", rows_known(&table)),
            ("relhasindex", Datum::from(!table.indexes.is_empty())),
            ("relpersistence", value::text(table.persistence.code())),
            ("relkind", value::text(kind)),
            ("relnatts", value::count(table.columns.len())),
            ("relchecks", value::count(table.checks.len())),
            ("relhasrules", Datum::from(table.view.is_some())),
            // PostgreSQL's triggers for FOREIGN KEYs.
            ("relhastriggers", Datum::from(!table.foreign_keys.is_empty() || context.catalog.is_referenced(table.oid))),
            ("relispopulated", Datum::from(true)),
            ("reloptions", options(&table)),
            ("relacl", privileges::shown(&context.catalog, table.acl.as_ref())),
            ("relreplident", value::text(replica_identity(&table))),
        ])?;
        for index in &table.indexes {
            rows.add([
                ("oid", value::oid(index.oid)),
                ("relname", value::text(&index.name)),
                ("relnamespace", value::oid(table.schema_oid)),
                ("relowner", value::oid(table.owner)),
                ("relam", value::oid(BTREE)),
                ("relfilenode", value::oid(index.oid)),
                ("reltuples", rows_known(&table)),
                ("relpersistence", value::text(table.persistence.code())),
                ("relkind", value::text("i")),
                ("relnatts", value::count(index.columns.len() + index.include.len())),
                ("relispopulated", Datum::from(true)),
                ("reloptions", parameters(&index.parameters)),
                ("relreplident", value::text("n")),
            ])?;
        }
    }
    Ok(())
}

/// The WITH options of a relation.
fn options(table: &TableDescriptor) -> Datum {
    match &table.view {
        Some(view) => privileges::texts(view.options()),
        None => parameters(&table.parameters),
    }
}

/// A relation's storage parameters. Those of its TOAST table are excluded.
pub(super) fn parameters(parameters: &StoredParameters) -> Datum {
    let own = parameters.iter().filter(|(name, _)| !name.starts_with("toast."));
    privileges::texts(own.map(|(name, value)| format!("{name}={value}")).collect())
}

/// The row count that ANALYZE found, or -1 before the first ANALYZE.
fn rows_known(table: &TableDescriptor) -> Datum {
    Datum::from(table.statistics.as_ref().map_or(-1.0, |known| known.rows as f32))
}
