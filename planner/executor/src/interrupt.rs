//! Cancellation and yielding while a plan computes. Operators of DataFusion may work long between two rows. They are
//! made to check for cancellation, and to give the thread to others.
//!
//! [`interruptible`] converts a finished plan: a [`PaceExec`] is put above each such operator. A join may evaluate its
//! condition for minutes without returning a row, so join conditions become [`WatchedExpr`].

use super::detached::detached;
use super::dml::{LockRowsExec, WriteExec};
use super::lookup_join::LookupJoinExec;
use super::projection::lean;
use super::short_circuit_bool::guarded_condition;
use super::slots::Slots;
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, Statistics};
use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{RecordBatchStream, TaskContext};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::Stream;
use sql_error::Result as SqlResult;
use sql_error::interrupt::monotonic;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// How long a stream computes before it gives the thread to others. Lookups of many keys return many small batches. If
/// batches were counted, every short statement would pause.
const BETWEEN_PAUSES: Duration = Duration::from_millis(1);
/// Number of batches between pauses if there is no clock.
const BATCHES_BETWEEN_PAUSES: u8 = 2;

/// Checks for cancellation of the statement in `slots`. Errors: 57014 if it was cancelled, XX000 if it has ended.
pub fn check(slots: &Slots) -> SqlResult<()> {
    slots.get()?.session.check_interrupt()
}

/// Gives the thread to others once.
pub async fn pause() {
    let mut paused = false;
    std::future::poll_fn(move |context| {
        if std::mem::replace(&mut paused, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Makes a plan's operators check for cancellation and yield.
pub fn interruptible(plan: Arc<dyn ExecutionPlan>, slots: &Arc<Slots>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|plan| {
        let plan = watch_filter(hold_window_input(detach_subqueries(plan, slots)?, slots)?, slots)?;
        let plan = guard_filter(plan)?;
        let plan = match LookupJoinExec::of(&plan)? {
            Some(join) => Arc::new(join) as _,
            None => plan,
        };
        let long = plan.is::<NestedLoopJoinExec>()
            || plan.is::<CrossJoinExec>()
            || plan.is::<HashJoinExec>()
            || plan.is::<LookupJoinExec>()
            || plan.is::<SortMergeJoinExec>()
            || plan.is::<SortExec>()
            || plan.is::<AggregateExec>()
            || plan.is::<WindowAggExec>()
            || plan.is::<BoundedWindowAggExec>()
            || plan.is::<UnnestExec>();
        Ok(if long {
            Transformed::yes(Arc::new(PaceExec::new(plan, Arc::clone(slots))) as _)
        } else {
            Transformed::yes(lean(plan)?)
        })
    })
    .data()
}

/// Whether a plan writes or locks rows.
pub fn writes(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.is::<WriteExec>() || plan.is::<LockRowsExec>() || plan.children().into_iter().any(writes)
}

/// A write stays on its session's thread, but its subqueries may move.
fn detach_subqueries(plan: Arc<dyn ExecutionPlan>, slots: &Arc<Slots>) -> Result<Arc<dyn ExecutionPlan>> {
    if !plan.is::<ScalarSubqueryExec>() || !writes(&plan) {
        return Ok(plan);
    }
    let detach = |child: &Arc<dyn ExecutionPlan>| -> Arc<dyn ExecutionPlan> {
        if writes(child) {
            return Arc::clone(child);
        }
        Arc::new(PaceExec { detach: true, ..PaceExec::new(Arc::clone(child), Arc::clone(slots)) })
    };
    let children = plan.children().into_iter().map(detach).collect();
    replace_children_if_necessary(plan, children)
}

/// Accounts for the input of DataFusion's window operator, which holds it without accounting.
fn hold_window_input(plan: Arc<dyn ExecutionPlan>, slots: &Arc<Slots>) -> Result<Arc<dyn ExecutionPlan>> {
    if !plan.is::<WindowAggExec>() {
        return Ok(plan);
    }
    let held = |child: &Arc<dyn ExecutionPlan>| -> Arc<dyn ExecutionPlan> {
        Arc::new(PaceExec { held: Some("WindowInput"), ..PaceExec::new(Arc::clone(child), Arc::clone(slots)) })
    };
    let children = plan.children().into_iter().map(held).collect();
    replace_children_if_necessary(plan, children)
}

fn watch_filter(plan: Arc<dyn ExecutionPlan>, slots: &Arc<Slots>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>()
        && let Some(filter) = join.filter()
    {
        let projection = join.projection().as_ref().map(|projection| projection.to_vec());
        let (left, right) = (Arc::clone(join.left()), Arc::clone(join.right()));
        let watched =
            NestedLoopJoinExec::try_new(left, right, Some(watched(filter, slots)?), join.join_type(), projection)?;
        return Ok(Arc::new(watched));
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>()
        && let Some(filter) = join.filter()
    {
        return join.builder().with_filter(Some(watched(filter, slots)?)).build_exec();
    }
    Ok(plan)
}

fn watched(filter: &JoinFilter, slots: &Arc<Slots>) -> Result<JoinFilter> {
    let expression = WatchedExpr { inner: guarded_condition(filter.expression())?, slots: Arc::clone(slots) };
    Ok(JoinFilter::new(Arc::new(expression), filter.column_indices().to_vec(), Arc::clone(filter.schema())))
}

/// Makes a filter's AND and OR lazy, see [`guarded_condition`].
fn guard_filter(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(filter) = plan.downcast_ref::<FilterExec>() else { return Ok(plan) };
    let predicate = guarded_condition(filter.predicate())?;
    if Arc::ptr_eq(&predicate, filter.predicate()) {
        return Ok(plan);
    }
    Ok(Arc::new(FilterExecBuilder::from(filter).with_predicate(predicate).build()?))
}

/// Hides a condition from DataFusion's interval analysis, which compares all pairs of parts. For 1,000 columns, that
/// took ten seconds.
pub(super) fn unanalyzed(condition: Arc<dyn PhysicalExpr>, slots: &Arc<Slots>) -> Arc<dyn PhysicalExpr> {
    Arc::new(WatchedExpr { inner: condition, slots: Arc::clone(slots) })
}

/// An expression that checks for cancellation before each evaluation.
#[derive(Debug)]
struct WatchedExpr {
    inner: Arc<dyn PhysicalExpr>,
    slots: Arc<Slots>,
}

impl fmt::Display for WatchedExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PartialEq for WatchedExpr {
    fn eq(&self, other: &Self) -> bool {
        self.inner.eq(&other.inner) && Arc::ptr_eq(&self.slots, &other.slots)
    }
}

impl Eq for WatchedExpr {}

impl Hash for WatchedExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl PhysicalExpr for WatchedExpr {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.inner.data_type(schema)
    }
    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.inner.nullable(schema)
    }
    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.inner.return_field(schema)
    }
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        check(&self.slots)?;
        self.inner.evaluate(batch)
    }
    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(WatchedExpr { inner: one(children)?, slots: Arc::clone(&self.slots) }))
    }
    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}

/// Passes rows on; checks for cancellation and yields between batches.
#[derive(Debug)]
pub struct PaceExec {
    input: Arc<dyn ExecutionPlan>,
    slots: Arc<Slots>,
    /// The name under which all rows are accounted for while the stream lives, if the operator above holds them.
    held: Option<&'static str>,
    /// Whether a long computation moves to another thread.
    detach: bool,
}

impl PaceExec {
    /// Makes the operator above `input`, whose plan runs in `slots`.
    pub fn new(input: Arc<dyn ExecutionPlan>, slots: Arc<Slots>) -> Self {
        PaceExec { input, slots, held: None, detach: false }
    }

    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        PaceExec { input, slots: Arc::clone(&self.slots), held: self.held, detach: self.detach }
    }
}

fn one<T>(children: Vec<T>) -> Result<T> {
    children.into_iter().next().ok_or_else(|| DataFusionError::Internal("a pace has one input".into()))
}

impl DisplayAs for PaceExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("PaceExec")
    }
}

impl ExecutionPlan for PaceExec {
    fn name(&self) -> &str {
        "PaceExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }
    crate::input_methods!();
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }
    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn metrics(&self) -> Option<MetricsSet> {
        self.input.metrics()
    }
    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }
    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        one(inputs.to_vec())
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let held = self.held.map(|name| MemoryConsumer::new(name).register(context.memory_pool()));
        let stream = self.input.execute(partition, context)?;
        let paced = Box::pin(Paced { slots: Some(Arc::clone(&self.slots)), held, ..Paced::new(stream) });
        if !self.detach {
            return Ok(paced);
        }
        let workers = self.slots.get()?.session.workers();
        Ok(detached(paced, &workers, &self.slots, false))
    }
}

/// The stream of a leaf, which yields periodically.
pub fn paced(stream: SendableRecordBatchStream) -> SendableRecordBatchStream {
    Box::pin(Paced::new(stream))
}

struct Paced {
    stream: SendableRecordBatchStream,
    /// The slots of an operator that may compute long. A leaf has none.
    slots: Option<Arc<Slots>>,
    held: Option<MemoryReservation>,
    /// The start of the computation since the last pause, by the monotonic clock.
    since: Option<Duration>,
    /// Batches since the last pause.
    batches: u8,
}

impl Paced {
    fn new(stream: SendableRecordBatchStream) -> Self {
        Paced { stream, slots: None, held: None, since: None, batches: 0 }
    }

    /// Whether it is time to give the thread to others.
    fn is_due(&mut self) -> bool {
        let due = match (monotonic(), self.since) {
            (Some(now), Some(since)) => now.saturating_sub(since) >= BETWEEN_PAUSES,
            (Some(now), None) => {
                self.since = Some(now);
                false
            }
            (None, _) => self.batches >= BATCHES_BETWEEN_PAUSES,
        };
        if due {
            (self.since, self.batches) = (None, 0);
        }
        due
    }
}

impl Stream for Paced {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(Err(error)) = self.slots.as_deref().map(check) {
            return Poll::Ready(Some(Err(error.into())));
        }
        if self.is_due() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let item = futures::ready!(self.stream.as_mut().poll_next(context));
        self.batches = self.batches.saturating_add(1);
        if let (Some(held), Some(Ok(batch))) = (&self.held, &item) {
            held.try_grow(batch.get_array_memory_size())?;
        }
        Poll::Ready(item)
    }
}

impl RecordBatchStream for Paced {
    fn schema(&self) -> datafusion::arrow::datatypes::SchemaRef {
        self.stream.schema()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use datafusion::arrow::record_batch::RecordBatchOptions;
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use futures::{FutureExt, StreamExt};
    use sql_error::interrupt::{Interrupt, within};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A leaf of `batches`, each of which takes `micros` microseconds.
    fn leaf(batches: usize, micros: u64, clock: &Arc<Clock>) -> SendableRecordBatchStream {
        let schema = Arc::new(Schema::empty());
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let batch = RecordBatch::try_new_with_options(schema.clone(), vec![], &options).unwrap();
        let clock = Arc::clone(clock);
        let batches = futures::stream::iter(vec![batch; batches]).map(move |batch| {
            clock.0.fetch_add(micros, Ordering::Relaxed);
            Ok(batch)
        });
        paced(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    /// Number of batches before the first pause. `None` if the stream ends without one.
    fn until_pause(mut stream: SendableRecordBatchStream) -> Option<usize> {
        for taken in 0.. {
            match stream.next().now_or_never() {
                None => return Some(taken),
                Some(None) => return None,
                Some(Some(batch)) => drop(batch.unwrap()),
            }
        }
        None
    }

    /// A clock that counts microseconds.
    #[derive(Default)]
    struct Clock(AtomicU64);

    impl Interrupt for Clock {
        fn check(&self) -> SqlResult<()> {
            Ok(())
        }
        fn monotonic(&self) -> Duration {
            Duration::from_micros(self.0.load(Ordering::Relaxed))
        }
    }

    #[test]
    fn a_stream_pauses_by_the_clock() {
        let clock = Arc::new(Clock::default());
        let interrupt: Arc<dyn Interrupt> = clock.clone();
        let until_pause = |batches, micros| within(&interrupt, || until_pause(leaf(batches, micros, &clock)));
        assert_eq!(until_pause(30, 10), None);
        assert_eq!(until_pause(1000, 10), Some(100));
        assert_eq!(until_pause(10, 600), Some(2));
        assert_eq!(until_pause(10, 2000), Some(1));
    }

    #[test]
    fn a_stream_pauses_where_there_is_no_clock() {
        assert_eq!(until_pause(leaf(10, 1, &Arc::default())), Some(2));
    }
}
