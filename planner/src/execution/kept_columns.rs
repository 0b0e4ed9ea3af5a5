//! [`KeptColumnsNode`]: a query whose columns are all computed, whoever reads them: those that a volatile function makes have
//! effects, or differ from row to row. PostgreSQL's planner keeps them too (`remove_unused_subquery_outputs`).
//! [`KeptColumnsExec`] stands between projections that would be made one, and hands on what it is given.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, Result};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// See the head of the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeptColumnsNode {
    input: LogicalPlan,
    /// Columns of which no condition may be asked below.
    volatile: Vec<String>,
}

impl KeptColumnsNode {
    /// A plan with this node on top; `volatile`: the names of columns that volatile functions make.
    pub fn over(input: LogicalPlan, volatile: Vec<String>) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(KeptColumnsNode { input, volatile }) })
    }
}

impl PartialOrd for KeptColumnsNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for KeptColumnsNode {
    fn name(&self) -> &str {
        "KeptColumns"
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
    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        self.volatile.iter().cloned().collect()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptColumns")
    }
    fn with_exprs_and_inputs(&self, _exprs: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        let missing = || DataFusionError::Internal("kept columns take one input".into());
        Ok(KeptColumnsNode { input: inputs.pop().ok_or_else(missing)?, volatile: self.volatile.clone() })
    }
}

/// The operator of a [`KeptColumnsNode`].
#[derive(Debug)]
pub struct KeptColumnsExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl KeptColumnsExec {
    /// Over the node's planned input.
    pub fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let properties = Arc::clone(input.properties());
        KeptColumnsExec { input, properties }
    }
    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        KeptColumnsExec::new(input)
    }
}

impl DisplayAs for KeptColumnsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("KeptColumnsExec")
    }
}

impl ExecutionPlan for KeptColumnsExec {
    fn name(&self) -> &str {
        "KeptColumnsExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    crate::execution::leaf::input_methods!();
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }
    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
