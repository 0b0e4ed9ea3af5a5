//! [`Returned`]: the number of rows an operator returned, for EXPLAIN ANALYZE. [`let_go`] makes a plan ready to run
//! again.
//!
//! DataFusion makes metrics for each execution and keeps them as long as the operator. So a plan had to be rebuilt
//! before each run, which for one row costs as much as the row. Operators that count with [`Returned`] are reused.

use datafusion::common::Result;
use datafusion::physical_plan::metrics::{Count, Metric, MetricValue, MetricsSet};
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of rows an operator has returned since the last reset. A clone counts separately.
#[derive(Debug, Default)]
pub struct Returned(Counter);

/// The shared counter of an operator's streams.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicUsize>);

impl Counter {
    /// Adds `rows` to the count.
    pub fn add(&self, rows: usize) {
        self.0.fetch_add(rows, Ordering::Relaxed);
    }
}

impl Clone for Returned {
    fn clone(&self) -> Self {
        Returned::default()
    }
}

impl Returned {
    /// The counter for an execution's streams.
    pub fn counter(&self) -> Counter {
        self.0.clone()
    }
    /// Resets the count to zero.
    pub fn clear(&self) {
        self.0.0.store(0, Ordering::Relaxed);
    }
    /// The count as DataFusion's metrics.
    pub fn metrics(&self) -> MetricsSet {
        let rows = Count::new();
        rows.add(self.0.0.load(Ordering::Relaxed));
        let mut metrics = MetricsSet::new();
        metrics.push(Arc::new(Metric::new(MetricValue::OutputRows(rows), None)));
        metrics
    }
}

/// A plan without the state of any execution. An operator is replaced only if it asks for it (`reset_state`) or if one
/// below was replaced.
pub fn let_go(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let children = plan.children();
    let mut kept = Vec::with_capacity(children.len());
    let mut changed = false;
    for child in children {
        let fresh = let_go(child)?;
        changed |= !Arc::ptr_eq(child, &fresh);
        kept.push(fresh);
    }
    match changed {
        // The properties stay valid. Computing them again costs more than a short statement.
        true => {
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
            Arc::clone(plan).replace_children(kept, options)?.reset_state()
        }
        false => Arc::clone(plan).reset_state(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_counts_for_itself_and_a_counter_for_its_operator() {
        let returned = Returned::default();
        let copy = returned.clone();
        returned.counter().add(2);
        returned.counter().add(1);
        assert_eq!(returned.metrics().output_rows(), Some(3));
        assert_eq!(copy.metrics().output_rows(), Some(0));
        returned.clear();
        assert_eq!(returned.metrics().output_rows(), Some(0));
    }
}
