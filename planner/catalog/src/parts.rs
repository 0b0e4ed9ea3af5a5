//! OIDs of what belongs to a relation and has no descriptor of its own: defaults and the triggers of FOREIGN KEYs.

use crate::{ColumnId, TableDescriptor};
use types::Oid;

/// How many there are of a FOREIGN KEY.
pub const OF_A_KEY: i16 = 4;

/// OID of a default in pg_attrdef: above every OID that is given out, made of the table's.
pub fn default_oid(table: Oid, column: ColumnId) -> Oid {
    0x8000_0000 | (table.wrapping_mul(1601).wrapping_add(Oid::from(column.unsigned_abs())) & 0x7fff_ffff)
}

/// OID of one of the triggers that PostgreSQL keeps a FOREIGN KEY by, made of the key's like [`default_oid`].
pub fn trigger_oid(key: Oid, number: i16) -> Oid {
    default_oid(key, number)
}

/// OIDs of what belongs to a relation without being a relation or a type: constraints, their triggers, defaults, rules.
pub fn parts(table: &TableDescriptor) -> Vec<Oid> {
    let mut parts: Vec<Oid> = table.indexes.iter().filter_map(|index| index.constraint).collect();
    parts.extend(table.checks.iter().map(|check| check.oid));
    for key in &table.foreign_keys {
        parts.push(key.oid);
        parts.extend((1..=OF_A_KEY).map(|number| trigger_oid(key.oid, number)));
    }
    let valued = table.columns.iter().filter(|column| column.default.is_some() || column.generated.is_some());
    parts.extend(valued.map(|column| default_oid(table.oid, column.id)));
    parts.extend(table.view.as_ref().map(|view| view.rule));
    parts
}
