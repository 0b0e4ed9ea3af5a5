//! Values for columns: INSERT and UPDATE convert them by PostgreSQL's assignment casts.

use super::binder::Binder;
use catalog::{ColumnDescriptor, TableDescriptor};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNode};
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::tokenizer::Span;
use std::sync::Arc;

impl Binder<'_> {
    /// Converts a value to the type of a column.
    pub fn assign(&self, typed: TypedExpr, column: &ColumnDescriptor, span: Span) -> Result<Expr> {
        let from = typed.ty;
        match self.resolver.cast(typed, column.ty, CastContext::Assignment) {
            Ok(cast) => Ok(cast.expr),
            Err(error)
                if error.fields().position.is_none()
                    && (error.state() == state::CANNOT_COERCE || error.state() == state::DATATYPE_MISMATCH) =>
            {
                let message = format!(
                    "column \"{}\" is of type {} but expression is of type {}",
                    column.name,
                    column.ty.name(),
                    from.name()
                );
                let error = SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("You will need to rewrite or cast the expression.");
                Err(self.at(error, span))
            }
            Err(error) => Err(self.at(error, span)),
        }
    }

    /// The column of the written table with this name. Errors: 42703.
    pub fn target_column<'t>(
        &self,
        table: &'t TableDescriptor,
        name: &str,
        span: Span,
    ) -> Result<&'t ColumnDescriptor> {
        table.column_named(name).ok_or_else(|| {
            let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
            self.at(SqlError::new(state::UNDEFINED_COLUMN, message), span)
        })
    }
}

/// Whether an expression is the word DEFAULT, possibly in parentheses.
pub fn is_default(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Nested(inner) => is_default(inner),
        ast::Expr::Identifier(ident) => ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"),
        _ => false,
    }
}

/// Wraps one of our nodes in a plan.
pub fn extension(node: impl UserDefinedLogicalNode + 'static) -> LogicalPlan {
    LogicalPlan::Extension(Extension { node: Arc::new(node) })
}
