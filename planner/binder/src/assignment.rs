//! Values for columns: INSERT and UPDATE convert them by PostgreSQL's assignment casts.

use super::binder::Binder;
use catalog::{ColumnDescriptor, TableDescriptor};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNode};
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use syntax::Span;
use syntax::ast::{self, ExprKind};

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

/// Whether an expression is the word DEFAULT.
pub fn is_default(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ExprKind::Default)
}

/// The error for a part of a column that is no element: `*`, or a field of a column that has none. `what` is the
/// statement. `None` for elements and whole columns.
pub fn refused_part(target: &ast::ColumnTarget, column: &ColumnDescriptor, what: &str) -> Option<SqlError> {
    match target.steps.first()? {
        ast::Step::Field(_) if column.ty.as_record().is_some() => {
            Some(SqlError::unsupported(format!("a field of a composite column as the target of {what}")))
        }
        ast::Step::Field(field) => {
            let message = format!(
                "cannot assign to field \"{}\" of column \"{}\" because its type {} is not a composite type",
                field.value,
                column.name,
                column.ty.name()
            );
            Some(SqlError::new(state::DATATYPE_MISMATCH, message))
        }
        ast::Step::All(_) => {
            Some(SqlError::new(state::FEATURE_NOT_SUPPORTED, "row expansion via \"*\" is not supported here"))
        }
        ast::Step::Element(_) | ast::Step::Slice(..) => None,
    }
}

/// The error 0A000 for DEFAULT as the value of an element.
pub fn default_element() -> SqlError {
    SqlError::new(state::FEATURE_NOT_SUPPORTED, "cannot set an array element to DEFAULT")
}

/// Wraps one of our nodes in a plan.
pub fn extension(node: impl UserDefinedLogicalNode + 'static) -> LogicalPlan {
    LogicalPlan::Extension(Extension { node: Arc::new(node) })
}
