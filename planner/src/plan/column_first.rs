//! [`ColumnFirst`]: DataFusion's rule that moves conditions down, given comparisons of a column with a constant in one form only. It
//! takes two equalities of one column for a contradiction unless they are the same expression: `3 = a AND a = 3` is not one, nor is the
//! same text that stands at two places of a statement. And it does not say of one of two floats that a join equates what a condition says of
//! the other: 0 and -0 are equal, and differ. Conditions move below an Apply too.

use super::beneath_apply::beneath_apply;
use crate::functions::place::without_place;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ExprSchema, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, Filter, Join, LogicalPlan};
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
        let plan = match beneath_apply(plan)? {
            moved if moved.transformed => return Ok(moved),
            same => same.data,
        };
        let plan = with_joins(plan, &|join| map_keys(join, hidden));
        let rewritten = match plan {
            LogicalPlan::Filter(filter) => self.0.rewrite(LogicalPlan::Filter(in_one_form(filter)), config),
            plan => self.0.rewrite(plan, config),
        }?;
        Ok(rewritten.update_data(|plan| with_joins(plan, &|join| map_keys(join, |key, _| shown(key)))))
    }
}

/// The name that hides a key of a join from the rule, which looks at columns.
const HIDDEN: &str = "\u{1}float";

/// A plan with its join at the top, or below filters there, changed.
fn with_joins(plan: LogicalPlan, change: &dyn Fn(Join) -> Join) -> LogicalPlan {
    match plan {
        LogicalPlan::Join(join) => LogicalPlan::Join(change(join)),
        LogicalPlan::Filter(Filter { predicate, input, .. }) => {
            let input = with_joins(Arc::unwrap_or_clone(input), change);
            LogicalPlan::Filter(Filter::new(predicate, Arc::new(input)))
        }
        other => other,
    }
}

/// A join with the left side of each pair of keys changed.
fn map_keys(mut join: Join, change: impl Fn(Expr, &DFSchema) -> Expr) -> Join {
    let schema = Arc::clone(join.left.schema());
    join.on = join.on.into_iter().map(|(left, right)| (change(left, &schema), right)).collect();
    join
}

fn hidden(key: Expr, schema: &DFSchema) -> Expr {
    let float = match &key {
        Expr::Column(column) => schema.field_from_column(column).is_ok_and(|field| field.data_type().is_floating()),
        _ => false,
    };
    if float { key.alias(HIDDEN) } else { key }
}

fn shown(key: Expr) -> Expr {
    match key {
        Expr::Alias(alias) if alias.name == HIDDEN => *alias.expr,
        other => other,
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
