//! [`implied`]: whether conditions imply another condition. It understands comparisons with constants, AND, OR and NULL
//! tests. A partial index serves a query or ON CONFLICT if its condition is implied.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;
use functions::error_position::without_place;
use functions::in_list;
use std::cmp::Ordering;

/// Whether each row that satisfies all of `given` satisfies `needed`. False if unknown.
pub fn implied(given: &[Expr], needed: &Expr) -> bool {
    let plain = |expr: &Expr| {
        let stripped = expr.clone().transform(|part| Ok(Transformed::yes(without_place(part))));
        stripped.map_or_else(|_| expr.clone(), |stripped| stripped.data)
    };
    let given: Vec<Expr> = given.iter().map(plain).collect();
    let parts: Vec<&Expr> = given.iter().flat_map(split_conjunction).collect();
    follows(&parts, &plain(needed))
}

fn follows(given: &[&Expr], needed: &Expr) -> bool {
    if let Expr::BinaryExpr(BinaryExpr { left, op, right }) = needed {
        match op {
            Operator::And => return follows(given, left) && follows(given, right),
            Operator::Or if follows(given, left) || follows(given, right) => return true,
            _ => {}
        }
    }
    if let Some((column, members)) = in_list::parts(needed) {
        let any = members.iter().any(|member| follows(given, &column.clone().eq(member.clone())));
        if any {
            return true;
        }
    }
    given.iter().any(|part| one_follows(part, needed))
}

/// Whether one condition suffices.
fn one_follows(given: &Expr, needed: &Expr) -> bool {
    if given == needed {
        return true;
    }
    if let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) = given {
        return [left, right].into_iter().all(|side| follows(&split_conjunction(side), needed));
    }
    if let Some((column, members)) = in_list::parts(given) {
        return members.iter().all(|member| follows(&[&column.clone().eq(member.clone())], needed));
    }
    if let Some(tested) = not_null(needed) {
        return match given {
            // These comparisons are not true for NULL.
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
                is_strict(*op) && (left.as_ref() == tested || right.as_ref() == tested)
            }
            other => not_null(other) == Some(tested),
        };
    }
    match (comparison(given), comparison(needed)) {
        (Some((one, known, bound)), Some((other, asked, limit))) if one == other => {
            compare(bound, limit).is_some_and(|order| holds(known, order, asked))
        }
        _ => false,
    }
}

fn not_null(condition: &Expr) -> Option<&Expr> {
    match condition {
        Expr::IsNotNull(inner) => Some(inner),
        Expr::Not(inner) => match inner.as_ref() {
            Expr::IsNull(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

fn is_strict(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// A comparison with a constant, with the constant on the right.
fn comparison(condition: &Expr) -> Option<(&Expr, Operator, &ScalarValue)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    if !is_strict(*op) {
        return None;
    }
    match (left.as_ref(), right.as_ref()) {
        (Expr::Literal(..), Expr::Literal(..)) => None,
        (what, Expr::Literal(value, _)) => Some((what, *op, value)),
        (Expr::Literal(value, _), what) => Some((what, op.swap()?, value)),
        _ => None,
    }
}

/// The order of two constants. Equal constants have the same canonical form. `None` for NULL and arrays.
fn compare(one: &ScalarValue, other: &ScalarValue) -> Option<Ordering> {
    let float = |value: &ScalarValue| match value {
        ScalarValue::Float64(Some(value)) => Some(*value),
        ScalarValue::Float32(Some(value)) => Some(f64::from(*value)),
        _ => None,
    };
    if one.is_null() || other.is_null() || one.data_type() != other.data_type() {
        return None;
    }
    match (float(one), float(other)) {
        // NaN is greater than all numbers.
        (Some(one), Some(other)) => one.partial_cmp(&other).or_else(|| Some(one.is_nan().cmp(&other.is_nan()))),
        (None, None) if !one.data_type().is_nested() => one.partial_cmp(other),
        _ => None,
    }
}

/// Whether `x known a` implies `x asked b`, where `order` is the order of a and b.
fn holds(known: Operator, order: Ordering, asked: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    match (known, asked) {
        (Eq, Eq) => order.is_eq(),
        (Eq, NotEq) => order.is_ne(),
        (Eq, Lt) => order.is_lt(),
        (Eq, LtEq) => order.is_le(),
        (Eq, Gt) => order.is_gt(),
        (Eq, GtEq) => order.is_ge(),
        (Lt, Lt | LtEq | NotEq) | (LtEq, LtEq) => order.is_le(),
        (LtEq, Lt | NotEq) => order.is_lt(),
        (Gt, Gt | GtEq | NotEq) | (GtEq, GtEq) => order.is_ge(),
        (GtEq, Gt | NotEq) => order.is_gt(),
        (NotEq, NotEq) => order.is_eq(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};

    #[test]
    fn a_tighter_bound_implies_a_looser_one() {
        let x = || col("x");
        let yes = [
            (x().gt(lit(6)), x().gt(lit(5))),
            (x().gt(lit(5)), x().gt_eq(lit(5))),
            (x().gt_eq(lit(6)), x().gt(lit(5))),
            (lit(6).lt(x()), x().gt(lit(5))),
            (x().eq(lit(7)), x().gt(lit(5))),
            (x().eq(lit(7)), x().is_not_null()),
            (x().lt(lit(5)), x().not_eq(lit(5))),
            (x().gt(lit(6)).or(x().gt(lit(9))), x().gt(lit(5))),
            (x().gt(lit(6)).and(col("y").eq(lit(1))), x().gt(lit(5))),
            (x().eq(lit(1)), x().eq(lit(1)).or(x().eq(lit(2)))),
            (x().eq(lit(2.0)), x().lt(lit(2.5))),
            (in_list::one_of(x(), vec![lit(1), lit(3)]), in_list::one_of(x(), vec![lit(1), lit(2), lit(3)])),
            (in_list::one_of(x(), vec![lit(7), lit(8)]), x().gt(lit(5))),
        ];
        for (given, needed) in yes {
            assert!(implied(std::slice::from_ref(&given), &needed), "{given} implies {needed}");
        }
        let no = [
            (x().gt(lit(5)), x().gt(lit(6))),
            (x().gt_eq(lit(5)), x().gt(lit(5))),
            (x().gt(lit(5)), x().eq(lit(6))),
            (x().not_eq(lit(5)), x().gt(lit(5))),
            (x().gt(lit(6)).or(x().lt(lit(1))), x().gt(lit(5))),
            (x().is_null(), x().is_not_null()),
            (in_list::one_of(x(), vec![lit(1), lit(4)]), in_list::one_of(x(), vec![lit(1), lit(2), lit(3)])),
            (col("y").gt(lit(6)), x().gt(lit(5))),
            (x().lt(lit(f64::NAN)), x().lt(lit(1.0))),
        ];
        for (given, needed) in no {
            assert!(!implied(std::slice::from_ref(&given), &needed), "{given} implies {needed}");
        }
    }
}
