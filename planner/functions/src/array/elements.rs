//! Converts an array to Arrow's list, so that a plan can unnest it.

use crate::TypedExpr;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use types::SqlType;
use types::array::elements_of;

/// The elements of each row's array as a list.
pub fn elements(array: TypedExpr) -> Expr {
    // Volatile, so that it is not folded: the plan would keep the list of a constant array and print it in column
    // names.
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
            return Err(sql_error::SqlError::internal("elements of nothing").into());
        };
        Ok(ColumnarValue::Array(Arc::new(elements_of(array.as_ref())?)))
    }
}
