//! Arrays with an element or a slice of them replaced: what UPDATE assigns to `a[1]` and `a[1:2]`.

use crate::encoding::ColumnBuilder;
use crate::error::{Result, SqlError, state};
use crate::functions::TypedExpr;
use crate::functions::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::functions::typed::{Int4, List};
use crate::types::SqlType;
use crate::types::value::{ValueRef, value_at};
use datafusion::arrow::array::{Array, ArrayRef};
use std::sync::Arc;

/// Elements of an array, at most, as in PostgreSQL.
const MOST: i32 = 134_217_727;

/// The array with an element replaced. The array may be NULL; the place is int4, the value of the element's type.
pub(crate) fn with_element(array: TypedExpr, place: TypedExpr, value: TypedExpr) -> TypedExpr {
    let (ty, types) = (array.ty, vec![array.ty, SqlType::INT4, value.ty]);
    let kernel: Kernel = Arc::new(element);
    KernelFunction::new("array with element", types, ty, Stability::Immutable, kernel, None)
        .call(vec![array.expr, place.expr, value.expr])
}

/// The array with the elements between two places, both included, replaced by the first ones of another of its type.
pub(crate) fn with_slice(array: TypedExpr, from: TypedExpr, to: TypedExpr, value: TypedExpr) -> TypedExpr {
    let (ty, types) = (array.ty, vec![array.ty, SqlType::INT4, SqlType::INT4, value.ty]);
    let kernel: Kernel = Arc::new(slice);
    KernelFunction::new("array with slice", types, ty, Stability::Immutable, kernel, None)
        .call(vec![array.expr, from.expr, to.expr, value.expr])
}

fn bounds() -> SqlError {
    SqlError::unsupported("an array whose subscripts do not begin with 1")
}

/// A subscript as a place from 0. `length`: how many elements there are. Errors: 22004, 54000, 0A000.
fn place(subscript: Option<i32>, length: usize) -> Result<usize> {
    let message = "array subscript in assignment must not be null";
    let subscript = subscript.ok_or_else(|| SqlError::new(state::NULL_VALUE_NOT_ALLOWED, message))?;
    if subscript > MOST {
        let message = format!("array size exceeds the maximum allowed ({MOST})");
        return Err(SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message));
    }
    match usize::try_from(subscript) {
        Ok(1) => Ok(0),
        Ok(place @ 2..) if length > 0 => Ok(place - 1),
        _ => Err(bounds()),
    }
}

/// Appends elements of an array from a place to before another, NULL where there are none.
fn copy(made: &mut ColumnBuilder, elements: Option<&ArrayRef>, from: usize, to: usize) -> Result<()> {
    for at in from..to {
        match elements.filter(|elements| at < elements.len()) {
            Some(elements) => made.append(&value_at(elements.as_ref(), at)?)?,
            None => made.append_null(),
        }
    }
    Ok(())
}

fn element(call: &Call<'_>) -> Result<ArrayRef> {
    let (lists, places, values) = (call.column::<List>(0)?, call.column::<Int4>(1)?, call.array(2)?);
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let elements = lists.get(row)?;
        let length = elements.as_ref().map_or(0, |elements| elements.len());
        let at = place(places.get(row)?, length)?;
        let mut made = ColumnBuilder::new(call.result.element(), length.max(at + 1));
        copy(&mut made, elements.as_ref(), 0, at)?;
        made.append(&value_at(values.as_ref(), Call::row_of(values, row))?)?;
        copy(&mut made, elements.as_ref(), at + 1, length)?;
        builder.append(&ValueRef::List(made.finish()?))?;
    }
    builder.finish()
}

fn slice(call: &Call<'_>) -> Result<ArrayRef> {
    let (lists, starts, ends) = (call.column::<List>(0)?, call.column::<Int4>(1)?, call.column::<Int4>(2)?);
    let values = call.column::<List>(3)?;
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let elements = lists.get(row)?;
        let length = elements.as_ref().map_or(0, |elements| elements.len());
        // Nothing is written of NULL.
        let Some(value) = values.get(row)? else {
            match elements {
                Some(elements) => builder.append(&ValueRef::List(elements))?,
                None => builder.append_null(),
            }
            continue;
        };
        let (from, to) = (starts.get(row)?, ends.get(row)?);
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            return Err(SqlError::new("2202E", "upper bound cannot be less than lower bound"));
        }
        let (from, to) = (place(from, length)?, place(to, length.max(1))?);
        if value.len() < to + 1 - from {
            return Err(SqlError::new("2202E", "source array too small"));
        }
        let mut made = ColumnBuilder::new(call.result.element(), length.max(to + 1));
        copy(&mut made, elements.as_ref(), 0, from)?;
        copy(&mut made, Some(&value), 0, to + 1 - from)?;
        copy(&mut made, elements.as_ref(), to + 1, length)?;
        builder.append(&ValueRef::List(made.finish()?))?;
    }
    builder.finish()
}
