//! [`LeanProjectionExec`]: DataFusion's projection without the metrics that it makes for each expression each time it runs, with a
//! text of each: for a statement of one row they cost more than the expressions. Must not know what is computed.

use super::lazy_junction::{guarded, has_effects};
use super::projected::Projected;
use super::returned::Returned;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, Statistics};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
    SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;

/// See the head of the module. Shown as what it stands for.
#[derive(Debug)]
pub struct LeanProjectionExec {
    projection: Arc<ProjectionExec>,
    projector: Projector,
    returned: Returned,
}

/// What a projection computes of a batch.
#[derive(Clone, Debug)]
pub struct Projector {
    schema: SchemaRef,
    expressions: Arc<[Arc<dyn PhysicalExpr>]>,
    order: Order,
}

/// The order in which expressions over the same rows are computed: what has an effect (`nextval`) behind what may only fail, so that the
/// failing statement has none, as where PostgreSQL computes constants beforehand. Those that ask sequences for what others of them ask
/// are computed row by row.
#[derive(Clone, Debug)]
pub struct Order {
    places: Option<Arc<[usize]>>,
    by_row: Option<Arc<[usize]>>,
}

impl Order {
    /// Of some expressions.
    pub fn of(expressions: &[Arc<dyn PhysicalExpr>]) -> Order {
        let volatile: Vec<bool> = expressions.iter().map(has_effects).collect();
        let by_row = row_wise(expressions).map(Into::into);
        if volatile.is_sorted() {
            return Order { places: None, by_row };
        }
        let mut places: Vec<usize> = (0..expressions.len()).collect();
        places.sort_by_key(|at| volatile.get(*at));
        Order { places: Some(places.into()), by_row }
    }

    /// The values of the expressions over a batch.
    pub fn evaluate(
        &self,
        expressions: &[Arc<dyn PhysicalExpr>],
        batch: &RecordBatch,
        rows: usize,
    ) -> Result<Vec<ArrayRef>> {
        let value = |expression: &Arc<dyn PhysicalExpr>| expression.evaluate(batch)?.into_array(rows);
        let by_row = self.by_row.as_deref().filter(|_| rows > 1).unwrap_or_default();
        if self.places.is_none() && by_row.is_empty() {
            return expressions.iter().map(value).collect();
        }
        let place = |turn: usize| self.places.as_ref().map_or(Some(turn), |places| places.get(turn).copied());
        let mut found: Vec<(usize, ArrayRef)> = Vec::with_capacity(expressions.len());
        for at in (0..expressions.len()).filter_map(place).filter(|at| !by_row.contains(at)) {
            if let Some(expression) = expressions.get(at) {
                found.push((at, value(expression)?));
            }
        }
        if !by_row.is_empty() {
            found.extend(one_by_one(expressions, by_row, batch)?);
        }
        found.sort_by_key(|(at, _)| *at);
        Ok(found.into_iter().map(|(_, values)| values).collect())
    }
}

/// The values of the expressions at `places`, those of a row before those of the next.
fn one_by_one(
    expressions: &[Arc<dyn PhysicalExpr>],
    places: &[usize],
    batch: &RecordBatch,
) -> Result<Vec<(usize, ArrayRef)>> {
    let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::with_capacity(batch.num_rows()); places.len()];
    for row in 0..batch.num_rows() {
        let one = batch.slice(row, 1);
        for (at, parts) in places.iter().zip(&mut parts) {
            if let Some(expression) = expressions.get(*at) {
                parts.push(expression.evaluate(&one)?.into_array(1)?);
            }
        }
    }
    let joined = |(at, parts): (&usize, Vec<ArrayRef>)| {
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok((*at, concat(&parts)?))
    };
    places.iter().zip(parts).map(joined).collect()
}

/// The places of the expressions that ask sequences, where one of their calls changes what another answers: all of a row come before
/// those of the next.
fn row_wise(expressions: &[Arc<dyn PhysicalExpr>]) -> Option<Vec<usize>> {
    let (mut calls, mut places): (Vec<(bool, Option<String>)>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, expression) in expressions.iter().enumerate() {
        let before = calls.len();
        // The visitor cannot fail.
        let _ = expression.apply(|part| {
            let call = part.downcast_ref::<ScalarFunctionExpr>();
            let name = call.map_or("", |call| call.fun().name());
            if matches!(name, "nextval" | "setval" | "currval" | "lastval") {
                let sequence = call.and_then(|call| call.args().first()).filter(|argument| argument.is::<Literal>());
                calls.push((matches!(name, "nextval" | "setval"), sequence.map(ToString::to_string)));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        if calls.len() > before {
            places.push(at);
        }
    }
    let meet = |one: &Option<String>, other: &Option<String>| one.is_none() || other.is_none() || one == other;
    let changes = calls.iter().enumerate().any(|(at, (writes, sequence))| {
        *writes && calls.iter().enumerate().any(|(other, (_, asked))| other != at && meet(sequence, asked))
    });
    changes.then_some(places)
}

impl Projector {
    /// Computes `expressions`, one for each column of `schema`.
    pub fn new(schema: SchemaRef, expressions: Arc<[Arc<dyn PhysicalExpr>]>) -> Projector {
        let order = Order::of(&expressions);
        Projector { schema, expressions, order }
    }

    /// Of what it makes.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The columns that it returns, by their places in what it is given, where it does nothing else.
    pub fn plain_columns(&self) -> Option<Vec<usize>> {
        self.expressions.iter().map(|expression| Some(expression.downcast_ref::<Column>()?.index())).collect()
    }

    /// What it computes.
    pub fn expressions(&self) -> &[Arc<dyn PhysicalExpr>] {
        &self.expressions
    }

    /// The projected batch.
    pub fn project(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.order.evaluate(&self.expressions, batch, batch.num_rows())?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

impl LeanProjectionExec {
    fn of(projection: ProjectionExec) -> Result<LeanProjectionExec> {
        let expressions = projection.expr().iter().map(|projected| guarded(&projected.expr)).collect::<Result<_>>()?;
        let projector = Projector::new(projection.schema(), expressions);
        Ok(LeanProjectionExec { projection: Arc::new(projection), projector, returned: Returned::default() })
    }

    /// What it computes.
    pub fn projector(&self) -> Projector {
        self.projector.clone()
    }
}

/// A projection without such metrics; any other plan as it is.
pub fn lean(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => Ok(Arc::new(LeanProjectionExec::of(projection.clone())?)),
        None => Ok(plan),
    }
}

impl DisplayAs for LeanProjectionExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.projection.fmt_as(format, f)
    }
}

impl ExecutionPlan for LeanProjectionExec {
    fn name(&self) -> &str {
        "ProjectionExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        self.projection.properties()
    }
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.projection.children()
    }
    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.projection.apply_expressions(f)
    }
    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let kept = options.children_properties == ChildrenPropertiesMode::Keep;
        let replaced = Arc::clone(&self.projection).replace_children(children, options)?;
        match replaced.downcast_ref::<ProjectionExec>().filter(|_| kept) {
            Some(projection) => {
                let (projection, projector) = (Arc::new(projection.clone()), self.projector.clone());
                Ok(Arc::new(LeanProjectionExec { projection, projector, returned: Returned::default() }))
            }
            None => lean(replaced),
        }
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }
    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.projection.child_stats_requests(partition)
    }
    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        arguments: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.projection.statistics_from_inputs(inputs, arguments)
    }
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        self.returned.clear();
        Ok(self)
    }
    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.returned.metrics())
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = match self.projection.children().first() {
            Some(input) => input.execute(partition, context)?,
            None => return datafusion::common::internal_err!("a projection of nothing"),
        };
        Ok(Box::pin(Projected::new(input, self.projector.clone(), self.returned.counter())))
    }
}
