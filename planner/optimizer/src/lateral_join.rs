//! Joins that DataFusion cannot plan: lateral ones and those with subqueries in their conditions. They become filters,
//! or [`ApplyNode`]s that run the right side for each left row.

use super::correlated::{becomes_join, outer_to_placeholders, sees_outer_row, subquery_of};
use super::filter_barriers::hold_filters;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ExprSchema, Result};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, Extension, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Operator, Projection,
};
use executor::apply::{ApplyKind, ApplyNode};
use executor::outer::{OuterValues, next_number};
use executor::subquery::is_ungrouped_aggregate;
use executor::volatile::{calls, is_volatile, is_volatile_function};
use std::sync::Arc;

/// Rewrites the join so that it can be planned. `all` avoids DataFusion's own rule for lateral joins.
pub fn rewrite(mut join: Join, all: bool) -> Result<Transformed<LogicalPlan>> {
    let lateral = match join.right.as_ref() {
        LogicalPlan::Subquery(subquery) if !subquery.outer_ref_columns.is_empty() => {
            // A join cannot represent the row that an aggregate returns for an empty input.
            let always_there = join.join_type == JoinType::Left
                && (!join.on.is_empty() || join.filter.as_ref().is_some_and(|filter| !is_true(filter)))
                && is_ungrouped_aggregate(&subquery.subquery);
            all || always_there || !(becomes_join(&subquery.subquery, false) || becomes_join(&subquery.subquery, true))
        }
        LogicalPlan::Subquery(subquery) => {
            // It does not refer to the left side.
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
    if !is_lateral && let Some(plan) = computed_beforehand(&join, &hard, &plain)? {
        return Ok(Transformed::yes(plan));
    }
    match join.join_type {
        // The remaining conditions become a filter above the join.
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
            // Swap the sides, then restore the order of columns.
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

/// Rewrites `A JOIN B JOIN LATERAL s`, where `s` refers to only one of the two, to `(A JOIN LATERAL s) JOIN B`. It then
/// runs for each row of that one, not for each pair.
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

/// Whether a condition has subqueries that a join cannot evaluate.
fn needs_more(expression: &Expr) -> bool {
    let hard = |inner: &Expr| match inner {
        Expr::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty() || sees_outer_row(&subquery.subquery),
        Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_) => true,
        _ => false,
    };
    expression.exists(|inner| Ok(hard(inner))).unwrap_or(true)
}

/// Whether a condition, including its subqueries, refers to columns of a side.
fn sees(condition: &Expr, side: &LogicalPlan) -> Result<bool> {
    let mut any = false;
    condition.apply(|inner| {
        let outer = subquery_of(inner).map_or(&[][..], |subquery| &subquery.outer_ref_columns);
        any |= outer.iter().any(|column| match column {
            Expr::OuterReferenceColumn(_, column) => side.schema().has_column(column),
            _ => true,
        });
        any |= matches!(inner, Expr::Column(column) if side.schema().has_column(column));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(any)
}

/// Expressions over one side of a join, evaluated below it.
#[derive(Default)]
struct Beforehand(Vec<Expr>);

impl Beforehand {
    /// The column that will hold an expression.
    fn column(&mut self, expr: Expr) -> Expr {
        let name = format!("__asked_{}", next_number());
        self.0.push(expr.alias(&name));
        Expr::Column(Column::new_unqualified(name))
    }

    /// The side with these columns added.
    fn beside(self, side: Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
        if self.0.is_empty() {
            return Ok(side);
        }
        let all: Vec<Expr> = side.schema().columns().into_iter().map(Expr::Column).chain(self.0).collect();
        Ok(Arc::new(LogicalPlanBuilder::from(side.as_ref().clone()).project(all)?.build()?))
    }
}

/// A join with an equality between one side and a subquery that refers only to the other side. The subquery is
/// evaluated for each row of that side, and its result becomes a join key. Conditions of a LEFT JOIN on its right side
/// only are evaluated below it. `None` if there is neither.
fn computed_beforehand(join: &Join, hard: &[Expr], plain: &[Expr]) -> Result<Option<LogicalPlan>> {
    if !matches!(join.join_type, JoinType::Inner | JoinType::Left | JoinType::Right) {
        return Ok(None);
    }
    let (mut of_left, mut of_right) = (Beforehand::default(), Beforehand::default());
    let mut conditions = plain.to_vec();
    let mut asked_of_right = Vec::new();
    let mut found = false;
    for condition in hard {
        let fixed = !is_volatile_condition(condition)?;
        if fixed && join.join_type == JoinType::Left && !sees(condition, &join.left)? {
            asked_of_right.push(condition.clone());
            found = true;
            continue;
        }
        let key = match condition {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) if fixed => {
                key_beforehand(join, left, right, &mut of_left, &mut of_right)?
            }
            _ => None,
        };
        found |= key.is_some();
        conditions.push(key.unwrap_or_else(|| condition.clone()));
    }
    if !found {
        return Ok(None);
    }
    let columns = join.schema.columns().into_iter().map(Expr::Column).collect();
    let left = of_left.beside(Arc::clone(&join.left))?;
    let mut right = of_right.beside(Arc::clone(&join.right))?;
    if let Some(condition) = conjunction(asked_of_right) {
        right = Arc::new(LogicalPlanBuilder::from(right.as_ref().clone()).filter(condition)?.build()?);
    }
    let (on, kind, constraint, nulls) = (join.on.clone(), join.join_type, join.join_constraint, join.null_equality);
    let joined = Join::try_new(left, right, on, conjunction(conditions), kind, constraint, nulls, false)?;
    let plan = Arc::new(LogicalPlan::Join(joined));
    Ok(Some(LogicalPlan::Projection(Projection::try_new(columns, plan)?)))
}

/// An equality of which each side refers to one side of the join. A side with subqueries is replaced by a column.
fn key_beforehand(
    join: &Join,
    left: &Expr,
    right: &Expr,
    of_left: &mut Beforehand,
    of_right: &mut Beforehand,
) -> Result<Option<Expr>> {
    let sides = |expr: &Expr| Ok::<_, DataFusionError>((sees(expr, &join.left)?, sees(expr, &join.right)?));
    let mut computed = |expr: &Expr, is_left: bool| match (needs_more(expr), is_left) {
        (false, _) => expr.clone(),
        (true, true) => of_left.column(expr.clone()),
        (true, false) => of_right.column(expr.clone()),
    };
    let (of_one, of_other) = match (sides(left)?, sides(right)?) {
        ((true, false), (false, true)) => (true, false),
        ((false, true), (true, false)) => (false, true),
        _ => return Ok(None),
    };
    Ok(Some(computed(left, of_one).eq(computed(right, of_other))))
}

fn is_volatile_condition(condition: &Expr) -> Result<bool> {
    let mut volatile = calls(condition, is_volatile_function);
    condition.apply(|inner| {
        if let Some(subquery) = subquery_of(inner) {
            volatile |= is_volatile(&subquery.subquery)?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(volatile)
}

/// A FULL JOIN whose subqueries each refer to one side; they become columns of that side.
fn asked_beforehand(mut join: Join, hard: Vec<Expr>, mut plain: Vec<Expr>) -> Result<Transformed<LogicalPlan>> {
    let columns = join.schema.columns().into_iter().map(Expr::Column).collect();
    let (mut of_left, mut of_right) = (Beforehand::default(), Beforehand::default());
    for condition in hard.iter().cloned() {
        let asked = match (sees(&condition, &join.left)?, sees(&condition, &join.right)?) {
            (_, false) => of_left.column(condition),
            (false, true) => of_right.column(condition),
            (true, true) => return Ok(Transformed::no(LogicalPlan::Join(join))),
        };
        plain.push(asked);
    }
    join.left = of_left.beside(join.left)?;
    join.right = of_right.beside(join.right)?;
    let (kind, constraint, nulls) = (join.join_type, join.join_constraint, join.null_equality);
    let joined = Join::try_new(join.left, join.right, join.on, conjunction(plain), kind, constraint, nulls, false)?;
    let plan = Arc::new(LogicalPlan::Join(joined));
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(columns, plan)?)))
}

/// Runs the right side, including the condition, for each row of the left.
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
        // Conditions on just the left row must not move below an aggregate either.
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
        guard: None,
        placeholders,
        outer: OuterValues::new(),
        schema: join.schema,
    };
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(node) }))
}

fn is_true(expression: &Expr) -> bool {
    matches!(expression, Expr::Literal(datafusion::scalar::ScalarValue::Boolean(Some(true)), _))
}

/// Rewrites a condition over both sides as one over the right side, whose outer row is the left one.
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
