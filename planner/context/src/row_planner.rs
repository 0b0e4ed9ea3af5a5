//! [`RowPlanner`]: plans that operators make while they run.

use crate::Slots;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;
use sql_error::Result;
use std::sync::Arc;

/// The engine of the layers above.
pub trait RowPlanner: Send + Sync {
    /// The physical plan of a logical one whose slots are filled.
    fn plan_filled<'a>(
        &'a self,
        plan: &'a LogicalPlan,
        slots: &'a Arc<Slots>,
    ) -> BoxFuture<'a, Result<Arc<dyn ExecutionPlan>>>;
    /// What plans run in.
    fn task_context(&self) -> &Arc<TaskContext>;
}
