//! [`TableCodec`]: converts a table's columns to keys, values and index entries. A plan makes it once.

use super::computed::{Computed, IndexWriter, ToPhysical};
use crate::StatementContext;
use bytes::Bytes;
use catalog::encoding::{IndexEntry, RowEncoder, TableKey};
use catalog::{IndexDescriptor, IndexState, TableDescriptor};
use datafusion::arrow::array::ArrayRef;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use storage::Strings;
use types::value::Values;

/// A secondary index and its encoder.
#[derive(Clone, Debug)]
pub struct IndexCodec {
    /// Descriptor of the index.
    pub index: IndexDescriptor,
    /// Makes the index's entries.
    pub writer: IndexWriter,
    /// Positions, among the live columns, of all columns in its entries except the primary key's.
    pub positions: Vec<usize>,
}

impl IndexCodec {
    /// Whether assigning columns at these positions may change entries.
    pub fn concerns(&self, assigned: &[usize]) -> bool {
        self.writer.is_computed() || self.positions.iter().any(|position| assigned.contains(position))
    }
    /// Whether entries are added. Otherwise they are only removed.
    pub fn maintained(&self) -> bool {
        self.index.state.is_maintained()
    }
    /// Whether an entry may belong to another row with the same key. While a unique index is being built, rows without
    /// entries may have duplicate keys.
    pub fn may_be_anothers(&self) -> bool {
        self.index.unique && self.index.state != IndexState::Public
    }
}

/// Encoders of a table's rows and indexes.
#[derive(Clone, Debug)]
pub struct TableCodec {
    /// Descriptor of the table.
    pub table: Arc<TableDescriptor>,
    /// Makes the row keys.
    pub key: TableKey,
    /// Makes the row values.
    pub row: RowEncoder,
    /// The secondary indexes, in the table's order.
    pub indexes: Vec<IndexCodec>,
}

impl TableCodec {
    /// The encoders of a table.
    pub fn new(table: Arc<TableDescriptor>, computed: &Computed, physical: ToPhysical<'_>) -> Result<Self> {
        let position = |id| {
            table
                .live_columns()
                .position(|column| column.id == id)
                .ok_or_else(|| SqlError::internal(format!("an index of {} has an unknown column", table.name)))
        };
        let indexes = table
            .secondary_indexes()
            .map(|index| {
                let keys = index.columns.iter().map(|key| key.column).filter(|id| *id != 0);
                let ids = keys.chain(index.include.iter().copied());
                Ok(IndexCodec {
                    index: index.clone(),
                    writer: IndexWriter::new(&table, index, computed.index(index.oid), physical)?,
                    positions: ids.map(position).collect::<Result<_>>()?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(TableCodec { key: TableKey::new(&table)?, row: RowEncoder::new(&table), indexes, table })
    }
    /// The index whose entries are the table's own rows.
    pub fn primary(&self) -> Option<&IndexDescriptor> {
        self.table.primary_key()
    }
    /// Encodes row keys from the primary key's columns.
    pub fn row_keys(&self, columns: &[ArrayRef], rows: usize) -> Result<Vec<Bytes>> {
        Ok(self.keys_of_rows(columns, rows)?.into_parts())
    }
    /// Encodes row keys into one allocation.
    pub fn keys_of_rows(&self, columns: &[ArrayRef], rows: usize) -> Result<Arena> {
        let columns = Values::of_all(columns);
        Arena::of(rows, |row, out| self.key.encode(&columns, row, out))
    }
    /// Encodes the values of rows.
    pub fn row_values(&self, columns: &[ArrayRef], rows: usize) -> Result<Vec<Bytes>> {
        Ok(self.values_of_rows(columns, rows)?.into_parts())
    }
    /// Encodes row values into one allocation.
    pub fn values_of_rows(&self, columns: &[ArrayRef], rows: usize) -> Result<Arena> {
        let columns = Values::of_all(columns);
        Arena::of(rows, |row, out| self.row.encode(&columns, row, out))
    }
    /// The entries of rows in an index. `None` for a row that the index omits.
    pub fn entries(&self, index: &IndexCodec, columns: &[ArrayRef], keys: &[Bytes]) -> Result<Vec<Option<IndexEntry>>> {
        index.writer.entries(columns, keys)
    }
    /// The error 23505 for a row whose key exists in an index.
    pub fn unique_violation(
        &self,
        context: &StatementContext,
        index: &IndexDescriptor,
        columns: &[ArrayRef],
        row: usize,
    ) -> SqlError {
        let writer = self.indexes.iter().find(|other| other.index.oid == index.oid).map(|codec| &codec.writer);
        let values = writer.map_or(Ok(Vec::new()), |writer| writer.expression_values(columns, row));
        super::check::unique_violation(context, &self.table, index, columns, &values.unwrap_or_default(), row)
    }
}

/// Many short byte strings in one allocation.
#[derive(Default)]
pub struct Arena {
    /// The buffer that strings are appended to.
    pub bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// After this many strings, their average length is known approximately.
const SAMPLE: usize = 32;

impl Arena {
    /// Collects what `append` writes for each of `rows` rows.
    pub fn of(rows: usize, mut append: impl FnMut(usize, &mut Vec<u8>) -> Result<()>) -> Result<Arena> {
        let mut arena = Arena::default();
        for row in 0..rows {
            append(row, &mut arena.bytes)?;
            arena.end();
            arena.make_room(rows);
        }
        Ok(arena)
    }
    /// The same strings, as separate slices of one allocation.
    pub fn strings(rows: usize, append: impl FnMut(usize, &mut Vec<u8>) -> Result<()>) -> Result<Vec<Bytes>> {
        Ok(Arena::of(rows, append)?.into_parts())
    }
    /// Reserves room for `all` strings of the average length so far. Growing the allocation step by step would copy it
    /// repeatedly.
    pub fn make_room(&mut self, all: usize) {
        if self.ends.len() == SAMPLE && all > 2 * SAMPLE {
            let expected = self.bytes.len() / SAMPLE * all;
            self.bytes.reserve_exact(expected + expected / 32);
            self.ends.reserve_exact(all - SAMPLE);
        }
    }
    /// Ends the current string.
    pub fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }
    /// The strings as slices that share the allocation.
    pub fn into_parts(self) -> Vec<Bytes> {
        let (all, ends) = self.exact();
        let mut start = 0;
        ends.into_iter()
            .map(|end| {
                let part = all.slice(start..end);
                start = end;
                part
            })
            .collect()
    }
    /// The strings as one value.
    pub fn into_strings(self) -> Result<Strings> {
        let (all, ends) = self.exact();
        Strings::new(all, &ends).ok_or_else(|| SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, "too many bytes at once"))
    }
    /// All bytes, and the ends of the strings. The allocation is trimmed to its contents, since it may be kept for
    /// long.
    fn exact(self) -> (Bytes, Vec<usize>) {
        let exact = self.bytes.capacity() - self.bytes.len() <= self.bytes.len() / 16;
        (if exact { Bytes::from(self.bytes) } else { Bytes::copy_from_slice(&self.bytes) }, self.ends)
    }
}
