//! WITH: binds common table expressions.

use super::binder::{Binder, column};
use super::error_position::place_of_target;
use super::nullable::nullable;
use super::query::BoundQuery;
use super::recursion::{INVALID_RECURSION, check_recursion, in_order, mentions};
use super::scope::{Scope, ScopeColumn};
use super::volatile::is_volatile;
use super::writing_with::{no_returning, not_at_the_top, with_of};
use datafusion::common::tree_node::{TreeNodeRecursion, TreeNodeVisitor};
use datafusion::logical_expr::{ExprSchemable, Extension, LogicalPlan, LogicalPlanBuilder};
use executor::recursive_union::{Branch, NewRowsNode};
use executor::shared_rows::SharedRowsNode;
use sql_error::{Result, SqlError, state};
use std::borrow::Cow;
use std::ops::ControlFlow;
use syntax::ast::{self, QueryBody, SetOperation, SetOperator};
use syntax::visit::{Visit, Visitor};

/// The terms of a recursive query.
pub struct Terms<'t> {
    /// What gives the first rows.
    pub first: Cow<'t, QueryBody>,
    /// What gives the rows of each round.
    pub repeated: &'t QueryBody,
    /// Whether equal rows are kept.
    pub all: bool,
}

/// The visible WITH queries, innermost last.
#[derive(Default)]
pub struct CommonTables {
    tables: Vec<CommonTable>,
    /// Names that are not visible yet.
    later: Vec<String>,
}

struct CommonTable {
    name: String,
    plan: LogicalPlan,
    columns: Vec<ScopeColumn>,
    /// The statement part, if the query writes.
    part: Option<usize>,
    /// Whether it returns rows: a write without RETURNING does not.
    returns: bool,
}

impl Binder<'_> {
    /// Makes WITH queries visible. The answer is for [`Binder::leave_with`]. `top` says whether WITH belongs to the
    /// whole statement, where its queries may write.
    pub fn enter_with(&self, query: &ast::Query, parent: Option<&Scope<'_>>, top: bool) -> Result<usize> {
        self.enter(query.with.as_ref(), query, parent, top)
    }

    /// The same for the WITH of an INSERT, UPDATE, DELETE or MERGE.
    pub fn enter_with_of_write(&self, statement: &ast::Statement, top: bool) -> Result<usize> {
        self.enter(with_of(statement), statement, None, top)
    }

    fn enter(
        &self,
        with: Option<&ast::With>,
        whole: &impl Visit,
        parent: Option<&Scope<'_>>,
        top: bool,
    ) -> Result<usize> {
        let depth = self.with.borrow().tables.len();
        let Some(with) = with else { return Ok(depth) };
        let later = self.with.borrow().later.len();
        let bound = self.bind_with(whole, with, parent, top);
        self.with.borrow_mut().later.truncate(later);
        if bound.is_err() {
            self.leave_with(depth);
        }
        bound.map(|()| depth)
    }

    fn bind_with(&self, whole: &impl Visit, with: &ast::With, parent: Option<&Scope<'_>>, top: bool) -> Result<()> {
        let later = self.with.borrow().later.len();
        for (at, table) in with.queries.iter().enumerate() {
            let name = &table.name.value;
            if with.queries.iter().take(at).any(|other| other.name.value == *name) {
                let message = format!("WITH query name \"{name}\" specified more than once");
                return Err(self.at(SqlError::new(state::DUPLICATE_ALIAS, message), table.name.span));
            }
        }
        let order = match with.recursive {
            true => in_order(&with.queries).map_err(|(error, place)| self.at(error, place))?,
            false => with.queries.iter().collect(),
        };
        for (done, table) in order.iter().enumerate() {
            {
                let mut tables = self.with.borrow_mut();
                tables.later.truncate(later);
                tables.later.extend(order.iter().skip(done).map(|table| table.name.value.clone()));
            }
            self.bind_item(table, whole, with.recursive, parent, top)?;
        }
        Ok(())
    }

    /// Binds one query of WITH.
    fn bind_item(
        &self,
        written: &ast::CommonTable,
        whole: &impl Visit,
        recursive: bool,
        parent: Option<&Scope<'_>>,
        top: bool,
    ) -> Result<()> {
        let name = written.name.value.clone();
        let place = written.name.span;
        let recursive = recursive && mentions(&written.statement, &name);
        let carrying = written.search.is_some() || written.cycle.is_some();
        if !recursive && carrying {
            return Err(self.at(SqlError::syntax("WITH query is not recursive"), place));
        }
        let table = match carrying {
            true => {
                let terms = self.terms(&name, written)?;
                Cow::Owned(self.search_and_cycle(written, &terms, parent)?)
            }
            false => Cow::Borrowed(written),
        };
        let mut part = None;
        let mut bound = match table.statement.as_ref() {
            ast::Statement::Query(_) if recursive => self.recursive(&name, &table, parent)?,
            ast::Statement::Query(query) => self.query(query, parent)?,
            _ if !top => return Err(self.at(not_at_the_top(), place)),
            _ if recursive => {
                let message = format!("recursive query \"{name}\" must not contain data-modifying statements");
                return Err(self.at(SqlError::new(INVALID_RECURSION, message), place));
            }
            statement => {
                let (number, rows) = self.part(&table, statement)?;
                part = Some(number);
                let Some(rows) = rows else {
                    let plan = LogicalPlan::default();
                    let table = CommonTable { name, plan, columns: Vec::new(), part, returns: false };
                    self.with.borrow_mut().tables.push(table);
                    return Ok(());
                };
                rows
            }
        };
        self.check_names(&table, bound.columns.len())?;
        name_columns(&table, &mut bound.columns)?;
        // Volatile queries, and those declared MATERIALIZED, are evaluated once.
        let asked = table.materialized == Some(true);
        if part.is_none()
            && (asked || is_volatile(&bound.plan)?)
            && references(whole, &name) > 1
            && super::subquery::outer_columns(&bound.plan).is_empty()
        {
            let exact = self.exact(bound)?;
            bound = BoundQuery { plan: self.shared_rows(exact.plan), columns: exact.columns };
        }
        let BoundQuery { plan, columns } = bound;
        if is_too_large(&plan) {
            let message = "WITH queries name each other so often that the statement is too large to be planned";
            return Err(self.at(SqlError::new(state::STATEMENT_TOO_COMPLEX, message), place));
        }
        let table = CommonTable { name, plan, columns, part, returns: true };
        self.with.borrow_mut().tables.push(table);
        Ok(())
    }

    /// Checks that there are no more column names than columns. Errors: 42P10.
    fn check_names(&self, table: &ast::CommonTable, columns: usize) -> Result<()> {
        if table.columns.len() <= columns {
            return Ok(());
        }
        let message = format!(
            "WITH query \"{}\" has {columns} columns available but {} columns specified",
            table.name.value,
            table.columns.len()
        );
        Err(self.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, message), table.name.span))
    }

    /// A plan that runs once for all of its readers.
    fn shared_rows(&self, plan: LogicalPlan) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: std::sync::Arc::new(SharedRowsNode::new(plan, self.context.slots)) })
    }

    /// Adds to an error about a missing relation that a WITH query of that name is not visible here.
    pub fn explain_missing(&self, error: SqlError, name: &str) -> SqlError {
        if !self.with.borrow().later.iter().any(|later| later == name) {
            return error;
        }
        error
            .detail(format!(
                "There is a WITH item named \"{name}\", but it cannot be referenced from this part of the query."
            ))
            .hint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references.")
    }

    /// Hides WITH queries again, down to `depth`.
    pub fn leave_with(&self, depth: usize) {
        self.with.borrow_mut().tables.truncate(depth);
    }

    /// The plan of the WITH query with this name. It gets new column names, so that it can occur several times.
    pub fn common_table(&self, name: &str) -> Result<Option<BoundQuery>> {
        let with = self.with.borrow();
        let Some(table) = with.tables.iter().rev().find(|table| table.name == name) else { return Ok(None) };
        if !table.returns {
            return Err(no_returning(name));
        }
        if let Some(part) = table.part {
            self.note_read(part);
        }
        let mut exprs = Vec::new();
        let mut columns = Vec::new();
        for old in &table.columns {
            let new = self.unique("c");
            exprs.push(old.expr.clone().alias(&new));
            columns.push(ScopeColumn { expr: column(new), ..old.clone() });
        }
        let plan = LogicalPlanBuilder::from(table.plan.clone()).project(exprs)?.build()?;
        Ok(Some(BoundQuery { plan, columns }))
    }

    /// WITH RECURSIVE: evaluates the first branch, then repeatedly the second over the rows of the last round, until
    /// there are none. Both branches can see the query's own WITH.
    fn recursive(&self, name: &str, table: &ast::CommonTable, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        let terms = self.terms(name, table)?;
        let depth = self.enter_with_of_terms(table, parent)?;
        let bound = self.rounds(name, table, &terms, parent);
        self.leave_with(depth);
        bound
    }

    /// Makes the WITH of a recursive query itself visible to its branches.
    pub(super) fn enter_with_of_terms(&self, table: &ast::CommonTable, parent: Option<&Scope<'_>>) -> Result<usize> {
        self.enter(with_of(&table.statement), &table.statement, parent, false)
    }

    /// Both branches of a recursive query. Errors: 42P19, 0A000 for invalid forms.
    fn terms<'t>(&self, name: &str, table: &'t ast::CommonTable) -> Result<Terms<'t>> {
        let Some((query, set, (repeated, before))) = union_of(&table.statement) else {
            let message = format!(
                "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
            );
            return Err(self.at(SqlError::new(INVALID_RECURSION, message), table.name.span));
        };
        let first = match before {
            [only] => Cow::Borrowed(only),
            several => {
                let operators = set.operators.iter().take(several.len().saturating_sub(1)).copied().collect();
                let (operator, all) = (set.operator, set.all);
                Cow::Owned(QueryBody::Set(SetOperation { operator, all, arms: several.to_vec(), operators }))
            }
        };
        let aggregate = |name: &str| self.resolver.is_aggregate(name);
        check_recursion(name, query, (&*first, repeated), &aggregate)
            .map_err(|(error, place)| self.at(error, place))?;
        Ok(Terms { first, repeated, all: set.all })
    }

    fn rounds(
        &self,
        name: &str,
        table: &ast::CommonTable,
        terms: &Terms<'_>,
        parent: Option<&Scope<'_>>,
    ) -> Result<BoundQuery> {
        let (left, right, all) = (&*terms.first, terms.repeated, terms.all);
        let first = self.set_expr(left, parent)?;
        let first = self.settled(first)?;
        self.check_names(table, first.columns.len())?;
        // Both branches get the column names of the working table.
        let names: Vec<String> = first.columns.iter().map(|_| self.unique("r")).collect();
        let exprs: Vec<_> =
            first.columns.iter().zip(&names).map(|(column, name)| nullable(column.expr.clone()).alias(name)).collect();
        let start = LogicalPlanBuilder::from(first.plan).project(exprs)?.build()?;
        let working = self.unique("recursive_");
        let mut columns: Vec<ScopeColumn> = first
            .columns
            .iter()
            .zip(&names)
            .map(|(old, name)| ScopeColumn { expr: column(name), table_oid: 0, attnum: 0, ..old.clone() })
            .collect();
        name_columns(table, &mut columns)?;
        let schema = std::sync::Arc::new(start.schema().as_arrow().clone());
        let provider = datafusion::datasource::cte_worktable::CteWorkTable::new(&working, schema);
        let source = datafusion::datasource::provider_as_source(std::sync::Arc::new(provider));
        let scan = LogicalPlanBuilder::scan(working.as_str(), source, None)?;
        let exprs: Vec<_> = names
            .iter()
            .map(|name| {
                let column = datafusion::common::Column::new(Some(working.as_str()), name);
                datafusion::logical_expr::Expr::Column(column).alias(name)
            })
            .collect();
        let scan = scan.project(exprs)?.build()?;
        let depth = self.with.borrow().tables.len();
        let table = CommonTable { name: name.into(), plan: scan, columns: columns.clone(), part: None, returns: true };
        self.with.borrow_mut().tables.push(table);
        let second = self.set_expr(right, parent);
        self.leave_with(depth);
        let second = second?;
        if second.columns.len() != columns.len() {
            let message = "each UNION query must have the same number of columns".to_string();
            return Err(self.uneven_queries(message, right));
        }
        let mut exprs = Vec::new();
        for (at, ((of_second, of_first), internal)) in second.columns.iter().zip(&columns).zip(&names).enumerate() {
            let common = self.resolver.common_type("UNION", &[of_first.ty, of_second.ty]);
            let common = common.map_err(|error| self.at(error, place_of_target(right, at)))?;
            // If the modifiers differ, the common type has none.
            let overall = if of_second.ty == of_first.ty { of_first.ty } else { common.plain() };
            if overall != of_first.ty {
                let message = format!(
                    "recursive query \"{name}\" column {} has type {} in non-recursive term but type {} overall",
                    at + 1,
                    of_first.ty.format(),
                    overall.format()
                );
                let error = SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("Cast the output of the non-recursive term to the correct type.");
                return Err(self.at(error, place_of_target(left, at)));
            }
            let cast = self.coerce(of_second.typed(), of_first.ty)?;
            // A string literal carries its position, which the target column lacks.
            let placed = !cast.expr.metadata(second.plan.schema())?.is_empty();
            exprs.push(if placed { nullable(cast.expr) } else { cast.expr }.alias(internal));
        }
        let step = LogicalPlanBuilder::from(second.plan).project(exprs)?.build()?;
        let (start, step, distinct) =
            if all { (start, step, false) } else { self.new_rows(start, step, &columns, left)? };
        let plan = LogicalPlanBuilder::from(start).to_recursive_query(working, step, distinct)?.build()?;
        Ok(BoundQuery { plan, columns })
    }
}

impl Binder<'_> {
    /// The branches of a recursive UNION, and whether DataFusion compares their rows by bytes. If equal values may have
    /// different bytes, our own node compares keys.
    fn new_rows(
        &self,
        start: LogicalPlan,
        step: LogicalPlan,
        columns: &[ScopeColumn],
        written: &QueryBody,
    ) -> Result<(LogicalPlan, LogicalPlan, bool)> {
        let mut keys = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            let key = self.resolver.group_key(column.typed());
            keys.push(key.map_err(|error| self.at(error, place_of_target(written, at)))?);
        }
        if keys.iter().zip(columns).all(|(key, column)| *key == column.expr) {
            return Ok((start, step, true));
        }
        let start = NewRowsNode::over(start, keys.clone(), Branch::First);
        Ok((start, NewRowsNode::over(step, keys, Branch::Repeated), false))
    }
}

/// A query that is a UNION: itself, the operation, and its last arm with those before it. `None` for others.
#[allow(clippy::type_complexity)]
fn union_of(statement: &ast::Statement) -> Option<(&ast::Query, &SetOperation, (&QueryBody, &[QueryBody]))> {
    let ast::Statement::Query(query) = statement else { return None };
    let QueryBody::Set(set) = &query.body else { return None };
    let arms = set.arms.split_last().filter(|_| set.operator == SetOperator::Union)?;
    Some((query, set, arms))
}

/// Gives the columns of a query of WITH the names that are written for them.
fn name_columns(table: &ast::CommonTable, columns: &mut [ScopeColumn]) -> Result<()> {
    let names: Vec<&ast::Ident> = table.columns.iter().collect();
    super::from::rename_to(&table.name.value, columns, &names)
}

/// Number of times that a statement, including its WITH, names a table.
fn references(whole: &impl Visit, name: &str) -> usize {
    let mut references = References { name, count: 0 };
    let _ = whole.visit(&mut references);
    references.count
}

struct References<'n> {
    name: &'n str,
    count: usize,
}

impl Visitor for References<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ast::Name) -> ControlFlow<()> {
        self.count += usize::from(matches!(relation.parts.as_slice(), [ident] if ident.value == self.name));
        ControlFlow::Continue(())
    }
}

/// Whether a plan has more nodes than allowed or is too deep.
fn is_too_large(plan: &LogicalPlan) -> bool {
    let mut size = Size { nodes: 0, open: 0, deep: false };
    // The visitor cannot fail.
    let _ = plan.visit_with_subqueries(&mut size);
    size.nodes > Size::MOST || size.deep
}

/// Counts the nodes of a plan and its depth.
struct Size {
    nodes: usize,
    open: usize,
    deep: bool,
}

impl Size {
    /// Most nodes of a plan. Planning takes some tenths of a millisecond per node. A chain of n queries that each use
    /// the previous one twice has 2^n nodes.
    const MOST: usize = 10_000;
    /// Deepest plan. A chain of queries that each use the previous one is as deep as it is long. Recursive walks need
    /// stack in proportion.
    const DEEPEST: usize = 500;
}

impl<'n> TreeNodeVisitor<'n> for Size {
    type Node = LogicalPlan;

    fn f_down(&mut self, _: &'n LogicalPlan) -> datafusion::common::Result<TreeNodeRecursion> {
        self.nodes += 1;
        self.open += 1;
        self.deep |= self.open > Size::DEEPEST;
        let ends = self.nodes > Size::MOST || self.deep;
        Ok(if ends { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    }

    fn f_up(&mut self, _: &'n LogicalPlan) -> datafusion::common::Result<TreeNodeRecursion> {
        self.open -= 1;
        Ok(TreeNodeRecursion::Continue)
    }
}
