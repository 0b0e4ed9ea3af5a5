//! [`InOrder`]: runs the branches of UNION ALL in the written order.
//!
//! DataFusion reads all branches at once and mixes their rows. PostgreSQL appends them. Of equal rows it shows the
//! first one, so the order matters. The rule applies only to plans with one partition, where every merge of partitions
//! comes from a UNION.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, ReplaceChildrenOptions,
    SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt};
use sql_error::SqlError;
use std::fmt;
use std::sync::Arc;

/// The rule. It runs last.
#[derive(Debug)]
pub struct InOrder;

impl PhysicalOptimizerRule for InOrder {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        if config.execution.target_partitions > 1 {
            return Ok(plan);
        }
        let ordered = plan.transform_up(|plan| {
            let Some(merge) = plan.downcast_ref::<CoalescePartitionsExec>() else { return Ok(Transformed::no(plan)) };
            let appended: Arc<dyn ExecutionPlan> = Arc::new(AppendExec::new(Arc::clone(merge.input())));
            Ok(Transformed::yes(match merge.fetch() {
                Some(rows) => Arc::new(GlobalLimitExec::new(appended, 0, Some(rows))),
                None => appended,
            }))
        })?;
        // Otherwise the plan's consumer would merge the remaining partitions.
        let plan = ordered.data;
        if plan.output_partitioning().partition_count() > 1 { Ok(Arc::new(AppendExec::new(plan))) } else { Ok(plan) }
    }
    fn name(&self) -> &str {
        "InOrder"
    }
    fn schema_check(&self) -> bool {
        true
    }
}

/// Reads the partitions of its input one after the other.
#[derive(Debug)]
pub struct AppendExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl AppendExec {
    fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        // Properties that hold in every partition stay: plans above rely on them.
        let mut known = input.equivalence_properties().clone();
        known.clear_orderings();
        known.clear_per_partition_constants();
        let properties = PlanProperties::new(
            known,
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        AppendExec { input, properties: Arc::new(properties) }
    }
    fn with_inputs(children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match children.into_iter().next() {
            Some(input) => Ok(Arc::new(AppendExec::new(input))),
            None => Err(SqlError::internal("an append without input").into()),
        }
    }
}

impl DisplayAs for AppendExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("AppendExec")
    }
}

impl ExecutionPlan for AppendExec {
    fn name(&self) -> &str {
        "AppendExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }
    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Self::with_inputs(children)
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Self::with_inputs(children)
    }
    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn execute(&self, _partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = Arc::clone(&self.input);
        let partitions = input.output_partitioning().partition_count();
        let streams = futures::stream::iter(0..partitions)
            .map(move |partition| input.execute(partition, Arc::clone(&context)))
            .try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.input.schema(), streams)))
    }
}
