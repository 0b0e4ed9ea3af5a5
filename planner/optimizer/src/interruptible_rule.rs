//! [`InterruptibleRule`] and [`InterruptiblePhysicalRule`]: optimizer rules that check for cancellation. Planning a
//! large statement takes seconds and has no other checks.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use sql_error::interrupt;
use std::sync::Arc;

/// A logical optimizer rule that checks for cancellation.
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

/// A physical optimizer rule that checks for cancellation.
#[derive(Debug)]
pub struct InterruptiblePhysicalRule(pub Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for InterruptiblePhysicalRule {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        interrupt::check()?;
        self.0.optimize(plan, config)
    }
    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}
