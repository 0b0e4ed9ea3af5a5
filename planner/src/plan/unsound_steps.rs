//! [`UnsoundSteps`]: takes steps out of a finished plan that DataFusion cannot run, and that change nothing.
//!
//! | step | why it cannot run |
//! |---|---|
//! | a sort of rows without columns, as `row_number() OVER (ORDER BY outer.a)` without FROM asks for | Arrow makes no batch without columns |
//! | the limit in an aggregation whose input got an order after the limit was put there | the limit of ordered groups needs a direction |
//!
//! Rows without columns are alike, so each order of them is the order asked for. The limit stands above the aggregation, too.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// The rule. Runs last: nothing looks at the orders of a plan behind it.
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

/// What stands for a sort of rows without columns.
fn unsorted(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let sort = plan.downcast_ref::<SortExec>().filter(|sort| sort.input().schema().fields().is_empty())?;
    let input = Arc::clone(sort.input());
    Some(match sort.fetch() {
        Some(fetch) => Arc::new(GlobalLimitExec::new(input, 0, Some(fetch))),
        None => input,
    })
}

/// An aggregation without the limit that it cannot keep.
fn without_limit(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let aggregate = plan.downcast_ref::<AggregateExec>()?;
    let undirected = aggregate.limit_options().is_some_and(|limit| limit.descending().is_none());
    let kept = aggregate.is_unordered_unfiltered_group_by_distinct() || aggregate.get_minmax_desc().is_some();
    (undirected && !kept).then(|| Arc::new(aggregate.with_new_limit_options(None)) as Arc<dyn ExecutionPlan>)
}
