//! Functions whose array and element arguments agree on one element type: array_append and its kin.

use super::{order, rebuilt};
use crate::encoding::{ColumnBuilder, KeyColumn, KeyEncoder};
use crate::error::{Result, SqlError, state};
use crate::functions::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::functions::typed::{Int4, List, SqlWrite};
use crate::functions::{CastContext, Resolver, TypedExpr};
use crate::types::SqlType;
use crate::types::value::{ValueRef, value_at};
use datafusion::arrow::array::{Array, ArrayRef, Int32Array};
use std::cmp::Ordering;
use std::sync::Arc;

/// What an argument is: `a` the array, `e` an element, `i` an int4.
fn shape(name: &str, count: usize) -> Option<&'static str> {
    Some(match (name, count) {
        ("array_append", 2) => "ae",
        ("array_prepend", 2) => "ea",
        ("array_cat", 2) => "aa",
        ("array_remove" | "array_position" | "array_positions", 2) => "ae",
        ("array_position", 3) => "aei",
        ("array_replace", 3) => "aee",
        ("width_bucket", 2) => "ea",
        _ => return None,
    })
}

/// The names of these functions.
pub(in crate::functions) const NAMES: [&str; 8] = [
    "array_append",
    "array_prepend",
    "array_cat",
    "array_remove",
    "array_replace",
    "array_position",
    "array_positions",
    "width_bucket",
];

/// A call of one of them. Errors: 42883, 42804, and what constants violate.
pub(in crate::functions) fn resolve(resolver: &Resolver<'_>, name: &str, args: Vec<TypedExpr>) -> Result<TypedExpr> {
    let missing = |args: &[TypedExpr]| resolver.no_function(name, args);
    let Some(shape) = shape(name, args.len()) else { return Err(missing(&args)) };
    // The element types known, from arrays and elements.
    let mut known = Vec::new();
    for (arg, kind) in args.iter().zip(shape.chars()) {
        match kind {
            _ if arg.is_unknown() => {}
            'a' if arg.ty.array => known.push(arg.ty.element().plain()),
            'e' if !arg.ty.array => known.push(arg.ty.plain()),
            'e' => return Err(SqlError::unsupported("an array of several dimensions")),
            'a' => return Err(missing(&args)),
            _ => {}
        }
    }
    let arrays_known = args.iter().zip(shape.chars()).any(|(arg, kind)| kind == 'a' && arg.ty.array);
    let element = if known.is_empty() {
        SqlType::TEXT
    } else {
        resolver.common_type("ARRAY", &known).map_err(|_| missing(&args))?.plain()
    };
    if known.is_empty() && !arrays_known && args.iter().all(|arg| arg.constant().is_none_or(|value| !value.is_null())) {
        return Err(undetermined());
    }
    let mut exprs = Vec::new();
    let mut types = Vec::new();
    for (arg, kind) in args.into_iter().zip(shape.chars()) {
        let ty = match kind {
            'a' => element.array_of(),
            'e' => element,
            _ => SqlType::INT4,
        };
        exprs.push(resolver.cast(arg, ty, CastContext::Implicit)?.expr);
        types.push(ty);
    }
    let result = match name {
        "array_position" | "width_bucket" => SqlType::INT4,
        "array_positions" => SqlType::INT4.array_of(),
        _ => element.array_of(),
    };
    let kernel: Kernel = match name {
        "array_append" | "array_prepend" | "array_cat" => Arc::new(join),
        "array_remove" => Arc::new(remove),
        "array_replace" => Arc::new(replace),
        "array_position" => Arc::new(position),
        "width_bucket" => Arc::new(bucket),
        _ => Arc::new(positions),
    };
    Ok(KernelFunction::new(name.to_string(), types, result, Stability::Immutable, kernel, None).call(exprs))
}

/// Arrays and elements one after the other.
fn join(call: &Call<'_>) -> Result<ArrayRef> {
    let element = call.result.element();
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let mut parts = ColumnBuilder::new(element, 4);
        let mut any = false;
        for (array, ty) in call.arguments.iter().zip(call.types) {
            let value = value_at(array.as_ref(), Call::row_of(array, row))?;
            match value {
                value if !ty.array => {
                    parts.append(&value)?;
                    any = true;
                }
                ValueRef::List(elements) => {
                    for at in 0..elements.len() {
                        parts.append(&value_at(elements.as_ref(), at)?)?;
                    }
                    any = true;
                }
                _ => {}
            }
        }
        if any {
            builder.append(&ValueRef::List(parts.finish()?))?;
        } else {
            builder.append_null();
        }
    }
    builder.finish()
}

fn encoder(call: &Call<'_>) -> KeyEncoder {
    let element = call.types.first().copied().unwrap_or(SqlType::TEXT).element();
    KeyEncoder::new(vec![KeyColumn::ascending(element)])
}

fn remove(call: &Call<'_>) -> Result<ArrayRef> {
    let (encoder, unwanted) = (encoder(call), call.array(1)?);
    rebuilt(call, |kept, (elements, at), row| {
        match order(&encoder, (elements, at), (unwanted, Call::row_of(unwanted, row)))? {
            Ordering::Equal => Ok(()),
            _ => kept.append(&value_at(elements.as_ref(), at)?),
        }
    })
}

fn replace(call: &Call<'_>) -> Result<ArrayRef> {
    let (encoder, from, to) = (encoder(call), call.array(1)?, call.array(2)?);
    rebuilt(call, |made, (elements, at), row| match order(&encoder, (elements, at), (from, Call::row_of(from, row)))? {
        Ordering::Equal => made.append(&value_at(to.as_ref(), Call::row_of(to, row))?),
        _ => made.append(&value_at(elements.as_ref(), at)?),
    })
}

/// Places, counted from 1, of elements that are not distinct from a value.
fn places(call: &Call<'_>, encoder: &KeyEncoder, elements: &ArrayRef, row: usize) -> Result<Vec<i32>> {
    let wanted = call.array(1)?;
    let mut found = Vec::new();
    for at in 0..elements.len() {
        if order(encoder, (elements, at), (wanted, Call::row_of(wanted, row)))? == Ordering::Equal {
            found.push(at as i32 + 1);
        }
    }
    Ok(found)
}

fn position(call: &Call<'_>) -> Result<ArrayRef> {
    let (encoder, lists) = (encoder(call), call.column::<List>(0)?);
    let starts = if call.arguments.len() > 2 { Some(call.column::<Int4>(2)?) } else { None };
    let mut builder = Int4::builder(call.rows);
    for row in 0..call.rows {
        let mut found = None;
        if let Some(elements) = lists.get(row)? {
            let start = match &starts {
                Some(starts) => starts
                    .get(row)?
                    .ok_or_else(|| SqlError::new(state::NULL_VALUE_NOT_ALLOWED, "initial position must not be null"))?,
                None => 1,
            };
            found = places(call, &encoder, &elements, row)?.into_iter().find(|place| *place >= start);
        }
        Int4::append(&mut builder, found)?;
    }
    Ok(Int4::finish(builder))
}

/// How many of an array's elements, which are in order, are not above a value.
fn bucket(call: &Call<'_>) -> Result<ArrayRef> {
    let element = call.types.first().copied().unwrap_or(SqlType::TEXT);
    let encoder = KeyEncoder::new(vec![KeyColumn::ascending(element)]);
    let (operands, lists) = (call.array(0)?, call.column::<List>(1)?);
    let mut builder = Int4::builder(call.rows);
    for row in 0..call.rows {
        let at = Call::row_of(operands, row);
        let Some(thresholds) = lists.get(row)?.filter(|_| !operands.is_null(at)) else {
            Int4::append(&mut builder, None)?;
            continue;
        };
        if thresholds.null_count() > 0 {
            let message = "thresholds array must not contain NULLs";
            return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, message));
        }
        let (mut low, mut high) = (0, thresholds.len());
        while low < high {
            let middle = (low + high) / 2;
            match order(&encoder, (operands, at), (&thresholds, middle))? {
                Ordering::Less => high = middle,
                _ => low = middle + 1,
            }
        }
        Int4::append(&mut builder, Some(low as i32))?;
    }
    Ok(Int4::finish(builder))
}

fn positions(call: &Call<'_>) -> Result<ArrayRef> {
    let (encoder, lists) = (encoder(call), call.column::<List>(0)?);
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        match lists.get(row)? {
            Some(elements) => {
                let found = places(call, &encoder, &elements, row)?;
                builder.append(&ValueRef::List(Arc::new(Int32Array::from(found))))?;
            }
            None => builder.append_null(),
        }
    }
    builder.finish()
}

/// 42804 where the types of the arguments say nothing of the result's.
pub(in crate::functions) fn undetermined() -> SqlError {
    let message = "could not determine polymorphic type because input has type unknown";
    SqlError::new(state::DATATYPE_MISMATCH, message)
}
