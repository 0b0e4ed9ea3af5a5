//! Arrays of arrays: ARRAY[a, b] and array_agg over arrays add one dimension.

use crate::kernel::Call;
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::concat;
use sql_error::{Result, SqlError, state};
use types::array::{ArrayValue, Dimension, MOST_DIMENSIONS, subscript_error, too_many_dimensions};
use types::value::{ValueRef, value_at};

/// Combines arrays of one shape. `None` if there are none.
fn stacked(parts: &[ArrayValue]) -> Result<Option<ArrayValue>> {
    let Some(first) = parts.first() else { return Ok(None) };
    let mut dimensions = vec![Dimension::of(parts.len())];
    dimensions.extend(first.dimensions());
    if dimensions.len() > MOST_DIMENSIONS {
        return Err(too_many_dimensions(dimensions.len()));
    }
    // Check the size before allocating.
    types::array::count(&dimensions)?;
    let elements: Vec<&dyn Array> = parts.iter().map(|part| part.elements().as_ref()).collect();
    ArrayValue::new(concat(&elements)?, &dimensions).map(Some)
}

/// `ARRAY[a, b]` of arrays. NULL and empty arrays are skipped. Errors: 2202E, 54000.
pub(super) fn construct(call: &Call<'_>) -> Result<ArrayRef> {
    let mismatch = || subscript_error("multidimensional arrays must have array expressions with matching dimensions");
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let mut parts: Vec<ArrayValue> = Vec::with_capacity(call.arguments.len());
        for array in call.arguments {
            match value_at(array.as_ref(), Call::row_of(array, row))? {
                ValueRef::Array(part) if !part.is_empty() => {
                    if parts.first().is_some_and(|first| first.dimensions() != part.dimensions()) {
                        return Err(mismatch());
                    }
                    parts.push(part);
                }
                _ => {}
            }
        }
        if !parts.is_empty() && parts.len() < call.arguments.len() {
            return Err(mismatch());
        }
        match stacked(&parts)? {
            Some(array) => builder.append(&ValueRef::Array(array))?,
            None => {
                let empty = ColumnBuilder::new(call.result.element(), 0).finish()?;
                builder.append(&ValueRef::array(empty))?;
            }
        }
    }
    builder.finish()
}

/// The result of array_agg over a column of arrays. Errors: 22004, 2202E, 54000.
pub(crate) fn collected(arrays: &ArrayRef) -> Result<Option<ArrayValue>> {
    let arrays = arrays.as_struct_opt().ok_or_else(|| SqlError::internal("array_agg got no arrays"))?;
    let mut parts: Vec<ArrayValue> = Vec::with_capacity(arrays.len());
    for row in 0..arrays.len() {
        if arrays.is_null(row) {
            return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, "cannot accumulate null arrays"));
        }
        let part = ArrayValue::at(arrays, row)?;
        if part.is_empty() {
            return Err(subscript_error("cannot accumulate empty arrays"));
        }
        if parts.first().is_some_and(|first| first.dimensions() != part.dimensions()) {
            return Err(subscript_error("cannot accumulate arrays of different dimensionality"));
        }
        parts.push(part);
    }
    stacked(&parts)
}
