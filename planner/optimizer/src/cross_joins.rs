//! [`CrossJoins`]: gives inner joins of three or more relations the equalities of ON and WHERE.
//!
//! It splits a tree of inner joins into relations, equalities and other conditions. Then it joins the relations again
//! one after the other. The next relation is the first one that an equality ties to those already joined. An equality
//! of ON that no join can use becomes a filter above the joins, for instance `c.n = a.k + b.i` if `c` was joined before
//! `b`.
//!
//! It replaces DataFusion's `eliminate_cross_join`. That rule loses such an equality. It also applies the topmost
//! join's treatment of NULL to all joins of the tree. Here, joins in which NULLs are equal are leaves.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::utils::{can_hash, conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Filter, Join, JoinConstraint, JoinType, LogicalPlan, Operator, Projection,
};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The rule that replaces DataFusion's `eliminate_cross_join`.
#[derive(Debug, Default)]
pub struct CrossJoins;

impl OptimizerRule for CrossJoins {
    fn name(&self) -> &str {
        "eliminate_cross_join"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let mut joins = false;
        plan.apply_with_subqueries(|node| {
            joins |= matches!(node, LogicalPlan::Join(_));
            Ok(if joins { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        if joins { rewrite(plan) } else { Ok(Transformed::no(plan)) }
    }
}

fn rewrite(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Filter(Filter { predicate, input, .. }) if is_plain(&input) => {
            joined(Arc::unwrap_or_clone(input), Some(predicate)).map(Transformed::yes)
        }
        plan if is_plain(&plan) => joined(plan, None).map(Transformed::yes),
        plan => {
            let changed = of_subqueries(plan)?.transform_sibling(|plan| plan.map_children(rewrite))?;
            if changed.transformed { changed.map_data(LogicalPlan::recompute_schema) } else { Ok(changed) }
        }
    }
}

fn of_subqueries(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    plan.map_uncorrelated_subqueries(rewrite)
}

fn is_plain(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Join(join) if is_plain_join(join))
}

/// Whether both sides may be joined with others in any order.
fn is_plain_join(join: &Join) -> bool {
    join.join_type == JoinType::Inner
        && join.null_equality == NullEquality::NullEqualsNothing
        && !join.null_aware
        // A subquery may refer to the left side.
        && !matches!(join.right.as_ref(), LogicalPlan::Subquery(_))
}

/// Two expressions that are equal in every row, and the positions of the relations that each reads.
struct Equality {
    left: Expr,
    right: Expr,
    of_left: BTreeSet<usize>,
    of_right: BTreeSet<usize>,
    /// Whether a join or a remaining condition applies it.
    asked: bool,
}

/// A tree of joins, split into its parts.
#[derive(Default)]
struct Tree {
    relations: Vec<LogicalPlan>,
    equalities: Vec<(Expr, Expr)>,
    filters: Vec<Expr>,
}

impl Tree {
    fn take(&mut self, plan: LogicalPlan) -> Result<()> {
        match plan {
            LogicalPlan::Join(join) if is_plain_join(&join) => {
                self.filters.extend(join.filter);
                self.equalities.extend(join.on);
                self.take(Arc::unwrap_or_clone(join.left))?;
                self.take(Arc::unwrap_or_clone(join.right))
            }
            relation => {
                self.relations.push(rewrite(relation)?.data);
                Ok(())
            }
        }
    }

    fn equality(&self, left: Expr, right: Expr) -> Option<Equality> {
        let positions = |expression: &Expr| -> Option<BTreeSet<usize>> {
            let columns = expression.column_refs().into_iter();
            let position =
                |column| self.relations.iter().position(|relation| relation.schema().is_column_from_schema(column));
            columns.map(position).collect()
        };
        let (of_left, of_right) = (positions(&left)?, positions(&right)?);
        let of_both = !of_left.is_empty() && !of_right.is_empty();
        of_both.then_some(Equality { left, right, of_left, of_right, asked: false })
    }
}

/// Joins a tree's relations again and applies `predicate`.
fn joined(plan: LogicalPlan, predicate: Option<Expr>) -> Result<LogicalPlan> {
    let schema = Arc::clone(plan.schema());
    let mut tree = Tree::default();
    tree.take(plan)?;
    let mut equalities = Vec::new();
    let mut filters = std::mem::take(&mut tree.filters);
    for (left, right) in std::mem::take(&mut tree.equalities) {
        match tree.equality(left.clone(), right.clone()) {
            Some(equality) => equalities.push(equality),
            None => filters.push(left.eq(right)),
        }
    }
    let of_joins = equalities.len();
    // The conditions of WHERE, each with the position of its equality if it is one.
    let mut parts = Vec::new();
    for part in predicate.into_iter().flat_map(split_conjunction_owned) {
        let mut position = None;
        let whole = matches!(&part, Expr::BinaryExpr(BinaryExpr { op: Operator::Eq, .. }));
        for (left, right) in equal_in(&part) {
            let Some(equality) = tree.equality(left, right) else { continue };
            position = whole.then_some(equalities.len());
            equalities.push(equality);
        }
        parts.push((part, position));
    }
    let mut plan = in_order(tree.relations, &mut equalities)?;
    if plan.schema() != &schema {
        plan = LogicalPlan::Projection(Projection::new_from_schema(Arc::new(plan), schema));
    }
    let not_asked = |equality: &Equality| !equality.asked;
    let lost = equalities.iter().take(of_joins).filter(|equality| not_asked(equality));
    filters.extend(lost.map(|equality| equality.left.clone().eq(equality.right.clone())));
    let left = parts
        .into_iter()
        .filter(|(_, position)| position.is_none_or(|position| equalities.get(position).is_none_or(not_asked)));
    for filter in [conjunction(filters), conjunction(left.map(|(part, _)| part))].into_iter().flatten() {
        let filtered = LogicalPlan::Filter(Filter::try_new(filter, Arc::new(plan))?);
        plan = of_subqueries(filtered)?.data;
    }
    Ok(plan)
}

/// Equalities that hold whenever a condition does.
fn equal_in(condition: &Expr) -> Vec<(Expr, Expr)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return vec![] };
    match op {
        Operator::Eq => vec![(left.as_ref().clone(), right.as_ref().clone())],
        Operator::And => [equal_in(left), equal_in(right)].concat(),
        Operator::Or => {
            let mut both = equal_in(left);
            if !both.is_empty() {
                let others = equal_in(right);
                both.retain(|(one, other)| {
                    others.iter().any(|pair| (&pair.0, &pair.1) == (one, other) || (&pair.1, &pair.0) == (one, other))
                });
            }
            both
        }
        _ => vec![],
    }
}

/// Joins the relations, each by the equalities that tie it to the previous ones.
fn in_order(relations: Vec<LogicalPlan>, equalities: &mut [Equality]) -> Result<LogicalPlan> {
    let mut rest = relations.into_iter().enumerate().collect::<std::collections::VecDeque<_>>();
    let Some((first, mut plan)) = rest.pop_front() else {
        return Err(datafusion::error::DataFusionError::Internal("a join of nothing".into()));
    };
    let mut known = BTreeSet::from([first]);
    while !rest.is_empty() {
        let mut next = (0, Vec::new());
        for (place, (position, relation)) in rest.iter().enumerate() {
            let keys = keys(&plan, &known, relation, *position, equalities)?;
            if !keys.is_empty() {
                next = (place, keys);
                break;
            }
        }
        let (place, keys) = next;
        let Some((position, relation)) = rest.remove(place) else { break };
        known.insert(position);
        let mut on = Vec::<(Expr, Expr)>::new();
        for (equality, left, right) in keys {
            if let Some(equality) = equalities.get_mut(equality) {
                equality.asked = true;
            }
            if !on.iter().any(|(one, other)| *one == left && *other == right) {
                on.push((left, right));
            }
        }
        let (inner, nulls) = (JoinType::Inner, NullEquality::NullEqualsNothing);
        let join =
            Join::try_new(Arc::new(plan), Arc::new(relation), on, None, inner, JoinConstraint::On, nulls, false)?;
        plan = LogicalPlan::Join(join);
    }
    Ok(plan)
}

/// The equalities between the joined relations and one more: their positions, and the expressions of both sides.
fn keys(
    plan: &LogicalPlan,
    known: &BTreeSet<usize>,
    relation: &LogicalPlan,
    position: usize,
    equalities: &[Equality],
) -> Result<Vec<(usize, Expr, Expr)>> {
    let of_known = |positions: &BTreeSet<usize>| positions.is_subset(known);
    let of_relation = |positions: &BTreeSet<usize>| positions.iter().all(|of| *of == position);
    let mut keys = Vec::new();
    for (at, equality) in equalities.iter().enumerate() {
        let (left, right) = (&equality.left, &equality.right);
        let (left, right) = if of_known(&equality.of_left) && of_relation(&equality.of_right) {
            (left, right)
        } else if of_known(&equality.of_right) && of_relation(&equality.of_left) {
            (right, left)
        } else {
            continue;
        };
        if can_hash(&left.get_type(plan.schema())?) && can_hash(&right.get_type(relation.schema())?) {
            keys.push((at, left.clone(), right.clone()));
        }
    }
    Ok(keys)
}
