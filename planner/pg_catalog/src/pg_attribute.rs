//! `pg_attribute`: columns of tables, sequences, views and indexes.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::pg_type::type_facts;
use binder::{SYSTEM_COLUMNS, has_system_columns};
use catalog::{ColumnDescriptor, Identity, IndexExpression, RelationKind};
use executor::StatementContext;
use sql_error::Result;
use types::{Datum, Oid};

pub(super) const VIEW: Definition = Definition {
    oid: 1249,
    name: "pg_catalog.pg_attribute",
    columns: "attrelid oid=0, attname name=, atttypid oid=0, attstattarget int4=0, attlen int2=0, attnum int2=0, \
              attndims int4=0, attcacheoff int4=0, atttypmod int4=0, attbyval bool=f, attalign char=, attstorage \
              char=, attcompression char=, attnotnull bool=f, atthasdef bool=f, atthasmissing bool=f, attidentity \
              char=, attgenerated char=, attisdropped bool=f, attislocal bool=f, attinhcount int4=0, attcollation \
              oid=0, attacl text[], attoptions text[], attfdwoptions text[], attmissingval text",
    fill: Fill::Now(rows),
};

/// Adds the row of a column.
fn add(
    context: &StatementContext,
    rows: &mut Rows,
    relation: Oid,
    number: i16,
    column: &ColumnDescriptor,
    of_index: bool,
) -> Result<()> {
    let granted = Some(&column.acl).filter(|acl| !acl.is_empty() && !of_index);
    let shown = super::privileges::shown(&context.catalog, granted);
    let facts = type_facts(&column.ty);
    let collation = column.collation.as_deref().map(super::object_names::collation_oid);
    let identity = match column.identity {
        Some(Identity::Always) if !of_index => "a",
        Some(Identity::ByDefault) if !of_index => "d",
        _ => "",
    };
    rows.add([
        ("attrelid", value::oid(relation)),
        ("attname", value::text(&column.name)),
        ("atttypid", value::oid(if column.dropped { 0 } else { column.ty.oid() })),
        ("attstattarget", Datum::from(if column.dropped { 0 } else { column.statistics.map_or(-1, i32::from) })),
        ("attlen", Datum::from(column.ty.length())),
        ("attnum", Datum::from(number)),
        ("attndims", Datum::from(i32::from(column.dimensions))),
        ("attcacheoff", Datum::from(-1)),
        ("atttypmod", Datum::from(if column.ty.is_vector() { -1 } else { column.ty.modifier })),
        ("attbyval", Datum::from(facts.by_value)),
        ("attalign", value::text(facts.align)),
        ("attstorage", value::text(column.storage.as_deref().unwrap_or(facts.storage))),
        ("attnotnull", Datum::from(column.not_null && !of_index)),
        (
            "atthasdef",
            Datum::from(
                (column.default.is_some() || column.generated.is_some()) && column.identity.is_none() && !of_index,
            ),
        ),
        ("atthasmissing", Datum::from(column.missing.is_some() && !of_index)),
        ("attacl", shown),
        ("attidentity", value::text(identity)),
        ("attgenerated", value::text(if column.generated.is_some() && !of_index { "s" } else { "" })),
        ("attisdropped", Datum::from(column.dropped)),
        ("attislocal", Datum::from(true)),
        ("attcollation", value::oid(collation.unwrap_or(facts.collation))),
        ("attoptions", super::pg_class::parameters(&column.parameters)),
    ])
}

/// The columns by which a scan's keys find the relation of a row.
const KEYS: [RelationKey; 1] = [RelationKey::Oid("attrelid")];

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    for table in rows.relations(context, &KEYS) {
        if has_system_columns(&table) {
            // A system view with a column of this name has no such system column.
            let own = |name: &str| table.kind == RelationKind::SystemView && table.column_named(name).is_some();
            for (name, number, ty) in SYSTEM_COLUMNS.into_iter().filter(|(name, ..)| !own(name)) {
                let column = ColumnDescriptor { name: name.into(), ty, not_null: true, ..Default::default() };
                add(context, rows, table.oid, number, &column, false)?;
            }
        }
        for column in &table.columns {
            if table.kind == RelationKind::SystemView && column.ty.array {
                let column = ColumnDescriptor { dimensions: 1, ..column.clone() };
                add(context, rows, table.oid, column.id, &column, false)?;
                continue;
            }
            add(context, rows, table.oid, column.id, column, false)?;
        }
        for index in &table.indexes {
            // The statistics target of a table's column does not apply to the index.
            let of_column = |column: &ColumnDescriptor| ColumnDescriptor { statistics: None, ..column.clone() };
            let of_expression = |expression: &IndexExpression| ColumnDescriptor {
                name: expression.name.clone(),
                ty: expression.ty,
                statistics: expression.statistics,
                ..Default::default()
            };
            let keys = index.parts().map(|(key, expression)| match expression {
                Some(expression) => Some(of_expression(expression)),
                None => table.column(key.column).map(of_column),
            });
            let included = index.include.iter().map(|id| table.column(*id).map(of_column));
            let columns: Vec<ColumnDescriptor> = keys.chain(included).flatten().collect();
            let names = super::describe::each_once(columns.iter().map(|column| column.name.as_str()));
            for ((number, column), name) in (1_i16..).zip(columns).zip(names) {
                add(context, rows, index.oid, number, &ColumnDescriptor { name, ..column }, true)?;
            }
        }
    }
    Ok(())
}
