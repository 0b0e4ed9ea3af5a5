//! [`ScanOutput`]: the columns that a leaf returns. It decodes keys and values to batches.

use super::leaf;
use catalog::encoding::RowDecoder;
use catalog::{ColumnId, IndexDescriptor, TableDescriptor};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_expr::expressions::Column;
use sql_error::{Result, SqlError};
use std::sync::Arc;

/// Name of the hidden last column of a table's scan schema: the row's storage key.
pub const KEY_COLUMN: &str = "\0key";

/// The columns of a table as a scan exposes them: live columns, then the row key.
pub fn scan_schema(table: &TableDescriptor) -> SchemaRef {
    let mut fields: Vec<Field> =
        table.live_columns().map(|column| Field::new(&column.name, column.ty.arrow(), !column.not_null)).collect();
    fields.push(Field::new(KEY_COLUMN, DataType::Binary, false));
    Arc::new(Schema::new(fields))
}

/// Most rows for which memory is reserved at once.
const FIRST_ROWS: usize = 64;

/// The columns that a leaf returns of a table's rows.
#[derive(Clone, Debug)]
pub struct ScanOutput {
    /// Descriptor of the table.
    pub table: Arc<TableDescriptor>,
    /// The returned columns in order, without the row key.
    pub columns: Vec<ColumnId>,
    /// Position of the row key in the output, if it is returned.
    pub key_position: Option<usize>,
    /// Schema of the output.
    pub schema: SchemaRef,
}

impl ScanOutput {
    /// The output of these positions of the table's scan schema.
    pub fn new(table: Arc<TableDescriptor>, positions: &[usize]) -> Result<ScanOutput> {
        let all = scan_schema(&table);
        let schema = Arc::new(all.project(positions)?);
        let live: Vec<ColumnId> = table.live_columns().map(|column| column.id).collect();
        let key_position = positions.iter().position(|position| *position == live.len());
        let columns = positions.iter().filter_map(|position| live.get(*position).copied()).collect();
        Ok(ScanOutput { table, columns, key_position, schema })
    }

    /// The output reduced to the columns at these positions, with `schema`. `None` if a column occurs twice or the row
    /// key is among them.
    pub fn narrowed(&self, places: &[usize], schema: SchemaRef) -> Option<ScanOutput> {
        // `columns` lacks the row key, so positions behind the key are shifted by one.
        let column = |place: usize| match self.key_position {
            Some(key) if key == place => None,
            Some(key) if key < place => self.columns.get(place - 1).copied(),
            _ => self.columns.get(place).copied(),
        };
        let columns: Vec<ColumnId> = places.iter().map(|place| column(*place)).collect::<Option<_>>()?;
        let twice = columns.iter().enumerate().any(|(at, column)| columns.iter().take(at).any(|other| other == column));
        let table = Arc::clone(&self.table);
        (!twice && !columns.is_empty()).then_some(ScanOutput { table, columns, key_position: None, schema })
    }

    /// Position of a column in the output.
    pub fn position(&self, column: ColumnId) -> Option<usize> {
        let name = &self.table.column(column)?.name;
        self.schema.fields().iter().position(|field| field.name() == name)
    }

    /// Positions of these columns in the output. Columns that it lacks are left out.
    pub fn positions(&self, columns: &[ColumnId]) -> Vec<usize> {
        columns.iter().filter_map(|column| self.position(*column)).collect()
    }

    /// The order of rows from a scan of an index (or the primary key), as far as the output contains it. `constants`
    /// have one value in all rows and are left out.
    pub fn ordering(&self, index: &IndexDescriptor, constants: &[ColumnId], reverse: bool) -> Vec<PhysicalSortExpr> {
        let mut ordering = Vec::new();
        for key in &index.columns {
            if constants.contains(&key.column) {
                continue;
            }
            let Some(position) = self.position(key.column) else { break };
            let Some(column) = self.table.column(key.column) else { break };
            // A numeric of any scale, and an interval, is sorted by its key, not by its bytes.
            let numeric = column.ty.base == types::BaseType::Numeric && column.ty.modifier == -1;
            if numeric || column.ty.base == types::BaseType::Interval {
                break;
            }
            let options =
                SortOptions { descending: key.descending != reverse, nulls_first: key.nulls_first != reverse };
            ordering.push(PhysicalSortExpr::new(Arc::new(Column::new(&column.name, position)), options));
        }
        ordering
    }

    /// A decoder of stored rows with room for `rows` rows.
    pub fn decoder(&self, rows: usize) -> Result<RowDecoder> {
        RowDecoder::with_capacity(&self.table, &self.columns, self.key_position.is_some(), rows)
    }

    /// Decodes stored rows, given as key and value, to a batch.
    pub fn decode<'a>(&self, rows: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Result<RecordBatch> {
        // The rows are only counted.
        if self.columns.is_empty() && self.key_position.is_none() {
            return leaf::batch(&self.schema, Vec::new(), rows.count());
        }
        let mut decoder = self.decoder(rows.size_hint().0.clamp(1, FIRST_ROWS))?;
        for (key, value) in rows {
            decoder.push(key, value)?;
        }
        let count = decoder.len();
        self.batch(decoder.finish()?, count)
    }

    /// A batch of decoded columns. The row key, if returned, comes last in `columns`.
    pub fn batch(&self, mut columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        if let Some(position) = self.key_position {
            let key = columns.pop().ok_or_else(|| SqlError::internal("a row without its key"))?;
            columns.insert(position.min(columns.len()), key);
        }
        leaf::batch(&self.schema, columns, rows)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use catalog::ColumnDescriptor;
    use types::SqlType;

    fn table() -> TableDescriptor {
        let column =
            |id: i16, name: &str| ColumnDescriptor { id, name: name.into(), ty: SqlType::INT4, ..Default::default() };
        TableDescriptor { name: "t".into(), columns: vec![column(1, "id"), column(2, "a")], ..Default::default() }
    }

    #[test]
    fn an_output_is_narrowed_to_columns_it_has_once() {
        let table = Arc::new(table());
        let live: Vec<ColumnId> = table.live_columns().map(|column| column.id).collect();
        let key = live.len();
        // The row key is between other columns.
        let output = ScanOutput::new(Arc::clone(&table), &[0, key, 1]).unwrap();
        let narrowed = |places: &[usize]| {
            let schema = Arc::new(output.schema.project(places).unwrap());
            output.narrowed(places, schema).map(|narrowed| (narrowed.columns, narrowed.key_position))
        };
        assert_eq!(narrowed(&[0]), Some((vec![live[0]], None)));
        assert_eq!(narrowed(&[2]), Some((vec![live[1]], None)));
        assert_eq!(narrowed(&[2, 0]), Some((vec![live[1], live[0]], None)));
        for refused in [&[1][..], &[0, 1], &[0, 0], &[]] {
            assert_eq!(narrowed(refused), None, "{refused:?}");
        }
    }
}
