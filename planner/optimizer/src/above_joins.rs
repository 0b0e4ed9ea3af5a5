//! Moves correlated subqueries in a derived table's select list above the joins of that table, so that they run only
//! for the remaining rows. PostgreSQL does the same when it merges both queries.
//!
//! ```text
//! Join(l, Projection(a, x AS b, Apply(t)))  =>  Projection(l, a, x AS b, Apply(Join(l, Projection(a, kept, t))))
//! ```
//!
//! `kept` are the columns that the subquery and the moved expressions read, under new names.

use super::correlated::subquery_of;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, TableReference};
use datafusion::logical_expr::{Expr, Extension, Join, JoinType, LogicalPlan, LogicalPlanBuilder};
use executor::apply::{ApplyKind, ApplyNode};
use executor::outer::next_number;
use executor::volatile::{calls, is_volatile, is_volatile_function};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Moves Applies above joins whose conditions do not depend on the columns they add.
pub fn above_joins(plan: LogicalPlan) -> Result<LogicalPlan> {
    let moved = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Join(join) => above_join(join),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(moved.data)
}

/// One side of a join without its Applies.
struct Side {
    plan: LogicalPlan,
    /// The Applies, innermost first. Their expressions are over the kept columns.
    applies: Vec<ApplyNode>,
    /// Expressions to evaluate above the join, by position in the side's output.
    computed: HashMap<usize, Expr>,
}

fn above_join(join: Join) -> Result<Transformed<LogicalPlan>> {
    let (of_left, of_right) = match join.join_type {
        JoinType::Inner => (true, true),
        JoinType::Left => (true, false),
        JoinType::Right => (false, true),
        _ => (false, false),
    };
    if join.null_aware || matches!(join.right.as_ref(), LogicalPlan::Subquery(_)) {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    let asked: HashSet<Column> = join
        .on
        .iter()
        .flat_map(|(left, right)| [left, right])
        .chain(&join.filter)
        .flat_map(|expr| expr.column_refs().into_iter().cloned())
        .collect();
    let left = if of_left { without_applies(&join.left, &asked)? } else { None };
    let right = if of_right { without_applies(&join.right, &asked)? } else { None };
    if left.is_none() && right.is_none() {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    let width = join.left.schema().fields().len();
    let columns = join.schema.columns();
    let whole =
        |plan: &Arc<LogicalPlan>| Side { plan: plan.as_ref().clone(), applies: Vec::new(), computed: HashMap::new() };
    let left = left.unwrap_or_else(|| whole(&join.left));
    let right = right.unwrap_or_else(|| whole(&join.right));
    let (kind, constraint, nulls) = (join.join_type, join.join_constraint, join.null_equality);
    let (inner, outer) = (Arc::new(left.plan), Arc::new(right.plan));
    let joined = Join::try_new(inner, outer, join.on, join.filter, kind, constraint, nulls, false)?;
    let mut plan = LogicalPlan::Join(joined);
    for apply in left.applies.into_iter().chain(right.applies) {
        plan = applied(apply, plan)?;
    }
    let (mut of_left, mut of_right) = (left.computed, right.computed);
    let list = columns.into_iter().enumerate().map(|(position, column)| {
        let computed = match position.checked_sub(width) {
            None => of_left.remove(&position),
            Some(position) => of_right.remove(&position),
        };
        match computed {
            Some(computed) => computed.alias_qualified(column.relation, column.name),
            None => Expr::Column(column),
        }
    });
    let list: Vec<Expr> = list.collect();
    Ok(Transformed::yes(LogicalPlanBuilder::from(plan).project(list)?.build()?))
}

/// The Apply over another input, which has the columns that it reads.
fn applied(apply: ApplyNode, input: LogicalPlan) -> Result<LogicalPlan> {
    let mut fields: Vec<_> =
        input.schema().iter().map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field))).collect();
    fields.extend(apply.schema.iter().last().map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field))));
    let schema = Arc::new(DFSchema::new_with_metadata(fields, input.schema().metadata().clone())?);
    Ok(LogicalPlan::Extension(Extension { node: Arc::new(ApplyNode { input, schema, ..apply }) }))
}

fn without_applies(side: &LogicalPlan, asked: &HashSet<Column>) -> Result<Option<Side>> {
    let mut alias: Option<TableReference> = None;
    let mut node = side;
    while let LogicalPlan::SubqueryAlias(named) = node {
        alias = alias.or_else(|| Some(named.alias.clone()));
        node = &named.input;
    }
    let LogicalPlan::Projection(projection) = node else { return Ok(None) };
    let mut applies: Vec<&ApplyNode> = Vec::new();
    let mut input = projection.input.as_ref();
    while let LogicalPlan::Extension(extension) = input
        && let Some(apply) = extension.node.as_any().downcast_ref::<ApplyNode>()
        && !matches!(apply.kind, ApplyKind::Lateral { .. })
        && !is_volatile(&apply.subquery)?
    {
        applies.push(apply);
        input = &apply.input;
    }
    let added: HashSet<Column> = applies.iter().filter_map(|apply| apply.schema.columns().pop()).collect();
    let is_computed = |expr: &Expr| expr.column_refs().into_iter().any(|column| added.contains(column));
    // A subquery left in an expression refers to columns by their names below.
    let nested = |expr: &Expr| expr.exists(|part| Ok(subquery_of(part).is_some()));
    for operand in applies.iter().filter_map(|apply| apply.operand.as_ref()) {
        if nested(operand)? {
            return Ok(None);
        }
    }
    let own = side.schema().columns();
    let mut moved = false;
    for (expr, column) in projection.expr.iter().zip(&own) {
        if is_computed(expr) {
            moved = true;
            if asked.contains(column) || calls(expr, is_volatile_function) || nested(expr)? {
                return Ok(None);
            }
        }
    }
    if !moved {
        return Ok(None);
    }
    let mut kept = Kept { alias: alias.clone(), added: added.clone(), columns: Vec::new() };
    let mut list = Vec::new();
    let mut computed = HashMap::new();
    for (position, expr) in projection.expr.iter().enumerate() {
        if is_computed(expr) {
            computed.insert(position, kept.over(expr.clone().unalias())?);
        } else {
            list.push(expr.clone());
        }
    }
    applies.reverse();
    let applies = applies.into_iter().map(|apply| {
        Ok(ApplyNode {
            columns: apply.columns.iter().map(|expr| kept.over(expr.clone())).collect::<Result<_>>()?,
            operand: apply.operand.clone().map(|expr| kept.over(expr)).transpose()?,
            guard: apply.guard.clone().map(|expr| kept.over(expr)).transpose()?,
            ..apply.clone()
        })
    });
    let applies = applies.collect::<Result<Vec<_>>>()?;
    list.extend(kept.columns.into_iter().map(|(column, name)| Expr::Column(column).alias(name)));
    let mut plan = LogicalPlanBuilder::from(input.clone()).project(list)?;
    if let Some(alias) = alias {
        plan = plan.alias(alias)?;
    }
    Ok(Some(Side { plan: plan.build()?, applies, computed }))
}

/// The columns from below that are read above, under new names.
struct Kept {
    /// The qualifier of these columns above.
    alias: Option<TableReference>,
    /// Columns that the Applies add. They keep their names.
    added: HashSet<Column>,
    columns: Vec<(Column, String)>,
}

impl Kept {
    /// Converts an expression for its place above the join.
    fn over(&mut self, expr: Expr) -> Result<Expr> {
        let over = expr.transform_up(|inner| {
            let column = match inner {
                Expr::Column(column) if !self.added.contains(&column) => column,
                other => return Ok(Transformed::no(other)),
            };
            let name = match self.columns.iter().find(|(known, _)| *known == column) {
                Some((_, name)) => name.clone(),
                None => {
                    let name = format!("__kept_{}", next_number());
                    self.columns.push((column, name.clone()));
                    name
                }
            };
            Ok(Transformed::yes(Expr::Column(Column::new(self.alias.clone(), name))))
        })?;
        Ok(over.data)
    }
}
