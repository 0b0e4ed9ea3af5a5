//! An array's elements as Arrow's list, for the plan that makes rows of them.

use crate::functions::TypedExpr;
use crate::types::SqlType;
use crate::types::array::elements_of;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// The elements of an array, row by row, as a list.
pub(crate) fn elements(array: TypedExpr) -> Expr {
    // Volatile: the list of a constant array would be kept in the plan, and printed in its names.
    let signature = Signature::any(1, Volatility::Volatile);
    ScalarUDF::from(Elements { element: array.ty.element(), signature }).call(vec![array.expr])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Elements {
    element: SqlType,
    signature: Signature,
}

impl ScalarUDFImpl for Elements {
    fn name(&self) -> &str {
        "elements"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(self.element.arrow(), true))))
    }
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let Some(array) = arrays.pop() else {
            return Err(crate::error::SqlError::internal("elements of nothing").into());
        };
        Ok(ColumnarValue::Array(Arc::new(elements_of(array.as_ref())?)))
    }
}
