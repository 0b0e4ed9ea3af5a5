//! Binds VALUES as a query.

use super::binder::{Binder, column};
use super::error_position::place_of;
use super::expression::{Clause, Env};
use super::lateral::has_subquery_of_outside;
use super::query::BoundQuery;
use super::scope::{Scope, ScopeColumn};
use datafusion::arrow::datatypes::Field;
use datafusion::common::DFSchema;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Values};
use functions::TypedExpr;
use sql_error::{Result, SqlError};
use std::collections::HashMap;
use std::sync::Arc;
use syntax::{Span, ast};
use types::SqlType;

impl Binder<'_> {
    /// Binds VALUES as a query with columns `column1`, `column2`, ….
    pub fn values(&self, rows: &[Vec<ast::Expr>], parent: Option<&Scope<'_>>) -> Result<BoundQuery> {
        let scope = Scope::empty(parent);
        let env = Env::new(&scope, Clause::Values);
        let width = rows.first().map_or(0, Vec::len);
        super::clauses::at_most(width, "target lists")?;
        let mut columns: Vec<Vec<TypedExpr>> = vec![Vec::new(); width];
        for row in rows {
            if row.len() != width {
                return Err(self.uneven(row));
            }
            for (expr, column) in row.iter().zip(&mut columns) {
                column.push(self.expr(expr, env)?);
            }
        }
        let mut types = Vec::new();
        let mut unified = Vec::new();
        let single = rows.len() == 1;
        for (at, column) in columns.into_iter().enumerate() {
            if single {
                // A single row keeps unknown types: the target of an INSERT may determine them.
                types.push(column.first().map_or(SqlType::UNKNOWN, |typed| typed.ty));
                unified.push(column.into_iter().map(|typed| typed.expr).collect::<Vec<_>>());
                continue;
            }
            let given: Vec<SqlType> = column.iter().map(|typed| typed.ty).collect();
            let (exprs, ty) = self.unify("VALUES", column).map_err(|error| {
                let places: Vec<&ast::Expr> = rows.iter().filter_map(|row| row.get(at)).collect();
                self.at_mismatch(error, &places, &given)
            })?;
            types.push(ty);
            unified.push(exprs);
        }
        let rows = transpose(unified, rows.len());
        let (plan, names) = self.rows(rows, &types)?;
        let columns = names
            .into_iter()
            .zip(types)
            .enumerate()
            .map(|(at, (internal, ty))| ScopeColumn {
                name: format!("column{}", at + 1),
                expr: column(internal),
                ty,
                table_oid: 0,
                attnum: 0,
                reading: None,
            })
            .collect();
        Ok(BoundQuery { plan, columns })
    }

    /// The error 42601 for a row of VALUES with another number of items than the first.
    pub fn uneven(&self, row: &[ast::Expr]) -> SqlError {
        let first = row.first().map_or(Span::NONE, place_of);
        self.at(SqlError::syntax("VALUES lists must all be the same length"), first)
    }

    /// A plan of rows of expressions, and its new column names.
    pub fn rows(&self, mut rows: Vec<Vec<Expr>>, types: &[SqlType]) -> Result<(LogicalPlan, Vec<String>)> {
        let names: Vec<String> = types.iter().map(|_| self.unique("v")).collect();
        if rows.len() == 1 {
            let row = rows.pop().unwrap_or_default();
            let exprs: Vec<Expr> = row.into_iter().zip(&names).map(|(expr, name)| expr.alias(name)).collect();
            let plan = LogicalPlanBuilder::empty(true).project(exprs)?.build()?;
            return Ok((plan, names));
        }
        if rows.iter().flatten().any(has_subquery_of_outside) {
            // DataFusion does not search VALUES for subqueries.
            let mut union: Option<LogicalPlan> = None;
            for row in rows {
                let exprs = row.into_iter().zip(&names).map(|(expr, name)| expr.alias(name));
                let one = LogicalPlanBuilder::empty(true).project(exprs)?.build()?;
                union = Some(match union {
                    Some(above) => LogicalPlanBuilder::from(above).union(one)?.build()?,
                    None => one,
                });
            }
            let union = union.ok_or_else(|| SqlError::internal("VALUES without rows"))?;
            return Ok((union, names));
        }
        let fields =
            names.iter().zip(types).map(|(name, ty)| (None, Arc::new(Field::new(name, ty.arrow(), true)))).collect();
        let schema = Arc::new(DFSchema::new_with_metadata(fields, HashMap::new())?);
        Ok((LogicalPlan::Values(Values { schema, values: rows }), names))
    }
}

fn transpose(columns: Vec<Vec<Expr>>, height: usize) -> Vec<Vec<Expr>> {
    let mut rows: Vec<Vec<Expr>> = (0..height).map(|_| Vec::with_capacity(columns.len())).collect();
    for column in columns {
        for (row, expr) in rows.iter_mut().zip(column) {
            row.push(expr);
        }
    }
    rows
}
