//! LATERAL: subqueries and functions that can see the items on their left.

use super::binder::{Binder, column};
use super::expression::{Clause, Env};
use super::from::{Source, query_name};
use super::join::no_clash;
use super::row_function::is_row_function;
use super::scope::{Scope, ScopeColumn, ScopeRelation};
use super::table_arguments::{BoundFunction, TableFunction, table_function};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use executor::subquery::subquery_of;
use sql_error::{Result, SqlError};
use std::ops::ControlFlow;
use syntax::ast::{self, ExprKind, FromItem, QueryBody};
use syntax::visit::{Visit, Visitor};

impl Binder<'_> {
    /// Joins a lateral item to the items on its left.
    pub fn lateral<'p>(&self, left: Source<'p>, item: &FromItem, parent: Option<&'p Scope<'p>>) -> Result<Source<'p>> {
        if let Some(function) = table_function(item)? {
            let bound = self.table_function(&function, Env::new(&left.scope, Clause::FromFunction))?;
            return self.lateral_function(left, &function, bound, parent);
        }
        if let FromItem::Query { query, alias, .. } = item
            && let Some(items) = self.single_row(query)
        {
            return self.lateral_values(left, items, alias.as_ref());
        }
        let right = match item {
            FromItem::Join(_) => self.lateral_join(&left, item, parent)?,
            _ => self.lateral_subquery(&left, item, parent)?,
        };
        self.cross(left, right)
    }

    /// Binds a join with lateral items, to be joined to `left`.
    pub fn lateral_join<'p>(
        &self,
        left: &Source<'p>,
        item: &FromItem,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        self.clauses.borrow_mut().push(Clause::FromQuery);
        let bound = self.factor(item, Some(&left.scope));
        self.clauses.borrow_mut().pop();
        let Source { mut plan, scope } = bound?;
        if !super::subquery::outer_columns(&plan).is_empty() {
            plan = LogicalPlan::Subquery(super::subquery::subquery(plan));
        }
        let (schema, Scope { relations, visible, barred, .. }) = (Some(plan.schema().clone()), scope);
        let scope = Scope { relations, visible, schema, parent, barred, ..Scope::default() };
        Ok(Source { plan, scope })
    }

    /// `LATERAL (SELECT a, b)`: adds columns to the same rows.
    fn lateral_values<'p>(
        &self,
        left: Source<'p>,
        items: &[ast::Target],
        alias: Option<&ast::Alias>,
    ) -> Result<Source<'p>> {
        let items = self.items(items, Env::new(&left.scope, Clause::FromQuery))?;
        let mut exprs: Vec<Expr> = left.plan.schema().columns().into_iter().map(Expr::Column).collect();
        let mut columns = Vec::new();
        for item in items {
            let typed = self.settle(item.typed)?;
            let name = self.unique("c");
            exprs.push(typed.expr.alias(&name));
            columns.push(ScopeColumn {
                name: item.name,
                expr: column(name),
                ty: typed.ty,
                table_oid: 0,
                attnum: 0,
                reading: None,
            });
        }
        let name = query_name(alias)?;
        super::from::rename(&name, &mut columns, alias)?;
        let plan = LogicalPlanBuilder::from(left.plan).project(exprs)?.build()?;
        let mut scope = left.scope;
        let relation = ScopeRelation::of_columns(name, columns.clone());
        no_clash(&scope, std::slice::from_ref(&relation))?;
        scope.visible.extend(columns);
        scope.relations.push(relation);
        scope.schema = Some(plan.schema().clone());
        Ok(Source { plan, scope })
    }

    /// Binds a lateral subquery, to be joined to `left`.
    pub fn lateral_subquery<'p>(
        &self,
        left: &Source<'p>,
        item: &FromItem,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let FromItem::Query { query, alias, .. } = item else {
            return Err(SqlError::internal("a lateral item that is no query"));
        };
        let name = query_name(alias.as_ref())?;
        let mut bound = self.query_within(query, &left.scope, Clause::FromQuery)?;
        if !super::subquery::outer_columns(&bound.plan).is_empty() {
            bound.plan = LogicalPlan::Subquery(super::subquery::subquery(bound.plan));
        }
        self.derived(bound, &name, alias.as_ref(), parent)
    }

    /// Binds a function that sees the items on its left, to be joined to them.
    pub fn lateral_call<'p>(
        &self,
        left: &Source<'p>,
        item: &FromItem,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let function = table_function(item)?.ok_or_else(|| SqlError::internal("a lateral item that is no function"))?;
        let scope = Scope::empty(Some(&left.scope));
        self.clauses.borrow_mut().push(Clause::FromFunction);
        let bound = self.table_function(&function, Env::new(&scope, Clause::FromFunction));
        self.clauses.borrow_mut().pop();
        let plan = LogicalPlanBuilder::empty(true).build()?;
        let mut right = self.function_rows(plan, Vec::new(), &function, bound?, parent)?;
        if !super::subquery::outer_columns(&right.plan).is_empty() {
            right.plan = LogicalPlan::Subquery(super::subquery::subquery(right.plan));
        }
        Ok(right)
    }

    /// Joins a lateral function to the items on its left. Rows without function rows are kept.
    pub fn lateral_outer<'p>(
        &self,
        left: Source<'p>,
        item: &FromItem,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let function = table_function(item)?.ok_or_else(|| SqlError::internal("a lateral item that is no function"))?;
        let function = TableFunction { outer: true, ..function };
        let bound = self.table_function(&function, Env::new(&left.scope, Clause::FromFunction))?;
        self.lateral_function(left, &function, bound, parent)
    }

    fn lateral_function<'p>(
        &self,
        left: Source<'p>,
        function: &TableFunction<'_>,
        bound: BoundFunction,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let sees_left = |expr: &Expr| has_column(expr) || has_subquery_of_outside(expr);
        let depends = match &bound {
            BoundFunction::Rows(source) => source.expressions().into_iter().any(sees_left),
            BoundFunction::Value(typed) => sees_left(&typed.expr),
        };
        if !depends {
            let plan = LogicalPlanBuilder::empty(true).build()?;
            let right = self.function_rows(plan, Vec::new(), function, bound, parent)?;
            return self.cross(left, right);
        }
        let carried: Vec<Expr> = left.plan.schema().columns().into_iter().map(Expr::Column).collect();
        let right = self.function_rows(left.plan, carried, function, bound, parent)?;
        let mut scope = left.scope;
        no_clash(&scope, &right.scope.relations)?;
        scope.visible.extend(right.scope.visible);
        scope.relations.extend(right.scope.relations);
        scope.schema = Some(right.plan.schema().clone());
        Ok(Source { plan: right.plan, scope })
    }

    /// The select list of a query that always has one row and depends only on its expressions.
    pub fn single_row<'q>(&self, query: &'q ast::Query) -> Option<&'q [ast::Target]> {
        let items = one_row(query)?;
        let of_rows = |name: &str| self.resolver.is_aggregate(name) || is_row_function(name);
        let calls = |item: &&ast::Target| item.visit(&mut Calls { within: 0, of_rows: &of_rows }).is_break();
        items.iter().find(calls).is_none().then_some(items)
    }
}

/// Finds a call of an aggregate, window function or set-returning function. Subqueries are not searched.
struct Calls<'a> {
    within: usize,
    of_rows: &'a dyn Fn(&str) -> bool,
}

impl Visitor for Calls<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &ast::Query) -> ControlFlow<()> {
        self.within += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &ast::Query) -> ControlFlow<()> {
        self.within -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<()> {
        match &expr.kind {
            ExprKind::Call(call) if self.within == 0 => match call.name.parts.last() {
                Some(name) if call.over.is_none() && !(self.of_rows)(&name.value) => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            },
            _ => ControlFlow::Continue(()),
        }
    }
}

fn one_row(query: &ast::Query) -> Option<&[ast::Target]> {
    let QueryBody::Select(select) = &query.body else { return None };
    let plain = query.with.is_none()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
        && query.locks.is_empty()
        && query.as_of.is_none()
        && select.into.is_none()
        && select.from.is_empty()
        && select.filter.is_none()
        && select.having.is_none()
        && select.distinct.is_none()
        && select.group_by.is_none()
        && select.windows.is_empty();
    plain.then_some(select.targets.as_slice())
}

/// Whether an expression has a correlated subquery.
pub fn has_subquery_of_outside(expr: &Expr) -> bool {
    let sees = |inner: &Expr| subquery_of(inner).is_some_and(|subquery| !subquery.outer_ref_columns.is_empty());
    // The visitor cannot fail.
    expr.exists(|inner| Ok(sees(inner))).unwrap_or(true)
}

/// Whether an expression has columns of its own plan.
pub fn has_column(expr: &Expr) -> bool {
    let mut found = false;
    // The visitor cannot fail.
    let _ = expr.apply(|inner| {
        if matches!(inner, Expr::Column(_)) {
            found = true;
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found
}
