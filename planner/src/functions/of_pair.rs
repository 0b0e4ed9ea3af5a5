//! A condition of a join that is asked of each pair of rows although it names no column of one side, or of none: what it calls answers
//! differently each time. Otherwise it would be asked once for a row of a side.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::{Arc, LazyLock};

/// The condition, tied to a column of each side.
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
