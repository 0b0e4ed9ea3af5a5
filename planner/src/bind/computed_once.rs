//! What is computed once though it is compared several times: the operand of a CASE.

use super::volatile::{calls, is_volatile_function};
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
    parts <= SMALL && !calls(expr, is_volatile_function)
}

/// The operand of a CASE whose conditions all compare it as it is, taken out of them: it is computed once, whatever it calls. What is
/// plain stays where it is.
pub fn computed_once(branches: &mut [(Box<Expr>, Box<Expr>)]) -> Option<Box<Expr>> {
    fn compared(condition: &Expr) -> Option<&Expr> {
        match condition {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, .. }) => Some(left),
            _ => None,
        }
    }
    let operand = compared(&branches.first()?.0)?.clone();
    if is_plain(&operand) || branches.iter().any(|(condition, _)| compared(condition) != Some(&operand)) {
        return None;
    }
    for (condition, _) in branches {
        if let Expr::BinaryExpr(equal) = std::mem::take(condition.as_mut()) {
            *condition = equal.right;
        }
    }
    Some(Box::new(operand))
}
