//! Assignments to elements and slices of array columns: `SET a[1] = x`.

use super::binder::Binder;
use super::expression::Env;
use catalog::ColumnDescriptor;
use functions::array_element::{Subscripts, replaced};
use functions::jsonb_with_part;
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use syntax::{Span, ast};
use types::{BaseType, SqlType};

impl Binder<'_> {
    /// The column's value after an assignment to an element or slice. `array` is its value after previous assignments.
    /// The assigned value comes with the place of the target.
    pub fn with_part(
        &self,
        array: TypedExpr,
        column: &ColumnDescriptor,
        steps: &[ast::Step],
        (typed, span): (TypedExpr, Span),
        env: Env<'_>,
    ) -> Result<TypedExpr> {
        if !column.ty.array && column.ty.base == BaseType::Jsonb {
            if steps.iter().any(is_field) {
                return Err(SqlError::unsupported("a field of a row"));
            }
            let (path, of_array) = self.jsonb_subscripts(steps, env)?;
            let value = self.resolver.cast(typed, SqlType::JSONB, CastContext::Assignment)?;
            return Ok(jsonb_with_part(array, path, value, of_array));
        }
        if !column.ty.array {
            let message =
                format!("cannot subscript type {} because it does not support subscripting", column.ty.name());
            return Err(SqlError::new(state::DATATYPE_MISMATCH, message));
        }
        if steps.iter().any(is_field) {
            return Err(SqlError::unsupported("a field of an element"));
        }
        let subscripts = self.array_subscripts(steps, env)?;
        let value = move |ty: SqlType| -> Result<TypedExpr> {
            let from = typed.ty;
            self.resolver.cast(typed, ty, CastContext::Assignment).map_err(|error| {
                if error.state() != state::CANNOT_COERCE && error.state() != state::DATATYPE_MISMATCH {
                    return error;
                }
                let message = format!(
                    "subscripted assignment to \"{}\" requires type {} but expression is of type {}",
                    column.name,
                    ty.name(),
                    from.name()
                );
                let error = SqlError::new(state::DATATYPE_MISMATCH, message)
                    .hint("You will need to rewrite or cast the expression.");
                self.at(error, span)
            })
        };
        let sliced = subscripts.iter().any(|subscript| matches!(subscript, Subscripts::Part(..)));
        let value = value(if sliced { column.ty } else { column.ty.element() })?;
        Ok(replaced(array, subscripts, value))
    }
}

/// Whether a step leads to a field, not to an element.
fn is_field(step: &ast::Step) -> bool {
    matches!(step, ast::Step::Field(_) | ast::Step::All(_))
}
