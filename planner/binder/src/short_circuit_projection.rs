//! Moves expressions with AND or OR that may fail out of aggregates and group keys into a projection below. There,
//! right sides are evaluated only for rows that need them (`execution/lazy_junction.rs`). Aggregates would evaluate
//! both sides for all rows.

use super::binder::Binder;
use super::table_expression::has_subquery;
use super::window::leaves_query;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, LogicalPlanBuilder, Operator};
use sql_error::Result;

impl Binder<'_> {
    /// Moves such expressions from group keys and aggregates into a projection below.
    pub fn guarded_beneath(&self, plan: LogicalPlan, keys: &mut [Expr], values: &mut [Expr]) -> Result<LogicalPlan> {
        let mut computed: Vec<(Expr, String)> = Vec::new();
        for key in keys.iter_mut() {
            if let Expr::Alias(alias) = key
                && is_guarded(&alias.expr)
            {
                self.beneath(&mut alias.expr, &mut computed);
            }
        }
        for value in values.iter_mut() {
            let taken = std::mem::take(value).transform_up(|inner| {
                let Expr::AggregateFunction(mut call) = inner else { return Ok(Transformed::no(inner)) };
                let filter = call.params.filter.iter_mut().map(|filter| &mut **filter);
                let sorted = call.params.order_by.iter_mut().map(|sort| &mut sort.expr);
                for part in call.params.args.iter_mut().chain(filter).chain(sorted) {
                    if is_guarded(part) {
                        self.beneath(part, &mut computed);
                    }
                }
                Ok(Transformed::yes(Expr::AggregateFunction(call)))
            })?;
            *value = taken.data;
        }
        if computed.is_empty() {
            return Ok(plan);
        }
        let columns = plan.schema().columns().into_iter().map(Expr::Column);
        let exprs: Vec<Expr> = columns.chain(computed.into_iter().map(|(expr, name)| expr.alias(name))).collect();
        Ok(LogicalPlanBuilder::from(plan).project(exprs)?.build()?)
    }
}

/// Whether an expression contains an AND or OR that may fail and can be evaluated below.
pub fn is_guarded(expr: &Expr) -> bool {
    let junction = |part: &Expr| {
        let Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, .. }) = part else { return Ok(false) };
        Ok(!cannot_fail(part))
    };
    expr.exists(junction).unwrap_or(false) && !has_subquery(expr) && !leaves_query(expr)
}

/// Whether an expression certainly cannot fail. Only simple forms are recognized.
fn cannot_fail(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Literal(..) | Expr::Placeholder(_) => true,
        Expr::Not(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::Alias(datafusion::logical_expr::expr::Alias { expr: inner, .. }) => cannot_fail(inner),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let safe = op.is_logic_operator() || op.supports_propagation() || *op == Operator::IsDistinctFrom;
            safe && cannot_fail(left) && cannot_fail(right)
        }
        Expr::ScalarFunction(call) => {
            let keys = [functions::NUMERIC_KEY, functions::INTERVAL_KEY, functions::in_list::NAME];
            keys.contains(&call.name()) && call.args.iter().all(cannot_fail)
        }
        _ => false,
    }
}
