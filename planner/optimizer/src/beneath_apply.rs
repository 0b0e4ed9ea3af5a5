//! Moves conditions below an [`ApplyNode`], so that its subquery does not run for rows that they reject. DataFusion
//! pushes no conditions through extension nodes.

use super::correlated::subquery_of;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Extension, Filter, LogicalPlan};
use executor::apply::ApplyNode;
use executor::volatile::{calls, is_volatile_function};
use std::sync::Arc;

/// Moves conditions of filters right above an Apply below it, if they do not depend on the column that it adds.
pub fn beneath_apply(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let mut below = &plan;
    let mut conditions = Vec::new();
    while let LogicalPlan::Filter(filter) = below {
        conditions.extend(split_conjunction_owned(filter.predicate.clone()));
        below = &filter.input;
    }
    let LogicalPlan::Extension(extension) = below else { return Ok(Transformed::no(plan)) };
    let Some(apply) = extension.node.as_any().downcast_ref::<ApplyNode>() else { return Ok(Transformed::no(plan)) };
    let (down, stay): (Vec<Expr>, Vec<Expr>) =
        conditions.into_iter().partition(|condition| may_move(condition, apply.input.schema()));
    let Some(down) = conjunction(down) else { return Ok(Transformed::no(plan)) };
    let input = LogicalPlan::Filter(Filter::try_new(down, Arc::new(apply.input.clone()))?);
    let moved = ApplyNode { input, ..apply.clone() };
    let moved = LogicalPlan::Extension(Extension { node: Arc::new(moved) });
    Ok(Transformed::yes(match conjunction(stay) {
        Some(stay) => LogicalPlan::Filter(Filter::try_new(stay, Arc::new(moved))?),
        None => moved,
    }))
}

/// Whether a condition depends only on these columns, and has the same result whenever it is evaluated.
fn may_move(condition: &Expr, input: &DFSchema) -> bool {
    // The outer columns that a subquery reads are not among the expression's columns.
    let has_subquery = condition.exists(|inner| Ok(subquery_of(inner).is_some())).unwrap_or(true);
    !has_subquery
        && condition.column_refs().into_iter().all(|column| input.has_column(column))
        && !calls(condition, is_volatile_function)
}
