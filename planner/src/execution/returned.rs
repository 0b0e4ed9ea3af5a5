//! [`Returned`]: how many rows an operator returned, for EXPLAIN ANALYZE; and [`let_go`], which makes a plan ready to run
//! again.
//!
//! DataFusion's metrics are made anew for each execution, and kept until the operator is: a plan that runs again is built
//! again. For a statement of one row that costs as much as the row. Operators that count here stay as they are.

use datafusion::common::Result;
use datafusion::physical_plan::metrics::{Count, Metric, MetricValue, MetricsSet};
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that an operator returned since it was told to forget them. A clone counts for itself.
#[derive(Debug, Default)]
pub struct Returned(Counter);

/// Counts for the operator that gave it.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicUsize>);

impl Counter {
    /// So many more.
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
    /// For an execution.
    pub fn counter(&self) -> Counter {
        self.0.clone()
    }
    /// Forgets the executions before.
    pub fn clear(&self) {
        self.0.0.store(0, Ordering::Relaxed);
    }
    /// As DataFusion shows it.
    pub fn metrics(&self) -> MetricsSet {
        let rows = Count::new();
        rows.add(self.0.0.load(Ordering::Relaxed));
        let mut metrics = MetricsSet::new();
        metrics.push(Arc::new(Metric::new(MetricValue::OutputRows(rows), None)));
        metrics
    }
}

/// The plan, of which nothing is left that belongs to an execution. What keeps nothing stays as it is: an operator is
/// made anew only when it says so (`reset_state`), or when one below it was.
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
        // What is said of the rows does not change with what is forgotten: to work it out again costs more than a short statement.
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
