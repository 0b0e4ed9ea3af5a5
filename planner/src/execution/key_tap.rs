//! [`KeyTap`]: the join keys that the build side of a hash join saw, so that the probe side reads only
//! the rows they name instead of the whole table.
//!
//! [`KeyTapExec`] stands on top of the build side and notes keys as rows pass. A hash join reads its
//! build side to the end before it asks its probe side for the first row.

use datafusion::arrow::array::ArrayRef;
use datafusion::common::Result as DataFusionResult;
use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::apply_expression_roots;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// The keys of one execution: rows of one array per key column.
#[derive(Debug, Default)]
pub struct KeyTap {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    batches: Vec<Vec<ArrayRef>>,
    rows: usize,
    /// More keys than it pays to look up.
    overflowed: bool,
}

impl KeyTap {
    /// Forgets the last execution's keys.
    pub fn clear(&self) {
        *self.state.lock() = State::default();
    }

    fn note(&self, keys: Vec<ArrayRef>, rows: usize, most: usize) {
        let mut state = self.state.lock();
        state.rows += rows;
        if state.rows > most {
            state.overflowed = true;
            state.batches.clear();
        } else if !state.overflowed {
            state.batches.push(keys);
        }
    }

    /// The keys noted, or none when there were too many.
    pub fn keys(&self) -> Option<Vec<Vec<ArrayRef>>> {
        let state = self.state.lock();
        (!state.overflowed).then(|| state.batches.clone())
    }
}

/// Passes rows through and notes the values of the join keys.
#[derive(Debug)]
pub struct KeyTapExec {
    input: Arc<dyn ExecutionPlan>,
    keys: Vec<Arc<dyn PhysicalExpr>>,
    most: usize,
    tap: Arc<KeyTap>,
}

impl KeyTapExec {
    /// Notes `keys` of the rows of `input` in `tap`, unless they are more than `most`.
    pub fn new(input: Arc<dyn ExecutionPlan>, keys: Vec<Arc<dyn PhysicalExpr>>, most: usize, tap: Arc<KeyTap>) -> Self {
        KeyTapExec { input, keys, most, tap }
    }

    /// What it passes through.
    pub fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }

    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        KeyTapExec::new(input, self.keys.clone(), self.most, Arc::clone(&self.tap))
    }
}

impl DisplayAs for KeyTapExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("KeyTapExec")
    }
}

impl ExecutionPlan for KeyTapExec {
    fn name(&self) -> &str {
        "KeyTapExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }
    crate::execution::leaf::input_methods!();
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }
    fn reset_state(self: Arc<Self>) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        self.tap.clear();
        Ok(self)
    }
    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DataFusionResult<TreeNodeRecursion>,
    ) -> DataFusionResult<TreeNodeRecursion> {
        apply_expression_roots(&self.keys, f)
    }
    fn metrics(&self) -> Option<MetricsSet> {
        self.input.metrics()
    }
    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }
    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> DataFusionResult<Arc<Statistics>> {
        inputs.first().cloned().ok_or_else(|| DataFusionError::Internal("a tap takes one input".into()))
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DataFusionResult<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let (tap, keys, most) = (Arc::clone(&self.tap), self.keys.clone(), self.most);
        let noted = input.map(move |batch| {
            let batch = batch?;
            let values = keys
                .iter()
                .map(|key| key.evaluate(&batch)?.into_array(batch.num_rows()))
                .collect::<DataFusionResult<Vec<_>>>()?;
            tap.note(values, batch.num_rows(), most);
            Ok(batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), noted)))
    }
}
