//! [`column_beneath`]: operators that pass on or group the rows of their input. Rows may be selected by key below them.

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::unnest::UnnestExec;
use executor::apply::ApplyExec;
use executor::runtime_join_filter::KeyTapExec;
use std::collections::HashSet;
use std::sync::Arc;

/// Maps a position of the output to the position of the same column in the input.
pub(super) type Beneath<'p> = Box<dyn Fn(usize) -> Option<usize> + 'p>;

/// The mapping of such an operator. `None` for other operators, and for one that may stop before its input ends.
pub(super) fn column_beneath(plan: &Arc<dyn ExecutionPlan>) -> Option<Beneath<'_>> {
    if plan.fetch().is_some() {
        return None;
    }
    if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        return Some(Box::new(|column| match filter.projection() {
            None => Some(column),
            Some(kept) => kept.get(column).copied(),
        }));
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        return Some(Box::new(|column| Some(projection.expr().get(column)?.expr.downcast_ref::<Column>()?.index())));
    }
    // A sort then sorts only the selected rows.
    if plan.is::<SortExec>() || plan.is::<CooperativeExec>() || plan.is::<KeyTapExec>() {
        return Some(Box::new(Some));
    }
    // A subquery runs for each row separately. The input's columns come first.
    if let Some(apply) = plan.downcast_ref::<ApplyExec>() {
        let width = apply.input().schema().fields().len();
        return apply
            .is_repeatable()
            .then(|| Box::new(move |column| (column < width).then_some(column)) as Beneath<'_>);
    }
    if let Some(unnest) = plan.downcast_ref::<UnnestExec>() {
        let (from, to) = (unnest.input().schema(), unnest.schema());
        let multiplied: HashSet<usize> = unnest
            .list_column_indices()
            .iter()
            .map(|list| list.index_in_input_schema)
            .chain(unnest.struct_column_indices().iter().copied())
            .collect();
        return Some(Box::new(move |column| {
            // Columns that are passed on keep their names.
            let name = to.fields().get(column)?.name();
            let alone = |schema: &SchemaRef| schema.fields().iter().filter(|field| field.name() == name).count() == 1;
            let place = from.fields().iter().position(|field| field.name() == name)?;
            (alone(&from) && alone(&to) && !multiplied.contains(&place)).then_some(place)
        }));
    }
    // A group contains all rows of its key or none, so keys may be selected before grouping.
    let aggregate = plan.downcast_ref::<AggregateExec>()?;
    let groups = aggregate.group_expr();
    if groups.has_grouping_set() || groups.expr().is_empty() || aggregate.limit_options().is_some() {
        return None;
    }
    Some(Box::new(|column| Some(groups.expr().get(column)?.0.downcast_ref::<Column>()?.index())))
}

/// The same operator over another input.
pub(super) fn over(plan: &Arc<dyn ExecutionPlan>, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let others = plan.children().into_iter().skip(1).map(Arc::clone);
    replace_children_if_necessary(Arc::clone(plan), std::iter::once(input).chain(others).collect())
}

/// Changes a join whose sides were swapped. A projection above it may restore the order of columns. `None` if the
/// change does not apply.
pub(super) fn beneath_projection(
    turned: &Arc<dyn ExecutionPlan>,
    change: impl FnOnce(&Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    match turned.downcast_ref::<ProjectionExec>() {
        None => change(turned),
        Some(projection) => match change(projection.input())? {
            Some(changed) => Ok(Some(over(turned, changed)?)),
            None => Ok(None),
        },
    }
}
