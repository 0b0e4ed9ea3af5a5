//! [`LookupJoinExec`]: a hash join whose probe side is looked up by key, for a build side with few rows. Setting up
//! DataFusion's hash join takes several times as long as joining some hundred rows.
//!
//! It replaces a [`HashJoinExec`] over a [`super::runtime_join_filter::KeyTapExec`] and returns the same rows in the same order. If
//! the build side has more than [`FEW_ROWS`] rows, it runs the hash join itself over them.

use super::leaf;
use super::row_counter::{Counter, Returned};
use super::runtime_join_filter::KeyTapExec;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array, new_null_array};
use datafusion::arrow::compute::{concat_batches, take};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinSide, NullEquality, Result, Statistics};
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::JoinType;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions};
use foldhash::fast::RandomState;
use futures::{StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// Most rows of the build side that are joined here.
const FEW_ROWS: usize = 1024;
/// Most build rows with the same key. Each probe row may join with all of these, and its results leave in one batch.
const FEW_ALIKE: u32 = 64;
/// Up to this many rows, keys are compared one by one.
const COMPARED_ROWS: usize = 8;

/// A hash join that avoids its setup for few rows. EXPLAIN shows the replaced join.
#[derive(Debug)]
pub struct LookupJoinExec {
    join: Arc<HashJoinExec>,
    build: Arc<dyn ExecutionPlan>,
    probe: Arc<dyn ExecutionPlan>,
    returned: Returned,
}

impl LookupJoinExec {
    /// Replaces `join`. `None` if its probe side is not looked up, or if unmatched rows of that side are returned.
    pub fn of(join: &Arc<dyn ExecutionPlan>) -> Result<Option<LookupJoinExec>> {
        let Some(hash) = join.downcast_ref::<HashJoinExec>() else { return Ok(None) };
        if !hash.left().is::<KeyTapExec>() {
            return Ok(None);
        }
        let handled =
            matches!(hash.join_type(), JoinType::Inner | JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti);
        if !handled
            || hash.null_aware
            || hash.fetch().is_some()
            || hash.null_equality() != NullEquality::NullEqualsNothing
            || *hash.partition_mode() != PartitionMode::CollectLeft
        {
            return Ok(None);
        }
        Ok(Some(LookupJoinExec {
            build: Arc::clone(hash.left()),
            probe: Arc::clone(hash.right()),
            join: Arc::new(hash.builder().build()?),
            returned: Returned::default(),
        }))
    }

    /// The replaced join. Its children may belong to a previous execution.
    pub fn join(&self) -> &HashJoinExec {
        &self.join
    }

    fn with_children(&self, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let mut children = children.into_iter();
        let (Some(build), Some(probe)) = (children.next(), children.next()) else {
            return Err(DataFusionError::Internal("a join has two sides".into()));
        };
        Ok(Arc::new(LookupJoinExec { join: Arc::clone(&self.join), build, probe, returned: Returned::default() }))
    }
}

impl DisplayAs for LookupJoinExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.join.fmt_as(format, f)
    }
}

impl ExecutionPlan for LookupJoinExec {
    fn name(&self) -> &str {
        "HashJoinExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        self.join.properties()
    }
    fn maintains_input_order(&self) -> Vec<bool> {
        ExecutionPlan::maintains_input_order(self.join.as_ref())
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.build, &self.probe]
    }
    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.join.apply_expressions(f)
    }
    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_children(children)
    }
    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.with_children(children)
    }
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        self.returned.clear();
        Ok(self)
    }
    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.returned.metrics())
    }
    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.join.child_stats_requests(partition)
    }
    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        self.join.statistics_from_inputs(inputs, args)
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let build = self.build.execute(partition, Arc::clone(&context))?;
        let run = Run {
            join: Arc::clone(&self.join),
            build: Arc::clone(&self.build),
            probe: Arc::clone(&self.probe),
            partition,
            context,
            rows: self.returned.counter(),
        };
        let batches = stream::try_unfold((run, State::Build(build)), |(run, state)| async move {
            let next = run.next(state).await?;
            Ok(next.map(|(batch, state)| (batch, (run, state))))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}

struct Run {
    join: Arc<HashJoinExec>,
    build: Arc<dyn ExecutionPlan>,
    probe: Arc<dyn ExecutionPlan>,
    partition: usize,
    context: Arc<TaskContext>,
    rows: Counter,
}

enum State {
    /// The build side is being read.
    Build(SendableRecordBatchStream),
    /// The few build rows are compared with the probe side.
    Few(Box<FewRows>, SendableRecordBatchStream),
    /// There are more build rows: a hash join runs.
    Many(SendableRecordBatchStream),
    Over,
}

impl Run {
    async fn next(&self, mut state: State) -> Result<Option<(RecordBatch, State)>> {
        loop {
            let (batch, next) = match state {
                State::Over => return Ok(None),
                State::Build(build) => {
                    state = self.begin(build).await?;
                    continue;
                }
                State::Many(mut rows) => match rows.try_next().await? {
                    Some(batch) => (batch, State::Many(rows)),
                    None => return Ok(None),
                },
                State::Few(mut few, mut probe) => match probe.try_next().await? {
                    Some(batch) => (few.matches(&self.join, &batch)?, State::Few(few, probe)),
                    None => (few.rest(&self.join)?, State::Over),
                },
            };
            if batch.num_rows() > 0 {
                self.rows.add(batch.num_rows());
                return Ok(Some((batch, next)));
            }
            state = next;
        }
    }

    async fn begin(&self, mut build: SendableRecordBatchStream) -> Result<State> {
        let (mut batches, mut rows) = (Vec::new(), 0);
        while rows <= FEW_ROWS {
            let Some(batch) = build.try_next().await? else { break };
            rows += batch.num_rows();
            batches.push(batch);
        }
        if rows == 0 {
            return Ok(State::Over);
        }
        if rows > FEW_ROWS {
            return self.begin_many(batches, build);
        }
        let few = FewRows::new(concat_batches(&self.build.schema(), &batches)?, &self.join)?;
        if few.keys.most_alike() > FEW_ALIKE {
            return self.begin_many(batches, build);
        }
        Ok(State::Few(Box::new(few), self.probe.execute(self.partition, Arc::clone(&self.context))?))
    }

    /// Starts the hash join. Its build side begins with the batches that were read already.
    fn begin_many(&self, batches: Vec<RecordBatch>, rest: SendableRecordBatchStream) -> Result<State> {
        let schema = self.build.schema();
        let all = stream::iter(batches.into_iter().map(Ok)).chain(rest);
        let all: SendableRecordBatchStream = Box::pin(RecordBatchStreamAdapter::new(schema, all));
        let rest = Rest { of: Arc::clone(&self.build), rows: Mutex::new(Some(all)) };
        let children: Vec<Arc<dyn ExecutionPlan>> = vec![Arc::new(rest), Arc::clone(&self.probe)];
        let join = self.join.builder().with_new_children(children)?.reset_state().build()?;
        Ok(State::Many(join.execute(self.partition, Arc::clone(&self.context))?))
    }
}

/// The rows of the build side.
struct FewRows {
    batch: RecordBatch,
    keys: Keys,
    matched: Vec<bool>,
}

/// The join keys of the build side.
enum Keys {
    /// Keys of a single integer.
    Integers(KeyTable<i64>),
    /// Other keys, as bytes that are equal if the keys are.
    Bytes(RowConverter, KeyTable<Box<[u8]>>),
}

fn integers(array: &ArrayRef) -> Option<Vec<Option<i64>>> {
    Some(match array.data_type() {
        DataType::Int16 => array.as_primitive::<Int16Type>().iter().map(|value| value.map(i64::from)).collect(),
        DataType::Int32 => array.as_primitive::<Int32Type>().iter().map(|value| value.map(i64::from)).collect(),
        DataType::Int64 => array.as_primitive::<Int64Type>().iter().collect(),
        _ => return None,
    })
}

/// Replaces -0 by 0, which is equal.
fn with_one_zero(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            Arc::new(column.as_primitive::<Float32Type>().unary::<_, Float32Type>(|value| value + 0.0)) as ArrayRef
        }
        DataType::Float64 => {
            Arc::new(column.as_primitive::<Float64Type>().unary::<_, Float64Type>(|value| value + 0.0)) as ArrayRef
        }
        _ => Arc::clone(column),
    }
}

/// The bytes of each row's key. `None` if a part of it is NULL.
fn bytes(converter: &RowConverter, columns: &[ArrayRef]) -> Result<Vec<Option<Box<[u8]>>>> {
    let columns: Vec<ArrayRef> = columns.iter().map(with_one_zero).collect();
    let rows = converter.convert_columns(&columns)?;
    let null = |row: usize| columns.iter().any(|column| column.is_null(row));
    Ok(rows.iter().enumerate().map(|(at, row)| (!null(at)).then(|| row.as_ref().into())).collect())
}

impl Keys {
    fn new(columns: &[ArrayRef]) -> Result<Keys> {
        if let [column] = columns
            && let Some(keys) = integers(column)
        {
            return Ok(Keys::Integers(KeyTable::new(keys)));
        }
        let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
        let converter = RowConverter::new(fields)?;
        let keys = bytes(&converter, columns)?;
        Ok(Keys::Bytes(converter, KeyTable::new(keys)))
    }

    /// Positions of equal keys here and in `columns`, in the order of `columns`.
    fn pairs(&self, columns: &[ArrayRef]) -> Result<(Vec<u32>, Vec<u32>)> {
        match (self, columns) {
            (Keys::Integers(keys), [column]) => match integers(column) {
                Some(probe) => Ok(keys.pairs(&probe)),
                None => Err(DataFusionError::Internal("join keys of different types".into())),
            },
            (Keys::Integers(_), _) => Err(DataFusionError::Internal("join keys of different number".into())),
            (Keys::Bytes(converter, keys), columns) => Ok(keys.pairs(&bytes(converter, columns)?)),
        }
    }

    /// Upper bound of the number of rows with the same key.
    fn most_alike(&self) -> u32 {
        match self {
            Keys::Integers(keys) => keys.most_alike(),
            Keys::Bytes(_, keys) => keys.most_alike(),
        }
    }
}

/// Keys by row. A key with NULL matches nothing.
struct KeyTable<T> {
    keys: Vec<Option<T>>,
    /// For each hash, its first row and its number of rows. `None` for few rows, which are compared one by one.
    first: Option<HashMap<u64, (u32, u32), RandomState>>,
    /// For each row, the next row with the same hash.
    next: Vec<Option<u32>>,
}

impl<T: Hash + PartialEq> KeyTable<T> {
    fn new(keys: Vec<Option<T>>) -> KeyTable<T> {
        if keys.len() <= COMPARED_ROWS {
            return KeyTable { keys, first: None, next: Vec::new() };
        }
        let mut first = HashMap::with_capacity_and_hasher(keys.len(), RandomState::default());
        let mut next = vec![None; keys.len()];
        // Go from the last row to the first, so that each row links to a later one.
        for (at, (key, next)) in keys.iter().zip(&mut next).enumerate().rev() {
            let (Some(key), Ok(at)) = (key, u32::try_from(at)) else { continue };
            let hash = first.hasher().hash_one(key);
            let (head, count) = first.entry(hash).or_insert((at, 0));
            *next = (*count > 0).then_some(*head);
            (*head, *count) = (at, *count + 1);
        }
        KeyTable { keys, first: Some(first), next }
    }

    /// Upper bound of the number of rows with the same key.
    fn most_alike(&self) -> u32 {
        let counts = self.first.as_ref().map(|first| first.values().map(|(_, count)| *count).max().unwrap_or(0));
        counts.unwrap_or(COMPARED_ROWS as u32)
    }

    /// Positions of equal keys here and in `probe`, in the order of `probe`.
    fn pairs(&self, probe: &[Option<T>]) -> (Vec<u32>, Vec<u32>) {
        let (mut left, mut right) = (Vec::with_capacity(probe.len()), Vec::with_capacity(probe.len()));
        let key = |row: u32| self.keys.get(row as usize).and_then(Option::as_ref);
        for (at, wanted) in (0u32..).zip(probe).filter_map(|(at, wanted)| Some((at, wanted.as_ref()?))) {
            let mut met = |row: u32| {
                if key(row) == Some(wanted) {
                    left.push(row);
                    right.push(at);
                }
            };
            match &self.first {
                None => (0u32..).zip(&self.keys).for_each(|(row, _)| met(row)),
                Some(first) => {
                    let mut row = first.get(&first.hasher().hash_one(wanted)).map(|(head, _)| *head);
                    while let Some(here) = row {
                        met(here);
                        row = self.next.get(here as usize).copied().flatten();
                    }
                }
            }
        }
        (left, right)
    }
}

impl FewRows {
    fn new(batch: RecordBatch, join: &HashJoinExec) -> Result<FewRows> {
        let keys = join.on().iter().map(|(key, _)| key.evaluate(&batch)?.into_array(batch.num_rows()));
        let keys = Keys::new(&keys.collect::<Result<Vec<_>>>()?)?;
        Ok(FewRows { matched: vec![false; batch.num_rows()], keys, batch })
    }

    /// The result rows of a probe batch that are known before the probe side ends.
    fn matches(&mut self, join: &HashJoinExec, probe: &RecordBatch) -> Result<RecordBatch> {
        let keys = join.on().iter().map(|(_, key)| key.evaluate(probe)?.into_array(probe.num_rows()));
        let (left, right) = self.keys.pairs(&keys.collect::<Result<Vec<_>>>()?)?;
        let (mut left, mut right) = (UInt32Array::from(left), UInt32Array::from(right));
        if let Some(filter) = join.filter().filter(|_| !left.is_empty()) {
            let mut columns = Vec::with_capacity(filter.column_indices().len());
            for column in filter.column_indices() {
                columns.push(match column.side {
                    JoinSide::Left => take(self.batch.column(column.index), &left, None)?,
                    _ => take(probe.column(column.index), &right, None)?,
                });
            }
            let candidates = leaf::batch(filter.schema(), columns, left.len())?;
            let kept = leaf::true_rows(filter.expression(), &candidates)?;
            (left, right) = (filtered(&left, &kept), filtered(&right, &kept));
        }
        if *join.join_type() != JoinType::Inner {
            for row in left.values() {
                if let Some(matched) = self.matched.get_mut(*row as usize) {
                    *matched = true;
                }
            }
        }
        match join.join_type() {
            JoinType::Inner | JoinType::Left => output(join, &self.batch, &left, Some((probe, &right))),
            _ => Ok(RecordBatch::new_empty(join.schema())),
        }
    }

    /// The result rows that are known only after the probe side has ended.
    fn rest(&self, join: &HashJoinExec) -> Result<RecordBatch> {
        let wanted = match join.join_type() {
            JoinType::LeftSemi => true,
            JoinType::Left | JoinType::LeftAnti => false,
            _ => return Ok(RecordBatch::new_empty(join.schema())),
        };
        let rows = (0u32..).zip(&self.matched).filter(|(_, matched)| **matched == wanted).map(|(row, _)| row);
        output(join, &self.batch, &UInt32Array::from_iter_values(rows), None)
    }
}

fn filtered(rows: &UInt32Array, kept: &BooleanArray) -> UInt32Array {
    let kept = rows.values().iter().zip(kept.values().iter()).filter(|(_, kept)| *kept).map(|(row, _)| *row);
    UInt32Array::from_iter_values(kept)
}

/// Rows of the join: build rows combined with probe rows or with NULLs.
fn output(
    join: &HashJoinExec,
    build: &RecordBatch,
    left: &UInt32Array,
    probe: Option<(&RecordBatch, &UInt32Array)>,
) -> Result<RecordBatch> {
    let schema = join.schema();
    if left.is_empty() {
        return Ok(RecordBatch::new_empty(schema));
    }
    let column = |position: usize| match position.checked_sub(build.num_columns()) {
        None => take(build.column(position), left, None),
        Some(behind) => match probe {
            Some((probe, right)) => take(probe.column(behind), right, None),
            None => Ok(new_null_array(join.join_schema().field(position).data_type(), left.len())),
        },
    };
    let columns = match join.projection.as_deref() {
        Some(projection) => projection.iter().map(|position| column(*position)).collect::<Result<Vec<_>, _>>()?,
        None => (0..schema.fields().len()).map(column).collect::<Result<Vec<_>, _>>()?,
    };
    Ok(leaf::batch(&schema, columns, left.len())?)
}

/// A build side that was partly read.
struct Rest {
    of: Arc<dyn ExecutionPlan>,
    rows: Mutex<Option<SendableRecordBatchStream>>,
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rest")
    }
}

impl DisplayAs for Rest {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt_as(format, f)
    }
}

impl ExecutionPlan for Rest {
    fn name(&self) -> &str {
        "Rest"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        self.of.properties()
    }
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }
    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
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
    fn execute(&self, _partition: usize, _context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.rows.lock().take().ok_or_else(|| DataFusionError::Internal("a side of a join is read once".into()))
    }
}
