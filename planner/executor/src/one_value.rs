//! [`OneValue`]: a text or bytea that is the same for all rows, computed once per batch. The planner does not fold
//! values that are too large for a plan. Without this, each row of a batch would repeat the value. [`takes_scalars`]
//! says which expressions accept a single value.

use super::leaf::one_row;
use super::value::is_slot;
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{ColumnarValue, Operator, ScalarUDF, Volatility};
use datafusion::physical_expr::expressions::{BinaryExpr, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use functions::kernel::KernelFunction;
use sql_error::value_size::scalar;
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An expression that is evaluated once for all rows.
#[derive(Debug)]
pub struct OneValue(Arc<dyn PhysicalExpr>);

impl OneValue {
    /// Wraps a call that does not depend on the row. Other expressions stay.
    pub fn of(expr: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
        match is_call(&expr) && is_constant(&expr) {
            true => Arc::new(OneValue(expr)),
            false => expr,
        }
    }
}

/// Whether an expression accepts one value for all rows. Others expand it to an array without reserving memory.
pub fn takes_scalars(expr: &Arc<dyn PhysicalExpr>) -> bool {
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        return matches!(
            binary.op(),
            Operator::Eq
                | Operator::NotEq
                | Operator::Lt
                | Operator::LtEq
                | Operator::Gt
                | Operator::GtEq
                | Operator::IsDistinctFrom
                | Operator::IsNotDistinctFrom
        );
    }
    expr.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| is_kernel(call.fun()))
}

fn is_kernel(function: &ScalarUDF) -> bool {
    (function.inner().as_ref() as &dyn Any).is::<KernelFunction>()
}

/// Whether it is a call with arguments whose result may be long.
fn is_call(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| {
        let long = matches!(call.return_type(), DataType::Utf8 | DataType::Binary | DataType::LargeBinary);
        long && !call.args().is_empty() && is_kernel(call.fun())
    })
}

/// Whether it is the same for all rows: a constant, a slot, or a function of such values.
fn is_constant(expr: &Arc<dyn PhysicalExpr>) -> bool {
    if expr.is::<Literal>() {
        return true;
    }
    if let Some(inner) = expr.downcast_ref::<OneValue>() {
        return is_constant(&inner.0);
    }
    let Some(call) = expr.downcast_ref::<ScalarFunctionExpr>() else { return false };
    if is_slot(call.fun()) {
        return true;
    }
    let function = call.fun();
    let same = function.signature().volatility == Volatility::Immutable;
    same && is_kernel(function) && call.args().iter().all(is_constant)
}

impl fmt::Display for OneValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for OneValue {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq(&other.0)
    }
}

impl Eq for OneValue {}

impl Hash for OneValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PhysicalExpr for OneValue {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.0.data_type(schema)
    }
    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.0.nullable(schema)
    }
    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.0.return_field(schema)
    }
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        match self.0.evaluate(&one_row())? {
            // The value's memory is accounted for in its array.
            ColumnarValue::Array(array) if batch.num_rows() != 1 => Ok(ColumnarValue::Scalar(scalar(&array)?)),
            value => Ok(value),
        }
    }
    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.0]
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        let Ok([inner]) = <[_; 1]>::try_from(children) else {
            return internal_err!("one value is made by one expression");
        };
        Ok(OneValue::of(inner))
    }
    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_sql(f)
    }
}
