//! Encoding of keys and values of a table's rows.
//!
//! A value is a format byte, then the id and value of each column that cannot be decoded exactly from the key. A
//! missing column was added after the row was written.

use super::literal::missing_value;
use super::{
    ColumnBuilder, KeyColumn, KeyEncoder, PREFIX_LENGTH, corrupted, exact_in_key, push_prefix, push_varint, read_varint,
};
use crate::{ColumnId, IndexDescriptor, StorageId, TableDescriptor};
use arrow::array::ArrayRef;
use arrow::datatypes::BinaryType;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::packed::Variable;
use types::packed::{decode_column, encode_column};
use types::packed::{is_padded, push_value, take_value};
use types::value::{Column, ValueRef};
use types::{Datum, SqlType};

/// First byte of a row's value.
const FORMAT: u8 = 1;
/// Default capacity of a batch in rows.
pub(super) const ROWS: usize = 64;
/// Approximate bytes of a row's key.
const KEY_BYTES: usize = 16;

/// The key columns of an index, and their positions among the live columns.
pub(super) fn key_columns(table: &TableDescriptor, index: &IndexDescriptor) -> Result<(Vec<KeyColumn>, Vec<usize>)> {
    let mut columns = Vec::with_capacity(index.columns.len());
    let mut positions = Vec::with_capacity(index.columns.len());
    // Values of expressions follow the live columns.
    let mut behind = table.live_columns().count();
    for (part, expression) in index.parts() {
        let (ty, position) = match expression {
            Some(expression) => {
                behind += 1;
                (expression.ty, behind - 1)
            }
            None => (column_type(table, part.column)?, live_position(table, part.column)?),
        };
        columns.push(KeyColumn { ty, descending: part.descending, nulls_first: part.nulls_first, in_memory: false });
        positions.push(position);
    }
    Ok((columns, positions))
}

pub(super) fn column_type(table: &TableDescriptor, id: ColumnId) -> Result<SqlType> {
    let column = table.column(id).ok_or_else(|| SqlError::internal(format!("no column {id} in {}", table.name)))?;
    Ok(column.ty)
}

pub(super) fn live_position(table: &TableDescriptor, id: ColumnId) -> Result<usize> {
    table
        .live_columns()
        .position(|column| column.id == id)
        .ok_or_else(|| SqlError::internal(format!("no column {id} in {}", table.name)))
}

/// Encodes the keys of a table's rows: its prefix, then the primary key, or else a hidden row number.
#[derive(Clone, Debug)]
pub struct TableKey {
    storage_id: StorageId,
    encoder: KeyEncoder,
    positions: Vec<usize>,
    has_primary_key: bool,
}

impl TableKey {
    /// An encoder of a table's row keys.
    pub fn new(table: &TableDescriptor) -> Result<Self> {
        let (columns, positions) = match table.primary_key() {
            Some(index) => key_columns(table, index)?,
            None => Default::default(),
        };
        Ok(TableKey {
            storage_id: table.storage_id,
            encoder: KeyEncoder::new(columns),
            positions,
            has_primary_key: table.primary_key().is_some(),
        })
    }
    /// Whether the table has a primary key. Otherwise [`TableKey::encode_number`] encodes row keys.
    pub fn has_primary_key(&self) -> bool {
        self.has_primary_key
    }
    /// Positions of the primary key's columns among the live columns.
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }
    /// The columns of the primary key.
    pub fn columns(&self) -> &[KeyColumn] {
        self.encoder.columns()
    }
    /// Appends the key of a row. `columns` are the live columns in order.
    pub fn encode(&self, columns: &[impl Column], row: usize, out: &mut Vec<u8>) -> Result<()> {
        if !self.has_primary_key {
            return Err(SqlError::internal("a table without primary key needs a row number"));
        }
        push_prefix(self.storage_id, out);
        for (column, position) in self.encoder.columns().iter().zip(&self.positions) {
            let values = columns.get(*position).ok_or_else(|| SqlError::internal("a key column is not there"))?;
            encode_column(column, &values.value(row)?, out)?;
        }
        Ok(())
    }
    /// Appends the key of a row with a hidden row number.
    pub fn encode_number(&self, number: u64, out: &mut Vec<u8>) {
        push_prefix(self.storage_id, out);
        out.extend_from_slice(&number.to_be_bytes());
    }
    /// Appends the key. Fewer datums than columns give a prefix.
    pub fn encode_datums(&self, datums: &[Datum], out: &mut Vec<u8>) -> Result<()> {
        push_prefix(self.storage_id, out);
        self.encoder.encode_datums(datums, out)
    }
}

/// A text without trailing spaces. As there may be many, eight are compared at once.
fn trimmed(text: &str) -> &str {
    let bytes = text.as_bytes();
    let together = bytes.rchunks_exact(8).take_while(|chunk| *chunk == [b' '; 8]).count() * 8;
    let rest = bytes.get(..bytes.len() - together).unwrap_or_default();
    let end = rest.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    text.get(..end).unwrap_or(text)
}

/// Encodes the values of a table's rows.
#[derive(Clone, Debug)]
pub struct RowEncoder {
    /// The stored columns, ordered by id.
    stored: Vec<StoredColumn>,
}

/// A column that is stored in a row's value.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredColumn {
    id: ColumnId,
    /// Position among the live columns.
    position: usize,
    /// Whether trailing spaces are not stored, because the type restores them.
    padded: bool,
}

impl StoredColumn {
    pub(super) fn new(id: ColumnId, position: usize, ty: SqlType) -> Self {
        StoredColumn { id, position, padded: is_padded(ty) }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Appends its encoded value. `columns` are the live columns in order.
    pub(super) fn push(&self, columns: &[impl Column], row: usize, out: &mut Vec<u8>) -> Result<()> {
        let values = columns.get(self.position).ok_or_else(|| SqlError::internal("a column is not there"))?;
        push_varint(u64::from(self.id.unsigned_abs()), out);
        match values.value(row)? {
            ValueRef::Text(text) if self.padded => push_value(&ValueRef::Text(trimmed(text)), out),
            value => push_value(&value, out),
        }
    }
}

impl RowEncoder {
    /// An encoder of a table's row values.
    pub fn new(table: &TableDescriptor) -> Self {
        let mut stored: Vec<StoredColumn> = table
            .live_columns()
            .enumerate()
            .filter(|(_, column)| !in_key(table, column.id))
            .map(|(position, column)| StoredColumn::new(column.id, position, column.ty))
            .collect();
        stored.sort_unstable_by_key(|column| column.id);
        RowEncoder { stored }
    }
    /// Appends the value of a row. `columns` are the live columns in order.
    pub fn encode(&self, columns: &[impl Column], row: usize, out: &mut Vec<u8>) -> Result<()> {
        out.push(FORMAT);
        self.stored.iter().try_for_each(|column| column.push(columns, row, out))
    }
}

/// Whether a column can be decoded exactly from the primary key.
fn in_key(table: &TableDescriptor, id: ColumnId) -> bool {
    table.primary_key().is_some_and(|index| index.columns.iter().any(|part| part.column == id))
        && table.column(id).is_some_and(|column| exact_in_key(column.ty))
}

/// A projected column under construction.
#[derive(Debug)]
struct Output {
    builder: ColumnBuilder,
    /// The value of a row that lacks the column.
    missing: Datum,
    /// Number of rows filled.
    filled: usize,
}

/// Decodes columns from keys and stored values of rows; tables and indexes share it.
#[derive(Debug)]
pub(super) struct Outputs {
    outputs: Vec<Output>,
    /// Position in `outputs` plus one, by column id.
    by_id: Vec<u16>,
    /// Position in `outputs`, by position in the key.
    from_key: Vec<(KeyColumn, Option<usize>)>,
    rows: usize,
}

impl Outputs {
    pub(super) fn new(
        table: &TableDescriptor,
        projection: &[ColumnId],
        key: Vec<(KeyColumn, ColumnId)>,
        capacity: usize,
    ) -> Result<Self> {
        let mut outputs = Vec::with_capacity(projection.len());
        let mut by_id = Vec::new();
        for (position, id) in projection.iter().enumerate() {
            let column =
                table.column(*id).ok_or_else(|| SqlError::internal(format!("no column {id} in {}", table.name)))?;
            let at = usize::from(id.unsigned_abs());
            if by_id.len() <= at {
                by_id.resize(at + 1, 0);
            }
            if let Some(slot) = by_id.get_mut(at) {
                *slot = position as u16 + 1;
            }
            outputs.push(Output {
                builder: ColumnBuilder::new(column.ty, capacity),
                missing: missing_value(column)?,
                filled: 0,
            });
        }
        let mut from_key: Vec<(KeyColumn, Option<usize>)> = key
            .into_iter()
            .map(|(column, id)| {
                let wanted = projection.iter().position(|wanted| *wanted == id && exact_in_key(column.ty));
                (column, wanted)
            })
            .collect();
        while from_key.last().is_some_and(|(_, wanted)| wanted.is_none()) {
            from_key.pop();
        }
        Ok(Outputs { outputs, by_id, from_key, rows: 0 })
    }

    /// Decodes the wanted columns of a key without its prefix.
    pub(super) fn push_key(&mut self, mut key: &[u8]) -> Result<()> {
        let mut scratch = Vec::new();
        for (column, wanted) in &self.from_key {
            let value = decode_column(column, &mut key, &mut scratch)?;
            if let Some(output) = wanted.and_then(|wanted| self.outputs.get_mut(wanted))
                && output.filled == self.rows
            {
                output.builder.append_key_value(&value)?;
                output.filled += 1;
            }
        }
        Ok(())
    }

    /// Decodes the wanted columns of a value.
    pub(super) fn push_entries(&mut self, mut entries: &[u8]) -> Result<()> {
        let bad = || corrupted("a row");
        while !entries.is_empty() {
            let id = read_varint(&mut entries).ok_or_else(bad)?;
            let value = take_value(&mut entries).ok_or_else(bad)?;
            let slot = usize::try_from(id).ok().and_then(|id| self.by_id.get(id)).copied().unwrap_or(0);
            let Some(output) = usize::from(slot).checked_sub(1).and_then(|slot| self.outputs.get_mut(slot)) else {
                continue;
            };
            if output.filled != self.rows {
                continue;
            }
            match value {
                Some(value) => output.builder.append_row_bytes(value)?,
                None => output.builder.append_null(),
            }
            output.filled += 1;
        }
        Ok(())
    }

    /// Ends a row: columns that it lacks get their `missing` value.
    pub(super) fn end_row(&mut self) -> Result<()> {
        for output in &mut self.outputs {
            if output.filled == self.rows {
                output.builder.append_datum(&output.missing)?;
                output.filled += 1;
            }
        }
        self.rows += 1;
        Ok(())
    }

    pub(super) fn reserve(&mut self, rows: usize) {
        self.outputs.iter_mut().for_each(|output| output.builder.reserve(rows));
    }

    pub(super) fn len(&self) -> usize {
        self.rows
    }

    pub(super) fn finish(&mut self) -> Result<Vec<ArrayRef>> {
        self.rows = 0;
        self.outputs
            .iter_mut()
            .map(|output| {
                output.filled = 0;
                output.builder.finish()
            })
            .collect()
    }
}

/// Decodes rows of a table to Arrow arrays.
#[derive(Debug)]
pub struct RowDecoder {
    outputs: Outputs,
    keys: Option<Variable<BinaryType>>,
}

impl RowDecoder {
    /// A decoder for the columns of `projection`, in its order, and, if `with_key`, for the row keys.
    pub fn new(table: &TableDescriptor, projection: &[ColumnId], with_key: bool) -> Result<Self> {
        Self::with_capacity(table, projection, with_key, ROWS)
    }
    /// Like [`RowDecoder::new`], with room for `capacity` rows.
    pub fn with_capacity(
        table: &TableDescriptor,
        projection: &[ColumnId],
        with_key: bool,
        rows: usize,
    ) -> Result<Self> {
        let key = match table.primary_key() {
            Some(index) => {
                let (columns, _) = key_columns(table, index)?;
                columns.into_iter().zip(index.columns.iter().map(|part| part.column)).collect()
            }
            None => Vec::new(),
        };
        let keys = with_key.then(|| Variable::with_capacity(rows, rows * KEY_BYTES));
        Ok(RowDecoder { outputs: Outputs::new(table, projection, key, rows)?, keys })
    }
    /// Reserves room for `rows` more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.outputs.reserve(rows);
    }
    /// Decodes one row. The decoder must not be used after an error.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let (format, entries) = value.split_first().ok_or_else(|| corrupted("a row"))?;
        if *format != FORMAT {
            return Err(corrupted("a row"));
        }
        self.outputs.push_key(key.get(PREFIX_LENGTH..).ok_or_else(|| corrupted("a row's key"))?)?;
        self.outputs.push_entries(entries)?;
        self.outputs.end_row()?;
        if let Some(keys) = &mut self.keys {
            keys.append_value(key)?;
        }
        Ok(())
    }
    /// Number of rows decoded since the last `finish`.
    pub fn len(&self) -> usize {
        self.outputs.len()
    }
    /// Whether no row was decoded since the last `finish`.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Finishes the arrays and clears the decoder.
    pub fn finish(&mut self) -> Result<Vec<ArrayRef>> {
        let mut arrays = self.outputs.finish()?;
        if let Some(keys) = &mut self.keys {
            arrays.push(Arc::new(keys.finish().ok_or_else(|| corrupted("keys"))?));
        }
        Ok(arrays)
    }
}
