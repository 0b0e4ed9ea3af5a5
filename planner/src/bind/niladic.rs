//! Keywords that are values: CURRENT_TIMESTAMP, CURRENT_USER and their kin. Stable: slots of the plan.

use super::binder::Binder;
use crate::error::{Result, SqlError};
use crate::functions::{CastContext, TypedExpr};
use crate::types::SqlType;
use datafusion::arrow::datatypes::Field;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Placeholder;
use std::sync::Arc;

impl Binder<'_> {
    /// The value of a keyword (lower case); `None` when it is none.
    pub fn niladic(&self, keyword: &str) -> Result<Option<TypedExpr>> {
        let now = || slot("$:now", SqlType::TIMESTAMPTZ);
        let cast = |to| self.resolver.cast(now(), to, CastContext::Explicit);
        Ok(Some(match keyword {
            "current_timestamp" => now(),
            "current_date" => cast(SqlType::DATE)?,
            "localtimestamp" => cast(SqlType::TIMESTAMP)?,
            "current_time" | "localtime" => return Err(SqlError::unsupported(keyword.to_uppercase())),
            "current_user" | "current_role" | "user" => slot("$:current_user", SqlType::NAME),
            "session_user" => slot("$:session_user", SqlType::NAME),
            "current_catalog" => slot("$:current_database", SqlType::NAME),
            "current_schema" => slot("$:current_schema", SqlType::NAME),
            _ => return Ok(None),
        }))
    }
}

fn slot(id: &str, ty: SqlType) -> TypedExpr {
    let field = Arc::new(Field::new(id, ty.arrow(), true));
    TypedExpr { expr: Expr::Placeholder(Placeholder::new_with_field(id.to_string(), Some(field))), ty }
}
