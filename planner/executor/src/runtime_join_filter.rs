//! [`KeyTap`]: the join keys of a hash join's build side. With them, the probe side reads only matching rows instead of
//! the whole table.
//!
//! [`KeyTapExec`] is put above the build side and records keys as rows pass. A hash join reads its build side to the
//! end before it polls its probe side. So does a nested loop unless the rows exceed its memory. The keys are known once
//! the build side has ended.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter;
use datafusion::arrow::datatypes::DataType;
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
use std::task::Poll;
use types::array;

/// The keys of one execution. Each entry is a batch with one array per key column.
#[derive(Debug, Default)]
pub struct KeyTap {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    batches: Vec<Vec<ArrayRef>>,
    rows: usize,
    /// All rows of the build side have passed.
    ended: bool,
    /// There are more keys than lookups pay for.
    overflowed: bool,
}

impl KeyTap {
    /// Drops the keys of the previous execution.
    pub fn clear(&self) {
        *self.state.lock() = State::default();
    }

    fn end(&self) {
        self.state.lock().ended = true;
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

    /// The recorded keys. `None` if there are too many, or if the build side has not ended.
    pub fn keys(&self) -> Option<Vec<Vec<ArrayRef>>> {
        let state = self.state.lock();
        (state.ended && !state.overflowed).then(|| state.batches.clone())
    }
}

/// The values that a tap records for a row.
#[derive(Clone, Debug)]
pub enum TappedKeys {
    /// One value for each key column.
    Row(Vec<Arc<dyn PhysicalExpr>>),
    /// Several alternative values, or arrays of them, for one key column.
    Alternatives(Vec<Arc<dyn PhysicalExpr>>),
}

impl TappedKeys {
    fn expressions(&self) -> &[Arc<dyn PhysicalExpr>] {
        match self {
            TappedKeys::Row(keys) | TappedKeys::Alternatives(keys) => keys,
        }
    }

    fn note(&self, batch: &RecordBatch, most: usize, tap: &KeyTap) -> DataFusionResult<()> {
        let value = |key: &Arc<dyn PhysicalExpr>| key.evaluate(batch)?.into_array(batch.num_rows());
        let values = self.expressions().iter().map(value).collect::<DataFusionResult<Vec<_>>>()?;
        match self {
            TappedKeys::Row(_) => tap.note(values, batch.num_rows(), most),
            TappedKeys::Alternatives(_) => {
                for values in values {
                    let values = members(values)?;
                    let rows = values.len();
                    tap.note(vec![values], rows, most);
                }
            }
        }
        Ok(())
    }
}

/// The elements of a column of arrays. Another column stays.
fn members(values: ArrayRef) -> DataFusionResult<ArrayRef> {
    if !matches!(values.data_type(), DataType::Struct(_)) {
        return Ok(values);
    }
    let lists = array::elements_of(&values)?;
    let lists = match lists.nulls() {
        // A NULL array may have hidden elements.
        Some(nulls) => filter(&lists, &BooleanArray::new(nulls.inner().clone(), None))?,
        None => Arc::new(lists),
    };
    let lists = lists.as_list::<i32>();
    let place = |offset: Option<&i32>| offset.and_then(|offset| usize::try_from(*offset).ok()).unwrap_or_default();
    let (from, to) = (place(lists.offsets().first()), place(lists.offsets().last()));
    Ok(lists.values().slice(from, to.saturating_sub(from)))
}

/// Passes rows on and records the values of their join keys.
#[derive(Debug)]
pub struct KeyTapExec {
    input: Arc<dyn ExecutionPlan>,
    keys: TappedKeys,
    most: usize,
    tap: Arc<KeyTap>,
}

impl KeyTapExec {
    /// Records `keys` of the rows of `input` in `tap`, up to `most` rows.
    pub fn new(input: Arc<dyn ExecutionPlan>, keys: TappedKeys, most: usize, tap: Arc<KeyTap>) -> Self {
        KeyTapExec { input, keys, most, tap }
    }

    /// The plan whose rows it passes on.
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
    crate::input_methods!();
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
        apply_expression_roots(self.keys.expressions(), f)
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
        let of_input = Arc::clone(&tap);
        let noted = input.map(move |batch| {
            let batch = batch?;
            keys.note(&batch, most, &of_input)?;
            Ok(batch)
        });
        let end = futures::stream::poll_fn(move |_| {
            tap.end();
            Poll::Ready(None)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), noted.chain(end))))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Int64Array, ListArray};
    use datafusion::arrow::datatypes::Int64Type;

    fn keys() -> ArrayRef {
        Arc::new(Int64Array::from(vec![1, 2]))
    }

    #[test]
    fn keys_are_known_once_all_rows_have_passed() {
        let tap = KeyTap::default();
        tap.note(vec![keys()], 2, 4);
        assert!(tap.keys().is_none());
        tap.end();
        assert_eq!(tap.keys().unwrap(), [[keys()]]);
        tap.note(vec![keys(), keys()], 3, 4);
        assert!(tap.keys().is_none());
        tap.clear();
        tap.end();
        assert!(tap.keys().unwrap().is_empty());
    }

    #[test]
    fn arrays_are_their_elements() {
        assert_eq!(members(keys()).unwrap().as_ref(), keys().as_ref());
        let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([
            Some(vec![Some(9)]),
            Some(vec![Some(1), None]),
            None,
            Some(vec![]),
            Some(vec![Some(2)]),
            Some(vec![Some(9)]),
        ]);
        let arrays = array::of_elements(lists).unwrap().slice(1, 4);
        assert_eq!(members(arrays).unwrap().as_ref(), &Int64Array::from(vec![Some(1), None, Some(2)]));
    }
}
