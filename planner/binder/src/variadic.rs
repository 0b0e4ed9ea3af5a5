//! VARIADIC: a call whose last argument is an array of arguments.

use super::binder::Binder;
use super::call::Arguments;
use super::error_position::place_of;
use super::expression::Env;
use functions::TypedExpr;
use sql_error::{Result, SqlError, state};
use syntax::ast;

impl Binder<'_> {
    /// Binds the argument `VARIADIC array`.
    pub(super) fn variadic(&self, array: &ast::Expr, arguments: &mut Arguments, env: Env<'_>) -> Result<()> {
        let typed = self.expr(array, env)?;
        if !typed.ty.array {
            let error = SqlError::new(state::DATATYPE_MISMATCH, "VARIADIC argument must be an array");
            return Err(self.at(error, place_of(array)));
        }
        arguments.values.push(typed);
        arguments.variadic = true;
        Ok(())
    }

    /// Binds a call whose last argument is an array of arguments.
    pub(super) fn variadic_call(&self, name: &str, mut values: Vec<TypedExpr>) -> Result<TypedExpr> {
        let array = values.pop().ok_or_else(|| SqlError::internal("VARIADIC without an argument"))?;
        self.resolver.variadic_function(name, values, array)
    }
}
