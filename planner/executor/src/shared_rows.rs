//! A plan that runs once per execution for several readers: a WITH query that is to be evaluated once
//! ([`SharedRowsNode`]). The first reader runs it. Its rows are held, and accounted for as memory, until the execution
//! ends.

use super::slots::{Slots, StatementContext};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, Result};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    SendableRecordBatchStream,
};
use futures::TryStreamExt;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

/// The rows, and the execution that made them.
struct Rows {
    execution: Weak<StatementContext>,
    batches: Vec<RecordBatch>,
    _held: MemoryReservation,
}

/// The state that all readers of one plan share.
pub struct Shared {
    slots: Arc<Slots>,
    rows: tokio::sync::Mutex<Option<Rows>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

impl Shared {
    /// The rows of the current execution. The first caller computes them.
    async fn rows(&self, input: Arc<dyn ExecutionPlan>, task: Arc<TaskContext>) -> Result<Vec<RecordBatch>> {
        let execution = self.slots.get()?;
        let mut rows = self.rows.lock().await;
        if let Some(known) = rows.as_ref().filter(|rows| rows.execution.as_ptr() == Arc::as_ptr(&execution)) {
            return Ok(known.batches.clone());
        }
        *rows = None;
        let held = MemoryConsumer::new("WITH").register(task.memory_pool());
        let mut batches = Vec::new();
        let mut stream = input.execute(0, task)?;
        while let Some(batch) = stream.try_next().await? {
            held.try_grow(batch.get_array_memory_size())?;
            batches.push(batch);
        }
        *rows = Some(Rows { execution: Arc::downgrade(&execution), batches: batches.clone(), _held: held });
        Ok(batches)
    }

    /// Drops the rows if their execution has ended.
    fn release(&self) {
        if self.slots.get().is_err()
            && let Ok(mut rows) = self.rows.try_lock()
        {
            *rows = None;
        }
    }
}

/// A plan that runs once for all of its readers.
#[derive(Clone, Debug)]
pub struct SharedRowsNode {
    input: LogicalPlan,
    shared: Arc<Shared>,
}

impl SharedRowsNode {
    /// Wraps an uncorrelated plan that is bound to these slots.
    pub fn new(input: LogicalPlan, slots: &Arc<Slots>) -> Self {
        let shared = Shared { slots: Arc::clone(slots), rows: tokio::sync::Mutex::new(None) };
        SharedRowsNode { input, shared: Arc::new(shared) }
    }
}

impl PartialEq for SharedRowsNode {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}
impl Eq for SharedRowsNode {}
impl Hash for SharedRowsNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.shared).cast::<()>().hash(state);
    }
}
impl PartialOrd for SharedRowsNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for SharedRowsNode {
    fn name(&self) -> &str {
        "SharedRows"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }
    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }
    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedRows")
    }
    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        let missing = || DataFusionError::Internal("shared rows take one input".into());
        Ok(SharedRowsNode { input: inputs.pop().ok_or_else(missing)?, shared: Arc::clone(&self.shared) })
    }
}

/// The operator of a [`SharedRowsNode`].
#[derive(Debug)]
pub struct SharedRowsExec {
    input: Arc<dyn ExecutionPlan>,
    shared: Arc<Shared>,
    properties: Arc<PlanProperties>,
}

impl SharedRowsExec {
    /// Makes the operator over the node's planned input.
    pub fn new(node: &SharedRowsNode, input: Arc<dyn ExecutionPlan>) -> Self {
        Self::over(input, Arc::clone(&node.shared))
    }
    fn over(input: Arc<dyn ExecutionPlan>, shared: Arc<Shared>) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        ));
        SharedRowsExec { input, shared, properties }
    }
    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        self.shared.release();
        Self::over(input, Arc::clone(&self.shared))
    }
}

impl DisplayAs for SharedRowsExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedRowsExec")
    }
}

impl ExecutionPlan for SharedRowsExec {
    fn name(&self) -> &str {
        "SharedRowsExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    crate::input_methods!();
    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }
    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn execute(&self, _partition: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (shared, input) = (Arc::clone(&self.shared), Arc::clone(&self.input));
        let rows = async move {
            Ok::<_, DataFusionError>(futures::stream::iter(shared.rows(input, task).await?.into_iter().map(Ok)))
        };
        let stream = futures::stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.input.schema(), stream)))
    }
}
