//! [`SystemView`]: a relation whose rows are computed; [`Asked`]: the columns and rows that a scan reads of it. [`IndexedRows`]
//! answers scans from existing rows.
//!
//! A key is a column with a set of permitted values. A view may use a key to find its rows, and may omit rows that do
//! not match it. The scan's filter is applied in any case.

use crate::slots::StatementContext;
use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use async_trait::async_trait;
use catalog::TableDescriptor;
use sql_error::{Result, SqlError};
use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use types::{Datum, Oid};

/// A relation with computed rows.
#[async_trait]
pub trait SystemView: Debug + Send + Sync {
    /// The descriptor. Its `kind` is `RelationKind::SystemView`.
    fn descriptor(&self) -> &Arc<TableDescriptor>;

    /// Whether the rows depend only on the catalog and the session. Then they are constant during a statement.
    fn is_of_catalog(&self) -> bool;

    /// The requested columns of the rows that the statement sees, in the Arrow form of their types. Rows that do not
    /// match the keys may be omitted.
    async fn rows(&self, context: &StatementContext, asked: &Asked) -> Result<Found>;
}

/// A column and the values that a row may have in it.
#[derive(Clone, Debug)]
pub struct AskedKey {
    /// The index of the column in the view.
    pub column: usize,
    /// The permitted values, none of them NULL.
    pub values: HashSet<Datum>,
}

/// The columns and rows of a view that a scan reads.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The indexes of the columns, in output order.
    pub columns: Vec<usize>,
    /// The keys, all of which a row must match.
    pub keys: Vec<AskedKey>,
}

impl Asked {
    /// All columns and rows of a view.
    pub fn everything(of: &TableDescriptor) -> Asked {
        Asked { columns: (0..of.columns.len()).collect(), keys: Vec::new() }
    }

    /// The permitted values of a column. `None` if it is not a key.
    pub fn key(&self, column: usize) -> Option<&HashSet<Datum>> {
        self.keys.iter().find(|key| key.column == column).map(|key| &key.values)
    }
}

/// The result of reading a view.
#[derive(Clone, Debug)]
pub struct Found {
    /// The rows, with the requested columns.
    pub rows: RecordBatch,
    /// The number of rows that were made or examined.
    pub examined: usize,
}

/// The indexes of rows by the value of a column.
type Places = HashMap<Datum, Vec<u32>>;

/// If a key finds at most this many rows, no other key is tried.
const FEW: usize = 64;

/// Rows that answer scans by their keys.
#[derive(Debug)]
pub struct IndexedRows {
    rows: RecordBatch,
    /// For each column of `rows`, made at the first look-up by it.
    places: Vec<OnceLock<Places>>,
}

impl IndexedRows {
    /// Makes an index over existing rows.
    pub fn new(rows: RecordBatch) -> IndexedRows {
        let places = rows.columns().iter().map(|_| OnceLock::new()).collect();
        IndexedRows { rows, places }
    }

    /// The rows that match the keys. `at` maps a column of the view to its index in these rows.
    pub fn find(&self, asked: &Asked, at: impl Fn(usize) -> Option<usize>) -> Result<Found> {
        let columns: Vec<ArrayRef> =
            asked.columns.iter().filter_map(|column| self.rows.columns().get(at(*column)?).cloned()).collect();
        let fields: Vec<_> =
            asked.columns.iter().filter_map(|column| self.rows.schema().fields().get(at(*column)?).cloned()).collect();
        let schema = Arc::new(arrow::datatypes::Schema::new(fields));
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

    /// The indexes of the rows found by a selective key. `None` if there is no key.
    fn fewest(&self, asked: &Asked, at: impl Fn(usize) -> Option<usize>) -> Result<Option<Vec<u32>>> {
        let mut keys: Vec<_> = asked.keys.iter().filter_map(|key| Some((&key.values, at(key.column)?))).collect();
        keys.sort_by_key(|(values, _)| values.len());
        let mut fewest: Option<(usize, Vec<&Vec<u32>>)> = None;
        for (values, column) in keys {
            // Looking up another key costs as much as reading this many rows.
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
        let missing = || SqlError::internal("a system view lacks the column of a key");
        let (known, values) = (self.places.get(column), self.rows.columns().get(column));
        let (known, values) = known.zip(values).ok_or_else(missing)?;
        if let Some(known) = known.get() {
            return Ok(known);
        }
        let mut places = Places::new();
        for row in 0..self.rows.num_rows() {
            let place = u32::try_from(row).map_err(|_| SqlError::internal("too many rows in a system view"))?;
            places.entry(Datum::try_from_array(values, row)?).or_default().push(place);
        }
        Ok(known.get_or_init(|| places))
    }
}

/// Finds a system view by its OID.
pub type FindView = fn(Oid) -> Option<&'static Arc<dyn SystemView>>;

static FIND: OnceLock<FindView> = OnceLock::new();

/// Makes the system views known to the whole process. The first call counts.
pub fn install(find: FindView) {
    let _ = FIND.set(find);
}

/// The system view with this OID.
pub fn view_by_oid(oid: Oid) -> Option<&'static Arc<dyn SystemView>> {
    FIND.get().and_then(|find| find(oid))
}
