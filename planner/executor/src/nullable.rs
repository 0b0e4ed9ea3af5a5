//! Declares a column nullable without changing its values. The first rows of a recursive query need it if later rows
//! may be NULL.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use sql_error::SqlError;
use std::sync::{Arc, LazyLock};

/// The same value, as a nullable column.
pub fn nullable(expr: Expr) -> Expr {
    static NULLABLE: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Arc::new(ScalarUDF::from(Nullable::new())));
    NULLABLE.call(vec![expr])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Nullable {
    signature: Signature,
}

impl Nullable {
    fn new() -> Self {
        // Volatile, so that a constant is not folded to a literal, which is not nullable.
        Nullable { signature: Signature::any(1, Volatility::Volatile) }
    }
}

impl ScalarUDFImpl for Nullable {
    fn name(&self) -> &str {
        "nullable"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments.first().cloned().unwrap_or(DataType::Null))
    }
    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let value = arguments.args.into_iter().next();
        value.ok_or_else(|| SqlError::internal("a value that is missing").into())
    }
}
