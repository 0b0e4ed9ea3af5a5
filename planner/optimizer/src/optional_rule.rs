//! [`OptionalRule`]: a DataFusion rule that is not essential and fails for some plans. Those plans stay unchanged.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// A rule whose errors are ignored.
#[derive(Debug)]
pub struct OptionalRule(pub Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for OptionalRule {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        match self.0.optimize(Arc::clone(&plan), config) {
            Ok(plan) => Ok(plan),
            Err(error) => {
                tracing::debug!(rule = self.0.name(), %error, "a plan is left as it is");
                Ok(plan)
            }
        }
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}
