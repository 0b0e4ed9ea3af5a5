//! `generate_series`: adds to each input row the integers of a series, which are made as they are read.
//!
//! [`GenerateSeriesNode`] is the logical node, [`GenerateSeriesExec`] the operator.

use super::leaf;
use super::row_counter::Returned;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, RecordBatch, UInt32Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, SchemaRef};
use datafusion::common::{DFSchema, DFSchemaRef, Result};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use functions::series::Series;
use futures::TryStreamExt;
use sql_error::{Result as SqlResult, SqlError};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The last columns of the input: start, stop and step.
const ARGUMENTS: usize = 3;

/// Most rows of an execution's first batch; each batch has four times as many as the previous one. A consumer processes
/// a batch without a pause, and may take milliseconds for each row.
const FIRST_BATCH_ROWS: usize = 64;

/// The series of each input row, with the input columns that are not arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GenerateSeriesNode {
    input: LogicalPlan,
    name: String,
    data_type: DataType,
    schema: DFSchemaRef,
}

impl GenerateSeriesNode {
    /// The last three columns of `input` are start, stop and step, of type int8. The column `name` replaces them. Its
    /// `data_type` is int4 (if all arguments can only be int4) or int8.
    pub fn new(input: LogicalPlan, name: &str, data_type: DataType) -> Result<Self> {
        let carried = carried(input.schema().fields().len())?;
        let mut fields: Vec<_> = input
            .schema()
            .iter()
            .take(carried)
            .map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field)))
            .collect();
        fields.push((None, Arc::new(Field::new(name, data_type.clone(), true))));
        let schema = Arc::new(DFSchema::new_with_metadata(fields, input.schema().metadata().clone())?);
        Ok(GenerateSeriesNode { input, name: name.to_string(), data_type, schema })
    }
}

/// Number of columns, of an input with `width` columns, that are not arguments.
fn carried(width: usize) -> Result<usize> {
    width
        .checked_sub(ARGUMENTS)
        .ok_or_else(|| DataFusionError::Internal("generate_series without its arguments".into()))
}

impl PartialOrd for GenerateSeriesNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for GenerateSeriesNode {
    fn name(&self) -> &str {
        "GenerateSeries"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }
    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }
    fn expressions(&self) -> Vec<Expr> {
        vec![]
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "GenerateSeries: {}", self.name)
    }
    fn with_exprs_and_inputs(&self, _expressions: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let input = one(inputs)?;
        GenerateSeriesNode::new(input, &self.name, self.data_type.clone())
    }
    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        let width = self.input.schema().fields().len();
        let carried = carried(width).ok()?;
        let columns = output_columns.iter().copied().filter(|column| *column < carried);
        Some(vec![columns.chain(carried..width).collect()])
    }
}

fn one<T>(inputs: Vec<T>) -> Result<T> {
    inputs.into_iter().next().ok_or_else(|| DataFusionError::Internal("generate_series takes one input".into()))
}

/// Reads arguments row by row and counts through each series.
#[derive(Debug)]
pub struct GenerateSeriesExec {
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    returned: Returned,
}

impl GenerateSeriesExec {
    /// Makes an operator that returns `schema` over an `input` as in [`GenerateSeriesNode::new`].
    pub fn new(input: Arc<dyn ExecutionPlan>, schema: SchemaRef) -> Self {
        let partitions = input.output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        GenerateSeriesExec { input, schema, properties: Arc::new(properties), returned: Returned::default() }
    }

    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        Self::new(input, Arc::clone(&self.schema))
    }

    /// Makes the operator of a node over its physical input.
    pub fn of(node: &GenerateSeriesNode, input: Arc<dyn ExecutionPlan>) -> Self {
        Self::new(input, Arc::clone(node.schema.inner()))
    }

    /// Whether it returns only its series.
    pub fn is_alone(&self) -> bool {
        self.schema.fields().len() == 1
    }
}

impl DisplayAs for GenerateSeriesExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("GenerateSeriesExec")
    }
}

impl ExecutionPlan for GenerateSeriesExec {
    fn name(&self) -> &str {
        "GenerateSeriesExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    crate::input_methods!();
    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(
            &Arc<dyn datafusion::physical_expr::PhysicalExpr>,
        ) -> Result<datafusion::common::tree_node::TreeNodeRecursion>,
    ) -> Result<datafusion::common::tree_node::TreeNodeRecursion> {
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    }
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        self.returned.clear();
        Ok(self)
    }
    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.returned.metrics())
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let counting = Counting {
            batch_rows: FIRST_BATCH_ROWS.min(context.session_config().batch_size()),
            most_batch_rows: context.session_config().batch_size(),
            carried: carried(self.input.schema().fields().len())?,
            schema: Arc::clone(&self.schema),
            input: self.input.execute(partition, context)?,
            rows: None,
        };
        let batches = futures::stream::try_unfold(counting, |mut counting| async move {
            Ok(counting.next().await?.map(|batch| (batch, counting)))
        });
        let rows = self.returned.counter();
        Ok(leaf::stream(&self.schema, batches, rows))
    }
}

/// The state of one execution.
struct Counting {
    input: SendableRecordBatchStream,
    /// Most rows of the next batch.
    batch_rows: usize,
    /// Most rows of any batch.
    most_batch_rows: usize,
    carried: usize,
    schema: SchemaRef,
    rows: Option<Rows>,
}

/// Input rows whose series are not finished.
struct Rows {
    batch: RecordBatch,
    /// The row whose series comes next.
    position: usize,
    /// The row whose series is in progress, and the rest of that series.
    current: Option<(u32, Series)>,
}

impl Counting {
    async fn next(&mut self) -> SqlResult<Option<RecordBatch>> {
        loop {
            let rows = match &mut self.rows {
                Some(rows) => rows,
                none => {
                    let Some(batch) = self.input.try_next().await? else { return Ok(None) };
                    none.insert(Rows { batch, position: 0, current: None })
                }
            };
            let (mut values, mut origins) = (Vec::new(), Vec::new());
            while values.len() < self.batch_rows {
                if rows.current.is_none() && !rows.advance(self.carried)? {
                    break;
                }
                if let Some((row, series)) = &mut rows.current {
                    let before = values.len();
                    values.extend(series.by_ref().take(self.batch_rows - before));
                    if self.carried > 0 {
                        origins.resize(values.len(), *row);
                    }
                    if series.remaining() == 0 {
                        rows.current = None;
                    }
                }
            }
            let count = values.len();
            if count > 0 {
                self.batch_rows = self.batch_rows.saturating_mul(4).min(self.most_batch_rows);
                let origins = UInt32Array::from(origins);
                let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.carried + 1);
                for column in rows.batch.columns().iter().take(self.carried) {
                    columns.push(take(column.as_ref(), &origins, None).map_err(DataFusionError::from)?);
                }
                let last = self.schema.fields().last().map(|field| field.data_type());
                columns.push(integers(values, last)?);
                return Ok(Some(leaf::batch(&self.schema, columns, count)?));
            }
            self.rows = None;
        }
    }
}

impl Rows {
    /// Starts the series of the next row. A row with a NULL argument has none. False at the end.
    fn advance(&mut self, carried: usize) -> SqlResult<bool> {
        if self.position >= self.batch.num_rows() {
            return Ok(false);
        }
        let row = self.position;
        self.position += 1;
        let mut arguments = [0; ARGUMENTS];
        for (argument, column) in arguments.iter_mut().zip(self.batch.columns().iter().skip(carried)) {
            let column = column
                .as_primitive_opt::<Int64Type>()
                .ok_or_else(|| SqlError::internal("an argument of generate_series that is not int8"))?;
            if column.is_null(row) {
                return Ok(true);
            }
            *argument = column.value(row);
        }
        let [start, stop, step] = arguments;
        let number = u32::try_from(row).map_err(|_| SqlError::internal("a batch of too many rows"))?;
        self.current = Some((number, Series::new(start, stop, step)?));
        Ok(true)
    }
}

fn integers(values: Vec<i64>, data_type: Option<&DataType>) -> SqlResult<ArrayRef> {
    Ok(match data_type {
        Some(DataType::Int64) => Arc::new(Int64Array::from(values)),
        // Arguments of int4 give values within int4.
        _ => {
            let narrow: std::result::Result<Vec<i32>, _> = values.into_iter().map(i32::try_from).collect();
            let narrow = narrow.map_err(|_| SqlError::internal("a series of int4 that left its type"))?;
            Arc::new(Int32Array::from(narrow))
        }
    })
}
