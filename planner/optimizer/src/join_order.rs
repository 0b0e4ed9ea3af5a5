//! [`order_joins`]: orders the tables of inner joins so that the fewest rows are read and made, by ANALYZE's
//! statistics.
//!
//! It runs over the optimized logical plan, whose filters are in the scans. A tree of inner joins over analyzed tables
//! is split and rebuilt one table after the other. The tree is left-deep: the joined part is the build side, and the
//! next table is looked up by its keys or scanned. All other trees keep their written order. Each set of up to [`MOST`]
//! tables has one best order, from which larger ones are made (Selinger et al. 1979).

use super::join_cost::{JoinedTable, Joining};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, NullEquality};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Join, JoinConstraint, JoinType, LogicalPlan, Projection};
use executor::table::Table;
use sql_error::Result;
use std::collections::HashMap;
use std::sync::Arc;

/// Most tables of a tree that is ordered: all sets of this many are examined.
const MOST: usize = 10;
/// An order is used if its cost is below this share of the written order's. Estimates are not more precise.
const WORTH: f64 = 0.7;

/// The plan with ordered joins. `None` if it stays as it is.
pub fn order_joins(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    // Go from the top, so that a tree is seen whole. An ordered tree has other trees only below its leaves.
    let ordered = plan.clone().transform_down_with_subqueries(|node| {
        let LogicalPlan::Join(join) = &node else { return Ok(Transformed::no(node)) };
        match ordered(join)? {
            Some(plan) => Ok(Transformed::new(plan, true, datafusion::common::tree_node::TreeNodeRecursion::Jump)),
            None => Ok(Transformed::no(node)),
        }
    })?;
    Ok(ordered.transformed.then_some(ordered.data))
}

/// A tree of joins, split into its parts.
#[derive(Default)]
struct Tree {
    leaves: Vec<LogicalPlan>,
    equalities: Vec<(Expr, Expr)>,
    filters: Vec<Expr>,
}

impl Tree {
    /// Splits a node. False if that is impossible.
    fn take(&mut self, node: &LogicalPlan) -> bool {
        match node {
            LogicalPlan::Join(join) if is_plain(join) => {
                self.equalities.extend(join.on.iter().cloned());
                self.filters.extend(join.filter.iter().cloned().flat_map(split_conjunction_owned));
                self.take(&join.left) && self.take(&join.right)
            }
            // Unused columns were removed: they are restored, and removed again at the end.
            LogicalPlan::Projection(projection)
                if matches!(projection.input.as_ref(), LogicalPlan::Join(join) if is_plain(join))
                    && projection.expr.iter().all(|item| matches!(item, Expr::Column(_))) =>
            {
                self.take(&projection.input)
            }
            leaf => {
                self.leaves.push(leaf.clone());
                self.leaves.len() <= MOST
            }
        }
    }
}

fn is_plain(join: &Join) -> bool {
    join.join_type == JoinType::Inner && !join.null_aware && join.null_equality == NullEquality::NullEqualsNothing
}

fn ordered(join: &Join) -> std::result::Result<Option<LogicalPlan>, DataFusionError> {
    if !is_plain(join) {
        return Ok(None);
    }
    let mut tree = Tree::default();
    let whole = tree.take(&join.left) && tree.take(&join.right);
    tree.equalities.extend(join.on.iter().cloned());
    tree.filters.extend(join.filter.iter().cloned().flat_map(split_conjunction_owned));
    if !whole || tree.leaves.len() < 3 {
        // The physical planner decides which of two tables is the build side.
        return Ok(None);
    }
    let Some(joining) = joining(&tree) else { return Ok(None) };
    let written: Vec<usize> = (0..tree.leaves.len()).collect();
    let (best, cost) = joining.best_order();
    if best == written || cost >= WORTH * joining.cost_of(&written) {
        return Ok(None);
    }
    Ok(Some(build(tree, &best, &join.schema)?))
}

/// The statistics of the tables and the conditions between them. `None` if some are missing.
fn joining(tree: &Tree) -> Option<Joining> {
    let tables: Vec<JoinedTable> = tree.leaves.iter().map(joined_table).collect::<Option<_>>()?;
    let leaf_of = |column: &Column| {
        let mut found = tree.leaves.iter().enumerate().filter(|(_, leaf)| leaf.schema().has_column(column));
        match (found.next(), found.next()) {
            (Some((position, _)), None) => Some(position),
            _ => None,
        }
    };
    let leaves_of = |expression: &Expr| -> Option<u32> {
        expression.column_refs().into_iter().try_fold(0, |set, column| Some(set | 1 << leaf_of(column)?))
    };
    let mut joining = Joining::new(tables);
    for (left, right) in &tree.equalities {
        let column = |expression: &Expr| match expression {
            Expr::Column(column) => Some((leaf_of(column)?, column.name.clone())),
            _ => None,
        };
        let sides = (leaves_of(left)?, leaves_of(right)?);
        if sides.0.count_ones() != 1 || sides.1.count_ones() != 1 {
            return None;
        }
        match (column(left), column(right)) {
            (Some(left), Some(right)) => joining.equality(left, right),
            _ => joining.condition(sides.0 | sides.1),
        }
    }
    for filter in &tree.filters {
        joining.condition(leaves_of(filter)?);
    }
    Some(joining)
}

/// The table that a leaf reads, if all of its columns keep their names.
fn joined_table(leaf: &LogicalPlan) -> Option<JoinedTable> {
    let mut filters = Vec::new();
    let mut node = leaf;
    loop {
        match node {
            LogicalPlan::SubqueryAlias(alias) => node = &alias.input,
            LogicalPlan::Projection(projection)
                if projection.expr.iter().all(|item| matches!(item, Expr::Column(_))) =>
            {
                node = &projection.input;
            }
            LogicalPlan::Filter(filter) => {
                filters.push(filter.predicate.clone());
                node = &filter.input;
            }
            LogicalPlan::TableScan(scan) if scan.fetch.is_none() => {
                let table = scan.source.downcast_ref::<Table>()?;
                filters.extend(scan.filters.iter().cloned());
                return JoinedTable::new(table.descriptor(), &filters);
            }
            _ => return None,
        }
    }
}

/// Joins one leaf after the other and restores the columns.
fn build(tree: Tree, order: &[usize], schema: &DFSchema) -> std::result::Result<LogicalPlan, DataFusionError> {
    let Tree { leaves, mut equalities, mut filters } = tree;
    let mut leaves: HashMap<usize, LogicalPlan> = leaves.into_iter().enumerate().collect();
    let mut built: Option<LogicalPlan> = None;
    for position in order {
        let Some(leaf) = leaves.remove(position) else { continue };
        // A leaf may contain other trees.
        let leaf = match order_joins(&leaf).map_err(DataFusionError::from)? {
            Some(ordered) => ordered,
            None => leaf,
        };
        let Some(left) = built.take() else {
            built = Some(leaf);
            continue;
        };
        let knows = |plan: &LogicalPlan, expression: &Expr| {
            expression.column_refs().into_iter().all(|column| plan.schema().has_column(column))
        };
        let mut on = Vec::new();
        equalities.retain(|(one, other)| {
            if knows(&left, one) && knows(&leaf, other) {
                on.push((one.clone(), other.clone()));
            } else if knows(&left, other) && knows(&leaf, one) {
                on.push((other.clone(), one.clone()));
            } else {
                return true;
            }
            false
        });
        let mut here = Vec::new();
        filters.retain(|filter| {
            let both = |column: &&Column| left.schema().has_column(column) || leaf.schema().has_column(column);
            let ready = filter.column_refs().iter().all(both);
            if ready {
                here.push(filter.clone());
            }
            !ready
        });
        let (left, leaf, filter) = (Arc::new(left), Arc::new(leaf), conjunction(here));
        let (inner, equality) = (JoinType::Inner, NullEquality::NullEqualsNothing);
        let join = Join::try_new(left, leaf, on, filter, inner, JoinConstraint::On, equality, false)?;
        built = Some(LogicalPlan::Join(join));
    }
    let joined = built.ok_or_else(|| DataFusionError::Internal("a join of nothing".into()))?;
    if !equalities.is_empty() || !filters.is_empty() {
        return Err(DataFusionError::Internal("a condition of a join was lost".into()));
    }
    let columns = schema.iter().map(Expr::from).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(joined))?))
}
