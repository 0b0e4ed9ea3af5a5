//! Keys and values of index entries.
//!
//! The key is the index's prefix and its columns. Entries whose columns may be equal end with the row key without its
//! prefix. These are entries of a non-unique index, and those with a NULL in a unique one.
//!
//! The value begins with the length of the row key that it holds, and the row key without its prefix. The length is 0 if
//! the row key is at the end of the entry's key. Then follow columns encoded as in a row: INCLUDE columns, and key
//! columns that cannot be decoded exactly from keys.

use super::row::{Outputs, ROWS, StoredColumn, column_type, key_columns, live_position};
use super::{KeyColumn, PREFIX_LENGTH, corrupted, exact_in_key, push_prefix, push_varint, read_varint};
use crate::{ColumnId, IndexDescriptor, StorageId, TableDescriptor};
use arrow::array::ArrayRef;
use arrow::datatypes::BinaryType;
use bytes::Bytes;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::packed::Variable;
use types::packed::{decode_column, encode_column};
use types::value::{Column, ValueRef};

/// An entry of an index: key and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// The entry's key in the store.
    pub key: Vec<u8>,
    /// The entry's value in the store.
    pub value: Vec<u8>,
    /// Whether an equal key means a duplicate: the index is unique and no key column is NULL.
    pub unique: bool,
}

impl IndexEntry {
    /// Encodes the entry of one row. Use an [`IndexEncoder`] for many rows.
    pub fn encode(
        table: &TableDescriptor,
        index: &IndexDescriptor,
        columns: &[ArrayRef],
        row: usize,
        row_key: &[u8],
    ) -> Result<IndexEntry> {
        IndexEncoder::new(table, index)?.encode(columns, row, row_key)
    }
}

/// The columns stored in an entry's value: INCLUDE, and key columns (of index and primary key) that keys do not hold
/// exactly.
fn kept_columns(table: &TableDescriptor, index: &IndexDescriptor) -> Result<Vec<ColumnId>> {
    let mut kept = index.include.clone();
    let primary = table.primary_key().map(|primary| primary.columns.as_slice()).unwrap_or_default();
    for part in index.columns.iter().filter(|part| part.column != 0).chain(primary) {
        if !exact_in_key(column_type(table, part.column)?) {
            kept.push(part.column);
        }
    }
    kept.sort_unstable();
    kept.dedup();
    Ok(kept)
}

/// Encodes the entries of an index.
#[derive(Clone, Debug)]
pub struct IndexEncoder {
    storage_id: StorageId,
    columns: Vec<KeyColumn>,
    positions: Vec<usize>,
    kept: Vec<StoredColumn>,
    unique: bool,
    /// Whether a NULL makes an entry distinct from all others.
    nulls_distinct: bool,
}

impl IndexEncoder {
    /// An encoder for a secondary index of a table.
    pub fn new(table: &TableDescriptor, index: &IndexDescriptor) -> Result<Self> {
        let (columns, positions) = key_columns(table, index)?;
        let kept = kept_columns(table, index)?
            .into_iter()
            .map(|id| Ok(StoredColumn::new(id, live_position(table, id)?, column_type(table, id)?)))
            .collect::<Result<Vec<_>>>()?;
        Ok(IndexEncoder {
            storage_id: index.storage_id,
            columns,
            positions,
            kept,
            unique: index.unique,
            nulls_distinct: !index.nulls_not_distinct,
        })
    }
    /// Positions of the key columns among the live columns.
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }
    /// Positions, among the live columns, of all columns that entries depend on, except in expressions.
    pub fn needed(&self) -> impl Iterator<Item = usize> {
        self.positions.iter().copied().chain(self.kept.iter().map(StoredColumn::position))
    }
    /// Encodes the entry of a row. `columns` are the live columns in order, then the values of the key's expressions.
    /// `row_key` is the row's key in the table.
    pub fn encode(&self, columns: &[ArrayRef], row: usize, row_key: &[u8]) -> Result<IndexEntry> {
        let mut key = Vec::with_capacity(PREFIX_LENGTH + 16 * self.columns.len() + row_key.len());
        let mut value = Vec::new();
        let unique = self.encode_to(columns, row, row_key, &mut key, &mut value)?;
        Ok(IndexEntry { key, value, unique })
    }
    /// Appends the key and value of an entry. Answers whether the key must be unique.
    pub fn encode_to(
        &self,
        columns: &[impl Column],
        row: usize,
        row_key: &[u8],
        key: &mut Vec<u8>,
        value: &mut Vec<u8>,
    ) -> Result<bool> {
        let suffix = row_key.get(PREFIX_LENGTH..).ok_or_else(|| corrupted("a row's key"))?;
        push_prefix(self.storage_id, key);
        let mut unique = self.unique;
        for (column, position) in self.columns.iter().zip(&self.positions) {
            let values = columns.get(*position).ok_or_else(|| SqlError::internal("a key column is not there"))?;
            let datum = values.value(row)?;
            unique &= !self.nulls_distinct || !matches!(datum, ValueRef::Null);
            encode_column(column, &datum, key)?;
        }
        if unique {
            push_varint(suffix.len() as u64, value);
            value.extend_from_slice(suffix);
        } else {
            key.extend_from_slice(suffix);
            value.push(0);
        }
        self.kept.iter().try_for_each(|column| column.push(columns, row, value))?;
        Ok(unique)
    }
}

/// Decodes entries of an index: the row keys and the columns that they hold.
#[derive(Debug)]
pub struct IndexDecoder {
    table_prefix: Bytes,
    columns: Vec<KeyColumn>,
    from_entry: Outputs,
    keys: Option<Variable<BinaryType>>,
    scratch: Vec<u8>,
}

impl IndexDecoder {
    /// A decoder for the columns of `projection`, in its order, and, if `with_key`, for the row keys. Each column must
    /// be [covered](IndexDecoder::covers).
    pub fn new(
        table: &TableDescriptor,
        index: &IndexDescriptor,
        projection: &[ColumnId],
        with_key: bool,
    ) -> Result<Self> {
        let (columns, _) = key_columns(table, index)?;
        let mut key: Vec<(KeyColumn, ColumnId)> =
            columns.iter().copied().zip(index.columns.iter().map(|part| part.column)).collect();
        if let Some(primary) = table.primary_key() {
            let (columns, _) = key_columns(table, primary)?;
            key.extend(columns.into_iter().zip(primary.columns.iter().map(|part| part.column)));
        }
        if let Some(id) = projection.iter().find(|id| !Self::covers(table, index, **id)) {
            return Err(SqlError::internal(format!("index {} does not hold column {id}", index.name)));
        }
        Ok(IndexDecoder {
            table_prefix: super::table_prefix(table.storage_id),
            columns,
            from_entry: Outputs::new(table, projection, key, ROWS)?,
            keys: with_key.then(|| Variable::with_capacity(ROWS, 0)),
            scratch: Vec::new(),
        })
    }
    /// Whether an index holds a column: in its key, in INCLUDE, or in the primary key.
    pub fn covers(table: &TableDescriptor, index: &IndexDescriptor, column: ColumnId) -> bool {
        index.include.contains(&column)
            || index.columns.iter().any(|part| part.column == column)
            || table.primary_key().is_some_and(|primary| primary.columns.iter().any(|part| part.column == column))
    }
    /// Splits an entry into the key columns' bytes, the row key without prefix, and the stored columns.
    fn split<'a>(&mut self, key: &'a [u8], value: &'a [u8]) -> Result<(&'a [u8], &'a [u8], &'a [u8])> {
        let bad = || corrupted("an index entry");
        let key = key.get(PREFIX_LENGTH..).ok_or_else(bad)?;
        let mut entries = value;
        let length = read_varint(&mut entries).ok_or_else(bad)?;
        if length > 0 {
            let (row_key, entries) =
                entries.split_at_checked(usize::try_from(length).map_err(|_| bad())?).ok_or_else(bad)?;
            return Ok((key, row_key, entries));
        }
        let mut rest = key;
        for column in &self.columns {
            decode_column(column, &mut rest, &mut self.scratch)?;
        }
        let columns = key.get(..key.len() - rest.len()).ok_or_else(bad)?;
        Ok((columns, rest, entries))
    }
    /// The key of the table's row to which an entry refers.
    pub fn row_key(&mut self, key: &[u8], value: &[u8]) -> Result<Bytes> {
        let (_, row_key, _) = self.split(key, value)?;
        Ok([self.table_prefix.as_ref(), row_key].concat().into())
    }
    /// Decodes one entry. The decoder must not be used after an error.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (columns, row_key, entries) = self.split(key, value)?;
        self.scratch.clear();
        self.scratch.extend_from_slice(columns);
        self.scratch.extend_from_slice(row_key);
        self.from_entry.push_key(&self.scratch)?;
        self.from_entry.push_entries(entries)?;
        self.from_entry.end_row()?;
        if let Some(keys) = &mut self.keys {
            self.scratch.clear();
            self.scratch.extend_from_slice(&self.table_prefix);
            self.scratch.extend_from_slice(row_key);
            keys.append_value(&self.scratch)?;
        }
        Ok(())
    }
    /// Number of entries decoded since the last `finish`.
    pub fn len(&self) -> usize {
        self.from_entry.len()
    }
    /// Whether no entry was decoded since the last `finish`.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Finishes the arrays and clears the decoder.
    pub fn finish(&mut self) -> Result<Vec<ArrayRef>> {
        let mut arrays = self.from_entry.finish()?;
        if let Some(keys) = &mut self.keys {
            arrays.push(Arc::new(keys.finish().ok_or_else(|| corrupted("keys"))?));
        }
        Ok(arrays)
    }
}
