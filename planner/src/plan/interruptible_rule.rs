//! [`InterruptibleRule`]: an optimiser rule that ends with its statement. Planning a large statement takes seconds, and looks
//! nowhere else whether it is to stop. Must not know what the rule does.

use crate::interrupt;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// See the head of the module.
#[derive(Debug)]
pub struct InterruptibleRule(pub Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for InterruptibleRule {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }
    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        interrupt::check()?;
        self.0.rewrite(plan, config)
    }
}
