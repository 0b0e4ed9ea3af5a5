//! LIMIT and OFFSET with counts that are known only at run time: parameters and expressions.
//!
//! [`limit`] chooses the node. Literal counts become DataFusion's Limit, which is pushed into sorts and scans. Other
//! counts become [`LimitNode`], which [`LimitExec`] runs.

use super::leaf;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, Result};
use datafusion::error::DataFusionError;
use datafusion::execution::{RecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, LogicalPlanBuilder, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    SendableRecordBatchStream,
};
use futures::{Stream, StreamExt};
use sql_error::state;
use sql_error::{Result as SqlResult, SqlError};
use std::cmp::Ordering;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use types::Datum;

/// Adds LIMIT (`fetch`) and OFFSET (`skip`), of type int8, to a plan. NULL means no limit and no offset. Errors: 2201W
/// or 2201X for a negative literal.
pub fn limit(input: LogicalPlan, skip: Option<Expr>, fetch: Option<Expr>) -> SqlResult<LogicalPlan> {
    let constant = |expression: &Option<Expr>| match expression {
        None => Some(None),
        Some(Expr::Literal(value, _)) => Some(count(value).ok()?),
        Some(_) => None,
    };
    if let (Some(skip), Some(fetch)) = (constant(&skip), constant(&fetch)) {
        let (skip, fetch) = (checked(skip, Bound::Offset)?.unwrap_or(0), checked(fetch, Bound::Limit)?);
        if skip == 0 && fetch.is_none() {
            return Ok(input);
        }
        return Ok(LogicalPlanBuilder::from(input).limit(skip, fetch)?.build()?);
    }
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(LimitNode { input, skip, fetch }) }))
}

/// One of LIMIT and OFFSET.
#[derive(Clone, Copy)]
enum Bound {
    Limit,
    Offset,
}

fn count(value: &Datum) -> SqlResult<Option<i64>> {
    match value.cast_to(&DataType::Int64)? {
        Datum::Int64(value) => Ok(value),
        other => Err(SqlError::internal(format!("LIMIT of type {}", other.data_type()))),
    }
}

fn checked(count: Option<i64>, bound: Bound) -> SqlResult<Option<usize>> {
    count
        .map(|count| {
            usize::try_from(count).map_err(|_| match bound {
                Bound::Limit => SqlError::new(state::INVALID_ROW_COUNT_IN_LIMIT, "LIMIT must not be negative"),
                Bound::Offset => SqlError::new(state::INVALID_ROW_COUNT_IN_OFFSET, "OFFSET must not be negative"),
            })
        })
        .transpose()
}

/// LIMIT and OFFSET with counts that are not literals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LimitNode {
    /// The plan of the rows.
    pub input: LogicalPlan,
    /// OFFSET, an int8 expression without columns.
    pub skip: Option<Expr>,
    /// LIMIT, an int8 expression without columns.
    pub fetch: Option<Expr>,
}

impl PartialOrd for LimitNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for LimitNode {
    fn name(&self) -> &str {
        "Limit"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }
    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }
    fn expressions(&self) -> Vec<Expr> {
        self.skip.iter().chain(&self.fetch).cloned().collect()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Limit:")?;
        if let Some(skip) = &self.skip {
            write!(f, " skip={skip}")?;
        }
        if let Some(fetch) = &self.fetch {
            write!(f, " fetch={fetch}")?;
        }
        Ok(())
    }
    fn with_exprs_and_inputs(&self, expressions: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let mut expressions = expressions.into_iter();
        let skip = self.skip.as_ref().and_then(|_| expressions.next());
        let fetch = self.fetch.as_ref().and_then(|_| expressions.next());
        let input =
            inputs.into_iter().next().ok_or_else(|| DataFusionError::Internal("LIMIT takes one input".into()))?;
        Ok(LimitNode { input, skip, fetch })
    }
    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![output_columns.to_vec()])
    }
}

/// Evaluates its counts at the start, skips rows, and stops reading at the limit.
#[derive(Debug)]
pub struct LimitExec {
    input: Arc<dyn ExecutionPlan>,
    skip: Option<Arc<dyn PhysicalExpr>>,
    fetch: Option<Arc<dyn PhysicalExpr>>,
    properties: Arc<PlanProperties>,
}

impl LimitExec {
    /// Limits `input`, which must have one partition when it runs.
    pub fn new(
        input: Arc<dyn ExecutionPlan>,
        skip: Option<Arc<dyn PhysicalExpr>>,
        fetch: Option<Arc<dyn PhysicalExpr>>,
    ) -> Self {
        let properties = Arc::new(
            input
                .properties()
                .as_ref()
                .clone()
                .with_partitioning(datafusion::physical_expr::Partitioning::UnknownPartitioning(1)),
        );
        LimitExec { input, skip, fetch, properties }
    }

    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        LimitExec::new(input, self.skip.clone(), self.fetch.clone())
    }
}

/// The values of OFFSET and LIMIT. Errors: 2201W, 2201X.
pub fn counts(
    skip: &Option<Arc<dyn PhysicalExpr>>,
    fetch: &Option<Arc<dyn PhysicalExpr>>,
) -> SqlResult<(usize, Option<usize>)> {
    let evaluate = |expression: &Option<Arc<dyn PhysicalExpr>>, bound: Bound| {
        let Some(expression) = expression else { return Ok(None) };
        let array = expression.evaluate(&leaf::one_row())?.into_array(1)?;
        checked(count(&Datum::try_from_array(&array, 0)?)?, bound)
    };
    Ok((evaluate(skip, Bound::Offset)?.unwrap_or(0), evaluate(fetch, Bound::Limit)?))
}

impl DisplayAs for LimitExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("LimitExec:")?;
        if let Some(skip) = &self.skip {
            write!(f, " skip={skip}")?;
        }
        if let Some(fetch) = &self.fetch {
            write!(f, " fetch={fetch}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for LimitExec {
    fn name(&self) -> &str {
        "LimitExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    crate::input_methods!();
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }
    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }
    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        datafusion::physical_plan::execution_plan::apply_expression_roots(self.skip.iter().chain(&self.fetch), f)
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (skip, fetch) = counts(&self.skip, &self.fetch)?;
        let schema = self.schema();
        let input = if fetch == Some(0) { None } else { Some(self.input.execute(partition, context)?) };
        Ok(Box::pin(LimitStream { input, skip, fetch, schema }))
    }
}

struct LimitStream {
    input: Option<SendableRecordBatchStream>,
    skip: usize,
    fetch: Option<usize>,
    schema: SchemaRef,
}

impl Stream for LimitStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Some(input) = self.input.as_mut() else { return Poll::Ready(None) };
            let batch = match futures::ready!(input.poll_next_unpin(context)) {
                Some(Ok(batch)) => batch,
                other => {
                    self.input = None;
                    return Poll::Ready(other);
                }
            };
            if batch.num_rows() <= self.skip {
                self.skip -= batch.num_rows();
                continue;
            }
            let rest = batch.slice(self.skip, batch.num_rows() - self.skip);
            self.skip = 0;
            let Some(fetch) = self.fetch else { return Poll::Ready(Some(Ok(rest))) };
            if rest.num_rows() >= fetch {
                // Dropping the input stops its scans.
                self.input = None;
                return Poll::Ready(Some(Ok(rest.slice(0, fetch))));
            }
            self.fetch = Some(fetch - rest.num_rows());
            return Poll::Ready(Some(Ok(rest)));
        }
    }
}

impl RecordBatchStream for LimitStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
