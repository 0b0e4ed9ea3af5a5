//! Binds ORDER BY and its items.

use super::binder::Binder;
use super::error_position::written_place;
use super::expression::{Clause, Env};
use super::query::BoundQuery;
use super::scope::{Scope, ScopeColumn};
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::logical_expr::expr::Sort;
use sql_error::{Result, SqlError, state};
use syntax::ast::{self, SortDirection};
use types::SqlType;

/// The meaning of an ORDER BY item.
pub enum OrderTarget {
    /// The output column at a position.
    Output(usize),
    /// An expression over the rows that the query reads.
    Expression,
}

impl Binder<'_> {
    /// Whether it ascends and whether NULLs come first. By default, NULLs are last when ascending and first when
    /// descending.
    pub fn direction(&self, item: &ast::SortItem) -> Result<(bool, bool)> {
        let ascending = match &item.direction {
            None | Some(SortDirection::Ascending) => true,
            Some(SortDirection::Descending) => false,
            Some(SortDirection::Using(operator)) => match operator.sign.as_str() {
                "<" if is_of_catalog(operator) => true,
                ">" if is_of_catalog(operator) => false,
                other => {
                    let message = format!("operator {other} is not a valid ordering operator");
                    let error = SqlError::new(state::WRONG_OBJECT_TYPE, message)
                        .hint("Ordering operators must be \"<\" or \">\" members of btree operator families.");
                    return Err(self.at(error, operator.span));
                }
            },
        };
        Ok((ascending, item.nulls_first.unwrap_or(!ascending)))
    }

    /// Binds an ORDER BY item that can only be an expression, as in aggregates and windows.
    pub fn sort_item(&self, item: &ast::SortItem, env: Env<'_>) -> Result<Sort> {
        Ok(self.typed_sort_item(item, env)?.0)
    }

    /// Like [`Binder::sort_item`], with the type of the key.
    pub fn typed_sort_item(&self, item: &ast::SortItem, env: Env<'_>) -> Result<(Sort, SqlType)> {
        let (asc, nulls_first) = self.direction(item)?;
        let typed = self.settled_expr(&item.value, env)?;
        let ty = typed.ty;
        let expr = self.resolver.sort_key(typed).map_err(|error| self.at(error, written_place(&item.value)))?;
        Ok((Sort { expr, asc, nulls_first }, ty))
    }

    /// The meaning of an item in a query's ORDER BY or GROUP BY: a number, an output name, or an expression.
    pub fn order_target(&self, expr: &ast::Expr, outputs: &[String], clause: &str) -> Result<OrderTarget> {
        let Some(number) = ordinal(expr, clause).map_err(|error| self.at(error, expr.span))? else {
            return Ok(OrderTarget::Expression);
        };
        match usize::try_from(number).ok().and_then(|place| place.checked_sub(1)).filter(|at| *at < outputs.len()) {
            Some(at) => Ok(OrderTarget::Output(at)),
            None => {
                let message = format!("{clause} position {number} is not in select list");
                Err(self.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, message), expr.span))
            }
        }
    }

    /// ORDER BY of a set operation or VALUES, which allows only numbers and names of the output.
    pub fn order_output(&self, bound: BoundQuery, order_by: &[ast::SortItem]) -> Result<BoundQuery> {
        if order_by.is_empty() {
            return Ok(bound);
        }
        let bound = self.settled(bound)?;
        let names: Vec<String> = bound.columns.iter().map(|column| column.name.clone()).collect();
        let mut sorts = Vec::new();
        for item in order_by {
            let column = match self.order_target(&item.value, &names, "ORDER BY")? {
                OrderTarget::Output(place) => bound.columns.get(place),
                OrderTarget::Expression => match plain_name(&item.value) {
                    Some(ident) => {
                        let column = self.output_named(&bound.columns, &ident.value);
                        let column = column.map_err(|error| self.at(error, ident.span))?;
                        if column.is_none() {
                            let message = format!("column \"{}\" does not exist", ident.value);
                            return Err(self.at(SqlError::new(state::UNDEFINED_COLUMN, message), ident.span));
                        }
                        column
                    }
                    None => {
                        // The item's own errors come first. It can see only the output.
                        let schema = bound.plan.schema().clone();
                        let scope =
                            Scope { visible: bound.columns.clone(), schema: Some(schema), ..Scope::empty(None) };
                        self.expr(&item.value, Env::new(&scope, Clause::OrderBy))?;
                        return Err(self.at(self.invalid_set_order(), written_place(&item.value)));
                    }
                },
            };
            let Some(column) = column else { return Err(SqlError::internal("an output column is missing")) };
            let (asc, nulls_first) = self.direction(item)?;
            let expr =
                self.resolver.sort_key(column.typed()).map_err(|error| self.at(error, written_place(&item.value)))?;
            sorts.push(Sort { expr, asc, nulls_first });
        }
        let plan = LogicalPlanBuilder::from(bound.plan).sort(sorts)?.build()?;
        Ok(BoundQuery { plan, columns: bound.columns })
    }

    /// The output column with this name. Errors: 42702 if several differing columns have it.
    pub fn output_named<'c>(&self, columns: &'c [ScopeColumn], name: &str) -> Result<Option<&'c ScopeColumn>> {
        let mut found = columns.iter().filter(|column| column.name == name);
        let first = found.next();
        if first.is_some() && found.any(|other| Some(&other.expr) != first.map(|column| &column.expr)) {
            return Err(SqlError::new(state::AMBIGUOUS_COLUMN, format!("ORDER BY \"{name}\" is ambiguous")));
        }
        Ok(first)
    }
}

/// The name of an item that is only a name.
pub fn plain_name(expr: &ast::Expr) -> Option<&ast::Ident> {
    match &expr.kind {
        ast::ExprKind::Column(names) => match names.as_slice() {
            [name] => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an operator can be one of the catalog: its name has no schema, or that schema.
fn is_of_catalog(operator: &ast::Operator) -> bool {
    match operator.schema.as_slice() {
        [] => true,
        [schema] => schema.value == "pg_catalog",
        _ => false,
    }
}

/// The number of an item that is an integer constant. Other constants are rejected as in PostgreSQL. Errors: 42601.
fn ordinal(expr: &ast::Expr, clause: &str) -> Result<Option<i32>> {
    let ast::ExprKind::Literal(literal) = &expr.kind else { return Ok(None) };
    let number = match literal {
        // PostgreSQL's scanner does not consider a number beyond int4 an integer. It reads the sign later.
        ast::Literal::Integer(digits) => digits.parse::<i32>().ok().filter(|number| *number != i32::MIN),
        _ => None,
    };
    match number {
        Some(number) => Ok(Some(number)),
        None => Err(SqlError::syntax(format!("non-integer constant in {clause}"))),
    }
}
