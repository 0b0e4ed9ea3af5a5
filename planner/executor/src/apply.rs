//! Correlated subqueries that cannot become joins. [`ApplyNode`] adds a subquery's result to each row. [`ApplyExec`]
//! runs the subquery once for each row, with the row's columns as slots.

use super::interrupt::pause;
use super::outer::OuterValues;
use crate::leaf::true_rows;
use crate::row_counter::{Counter, Returned, let_go};
use crate::short_circuit_bool::has_effects;
use crate::volatile::{is_volatile, is_volatile_function};
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DFSchemaRef, Result, Statistics, TableReference};
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, apply_expression_roots};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    ReplaceChildrenOptions, SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt};
use sql_error::state;
use sql_error::{Result as SqlResult, SqlError};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use types::Datum;

/// Rows between two pauses that give the thread to others. Each row may run the subquery.
const ROWS_BETWEEN_PAUSES: usize = 16;
/// Most results that are cached. `SMALL` is the largest size in bytes of one and of its outer values.
const KNOWN_AT_MOST: usize = 4096;
const SMALL: usize = 256;
/// Estimated rows of the subquery per outer row: PostgreSQL's guess of an array's length (`estimate_array_length`).
const ROWS_OF_LATERAL: usize = 10;

/// The result that is made of the subquery's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApplyKind {
    /// The single value. NULL without a row; 21000 with more than one row.
    Scalar,
    /// Whether the subquery returns any rows.
    Exists {
        /// Whether it is NOT EXISTS.
        negated: bool,
    },
    /// Whether the operand is among the values.
    In {
        /// Whether it is NOT IN.
        negated: bool,
    },
    /// The subquery's rows joined to the outer row.
    Lateral {
        /// Whether an outer row without a match is kept, with NULLs.
        outer: bool,
    },
}

/// Adds to each row of `input` a column computed from the rows of `subquery`.
#[derive(Clone, Debug)]
pub struct ApplyNode {
    /// The plan of the outer rows.
    pub input: LogicalPlan,
    /// The plan that runs for each row. Placeholders stand for columns of the row.
    pub subquery: LogicalPlan,
    /// The result that is made of the subquery's rows.
    pub kind: ApplyKind,
    /// The columns of the outer row that the subquery reads.
    pub columns: Vec<Expr>,
    /// The left operand of IN.
    pub operand: Option<Expr>,
    /// A condition: the result is needed only for rows that satisfy it, and is NULL for others.
    pub guard: Option<Expr>,
    /// Ids of the placeholders that stand for `columns`.
    pub placeholders: Vec<String>,
    /// The current row's values, which the subquery's slots read.
    pub outer: Arc<OuterValues>,
    /// The input's columns and the new one.
    pub schema: DFSchemaRef,
}

impl PartialEq for ApplyNode {
    fn eq(&self, other: &Self) -> bool {
        self.placeholders == other.placeholders
            && self.kind == other.kind
            && self.guard == other.guard
            && self.input == other.input
            && self.subquery == other.subquery
            && Arc::ptr_eq(&self.outer, &other.outer)
    }
}

impl Eq for ApplyNode {}

impl Hash for ApplyNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
        self.placeholders.hash(state);
        self.input.hash(state);
    }
}

impl PartialOrd for ApplyNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for ApplyNode {
    fn name(&self) -> &str {
        "Apply"
    }
    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input, &self.subquery]
    }
    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }
    fn expressions(&self) -> Vec<Expr> {
        self.columns.iter().chain(&self.operand).chain(&self.guard).cloned().collect()
    }
    fn fmt_for_explain(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Apply: {:?}", self.kind)
    }
    fn with_exprs_and_inputs(&self, mut expressions: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let guard = if self.guard.is_some() { expressions.pop() } else { None };
        let operand = if self.operand.is_some() { expressions.pop() } else { None };
        let mut inputs = inputs.into_iter();
        let (Some(input), Some(subquery)) = (inputs.next(), inputs.next()) else {
            return Err(DataFusionError::Internal("apply takes two inputs".into()));
        };
        let own = |(qualifier, field): (Option<&TableReference>, &FieldRef)| (qualifier.cloned(), Arc::clone(field));
        let mut fields: Vec<_> = input.schema().iter().map(own).collect();
        match self.kind {
            ApplyKind::Lateral { outer } => fields.extend(subquery.schema().iter().map(|(qualifier, field)| {
                let nullable = field.is_nullable() || outer;
                (qualifier.cloned(), Arc::new(field.as_ref().clone().with_nullable(nullable)))
            })),
            _ => fields.extend(self.schema.iter().last().map(own)),
        }
        let schema = Arc::new(DFSchema::new_with_metadata(fields, input.schema().metadata().clone())?);
        Ok(ApplyNode { input, subquery, columns: expressions, operand, guard, schema, ..self.clone() })
    }
    fn necessary_children_exprs(&self, output: &[usize]) -> Option<Vec<Vec<usize>>> {
        // Add the columns that the node's expressions read.
        let width = self.input.schema().fields().len();
        let of_input = output.iter().copied().filter(|position| *position < width).collect();
        let of_subquery = match self.kind {
            // Volatile functions must run even if their results are not read.
            ApplyKind::Lateral { .. } if !is_volatile(&self.subquery).unwrap_or(true) => {
                output.iter().filter_map(|position| position.checked_sub(width)).collect()
            }
            _ => (0..self.subquery.schema().fields().len()).collect(),
        };
        Some(vec![of_input, of_subquery])
    }
}

/// The operator that runs a subquery for each row.
#[derive(Clone, Debug)]
pub struct ApplyExec {
    input: Arc<dyn ExecutionPlan>,
    subquery: Arc<dyn ExecutionPlan>,
    kind: ApplyKind,
    columns: Vec<Arc<dyn PhysicalExpr>>,
    operand: Option<Arc<dyn PhysicalExpr>>,
    guard: Option<Arc<dyn PhysicalExpr>>,
    outer: Arc<OuterValues>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    /// Number of runs of the subquery.
    runs: Returned,
}

impl ApplyExec {
    /// Makes the operator of a node from its planned inputs and expressions, in the node's order.
    pub fn new(
        node: &ApplyNode,
        input: Arc<dyn ExecutionPlan>,
        subquery: Arc<dyn ExecutionPlan>,
        mut expressions: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Self {
        let guard = node.guard.as_ref().and_then(|_| expressions.pop());
        let operand = node.operand.as_ref().and_then(|_| expressions.pop());
        let schema = Arc::clone(node.schema.inner());
        let properties = Self::properties_of(&schema, &input);
        ApplyExec {
            input,
            subquery,
            kind: node.kind,
            columns: expressions,
            operand,
            guard,
            outer: Arc::clone(&node.outer),
            schema,
            properties,
            runs: Returned::default(),
        }
    }

    fn properties_of(schema: &SchemaRef, input: &Arc<dyn ExecutionPlan>) -> Arc<PlanProperties> {
        let mut equivalences = EquivalenceProperties::new(Arc::clone(schema));
        // The input's columns keep their positions, so its order holds even if rows are repeated.
        if let Some(order) = input.properties().equivalence_properties().output_ordering() {
            equivalences.add_ordering(order);
        }
        Arc::new(PlanProperties::new(
            equivalences,
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ))
    }

    /// Number of runs of the subquery since the plan was reset.
    pub fn runs(&self) -> Option<usize> {
        self.runs.metrics().output_rows()
    }
    /// Whether equal rows always have equal results. If so, an unused result need not be computed.
    pub fn is_repeatable(&self) -> bool {
        is_repeatable(&self.subquery) && !self.operand.as_ref().is_some_and(has_effects)
    }
    /// The operator that gives the outer rows.
    pub fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }
    /// The operator that runs for each row.
    pub fn subquery(&self) -> &Arc<dyn ExecutionPlan> {
        &self.subquery
    }
    /// The result that is made of the subquery's rows.
    pub fn kind(&self) -> ApplyKind {
        self.kind
    }
    /// The current row's values, which the subquery's slots read.
    pub fn outer_values(&self) -> &Arc<OuterValues> {
        &self.outer
    }
    /// The columns of a batch that the subquery reads.
    pub fn seen(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let value = |column: &Arc<dyn PhysicalExpr>| column.evaluate(batch)?.into_array(batch.num_rows());
        self.columns.iter().map(value).collect()
    }

    fn with_inputs(&self, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let mut children = children.into_iter();
        let (Some(input), Some(subquery)) = (children.next(), children.next()) else {
            return Err(DataFusionError::Internal("apply takes two inputs".into()));
        };
        let properties = Self::properties_of(&self.schema, &input);
        Ok(Arc::new(ApplyExec { input, subquery, properties, ..self.clone() }))
    }

    fn runner(&self, task: Arc<TaskContext>) -> Runner {
        Runner {
            subquery: Arc::clone(&self.subquery),
            kind: self.kind,
            columns: self.columns.clone(),
            operand: self.operand.clone(),
            guard: self.guard.clone(),
            runs: self.runs.counter(),
            outer: Arc::clone(&self.outer),
            schema: Arc::clone(&self.schema),
            held: MemoryConsumer::new("Apply").register(task.memory_pool()),
            task,
            last: None,
            known: HashMap::new(),
            repeatable: is_repeatable(&self.subquery),
        }
    }
}

/// The state of the subquery during one execution.
struct Runner {
    subquery: Arc<dyn ExecutionPlan>,
    kind: ApplyKind,
    columns: Vec<Arc<dyn PhysicalExpr>>,
    operand: Option<Arc<dyn PhysicalExpr>>,
    guard: Option<Arc<dyn PhysicalExpr>>,
    runs: Counter,
    outer: Arc<OuterValues>,
    schema: SchemaRef,
    task: Arc<TaskContext>,
    /// Accounts for the memory of IN's subquery rows.
    held: MemoryReservation,
    /// The outer values of the last run and its result. So an uncorrelated subquery runs once.
    last: Option<(Vec<Datum>, Found)>,
    /// Cached results for other outer values, as long as they are small.
    known: HashMap<Vec<Datum>, Found>,
    /// Whether equal outer values always give equal results.
    repeatable: bool,
}

/// The result of one run of the subquery.
#[derive(Clone)]
enum Found {
    Value(Datum),
    Rows(bool),
    Values(Option<ArrayRef>),
}

impl Runner {
    async fn extend(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let arrays = |expressions: &[Arc<dyn PhysicalExpr>]| -> Result<Vec<ArrayRef>> {
            expressions.iter().map(|expression| expression.evaluate(&batch)?.into_array(rows)).collect()
        };
        let columns = arrays(&self.columns)?;
        let operand = arrays(self.operand.as_slice())?;
        let guarded = self.guard.as_ref().map(|guard| true_rows(guard, &batch)).transpose()?;
        let result_type = self.schema.fields().last().map_or(DataType::Null, |field| field.data_type().clone());
        let mut results = Vec::with_capacity(rows);
        for row in 0..rows {
            if row % ROWS_BETWEEN_PAUSES == ROWS_BETWEEN_PAUSES - 1 {
                pause().await;
            }
            if guarded.as_ref().is_some_and(|guarded| !guarded.value(row)) {
                results.push(Datum::try_new_null(&result_type)?);
                continue;
            }
            let outer = columns.iter().map(|column| Datum::try_from_array(column, row)).collect::<Result<Vec<_>>>()?;
            let found = self.run(outer).await?;
            results.push(match found {
                Found::Value(value) => value,
                Found::Rows(any) => Datum::Boolean(Some(any)),
                Found::Values(values) => {
                    let operand = operand.first().map(|operand| Datum::try_from_array(operand, row)).transpose()?;
                    Datum::Boolean(is_in(operand, values.as_ref())?)
                }
            });
        }
        let negated = matches!(self.kind, ApplyKind::Exists { negated: true } | ApplyKind::In { negated: true });
        if results.is_empty() {
            return Ok(RecordBatch::new_empty(self.schema.clone()));
        }
        let mut result = Datum::iter_to_array(results)?;
        if negated && let Some(truth) = result.as_any().downcast_ref::<BooleanArray>() {
            result = Arc::new(datafusion::arrow::compute::not(truth)?);
        }
        let mut all = batch.columns().to_vec();
        all.push(result);
        Ok(super::leaf::batch(&self.schema, all, rows)?)
    }

    async fn run(&mut self, outer: Vec<Datum>) -> Result<Found> {
        if let Some((values, found)) = &self.last
            && *values == outer
            && (self.repeatable || outer.is_empty())
        {
            return Ok(found.clone());
        }
        if let Some(found) = self.known.get(&outer) {
            return Ok(found.clone());
        }
        self.runs.add(1);
        self.outer.set(outer.clone());
        self.subquery = let_go(&self.subquery)?;
        let mut stream = self.subquery.execute(0, Arc::clone(&self.task))?;
        let found = match self.kind {
            ApplyKind::Scalar => {
                let mut value = None;
                while let Some(batch) = stream.try_next().await? {
                    for row in 0..batch.num_rows() {
                        if value.is_some() {
                            return Err(too_many().into());
                        }
                        value = Some(Datum::try_from_array(batch.column(0), row)?);
                    }
                }
                let null = || Datum::try_new_null(self.schema.field(self.schema.fields().len() - 1).data_type());
                Found::Value(value.map_or_else(null, Ok)?)
            }
            ApplyKind::Exists { .. } => {
                let mut any = false;
                while let Some(batch) = stream.try_next().await? {
                    any = batch.num_rows() > 0;
                    if any {
                        break;
                    }
                }
                Found::Rows(any)
            }
            ApplyKind::Lateral { .. } => return Err(DataFusionError::Internal("a join has no one result".into())),
            ApplyKind::In { .. } => {
                let mut batches = Vec::new();
                self.held.free();
                while let Some(batch) = stream.try_next().await? {
                    self.held.try_grow(batch.get_array_memory_size())?;
                    batches.push(batch);
                }
                let columns: Vec<&dyn Array> = batches.iter().map(|batch| batch.column(0).as_ref()).collect();
                Found::Values(if columns.is_empty() { None } else { Some(concat(&columns)?) })
            }
        };
        let small = match &found {
            Found::Value(value) => value.size() <= SMALL,
            Found::Rows(_) => true,
            Found::Values(_) => false,
        };
        if small
            && self.repeatable
            && self.known.len() < KNOWN_AT_MOST
            && outer.iter().all(|datum| datum.size() <= SMALL)
        {
            self.known.insert(outer.clone(), found.clone());
        }
        self.last = Some((outer, found.clone()));
        Ok(found)
    }
}

/// Whether a plan always returns the same rows: it calls no volatile function.
fn is_repeatable(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let mut volatile = false;
    let walked = plan.apply(|operator| {
        operator.apply_expressions(&mut |expression| {
            expression.apply(|inner| {
                let call = inner.downcast_ref::<ScalarFunctionExpr>();
                volatile |= call.is_some_and(|call| is_volatile_function(call.name()));
                Ok(TreeNodeRecursion::Continue)
            })
        })
    });
    walked.is_ok() && !volatile
}

fn too_many() -> SqlError {
    SqlError::new(state::CARDINALITY_VIOLATION, "more than one row returned by a subquery used as an expression")
}

/// `operand IN (values)` in SQL's three-valued logic.
fn is_in(operand: Option<Datum>, values: Option<&ArrayRef>) -> SqlResult<Option<bool>> {
    let Some(values) = values.filter(|values| !values.is_empty()) else { return Ok(Some(false)) };
    let Some(operand) = operand.filter(|operand| !operand.is_null()) else { return Ok(None) };
    for row in 0..values.len() {
        if values.is_valid(row) && Datum::try_from_array(values, row)? == operand {
            return Ok(Some(true));
        }
    }
    Ok(if values.null_count() > 0 { None } else { Some(false) })
}

impl DisplayAs for ApplyExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "ApplyExec: {:?}", self.kind)
    }
}

impl ExecutionPlan for ApplyExec {
    fn name(&self) -> &str {
        "ApplyExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input, &self.subquery]
    }
    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition, Distribution::SinglePartition])
    }
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true, false]
    }
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false, false]
    }
    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_inputs(children)
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_inputs(children)
    }
    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(self.columns.iter().chain(&self.operand).chain(&self.guard), f)
    }
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        self.runs.clear();
        Ok(self)
    }
    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition), ChildStats::Skip]
    }
    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut known = Statistics::new_unknown(&self.schema);
        if let Some(input) = inputs.first() {
            known.num_rows = match self.kind {
                ApplyKind::Lateral { .. } => input.num_rows.to_inexact().multiply(&Precision::Inexact(ROWS_OF_LATERAL)),
                _ => input.num_rows.to_inexact(),
            };
        }
        Ok(Arc::new(known))
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if matches!(self.kind, ApplyKind::Lateral { .. }) {
            return super::lateral::lateral(Arc::new(self.clone()), self.runs.counter(), partition, context);
        }
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let runner = self.runner(context);
        let extended = futures::stream::try_unfold((input, runner), |(mut input, mut runner)| async move {
            match input.next().await {
                None => Ok(None),
                Some(batch) => {
                    let batch = runner.extend(batch?).await?;
                    Ok(Some((batch, (input, runner))))
                }
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), extended)))
    }
}
