//! [`OneValue`]: a text or bytea that no row changes, computed over one row. Planning leaves what is too large for a plan; over a batch it
//! would be repeated for each row. [`takes_scalars`] says which expressions may be given one.

use super::leaf::one_row;
use super::value::is_slot;
use crate::functions::kernel::KernelFunction;
use crate::value_size::scalar;
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{ColumnarValue, Operator, ScalarUDF, Volatility};
use datafusion::physical_expr::expressions::{BinaryExpr, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// See the head of the module.
#[derive(Debug)]
pub struct OneValue(Arc<dyn PhysicalExpr>);

impl OneValue {
    /// The same expression, as one value if it is a call that no row changes.
    pub fn of(expr: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
        match is_call(&expr) && is_constant(&expr) {
            true => Arc::new(OneValue(expr)),
            false => expr,
        }
    }
}

/// Whether an expression takes one value for all rows, and makes no array of it: any other repeats it, and asks for no room.
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

/// Whether it is a call with arguments that makes what may be long.
fn is_call(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| {
        let long = matches!(call.return_type(), DataType::Utf8 | DataType::Binary | DataType::LargeBinary);
        long && !call.args().is_empty() && is_kernel(call.fun())
    })
}

/// Whether no row changes it: constants, slots, and what functions make of them that depend on nothing else.
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
            // It is counted where it lies.
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
