//! `CASE WHEN condition …`. DataFusion's simplifier turns a boolean CASE into AND and OR, which guard no branch and
//! evaluate conditions again. It leaves `CASE true WHEN condition …` alone, so we build that. [`plain`] converts it
//! back once the rewrites are done.

use super::differs_by_run;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Case;
use datafusion::scalar::ScalarValue;

/// The result of the first branch whose condition is true, otherwise `otherwise`.
pub fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Expr {
    let boxed = |(when, then)| (Box::new(when), Box::new(then));
    Expr::Case(Case {
        expr: Some(Box::new(Expr::Literal(ScalarValue::Boolean(Some(true)), None))),
        when_then_expr: branches.into_iter().map(boxed).collect(),
        else_expr: otherwise.map(Box::new),
    })
}

/// Whether a CASE has no operand, or was made by [`case`].
pub fn is_searched(case: &Case) -> bool {
    case.expr.as_deref().is_none_or(|operand| matches!(operand, Expr::Literal(ScalarValue::Boolean(Some(true)), _)))
}

/// The equivalent CASE without operand, for one that [`case`] made. `None` if a condition has a volatile call.
/// DataFusion would evaluate such conditions while planning, to find out which results may be NULL.
pub fn plain(expr: &Expr) -> Option<Expr> {
    let Expr::Case(case) = expr else { return None };
    let fixed = case.when_then_expr.iter().all(|(when, _)| !differs_by_run(when));
    (fixed && case.expr.is_some() && is_searched(case)).then(|| Expr::Case(Case { expr: None, ..case.clone() }))
}
