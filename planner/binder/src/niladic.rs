//! Keywords with a value, such as CURRENT_TIMESTAMP and CURRENT_USER. They are stable: slots of the plan.

use super::binder::Binder;
use datafusion::arrow::datatypes::Field;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Placeholder;
use functions::{CastContext, TypedExpr};
use sql_error::Result;
use sqlparser::ast;
use std::sync::Arc;
use types::SqlType;

impl Binder<'_> {
    /// The value of a lower-case keyword. `None` for other names.
    pub fn niladic(&self, keyword: &str) -> Result<Option<TypedExpr>> {
        let now = || slot("$:now", SqlType::TIMESTAMPTZ);
        let cast = |to| self.resolver.cast(now(), to, CastContext::Explicit);
        Ok(Some(match keyword {
            "current_timestamp" => now(),
            "current_date" => cast(SqlType::DATE)?,
            "localtimestamp" => cast(SqlType::TIMESTAMP)?,
            "current_time" => cast(SqlType::TIMETZ)?,
            "localtime" => cast(SqlType::TIME)?,
            "current_user" | "current_role" | "user" => slot("$:current_user", SqlType::NAME),
            "session_user" => slot("$:session_user", SqlType::NAME),
            "current_catalog" => slot("$:current_database", SqlType::NAME),
            "current_schema" => slot("$:current_schema", SqlType::NAME),
            _ => return Ok(None),
        }))
    }
}

impl Binder<'_> {
    /// Binds `CURRENT_TIMESTAMP(3)` and similar calls. `None` for other calls.
    pub fn niladic_with_precision(&self, keyword: &str, function: &ast::Function) -> Result<Option<TypedExpr>> {
        use ast::{FunctionArg, FunctionArgExpr, FunctionArguments};
        if !matches!(keyword, "current_timestamp" | "current_time" | "localtimestamp" | "localtime") {
            return Ok(None);
        }
        let FunctionArguments::List(list) = &function.args else { return Ok(None) };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Value(value)))] = list.args.as_slice() else {
            return Ok(None);
        };
        let (ast::Value::Number(digits, _), Some(now)) = (&value.value, self.niladic(keyword)?) else {
            return Ok(None);
        };
        let digits = digits.parse::<i32>().unwrap_or(i32::MAX).min(6);
        let ty = now.ty.plain().with_modifier(digits);
        self.resolver.cast(now, ty, CastContext::Explicit).map(Some)
    }
}

fn slot(id: &str, ty: SqlType) -> TypedExpr {
    let field = Arc::new(Field::new(id, ty.arrow(), true));
    TypedExpr { expr: Expr::Placeholder(Placeholder::new_with_field(id.to_string(), Some(field))), ty }
}
