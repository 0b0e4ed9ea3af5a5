//! [`KnownOrdersExec`]: passes its input's rows on and corrects the properties that DataFusion claims wrongly.
//! DataFusion makes these mistakes:
//! - For a hash join, it claims the order of the probe side, then that of the build side. That holds only if no two
//!   probe rows are equal in their order.
//! - It claims that constants of a side stay constant, even if an outer join adds NULLs.
//! - It claims that a maximum over a growing frame grows, although it may begin with NULL.
//! - Given an input with a key, it treats rows in the order of the key as ordered by any further columns. A window
//!   operator does not support that, so the keys of its input are hidden.

use super::runtime_join_filter::KeyTapExec;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Constraints, Result, Statistics, internal_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::JoinType;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, SendableRecordBatchStream,
};
use std::fmt;
use std::sync::Arc;

/// The properties that are still claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Equalities and constants, but no order: for a join's build side.
    NoOrder,
    /// Only orders: for a side whose columns may become NULL in the join.
    OrdersAlone,
    /// No property, if both cases above apply.
    Nothing,
    /// For a window operator, only the orders of its input.
    OrdersOfInput,
    /// All properties except unique keys.
    NoKeys,
}

/// Corrects the properties of joins and windows in a plan.
pub fn with_known_orders(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|plan| {
        if plan.is::<WindowAggExec>() || plan.is::<BoundedWindowAggExec>() {
            let without_keys =
                |child: &Arc<dyn ExecutionPlan>| match child.equivalence_properties().constraints().is_empty() {
                    true => Arc::clone(child),
                    false => known(Arc::clone(child), Known::NoKeys),
                };
            let children = plan.children().into_iter().map(without_keys).collect();
            let plan = replace_children_if_necessary(plan, children)?;
            return Ok(Transformed::yes(known(plan, Known::OrdersOfInput)));
        }
        let join_type = if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
            *join.join_type()
        } else if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
            *join.join_type()
        } else if let Some(join) = plan.downcast_ref::<SortMergeJoinExec>() {
            join.join_type()
        } else if plan.is::<CrossJoinExec>() {
            JoinType::Inner
        } else {
            return Ok(Transformed::no(plan));
        };
        let (left_extended, right_extended) = match join_type {
            JoinType::Left => (false, true),
            JoinType::Right => (true, false),
            JoinType::Full => (true, true),
            _ => (false, false),
        };
        // A merge join reads its left side in order. Further orders behind it are not relied on.
        let merges = plan.is::<SortMergeJoinExec>();
        let left = match (merges, left_extended) {
            (true, true) => Some(Known::OrdersAlone),
            (true, false) => None,
            (false, true) => Some(Known::Nothing),
            (false, false) => Some(Known::NoOrder),
        };
        let right = right_extended.then_some(Known::OrdersAlone);
        let children = plan.children().into_iter().zip([left, right]);
        let children = children.map(|(child, said)| side(child, said)).collect::<Result<Vec<_>>>()?;
        Ok(Transformed::yes(replace_children_if_necessary(plan, children)?))
    })
    .data()
}

fn side(child: &Arc<dyn ExecutionPlan>, said: Option<Known>) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(said) = said else { return Ok(Arc::clone(child)) };
    // The join expects the tap as its direct child.
    if child.is::<KeyTapExec>() {
        let below = child.children().into_iter().map(|input| known(Arc::clone(input), said)).collect();
        return replace_children_if_necessary(Arc::clone(child), below);
    }
    Ok(known(Arc::clone(child), said))
}

fn known(plan: Arc<dyn ExecutionPlan>, said: Known) -> Arc<dyn ExecutionPlan> {
    // Do not wrap the plan twice.
    match plan.downcast_ref::<KnownOrdersExec>() {
        Some(before) if before.said == said => plan,
        _ => Arc::new(KnownOrdersExec::new(plan, said)),
    }
}

/// The input of the window operator in a plan. Operators with one input may be above it.
fn input_of_window(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let children = plan.children();
    let [input] = children.as_slice() else { return None };
    match plan.is::<WindowAggExec>() || plan.is::<BoundedWindowAggExec>() {
        true => Some(input),
        false => input_of_window(input),
    }
}

/// Corrects properties, as the module head describes.
#[derive(Debug)]
pub struct KnownOrdersExec {
    input: Arc<dyn ExecutionPlan>,
    said: Known,
    properties: Arc<PlanProperties>,
}

impl KnownOrdersExec {
    fn new(input: Arc<dyn ExecutionPlan>, said: Known) -> Self {
        let all = input.equivalence_properties();
        let orders = |of: &EquivalenceProperties| of.oeq_class().iter().cloned().collect::<Vec<_>>();
        let known = match said {
            Known::NoOrder => {
                let mut known = all.clone();
                known.clear_orderings();
                known
            }
            Known::OrdersAlone => EquivalenceProperties::new_with_orderings(input.schema(), orders(all)),
            Known::Nothing => EquivalenceProperties::new(input.schema()),
            Known::NoKeys => all.clone().with_constraints(Constraints::default()),
            Known::OrdersOfInput => {
                let mut known = all.clone();
                known.clear_orderings();
                // In the window's output, the input's columns come first.
                known.add_orderings(
                    input_of_window(&input).map(|below| orders(below.equivalence_properties())).unwrap_or_default(),
                );
                known
            }
        };
        let properties = Arc::new(input.properties().as_ref().clone().with_eq_properties(known));
        KnownOrdersExec { input, said, properties }
    }

    /// The same operator over another input.
    fn with_other_input(&self, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        Ok(KnownOrdersExec::new(input, self.said))
    }

    /// The same operator over an input with the same properties.
    fn with_like_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        KnownOrdersExec { input, said: self.said, properties: Arc::clone(&self.properties) }
    }
}

impl DisplayAs for KnownOrdersExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("KnownOrdersExec")
    }
}

impl ExecutionPlan for KnownOrdersExec {
    fn name(&self) -> &str {
        "KnownOrdersExec"
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    crate::input_methods!(keeping);
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }
    /// It keeps the order. But an order required above must not be derived below from the hidden properties.
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.said == Known::OrdersAlone]
    }
    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }
    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }
    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        match inputs {
            [input] => Ok(Arc::clone(input)),
            _ => internal_err!("what is known has one input"),
        }
    }
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
