//! [`may_fail`]: whether a join must not compute a correlated subquery's single row for all groups at once.

use builtin::sizes::unique_keys;
use catalog::{ColumnId, IndexDescriptor, IndexState, RelationKind, TableDescriptor};
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Aggregate, BinaryExpr, Expr, LogicalPlan, Operator};
use executor::condition::column_of;
use executor::table::Table;
use std::collections::HashSet;

/// Whether an aggregate may fail. The one that takes a scalar subquery's single row fails if there are several rows. A
/// join would compute it for all groups, even those that no outer row needs.
pub fn may_fail(aggregate: &Aggregate) -> bool {
    let is_single = |part: &Expr| {
        Ok(matches!(part, Expr::AggregateFunction(call) if call.func.name() == executor::subquery::SINGLE_VALUE))
    };
    let single = |expr: &Expr| expr.exists(is_single).unwrap_or(true);
    aggregate.aggr_expr.iter().any(single) && !finds_one_row(&aggregate.input)
}

/// Whether equalities with outer columns or constants cover a unique key of the plan's only table.
fn finds_one_row(plan: &LogicalPlan) -> bool {
    let mut asked: Vec<&Expr> = Vec::new();
    let mut node = plan;
    loop {
        node = match node {
            LogicalPlan::Filter(filter) => {
                asked.extend(split_conjunction(&filter.predicate));
                &filter.input
            }
            // Names above a projection may differ from those below.
            LogicalPlan::Projection(projection) if asked.is_empty() => &projection.input,
            LogicalPlan::SubqueryAlias(alias) => &alias.input,
            LogicalPlan::TableScan(scan) => {
                let Some(table) = scan.source.downcast_ref::<Table>().map(Table::descriptor) else { return false };
                let held: HashSet<ColumnId> = asked.iter().filter_map(|condition| equated(condition, table)).collect();
                let is_held = |index: &IndexDescriptor| index.columns.iter().all(|key| held.contains(&key.column));
                if table.kind == RelationKind::SystemView {
                    let is_held = |name: &&str| table.column_named(name).is_some_and(|key| held.contains(&key.id));
                    return unique_keys(&table.name).iter().any(|key| key.iter().all(is_held));
                }
                return table.indexes.iter().any(|index| is_unique(index) && is_held(index));
            }
            _ => return false,
        };
    }
}

/// Whether no two rows can have the same key, whatever a transaction has written.
fn is_unique(index: &IndexDescriptor) -> bool {
    index.unique
        && index.state == IndexState::Public
        && index.predicate.is_none()
        && index.expressions.is_empty()
        && index.deferral.is_none()
}

/// The column that a condition equates with a value that is the same for all rows of the subquery.
fn equated(condition: &Expr, table: &TableDescriptor) -> Option<ColumnId> {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else { return None };
    let (column, other) = match (column_of(left, table), column_of(right, table)) {
        (Some((column, _)), None) => (column, right),
        (None, Some((column, _))) => (column, left),
        _ => return None,
    };
    other.column_refs().is_empty().then_some(column)
}
