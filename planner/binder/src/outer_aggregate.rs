//! Aggregates in subqueries that belong to an outer query, because all columns of their arguments do. The subquery's
//! plan contains such a call, over outer columns, until the outer query is grouped. A call without columns gets a
//! filter that marks it.

use super::binder::Binder;
use super::expression::{Clause, Env};
use super::query::BoundQuery;
use super::scope::{Scope, outer_references};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use executor::subquery::subquery_of;
use functions::TypedExpr;
use sql_error::{Result, SqlError};
use syntax::ast;

/// The filter that marks an aggregate without columns as belonging to the outer query.
fn mark() -> Expr {
    let field = std::sync::Arc::new(Field::new("of the query around", DataType::Boolean, true));
    Expr::Placeholder(Placeholder::new_with_field("$&of the query around".into(), Some(field)))
}

/// Marks a call without columns for the plan of a subquery.
pub fn marked(call: Expr) -> Expr {
    let Expr::AggregateFunction(mut call) = call else { return call };
    call.params.filter = Some(Box::new(match call.params.filter {
        Some(filter) => mark().and(*filter),
        None => mark(),
    }));
    Expr::AggregateFunction(call)
}

/// The original call of a marked one. `None` for other expressions.
fn unmarked(expr: &Expr) -> Option<Expr> {
    let Expr::AggregateFunction(call) = expr else { return None };
    let filter = match call.params.filter.as_deref()? {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) if **left == mark() => Some(right.clone()),
        filter if *filter == mark() => None,
        _ => return None,
    };
    let mut call = call.clone();
    call.params.filter = filter;
    Some(Expr::AggregateFunction(call))
}

/// The left operand of a subquery comparison, for the subquery's plan. Its columns and aggregates belong to the outer
/// query.
pub fn seen_from_within(operand: Expr, schema: Option<&DFSchema>) -> Result<Expr> {
    let has_column = |call: &Expr| {
        call.exists(|part| {
            let outer = subquery_of(part).is_some_and(|subquery| !subquery.outer_ref_columns.is_empty());
            Ok(outer || matches!(part, Expr::Column(_) | Expr::OuterReferenceColumn(..)))
        })
    };
    let own = operand.transform_down(|inner| match inner {
        Expr::AggregateFunction(_) if !has_column(&inner)? => {
            Ok(Transformed::new(marked(inner), true, TreeNodeRecursion::Jump))
        }
        Expr::AggregateFunction(_) => Ok(Transformed::new(inner, false, TreeNodeRecursion::Jump)),
        other => Ok(Transformed::no(other)),
    })?;
    outer_references(own.data, schema)
}

impl Binder<'_> {
    /// Binds a query within an expression.
    pub fn inner_query(&self, query: &ast::Query, env: Env<'_>) -> Result<BoundQuery> {
        self.query_within(query, env.scope, env.clause)
    }

    /// Binds a query in `clause` that can see `scope`.
    pub fn query_within(&self, query: &ast::Query, scope: &Scope<'_>, clause: Clause) -> Result<BoundQuery> {
        self.clauses.borrow_mut().push(clause);
        let bound = self.query(query, Some(scope));
        self.clauses.borrow_mut().pop();
        bound
    }

    /// Checks an aggregate and prepares it for the plan. Errors: 42803 if the query it belongs to does not allow it
    /// here.
    pub fn placed_aggregate(&self, typed: TypedExpr, env: Env<'_>) -> Result<TypedExpr> {
        let out = subqueries_of(&typed.expr, env.scope);
        let depth = out.unwrap_or_else(|| outer_depth(&typed.expr, env.scope));
        self.aggregate_allowed(depth, env, "aggregate functions")?;
        // Its columns are in subqueries, which hides their owner.
        let expr = if out.is_some() { marked(typed.expr) } else { typed.expr };
        Ok(TypedExpr { expr, ty: typed.ty })
    }

    fn aggregate_allowed(&self, depth: usize, env: Env<'_>, what: &str) -> Result<()> {
        if depth == 0 {
            return super::call::grouped_call_allowed(env.clause, what);
        }
        let clauses = self.clauses.borrow();
        match clauses.len().checked_sub(depth).and_then(|at| clauses.get(at)) {
            Some(clause) => super::call::grouped_call_allowed(*clause, what),
            None => Err(SqlError::internal("a query without the one around it")),
        }
    }
}

/// The number of levels up to the query that an aggregate belongs to; 0 is its own query.
fn outer_depth(expr: &Expr, scope: &Scope<'_>) -> usize {
    let mut nearest = None;
    let mut own = false;
    // The visitor cannot fail.
    let _ = expr.apply(|inner| {
        match inner {
            Expr::AggregateFunction(_) => own |= !is_outer(inner),
            Expr::OuterReferenceColumn(_, column) => {
                let depth = depth_of(column, scope);
                nearest = Some(nearest.map_or(depth, |nearest: usize| nearest.min(depth)));
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    });
    if own { 0 } else { nearest.unwrap_or(0) }
}

/// The number of levels up to the query that an outer column belongs to.
fn depth_of(column: &Column, scope: &Scope<'_>) -> usize {
    let (mut around, mut depth) = (scope.parent, 1);
    while let Some(here) = around {
        if here.schema.as_ref().is_some_and(|schema| schema.has_column(column)) {
            break;
        }
        around = here.parent;
        depth += 1;
    }
    depth
}

/// For an aggregate with subqueries whose columns all belong to outer queries: the number of levels to the nearest.
fn subqueries_of(expr: &Expr, scope: &Scope<'_>) -> Option<usize> {
    let (mut own, mut within, mut nearest) = (false, false, None);
    let is_own = |column: &Column| scope.schema.as_ref().is_some_and(|schema| schema.has_column(column));
    let mut look = |column: &Expr| match column {
        Expr::OuterReferenceColumn(_, column) if !is_own(column) => {
            let depth = depth_of(column, scope);
            nearest = Some(nearest.map_or(depth, |nearest: usize| nearest.min(depth)));
            false
        }
        _ => true,
    };
    // The visitor cannot fail.
    let _ = expr.apply(|inner| {
        if matches!(inner, Expr::Column(_) | Expr::OuterReferenceColumn(..)) {
            own |= look(inner);
        }
        if let Some(subquery) = subquery_of(inner) {
            within = true;
            for column in &subquery.outer_ref_columns {
                own |= look(column);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    });
    nearest.filter(|_| within && !own)
}

/// Whether an aggregate belongs to an outer query.
pub fn is_outer(call: &Expr) -> bool {
    if unmarked(call).is_some() {
        return true;
    }
    let (mut outer, mut own) = (false, false);
    // The visitor cannot fail.
    let _ = call.apply(|inner| {
        outer |= matches!(inner, Expr::OuterReferenceColumn(..));
        own |= matches!(inner, Expr::Column(_)) || subquery_of(inner).is_some();
        Ok(TreeNodeRecursion::Continue)
    });
    outer && !own
}

/// Collects the aggregates in an expression's subqueries that belong to a query with these rows, as calls over its
/// columns.
pub fn claimed(expr: &Expr, rows: &DFSchema, found: &mut Vec<Expr>) -> Result<()> {
    expr.apply(|inner| {
        let Some(subquery) = subquery_of(inner) else { return Ok(TreeNodeRecursion::Continue) };
        subquery.subquery.apply_with_subqueries(|node| {
            node.apply_expressions(|part| {
                part.apply(|call| {
                    if let Some(call) = unmarked(call) {
                        if !is_of(&call, rows)? {
                            return Ok(TreeNodeRecursion::Jump);
                        }
                        let call = as_own(call, rows)?;
                        if !found.contains(&call) {
                            found.push(call);
                        }
                        return Ok(TreeNodeRecursion::Jump);
                    }
                    if matches!(call, Expr::AggregateFunction(_)) && is_outer(call) {
                        let own = as_own(call.clone(), rows)?;
                        if own != *call && !found.contains(&own) {
                            found.push(own);
                        }
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
            })
        })?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// Whether an aggregate may belong to a query with these rows: one of its outer columns does, or it has no columns.
fn is_of(call: &Expr, rows: &DFSchema) -> datafusion::common::Result<bool> {
    let (mut some, mut own) = (false, false);
    let mut look = |part: &Expr| {
        if let Expr::OuterReferenceColumn(_, column) = part {
            some = true;
            own |= rows.has_column(column);
        }
    };
    call.apply(|part| {
        look(part);
        if let Some(subquery) = subquery_of(part) {
            subquery.outer_ref_columns.iter().for_each(&mut look);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(own || !some)
}

fn as_own(call: Expr, rows: &DFSchema) -> datafusion::common::Result<Expr> {
    let own = call.transform_up(|inner| match inner {
        Expr::OuterReferenceColumn(_, column) if rows.has_column(&column) => Ok(Transformed::yes(Expr::Column(column))),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(own.data)
}
