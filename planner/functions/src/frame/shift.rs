//! lag, lead and ntile with arguments that are not constants. DataFusion's take only constants.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array};
use datafusion::arrow::compute::interleave;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl};
use sql_error::{Result, SqlError};
use std::sync::Arc;

/// The window function to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shift {
    /// The value some rows before, from `(value, rows, default)`.
    Lag,
    /// The value some rows after, from `(value, rows, default)`.
    Lead,
    /// The number of the row's bucket, from `(buckets)`.
    Ntile,
}

/// One of the functions as DataFusion runs it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shifted {
    which: Shift,
    result: DataType,
    signature: Signature,
}

impl Shift {
    /// The window function, with a result of this type.
    pub(crate) fn function(self, result: DataType) -> Arc<WindowUDF> {
        let signature = Signature::variadic_any(Volatility::Immutable);
        Arc::new(WindowUDF::new_from_impl(Shifted { which: self, result, signature }))
    }
}

impl WindowUDFImpl for Shifted {
    fn name(&self) -> &str {
        match self.which {
            Shift::Lag => "lag",
            Shift::Lead => "lead",
            Shift::Ntile => "ntile",
        }
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn field(&self, arguments: WindowUDFFieldArgs<'_>) -> DataFusionResult<FieldRef> {
        Ok(Arc::new(Field::new(arguments.name(), self.result.clone(), true)))
    }
    fn partition_evaluator(&self, _: PartitionEvaluatorArgs<'_>) -> DataFusionResult<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Evaluator { which: self.which }))
    }
}

#[derive(Debug)]
struct Evaluator {
    which: Shift,
}

impl PartitionEvaluator for Evaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> DataFusionResult<ArrayRef> {
        Ok(match (self.which, values) {
            (Shift::Ntile, [buckets]) => ntile(buckets, rows)?,
            (which, [value, offsets, default]) => shifted(which == Shift::Lead, value, offsets, default, rows)?,
            _ => return Err(SqlError::internal("a function lacks an argument").into()),
        })
    }
}

fn whole(array: &ArrayRef, row: usize) -> Result<Option<i64>> {
    let array = array.as_primitive_opt::<Int64Type>().ok_or_else(|| SqlError::internal("a number of another type"))?;
    Ok(array.is_valid(row).then(|| array.value(row)))
}

fn shifted(lead: bool, value: &ArrayRef, offsets: &ArrayRef, default: &ArrayRef, rows: usize) -> Result<ArrayRef> {
    let nothing = datafusion::arrow::array::new_null_array(value.data_type(), 1);
    let mut places = Vec::with_capacity(rows);
    for row in 0..rows {
        // A NULL number of rows gives NULL, not the default.
        places.push(match whole(offsets, row)? {
            None => (2, 0),
            Some(offset) => {
                let by = if lead { i128::from(offset) } else { -i128::from(offset) };
                match usize::try_from(row as i128 + by).ok().filter(|at| *at < rows) {
                    Some(at) => (0, at),
                    None => (1, row),
                }
            }
        });
    }
    Ok(interleave(&[value.as_ref(), default.as_ref(), nothing.as_ref()], &places)?)
}

/// The bucket (from 1) of a row among `rows`. The first buckets are larger by one row.
fn bucket(row: usize, rows: usize, buckets: usize) -> usize {
    let (size, larger) = (rows / buckets, rows % buckets);
    let in_larger = larger * (size + 1);
    if row < in_larger { row / (size + 1) + 1 } else { larger + (row - in_larger) / size.max(1) + 1 }
}

fn ntile(buckets: &ArrayRef, rows: usize) -> Result<ArrayRef> {
    // As in PostgreSQL, the partition's first row determines the number.
    let count = if rows == 0 { None } else { whole(buckets, 0)? };
    let Some(count) = count else { return Ok(Arc::new(Int32Array::from(vec![None; rows]))) };
    let count = usize::try_from(count).ok().filter(|count| *count > 0);
    let count = count.ok_or_else(|| SqlError::new("22014", "argument of ntile must be greater than zero"))?;
    Ok(Arc::new(Int32Array::from_iter_values((0..rows).map(|row| bucket(row, rows, count) as i32))))
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn buckets_differ_by_one_row() {
        let of =
            |rows: usize, buckets: usize| -> Vec<usize> { (0..rows).map(|row| bucket(row, rows, buckets)).collect() };
        assert_eq!(of(5, 2), [1, 1, 1, 2, 2]);
        assert_eq!(of(4, 2), [1, 1, 2, 2]);
        assert_eq!(of(2, 5), [1, 2]);
    }
}
