//! [`LazyCoalesce`]: COALESCE as an expression that evaluates each operand once, only for rows without a value so far.
//! A DataFusion function would receive the values of all operands. `lazy_junction` inserts it if an operand may fail or
//! has side effects.

use datafusion::arrow::array::{Array, BooleanArray};
use datafusion::arrow::compute::is_null;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use functions::{COALESCE, filled};
use std::fmt;
use std::sync::Arc;

/// COALESCE that evaluates an operand only for rows without a value.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct LazyCoalesce {
    /// The operands: at least one, all of the same type.
    operands: Vec<Arc<dyn PhysicalExpr>>,
}

impl LazyCoalesce {
    /// COALESCE of these operands.
    pub fn new(operands: Vec<Arc<dyn PhysicalExpr>>) -> Self {
        LazyCoalesce { operands }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{COALESCE}(")?;
        for (at, operand) in self.operands.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{operand}")?;
        }
        write!(f, ")")
    }
}

impl fmt::Display for LazyCoalesce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl PhysicalExpr for LazyCoalesce {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        for operand in &self.operands {
            let ty = operand.data_type(schema)?;
            if ty != DataType::Null {
                return Ok(ty);
            }
        }
        Ok(DataType::Null)
    }
    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.operands.iter().try_fold(true, |all, operand| Ok(all && operand.nullable(schema)?))
    }
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let rows = batch.num_rows();
        let Some((first, rest)) = self.operands.split_first() else { return internal_err!("COALESCE of nothing") };
        let mut found = first.evaluate(batch)?;
        for next in rest {
            found = match found {
                ColumnarValue::Scalar(value) if value.is_null() => next.evaluate(batch)?,
                ColumnarValue::Scalar(_) => return Ok(found),
                ColumnarValue::Array(array) if array.logical_null_count() == 0 => {
                    return Ok(ColumnarValue::Array(array));
                }
                ColumnarValue::Array(array) if array.logical_null_count() == rows => next.evaluate(batch)?,
                ColumnarValue::Array(array) => {
                    let missing: BooleanArray = is_null(array.as_ref())?;
                    let next = next.evaluate_selection(batch, &missing)?;
                    ColumnarValue::Array(filled(&array, next, rows)?)
                }
            };
        }
        Ok(found)
    }
    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.operands.iter().collect()
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(LazyCoalesce { operands: children }))
    }
    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}
