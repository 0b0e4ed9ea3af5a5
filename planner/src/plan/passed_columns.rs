//! [`column_beneath`]: operators that pass the rows of their input on or group them, so that keys of their columns may be chosen beneath.

use crate::execution::key_tap::KeyTapExec;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// The column of the input that a column of the output is, by its place.
pub(super) type Beneath<'p> = Box<dyn Fn(usize) -> Option<usize> + 'p>;

/// For such an operator; `None` for any other, and for one that may stop before its input ends.
pub(super) fn column_beneath(plan: &Arc<dyn ExecutionPlan>) -> Option<Beneath<'_>> {
    if plan.fetch().is_some() {
        return None;
    }
    if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        return Some(Box::new(|column| match filter.projection() {
            None => Some(column),
            Some(kept) => kept.get(column).copied(),
        }));
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        return Some(Box::new(|column| Some(projection.expr().get(column)?.expr.downcast_ref::<Column>()?.index())));
    }
    // What is chosen beneath a sort is sorted in place of all.
    if plan.is::<SortExec>() || plan.is::<CooperativeExec>() || plan.is::<KeyTapExec>() {
        return Some(Box::new(Some));
    }
    // A group has all rows of its key or none, so that keys may be chosen before grouping.
    let aggregate = plan.downcast_ref::<AggregateExec>()?;
    let groups = aggregate.group_expr();
    if groups.has_grouping_set() || groups.expr().is_empty() || aggregate.limit_options().is_some() {
        return None;
    }
    Some(Box::new(|column| Some(groups.expr().get(column)?.0.downcast_ref::<Column>()?.index())))
}
