//! Joins that see what is on their left, or whose conditions have subqueries, and which DataFusion cannot plan: as filters, or
//! as [`ApplyNode`]s that run the right side for each row of the left.

use super::correlated::{becomes_join, outer_to_placeholders, sees_outer_row, subquery_of};
use super::one_row::hold_filters;
use crate::bind::is_ungrouped_aggregate;
use crate::execution::apply::{ApplyKind, ApplyNode};
use crate::execution::outer::{OuterValues, next_number};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ExprSchema, Result};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Extension, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Projection};
use std::sync::Arc;

/// The join as it can be planned; `all`: without DataFusion's own rule for what is lateral.
pub fn rewrite(mut join: Join, all: bool) -> Result<Transformed<LogicalPlan>> {
    let lateral = match join.right.as_ref() {
        LogicalPlan::Subquery(subquery) if !subquery.outer_ref_columns.is_empty() => {
            // A join knows of no row that is there although nothing was aggregated.
            let always_there = join.join_type == JoinType::Left
                && (!join.on.is_empty() || join.filter.as_ref().is_some_and(|filter| !is_true(filter)))
                && is_ungrouped_aggregate(&subquery.subquery);
            all || always_there || !(becomes_join(&subquery.subquery, false) || becomes_join(&subquery.subquery, true))
        }
        LogicalPlan::Subquery(subquery) => {
            // It sees nothing of the left.
            join.right = Arc::clone(&subquery.subquery);
            return Ok(Transformed::yes(rewrite(join, all)?.data));
        }
        _ => false,
    };
    let is_lateral = matches!(join.right.as_ref(), LogicalPlan::Subquery(_));
    let (hard, plain): (Vec<Expr>, Vec<Expr>) =
        join.filter.clone().map(split_conjunction_owned).unwrap_or_default().into_iter().partition(needs_more);
    if !lateral && hard.is_empty() {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    if lateral && let Some(plan) = beside_what_it_sees(&join, all)? {
        return Ok(Transformed::yes(plan));
    }
    match join.join_type {
        // What a join cannot ask is asked of its rows.
        JoinType::Inner if !lateral => {
            join.filter = conjunction(plain);
            let filter = conjunction(hard);
            let mut plan = LogicalPlanBuilder::from(LogicalPlan::Join(join));
            if let Some(filter) = filter {
                plan = plan.filter(filter)?;
            }
            Ok(Transformed::yes(plan.build()?))
        }
        JoinType::Inner | JoinType::Left => Ok(Transformed::yes(applied(join)?)),
        JoinType::Right if !is_lateral => {
            // The other way round, then the columns in their order.
            let schema = Arc::clone(&join.schema);
            let on = join.on.into_iter().map(|(left, right)| (right, left)).collect();
            let turned = Join::try_new(
                join.right,
                join.left,
                on,
                join.filter,
                JoinType::Left,
                join.join_constraint,
                join.null_equality,
                false,
            )?;
            let plan = applied(turned)?;
            let columns = schema.columns().into_iter().map(Expr::Column).collect();
            Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(plan))?)))
        }
        JoinType::Full if !is_lateral => asked_beforehand(join, hard, plain),
        _ => Ok(Transformed::no(LogicalPlan::Join(join))),
    }
}

/// `A JOIN B JOIN LATERAL s`, where `s` sees one of the two alone, as `(A JOIN LATERAL s) JOIN B`: it runs for each row of that one,
/// not for each pair.
fn beside_what_it_sees(join: &Join, all: bool) -> Result<Option<LogicalPlan>> {
    let (LogicalPlan::Join(pair), LogicalPlan::Subquery(subquery)) = (join.left.as_ref(), join.right.as_ref()) else {
        return Ok(None);
    };
    let inner = |join: &Join| join.join_type == JoinType::Inner;
    let lateral = |plan: &LogicalPlan| matches!(plan, LogicalPlan::Subquery(_));
    if !inner(join) || !inner(pair) || lateral(&pair.right) || super::careful_rule::is_volatile(&subquery.subquery)? {
        return Ok(None);
    }
    let sees = |side: &LogicalPlan| {
        subquery.outer_ref_columns.iter().any(|column| match column {
            Expr::OuterReferenceColumn(_, column) => side.schema().has_column(column),
            _ => true,
        })
    };
    let (seen, other) = match (sees(&pair.left), sees(&pair.right)) {
        (true, false) => (&pair.left, &pair.right),
        (false, true) => (&pair.right, &pair.left),
        _ => return Ok(None),
    };
    let both = seen.schema().join(join.right.schema())?;
    let equal =
        |pairs: &[(Expr, Expr)]| pairs.iter().map(|(left, right)| left.clone().eq(right.clone())).collect::<Vec<_>>();
    let parts = |filter: &Option<Expr>| filter.clone().map(split_conjunction_owned).unwrap_or_default();
    let conditions = equal(&join.on).into_iter().chain(parts(&join.filter));
    let here = |condition: &Expr| condition.column_refs().into_iter().all(|column| both.has_column(column));
    let (of_both, mut rest): (Vec<Expr>, Vec<Expr>) =
        conditions.partition(|condition| here(condition) && !needs_more(condition));
    rest.extend(equal(&pair.on));
    rest.extend(parts(&pair.filter));
    let joined = |left: LogicalPlan, right: LogicalPlan, on: Vec<Expr>| {
        let filter = conjunction(on);
        let (constraint, nulls) = (join.join_constraint, join.null_equality);
        Join::try_new(Arc::new(left), Arc::new(right), vec![], filter, JoinType::Inner, constraint, nulls, false)
    };
    let first = joined(seen.as_ref().clone(), LogicalPlan::Subquery(subquery.clone()), of_both)?;
    let first = rewrite(first, all)?.data;
    let whole = rewrite(joined(first, other.as_ref().clone(), rest)?, all)?.data;
    let columns = join.schema.columns().into_iter().map(Expr::Column).collect();
    Ok(Some(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(whole))?)))
}

/// Whether a condition has subqueries that no join asks.
fn needs_more(expression: &Expr) -> bool {
    let hard = |inner: &Expr| match inner {
        Expr::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty() || sees_outer_row(&subquery.subquery),
        Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_) => true,
        _ => false,
    };
    expression.exists(|inner| Ok(hard(inner))).unwrap_or(true)
}

/// A FULL JOIN whose subqueries see one side each, as columns of that side.
fn asked_beforehand(mut join: Join, hard: Vec<Expr>, mut plain: Vec<Expr>) -> Result<Transformed<LogicalPlan>> {
    let sees = |condition: &Expr, side: &LogicalPlan| {
        let mut all = true;
        condition.apply(|inner| {
            let outer = subquery_of(inner).map_or(&[][..], |subquery| &subquery.outer_ref_columns);
            all &= outer.iter().all(|column| match column {
                Expr::OuterReferenceColumn(_, column) => side.schema().has_column(column),
                _ => false,
            });
            all &= !matches!(inner, Expr::Column(column) if !side.schema().has_column(column));
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok::<_, DataFusionError>(all)
    };
    let columns = join.schema.columns().into_iter().map(Expr::Column).collect();
    let (mut of_left, mut of_right) = (vec![], vec![]);
    for condition in &hard {
        let of_side = match (sees(condition, &join.left)?, sees(condition, &join.right)?) {
            (true, _) => &mut of_left,
            (false, true) => &mut of_right,
            (false, false) => return Ok(Transformed::no(LogicalPlan::Join(join))),
        };
        let name = format!("__asked_{}", next_number());
        of_side.push(condition.clone().alias(&name));
        plain.push(Expr::Column(Column::new_unqualified(name)));
    }
    let with = |side: &LogicalPlan, asked: Vec<Expr>| {
        let columns = side.schema().columns().into_iter().map(Expr::Column);
        let all: Vec<Expr> = columns.chain(asked).collect();
        Ok::<_, DataFusionError>(Arc::new(LogicalPlanBuilder::from(side.clone()).project(all)?.build()?))
    };
    if !of_left.is_empty() {
        join.left = with(&join.left, of_left)?;
    }
    if !of_right.is_empty() {
        join.right = with(&join.right, of_right)?;
    }
    let (kind, constraint, nulls) = (join.join_type, join.join_constraint, join.null_equality);
    let joined = Join::try_new(join.left, join.right, join.on, conjunction(plain), kind, constraint, nulls, false)?;
    let plan = Arc::new(LogicalPlan::Join(joined));
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(columns, plan)?)))
}

/// The right side run for each row of the left, with the condition in it.
fn applied(join: Join) -> Result<LogicalPlan> {
    let mut plan = match join.right.as_ref() {
        LogicalPlan::Subquery(subquery) => subquery.subquery.as_ref().clone(),
        other => other.clone(),
    };
    let left = Arc::clone(join.left.schema());
    let pairs = join.on.into_iter().map(|(left, right)| left.eq(right));
    let condition = conjunction(pairs.chain(join.filter));
    if let Some(condition) = condition.filter(|condition| !is_true(condition)) {
        plan = LogicalPlanBuilder::from(plan).filter(of_outer_row(condition, &left)?)?.build()?;
        // What it asks of the left row alone is not to move below an aggregate either.
        if let Some(held) = hold_filters(&plan)? {
            plan = held;
        }
    }
    let (mut columns, mut placeholders) = (Vec::<Column>::new(), Vec::new());
    let subquery = outer_to_placeholders(plan, &left, &mut columns, &mut placeholders)?;
    let node = ApplyNode {
        input: join.left.as_ref().clone(),
        subquery,
        kind: ApplyKind::Lateral { outer: join.join_type == JoinType::Left },
        columns: columns.into_iter().map(Expr::Column).collect(),
        operand: None,
        placeholders,
        outer: OuterValues::new(),
        schema: join.schema,
    };
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(node) }))
}

fn is_true(expression: &Expr) -> bool {
    matches!(expression, Expr::Literal(datafusion::scalar::ScalarValue::Boolean(Some(true)), _))
}

/// A condition over both sides as one over the right side, which sees the left as its outer row.
fn of_outer_row(condition: Expr, left: &DFSchema) -> Result<Expr> {
    let replaced = condition.transform_up(|inner| match inner {
        Expr::Column(column) if left.has_column(&column) => {
            let field = Arc::clone(left.field_from_column(&column)?);
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(replaced.data)
}
