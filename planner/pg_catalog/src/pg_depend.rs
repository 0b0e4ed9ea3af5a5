//! `pg_depend`: the dependencies between user objects, as PostgreSQL records them.

use super::asked::RelationKey;
use super::definition::{Definition, Fill, Rows, value};
use super::describe::{self, default_oid, trigger_oid};
use binder::canonical::next_value_text;
use catalog::{ColumnId, TableDescriptor};
use executor::StatementContext;
use sql_error::Result;
use std::collections::HashMap;
use types::{BaseType, Datum, Oid};

pub(super) const VIEW: Definition = Definition {
    oid: 2608,
    name: "pg_catalog.pg_depend",
    columns: "classid oid=0, objid oid=0, objsubid int4=0, refclassid oid=0, refobjid oid=0, refobjsubid int4=0, \
              deptype char=",
    fill: Fill::Now(rows),
};

const PG_TYPE: Oid = 1247;
const PG_CLASS: Oid = 1259;
const PG_ATTRDEF: Oid = 2604;
const PG_CONSTRAINT: Oid = 2606;
const PG_NAMESPACE: Oid = 2615;
const PG_REWRITE: Oid = 2618;
const PG_TRIGGER: Oid = 2620;

/// A relation's OID, or that of a part of it, finds the objects that it depends on. The reverse
/// look-up scans all relations.
const KEYS: [RelationKey; 1] = [RelationKey::Object("objid")];

/// An object: the OID of its catalog, its own OID, and a column number.
type Object = (Oid, Oid, i32);

fn column_of(table: Oid, column: ColumnId) -> Object {
    (PG_CLASS, table, i32::from(column))
}

/// Records that an object depends on another.
fn add(rows: &mut Rows, object: Object, needed: Object, kind: &str) -> Result<()> {
    if !rows.may_have_oid("objid", object.1) || !rows.may_have_oid("refobjid", needed.1) {
        return Ok(());
    }
    rows.add([
        ("classid", value::oid(object.0)),
        ("objid", value::oid(object.1)),
        ("objsubid", Datum::from(object.2)),
        ("refclassid", value::oid(needed.0)),
        ("refobjid", value::oid(needed.1)),
        ("refobjsubid", Datum::from(needed.2)),
        ("deptype", value::text(kind)),
    ])
}

fn rows(context: &StatementContext, rows: &mut Rows) -> Result<()> {
    let mut sequences = HashMap::new();
    for sequence in context.catalog.user_relations().filter(|relation| relation.sequence.is_some()) {
        sequences.insert(next_value_text(&sequence.schema, &sequence.name), sequence.oid);
    }
    for ty in context.catalog.enums() {
        add(rows, (PG_TYPE, ty.oid, 0), (PG_NAMESPACE, ty.schema_oid, 0), "n")?;
        add(rows, (PG_TYPE, ty.array_oid, 0), (PG_TYPE, ty.oid, 0), "i")?;
    }
    for table in &rows.user_relations(context, &KEYS) {
        add(rows, (PG_CLASS, table.oid, 0), (PG_NAMESPACE, table.schema_oid, 0), "n")?;
        columns(table, &sequences, rows)?;
        constraints(table, rows)?;
        indexes(table, rows)?;
        view(table, rows)?;
        if let Some((owner, column)) = table.sequence.as_ref().and_then(|parameters| parameters.owned_by) {
            let identity = context
                .catalog
                .relation_by_oid(owner)
                .is_some_and(|owner| owner.column(column).is_some_and(|column| column.identity.is_some()));
            add(rows, (PG_CLASS, table.oid, 0), column_of(owner, column), if identity { "i" } else { "a" })?;
        }
    }
    Ok(())
}

fn columns(table: &TableDescriptor, sequences: &HashMap<String, Oid>, rows: &mut Rows) -> Result<()> {
    for column in table.live_columns() {
        let own = column_of(table.oid, column.id);
        if matches!(column.ty.base, BaseType::Enum(_)) && table.view.is_none() {
            add(rows, own, (PG_TYPE, column.ty.oid(), 0), "n")?;
        }
        let value = (PG_ATTRDEF, default_oid(table.oid, column.id), 0);
        if let Some(generated) = &column.generated {
            add(rows, value, own, "i")?;
            for needed in describe::named_columns(table, generated) {
                add(rows, value, column_of(table.oid, needed), "n")?;
            }
        } else if let Some(default) = column.default.as_ref().filter(|_| column.identity.is_none()) {
            add(rows, value, own, "a")?;
            if let Some(sequence) = sequences.get(default) {
                add(rows, value, (PG_CLASS, *sequence, 0), "n")?;
            }
        }
    }
    Ok(())
}

fn constraints(table: &TableDescriptor, rows: &mut Rows) -> Result<()> {
    for check in &table.checks {
        let own = (PG_CONSTRAINT, check.oid, 0);
        let needed = describe::check_columns(table, check);
        if needed.is_empty() {
            add(rows, own, (PG_CLASS, table.oid, 0), "a")?;
        }
        for column in needed {
            add(rows, own, column_of(table.oid, column), "a")?;
            add(rows, own, column_of(table.oid, column), "n")?;
        }
    }
    for key in &table.foreign_keys {
        let own = (PG_CONSTRAINT, key.oid, 0);
        for column in &key.columns {
            add(rows, own, column_of(table.oid, *column), "a")?;
        }
        for column in &key.referenced {
            add(rows, own, column_of(key.parent, *column), "n")?;
        }
        add(rows, own, (PG_CLASS, key.index, 0), "n")?;
        for number in 1..=super::pg_trigger::OF_A_KEY {
            add(rows, (PG_TRIGGER, trigger_oid(key.oid, number), 0), own, "i")?;
        }
    }
    Ok(())
}

fn indexes(table: &TableDescriptor, rows: &mut Rows) -> Result<()> {
    for index in &table.indexes {
        let own = (PG_CLASS, index.oid, 0);
        let mut plain: Vec<ColumnId> =
            index.columns.iter().map(|key| key.column).filter(|column| *column != 0).collect();
        plain.extend(&index.include);
        if let Some(constraint) = index.constraint {
            add(rows, own, (PG_CONSTRAINT, constraint, 0), "i")?;
            for column in plain {
                add(rows, (PG_CONSTRAINT, constraint, 0), column_of(table.oid, column), "a")?;
            }
            continue;
        }
        if plain.is_empty() {
            add(rows, own, (PG_CLASS, table.oid, 0), "a")?;
        }
        let texts = index.expressions.iter().map(|expression| &expression.text).chain(&index.predicate);
        for column in texts.flat_map(|text| describe::named_columns(table, text)) {
            if !plain.contains(&column) {
                plain.push(column);
            }
        }
        for column in plain {
            add(rows, own, column_of(table.oid, column), "a")?;
        }
    }
    Ok(())
}

fn view(table: &TableDescriptor, rows: &mut Rows) -> Result<()> {
    let Some(view) = &table.view else { return Ok(()) };
    let own = (PG_REWRITE, view.rule, 0);
    add(rows, own, (PG_CLASS, table.oid, 0), "i")?;
    add(rows, own, (PG_CLASS, table.oid, 0), "n")?;
    for relation in &view.relations {
        if relation.used.is_empty() {
            add(rows, own, (PG_CLASS, relation.oid, 0), "n")?;
        }
        for column in &relation.used {
            add(rows, own, column_of(relation.oid, *column), "n")?;
        }
    }
    Ok(())
}
