//! [`Asked`]: which columns and rows of a system view a scan reads, and [`IndexedRows`], which answers it from rows that are
//! there already.
//!
//! A key is a column with the values of which a row must have one. A view may use a key to find its rows, and leaves out rows
//! that lack one. The filter of the scan stands above it all the same.

use super::{OWN_SCHEMA, SYSTEM_SCHEMAS, view};
use crate::catalog::{Catalog, RelationKind, TableDescriptor};
use crate::error::Result;
use crate::types::record::relation_of_type;
use crate::types::{Datum, Oid};
use datafusion::arrow::array::{ArrayRef, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

/// A column, and the values of which a row must have one.
#[derive(Clone, Debug)]
pub struct AskedKey {
    /// Its place among the view's columns.
    pub column: usize,
    /// The values, none of them NULL.
    pub values: HashSet<Datum>,
}

/// The columns and rows of a view that a scan reads.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Places of the columns, in the order of the answer.
    pub columns: Vec<usize>,
    /// A row must fulfil all of them.
    pub keys: Vec<AskedKey>,
}

impl Asked {
    /// Everything that a view has.
    pub fn everything(of: &TableDescriptor) -> Asked {
        Asked { columns: (0..of.columns.len()).collect(), keys: Vec::new() }
    }

    /// The values asked for in a column.
    pub fn key(&self, column: usize) -> Option<&HashSet<Datum>> {
        self.keys.iter().find(|key| key.column == column).map(|key| &key.values)
    }
}

/// What a view answers.
#[derive(Clone, Debug)]
pub struct Found {
    /// The columns asked for.
    pub rows: RecordBatch,
    /// How many rows were made or looked at.
    pub examined: usize,
}

/// How a column of a view names the relation that a row belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum RelationKey {
    /// By the OID of the relation or of an index of it.
    Oid(&'static str),
    /// By the OID of a constraint, a trigger, a default or a rule of it.
    Part(&'static str),
    /// By the OID of the relation, of an index of it, or of such a part.
    Object(&'static str),
    /// By the OID of a table that a FOREIGN KEY of the relation refers to.
    Parent(&'static str),
    /// By the OID of the type of its rows.
    RowType(&'static str),
    /// By its name or the name of an index of it.
    Name(&'static str),
    /// By the name of the type of its rows, or of their arrays.
    RowTypeName(&'static str),
    /// By the OID of its schema.
    Schema(&'static str),
    /// By the name of its schema.
    SchemaName(&'static str),
}

impl RelationKey {
    /// The column.
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

    /// Whether rows of relations have a 0 in the column.
    fn may_be_zero(self) -> bool {
        let always = ["oid", "adrelid", "attrelid", "indexrelid", "indrelid", "ev_class", "relid", "seqrelid"];
        self.column() != "oid" && !matches!(self, RelationKey::Oid(column) if always.contains(&column))
    }

    /// The relations that these values name; `None` for a key that finds none without looking at all.
    fn find(self, catalog: &Catalog, values: &HashSet<Datum>) -> Option<Vec<Arc<TableDescriptor>>> {
        let oids = || values.iter().filter_map(oid_of);
        // Where a relation has no such thing, the column is 0.
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

    /// Whether a relation may be one that these values name, as far as a key that finds none tells.
    fn allows(self, table: &TableDescriptor, values: &HashSet<Datum>) -> bool {
        match self {
            RelationKey::Schema(_) => values.iter().filter_map(oid_of).any(|oid| oid == table.schema_oid),
            RelationKey::SchemaName(_) => values.iter().filter_map(text_of).any(|name| name == table.schema),
            _ => true,
        }
    }
}

/// The OID that a value of a view is.
pub(super) fn oid_of(value: &Datum) -> Option<Oid> {
    match value {
        Datum::Int64(Some(oid)) => Oid::try_from(*oid).ok(),
        _ => None,
    }
}

/// The text that a value of a view is.
pub(super) fn text_of(value: &Datum) -> Option<&str> {
    match value {
        Datum::Utf8(Some(text)) => Some(text),
        _ => None,
    }
}

fn relation_or_indexed(catalog: &Catalog, oid: Oid) -> Option<Arc<TableDescriptor>> {
    catalog.relation_by_oid(oid).or_else(|| catalog.index(oid).map(|(table, _)| table))
}

/// The relations that an OID is of: their own, of an index or another part of them.
pub(super) fn relations_of_object(catalog: &Catalog, oid: Oid) -> Vec<Arc<TableDescriptor>> {
    let parts = catalog.relations_with(oid).cloned();
    relation_or_indexed(catalog, oid).into_iter().chain(parts).collect()
}

/// The relations of a name in any schema, and those with an index of that name.
pub(super) fn relations_named(catalog: &Catalog, name: &str) -> Vec<Arc<TableDescriptor>> {
    let system = SYSTEM_SCHEMAS.iter().filter_map(|(_, schema)| view(schema, name));
    let mut found: Vec<_> = system.map(|view| Arc::clone(view.descriptor())).collect();
    found.extend(catalog.user_relations_named(name));
    found
}

/// The relations of which a view has rows that are asked for, by OID. `values`: what is asked of a column; `system`: whether the
/// view tells of system views too.
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

/// Places of rows by the value of a column.
type Places = HashMap<Datum, Vec<u32>>;

/// Rows that are found by one key without asking whether another finds fewer.
const FEW: usize = 64;

/// Rows that answer one scan after the other by their keys.
#[derive(Debug)]
pub struct IndexedRows {
    rows: RecordBatch,
    /// Of each column of `rows`, made when a key of it is first asked for.
    places: Vec<OnceLock<Places>>,
}

impl IndexedRows {
    /// For rows that are there.
    pub fn new(rows: RecordBatch) -> IndexedRows {
        let places = rows.columns().iter().map(|_| OnceLock::new()).collect();
        IndexedRows { rows, places }
    }

    /// The rows that have the keys asked for. `at`: for each column asked for or named by a key, its place in these rows.
    pub fn find(&self, asked: &Asked, at: impl Fn(usize) -> Option<usize>) -> Result<Found> {
        let columns: Vec<ArrayRef> =
            asked.columns.iter().filter_map(|column| self.rows.columns().get(at(*column)?).cloned()).collect();
        let fields: Vec<_> =
            asked.columns.iter().filter_map(|column| self.rows.schema().fields().get(at(*column)?).cloned()).collect();
        let schema = Arc::new(datafusion::arrow::datatypes::Schema::new(fields));
        let (columns, count) = match self.fewest(asked, at)? {
            None => (columns, self.rows.num_rows()),
            Some(mut found) => {
                found.sort_unstable();
                let found = UInt32Array::from(found);
                let taken = columns.iter().map(|column| take(column, &found, None));
                (taken.collect::<std::result::Result<Vec<_>, _>>()?, found.values().len())
            }
        };
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(Found { rows: RecordBatch::try_new_with_options(schema, columns, &options)?, examined: count })
    }

    /// The places of the rows that a key finds, of the key that finds few; `None` where there is no key.
    fn fewest(&self, asked: &Asked, at: impl Fn(usize) -> Option<usize>) -> Result<Option<Vec<u32>>> {
        let mut keys: Vec<_> = asked.keys.iter().filter_map(|key| Some((&key.values, at(key.column)?))).collect();
        keys.sort_by_key(|(values, _)| values.len());
        let mut fewest: Option<(usize, Vec<&Vec<u32>>)> = None;
        for (values, column) in keys {
            // To look by another key costs as much as to take so many rows.
            if fewest.as_ref().is_some_and(|(count, _)| *count <= values.len().max(FEW)) {
                break;
            }
            let places = self.places_by(column)?;
            let found: Vec<_> = values.iter().filter_map(|value| places.get(value)).collect();
            let count = found.iter().map(|places| places.len()).sum();
            if fewest.as_ref().is_none_or(|(least, _)| count < *least) {
                fewest = Some((count, found));
            }
        }
        Ok(fewest.map(|(_, found)| found.into_iter().flatten().copied().collect()))
    }

    fn places_by(&self, column: usize) -> Result<&Places> {
        let missing = || crate::SqlError::internal("a system view lacks the column of a key");
        let (known, values) = (self.places.get(column), self.rows.columns().get(column));
        let (known, values) = known.zip(values).ok_or_else(missing)?;
        if let Some(known) = known.get() {
            return Ok(known);
        }
        let mut places = Places::new();
        for row in 0..self.rows.num_rows() {
            let place = u32::try_from(row).map_err(|_| crate::SqlError::internal("too many rows in a system view"))?;
            places.entry(Datum::try_from_array(values, row)?).or_default().push(place);
        }
        Ok(known.get_or_init(|| places))
    }
}
