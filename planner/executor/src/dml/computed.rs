//! Computed parts of a written row: generated columns, expressions of index keys, conditions of partial indexes.
//! [`Computed`] holds the bound expressions. [`RowComputer`] and [`IndexWriter`] evaluate them.

use super::check::batch_of;
use bytes::Bytes;
use catalog::encoding::{IndexEncoder, IndexEntry};
use catalog::{ColumnId, IndexDescriptor, TableDescriptor};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::Oid;
use types::value::Values;

/// The bound expressions of a table, over its live columns qualified by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Computed {
    /// Generated columns and their expressions.
    pub generated: Vec<(ColumnId, Expr)>,
    /// Indexes with expressions or a condition.
    pub indexes: Vec<IndexExpressions>,
}

impl Computed {
    /// The expressions of an index, by its OID.
    pub fn index(&self, oid: Oid) -> Option<&IndexExpressions> {
        self.indexes.iter().find(|index| index.index == oid)
    }
}

/// The bound expressions of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexExpressions {
    /// OID of the index.
    pub index: Oid,
    /// Expressions of the key, in order.
    pub expressions: Vec<Expr>,
    /// The index's condition (WHERE).
    pub predicate: Option<Expr>,
}

/// The constraints on a row, and the expressions computed from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rules {
    /// CHECK constraints by name, over the live columns qualified by the table's name.
    pub checks: Vec<(String, Expr)>,
    /// WITH CHECK OPTION of views by name, in the order of evaluation, over the same columns. They are never NULL.
    pub views: Vec<(String, Expr)>,
    /// The computed expressions of the table.
    pub computed: Computed,
}

/// Converts an expression over a table's live columns to a physical one.
pub type ToPhysical<'a> = &'a dyn Fn(&Expr) -> Result<Arc<dyn PhysicalExpr>>;

/// Computes the values of generated columns.
#[derive(Clone, Debug, Default)]
pub struct RowComputer {
    /// Expressions by position among the live columns.
    generated: Vec<(usize, Arc<dyn PhysicalExpr>)>,
}

impl RowComputer {
    /// Compiles the generated columns of a table.
    pub fn new(table: &TableDescriptor, computed: &Computed, physical: ToPhysical<'_>) -> Result<Self> {
        let generated = computed.generated.iter().map(|(id, expr)| {
            let position = table.live_columns().position(|column| column.id == *id);
            Ok((position.ok_or_else(|| SqlError::internal("an unknown generated column"))?, physical(expr)?))
        });
        Ok(RowComputer { generated: generated.collect::<Result<_>>()? })
    }
    /// Positions of the generated columns among the live ones.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.generated.iter().map(|(position, _)| *position)
    }
    /// Computes the generated columns in place. `columns` begins with the live columns, whose schema is `schema`.
    pub fn compute(&self, schema: &SchemaRef, columns: &mut [ArrayRef], rows: usize) -> Result<()> {
        if self.generated.is_empty() {
            return Ok(());
        }
        let live = columns.get(..schema.fields().len()).unwrap_or_default();
        let batch = batch_of(schema, live, rows)?;
        for (position, expression) in &self.generated {
            let value = expression.evaluate(&batch)?.into_array(rows)?;
            let place =
                columns.get_mut(*position).ok_or_else(|| SqlError::internal("a generated column is not there"))?;
            if value.data_type() != place.data_type() {
                return Err(SqlError::internal(format!(
                    "a generated column is {} and not {}",
                    value.data_type(),
                    place.data_type()
                )));
            }
            *place = value;
        }
        Ok(())
    }
}

/// Makes the entries of an index for rows.
#[derive(Clone, Debug)]
pub struct IndexWriter {
    encoder: IndexEncoder,
    computer: Option<IndexComputer>,
}

#[derive(Clone, Debug)]
struct IndexComputer {
    schema: SchemaRef,
    expressions: Vec<Arc<dyn PhysicalExpr>>,
    predicate: Option<Arc<dyn PhysicalExpr>>,
}

impl IndexWriter {
    /// Compiles a secondary index. A computed index requires `expressions`.
    pub fn new(
        table: &TableDescriptor,
        index: &IndexDescriptor,
        expressions: Option<&IndexExpressions>,
        physical: ToPhysical<'_>,
    ) -> Result<Self> {
        let encoder = IndexEncoder::new(table, index)?;
        if !index.is_computed() {
            return Ok(IndexWriter { encoder, computer: None });
        }
        let bound = expressions
            .filter(|bound| {
                bound.expressions.len() == index.expressions.len()
                    && bound.predicate.is_some() == index.predicate.is_some()
            })
            .ok_or_else(|| SqlError::internal(format!("the expressions of index {} are not bound", index.name)))?;
        let computer = IndexComputer {
            schema: super::check::live_schema(table),
            expressions: bound.expressions.iter().map(physical).collect::<Result<_>>()?,
            predicate: bound.predicate.as_ref().map(physical).transpose()?,
        };
        Ok(IndexWriter { encoder, computer: Some(computer) })
    }
    /// Whether it has expressions or a condition, so that the changed columns alone do not decide.
    pub fn is_computed(&self) -> bool {
        self.computer.is_some()
    }
    /// The entries of rows. `None` for a row that the index omits. `columns` are the live columns, `keys` the row keys.
    pub fn entries(&self, columns: &[ArrayRef], keys: &[Bytes]) -> Result<Vec<Option<IndexEntry>>> {
        let Some(computer) = &self.computer else {
            return keys
                .iter()
                .enumerate()
                .map(|(row, key)| Ok(Some(self.encoder.encode(columns, row, key)?)))
                .collect();
        };
        let live = columns.get(..computer.schema.fields().len()).unwrap_or_default();
        let mut entries: Vec<Option<IndexEntry>> = vec![None; keys.len()];
        let (chosen, columns) = computer.chosen(live, keys.len())?;
        let batch = batch_of(&computer.schema, &columns, chosen.len())?;
        let mut all = columns;
        for expression in &computer.expressions {
            all.push(expression.evaluate(&batch)?.into_array(chosen.len())?);
        }
        for (at, row) in chosen.iter().enumerate() {
            let (Some(key), Some(place)) = (keys.get(*row as usize), entries.get_mut(*row as usize)) else { continue };
            *place = Some(self.encoder.encode(&all, at, key)?);
        }
        Ok(entries)
    }
    /// Positions of the live columns that entries depend on.
    pub fn needed(&self, live: usize) -> Vec<usize> {
        match &self.computer {
            // An expression may read any column.
            Some(_) => (0..live).collect(),
            None => self.encoder.needed().collect(),
        }
    }
    /// Calls `each` with the entry of each row that the index includes. `columns` are the live columns and `keys` the
    /// row keys. Columns that are not [needed](IndexWriter::needed) may hold anything of the same length.
    pub fn each_entry<'a>(
        &self,
        columns: &[ArrayRef],
        keys: impl Iterator<Item = &'a [u8]>,
        mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        if self.computer.is_some() {
            let keys: Vec<Bytes> = keys.map(Bytes::copy_from_slice).collect();
            let entries = self.entries(columns, &keys)?;
            return entries.iter().flatten().try_for_each(|entry| each(&entry.key, &entry.value));
        }
        let columns = Values::of_all(columns);
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for (row, row_key) in keys.enumerate() {
            key.clear();
            value.clear();
            self.encoder.encode_to(&columns, row, row_key, &mut key, &mut value)?;
            each(&key, &value)?;
        }
        Ok(())
    }
    /// The values of the key's expressions for one row, for messages.
    pub fn expression_values(&self, columns: &[ArrayRef], row: usize) -> Result<Vec<ArrayRef>> {
        let Some(computer) = &self.computer else { return Ok(Vec::new()) };
        let live = columns.get(..computer.schema.fields().len()).unwrap_or_default();
        let one: Vec<ArrayRef> = live.iter().map(|column| column.slice(row, 1)).collect();
        let batch = batch_of(&computer.schema, &one, 1)?;
        computer.expressions.iter().map(|expression| Ok(expression.evaluate(&batch)?.into_array(1)?)).collect()
    }
}

impl IndexComputer {
    /// The rows that satisfy the condition, and their columns.
    fn chosen(&self, columns: &[ArrayRef], rows: usize) -> Result<(Vec<u32>, Vec<ArrayRef>)> {
        let count = u32::try_from(rows).map_err(|_| SqlError::internal("a batch is too large"))?;
        let Some(predicate) = &self.predicate else { return Ok(((0..count).collect(), columns.to_vec())) };
        let batch = batch_of(&self.schema, columns, rows)?;
        let result = predicate.evaluate(&batch)?.into_array(rows)?;
        let result = result.as_boolean_opt().ok_or_else(|| SqlError::internal("an index condition is not boolean"))?;
        let chosen: Vec<u32> =
            (0..count).zip(result.iter()).filter(|(_, value)| *value == Some(true)).map(|(row, _)| row).collect();
        if chosen.len() == rows {
            return Ok((chosen, columns.to_vec()));
        }
        let indices = UInt32Array::from(chosen.clone());
        let columns = columns.iter().map(|column| take(column.as_ref(), &indices, None));
        Ok((chosen, columns.collect::<std::result::Result<_, _>>()?))
    }
}
