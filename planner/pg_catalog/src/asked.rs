//! [`RelationKey`]: the relations whose rows a scan of a system view asks for.
//!
//! A key is a column with a set of permitted values. A view may use a key to find its rows, and may omit rows that do
//! not match it. The scan's filter is applied in any case.

use super::{OWN_SCHEMA, SYSTEM_SCHEMAS, view};
use catalog::{Catalog, RelationKind, TableDescriptor};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use types::record::relation_of_type;
use types::{Datum, Oid};

/// The kind of reference from a view's row to its relation, with the column that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) enum RelationKey {
    /// The OID of the relation or of one of its indexes.
    Oid(&'static str),
    /// The OID of one of its constraints, triggers, defaults or rules.
    Part(&'static str),
    /// The OID of the relation, of one of its indexes, or of such a part.
    Object(&'static str),
    /// The OID of a table that one of its FOREIGN KEYs refers to.
    Parent(&'static str),
    /// The OID of its row type.
    RowType(&'static str),
    /// Its name, or the name of one of its indexes.
    Name(&'static str),
    /// The name of its row type, or of the array type of that.
    RowTypeName(&'static str),
    /// The OID of its schema.
    Schema(&'static str),
    /// The name of its schema.
    SchemaName(&'static str),
}

impl RelationKey {
    /// The name of the column.
    pub(super) fn column(self) -> &'static str {
        match self {
            RelationKey::Oid(column)
            | RelationKey::Part(column)
            | RelationKey::Object(column)
            | RelationKey::Parent(column)
            | RelationKey::RowType(column)
            | RelationKey::Name(column)
            | RelationKey::RowTypeName(column)
            | RelationKey::Schema(column)
            | RelationKey::SchemaName(column) => column,
        }
    }

    /// Whether rows of relations may have 0 in the column.
    fn may_be_zero(self) -> bool {
        let always = ["oid", "adrelid", "attrelid", "indexrelid", "indrelid", "ev_class", "relid", "seqrelid"];
        self.column() != "oid" && !matches!(self, RelationKey::Oid(column) if always.contains(&column))
    }

    /// The relations with these values. `None` for a key that cannot be looked up.
    fn find(self, catalog: &Catalog, values: &HashSet<Datum>) -> Option<Vec<Arc<TableDescriptor>>> {
        let oids = || values.iter().filter_map(oid_of);
        // A relation without such a part has 0 in the column.
        if self.may_be_zero() && oids().any(|oid| oid == 0) {
            return None;
        }
        Some(match self {
            RelationKey::Oid(_) => oids().filter_map(|oid| relation_or_indexed(catalog, oid)).collect(),
            RelationKey::Part(_) => oids().flat_map(|oid| catalog.relations_with(oid)).cloned().collect(),
            RelationKey::Object(_) => oids().flat_map(|oid| relations_of_object(catalog, oid)).collect(),
            RelationKey::Parent(_) => oids().flat_map(|oid| catalog.referencing(oid)).map(|(table, _)| table).collect(),
            RelationKey::RowType(_) => {
                let relations = oids().filter_map(relation_of_type).map(|(relation, _)| relation);
                relations.filter_map(|oid| catalog.relation_by_oid(oid)).collect()
            }
            RelationKey::Name(_) => {
                let names = values.iter().filter_map(text_of);
                names.flat_map(|name| relations_named(catalog, name)).collect()
            }
            RelationKey::RowTypeName(_) => {
                let names = values.iter().filter_map(text_of);
                let names = names.flat_map(|name| std::iter::once(name).chain(name.strip_prefix('_')));
                names.flat_map(|name| relations_named(catalog, name)).collect()
            }
            RelationKey::Schema(_) | RelationKey::SchemaName(_) => return None,
        })
    }

    /// Whether a relation may have one of these values, as far as a key without a look-up can tell.
    fn allows(self, table: &TableDescriptor, values: &HashSet<Datum>) -> bool {
        match self {
            RelationKey::Schema(_) => values.iter().filter_map(oid_of).any(|oid| oid == table.schema_oid),
            RelationKey::SchemaName(_) => values.iter().filter_map(text_of).any(|name| name == table.schema),
            _ => true,
        }
    }
}

/// The OID in a value of a view.
pub(super) fn oid_of(value: &Datum) -> Option<Oid> {
    match value {
        Datum::Int64(Some(oid)) => Oid::try_from(*oid).ok(),
        _ => None,
    }
}

/// The text in a value of a view.
pub(super) fn text_of(value: &Datum) -> Option<&str> {
    match value {
        Datum::Utf8(Some(text)) => Some(text),
        _ => None,
    }
}

fn relation_or_indexed(catalog: &Catalog, oid: Oid) -> Option<Arc<TableDescriptor>> {
    catalog.relation_by_oid(oid).or_else(|| catalog.index(oid).map(|(table, _)| table))
}

/// The relations that an OID belongs to: their own OID, or that of an index or another part.
pub(super) fn relations_of_object(catalog: &Catalog, oid: Oid) -> Vec<Arc<TableDescriptor>> {
    let parts = catalog.relations_with(oid).cloned();
    relation_or_indexed(catalog, oid).into_iter().chain(parts).collect()
}

/// The relations of this name in any schema, and those with an index of this name.
pub(super) fn relations_named(catalog: &Catalog, name: &str) -> Vec<Arc<TableDescriptor>> {
    let system = SYSTEM_SCHEMAS.iter().filter_map(|(_, schema)| view(schema, name));
    let mut found: Vec<_> = system.map(|view| Arc::clone(view.descriptor())).collect();
    found.extend(catalog.user_relations_named(name));
    found
}

/// The relations with requested rows of a view, sorted by OID. `values` returns the permitted values of a column.
/// `system` tells whether the view includes system views.
pub(super) fn relations<'a>(
    catalog: &Catalog,
    keys: &[RelationKey],
    values: impl Fn(&str) -> Option<&'a HashSet<Datum>>,
    system: bool,
) -> Vec<Arc<TableDescriptor>> {
    let found = keys.iter().find_map(|key| key.find(catalog, values(key.column())?));
    let mut relations: Vec<_> = match found {
        Some(found) => {
            let each: BTreeMap<Oid, _> = found.into_iter().map(|table| (table.oid, table)).collect();
            let shown = |table: &Arc<TableDescriptor>| {
                table.kind != RelationKind::SystemView || system && table.schema != OWN_SCHEMA
            };
            each.into_values().filter(shown).collect()
        }
        None if system => catalog.relations(),
        None => catalog.user_relations().cloned().collect(),
    };
    for key in keys {
        if let Some(values) = values(key.column()) {
            relations.retain(|table| key.allows(table, values));
        }
    }
    relations
}
