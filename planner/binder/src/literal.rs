//! Constants and parameters as PostgreSQL types them: `1` is int4, `1.5` numeric, a string unknown.

use super::binder::Binder;
use datafusion::logical_expr::Expr;
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use syntax::ast::Literal;
use types::{Datum, SqlType};

/// A literal of a given type.
pub fn literal(value: Datum, ty: SqlType) -> TypedExpr {
    TypedExpr { expr: Expr::Literal(value, None), ty }
}

/// A string literal of unknown type.
pub fn unknown(text: &str) -> TypedExpr {
    literal(Datum::Utf8(Some(text.to_string())), SqlType::UNKNOWN)
}

/// A constant of type text.
pub fn text(value: &str) -> TypedExpr {
    literal(Datum::Utf8(Some(value.to_string())), SqlType::TEXT)
}

/// A NULL of unknown type.
pub fn null() -> TypedExpr {
    literal(Datum::Utf8(None), SqlType::UNKNOWN)
}

/// A constant of type boolean.
pub fn boolean(value: bool) -> TypedExpr {
    literal(Datum::Boolean(Some(value)), SqlType::BOOL)
}

impl Binder<'_> {
    /// Binds a constant. Errors: 0A000.
    pub fn value(&self, value: &Literal) -> Result<TypedExpr> {
        match value {
            Literal::Integer(digits) | Literal::Decimal(digits) => self.number(digits),
            Literal::String(text) => Ok(unknown(text)),
            Literal::Boolean(value) => Ok(boolean(*value)),
            Literal::Null => Ok(null()),
            Literal::Bits(_) | Literal::HexBits(_) => Err(SqlError::unsupported("the type bit")),
        }
    }

    /// Binds a number, including its sign.
    pub fn number(&self, digits: &str) -> Result<TypedExpr> {
        if let Ok(value) = digits.parse::<i32>() {
            return Ok(literal(Datum::Int32(Some(value)), SqlType::INT4));
        }
        if let Ok(value) = digits.parse::<i64>() {
            return Ok(literal(Datum::Int64(Some(value)), SqlType::INT8));
        }
        self.resolver.cast(unknown(digits), SqlType::NUMERIC, CastContext::Explicit)
    }

    /// Binds a parameter `$n`. Errors: 42P02.
    pub(super) fn parameter(&self, number: u32) -> Result<TypedExpr> {
        match usize::try_from(number) {
            Ok(number @ 1..=65_535) => Ok(self.resolver.parameter(number)),
            _ => Err(SqlError::new(state::UNDEFINED_PARAMETER, format!("there is no parameter ${number}"))),
        }
    }
}
