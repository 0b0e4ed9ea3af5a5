//! [`WrittenOrders`]: keeps written orders from DataFusion's rule that enforces orders. To that rule, as to the
//! standard, a subquery's ORDER BY has no meaning. PostgreSQL sorts the subquery. Row numbers, joins, limits, inserted
//! rows and aggregates see its rows in that order. DataFusion's rule also moves an outer order below a limit, and loses
//! the limit of a sort that it removes.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{LexOrdering, OrderingRequirements, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::ensure_requirements::EnsureRequirements;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements, PlanProperties,
};
use executor::input_methods;
use executor::known_orders::with_known_orders;
use executor::limit::LimitExec;
use std::fmt;
use std::sync::Arc;

/// The rule that replaces DataFusion's own and has its name.
#[derive(Debug)]
pub struct WrittenOrders {
    enforce: EnsureRequirements,
}

impl Default for WrittenOrders {
    fn default() -> Self {
        WrittenOrders { enforce: EnsureRequirements::new() }
    }
}

impl PhysicalOptimizerRule for WrittenOrders {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let fenced = with_known_orders(plan)?.transform_up(|plan| {
            if plan.is::<GlobalLimitExec>() || plan.is::<LimitExec>() {
                return Ok(Transformed::yes(FenceExec::above(plan, None)));
            }
            let Some(sort) = plan.downcast_ref::<SortExec>() else { return Ok(Transformed::no(plan)) };
            if sort.preserve_partitioning() {
                return Ok(Transformed::no(plan));
            }
            let whole = FenceExec::above(Arc::new(sort.with_fetch(None)), Some(sort.expr().clone()));
            let Some(fetch) = sort.fetch() else { return Ok(Transformed::yes(whole)) };
            let mut limit = GlobalLimitExec::new(whole, 0, Some(fetch));
            limit.set_required_ordering(Some(sort.expr().clone()));
            Ok(Transformed::yes(FenceExec::above(Arc::new(limit), None)))
        })?;
        let enforced = self.enforce.optimize(fenced.data, config)?;
        let open = enforced.transform_up(|plan| {
            if let Some(fence) = plan.downcast_ref::<FenceExec>() {
                return Ok(Transformed::yes(Arc::clone(&fence.input)));
            }
            let Some(limit) = plan.downcast_ref::<GlobalLimitExec>() else { return Ok(Transformed::no(plan)) };
            let (0, Some(fetch), Some(sort)) = (limit.skip(), limit.fetch(), limit.input().downcast_ref::<SortExec>())
            else {
                return Ok(Transformed::no(plan));
            };
            let fetch = sort.fetch().map_or(fetch, |within| within.min(fetch));
            Ok(Transformed::yes(Arc::new(sort.with_fetch(Some(fetch))) as _))
        });
        open.data()
    }

    fn name(&self) -> &str {
        self.enforce.name()
    }

    fn schema_check(&self) -> bool {
        self.enforce.schema_check()
    }
}

/// Requires the order of the sort below it and passes no other requirement down. It exists only while the rule runs,
/// and never executes.
#[derive(Debug)]
struct FenceExec {
    input: Arc<dyn ExecutionPlan>,
    order: Option<LexOrdering>,
}

impl FenceExec {
    fn above(input: Arc<dyn ExecutionPlan>, order: Option<LexOrdering>) -> Arc<dyn ExecutionPlan> {
        Arc::new(FenceExec { input, order })
    }

    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        FenceExec { input, order: self.order.clone() }
    }
}

impl DisplayAs for FenceExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("FenceExec")
    }
}

impl ExecutionPlan for FenceExec {
    fn name(&self) -> &str {
        "FenceExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }
    input_methods!();
    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }
    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.order.clone().map(OrderingRequirements::from)]
    }
    /// It keeps the order, but orders required above must not be established below it.
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
    }
    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn execute(&self, _partition: usize, _context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        Err(DataFusionError::Internal("a fence was left in a plan".into()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use datafusion::arrow::compute::SortOptions;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::datasource::source::DataSourceExec;
    use datafusion::physical_expr::expressions::Column;
    use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
    use datafusion::physical_plan::displayable;

    fn by(column: &str, place: usize, descending: bool) -> LexOrdering {
        let options = SortOptions { descending, nulls_first: descending };
        LexOrdering::new([PhysicalSortExpr::new(Arc::new(Column::new(column, place)), options)]).unwrap()
    }

    /// The result for a limited sort by `id` over a sort by another column, over rows in the order of `id`.
    fn planned(rule: &dyn PhysicalOptimizerRule) -> String {
        let fields = ["id", "v"].map(|name| Field::new(name, DataType::Int32, false));
        let rows = MemorySourceConfig::try_new(&[vec![]], Arc::new(Schema::new(fields.to_vec())), None).unwrap();
        let rows = rows.try_with_sort_information(vec![by("id", 0, false)]).unwrap();
        let within = SortExec::new(by("v", 1, true), DataSourceExec::from_data_source(rows));
        let sorted = SortExec::new(by("id", 0, false), Arc::new(within)).with_fetch(Some(3));
        let plan = rule.optimize(Arc::new(sorted), &ConfigOptions::default()).unwrap();
        displayable(plan.as_ref()).indent(false).to_string()
    }

    #[test]
    fn an_order_within_and_a_limit_above_stay() {
        let plan = planned(&WrittenOrders::default());
        assert!(plan.contains("fetch=3") && plan.contains("expr=[v@1 DESC]"), "{plan}");
    }

    /// If DataFusion keeps both, this rule is not needed any more.
    #[test]
    fn the_original_loses_both() {
        let plan = planned(&EnsureRequirements::new());
        assert!(!plan.contains("fetch=3") && !plan.contains("SortExec"), "{plan}");
    }
}
