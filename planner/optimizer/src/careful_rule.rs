//! [`CarefulRule`]: a DataFusion rule that is skipped for plans with volatile calls. The rule would change how often
//! these run.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use functions::differs_by_run;
use std::sync::Arc;

/// A rule that is skipped for plans with volatile calls.
#[derive(Debug)]
pub struct CarefulRule(pub Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for CarefulRule {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if is_volatile(&plan)? { Ok(Transformed::no(plan)) } else { self.0.rewrite(plan, config) }
    }
}

/// Whether a plan may return other rows each time it runs.
pub(super) fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply(|node| {
        node.apply_expressions(|expr| {
            found |= differs_by_run(expr);
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}
