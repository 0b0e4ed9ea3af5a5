//! [`NewRowsNode`]: removes duplicates in WITH RECURSIVE … UNION. It is put on both branches, which UNION ALL combines.
//! Its two operators ([`NewRowsExec`]) share the set of rows seen. DataFusion's own UNION compares bytes, but equal
//! values may have different bytes (numeric 1.0 and 1.00).

use datafusion::arrow::array::BooleanArray;
use datafusion::arrow::compute::filter_record_batch;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    SendableRecordBatchStream,
};
use futures::StreamExt;
use parking_lot::Mutex;
use sql_error::SqlError;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A branch of a recursive UNION.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum Branch {
    /// The branch that is not recursive.
    First,
    /// The recursive branch, which runs over the rows of the previous round.
    Repeated,
}

/// Passes on the rows that equal no earlier row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NewRowsNode {
    input: LogicalPlan,
    keys: Vec<Expr>,
    branch: Branch,
}

impl NewRowsNode {
    /// Puts this node on a branch. Rows with equal `keys` are equal.
    pub fn over(input: LogicalPlan, keys: Vec<Expr>, branch: Branch) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(NewRowsNode { input, keys, branch }) })
    }

    /// The keys by which rows are compared, over the input's columns.
    pub fn keys(&self) -> &[Expr] {
        &self.keys
    }

    /// The plan of the branch.
    pub fn input(&self) -> &LogicalPlan {
        &self.input
    }
}

impl PartialOrd for NewRowsNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for NewRowsNode {
    fn name(&self) -> &str {
        "NewRows"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }
    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }
    fn expressions(&self) -> Vec<Expr> {
        self.keys.clone()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewRows")
    }
    fn with_exprs_and_inputs(&self, keys: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let missing = || DataFusionError::Internal("new rows take one input".into());
        Ok(NewRowsNode { input: inputs.into_iter().next().ok_or_else(missing)?, keys, branch: self.branch })
    }
}

/// The rows seen so far, as bytes of their keys.
struct Seen {
    converter: RowConverter,
    rows: HashSet<Box<[u8]>>,
    held: MemoryReservation,
}

impl Seen {
    /// Selects the new rows of a batch and adds them to the set.
    fn sift(&mut self, batch: &RecordBatch, keys: &[Arc<dyn PhysicalExpr>]) -> Result<RecordBatch> {
        let evaluate = |key: &Arc<dyn PhysicalExpr>| key.evaluate(batch)?.into_array(batch.num_rows());
        let columns = keys.iter().map(evaluate).collect::<Result<Vec<_>>>()?;
        let rows = self.converter.convert_columns(&columns)?;
        let mut bytes = 0;
        let mut take = |row: &[u8]| {
            let new = !self.rows.contains(row);
            if new {
                bytes += row.len() + size_of::<Box<[u8]>>() * 2;
                self.rows.insert(row.into());
            }
            new
        };
        let new: BooleanArray = rows.iter().map(|row| Some(take(row.as_ref()))).collect();
        self.held.try_grow(bytes)?;
        Ok(filter_record_batch(batch, &new)?)
    }
}

/// The set that the operators of both branches share once they are connected.
type Shared = Arc<Mutex<Option<Seen>>>;

/// The operator of a [`NewRowsNode`].
pub struct NewRowsExec {
    input: Arc<dyn ExecutionPlan>,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    branch: Branch,
    shared: Option<Shared>,
    properties: Arc<PlanProperties>,
}

impl fmt::Debug for NewRowsExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewRowsExec").field("keys", &self.keys).field("branch", &self.branch).finish()
    }
}

impl NewRowsExec {
    /// Makes the operator over the node's planned input and keys.
    pub fn new(node: &NewRowsNode, input: Arc<dyn ExecutionPlan>, keys: Vec<Arc<dyn PhysicalExpr>>) -> Self {
        Self::of(input, keys, node.branch, None)
    }

    fn of(
        input: Arc<dyn ExecutionPlan>,
        keys: Vec<Arc<dyn PhysicalExpr>>,
        branch: Branch,
        shared: Option<Shared>,
    ) -> Self {
        let known = EquivalenceProperties::new(input.schema());
        let properties = Arc::new(input.properties().as_ref().clone().with_eq_properties(known));
        NewRowsExec { input, keys, branch, shared, properties }
    }

    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        if let (Branch::First, Some(shared)) = (self.branch, &self.shared) {
            // A plan that runs again must not keep the rows of its last run.
            *shared.lock() = None;
        }
        Self::of(input, self.keys.clone(), self.branch, self.shared.clone())
    }

    fn sharing(&self, shared: &Shared) -> Self {
        Self::of(Arc::clone(&self.input), self.keys.clone(), self.branch, Some(Arc::clone(shared)))
    }
}

/// Connects the branches of each recursive query in a plan, so that they share the set of rows.
pub fn acquainted(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let changed = plan.transform_up(|plan| {
        if !plan.is::<RecursiveQueryExec>() {
            return Ok(Transformed::no(plan));
        }
        let shared = Shared::default();
        let mut met = false;
        let mut branches = Vec::new();
        for branch in plan.children() {
            let branch = Arc::clone(branch).transform_down(|part| {
                let found = part.downcast_ref::<NewRowsExec>().map(|exec| exec.sharing(&shared));
                met |= found.is_some();
                Ok(match found {
                    Some(exec) => Transformed::new(Arc::new(exec) as _, true, TreeNodeRecursion::Stop),
                    None => {
                        let within = part.is::<RecursiveQueryExec>();
                        let on = if within { TreeNodeRecursion::Jump } else { TreeNodeRecursion::Continue };
                        Transformed::new(part, false, on)
                    }
                })
            })?;
            branches.push(branch.data);
        }
        if met {
            Ok(Transformed::yes(replace_children_if_necessary(plan, branches)?))
        } else {
            Ok(Transformed::no(plan))
        }
    })?;
    Ok(changed.data)
}

impl DisplayAs for NewRowsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("NewRowsExec")
    }
}

impl ExecutionPlan for NewRowsExec {
    fn name(&self) -> &str {
        "NewRowsExec"
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
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        datafusion::physical_plan::execution_plan::apply_expression_roots(self.keys.iter(), f)
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let lonely = || SqlError::internal("a branch of a recursive query that does not know the other");
        let shared = Arc::clone(self.shared.as_ref().ok_or_else(lonely)?);
        if self.branch == Branch::First {
            let schema = self.input.schema();
            let types = self.keys.iter().map(|key| key.data_type(&schema)).collect::<Result<Vec<_>>>()?;
            let converter = RowConverter::new(types.into_iter().map(SortField::new).collect())?;
            let held = MemoryConsumer::new("WITH RECURSIVE").register(context.memory_pool());
            *shared.lock() = Some(Seen { converter, rows: HashSet::new(), held });
        }
        let keys = self.keys.clone();
        let input = self.input.execute(partition, context)?;
        let schema = input.schema();
        let sifted = input.map(move |batch| match shared.lock().as_mut() {
            Some(seen) => seen.sift(&batch?, &keys),
            None => Err(lonely().into()),
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, sifted)))
    }
}
