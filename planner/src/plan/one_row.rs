//! [`hold_filters`]: keeps conditions above aggregates that have a row even where their input has none.
//!
//! DataFusion moves a condition below an aggregate when the columns it asks for are group keys. One that asks for no columns
//! (`HAVING $1`, `HAVING (SELECT …)`, or what a condition becomes when a column turns out to be a constant) passes that test
//! everywhere; below an aggregate without groups it would leave the one row that it should take away. One that calls a volatile
//! function asks anew for each row that it is given, so it must be given those that stand below it (`WHERE random() < 0.5`
//! over a join, a window, groups). Nothing moves below LIMIT, so what must stay above something has one between, of no fewer
//! rows than there are.

use crate::bind::volatile::{calls, is_volatile_function};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Aggregate, Expr, Filter, LogicalPlan, LogicalPlanBuilder, SubqueryAlias};

/// The plan with a LIMIT above each aggregate that has a row of no input and stands below a condition, and below each volatile
/// condition; `None` where there is neither.
pub fn hold_filters(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= match node {
            LogicalPlan::Aggregate(aggregate) => rows_of_nothing(aggregate).is_some(),
            LogicalPlan::Filter(filter) => is_volatile_filter(filter)?,
            _ => false,
        };
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
    let stays = matches!(&plan, P::Filter(filter) if is_volatile_filter(filter)?);
    let plan = plan.map_children(|child| Ok(Transformed::yes(held(child, beneath)?)))?.data;
    let mut plan = plan.map_subqueries(|inner| Ok(Transformed::yes(held(inner, false)?)))?.data;
    if let (P::Filter(filter), true) = (&plan, stays) {
        // What joins are made of, and keys are found by, goes down as ever.
        let parts = split_conjunction_owned(filter.predicate.clone());
        let (volatile, others): (Vec<Expr>, Vec<Expr>) = parts.into_iter().partition(calls_volatile);
        let mut builder = LogicalPlanBuilder::from(filter.input.as_ref().clone());
        if let Some(part) = conjunction(others) {
            builder = builder.filter(part)?;
        }
        builder = builder.limit(0, Some(i64::MAX as usize))?;
        if let Some(part) = conjunction(volatile) {
            builder = builder.filter(part)?;
        }
        plan = builder.build()?;
    }
    match limit {
        Some(limit) => LogicalPlanBuilder::from(plan).limit(0, Some(limit))?.build(),
        None => Ok(plan),
    }
}

/// Whether a condition calls a volatile function over something other than a table's rows.
fn is_volatile_filter(filter: &Filter) -> Result<bool> {
    let mut input = filter.input.as_ref();
    while let LogicalPlan::SubqueryAlias(SubqueryAlias { input: inner, .. })
    | LogicalPlan::Filter(Filter { input: inner, .. }) = input
    {
        input = inner.as_ref();
    }
    if matches!(input, LogicalPlan::TableScan(_)) {
        return Ok(false);
    }
    Ok(calls_volatile(&filter.predicate))
}

/// Whether a condition calls a function that may answer otherwise for another row of the same moment, or that does something.
fn calls_volatile(condition: &Expr) -> bool {
    let is_clock = |name: &str| matches!(name, "clock_timestamp" | "timeofday");
    calls(condition, |name| is_volatile_function(name) && !is_clock(name))
}

/// No fewer rows than an aggregate has, if it has any where its input has none.
fn rows_of_nothing(aggregate: &Aggregate) -> Option<usize> {
    match aggregate.group_expr.as_slice() {
        [] => Some(1),
        [Expr::GroupingSet(_)] => Some(i64::MAX as usize),
        _ => None,
    }
}
