//! Hash joins over system views: a view on the probe side makes only the rows with keys of the build side.
//!
//! The view may be below other joins. There its rows may be dropped if the join above would drop all result rows made
//! from them. That holds for both sides of an inner join, and for the preserved side of an outer, semi or anti join. A
//! hash join reads its build side to the end before it polls the probe side. So the keys are known when the view is
//! read.

use super::passed_columns::{column_beneath, over};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{JoinSide, Result};
use datafusion::logical_expr::JoinType;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use executor::runtime_join_filter::{KeyTap, KeyTapExec, TappedKeys};
use executor::system_view::SystemViewExec;
use std::sync::Arc;

/// Most keys by which rows of a system view are made.
pub(super) const MOST_KEYS: usize = 4096;

/// A key of the join above: its position there, the column of the plan that it is compared with, and its type.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) place: usize,
    pub(super) column: usize,
    pub(super) ty: DataType,
}

/// Reads the system views on a join's probe side by the keys of its build side. The join must drop probe rows without a
/// match. `None` if there is no such view.
pub(super) fn of_views(join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let build_schema = join.left().schema();
    let keys = join.on().iter().enumerate().filter_map(|(place, (left, right))| {
        let column = right.downcast_ref::<Column>()?.index();
        Some(Key { place, column, ty: left.data_type(&build_schema).ok()? })
    });
    let tap = Arc::new(KeyTap::default());
    let Some(probe) = tapped(join.right(), keys.collect(), &tap)? else { return Ok(None) };
    let keys: Vec<Arc<dyn PhysicalExpr>> = join.on().iter().map(|(left, _)| Arc::clone(left)).collect();
    let build = Arc::new(KeyTapExec::new(Arc::clone(join.left()), TappedKeys::Row(keys), MOST_KEYS, tap));
    Ok(Some(join.builder().with_new_children(vec![build, probe])?.build_exec()?))
}

/// Restricts a plan's views to rows with the keys. `None` if it has none.
pub(super) fn tapped(
    plan: &Arc<dyn ExecutionPlan>,
    keys: Vec<Key>,
    tap: &Arc<KeyTap>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if keys.is_empty() || plan.output_partitioning().partition_count() != 1 {
        return Ok(None);
    }
    if let Some(view) = plan.downcast_ref::<SystemViewExec>() {
        let schema = view.schema();
        let same = |key: &&Key| schema.fields().get(key.column).is_some_and(|field| *field.data_type() == key.ty);
        let columns: Vec<(usize, usize)> = keys.iter().filter(same).map(|key| (key.place, key.column)).collect();
        return Ok(view.with_tap(Arc::clone(tap), &columns).map(|view| Arc::new(view) as Arc<dyn ExecutionPlan>));
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return beneath_join(plan, join, keys, tap);
    }
    let Some(beneath) = column_beneath(plan) else { return Ok(None) };
    let keys = keys.into_iter().filter_map(|key| Some(Key { column: beneath(key.column)?, ..key })).collect();
    let Some(child) = plan.children().first().copied() else { return Ok(None) };
    match tapped(child, keys, tap)? {
        Some(child) => Ok(Some(over(plan, child)?)),
        None => Ok(None),
    }
}

/// The sides of a join whose rows may be dropped by value, because all result rows with these values are dropped too.
fn sides(join_type: JoinType) -> &'static [JoinSide] {
    match join_type {
        JoinType::Inner => &[JoinSide::Left, JoinSide::Right],
        JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => &[JoinSide::Left],
        JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => &[JoinSide::Right],
        JoinType::Full => &[],
    }
}

/// The side of a join's output column, and its position there.
fn origin(join: &HashJoinExec, column: usize) -> Option<(JoinSide, usize)> {
    let column = match join.projection.as_deref() {
        None => column,
        Some(kept) => *kept.get(column)?,
    };
    let left = join.left().schema().fields().len();
    match join.join_type() {
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full => match column.checked_sub(left) {
            None => Some((JoinSide::Left, column)),
            Some(column) => Some((JoinSide::Right, column)),
        },
        JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => {
            (column < left).then_some((JoinSide::Left, column))
        }
        JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => {
            let right = join.right().schema().fields().len();
            (column < right).then_some((JoinSide::Right, column))
        }
    }
}

fn beneath_join(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
    keys: Vec<Key>,
    tap: &Arc<KeyTap>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    // NOT IN depends on whether a side has any rows at all.
    if join.null_aware || plan.fetch().is_some() || *join.partition_mode() != PartitionMode::CollectLeft {
        return Ok(None);
    }
    let mut children = vec![Arc::clone(join.left()), Arc::clone(join.right())];
    let mut any = false;
    for (child, side) in children.iter_mut().zip([JoinSide::Left, JoinSide::Right]) {
        if !sides(*join.join_type()).contains(&side) {
            continue;
        }
        let of_side = keys.iter().filter_map(|key| {
            let (from, column) = origin(join, key.column)?;
            (from == side).then(|| Key { column, ..key.clone() })
        });
        if let Some(new) = tapped(child, of_side.collect(), tap)? {
            *child = new;
            any = true;
        }
    }
    Ok(if any { Some(replace_children_if_necessary(Arc::clone(plan), children)?) } else { None })
}
