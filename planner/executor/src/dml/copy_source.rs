//! [`FeedNode`]: rows that arrive from outside while the plan runs, batch by batch (COPY FROM STDIN). A plan with such
//! a node runs once for each sender.

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchema, DFSchemaRef, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions, SendableRecordBatchStream,
};
use parking_lot::Mutex;
use sql_error::SqlError;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Batches that the channel holds. With one, the feeder prepares the next batch while one is written.
const WAITING: usize = 1;

type Source = Arc<Mutex<Option<mpsc::Receiver<RecordBatch>>>>;

/// A leaf that receives its rows from a sender.
#[derive(Clone, Debug)]
pub struct FeedNode {
    schema: DFSchemaRef,
    source: Source,
}

impl FeedNode {
    /// A leaf with these columns, and the sender for its batches. The rows end when the sender is dropped.
    pub fn new(schema: Schema) -> Result<(FeedNode, mpsc::Sender<RecordBatch>)> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let schema = Arc::new(DFSchema::try_from(schema)?);
        Ok((FeedNode { schema, source: Arc::new(Mutex::new(Some(receiver))) }, sender))
    }
    /// The sender for the next run's batches.
    pub fn again(&self) -> mpsc::Sender<RecordBatch> {
        let (sender, receiver) = mpsc::channel(WAITING);
        *self.source.lock() = Some(receiver);
        sender
    }
    /// The operator of this node.
    pub(super) fn exec(&self) -> FeedExec {
        FeedExec::new(self.schema.inner().clone(), self.source.clone())
    }
}

impl PartialEq for FeedNode {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source)
    }
}
impl Eq for FeedNode {}
impl Hash for FeedNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.source).hash(state);
    }
}
impl PartialOrd for FeedNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for FeedNode {
    fn name(&self) -> &str {
        "Feed"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        Vec::new()
    }
    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }
    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feed")
    }
    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, _inputs: Vec<LogicalPlan>) -> Result<Self> {
        Ok(self.clone())
    }
    fn necessary_children_exprs(&self, _output: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(Vec::new())
    }
}

/// The operator of a [`FeedNode`].
#[derive(Debug)]
pub struct FeedExec {
    schema: SchemaRef,
    source: Source,
    properties: Arc<PlanProperties>,
}

impl FeedExec {
    fn new(schema: SchemaRef, source: Source) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        FeedExec { schema, source, properties }
    }
}

impl DisplayAs for FeedExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feed")
    }
}

impl ExecutionPlan for FeedExec {
    fn name(&self) -> &str {
        "Feed"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }
    fn replace_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }
    fn with_new_children(self: Arc<Self>, _children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }
    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn execute(&self, _partition: usize, _task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let receiver = self.source.lock().take().ok_or_else(|| SqlError::internal("a feed runs once"))?;
        let stream = futures::stream::unfold(receiver, |mut receiver| async move {
            receiver.recv().await.map(|batch| (Ok(batch), receiver))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), stream)))
    }
}
