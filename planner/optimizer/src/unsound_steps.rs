//! [`UnsoundSteps`]: removes steps from a finished plan that DataFusion cannot run and that have no effect.
//!
//! | step | why it cannot run |
//! |---|---|
//! | a sort of rows without columns | Arrow cannot sort a batch without columns |
//! | the limit in an aggregation whose input was ordered later | the limit of ordered groups needs a direction |
//!
//! An example of the first is `row_number() OVER (ORDER BY outer.a)` without FROM.
//! Rows without columns are equal, so any order is the required one. The limit is also applied above the aggregation.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// The rule. It runs last: no later rule depends on a plan's orders.
#[derive(Debug)]
pub struct UnsoundSteps;

impl PhysicalOptimizerRule for UnsoundSteps {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            Ok(without_limit(&plan).or_else(|| unsorted(&plan)).map_or_else(|| Transformed::no(plan), Transformed::yes))
        })
        .data()
    }

    fn name(&self) -> &str {
        "UnsoundSteps"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The replacement of a sort of rows without columns.
fn unsorted(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let sort = plan.downcast_ref::<SortExec>().filter(|sort| sort.input().schema().fields().is_empty())?;
    let input = Arc::clone(sort.input());
    Some(match sort.fetch() {
        Some(fetch) => Arc::new(GlobalLimitExec::new(input, 0, Some(fetch))),
        None => input,
    })
}

/// An aggregation without the limit that it cannot apply.
fn without_limit(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let aggregate = plan.downcast_ref::<AggregateExec>()?;
    let undirected = aggregate.limit_options().is_some_and(|limit| limit.descending().is_none());
    let kept = aggregate.is_unordered_unfiltered_group_by_distinct() || aggregate.get_minmax_desc().is_some();
    (undirected && !kept).then(|| Arc::new(aggregate.with_new_limit_options(None)) as Arc<dyn ExecutionPlan>)
}
