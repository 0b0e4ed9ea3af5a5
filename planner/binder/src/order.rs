//! Binds ORDER BY and its items.

use super::binder::Binder;
use super::expression::{Clause, Env};
use super::query::BoundQuery;
use super::scope::{Scope, ScopeColumn};
use datafusion::logical_expr::LogicalPlanBuilder;
use datafusion::logical_expr::expr::Sort;
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, OrderBySort, Spanned};
use syntax::fold;
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
    pub fn direction(&self, item: &ast::OrderByExpr) -> Result<(bool, bool)> {
        let ast::OrderByExpr { expr: _, options: ast::OrderByOptions { sort, nulls_first }, with_fill } = item;
        if with_fill.is_some() {
            return Err(SqlError::unsupported("WITH FILL"));
        }
        let ascending = match sort {
            None | Some(OrderBySort::Asc) => true,
            Some(OrderBySort::Desc) => false,
            Some(OrderBySort::Using(operator)) => match operator.to_string().trim_start_matches("pg_catalog.") {
                "<" => true,
                ">" => false,
                other => {
                    let message = format!("operator {other} is not a valid ordering operator");
                    return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message)
                        .hint("Ordering operators must be \"<\" or \">\" members of btree operator families."));
                }
            },
        };
        Ok((ascending, nulls_first.unwrap_or(!ascending)))
    }

    /// Binds an ORDER BY item that can only be an expression, as in aggregates and windows.
    pub fn sort_item(&self, item: &ast::OrderByExpr, env: Env<'_>) -> Result<Sort> {
        Ok(self.typed_sort_item(item, env)?.0)
    }

    /// Like [`Binder::sort_item`], with the type of the key.
    pub fn typed_sort_item(&self, item: &ast::OrderByExpr, env: Env<'_>) -> Result<(Sort, SqlType)> {
        let (asc, nulls_first) = self.direction(item)?;
        let typed = self.settled_expr(&item.expr, env)?;
        let ty = typed.ty;
        let expr = self.resolver.sort_key(typed).map_err(|error| self.at(error, item.expr.span()))?;
        Ok((Sort { expr, asc, nulls_first }, ty))
    }

    /// The meaning of an item in a query's ORDER BY or GROUP BY: a number, an output name, or an expression.
    pub fn order_target(&self, expr: &ast::Expr, outputs: &[String], clause: &str) -> Result<OrderTarget> {
        let expr = bare(expr);
        if let Some(place) = ordinal(expr, clause).map_err(|error| match expr {
            ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr: inner } => {
                self.at_operator(error, "-", None, inner)
            }
            other => self.at(error, other.span()),
        })? {
            if place == 0 || place > outputs.len() {
                let message = format!("{clause} position {place} is not in select list");
                return Err(self.at(SqlError::new(state::INVALID_COLUMN_REFERENCE, message), expr.span()));
            }
            return Ok(OrderTarget::Output(place - 1));
        }
        Ok(OrderTarget::Expression)
    }

    /// ORDER BY of a set operation or VALUES, which allows only numbers and names of the output.
    pub fn order_output(&self, bound: BoundQuery, order_by: &[ast::OrderByExpr]) -> Result<BoundQuery> {
        if order_by.is_empty() {
            return Ok(bound);
        }
        let bound = self.settled(bound)?;
        let names: Vec<String> = bound.columns.iter().map(|column| column.name.clone()).collect();
        let mut sorts = Vec::new();
        for item in order_by {
            let column = match self.order_target(&item.expr, &names, "ORDER BY")? {
                OrderTarget::Output(place) => bound.columns.get(place),
                OrderTarget::Expression => match bare(&item.expr) {
                    ast::Expr::Identifier(ident) => {
                        let name = fold(ident);
                        let column = self.output_named(&bound.columns, &name)?;
                        if column.is_none() {
                            let message = format!("column \"{name}\" does not exist");
                            return Err(self.at(SqlError::new(state::UNDEFINED_COLUMN, message), ident.span));
                        }
                        column
                    }
                    other => {
                        // The item's own errors come first. It can see only the output.
                        let schema = bound.plan.schema().clone();
                        let scope =
                            Scope { visible: bound.columns.clone(), schema: Some(schema), ..Scope::empty(None) };
                        self.expr(other, Env::new(&scope, Clause::OrderBy))?;
                        return Err(self.at(self.invalid_set_order(), other.span()));
                    }
                },
            };
            let Some(column) = column else { return Err(SqlError::internal("an output column is missing")) };
            let (asc, nulls_first) = self.direction(item)?;
            let expr = self.resolver.sort_key(column.typed()).map_err(|error| self.at(error, item.expr.span()))?;
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

/// An item without the parentheses around it, as in PostgreSQL's grammar. `- -1` becomes the number.
pub fn bare(expr: &ast::Expr) -> &ast::Expr {
    use ast::{Expr as E, UnaryOperator as U};
    match expr {
        E::Nested(inner) => bare(inner),
        E::UnaryOp { op: U::Minus, expr: inner } => match bare(inner) {
            E::UnaryOp { op: U::Minus, expr: number } if matches!(bare(number), E::Value(_)) => bare(number),
            _ => expr,
        },
        _ => expr,
    }
}

/// The number of an item that is an integer constant. Other constants are rejected as in PostgreSQL.
fn ordinal(expr: &ast::Expr, clause: &str) -> Result<Option<usize>> {
    let value = match expr {
        ast::Expr::Value(value) => value,
        // A negative number is a constant too.
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => match bare(expr) {
            ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(digits, _), .. }) => {
                if digits.parse::<i32>().is_err() {
                    return Err(SqlError::syntax(format!("non-integer constant in {clause}")));
                }
                let message = format!("{clause} position -{digits} is not in select list");
                return Err(SqlError::new(state::INVALID_COLUMN_REFERENCE, message));
            }
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    match &value.value {
        // PostgreSQL's scanner does not consider a number beyond int4 an integer.
        ast::Value::Number(digits, _) => match digits.parse::<i32>().map(usize::try_from) {
            Ok(place) => Ok(Some(place.unwrap_or(0))),
            Err(_) => Err(SqlError::syntax(format!("non-integer constant in {clause}"))),
        },
        ast::Value::Placeholder(_) => Ok(None),
        _ => Err(SqlError::syntax(format!("non-integer constant in {clause}"))),
    }
}
