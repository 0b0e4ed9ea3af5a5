//! Canonical forms of arrays whose equal elements may have different bytes (numeric 1.0 and 1.00).

use super::rebuilt;
use crate::TypedExpr;
use crate::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::typed::{Bytea, SqlWrite};
use catalog::encoding::{KeyColumn, KeyEncoder};
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::common::ScalarValue;
use sql_error::Result;
use std::sync::Arc;
use types::numeric::{Numeric, key_of};
use types::value::{ValueRef, value_at};
use types::{BaseType, SqlType, interval, json};

/// The array by which another one is grouped and compared: itself, unless equal elements may have different bytes. A
/// jsonb array becomes an array of its elements' keys, of type bytea.
pub(crate) fn array_key(expr: TypedExpr) -> TypedExpr {
    let ty = expr.ty.plain();
    let result = match ty.base {
        BaseType::Numeric | BaseType::Interval | BaseType::Char | BaseType::Record(_) => ty,
        BaseType::Float4 | BaseType::Float8 => ty,
        BaseType::Jsonb => SqlType::BYTEA.array_of(),
        _ => return expr,
    };
    let kernel: Kernel = Arc::new(canonical);
    KernelFunction::new("array_key", vec![ty], result, Stability::Immutable, kernel, None).call(vec![expr.expr])
}

fn canonical(call: &Call<'_>) -> Result<ArrayRef> {
    let base = call.types.first().map_or(BaseType::Text, |ty| ty.base);
    rebuilt(call, |made, (elements, at), _| match (value_at(elements.as_ref(), at)?, base) {
        (ValueRef::Bytes(bytes), BaseType::Numeric) => {
            made.append(&ValueRef::Bytes(&Numeric::from_key(key_of(bytes), 0)?.0.to_bytes()))
        }
        (ValueRef::Bytes(bytes), BaseType::Record(_)) => {
            made.append(&ValueRef::Bytes(catalog::encoding::record_key(bytes)?))
        }
        (ValueRef::Bytes(bytes), _) => made.append(&ValueRef::Bytes(&interval::canonical(bytes))),
        (ValueRef::Float4(value), _) => made.append(&ValueRef::Float4(one_form_f32(value))),
        (ValueRef::Float8(value), _) => made.append(&ValueRef::Float8(one_form(value))),
        (ValueRef::Text(text), BaseType::Jsonb) => made.append(&ValueRef::Bytes(&json::key(text)?)),
        (ValueRef::Text(text), _) => made.append(&ValueRef::Text(text.trim_end_matches(' '))),
        (other, _) => made.append(&other),
    })
}

/// The canonical form of a float: there are two zeros, and many NaNs.
pub(crate) fn one_form(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value + 0.0 }
}

/// Like [`one_form`], for float4.
pub(crate) fn one_form_f32(value: f32) -> f32 {
    if value.is_nan() { f32::NAN } else { value + 0.0 }
}

/// The canonical form of a float scalar. Other scalars stay.
pub(crate) fn one_form_of(value: ScalarValue) -> ScalarValue {
    match value {
        ScalarValue::Float32(Some(value)) => ScalarValue::Float32(Some(one_form_f32(value))),
        ScalarValue::Float64(Some(value)) => ScalarValue::Float64(Some(one_form(value))),
        other => other,
    }
}

/// Sort keys of arrays. Elements are compared in turn, and NULL sorts last. Of two arrays with a common start the
/// shorter one is first. Then follow the number of dimensions, their lengths and their lower bounds.
pub(crate) fn array_order(expr: TypedExpr) -> TypedExpr {
    let ty = expr.ty.plain();
    let kernel: Kernel = Arc::new(ordered);
    KernelFunction::new("array_order", vec![ty], SqlType::BYTEA, Stability::Immutable, kernel, None)
        .call(vec![expr.expr])
}

fn ordered(call: &Call<'_>) -> Result<ArrayRef> {
    let ty = call.types.first().copied().unwrap_or(SqlType::TEXT.array_of());
    let encoder = KeyEncoder::new(vec![KeyColumn::ascending(ty)]);
    let arrays = call.array(0)?;
    let mut builder = Bytea::builder(call.rows);
    for row in 0..call.rows {
        let at = Call::row_of(arrays, row);
        if arrays.is_null(at) {
            Bytea::append(&mut builder, None)?;
            continue;
        }
        let mut key = Vec::new();
        encoder.encode_row(std::slice::from_ref(arrays), at, &mut key)?;
        Bytea::append(&mut builder, Some(key))?;
    }
    Ok(Bytea::finish(builder))
}
