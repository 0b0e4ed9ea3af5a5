//! Nested loops over system views: the view makes only rows whose key occurs in one of several alternative conditions.
//!
//! ```text
//! NestedLoop(l, view, view.oid = l.a AND … OR view.oid = ANY (l.b) AND …)
//! ```
//!
//! PostgreSQL also reads such rows by an index for each alternative (a BitmapOr).

use super::lookup_join::rows_of;
use super::passed_columns::beneath_projection;
use super::view_lookup::{Key, MOST_KEYS, tapped};
use datafusion::common::{JoinSide, Result};
use datafusion::logical_expr::{JoinType, Operator};
use datafusion::physical_expr::expressions::{BinaryExpr, Column};
use datafusion::physical_expr::utils::{split_conjunction, split_disjunction};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::joins::NestedLoopJoinExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use executor::runtime_join_filter::{KeyTap, KeyTapExec, TappedKeys};
use std::sync::Arc;
use types::array;

/// Reads the view's side of the join by keys. The other side is read first and kept in memory, so the join is swapped
/// unless that side has many rows. `None` if there is no such view.
pub(super) fn of_nested_loop(join: &NestedLoopJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let single = [join.left(), join.right()].iter().all(|side| side.output_partitioning().partition_count() == 1);
    if *join.join_type() != JoinType::Inner || !single {
        return Ok(None);
    }
    if let Some(read) = with_right_by_keys(join)? {
        return Ok(Some(read));
    }
    if join.filter().is_none() || rows_of(join.right())?.is_some_and(|rows| rows > MOST_KEYS) {
        return Ok(None);
    }
    beneath_projection(&join.swap_inputs()?, |turned| match turned.downcast_ref::<NestedLoopJoinExec>() {
        Some(turned) => with_right_by_keys(turned),
        None => Ok(None),
    })
}

fn with_right_by_keys(join: &NestedLoopJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(filter) = join.filter() else { return Ok(None) };
    for condition in split_conjunction(filter.expression()) {
        let alternatives = split_disjunction(condition);
        let named: Vec<Vec<Named>> = alternatives.iter().map(|part| names(part, filter)).collect();
        let Some(first) = named.first() else { continue };
        for column in first.iter().map(|named| named.column) {
            let of_column = |names: &Vec<Named>| names.iter().find(|named| named.column == column).cloned();
            let Some(named) = named.iter().map(of_column).collect::<Option<Vec<Named>>>() else { continue };
            if let Some(read) = by_keys(join, filter, column, &named)? {
                return Ok(Some(read));
            }
        }
    }
    Ok(None)
}

/// A column of the right side, by position, and the value that a condition gives it: a column of the left side, or an
/// element of one.
#[derive(Clone, Debug)]
struct Named {
    column: usize,
    value: Column,
}

fn by_keys(
    join: &NestedLoopJoinExec,
    filter: &JoinFilter,
    column: usize,
    named: &[Named],
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let (left, right) = (join.left().schema(), join.right().schema());
    let Some(field) = right.fields().get(column) else { return Ok(None) };
    let ty = field.data_type();
    let fits = |named: &Named| {
        let given = left.fields().get(named.value.index()).map(|field| field.data_type());
        given.is_some_and(|given| given == ty || *given == array::data_type(ty.clone()))
    };
    if !named.iter().all(fits) {
        return Ok(None);
    }
    let tap = Arc::new(KeyTap::default());
    let key = Key { place: 0, column, ty: ty.clone() };
    let Some(view) = tapped(join.right(), vec![key], &tap)? else { return Ok(None) };
    let keys = named.iter().map(|named| Arc::new(named.value.clone()) as Arc<dyn PhysicalExpr>).collect();
    let build = KeyTapExec::new(Arc::clone(join.left()), TappedKeys::Alternatives(keys), MOST_KEYS, tap);
    let projection = join.projection().as_ref().map(|projection| projection.to_vec());
    let read = NestedLoopJoinExec::try_new(Arc::new(build), view, Some(filter.clone()), join.join_type(), projection)?;
    Ok(Some(Arc::new(read)))
}

/// The columns of the right side whose values a condition determines.
fn names(condition: &Arc<dyn PhysicalExpr>, filter: &JoinFilter) -> Vec<Named> {
    let side = |expr: &Arc<dyn PhysicalExpr>| {
        let column = expr.downcast_ref::<Column>()?;
        let of = filter.column_indices().get(column.index())?;
        Some((of.side, Column::new(column.name(), of.index)))
    };
    let pair = |one: &Arc<dyn PhysicalExpr>, other: &Arc<dyn PhysicalExpr>| match (side(one)?, side(other)?) {
        ((JoinSide::Right, column), (JoinSide::Left, value)) => Some(Named { column: column.index(), value }),
        _ => None,
    };
    let named = |part: &Arc<dyn PhysicalExpr>| {
        if let Some(binary) = part.downcast_ref::<BinaryExpr>() {
            let (left, right) = (binary.left(), binary.right());
            return pair(left, right).or_else(|| pair(right, left)).filter(|_| *binary.op() == Operator::Eq);
        }
        let call = part.downcast_ref::<ScalarFunctionExpr>().filter(|call| call.fun().name() == "= any")?;
        let [element, array] = call.args() else { return None };
        pair(element, array)
    };
    split_conjunction(condition).into_iter().filter_map(named).collect()
}
