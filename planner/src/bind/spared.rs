//! What FILTER leaves out: arguments and sort keys of an aggregate are not computed of these rows, as they may fail there. DataFusion's
//! grouped aggregates compute them of all rows.

use super::volatile::{calls, is_volatile_function};
use crate::functions::guarded_case;
use datafusion::logical_expr::Expr;

/// Makes expressions NULL where a filter is not true, unless they are too simple to fail.
pub fn spare_filtered<'e>(filter: &Expr, exprs: impl Iterator<Item = &'e mut Expr>) {
    let is_simple = |expr: &Expr| matches!(expr, Expr::Column(_) | Expr::Literal(..) | Expr::Placeholder(_));
    // It must not be asked more often than it is written.
    if calls(filter, is_volatile_function) {
        return;
    }
    for expr in exprs.filter(|expr| !is_simple(expr)) {
        *expr = guarded_case::case(vec![(filter.clone(), std::mem::take(expr))], None);
    }
}
