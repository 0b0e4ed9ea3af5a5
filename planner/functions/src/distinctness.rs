//! `IS NOT DISTINCT FROM` between two sides that both read rows. DataFusion's operator would become a join in which
//! NULLs are equal. Such a join treats all of its equalities alike, which is wrong for `=`. PostgreSQL also joins by
//! this operator row by row.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply_cmp;
use std::sync::{Arc, LazyLock};

/// Name of the function.
pub const NOT_DISTINCT: &str = "not distinct";

/// `left IS [NOT] DISTINCT FROM right`, both of one Arrow type. `None` if a side does not read rows.
pub fn distinctness(operator: Operator, left: &Expr, right: &Expr) -> Option<Expr> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Arc::new(ScalarUDF::from(NotDistinct::new())));
    let reads = |expr: &Expr| {
        let column = |part: &Expr| Ok(matches!(part, Expr::Column(_) | Expr::OuterReferenceColumn(..)));
        expr.exists(column).unwrap_or(true)
    };
    if !(reads(left) && reads(right)) {
        return None;
    }
    let same = || FUNCTION.call(vec![left.clone(), right.clone()]);
    match operator {
        Operator::IsNotDistinctFrom => Some(same()),
        Operator::IsDistinctFrom => Some(Expr::Not(Box::new(same()))),
        _ => None,
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct NotDistinct {
    signature: Signature,
}

impl NotDistinct {
    fn new() -> Self {
        NotDistinct { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for NotDistinct {
    fn name(&self) -> &str {
        NOT_DISTINCT
    }
    fn signature(&self) -> &Signature {
        &self.signature
    }
    fn return_type(&self, _sides: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }
    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = arguments.args.as_slice() else {
            return internal_err!("a comparison has two sides");
        };
        apply_cmp(Operator::IsNotDistinctFrom, left, right)
    }
}
