//! [`ColumnFirst`]: DataFusion's rule that moves conditions down, given comparisons of a column with a constant in one form only. It
//! takes two equalities of one column for a contradiction unless they are the same expression: `3 = a AND a = 3` is not one, nor is the
//! same text that stands at two places of a statement.

use crate::functions::place::without_place;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, Filter, LogicalPlan};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// The rule.
#[derive(Debug)]
pub struct ColumnFirst(pub Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for ColumnFirst {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Filter(filter) => self.0.rewrite(LogicalPlan::Filter(in_one_form(filter)), config),
            plan => self.0.rewrite(plan, config),
        }
    }
}

/// A filter and those right below, which the rule joins with it.
fn in_one_form(filter: Filter) -> Filter {
    let Filter { predicate, mut input, .. } = filter;
    if let LogicalPlan::Filter(below) = input.as_ref() {
        input = Arc::new(LogicalPlan::Filter(in_one_form(below.clone())));
    }
    let parts = split_conjunction_owned(predicate.clone()).into_iter().map(column_first);
    // A conjunction of nothing there is not: split gives one part at least.
    Filter::new(conjunction(parts).unwrap_or(predicate), input)
}

/// `constant op column` the other way round.
fn column_first(condition: Expr) -> Expr {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return condition };
    let (left, op, right) = match (left.as_ref(), op.swap(), right.as_ref()) {
        (Expr::Literal(..), Some(swapped), Expr::Column(_)) => (right, swapped, left),
        _ => (left, op, right),
    };
    let right = match (left.as_ref(), right.as_ref()) {
        (Expr::Column(_), Expr::Literal(..)) => Box::new(without_place(*right)),
        _ => right,
    };
    Expr::BinaryExpr(BinaryExpr { left, op, right })
}
