//! Words with a value, such as CURRENT_TIMESTAMP and CURRENT_USER. They are stable: slots of the plan.

use super::binder::Binder;
use datafusion::arrow::datatypes::Field;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Placeholder;
use functions::{CastContext, TypedExpr};
use sql_error::Result;
use std::sync::Arc;
use syntax::ast::CurrentValue;
use types::SqlType;

impl Binder<'_> {
    /// The value of a word. A time may have a precision: more than six digits count as six.
    pub fn niladic(&self, word: CurrentValue, precision: Option<i32>) -> Result<TypedExpr> {
        let now = || slot("$:now", SqlType::TIMESTAMPTZ);
        let cast = |to| self.resolver.cast(now(), to, CastContext::Explicit);
        let value = match word {
            CurrentValue::Timestamp => now(),
            CurrentValue::Date => cast(SqlType::DATE)?,
            CurrentValue::LocalTimestamp => cast(SqlType::TIMESTAMP)?,
            CurrentValue::Time => cast(SqlType::TIMETZ)?,
            CurrentValue::LocalTime => cast(SqlType::TIME)?,
            CurrentValue::User | CurrentValue::Role | CurrentValue::PlainUser => slot("$:current_user", SqlType::NAME),
            CurrentValue::SessionUser => slot("$:session_user", SqlType::NAME),
            CurrentValue::Catalog => slot("$:current_database", SqlType::NAME),
            CurrentValue::Schema => slot("$:current_schema", SqlType::NAME),
        };
        let Some(digits) = precision else { return Ok(value) };
        let ty = value.ty.plain().with_modifier(digits.min(6));
        self.resolver.cast(value, ty, CastContext::Explicit)
    }
}

fn slot(id: &str, ty: SqlType) -> TypedExpr {
    let field = Arc::new(Field::new(id, ty.arrow(), true));
    TypedExpr { expr: Expr::Placeholder(Placeholder::new_with_field(id.to_string(), Some(field))), ty }
}
