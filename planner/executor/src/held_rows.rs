//! What the parts of a statement with data-modifying WITH leave for each other: the rows that each returned, for
//! [`HeldRowsNode`] to read, and the rows of tables that are written.

pub use context::held_rows::HeldRows;

use super::leaf;
use super::slots::Slots;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions, SendableRecordBatchStream,
};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The rows that a part has returned.
#[derive(Clone, Debug)]
pub struct HeldRowsNode {
    /// Number of the part.
    pub part: usize,
    /// Schema of the rows.
    pub schema: DFSchemaRef,
}

impl PartialEq for HeldRowsNode {
    fn eq(&self, other: &Self) -> bool {
        self.part == other.part
    }
}
impl Eq for HeldRowsNode {}
impl Hash for HeldRowsNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.part.hash(state);
    }
}
impl PartialOrd for HeldRowsNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.part.cmp(&other.part))
    }
}

impl UserDefinedLogicalNodeCore for HeldRowsNode {
    fn name(&self) -> &str {
        "HeldRows"
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
        write!(f, "HeldRows: {}", self.part)
    }
    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, _inputs: Vec<LogicalPlan>) -> Result<Self> {
        Ok(self.clone())
    }
    fn necessary_children_exprs(&self, _output: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(Vec::new())
    }
}

/// The operator of a [`HeldRowsNode`].
#[derive(Debug)]
pub struct HeldRowsExec {
    part: usize,
    schema: SchemaRef,
    slots: Arc<Slots>,
    properties: Arc<PlanProperties>,
}

impl HeldRowsExec {
    /// Makes the operator. It reads the execution whose context is in the slots.
    pub fn new(node: &HeldRowsNode, slots: Arc<Slots>) -> Self {
        let schema = Arc::clone(node.schema.inner());
        let properties = leaf::properties(&schema, vec![], &[], 1);
        HeldRowsExec { part: node.part, schema, slots, properties }
    }
}

impl DisplayAs for HeldRowsExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CTE Scan")
    }
}

impl ExecutionPlan for HeldRowsExec {
    fn name(&self) -> &str {
        "HeldRows"
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
        let batches = self.slots.get()?.held.get(self.part)?;
        // The part's own plan may declare other nullability for the same columns.
        let schema = Arc::clone(&self.schema);
        let batches = batches.into_iter().map(move |batch| {
            let options =
                datafusion::arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&schema), batch.columns().to_vec(), &options)?)
        });
        let stream = futures::stream::iter(batches.collect::<Vec<_>>());
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)))
    }
}
