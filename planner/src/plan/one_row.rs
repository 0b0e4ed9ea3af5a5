//! [`hold_filters`]: keeps conditions above aggregates that have a row even where their input has none.
//!
//! DataFusion moves a condition below an aggregate when the columns it asks for are group keys. One that asks for no columns
//! (`HAVING $1`, `HAVING (SELECT …)`, or what a condition becomes when a column turns out to be a constant) passes that test
//! everywhere; below an aggregate without groups it would leave the one row that it should take away. Nothing moves below
//! LIMIT, so such an aggregate gets one, of no fewer rows than it has.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder};

/// The plan with a LIMIT above each aggregate that has a row of no input and stands below a condition; `None` where there is no
/// such aggregate.
pub fn hold_filters(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= matches!(node, LogicalPlan::Aggregate(aggregate) if rows_of_nothing(aggregate).is_some());
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    found.then(|| held(plan.clone(), false)).transpose()
}

/// `below`: whether a condition stands above that nothing but this LIMIT would keep from moving below the aggregate.
fn held(plan: LogicalPlan, below: bool) -> Result<LogicalPlan> {
    use LogicalPlan as P;
    let limit = match &plan {
        P::Aggregate(aggregate) if below => rows_of_nothing(aggregate),
        _ => None,
    };
    let beneath = match &plan {
        P::Filter(_) | P::Join(_) => true,
        // A subquery that sees the other side of its join is made part of it, which a LIMIT would prevent.
        P::Limit(_) | P::Subquery(_) => false,
        _ => below && limit.is_none(),
    };
    let plan = plan.map_children(|child| Ok(Transformed::yes(held(child, beneath)?)))?.data;
    let plan = plan.map_subqueries(|inner| Ok(Transformed::yes(held(inner, false)?)))?.data;
    match limit {
        Some(limit) => LogicalPlanBuilder::from(plan).limit(0, Some(limit))?.build(),
        None => Ok(plan),
    }
}

/// No fewer rows than an aggregate has, if it has any where its input has none.
fn rows_of_nothing(aggregate: &Aggregate) -> Option<usize> {
    match aggregate.group_expr.as_slice() {
        [] => Some(1),
        [Expr::GroupingSet(_)] => Some(i64::MAX as usize),
        _ => None,
    }
}
