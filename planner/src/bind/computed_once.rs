//! What is computed once though it is compared several times: the operand of a CASE. Must not know how it was written.

use super::with::is_volatile_expression;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

/// Whether an expression is as good when it is computed again: it is the same then, and small, so that those that stand in each
/// other do not grow without measure.
pub fn is_plain(expr: &Expr) -> bool {
    const SMALL: usize = 16;
    let mut parts = 0;
    // The visitor cannot fail.
    let _ = expr.apply(|_| {
        parts += 1;
        Ok(if parts > SMALL { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    parts <= SMALL && !is_volatile_expression(expr).unwrap_or(true)
}

/// The operand of a CASE whose conditions all compare it as it is, taken out of them: it is computed once, whatever it calls. A
/// column or a constant stays where it is.
pub fn computed_once(branches: &mut [(Box<Expr>, Box<Expr>)]) -> Option<Box<Expr>> {
    let equal = |condition: &Expr| match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            Some((left.as_ref().clone(), right.as_ref().clone()))
        }
        _ => None,
    };
    let pairs: Vec<(Expr, Expr)> = branches.iter().map(|(condition, _)| equal(condition)).collect::<Option<_>>()?;
    let operand = pairs.first()?.0.clone();
    if is_plain(&operand) || pairs.iter().any(|(left, _)| *left != operand) {
        return None;
    }
    for ((condition, _), (_, right)) in branches.iter_mut().zip(pairs) {
        **condition = right;
    }
    Some(Box::new(operand))
}
