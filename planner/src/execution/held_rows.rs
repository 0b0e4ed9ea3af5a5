//! Data shared by the parts of a statement with data-modifying WITH. [`HeldRowsNode`] reads the rows that a part
//! returned. The keys of written rows are recorded too.

use super::leaf;
use super::slots::Slots;
use crate::error::SqlError;
use bytes::Bytes;
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
use parking_lot::Mutex;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The data that one execution holds for its parts.
#[derive(Default)]
pub struct HeldRows {
    returned: Mutex<HashMap<usize, Vec<RecordBatch>>>,
    /// Keys of rows that any part wrote. `None` if no two parts write the same table.
    written: Mutex<Option<HashSet<Bytes>>>,
}

impl HeldRows {
    /// Starts recording written rows, because two parts write the same table.
    pub fn remember_written(&self) {
        *self.written.lock() = Some(HashSet::new());
    }
    /// Whether written rows are recorded.
    pub fn remembers_written(&self) -> bool {
        self.written.lock().is_some()
    }
    /// Records that a row is written. False if it was recorded before. Always true without recording.
    pub fn note_written(&self, key: &Bytes) -> bool {
        self.written.lock().as_mut().is_none_or(|written| written.insert(key.clone()))
    }
    /// Stores the rows that a part returned.
    pub fn put(&self, part: usize, batches: Vec<RecordBatch>) {
        self.returned.lock().insert(part, batches);
    }
    fn get(&self, part: usize) -> crate::error::Result<Vec<RecordBatch>> {
        let returned = self.returned.lock();
        returned.get(&part).cloned().ok_or_else(|| SqlError::internal("a part of a statement has not run yet"))
    }
}

/// A leaf that reads the rows a part returned.
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
