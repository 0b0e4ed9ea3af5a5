//! [`KeyOrder`]: derives orders from keys. It reverses the scan below a sort, or switches it to another index, if that
//! scan delivers the sort's order. DataFusion later drops a sort whose input is in order. The rows of a scan must stay
//! the same.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use executor::index_lookup_join::KeyJoinExec;
use executor::index_scan::IndexScanExec;
use executor::limit::LimitExec;
use executor::table_scan::TableScanExec;
use std::sync::Arc;

/// The rule. It runs before the rules that enforce orders, and again once it is known which joins keep an order.
#[derive(Clone, Copy, Debug)]
pub struct KeyOrder {
    /// Whether scans can be reversed.
    pub reverse_scans: bool,
}

impl PhysicalOptimizerRule for KeyOrder {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        self.rewrite(plan, false)
    }

    fn name(&self) -> &str {
        "KeyOrder"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

impl KeyOrder {
    /// Rewrites a plan. `limited` says that only its first rows are wanted.
    fn rewrite(&self, plan: Arc<dyn ExecutionPlan>, limited: bool) -> Result<Arc<dyn ExecutionPlan>> {
        let below = plan.is::<LimitExec>() || limited && plan.is::<ProjectionExec>();
        let children = plan
            .children()
            .into_iter()
            .map(|child| self.rewrite(Arc::clone(child), below))
            .collect::<Result<Vec<_>>>()?;
        let plan = if children.is_empty() { plan } else { replace_children_if_necessary(plan, children)? };
        let Some(sort) = plan.downcast_ref::<SortExec>() else { return Ok(plan) };
        if sort.preserve_partitioning() {
            return Ok(plan);
        }
        let limited = limited || sort.fetch().is_some();
        match self.ordered(sort.input(), sort.expr(), limited)? {
            Some(input) => replace_children_if_necessary(plan, vec![input]),
            None => Ok(plan),
        }
    }

    /// Changes the plan's scan so that rows come in `order`. It must be the only scan below a chain of order-preserving
    /// operators. `None` otherwise.
    fn ordered(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        order: &LexOrdering,
        limited: bool,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        for scan in self.alternatives(plan, limited)? {
            if scan.output_partitioning().partition_count() == 1
                && scan.equivalence_properties().ordering_satisfy(order.clone())?
            {
                return Ok(Some(scan));
            }
        }
        Ok(None)
    }

    /// The plan with each alternative for its scan.
    fn alternatives(&self, plan: &Arc<dyn ExecutionPlan>, limited: bool) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        if let Some(scan) = plan.downcast_ref::<TableScanExec>() {
            let mut all: Vec<Arc<dyn ExecutionPlan>> = vec![Arc::clone(plan)];
            if scan.fetch().is_none() {
                if self.reverse_scans {
                    all.push(Arc::new(scan.reversed()));
                }
                for index in scan.index_alternatives(limited) {
                    if self.reverse_scans {
                        all.push(Arc::new(index.reversed()));
                    }
                    all.push(Arc::new(index));
                }
            }
            return Ok(all);
        }
        if let Some(scan) = plan.downcast_ref::<IndexScanExec>() {
            let mut all: Vec<Arc<dyn ExecutionPlan>> = vec![Arc::clone(plan)];
            if scan.fetch().is_none() && self.reverse_scans {
                all.push(Arc::new(scan.reversed()));
            }
            return Ok(all);
        }
        let filter = plan.downcast_ref::<FilterExec>();
        let join = plan.downcast_ref::<KeyJoinExec>();
        let keeps_order = filter.is_some_and(|filter| filter.fetch().is_none())
            || join.is_some()
            || plan.is::<ProjectionExec>()
            || plan.is::<CoalescePartitionsExec>() && plan.fetch().is_none();
        let children = plan.children();
        let [input] = children.as_slice() else { return Ok(vec![]) };
        if !keeps_order {
            return Ok(vec![]);
        }
        // Looking up rows one by one through an index pays for the first few rows, but not if a filter may drop most of
        // them.
        let keeps_most = filter.is_none() && join.is_none_or(KeyJoinExec::drops_few);
        self.alternatives(input, limited && keeps_most)?
            .into_iter()
            .map(|input| replace_children_if_necessary(Arc::clone(plan), vec![input]))
            .collect()
    }
}
