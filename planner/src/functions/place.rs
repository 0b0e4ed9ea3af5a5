//! Where a string literal stands, kept with its value until it has a type: what its text violates is said there.

use super::TypedExpr;
use crate::error::SqlError;
use datafusion::common::metadata::FieldMetadata;
use datafusion::logical_expr::Expr;
use datafusion::scalar::ScalarValue;
use std::collections::BTreeMap;

const PLACE: &str = "position";

/// A string literal of unknown type with its position; whatever else is as it was.
pub fn place_literal(typed: TypedExpr, position: Option<usize>) -> TypedExpr {
    match (position, &typed.expr) {
        (Some(position), Expr::Literal(value @ ScalarValue::Utf8(Some(_)), None)) if typed.is_unknown() => {
            let metadata = FieldMetadata::new(BTreeMap::from([(PLACE.to_string(), position.to_string())]));
            TypedExpr::new(Expr::Literal(value.clone(), Some(metadata)), typed.ty)
        }
        _ => typed,
    }
}

/// A literal without its position, so that it is equal to the same one elsewhere.
pub fn without_place(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(value, Some(_)) => Expr::Literal(value, None),
        other => other,
    }
}

/// The position that a literal was given.
pub(super) fn position_of(metadata: &FieldMetadata) -> Option<usize> {
    metadata.inner().get(PLACE)?.parse().ok()
}

/// Puts the position of a literal into an error that has none.
pub(super) fn error_at_literal(error: SqlError, metadata: Option<&FieldMetadata>) -> SqlError {
    match metadata.and_then(position_of) {
        Some(position) if error.fields().position.is_none() && !error.fields().run_time => error.at(position),
        _ => error,
    }
}
