//! WITH: common table expressions.

use super::binder::{Binder, column};
use super::query::BoundQuery;
use super::scope::{Scope, ScopeColumn};
use super::writing_with::{no_returning, not_at_the_top, writing};
use crate::error::{Result, SqlError, state};
use crate::parse::fold;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use sqlparser::ast::{self, SetExpr};

/// The WITH queries in sight, innermost last.
#[derive(Default)]
pub struct CommonTables {
    tables: Vec<CommonTable>,
    /// Names that cannot be seen yet.
    later: Vec<String>,
}

struct CommonTable {
    name: String,
    plan: LogicalPlan,
    columns: Vec<ScopeColumn>,
    /// Whether it is computed anew wherever it is named, with another result: it may be named once.
    once: bool,
    used: bool,
    /// Which part of the statement it is, if it writes.
    part: Option<usize>,
    /// Whether it has rows: a write without RETURNING has none.
    returns: bool,
}

impl Binder<'_> {
    /// Brings WITH queries in sight; the answer is for [`Binder::leave_with`].
    /// `top`: whether it stands before the whole statement, where WITH queries may write.
    pub fn enter_with(&self, with: Option<&ast::With>, parent: Option<&Scope<'_>>, top: bool) -> Result<usize> {
        let depth = self.with.borrow().tables.len();
        let Some(with) = with else { return Ok(depth) };
        let later = self.with.borrow().later.len();
        let bound = self.bind_with(with, parent, depth, top);
        self.with.borrow_mut().later.truncate(later);
        if bound.is_err() {
            self.leave_with(depth);
        }
        bound.map(|()| depth)
    }

    fn bind_with(&self, with: &ast::With, parent: Option<&Scope<'_>>, depth: usize, top: bool) -> Result<()> {
        let later = self.with.borrow().later.len();
        for (at, table) in with.cte_tables.iter().enumerate() {
            let name = fold(&table.alias.name);
            {
                let mut tables = self.with.borrow_mut();
                tables.later.truncate(later);
                tables.later.extend(with.cte_tables.iter().skip(at).map(|table| fold(&table.alias.name)));
            }
            let twice = self.with.borrow().tables.iter().skip(depth).any(|other| other.name == name);
            if twice {
                let message = format!("WITH query name \"{name}\" specified more than once");
                return Err(SqlError::new(state::DUPLICATE_ALIAS, message));
            }
            let mut part = None;
            let mut bound = if let Some(statement) = writing(&table.query.body) {
                if !top {
                    return Err(self.at(not_at_the_top(), table.alias.name.span));
                }
                if with.recursive && mentions(&table.query, &name) {
                    let message = format!("recursive query \"{name}\" must not contain data-modifying statements");
                    return Err(self.at(SqlError::new("42P19", message), table.alias.name.span));
                }
                let (number, rows) = self.part(table, statement)?;
                part = Some(number);
                let Some(rows) = rows else {
                    let plan = LogicalPlan::default();
                    let table =
                        CommonTable { name, plan, columns: Vec::new(), once: false, used: false, part, returns: false };
                    self.with.borrow_mut().tables.push(table);
                    continue;
                };
                rows
            } else if with.recursive && mentions(&table.query, &name) {
                self.recursive(&name, table, parent)?
            } else {
                self.query(&table.query, parent)?
            };
            if table.alias.columns.len() > bound.columns.len() {
                let message = format!(
                    "WITH query \"{name}\" has {} columns available but {} columns specified",
                    bound.columns.len(),
                    table.alias.columns.len()
                );
                return Err(SqlError::new(state::INVALID_COLUMN_REFERENCE, message));
            }
            super::from::rename(&name, &mut bound.columns, Some(&table.alias))?;
            let once = is_volatile(&bound.plan)?;
            let BoundQuery { plan, columns } = bound;
            let table = CommonTable { name, plan, columns, once, used: false, part, returns: true };
            self.with.borrow_mut().tables.push(table);
        }
        Ok(())
    }

    /// Says of a relation that is not there that a WITH query has its name and cannot be seen from here.
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

    /// Puts WITH queries out of sight again.
    pub fn leave_with(&self, depth: usize) {
        self.with.borrow_mut().tables.truncate(depth);
    }

    /// The WITH query with this name: its plan, with column names of its own, so that it can stand in several places.
    pub fn common_table(&self, name: &str) -> Result<Option<BoundQuery>> {
        let mut with = self.with.borrow_mut();
        let Some(table) = with.tables.iter_mut().rev().find(|table| table.name == name) else { return Ok(None) };
        if table.once && table.used {
            return Err(SqlError::unsupported("a WITH query of a volatile function that is used several times"));
        }
        if !table.returns {
            return Err(no_returning(name));
        }
        if let Some(part) = table.part {
            self.note_read(part);
        }
        table.used = true;
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

    /// WITH RECURSIVE: the first branch, then the second over what the last round gave, until nothing new comes.
    fn recursive(&self, name: &str, table: &ast::Cte, parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        let shape = || {
            let message = format!(
                "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
            );
            SqlError::new("42P19", message)
        };
        let SetExpr::SetOperation { op: ast::SetOperator::Union, set_quantifier, left, right } =
            table.query.body.as_ref()
        else {
            return Err(shape());
        };
        if table.query.order_by.is_some() || table.query.limit_clause.is_some() {
            return Err(SqlError::unsupported("ORDER BY or LIMIT in a recursive query"));
        }
        let all = *set_quantifier == ast::SetQuantifier::All;
        let first = self.set_expr(left, parent)?;
        let first = self.settled(first)?;
        // Both branches get the names under which the working table is read.
        let names: Vec<String> = first.columns.iter().map(|_| self.unique("r")).collect();
        let exprs: Vec<_> =
            first.columns.iter().zip(&names).map(|(column, name)| column.expr.clone().alias(name)).collect();
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
        let table = CommonTable {
            name: name.into(),
            plan: scan,
            columns: columns.clone(),
            once: false,
            used: false,
            part: None,
            returns: true,
        };
        self.with.borrow_mut().tables.push(table);
        let second = self.set_expr(right, parent);
        self.leave_with(depth);
        let second = second?;
        if second.columns.len() != columns.len() {
            return Err(SqlError::syntax("each UNION query must have the same number of columns"));
        }
        let mut exprs = Vec::new();
        for (at, ((of_second, of_first), internal)) in second.columns.iter().zip(&columns).zip(&names).enumerate() {
            let overall = self.resolver.common_type("UNION", &[of_first.ty, of_second.ty])?;
            if overall.base != of_first.ty.base || overall.array != of_first.ty.array {
                let message = format!(
                    "recursive query \"{name}\" column {} has type {} in non-recursive term but type {} overall",
                    at + 1,
                    of_first.ty.name(),
                    overall.name()
                );
                return Err(SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("Cast the output of the non-recursive term to the correct type."));
            }
            let cast = self.coerce(of_second.typed(), of_first.ty)?;
            exprs.push(cast.expr.alias(internal));
        }
        let step = LogicalPlanBuilder::from(second.plan).project(exprs)?.build()?;
        let plan = LogicalPlanBuilder::from(start).to_recursive_query(working, step, !all)?.build()?;
        Ok(BoundQuery { plan, columns })
    }
}

/// Whether a query names a table.
fn mentions(query: &ast::Query, name: &str) -> bool {
    let flow = ast::visit_relations(query, |relation| match relation.0.as_slice() {
        [ast::ObjectNamePart::Identifier(ident)] if fold(ident) == name => std::ops::ControlFlow::Break(()),
        _ => std::ops::ControlFlow::Continue(()),
    });
    flow.is_break()
}

/// Whether a plan calls a function whose result differs from call to call.
fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    const NAMES: [&str; 6] = ["nextval", "setval", "random", "gen_random_uuid", "clock_timestamp", "timeofday"];
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found |= expr.exists(|part| match part {
                Expr::ScalarFunction(function) => Ok(NAMES.contains(&function.func.name())),
                _ => Ok(false),
            })?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}
