//! Functions whose array and element arguments share one element type, such as array_append.

use super::{order, rebuilt};
use crate::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::typed::{Int4, List, SqlWrite};
use crate::{CastContext, Resolver, TypedExpr};
use catalog::encoding::{ColumnBuilder, KeyColumn, KeyEncoder};
use datafusion::arrow::array::{Array, ArrayRef, Int32Array};
use datafusion::arrow::compute::concat;
use sql_error::interrupt;
use sql_error::{Result, SqlError, state};
use std::cmp::Ordering;
use std::sync::Arc;
use types::SqlType;
use types::array::{ArrayValue, Dimension, subscript_error, too_large};
use types::value::{ValueRef, value_at};

/// The kind of each argument: `a` is the array, `e` an element, `i` an int4.
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

/// Names of these functions.
pub(crate) const NAMES: [&str; 8] = [
    "array_append",
    "array_prepend",
    "array_cat",
    "array_remove",
    "array_replace",
    "array_position",
    "array_positions",
    "width_bucket",
];

/// Resolves a call. Errors: 42883, 42804, and those of folded constants.
pub(crate) fn resolve(resolver: &Resolver<'_>, name: &str, args: Vec<TypedExpr>) -> Result<TypedExpr> {
    let missing = |args: &[TypedExpr]| resolver.no_function(name, args);
    let Some(shape) = shape(name, args.len()) else { return Err(missing(&args)) };
    // The element types known from arrays and elements.
    let mut known = Vec::new();
    for (arg, kind) in args.iter().zip(shape.chars()) {
        match kind {
            _ if arg.is_unknown() => {}
            'a' if arg.ty.array => known.push(arg.ty.element().plain()),
            'e' if !arg.ty.array => known.push(arg.ty.plain()),
            'e' | 'a' => return Err(missing(&args)),
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
        "array_append" => Arc::new(|call: &Call<'_>| push(call, false)),
        "array_prepend" => Arc::new(|call: &Call<'_>| push(call, true)),
        "array_cat" => Arc::new(join),
        "array_remove" => Arc::new(remove),
        "array_replace" => Arc::new(replace),
        "array_position" => Arc::new(position),
        "width_bucket" => Arc::new(bucket),
        _ => Arc::new(positions),
    };
    Ok(KernelFunction::new(name.to_string(), types, result, Stability::Immutable, kernel, None).call(exprs))
}

/// Appends (or prepends, if `before`) an element to a one-dimensional array. NULL counts as an empty array. Errors:
/// 22000, 22003.
fn push(call: &Call<'_>, before: bool) -> Result<ArrayRef> {
    let (arrays, elements) = if before { (call.array(1)?, call.array(0)?) } else { (call.array(0)?, call.array(1)?) };
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let mut parts = ColumnBuilder::new(call.result.element(), 4);
        let element = value_at(elements.as_ref(), Call::row_of(elements, row))?;
        let array = match value_at(arrays.as_ref(), Call::row_of(arrays, row))? {
            ValueRef::Array(array) if !array.is_empty() => Some(array),
            _ => None,
        };
        let lower = match &array {
            Some(array) => match (array.dimension(0), array.dimension_count()) {
                (Some(dimension), 1) => dimension.lower,
                _ => return Err(SqlError::new("22000", "argument must be empty or one-dimensional array")),
            },
            None => 1,
        };
        if before {
            parts.append(&element)?;
        }
        for at in 0..array.as_ref().map_or(0, |array| array.len()) {
            interrupt::step()?;
            if let Some(array) = &array {
                parts.append(&value_at(array.elements().as_ref(), at)?)?;
            }
        }
        if !before {
            parts.append(&element)?;
        }
        let made = parts.finish()?;
        let beyond = || SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range");
        let dimension = Dimension { lower, ..Dimension::of(made.len()) };
        lower.checked_add(dimension.length - 1).filter(|_| !before || lower > i32::MIN).ok_or_else(beyond)?;
        builder.append(&ValueRef::Array(ArrayValue::new(made, &[dimension])?))?;
    }
    builder.finish()
}

/// Concatenates arrays. They have equal dimensions, or one is an element of the other's outermost dimension. Errors:
/// 2202E.
fn join(call: &Call<'_>) -> Result<ArrayRef> {
    let (left, right) = (call.column::<List>(0)?, call.column::<List>(1)?);
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let made = match (left.get(row)?, right.get(row)?) {
            (Some(left), Some(right)) if right.is_empty() => Some(left),
            (Some(left), Some(right)) if left.is_empty() => Some(right),
            (Some(left), Some(right)) => Some(joined(&left, &right)?),
            (Some(one), None) | (None, Some(one)) => Some(one),
            (None, None) => None,
        };
        match made {
            Some(array) => builder.append(&ValueRef::Array(array))?,
            None => builder.append_null(),
        }
    }
    builder.finish()
}

/// Concatenates two arrays, neither of which is empty.
fn joined(left: &ArrayValue, right: &ArrayValue) -> Result<ArrayValue> {
    let incompatible = |detail: String| subscript_error("cannot concatenate incompatible arrays").detail(detail);
    let (ours, theirs) = (left.dimensions(), right.dimensions());
    let inner = |dimensions: &[Dimension]| dimensions.get(1..).unwrap_or_default().to_vec();
    let outer = |dimensions: &[Dimension]| dimensions.first().map_or(0, |dimension| dimension.length);
    let (mut dimensions, longer, what) = match (ours.len(), theirs.len()) {
        (one, other) if one == other => {
            let same = inner(&ours) == inner(&theirs);
            (ours.clone(), same.then(|| outer(&theirs)), "element dimensions")
        }
        (one, other) if one == other + 1 => {
            let same = inner(&ours) == theirs;
            (ours.clone(), same.then_some(1), "dimensions")
        }
        (one, other) if one + 1 == other => {
            let same = ours == inner(&theirs);
            (theirs.clone(), same.then_some(1), "dimensions")
        }
        (one, other) => {
            let detail = format!("Arrays of {one} and {other} dimensions are not compatible for concatenation.");
            return Err(incompatible(detail));
        }
    };
    let longer = longer
        .ok_or_else(|| incompatible(format!("Arrays with differing {what} are not compatible for concatenation.")))?;
    if let Some(first) = dimensions.first_mut() {
        first.length = first.length.checked_add(longer).ok_or_else(too_large)?;
    }
    types::array::count(&dimensions)?;
    ArrayValue::new(concat(&[left.elements().as_ref(), right.elements().as_ref()])?, &dimensions)
}

fn encoder(call: &Call<'_>) -> KeyEncoder {
    let element = call.types.first().copied().unwrap_or(SqlType::TEXT).element();
    KeyEncoder::new(vec![KeyColumn::ascending(element)])
}

/// Removes the elements equal to a value. The lower bound stays.
fn remove(call: &Call<'_>) -> Result<ArrayRef> {
    let (encoder, arrays, unwanted) = (encoder(call), call.column::<List>(0)?, call.array(1)?);
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let Some(array) = arrays.get(row)? else {
            builder.append_null();
            continue;
        };
        if array.dimension_count() > 1 {
            let message = "removing elements from multidimensional arrays is not supported";
            return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
        }
        let mut kept = ColumnBuilder::new(call.result.element(), array.len());
        let mut count = 0;
        for at in 0..array.len() {
            let wanted = (unwanted, Call::row_of(unwanted, row));
            if order(&encoder, (array.elements(), at), wanted)? != Ordering::Equal {
                kept.append(&value_at(array.elements().as_ref(), at)?)?;
                count += 1;
            }
        }
        let dimensions: Vec<Dimension> = array.dimension(0).into_iter().collect();
        let dimensions: Vec<Dimension> =
            dimensions.into_iter().map(|dimension| Dimension { length: count, ..dimension }).collect();
        builder.append(&ValueRef::Array(ArrayValue::new(kept.finish()?, &dimensions)?))?;
    }
    builder.finish()
}

fn replace(call: &Call<'_>) -> Result<ArrayRef> {
    let (encoder, from, to) = (encoder(call), call.array(1)?, call.array(2)?);
    rebuilt(call, |made, (elements, at), row| match order(&encoder, (elements, at), (from, Call::row_of(from, row)))? {
        Ordering::Equal => made.append(&value_at(to.as_ref(), Call::row_of(to, row))?),
        _ => made.append(&value_at(elements.as_ref(), at)?),
    })
}

/// Subscripts of the elements that are not distinct from a value. Errors: 0A000 for several dimensions.
fn places(call: &Call<'_>, encoder: &KeyEncoder, array: &ArrayValue, row: usize) -> Result<Vec<i32>> {
    if array.dimension_count() > 1 {
        let message = "searching for elements in multidimensional arrays is not supported";
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
    }
    let wanted = call.array(1)?;
    let lower = array.dimension(0).map_or(1, |dimension| dimension.lower);
    let mut found = Vec::new();
    for at in 0..array.len() {
        if order(encoder, (array.elements(), at), (wanted, Call::row_of(wanted, row)))? == Ordering::Equal {
            found.push(lower.wrapping_add(at as i32));
        }
    }
    Ok(found)
}

fn position(call: &Call<'_>) -> Result<ArrayRef> {
    let (encoder, arrays) = (encoder(call), call.column::<List>(0)?);
    let starts = if call.arguments.len() > 2 { Some(call.column::<Int4>(2)?) } else { None };
    let mut builder = Int4::builder(call.rows);
    for row in 0..call.rows {
        let mut found = None;
        if let Some(array) = arrays.get(row)? {
            let places = places(call, &encoder, &array, row)?;
            let wanted = call.array(1)?;
            let nowhere = wanted.is_null(Call::row_of(wanted, row)) && array.null_count() == 0;
            let start = match &starts {
                // The value cannot occur, so the start does not matter.
                _ if nowhere || array.is_empty() => i32::MIN,
                Some(starts) => starts
                    .get(row)?
                    .ok_or_else(|| SqlError::new(state::NULL_VALUE_NOT_ALLOWED, "initial position must not be null"))?,
                None => i32::MIN,
            };
            found = places.into_iter().find(|place| *place >= start);
        }
        Int4::append(&mut builder, found)?;
    }
    Ok(Int4::finish(builder))
}

/// Number of elements of a sorted array that are not greater than a value.
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
        if thresholds.dimension_count() > 1 {
            return Err(subscript_error("thresholds must be one-dimensional array"));
        }
        if thresholds.null_count() > 0 {
            let message = "thresholds array must not contain NULLs";
            return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, message));
        }
        let (mut low, mut high) = (0, thresholds.len());
        while low < high {
            let middle = (low + high) / 2;
            match order(&encoder, (operands, at), (thresholds.elements(), middle))? {
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
                builder.append(&ValueRef::array(Arc::new(Int32Array::from(found))))?;
            }
            None => builder.append_null(),
        }
    }
    builder.finish()
}

/// The error 42804: the argument types do not determine the result type.
pub(crate) fn undetermined() -> SqlError {
    let message = "could not determine polymorphic type because input has type unknown";
    SqlError::new(state::DATATYPE_MISMATCH, message).of_values()
}
