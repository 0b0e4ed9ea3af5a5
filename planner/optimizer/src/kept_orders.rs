//! [`KeptOrders`]: DataFusion's final sanity check, which adds missing sorts instead of failing. DataFusion's rules
//! omit sorts by constants. One of them may then move a projection to where the constant is not known any more.

use super::met_orders::with_met_orders;
use super::written_orders::WrittenOrders;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::output_requirements::OutputRequirements;
use datafusion::physical_optimizer::sanity_checker::SanityCheckPlan;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// The rule that replaces DataFusion's sanity check.
#[derive(Debug, Default)]
pub struct KeptOrders {
    look: SanityCheckPlan,
    enforce: WrittenOrders,
}

impl PhysicalOptimizerRule for KeptOrders {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        match self.look.optimize(Arc::clone(&plan), config) {
            Ok(plan) => Ok(plan),
            Err(_) => {
                // Meanwhile, make the plan's own order a requirement.
                let plan = OutputRequirements::new_add_mode().optimize(plan, config)?;
                let plan = self.enforce.optimize(plan, config)?;
                let plan = OutputRequirements::new_remove_mode().optimize(plan, config)?;
                let looked = self.look.optimize(Arc::clone(&plan), config);
                looked.or_else(|_| self.look.optimize(with_met_orders(plan)?, config))
            }
        }
    }

    fn name(&self) -> &str {
        self.look.name()
    }

    fn schema_check(&self) -> bool {
        true
    }
}
