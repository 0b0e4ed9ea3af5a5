//! Evaluates the operand of a CASE once, although several conditions compare it.

use super::volatile::{calls, is_volatile_function};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

/// Whether an expression may be evaluated repeatedly: it is not volatile, and small, so that nested ones do not grow
/// without bound.
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

/// Takes the common operand out of a CASE's conditions, so that it is evaluated once. A plain operand stays in place.
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
