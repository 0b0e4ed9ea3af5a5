//! Adds sorts below operators whose required order their input lacks. DataFusion's rule omits sort keys below a UNION
//! that are constant or equal in one branch. Then it does not see that the branches have the whole order, however often
//! it runs.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::sync::Arc;

/// Makes sure that the inputs of all operators have the required orders.
pub fn with_met_orders(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|plan| {
        let mut sorted = false;
        let mut children = Vec::new();
        for (child, required) in plan.children().into_iter().zip(plan.required_input_ordering()) {
            let mut child = Arc::clone(child);
            if let Some(required) = required.map(|required| required.into_single())
                && !child.equivalence_properties().ordering_satisfy_requirement(required.clone())?
            {
                let several = child.output_partitioning().partition_count() > 1;
                let sort = SortExec::new(LexOrdering::from(required), child).with_preserve_partitioning(several);
                child = Arc::new(sort);
                sorted = true;
            }
            children.push(child);
        }
        match sorted {
            true => Ok(Transformed::yes(replace_children_if_necessary(plan, children)?)),
            false => Ok(Transformed::no(plan)),
        }
    })
    .data()
}
