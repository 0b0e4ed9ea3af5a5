//! Attaches the position in the query to a string literal until its type is known. An error in the literal's text then
//! reports that position.

use super::TypedExpr;
use datafusion::common::metadata::FieldMetadata;
use datafusion::logical_expr::Expr;
use datafusion::scalar::ScalarValue;
use sql_error::SqlError;
use std::collections::BTreeMap;

const PLACE: &str = "position";

/// Attaches a position to a string literal of unknown type. Other expressions stay.
pub fn place_literal(typed: TypedExpr, position: Option<usize>) -> TypedExpr {
    match (position, &typed.expr) {
        (Some(position), Expr::Literal(value @ ScalarValue::Utf8(Some(_)), None)) if typed.is_unknown() => {
            let metadata = FieldMetadata::new(BTreeMap::from([(PLACE.to_string(), position.to_string())]));
            TypedExpr::new(Expr::Literal(value.clone(), Some(metadata)), typed.ty)
        }
        _ => typed,
    }
}

/// Removes the position of a literal, so that it equals the same literal elsewhere.
pub fn without_place(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(value, Some(_)) => Expr::Literal(value, None),
        other => other,
    }
}

/// The position attached to a literal.
pub(super) fn position_of(metadata: &FieldMetadata) -> Option<usize> {
    metadata.inner().get(PLACE)?.parse().ok()
}

/// Adds a literal's position to an error that has none.
pub(super) fn error_at_literal(error: SqlError, metadata: Option<&FieldMetadata>) -> SqlError {
    match metadata.and_then(position_of) {
        Some(position) if error.fields().position.is_none() && !error.fields().run_time => error.at(position),
        _ => error,
    }
}
