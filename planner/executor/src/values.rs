//! VALUES whose rows are computed when the plan runs: parameters, `now()`, `nextval()`.
//!
//! [`ValuesNode`] is the logical node, [`ValuesExec`] the operator.

use super::evaluation_order::Order;
use super::leaf;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::concat;
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
use sql_error::SqlError;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Rows of expressions without columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValuesNode {
    /// Schema of the rows.
    pub schema: DFSchemaRef,
    /// One expression for each column of each row.
    pub rows: Vec<Vec<Expr>>,
}

impl PartialOrd for ValuesNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.rows.partial_cmp(&other.rows)
    }
}

impl UserDefinedLogicalNodeCore for ValuesNode {
    fn name(&self) -> &str {
        "Values"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![]
    }
    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }
    fn expressions(&self) -> Vec<Expr> {
        self.rows.iter().flatten().cloned().collect()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Values: {} rows", self.rows.len())
    }
    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, _inputs: Vec<LogicalPlan>) -> Result<Self> {
        let width = self.schema.fields().len().max(1);
        let rows = expressions.chunks(width).map(<[Expr]>::to_vec).collect();
        Ok(ValuesNode { schema: Arc::clone(&self.schema), rows })
    }
}

/// Evaluates its rows at each run.
#[derive(Debug)]
pub struct ValuesExec {
    rows: ValuesRows,
    properties: Arc<PlanProperties>,
}

/// Compiled rows of expressions without columns.
#[derive(Clone, Debug)]
pub struct ValuesRows {
    schema: SchemaRef,
    rows: Arc<[Vec<Arc<dyn PhysicalExpr>>]>,
    /// The evaluation order within a row.
    order: Order,
}

impl ValuesExec {
    /// Compiles rows of expressions without columns, each as wide as `schema`.
    pub fn new(schema: SchemaRef, rows: Vec<Vec<Arc<dyn PhysicalExpr>>>) -> Self {
        let properties = leaf::properties(&schema, vec![], &[], 1);
        let order = Order::of(rows.first().map_or(&[], Vec::as_slice));
        ValuesExec { rows: ValuesRows { schema, rows: rows.into(), order }, properties }
    }

    /// Number of rows it returns.
    pub fn row_count(&self) -> usize {
        self.rows.rows.len()
    }

    /// The rows, if there is exactly one.
    pub fn one_row(&self) -> Option<ValuesRows> {
        (self.row_count() == 1).then(|| self.rows.clone())
    }
}

impl ValuesRows {
    /// Evaluates all rows to a batch.
    pub fn evaluate(&self) -> Result<RecordBatch> {
        let one_row = leaf::one_row();
        if let [only] = &self.rows[..] {
            let columns = self.order.evaluate(only, &one_row, 1)?;
            return leaf::batch(&self.schema, columns, 1).map_err(SqlError::into);
        }
        let width = self.schema.fields().len();
        let mut columns: Vec<Vec<ArrayRef>> = vec![Vec::with_capacity(self.rows.len()); width];
        // Evaluate row by row and left to right, so that nextval() is called in the order in which it is written.
        for row in self.rows.iter() {
            for (expression, column) in row.iter().zip(columns.iter_mut()) {
                column.push(expression.evaluate(&one_row)?.into_array(1)?);
            }
        }
        let columns = columns
            .into_iter()
            .map(|parts| {
                let parts: Vec<_> = parts.iter().map(AsRef::as_ref).collect();
                Ok(concat(&parts)?)
            })
            .collect::<Result<Vec<_>>>()?;
        leaf::batch(&self.schema, columns, self.rows.len()).map_err(SqlError::into)
    }
}

impl DisplayAs for ValuesExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "ValuesExec: rows={}", self.row_count())
    }
}

impl ExecutionPlan for ValuesExec {
    fn name(&self) -> &str {
        "ValuesExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
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
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        datafusion::physical_plan::execution_plan::apply_expression_roots(self.rows.rows.iter().flatten(), f)
    }
    fn execute(&self, _partition: usize, _context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batch = self.rows.evaluate();
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.rows.schema), futures::stream::iter([batch]))))
    }
}
