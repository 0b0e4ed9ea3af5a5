//! Replaces calls of strict operators and functions with a constant NULL operand by NULL. No operand is evaluated.
//!
//! PostgreSQL folds such calls while planning: `(a * 2147483647 * NULL::int) IS NOT NULL` overflows for no row. A plan
//! does not know its parameters' values, so a NULL parameter is evaluated like any other.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use functions::kernel::KernelFunction;
use sql_error::Result;

/// Replaces such calls in a plan by NULL.
pub fn fold_nulls(plan: LogicalPlan) -> Result<LogicalPlan> {
    let folded = plan.transform_up_with_subqueries(|node| {
        let mut any = false;
        node.apply_expressions(|expression| {
            any |= expression.exists(|part| Ok(is_null(part)))?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        if !any {
            return Ok(Transformed::no(node));
        }
        let names = NamePreserver::new(&node);
        let folded = node.map_expressions(|expression| {
            let name = names.save(&expression);
            Ok(expression.transform_up(folded)?.update_data(|expression| name.restore(expression)))
        })?;
        if folded.transformed { folded.map_data(LogicalPlan::recompute_schema) } else { Ok(folded) }
    })?;
    Ok(folded.data)
}

/// The expression, or NULL if that is certain.
pub(super) fn folded(expression: Expr) -> DataFusionResult<Transformed<Expr>> {
    Ok(match certain_null(&expression)? {
        Some(null) => Transformed::yes(Expr::Literal(null, None)),
        None => Transformed::no(expression),
    })
}

/// The typed NULL of a strict call with a constant NULL operand.
fn certain_null(expression: &Expr) -> DataFusionResult<Option<ScalarValue>> {
    let Some(ty) = strict_type(expression) else { return Ok(None) };
    let mut null = false;
    expression.apply_children(|operand| {
        null |= is_null(operand);
        Ok(TreeNodeRecursion::Continue)
    })?;
    if null { ScalarValue::try_from(&ty).map(Some) } else { Ok(None) }
}

fn is_null(expression: &Expr) -> bool {
    matches!(expression, Expr::Literal(value, _) if value.is_null())
}

/// The result type of a strict call. `None` for other expressions.
pub(super) fn strict_type(expression: &Expr) -> Option<DataType> {
    use Operator as O;
    match expression {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => {
            let compares = matches!(op, O::Eq | O::NotEq | O::Lt | O::LtEq | O::Gt | O::GtEq);
            compares.then_some(DataType::Boolean)
        }
        Expr::Not(_) | Expr::Like(_) => Some(DataType::Boolean),
        // A list with one member is a comparison.
        Expr::InList(InList { list, .. }) if list.len() == 1 => Some(DataType::Boolean),
        Expr::Cast(cast) => Some(cast.field.data_type().clone()),
        Expr::ScalarFunction(call) => {
            let function = call.func.inner().downcast_ref::<KernelFunction>()?;
            function.is_strict().then(|| function.result().arrow())
        }
        _ => None,
    }
}
