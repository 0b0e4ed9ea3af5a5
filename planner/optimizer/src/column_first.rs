//! [`ColumnFirst`]: DataFusion's predicate pushdown, guarded against three faults:
//! - It takes two different equalities of one column for a contradiction. `3 = a AND a = 3` is not one, nor are equal
//!   texts at different positions. So all comparisons with constants get the column first.
//! - It transfers conditions between two joined floats. But 0 and -0 are equal and still differ.
//! - It pushes nothing below an Apply; this rule does.

use super::beneath_apply::beneath_apply;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, ExprSchema, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, Filter, Join, LogicalPlan};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use functions::error_position::without_place;
use std::sync::Arc;

/// DataFusion's predicate pushdown rule with the corrections of this module.
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

/// The name that hides a join key from the rule, which examines columns.
const HIDDEN: &str = "\0float";

/// Changes the join at the top of a plan, or below filters there.
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

/// Changes the left expression of each pair of join keys.
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

/// Merges a filter with those right below, as the rule does, with comparisons in canonical form.
fn in_one_form(filter: Filter) -> Filter {
    let Filter { predicate, mut input, .. } = filter;
    if let LogicalPlan::Filter(below) = input.as_ref() {
        input = Arc::new(LogicalPlan::Filter(in_one_form(below.clone())));
    }
    let parts = split_conjunction_owned(predicate.clone()).into_iter().map(column_first);
    // Splitting gives at least one part, so the conjunction is not empty.
    Filter::new(conjunction(parts).unwrap_or(predicate), input)
}

/// Swaps `constant op column`, so that the column comes first.
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
