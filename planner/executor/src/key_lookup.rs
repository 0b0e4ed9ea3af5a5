//! [`KeyLookup`]: looks up rows of a table by the leading columns of an index, with values from a join. For whole
//! primary keys, [`NamedRows`] gives each row's position in a batch.

use super::output::ScanOutput;
use super::range_reader::{ReadOptions, read_ranges};
use super::slots::StatementContext;
use super::value::{Fitted, Value};
use bytes::Bytes;
use catalog::IndexDescriptor;
use catalog::encoding::{KeyEncoder, table_prefix};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::MemoryReservation;
use foldhash::fast::RandomState;
use futures::TryStreamExt;
use sql_error::Result;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use storage::RowRange;
use txn::OwnWrites;
use types::Datum;

/// The source of a key column's value.
#[derive(Clone, Debug)]
pub enum LookupKey {
    /// The join's array at this position.
    Joined(usize),
    /// A value from a filter of the table.
    Fixed(Value),
}

/// A lookup by an index.
#[derive(Clone, Debug)]
pub struct KeyLookup {
    /// The columns that are returned.
    pub output: ScanOutput,
    /// The index that is used.
    pub index: Arc<IndexDescriptor>,
    /// Encoder of the index's key.
    pub encoder: Arc<KeyEncoder>,
    /// Sources of its leading columns.
    pub columns: Vec<LookupKey>,
}

/// The rows that were found by keys.
#[derive(Debug)]
pub struct NamedRows {
    /// The rows found, each once.
    pub batch: RecordBatch,
    /// For each key, the position of its row. `None` if there is no such row.
    pub row_of: Vec<Option<u32>>,
}

/// All rows of a table or range, indexed by key.
#[derive(Debug)]
pub struct Everything {
    batch: RecordBatch,
    rows: HashMap<Bytes, u32, RandomState>,
}

impl Everything {
    /// Number of rows it holds.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it holds no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Applies `change` to the rows once. A dropped row is not found by its key any more.
    pub fn through(self, change: impl FnOnce(NamedRows) -> Result<NamedRows>) -> Result<Everything> {
        let Everything { batch, mut rows } = self;
        let row_of = (0u32..).take(batch.num_rows()).map(Some).collect();
        let NamedRows { batch, row_of } = change(NamedRows { batch, row_of })?;
        rows.retain(|_, row| match row_of.get(*row as usize).copied().flatten() {
            Some(place) => {
                *row = place;
                true
            }
            None => false,
        });
        Ok(Everything { batch, rows })
    }
}

/// Concatenated encoded keys. `None` for a key with a NULL, which finds nothing.
struct Encoded {
    bytes: Bytes,
    keys: Vec<Option<Range<usize>>>,
}

impl Encoded {
    fn key(&self, at: usize) -> Option<&[u8]> {
        self.bytes.get(self.keys.get(at)?.clone()?)
    }
}

impl KeyLookup {
    /// Whether each key is a whole primary key, which identifies at most one row.
    pub fn names_rows(&self) -> bool {
        self.index.primary && self.columns.len() == self.index.columns.len()
    }

    /// The values of the columns that filters fix. `None` if no row can have them.
    fn fixed(&self, context: &StatementContext) -> Result<Option<Vec<Option<Datum>>>> {
        let mut values = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            values.push(match column {
                LookupKey::Joined(_) => None,
                LookupKey::Fixed(value) => match value.evaluate(context)? {
                    Fitted::Is(value) if !value.is_null() => Some(value),
                    _ => return Ok(None),
                },
            });
        }
        Ok(Some(values))
    }

    fn encode(&self, context: &StatementContext, joined: &[ArrayRef]) -> Result<Encoded> {
        let rows = joined.first().map_or(0, |array| array.len());
        let Some(fixed) = self.fixed(context)? else {
            return Ok(Encoded { bytes: Bytes::new(), keys: vec![None; rows] });
        };
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (column, value) in self.columns.iter().zip(&fixed) {
            match (column, value) {
                (_, Some(value)) => arrays.push(value.to_array_of_size(rows)?),
                (LookupKey::Joined(position), None) => arrays.extend(joined.get(*position).cloned()),
                (LookupKey::Fixed(_), None) => {}
            }
        }
        let prefix = table_prefix(self.index.storage_id);
        let (mut bytes, mut keys) = (Vec::new(), Vec::with_capacity(rows));
        for row in 0..rows {
            // NULL matches nothing in a join.
            keys.push(if arrays.iter().any(|array| array.is_null(row)) {
                None
            } else {
                let start = bytes.len();
                bytes.extend_from_slice(&prefix);
                self.encoder.encode_row(&arrays, row, &mut bytes)?;
                Some(start..bytes.len())
            });
        }
        Ok(Encoded { bytes: bytes.into(), keys })
    }

    /// The encoded keys without NULLs, sorted and distinct.
    pub fn keys(&self, context: &StatementContext, batches: &[Vec<ArrayRef>]) -> Result<Vec<Bytes>> {
        let mut keys = Vec::new();
        for joined in batches {
            let encoded = self.encode(context, joined)?;
            keys.extend(encoded.keys.into_iter().flatten().map(|key| encoded.bytes.slice(key)));
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// Finds the rows of whole primary keys, each row once. Only keys within `range` are read.
    pub async fn find(
        &self,
        context: &StatementContext,
        joined: &[ArrayRef],
        range: Option<&RowRange>,
    ) -> Result<NamedRows> {
        debug_assert!(self.names_rows());
        let encoded = self.encode(context, joined)?;
        let named = |at: &usize| encoded.key(*at).is_some_and(|key| range.is_none_or(|range| range.contains(key)));
        let mut in_order: Vec<usize> = (0..encoded.keys.len()).filter(named).collect();
        in_order.sort_unstable_by(|one, other| encoded.key(*one).cmp(&encoded.key(*other)));
        // The position of each key among the distinct ones.
        let (mut keys, mut numbers) = (Vec::<Bytes>::new(), Vec::with_capacity(in_order.len()));
        for at in &in_order {
            let Some(key) = encoded.keys.get(*at).cloned().flatten() else { continue };
            if keys.last().map(|last| &last[..]) != encoded.bytes.get(key.clone()) {
                keys.push(encoded.bytes.slice(key));
            }
            numbers.push((*at, keys.len() - 1));
        }
        let own = OwnWrites::Before(context.command);
        let values = match keys.as_slice() {
            [] => vec![],
            [key] => vec![context.transaction.get(key, own).await?],
            keys => Box::pin(context.transaction.get_many(keys, own)).await?,
        };
        let mut places = 0u32..;
        let places: Vec<Option<u32>> =
            values.iter().map(|value| if value.is_some() { places.next() } else { None }).collect();
        let found = keys.iter().zip(&values).filter_map(|(key, value)| Some((&key[..], value.as_deref()?)));
        let batch = self.output.decode(found)?;
        let mut row_of = vec![None; encoded.keys.len()];
        for (at, number) in numbers {
            if let Some(row) = row_of.get_mut(at) {
                *row = places.get(number).copied().flatten();
            }
        }
        Ok(NamedRows { batch, row_of })
    }

    /// Reads all rows of `ranges`, which belong to the table. `None` if there are more than `most`, or if `memory` is
    /// exhausted.
    pub async fn everything(
        &self,
        context: &StatementContext,
        ranges: Vec<RowRange>,
        memory: &MemoryReservation,
        most: usize,
    ) -> Result<Option<Everything>> {
        let own = OwnWrites::Before(context.command);
        let options = ReadOptions { reverse: false, fetch: None, own };
        let mut pairs = read_ranges(Arc::clone(&context.transaction), ranges, options);
        let (mut batches, mut rows) = (Vec::new(), HashMap::with_hasher(RandomState::default()));
        while let Some(pairs) = pairs.try_next().await? {
            context.session.check_interrupt()?;
            let mut bytes = 0;
            for (key, _) in pairs.iter() {
                let (Ok(at), true) = (u32::try_from(rows.len()), rows.len() < most) else { return Ok(None) };
                rows.insert(Bytes::copy_from_slice(key), at);
                bytes += key.len() + KEY_BYTES;
            }
            let batch = self.output.decode(pairs.iter())?;
            // The batches are concatenated, so their rows briefly exist twice.
            if memory.try_grow(bytes + 2 * batch.get_array_memory_size()).is_err() {
                return Ok(None);
            }
            batches.push(batch);
        }
        Ok(Some(Everything { batch: concat_batches(&self.output.schema, &batches)?, rows }))
    }

    /// Finds rows among those that are held.
    pub fn find_in(
        &self,
        everything: &Everything,
        context: &StatementContext,
        joined: &[ArrayRef],
    ) -> Result<NamedRows> {
        let encoded = self.encode(context, joined)?;
        let row_of = (0..encoded.keys.len()).map(|at| everything.rows.get(encoded.key(at)?).copied());
        Ok(NamedRows { batch: everything.batch.clone(), row_of: row_of.collect() })
    }
}

/// Bytes of a hash table entry besides the key.
const KEY_BYTES: usize = 48;
