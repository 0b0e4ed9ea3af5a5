//! Binds whole queries: WITH, the body, ORDER BY, LIMIT, FOR UPDATE.

use super::BoundKind;
use super::binder::{Binder, column};
use super::clauses::check_query;
use super::deferred_projection;
use super::error_position::place_of;
use super::expression::{Clause, Env};
use super::order::plain_name;
use super::scope::{Scope, ScopeColumn};
use context::output_column::OutputColumn;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use syntax::ast::{self, LockStrength, QueryBody};
use types::SqlType;

/// A bound query: a plan and its columns in order, with the names that a client or an outer query sees.
#[derive(Clone, Debug)]
pub struct BoundQuery {
    /// The plan. Each of its column names is unique in the statement.
    pub plan: LogicalPlan,
    /// The columns of the query.
    pub columns: Vec<ScopeColumn>,
}

impl BoundQuery {
    /// The columns as a client sees them.
    pub fn output(&self) -> Vec<OutputColumn> {
        self.columns
            .iter()
            .map(|column| OutputColumn {
                name: column.name.clone(),
                ty: column.ty,
                table_oid: column.table_oid,
                attnum: column.attnum,
            })
            .collect()
    }
}

/// The clauses that follow the body of a query: ORDER BY, LIMIT and locks.
#[derive(Clone, Copy)]
pub struct Tail<'q> {
    /// The items of ORDER BY.
    pub order_by: &'q [ast::SortItem],
    /// The locking clauses (FOR UPDATE and similar).
    pub locks: &'q [ast::LockClause],
    /// Locking clauses of the outer query that also apply to this query's tables.
    pub pushed: &'q [LockStrength],
    /// FETCH FIRST … WITH TIES: whether the peers of the last row are returned too.
    pub ties: bool,
}

impl Tail<'_> {
    /// No clauses at all.
    const NONE: Tail<'static> = Tail { order_by: &[], locks: &[], pushed: &[], ties: false };
}

impl Binder<'_> {
    /// Binds a statement that is a query.
    pub fn query_statement(&self, query: &ast::Query) -> Result<BoundKind> {
        let bound = self.query_with_locks(query, None, true)?;
        let bound = self.settled(bound)?;
        let bound = self.exact(bound)?;
        let columns = bound.output();
        Ok(BoundKind::Query { plan: bound.plan, columns, locks: self.views_lock.get() })
    }

    /// Binds a query, nested or not.
    pub fn query(&self, query: &ast::Query, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        let bound = self.query_with_locks(query, parent, false)?;
        self.settled(bound)
    }

    /// Binds a query whose column types may stay unknown: the source of INSERT.
    pub fn open_query(&self, query: &ast::Query) -> Result<BoundQuery> {
        self.query_with_locks(query, None, false)
    }

    fn query_with_locks(&self, query: &ast::Query, parent: Option<&Scope<'_>>, top: bool) -> Result<BoundQuery> {
        syntax::deeper(|| {
            check_query(query)?;
            let pushed = self.take_pushed();
            let depth = self.enter_with(query, parent, top)?;
            let bound = self.query_body(query, parent, &pushed);
            self.leave_with(depth);
            bound
        })
    }

    fn query_body(
        &self,
        query: &ast::Query,
        parent: Option<&Scope<'_>>,
        pushed: &[LockStrength],
    ) -> Result<BoundQuery> {
        let ties = query.limit.as_ref().is_some_and(|limit| limit.with_ties);
        let null = |limit: &ast::Limit| limit.count.kind == ast::ExprKind::Literal(ast::Literal::Null);
        if ties && query.limit.as_ref().is_some_and(null) {
            let message = "row count cannot be null in FETCH FIRST ... WITH TIES clause";
            return Err(SqlError::new(state::INVALID_ROW_COUNT_IN_LIMIT, message));
        }
        let tail = Tail { order_by: &query.order_by, locks: &query.locks, pushed, ties };
        let bound = match &query.body {
            QueryBody::Select(select) => self.select(select, tail, parent)?,
            QueryBody::Table(relation, span) => {
                self.select(&ast::Select::whole_table(relation, *span), tail, parent)?
            }
            other => {
                let values = matches!(other, QueryBody::Values(..));
                let what =
                    if values { "cannot be applied to VALUES" } else { "is not allowed with UNION/INTERSECT/EXCEPT" };
                self.refuse_locks(tail.locks, what)?;
                // PostgreSQL locks nothing below a view with a set operation.
                if !values && self.depth == 0 {
                    self.refuse_pushed(pushed, what)?;
                }
                let bound = self.set_expr(other, parent)?;
                let names: Vec<String> = bound.columns.iter().map(|column| column.name.clone()).collect();
                self.order_output(bound, tail.order_by)
                    .map_err(|error| self.explain_output(error, other, tail.order_by, &names, parent))?
            }
        };
        let (limit, offset) = self.counts(query, parent)?;
        let locks = self.locks.take();
        if locks.is_empty() {
            return self.limited(bound, ties, limit, offset);
        }
        let (skip, fetch) = if ties { (None, None) } else { (offset.clone(), limit.clone()) };
        let bound = self.apply_locks(bound, locks, skip, fetch)?;
        let bound = self.limited(bound, ties, limit, offset)?;
        // Drop the row keys.
        let columns = bound.columns.iter().map(|column| column.expr.clone());
        Ok(BoundQuery { plan: LogicalPlanBuilder::from(bound.plan).project(columns)?.build()?, columns: bound.columns })
    }

    /// Adds a hint to an error about ORDER BY of a set operation: the query in it that has the named column.
    fn explain_output(
        &self,
        error: SqlError,
        body: &QueryBody,
        order_by: &[ast::SortItem],
        names: &[String],
        parent: Option<&Scope<'_>>,
    ) -> SqlError {
        let unknown = |item: &ast::SortItem| {
            plain_name(&item.value).map(|ident| ident.value.clone()).filter(|name| !names.contains(name))
        };
        let (Some(missing), QueryBody::Set(_)) = (order_by.iter().find_map(unknown), body) else { return error };
        if error.state() != state::UNDEFINED_COLUMN {
            return error;
        }
        let mut unseen = Vec::new();
        for (at, leaf) in set_leaves(body).into_iter().enumerate() {
            let Ok(bound) = self.set_expr(leaf, parent) else { return error };
            let columns = bound.columns.into_iter().map(|column| column.name);
            unseen.push(super::name_suggestions::Unseen::new(&format!("*SELECT* {}", at + 1), columns));
        }
        // The first query is searched first.
        unseen.reverse();
        let scope = Scope::empty(None);
        self.not_seeing(unseen.into_iter(), || self.explain_name(error, &scope, None, &missing))
    }

    /// Binds a query's body without the clauses that follow it.
    pub fn set_expr(&self, body: &QueryBody, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        syntax::deeper(|| match body {
            QueryBody::Select(select) => self.select(select, Tail::NONE, parent),
            QueryBody::Table(relation, span) => {
                self.select(&ast::Select::whole_table(relation, *span), Tail::NONE, parent)
            }
            QueryBody::Nested(query) => self.query_with_locks(query, parent, false),
            QueryBody::Set(set) => self.set_operation(set, parent),
            QueryBody::Values(rows, _) => self.values(rows, parent),
        })
    }

    /// Converts columns of unknown type to text.
    pub fn settled(&self, bound: BoundQuery) -> Result<BoundQuery> {
        if bound.columns.iter().all(|column| column.ty != SqlType::UNKNOWN) {
            return Ok(bound);
        }
        let types: Vec<SqlType> = bound
            .columns
            .iter()
            .map(|column| if column.ty == SqlType::UNKNOWN { SqlType::TEXT } else { column.ty })
            .collect();
        self.cast_columns(bound, &types)
    }

    /// Casts the columns of a query to types. Constants and parameters in its own select list are cast in place.
    pub fn cast_columns(&self, bound: BoundQuery, types: &[SqlType]) -> Result<BoundQuery> {
        if bound.columns.iter().zip(types).all(|(column, ty)| column.ty == *ty) {
            return Ok(bound);
        }
        let BoundQuery { plan, columns } = bound;
        // The expression of a column in the topmost projection, unless another node is between it and the names.
        let (input, known) = match plan {
            LogicalPlan::Projection(projection) if columns.iter().any(|column| column.ty == SqlType::UNKNOWN) => {
                (projection.input.as_ref().clone(), Some(projection.expr))
            }
            plan => (plan, None),
        };
        let mut exprs = Vec::new();
        let mut cast = Vec::new();
        for (at, (old, ty)) in columns.into_iter().zip(types).enumerate() {
            let expr = match &known {
                Some(exprs) => exprs.get(at).cloned().map(Expr::unalias).unwrap_or_else(|| old.expr.clone()),
                None => old.expr.clone(),
            };
            let typed = self.coerce(TypedExpr { expr, ty: old.ty }, *ty)?;
            let name = self.unique("c");
            exprs.push(typed.expr.alias(&name));
            let kept = old.ty == *ty;
            cast.push(ScopeColumn {
                expr: column(name),
                ty: *ty,
                table_oid: if kept { old.table_oid } else { 0 },
                attnum: if kept { old.attnum } else { 0 },
                reading: None,
                name: old.name,
            });
        }
        let plan = LogicalPlanBuilder::from(input).project(exprs)?.build()?;
        Ok(BoundQuery { plan, columns: cast })
    }

    /// Makes the plan's columns exactly those of the query, in order.
    pub fn exact(&self, bound: BoundQuery) -> Result<BoundQuery> {
        let same = bound.plan.schema().columns().len() == bound.columns.len()
            && bound
                .plan
                .schema()
                .columns()
                .into_iter()
                .zip(&bound.columns)
                .all(|(have, want)| Expr::Column(have) == want.expr);
        if same {
            return Ok(bound);
        }
        let BoundQuery { plan, columns } = bound;
        self.all_columns(plan, columns)
    }

    /// Projects columns under new names.
    pub fn all_columns(&self, plan: LogicalPlan, columns: Vec<ScopeColumn>) -> Result<BoundQuery> {
        let mut exprs = Vec::new();
        let mut renamed = Vec::new();
        for old in columns {
            let name = self.unique("c");
            exprs.push(old.read().expr.alias(&name));
            renamed.push(ScopeColumn { expr: column(name), reading: None, ..old });
        }
        Ok(BoundQuery { plan: LogicalPlanBuilder::from(plan).project(exprs)?.build()?, columns: renamed })
    }

    /// Binds LIMIT and OFFSET.
    fn counts(&self, query: &ast::Query, parent: Option<&Scope<'_>>) -> Result<(Option<Expr>, Option<Expr>)> {
        let limit = query.limit.as_ref().map(|limit| self.count(&limit.count, Clause::Limit, parent));
        let limit = limit.transpose()?.flatten();
        let offset = query.offset.as_ref().map(|offset| self.count(offset, Clause::Offset, parent));
        Ok((limit, offset.transpose()?.flatten()))
    }

    fn limited(&self, bound: BoundQuery, ties: bool, limit: Option<Expr>, offset: Option<Expr>) -> Result<BoundQuery> {
        if limit.is_none() && offset.is_none() {
            return Ok(bound);
        }
        let limited = |plan| match limit.clone() {
            Some(limit) if ties => self.with_ties(plan, offset.clone(), limit),
            limit => executor::limit::limit(plan, offset.clone(), limit),
        };
        let plan = match &offset {
            // PostgreSQL evaluates the rows that it skips.
            Some(offset) if !ties => limited(deferred_projection::skipping(
                bound.plan,
                deferred_projection::with_skipped(limit.as_ref(), offset),
            )?)?,
            _ => deferred_projection::limited(bound.plan, limited)?,
        };
        Ok(BoundQuery { plan, columns: bound.columns })
    }

    /// The number of LIMIT or OFFSET. `None` for NULL.
    fn count(&self, expr: &ast::Expr, clause: Clause, parent: Option<&Scope<'_>>) -> Result<Option<Expr>> {
        let scope = Scope::empty(parent);
        let typed = self.expr(expr, Env::new(&scope, clause)).map_err(|error| {
            if error.state() == state::UNDEFINED_COLUMN {
                let message = format!("argument of {} must not contain variables", clause.name());
                return self.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, message), place_of(expr));
            }
            error
        })?;
        let name = typed.ty.name();
        let number = self.resolver.cast(typed, SqlType::INT8, functions::CastContext::Assignment).map_err(|e| {
            if e.state() == state::DATATYPE_MISMATCH || e.state() == state::CANNOT_COERCE {
                let message = format!("argument of {} must be type bigint, not type {name}", clause.name());
                return self.at(SqlError::new(state::DATATYPE_MISMATCH, message), place_of(expr));
            }
            e
        })?;
        Ok(match number.expr {
            Expr::Literal(value, _) if value.is_null() => None,
            expr => Some(expr),
        })
    }
}

/// The queries of a set operation in order.
fn set_leaves(body: &QueryBody) -> Vec<&QueryBody> {
    let mut leaves = Vec::new();
    let mut open = vec![body];
    while let Some(body) = open.pop() {
        match body {
            QueryBody::Set(set) => open.extend(set.arms.iter().rev()),
            other => leaves.push(other),
        }
    }
    leaves
}
