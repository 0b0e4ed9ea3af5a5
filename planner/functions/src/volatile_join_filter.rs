//! A volatile join condition that must be evaluated for each pair of rows, although it lacks columns of one or both
//! sides. Without this function, it would be evaluated once per row of a side.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::{Arc, LazyLock};

/// The condition, with a column of each side as dummy arguments.
pub fn of_pair(condition: Expr, left: Expr, right: Expr) -> Expr {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Arc::new(ScalarUDF::from(OfPair::new())));
    FUNCTION.call(vec![condition, left, right])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OfPair {
    signature: Signature,
}

impl OfPair {
    fn new() -> Self {
        OfPair { signature: Signature::any(3, Volatility::Volatile) }
    }
}

impl ScalarUDFImpl for OfPair {
    fn name(&self) -> &str {
        "of pair"
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }
    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match arguments.args.into_iter().next() {
            Some(condition) => Ok(condition),
            None => internal_err!("a condition that is not there"),
        }
    }
}
