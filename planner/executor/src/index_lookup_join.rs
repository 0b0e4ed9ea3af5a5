//! [`KeyJoinExec`]: joins each row with the row of a table whose primary key it contains, and keeps the input's order.
//! It makes one call to the store per batch. The order of an index thus reaches a LIMIT above the join.
//!
//! It replaces a [`HashJoinExec`] whose probe side is looked up by the whole primary key ([`LookupScanExec`]). If there
//! are more rows than lookups pay for, a table that is not large is read once instead ([`Everything`]).

use super::key_lookup::{Everything, NamedRows};
use super::leaf;
use super::lookup_scan::LookupScanExec;
use super::projection::Projector;
use super::row_counter::Returned;
use super::short_circuit_bool::{guarded, guarded_condition};
use super::slots::StatementContext;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array, new_null_array};
use datafusion::arrow::compute::{filter_record_batch, take};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinSide, Result, Statistics};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::JoinType;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionMapping;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, apply_expression_roots};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements,
    PlanProperties,
};
use futures::{TryStreamExt, stream};
use sql_error::{Result as SqlResult, SqlError};
use std::fmt;
use std::sync::Arc;

/// Most rows of a table that is read once instead of by lookups. They are held in memory.
const HELD_ROWS: usize = 1 << 17;

/// A join by primary key lookups. EXPLAIN shows a nested loop over a lookup.
#[derive(Debug)]
pub struct KeyJoinExec {
    input: Arc<dyn ExecutionPlan>,
    joiner: Arc<KeyJoiner>,
    properties: Arc<PlanProperties>,
    returned: Returned,
}

/// Joins single batches, for [`KeyJoinExec`] and others.
#[derive(Debug)]
pub struct KeyJoiner {
    /// The replaced join: its type, condition and output. Its children are never run.
    join: Arc<HashJoinExec>,
    filter: Option<JoinFilter>,
    /// The plan of the lookup and the operators above it, as EXPLAIN shows it. `lookup` and `steps` are the same, ready
    /// to run.
    probe: Arc<dyn ExecutionPlan>,
    lookup: Arc<LookupScanExec>,
    steps: Vec<Step>,
    /// Most rows to look up if the table is not large.
    most: usize,
}

/// An operator above the lookup, applied to the rows found.
#[derive(Debug)]
enum Step {
    Filter(Arc<dyn PhysicalExpr>, Option<Arc<[usize]>>),
    Project(Projector),
}

impl KeyJoinExec {
    /// Replaces `join`, whose build side's keys are whole primary keys of `lookup`. `probe` is the other side with
    /// `lookup` in place of its scan. `most` lookups cost no more than reading the table. `None` if that side has other
    /// operators than scan, filters and projections, if its unmatched rows are returned, or if the join compares more
    /// columns.
    pub fn of(
        join: &HashJoinExec,
        probe: Arc<dyn ExecutionPlan>,
        lookup: Arc<LookupScanExec>,
        most: usize,
    ) -> Result<Option<KeyJoinExec>> {
        let handled =
            matches!(join.join_type(), JoinType::Inner | JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti);
        // The keys are not compared again, so each must be part of the primary key.
        let asks_more = !(0..join.on().len()).all(|position| lookup.looks_up(position));
        let mut steps = Vec::new();
        if !handled || asks_more || join.fetch().is_some() || !steps_above(&probe, &mut steps)? {
            return Ok(None);
        }
        let filter = join.filter().map(|filter| {
            let condition = guarded_condition(filter.expression())?;
            Ok::<_, datafusion::error::DataFusionError>(JoinFilter::new(
                condition,
                filter.column_indices().to_vec(),
                Arc::clone(filter.schema()),
            ))
        });
        let input = Arc::clone(join.left());
        let join = Arc::new(join.builder().build()?);
        let joiner = KeyJoiner { join, filter: filter.transpose()?, probe, lookup, steps, most };
        KeyJoinExec::over(input, Arc::new(joiner)).map(Some)
    }

    fn over(input: Arc<dyn ExecutionPlan>, joiner: Arc<KeyJoiner>) -> Result<KeyJoinExec> {
        let properties = joiner.properties(&input)?;
        Ok(KeyJoinExec { input, joiner, properties, returned: Returned::default() })
    }

    /// The part that joins batches.
    pub fn joiner(&self) -> &Arc<KeyJoiner> {
        &self.joiner
    }

    /// The hash join that it replaces.
    pub fn join(&self) -> &HashJoinExec {
        &self.joiner.join
    }

    /// The lookup side as EXPLAIN shows it.
    pub fn probe(&self) -> &Arc<dyn ExecutionPlan> {
        &self.joiner.probe
    }

    /// Whether each input row is returned if the row it refers to exists.
    pub fn drops_few(&self) -> bool {
        self.joiner.filter.is_none() && self.joiner.steps.iter().all(|step| matches!(step, Step::Project(_)))
    }

    /// The same join over another input. Errors: the input has other columns.
    pub fn with_other_input(&self, input: Arc<dyn ExecutionPlan>) -> Result<KeyJoinExec> {
        KeyJoinExec::over(input, Arc::clone(&self.joiner))
    }

    /// The same join over an input with the same properties.
    fn with_like_input(&self, input: Arc<dyn ExecutionPlan>) -> KeyJoinExec {
        let (joiner, properties) = (Arc::clone(&self.joiner), Arc::clone(&self.properties));
        KeyJoinExec { input, joiner, properties, returned: Returned::default() }
    }
}

/// Collects the operators above a lookup, from the bottom up. False if one is not supported here.
fn steps_above(plan: &Arc<dyn ExecutionPlan>, steps: &mut Vec<Step>) -> Result<bool> {
    if plan.is::<LookupScanExec>() {
        return Ok(true);
    }
    if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        if filter.fetch().is_some() || !steps_above(filter.input(), steps)? {
            return Ok(false);
        }
        let kept = filter.projection().as_ref().map(|kept| kept.as_ref().into());
        steps.push(Step::Filter(guarded_condition(filter.predicate())?, kept));
        return Ok(true);
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        if !steps_above(projection.input(), steps)? {
            return Ok(false);
        }
        let expressions = projection.expr().iter().map(|item| guarded(&item.expr)).collect::<Result<_>>()?;
        steps.push(Step::Project(Projector::new(projection.schema(), expressions)));
        return Ok(true);
    }
    match plan.downcast_ref::<CooperativeExec>() {
        Some(cooperative) => steps_above(cooperative.input(), steps),
        None => Ok(false),
    }
}

impl KeyJoiner {
    /// The properties of the output. The input's columns keep order and properties. The other columns are only known to
    /// be equal to the keys.
    fn properties(&self, input: &Arc<dyn ExecutionPlan>) -> Result<Arc<PlanProperties>> {
        let all = self.join.join_schema();
        let before = input.schema();
        let columns: Vec<usize> = (0..before.fields().len()).collect();
        let mapping = ProjectionMapping::from_indices(&columns, &before)?;
        let mut known = input.equivalence_properties().project(&mapping, Arc::clone(all));
        if *self.join.join_type() == JoinType::Inner {
            for (left, right) in self.join.on() {
                if let (true, Some(right)) = (left.is::<Column>(), right.downcast_ref::<Column>()) {
                    let beside = Column::new(right.name(), columns.len() + right.index());
                    known.add_equal_conditions(Arc::clone(left), Arc::new(beside))?;
                }
            }
        }
        if let Some(kept) = self.join.projection.as_deref() {
            known = known.project(&ProjectionMapping::from_indices(kept, all)?, self.schema());
        }
        Ok(Arc::new(PlanProperties::new(
            // Express the properties over the columns of this schema.
            EquivalenceProperties::new(self.schema()).extend(known)?,
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )))
    }

    fn schema(&self) -> SchemaRef {
        self.join.schema()
    }

    /// The result of joining a batch, in its order.
    pub async fn join(&self, context: &StatementContext, rows: &RecordBatch) -> SqlResult<RecordBatch> {
        let named = self.lookup.find(context, &self.keys(rows)?).await?;
        self.beside(rows, self.through_steps(named)?)
    }

    fn keys(&self, rows: &RecordBatch) -> Result<Vec<ArrayRef>> {
        self.join.on().iter().map(|(key, _)| key.evaluate(rows)?.into_array(rows.num_rows())).collect()
    }

    /// Combines rows with the rows that they refer to. Only the join's condition is still to be evaluated.
    fn beside(&self, rows: &RecordBatch, named: NamedRows) -> SqlResult<RecordBatch> {
        let NamedRows { batch, mut row_of } = named;
        if let Some(filter) = &self.filter {
            self.drop_failed(filter, rows, &batch, &mut row_of)?;
        }
        let count = rows.num_rows();
        let matched = row_of.iter().filter(|row| row.is_some()).count();
        let wanted = |row: &Option<u32>| match self.join.join_type() {
            JoinType::Left => true,
            JoinType::LeftAnti => row.is_none(),
            _ => row.is_some(),
        };
        let left = match self.join.join_type() {
            JoinType::Left => None,
            JoinType::LeftAnti if matched == 0 => None,
            JoinType::Inner | JoinType::LeftSemi if matched == count => None,
            _ => {
                let kept = (0u32..).zip(&row_of).filter(|(_, row)| wanted(row)).map(|(at, _)| at);
                Some(UInt32Array::from_iter_values(kept))
            }
        };
        let rows_left = left.as_ref().map_or(count, UInt32Array::len);
        let schema = self.schema();
        if rows_left == 0 {
            return Ok(RecordBatch::new_empty(schema));
        }
        let right = UInt32Array::from_iter(row_of.into_iter().filter(wanted));
        let column = |position: usize| match (position.checked_sub(rows.num_columns()), &left) {
            // No row was found. Some column types cannot be taken from an empty batch.
            (Some(behind), _) if batch.num_rows() == 0 => {
                Ok(new_null_array(batch.column(behind).data_type(), rows_left))
            }
            (Some(behind), _) => take(batch.column(behind), &right, None),
            (None, Some(left)) => take(rows.column(position), left, None),
            (None, None) => Ok(Arc::clone(rows.column(position))),
        };
        let columns = match self.join.projection.as_deref() {
            Some(projection) => projection.iter().map(|position| column(*position)).collect::<Result<Vec<_>, _>>(),
            None => (0..schema.fields().len()).map(column).collect(),
        };
        leaf::batch(&schema, columns?, rows_left)
    }

    /// Applies the operators above the lookup to the rows found.
    fn through_steps(&self, named: NamedRows) -> SqlResult<NamedRows> {
        let NamedRows { mut batch, mut row_of } = named;
        for step in &self.steps {
            match step {
                Step::Project(projector) => batch = projector.project(&batch)?,
                Step::Filter(condition, projection) => {
                    let kept = leaf::true_rows(condition, &batch)?;
                    if kept.true_count() < batch.num_rows() {
                        // The new position of each remaining row.
                        let mut places = 0u32..;
                        let places: Vec<Option<u32>> =
                            kept.values().iter().map(|kept| if kept { places.next() } else { None }).collect();
                        for row in &mut row_of {
                            *row = row.and_then(|row| places.get(row as usize).copied().flatten());
                        }
                        batch = filter_record_batch(&batch, &kept)?;
                    }
                    if let Some(projection) = projection {
                        batch = batch.project(projection)?;
                    }
                }
            }
        }
        Ok(NamedRows { batch, row_of })
    }

    /// Removes the matches for which the join's condition is not true.
    fn drop_failed(
        &self,
        filter: &JoinFilter,
        rows: &RecordBatch,
        named: &RecordBatch,
        row_of: &mut [Option<u32>],
    ) -> SqlResult<()> {
        let candidates = (0u32..).zip(row_of.iter()).filter_map(|(at, row)| Some((at, (*row)?)));
        let (left, right): (Vec<u32>, Vec<u32>) = candidates.unzip();
        if left.is_empty() {
            return Ok(());
        }
        let (left, right) = (UInt32Array::from(left), UInt32Array::from(right));
        let mut columns = Vec::with_capacity(filter.column_indices().len());
        for column in filter.column_indices() {
            columns.push(match column.side {
                JoinSide::Left => take(rows.column(column.index), &left, None)?,
                _ => take(named.column(column.index), &right, None)?,
            });
        }
        let kept = leaf::true_rows(filter.expression(), &leaf::batch(filter.schema(), columns, left.len())?)?;
        for (at, kept) in left.values().iter().zip(kept.values().iter()) {
            if let (false, Some(row)) = (kept, row_of.get_mut(*at as usize)) {
                *row = None;
            }
        }
        Ok(())
    }
}

/// The state of one execution.
struct Run {
    joiner: Arc<KeyJoiner>,
    context: Arc<StatementContext>,
    input: SendableRecordBatchStream,
    /// Number of input rows so far.
    seen: usize,
    everything: Held,
    memory: MemoryReservation,
}

/// Whether the table is held in memory.
enum Held {
    NotYet,
    Yes(Everything),
    /// There is not enough memory, or the table is too large.
    Never,
}

impl Run {
    async fn next(&mut self) -> SqlResult<Option<RecordBatch>> {
        while let Some(rows) = self.input.try_next().await? {
            self.context.session.check_interrupt()?;
            self.seen = self.seen.saturating_add(rows.num_rows());
            if self.seen > self.joiner.most && matches!(self.everything, Held::NotYet) {
                self.hold().await?;
            }
            let joiner = &self.joiner;
            let joined = match &self.everything {
                Held::Yes(everything) => {
                    let named = joiner.lookup.find_in(everything, &self.context, &joiner.keys(&rows)?)?;
                    joiner.beside(&rows, named)?
                }
                Held::NotYet | Held::Never => joiner.join(&self.context, &rows).await?,
            };
            if joined.num_rows() > 0 {
                return Ok(Some(joined));
            }
        }
        Ok(None)
    }

    async fn hold(&mut self) -> SqlResult<()> {
        let lookup = &self.joiner.lookup;
        let everything = match lookup.rows_to_read() <= HELD_ROWS {
            true => Box::pin(lookup.everything(&self.context, &self.memory, HELD_ROWS)).await?,
            false => None,
        };
        self.everything = match everything {
            Some(everything) => Held::Yes(everything.through(|rows| self.joiner.through_steps(rows))?),
            None => {
                self.memory.free();
                Held::Never
            }
        };
        Ok(())
    }
}

impl DisplayAs for KeyJoinExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyJoinExec: ")?;
        self.joiner.lookup.fmt_as(format, f)
    }
}

impl ExecutionPlan for KeyJoinExec {
    fn name(&self) -> &str {
        "KeyJoinExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    crate::input_methods!(keeping);
    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }
    /// It keeps the order. But an order required above is pushed down by column position, which a projection changes.
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.joiner.join.projection.is_none()]
    }
    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let joiner = &self.joiner;
        let conditions = joiner.filter.iter().map(JoinFilter::expression);
        let keys = joiner.join.on().iter().map(|(key, _)| key);
        let steps = joiner.steps.iter().flat_map(|step| match step {
            Step::Filter(condition, _) => std::slice::from_ref(condition),
            Step::Project(projector) => projector.expressions(),
        });
        apply_expression_roots(keys.chain(conditions).chain(steps), f)
    }
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        self.returned.clear();
        self.joiner.lookup.forget_counts();
        Ok(self)
    }
    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.returned.metrics())
    }
    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }
    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema());
        if let [input] = inputs {
            statistics.num_rows = input.num_rows.to_inexact();
        }
        Ok(Arc::new(statistics))
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let statement = self.joiner.lookup.slots().get()?;
        let memory = MemoryConsumer::new("KeyJoin").register(context.memory_pool());
        let run = Run {
            joiner: Arc::clone(&self.joiner),
            context: statement,
            input: self.input.execute(partition, context)?,
            seen: 0,
            everything: Held::NotYet,
            memory,
        };
        let batches = stream::try_unfold(run, |mut run| async move {
            let batch = run.next().await?;
            Ok::<_, SqlError>(batch.map(|batch| (batch, run)))
        });
        Ok(leaf::stream(&self.schema(), batches, self.returned.counter()))
    }
}
