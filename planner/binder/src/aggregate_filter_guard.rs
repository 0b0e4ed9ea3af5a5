//! FILTER of aggregates: arguments and sort keys must not be evaluated for rejected rows, where they may fail.
//! DataFusion's grouped aggregates evaluate them for all rows.

use super::volatile::{calls, is_volatile_function};
use datafusion::logical_expr::Expr;
use functions::guarded_case;

/// Makes expressions NULL for rows that a filter rejects, unless they cannot fail.
pub fn spare_filtered<'e>(filter: &Expr, exprs: impl Iterator<Item = &'e mut Expr>) {
    let is_simple = |expr: &Expr| matches!(expr, Expr::Column(_) | Expr::Literal(..) | Expr::Placeholder(_));
    // A volatile filter must not be evaluated twice.
    if calls(filter, is_volatile_function) {
        return;
    }
    for expr in exprs.filter(|expr| !is_simple(expr)) {
        *expr = guarded_case::case(vec![(filter.clone(), std::mem::take(expr))], None);
    }
}
