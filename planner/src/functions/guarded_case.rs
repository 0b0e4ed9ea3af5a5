//! `CASE WHEN condition …`. To DataFusion's simplifier it is `CASE true WHEN condition …`, which it leaves alone: of others that give
//! booleans it makes AND and OR, which guard no branch and compute conditions again. [`plain`] makes the common one of it, once nothing
//! rewrites it any more.

use super::differs_by_run;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Case;
use datafusion::scalar::ScalarValue;

/// The result of the first of some branches whose condition is true, else another.
pub fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Expr {
    let boxed = |(when, then)| (Box::new(when), Box::new(then));
    Expr::Case(Case {
        expr: Some(Box::new(Expr::Literal(ScalarValue::Boolean(Some(true)), None))),
        when_then_expr: branches.into_iter().map(boxed).collect(),
        else_expr: otherwise.map(Box::new),
    })
}

/// Whether a CASE is one of these, or has no operand.
pub fn is_searched(case: &Case) -> bool {
    case.expr.as_deref().is_none_or(|operand| matches!(operand, Expr::Literal(ScalarValue::Boolean(Some(true)), _)))
}

/// The CASE without operand that means the same, of one that [`case`] made. None where a condition calls what differs from run to run:
/// DataFusion computes those of a common CASE while it plans, to know which results may be NULL.
pub fn plain(expr: &Expr) -> Option<Expr> {
    let Expr::Case(case) = expr else { return None };
    let fixed = case.when_then_expr.iter().all(|(when, _)| !differs_by_run(when));
    (fixed && case.expr.is_some() && is_searched(case)).then(|| Expr::Case(Case { expr: None, ..case.clone() }))
}
