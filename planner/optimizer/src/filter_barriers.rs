//! [`hold_filters`]: keeps conditions above aggregates that return a row even for an empty input.
//!
//! DataFusion moves a condition below an aggregate if all of its columns are group keys. A condition without columns
//! always passes that test. Examples are `HAVING $1`, `HAVING (SELECT …)`, and a condition on a column that became a
//! constant. Below an aggregate without groups, it would not remove the aggregate's single row.
//!
//! A condition with a volatile call has another result for each row. It must see the rows at its place (`WHERE random()
//! < 0.5` over a join, a window or groups). DataFusion moves nothing below LIMIT. So a LIMIT that keeps all rows is put
//! below each condition that must stay.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Aggregate, Expr, Filter, LogicalPlan, LogicalPlanBuilder, SubqueryAlias};
use executor::volatile::{calls, is_volatile_function};

/// Adds a LIMIT above each aggregate that returns a row for an empty input and is below a condition. Also adds one
/// below each volatile condition. `None` if there is neither.
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

/// `below` says whether a condition above could move below the aggregate without this LIMIT.
fn held(plan: LogicalPlan, below: bool) -> Result<LogicalPlan> {
    use LogicalPlan as P;
    let limit = match &plan {
        P::Aggregate(aggregate) if below => rows_of_nothing(aggregate),
        _ => None,
    };
    let beneath = match &plan {
        P::Filter(_) | P::Join(_) => true,
        // A lateral subquery becomes part of its join, which a LIMIT would prevent.
        P::Limit(_) | P::Subquery(_) => false,
        _ => below && limit.is_none(),
    };
    let stays = matches!(&plan, P::Filter(filter) if is_volatile_filter(filter)?);
    let plan = plan.map_children(|child| Ok(Transformed::yes(held(child, beneath)?)))?.data;
    let mut plan = plan.map_subqueries(|inner| Ok(Transformed::yes(held(inner, false)?)))?.data;
    if let (P::Filter(filter), true) = (&plan, stays) {
        // Conditions for joins and keys are pushed down as usual.
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

/// Whether a condition has a volatile call and its input is not just a table's rows.
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

/// Whether a condition calls a function that varies between rows of one statement or has side effects.
fn calls_volatile(condition: &Expr) -> bool {
    let is_clock = |name: &str| matches!(name, "clock_timestamp" | "timeofday");
    calls(condition, |name| is_volatile_function(name) && !is_clock(name))
}

/// An upper bound of an aggregate's rows, if it returns a row for an empty input.
fn rows_of_nothing(aggregate: &Aggregate) -> Option<usize> {
    match aggregate.group_expr.as_slice() {
        [] => Some(1),
        [Expr::GroupingSet(_)] => Some(i64::MAX as usize),
        _ => None,
    }
}
