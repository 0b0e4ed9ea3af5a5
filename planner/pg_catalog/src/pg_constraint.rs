//! `pg_constraint`: primary keys, unique, check and FOREIGN KEY constraints.

use super::asked::RelationKey;
use super::builtin::operators_of;
use super::definition::{Definition, Fill, Rows, value};
use super::describe;
use catalog::{ColumnId, TableDescriptor};
use executor::StatementContext;
use sql_error::Result;
use types::{BaseType, Datum, Oid, SqlType};

pub(super) const VIEW: Definition = Definition {
    oid: 2606,
    name: "pg_catalog.pg_constraint",
    columns: "oid oid=0, conname name=, connamespace oid=0, contype char=, condeferrable bool=f, condeferred bool=f, \
              convalidated bool=f, conrelid oid=0, contypid oid=0, conindid oid=0, conparentid oid=0, confrelid oid=0, \
              confupdtype char=, confdeltype char=, confmatchtype char=, conislocal bool=f, coninhcount int4=0, \
              connoinherit bool=f, conkey int2[], confkey int2[], conpfeqop oid[], conppeqop oid[], conffeqop oid[], \
              confdelsetcols int2[], conexclop oid[], conbin text",
    fill: Fill::Now(rows),
};

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 4] = [
    RelationKey::Oid("conrelid"),
    RelationKey::Part("oid"),
    RelationKey::Parent("confrelid"),
    RelationKey::Schema("connamespace"),
];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in &rows.user_relations(context, &KEYS) {
        for index in &table.indexes {
            let Some(oid) = index.constraint else { continue };
            rows.add([
                ("oid", value::oid(oid)),
                ("conname", value::text(&index.name)),
                ("connamespace", value::oid(table.schema_oid)),
                ("contype", value::text(if index.is_declared_primary() { "p" } else { "u" })),
                ("condeferrable", Datum::from(index.deferral.is_some())),
                ("condeferred", Datum::from(index.deferral.is_some_and(|deferral| deferral.deferred))),
                ("convalidated", Datum::from(true)),
                ("conrelid", value::oid(table.oid)),
                ("conindid", value::oid(index.oid)),
                ("confupdtype", value::text(" ")),
                ("confdeltype", value::text(" ")),
                ("confmatchtype", value::text(" ")),
                ("conislocal", Datum::from(true)),
                ("connoinherit", Datum::from(true)),
                ("conkey", value::int2s(index.columns.iter().map(|key| key.column))),
            ])?;
        }
        for check in &table.checks {
            rows.add([
                ("oid", value::oid(check.oid)),
                ("conname", value::text(&check.name)),
                ("connamespace", value::oid(table.schema_oid)),
                ("contype", value::text("c")),
                ("convalidated", Datum::from(!check.not_valid)),
                ("conrelid", value::oid(table.oid)),
                ("confupdtype", value::text(" ")),
                ("confdeltype", value::text(" ")),
                ("confmatchtype", value::text(" ")),
                ("conislocal", Datum::from(true)),
                ("connoinherit", Datum::from(check.no_inherit)),
                ("conkey", value::int2s(describe::check_columns(table, check))),
                ("conbin", value::text(&check.expression)),
            ])?;
        }
        for key in &table.foreign_keys {
            let parent = context.catalog.relation_by_oid(key.parent);
            let types = |table: Option<&TableDescriptor>, columns: &[ColumnId]| -> Vec<Oid> {
                let of = |id: &ColumnId| table?.live_columns().find(|column| column.id == *id).map(|column| column.ty);
                columns.iter().map(|id| of(id).map_or(0, compared)).collect()
            };
            let (own, referenced) = (types(Some(table), &key.columns), types(parent.as_deref(), &key.referenced));
            rows.add([
                ("oid", value::oid(key.oid)),
                ("conname", value::text(&key.name)),
                ("connamespace", value::oid(table.schema_oid)),
                ("contype", value::text("f")),
                ("condeferrable", Datum::from(key.deferrable)),
                ("condeferred", Datum::from(key.deferred)),
                ("convalidated", Datum::from(!key.not_valid)),
                ("conrelid", value::oid(table.oid)),
                ("conindid", value::oid(key.index)),
                ("confrelid", value::oid(key.parent)),
                ("confupdtype", value::text(key.on_update.code())),
                ("confdeltype", value::text(key.on_delete.code())),
                ("confmatchtype", value::text(if key.match_full { "f" } else { "s" })),
                ("conislocal", Datum::from(true)),
                ("connoinherit", Datum::from(true)),
                ("conkey", value::int2s(key.columns.iter().copied())),
                ("confkey", value::int2s(key.referenced.iter().copied())),
                ("conpfeqop", equalities(&referenced, &own)),
                ("conppeqop", equalities(&referenced, &referenced)),
                ("conffeqop", equalities(&own, &own)),
                (
                    "confdelsetcols",
                    match key.set_columns.is_empty() {
                        true => Datum::Null,
                        false => value::int2s(key.set_columns.iter().copied()),
                    },
                ),
            ])?;
        }
    }
    Ok(())
}

/// The type whose operators compare values of a type.
fn compared(ty: SqlType) -> Oid {
    const ANY_ARRAY: Oid = 2277;
    const ANY_ENUM: Oid = 3500;
    match ty.base {
        _ if ty.array => ANY_ARRAY,
        BaseType::Enum(_) => ANY_ENUM,
        BaseType::Varchar => SqlType::TEXT.oid(),
        _ => ty.oid(),
    }
}

/// The `=` operators of pairs of types. If a pair has none, that of the left type.
fn equalities(left: &[Oid], right: &[Oid]) -> Datum {
    let equality =
        |left: Oid, right: Oid| operators_of("=").find(|operator| operator.left == left && operator.right == right);
    let pairs = left.iter().zip(right);
    let found = pairs.map(|(left, right)| equality(*left, *right).or_else(|| equality(*left, *left)));
    value::int8s(found.map(|operator| operator.map_or(0, |operator| i64::from(operator.oid))))
}
