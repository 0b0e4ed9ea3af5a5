//! [`KeptColumnsNode`]: a query whose columns are all computed, even if nobody reads them. Columns from volatile
//! functions have side effects or differ from row to row. PostgreSQL's planner keeps them too
//! (`remove_unused_subquery_outputs`).
//!
//! [`KeptColumnsExec`] passes its rows on. It keeps DataFusion from merging the projections above and below.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, Result};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Keeps all columns of its input, as the module head describes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeptColumnsNode {
    input: LogicalPlan,
    /// Columns on which no condition may be pushed down.
    volatile: Vec<String>,
}

impl KeptColumnsNode {
    /// Puts this node on a plan. `volatile` names the columns that volatile functions compute.
    pub fn over(input: LogicalPlan, volatile: Vec<String>) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(KeptColumnsNode { input, volatile }) })
    }

    /// Names of the columns that volatile functions compute.
    pub fn volatile(&self) -> &[String] {
        &self.volatile
    }

    /// The input of such a node. `None` for another plan.
    pub fn below(plan: &LogicalPlan) -> Option<&LogicalPlan> {
        let LogicalPlan::Extension(extension) = plan else { return None };
        extension.node.as_any().downcast_ref::<KeptColumnsNode>().map(|node| &node.input)
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
    volatile: Arc<[String]>,
    properties: Arc<PlanProperties>,
}

impl KeptColumnsExec {
    /// Makes the operator over its planned input. `volatile` names the columns that volatile functions compute.
    pub fn new(input: Arc<dyn ExecutionPlan>, volatile: &[String]) -> Self {
        // DataFusion treats a volatile function of constants as a constant, and drops sorts by it.
        let is_made = |expr: &Arc<dyn PhysicalExpr>| {
            collect_columns(expr).iter().any(|column| volatile.iter().any(|name| name == column.name()))
        };
        let orders = input.equivalence_properties().oeq_class().iter();
        let orders =
            orders.map(|order| order.iter().take_while(|key| !is_made(&key.expr)).cloned().collect::<Vec<_>>());
        let known = EquivalenceProperties::new_with_orderings(input.schema(), orders);
        let properties = Arc::new(input.properties().as_ref().clone().with_eq_properties(known));
        KeptColumnsExec { input, volatile: volatile.into(), properties }
    }
    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        KeptColumnsExec::new(input, &self.volatile)
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
    crate::input_methods!();
    /// It keeps the order, but must not say so. Otherwise a sort by a volatile column would move below, where
    /// DataFusion drops it as constant.
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
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
