//! [`LeanProjectionExec`]: DataFusion's projection without its metrics. DataFusion makes a metric with a text for each
//! expression at each run. For a statement of one row, that costs more than the expressions.

use super::evaluation_order::Order;
use super::projected::Projected;
use super::row_counter::Returned;
use super::short_circuit_bool::guarded;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
    SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;

/// A projection without metrics. EXPLAIN shows DataFusion's projection.
#[derive(Debug)]
pub struct LeanProjectionExec {
    projection: Arc<ProjectionExec>,
    projector: Projector,
    returned: Returned,
}

/// Computes a projection of batches.
#[derive(Clone, Debug)]
pub struct Projector {
    schema: SchemaRef,
    expressions: Arc<[Arc<dyn PhysicalExpr>]>,
    order: Order,
}

impl Projector {
    /// Computes `expressions`, one for each column of `schema`.
    pub fn new(schema: SchemaRef, expressions: Arc<[Arc<dyn PhysicalExpr>]>) -> Projector {
        let order = Order::of(&expressions);
        Projector { schema, expressions, order }
    }

    /// Schema of the projected batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The input positions of the columns, if the projection only selects columns.
    pub fn plain_columns(&self) -> Option<Vec<usize>> {
        self.expressions.iter().map(|expression| Some(expression.downcast_ref::<Column>()?.index())).collect()
    }

    /// The expressions of the columns.
    pub fn expressions(&self) -> &[Arc<dyn PhysicalExpr>] {
        &self.expressions
    }

    /// Whether rows may be computed again: the projection has no side effects.
    pub fn is_repeatable(&self) -> bool {
        self.order.is_repeatable()
    }

    /// Computes the projection of a batch.
    pub fn project(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.order.evaluate(&self.expressions, batch, batch.num_rows())?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

impl LeanProjectionExec {
    fn of(projection: ProjectionExec) -> Result<LeanProjectionExec> {
        let expressions = projection.expr().iter().map(|projected| guarded(&projected.expr)).collect::<Result<_>>()?;
        let projector = Projector::new(projection.schema(), expressions);
        Ok(LeanProjectionExec { projection: Arc::new(projection), projector, returned: Returned::default() })
    }

    /// The computation without the operator.
    pub fn projector(&self) -> Projector {
        self.projector.clone()
    }
}

/// Replaces DataFusion's projection by a lean one. Other plans stay.
pub fn lean(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => Ok(Arc::new(LeanProjectionExec::of(projection.clone())?)),
        None => Ok(plan),
    }
}

impl DisplayAs for LeanProjectionExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.projection.fmt_as(format, f)
    }
}

impl ExecutionPlan for LeanProjectionExec {
    fn name(&self) -> &str {
        "ProjectionExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        self.projection.properties()
    }
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.projection.children()
    }
    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.projection.apply_expressions(f)
    }
    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let kept = options.children_properties == ChildrenPropertiesMode::Keep;
        let replaced = Arc::clone(&self.projection).replace_children(children, options)?;
        match replaced.downcast_ref::<ProjectionExec>().filter(|_| kept) {
            Some(projection) => {
                let (projection, projector) = (Arc::new(projection.clone()), self.projector.clone());
                Ok(Arc::new(LeanProjectionExec { projection, projector, returned: Returned::default() }))
            }
            None => lean(replaced),
        }
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }
    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.projection.child_stats_requests(partition)
    }
    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        arguments: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.projection.statistics_from_inputs(inputs, arguments)
    }
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        self.returned.clear();
        Ok(self)
    }
    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.returned.metrics())
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = match self.projection.children().first() {
            Some(input) => input.execute(partition, context)?,
            None => return datafusion::common::internal_err!("a projection of nothing"),
        };
        Ok(Box::pin(Projected::new(input, self.projector.clone(), self.returned.counter())))
    }
}
