//! Constants and parameters as PostgreSQL types them: `1` is int4, `1.5` numeric, a string unknown.

use super::binder::Binder;
use super::expression::Env;
use datafusion::logical_expr::Expr;
use functions::{CastContext, TypedExpr};
use sql_error::{Result, SqlError, state};
use sqlparser::ast::{self, DateTimeField, Value};
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

/// The type of `INTERVAL '…' fields`. Errors: 42601.
pub fn interval_type(interval: &ast::Interval) -> Result<SqlType> {
    let word = |field: &DateTimeField| {
        let word = field.to_string().to_lowercase();
        word.strip_suffix('s').map(str::to_string).unwrap_or(word)
    };
    let precision = interval.fractional_seconds_precision.or(interval.leading_precision);
    let (first, last) = (interval.leading_field.as_ref().map(word), interval.last_field.as_ref().map(word));
    super::type_name::interval(first.as_deref(), last.as_deref(), precision)
}

impl Binder<'_> {
    /// Binds a constant or parameter.
    pub fn value(&self, value: &Value) -> Result<TypedExpr> {
        match value {
            Value::Number(digits, _) => self.number(digits),
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) | Value::UnicodeStringLiteral(text) => {
                Ok(unknown(text))
            }
            Value::NationalStringLiteral(text) => {
                self.resolver.cast(unknown(text), SqlType::CHAR, CastContext::Explicit)
            }
            Value::Boolean(value) => Ok(boolean(*value)),
            Value::Null => Ok(null()),
            Value::Placeholder(name) => self.parameter(name),
            Value::HexStringLiteral(_) => Err(SqlError::unsupported("the type bit")),
            other => Err(SqlError::unsupported(format!("the literal {other}"))),
        }
    }

    /// Binds a number, including its sign.
    pub fn number(&self, digits: &str) -> Result<TypedExpr> {
        let digits = digits.replace('_', "");
        if let Ok(value) = digits.parse::<i32>() {
            return Ok(literal(Datum::Int32(Some(value)), SqlType::INT4));
        }
        if let Ok(value) = digits.parse::<i64>() {
            return Ok(literal(Datum::Int64(Some(value)), SqlType::INT8));
        }
        self.resolver.cast(unknown(&digits), SqlType::NUMERIC, CastContext::Explicit)
    }

    /// Binds `INTERVAL '…' fields`.
    pub fn interval(&self, interval: &ast::Interval, env: Env<'_>) -> Result<TypedExpr> {
        let ty = interval_type(interval)?;
        let value = self.expr(&interval.value, env)?;
        if !value.is_unknown() || value.constant().is_none() {
            return Err(SqlError::syntax("INTERVAL takes a string"));
        }
        self.resolver.cast(value, ty, CastContext::Explicit)
    }

    /// Binds a parameter `$n`.
    fn parameter(&self, name: &str) -> Result<TypedExpr> {
        let number = name.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
        match number {
            Some(number @ 1..=65_535) => Ok(self.resolver.parameter(number)),
            _ if name.starts_with(':') => Err(SqlError::syntax("syntax error at or near \":\"")),
            _ => Err(SqlError::new(state::UNDEFINED_PARAMETER, format!("there is no parameter {name}"))),
        }
    }
}
