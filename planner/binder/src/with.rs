//! WITH: binds common table expressions.

use super::binder::{Binder, column};
use super::error_position::place_of_target;
use super::nullable::nullable;
use super::query::BoundQuery;
use super::recursion::{INVALID_RECURSION, check_recursion, in_order, mentions};
use super::scope::{Scope, ScopeColumn};
use super::volatile::is_volatile;
use super::writing_with::{no_returning, not_at_the_top, writing};
use datafusion::common::tree_node::{TreeNodeRecursion, TreeNodeVisitor};
use datafusion::logical_expr::{ExprSchemable, Extension, LogicalPlan, LogicalPlanBuilder};
use executor::recursive_union::{Branch, NewRowsNode};
use executor::shared_rows::SharedRowsNode;
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, SetExpr};
use sqlparser::tokenizer::Span;
use syntax::{CYCLE, SEARCH, fold};

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
        let depth = self.with.borrow().tables.len();
        let Some(with) = &query.with else { return Ok(depth) };
        let later = self.with.borrow().later.len();
        let bound = self.bind_with(query, with, parent, top);
        self.with.borrow_mut().later.truncate(later);
        if bound.is_err() {
            self.leave_with(depth);
        }
        bound.map(|()| depth)
    }

    fn bind_with(&self, query: &ast::Query, with: &ast::With, parent: Option<&Scope<'_>>, top: bool) -> Result<()> {
        let later = self.with.borrow().later.len();
        let items = items_of(with);
        let names: Vec<(String, &ast::Query)> =
            items.iter().map(|item| (fold(&item.table.alias.name), item.table.query.as_ref())).collect();
        for (at, (name, _)) in names.iter().enumerate() {
            if names.iter().take(at).any(|(other, _)| other == name) {
                let message = format!("WITH query name \"{name}\" specified more than once");
                let place = items.get(at).map_or_else(Span::empty, |item| item.table.alias.name.span);
                return Err(self.at(SqlError::new(state::DUPLICATE_ALIAS, message), place));
            }
        }
        let place_of = |at: usize| items.get(at).map_or_else(Span::empty, |item| item.table.alias.name.span);
        let order = match with.recursive {
            true => in_order(&names).map_err(|(error, at)| self.at(error, place_of(at)))?,
            false => (0..items.len()).collect(),
        };
        for (done, place) in order.iter().enumerate() {
            let Some(item) = items.get(*place) else { continue };
            {
                let mut tables = self.with.borrow_mut();
                tables.later.truncate(later);
                let rest = order.iter().skip(done).filter_map(|place| names.get(*place));
                tables.later.extend(rest.map(|(name, _)| name.clone()));
            }
            self.bind_item(item, query, with.recursive, parent, top)?;
        }
        Ok(())
    }

    /// Binds one query of WITH.
    fn bind_item(
        &self,
        item: &Item<'_>,
        whole: &ast::Query,
        recursive: bool,
        parent: Option<&Scope<'_>>,
        top: bool,
    ) -> Result<()> {
        let name = self.at_name(&item.table.alias.name)?;
        let recursive = recursive && mentions(item.table.query.as_ref(), &name);
        let carrying = item.search.is_some() || item.cycle.is_some();
        if !recursive && carrying {
            return Err(self.at(SqlError::syntax("WITH query is not recursive"), item.table.alias.name.span));
        }
        let rewritten = match carrying {
            true => {
                self.terms(&name, item.table)?;
                Some(self.search_and_cycle(item, &name, parent)?)
            }
            false => None,
        };
        let table = rewritten.as_ref().unwrap_or(item.table);
        let mut part = None;
        let mut bound = if let Some(statement) = writing(&table.query.body) {
            if !top {
                return Err(self.at(not_at_the_top(), table.alias.name.span));
            }
            if recursive {
                let message = format!("recursive query \"{name}\" must not contain data-modifying statements");
                return Err(self.at(SqlError::new(INVALID_RECURSION, message), table.alias.name.span));
            }
            let (number, rows) = self.part(table, statement)?;
            part = Some(number);
            let Some(rows) = rows else {
                let plan = LogicalPlan::default();
                let table = CommonTable { name, plan, columns: Vec::new(), part, returns: false };
                self.with.borrow_mut().tables.push(table);
                return Ok(());
            };
            rows
        } else if recursive {
            self.recursive(&name, table, parent)?
        } else {
            self.query(&table.query, parent)?
        };
        self.check_names(&name, &table.alias, bound.columns.len())?;
        super::from::rename(&name, &mut bound.columns, Some(&table.alias))?;
        // Volatile queries, and those declared MATERIALIZED, are evaluated once.
        let asked = table.materialized == Some(ast::CteAsMaterialized::Materialized);
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
            return Err(self.at(SqlError::new(state::STATEMENT_TOO_COMPLEX, message), item.table.alias.name.span));
        }
        let table = CommonTable { name, plan, columns, part, returns: true };
        self.with.borrow_mut().tables.push(table);
        Ok(())
    }

    /// Checks that there are no more column names than columns. Errors: 42P10.
    fn check_names(&self, name: &str, alias: &ast::TableAlias, columns: usize) -> Result<()> {
        if alias.columns.len() <= columns {
            return Ok(());
        }
        let message = format!(
            "WITH query \"{name}\" has {columns} columns available but {} columns specified",
            alias.columns.len()
        );
        Err(self.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, message), alias.name.span))
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
    fn recursive(&self, name: &str, table: &ast::Cte, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        self.terms(name, table)?;
        let depth = self.enter_with(&table.query, parent, false)?;
        let bound = self.rounds(name, table, parent);
        self.leave_with(depth);
        bound
    }

    /// Both branches of a recursive query. Errors: 42P19, 0A000 for invalid forms.
    fn terms<'t>(&self, name: &str, table: &'t ast::Cte) -> Result<(&'t SetExpr, &'t SetExpr, ast::SetQuantifier)> {
        let SetExpr::SetOperation { op: ast::SetOperator::Union, set_quantifier, left, right } =
            table.query.body.as_ref()
        else {
            let message = format!(
                "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
            );
            return Err(self.at(SqlError::new(INVALID_RECURSION, message), table.alias.name.span));
        };
        let aggregate = |name: &str| self.resolver.is_aggregate(name);
        check_recursion(name, &table.query, (left, right), &aggregate)
            .map_err(|(error, place)| self.at(error, place))?;
        Ok((left, right, *set_quantifier))
    }

    fn rounds(&self, name: &str, table: &ast::Cte, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        let (left, right, set_quantifier) = self.terms(name, table)?;
        let all = set_quantifier == ast::SetQuantifier::All;
        let first = self.set_expr(left, parent)?;
        let first = self.settled(first)?;
        self.check_names(name, &table.alias, first.columns.len())?;
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
        super::from::rename(name, &mut columns, Some(&table.alias))?;
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
        written: &SetExpr,
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

/// A query of WITH with its SEARCH and CYCLE clauses.
pub struct Item<'w> {
    /// The WITH query itself.
    pub table: &'w ast::Cte,
    /// The SEARCH clause, if any.
    pub search: Option<&'w ast::Cte>,
    /// The CYCLE clause, if any.
    pub cycle: Option<&'w ast::Cte>,
}

/// The queries of WITH. The parser puts SEARCH and CYCLE clauses behind their query.
fn items_of(with: &ast::With) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    for table in &with.cte_tables {
        let ident = &table.alias.name;
        let marker = ident.value.as_str();
        match (items.last_mut(), ident.quote_style.is_none()) {
            (Some(item), true) if marker == SEARCH => item.search = Some(table),
            (Some(item), true) if marker == CYCLE => item.cycle = Some(table),
            _ => items.push(Item { table, search: None, cycle: None }),
        }
    }
    items
}

/// Number of times that a query, including its WITH, names a table.
fn references(query: &ast::Query, name: &str) -> usize {
    let mut count = 0;
    let _ = ast::visit_relations(query, |relation| {
        if let [ast::ObjectNamePart::Identifier(ident)] = relation.0.as_slice() {
            count += usize::from(fold(ident) == name);
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    count
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
