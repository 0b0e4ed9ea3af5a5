//! Functions over an array's extent: array_dims, array_fill, trim_array, slices, and the ordinals of its elements.

use crate::encoding::ColumnBuilder;
use crate::error::{Result, SqlError, state};
use crate::functions::kernel::{Call, Kernel, Stability};
use crate::functions::registry::{Param, ResultType, ScalarFunction};
use crate::functions::typed::{Int4, List, Nullable, Text, unary};
use crate::types::SqlType;
use crate::types::value::{ValueRef, value_at};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use datafusion::arrow::datatypes::Int32Type;
use std::sync::Arc;

/// Bytes of an array that array_fill makes, at most, as in PostgreSQL; of an element without bytes of its own eight are
/// counted.
const MOST: usize = (1 << 30) - 1;

/// `array slice(array, from, to)`: an array's elements between two places, both included; a bound that is NULL makes
/// the slice NULL.
fn slice(call: &Call<'_>) -> Result<ArrayRef> {
    let lists = call.column::<List>(0)?;
    let (from, to) = (call.column::<Int4>(1)?, call.column::<Int4>(2)?);
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        match (lists.get(row)?, from.get(row)?, to.get(row)?) {
            (Some(elements), Some(from), Some(to)) => {
                let start = usize::try_from(from.max(1) - 1).unwrap_or(0).min(elements.len());
                let end = usize::try_from(to.max(0)).unwrap_or(0).min(elements.len());
                builder.append(&ValueRef::List(elements.slice(start, end.saturating_sub(start))))?;
            }
            _ => builder.append_null(),
        }
    }
    builder.finish()
}

fn trim(call: &Call<'_>) -> Result<ArrayRef> {
    let (lists, counts) = (call.column::<List>(0)?, call.column::<Int4>(1)?);
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        match (lists.get(row)?, counts.get(row)?) {
            (Some(elements), Some(count)) => {
                let count = usize::try_from(count).ok().filter(|count| *count <= elements.len()).ok_or_else(|| {
                    let message = format!("number of elements to trim must be between 0 and {}", elements.len());
                    SqlError::new("2202E", message)
                })?;
                builder.append(&ValueRef::List(elements.slice(0, elements.len() - count)))?;
            }
            _ => builder.append_null(),
        }
    }
    builder.finish()
}

fn fill(call: &Call<'_>) -> Result<ArrayRef> {
    let (values, lengths) = (call.array(0)?, call.column::<List>(1)?);
    let missing = || SqlError::new(state::NULL_VALUE_NOT_ALLOWED, "dimension array or low bound array cannot be null");
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    let mut made = 0;
    for row in 0..call.rows {
        let lengths = lengths.get(row)?.ok_or_else(missing)?;
        let length = match lengths.len() {
            0 => 0,
            1 if lengths.is_null(0) => {
                return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, "dimension values cannot be null"));
            }
            1 => lengths.as_primitive::<Int32Type>().value(0),
            _ => return Err(SqlError::unsupported("an array of several dimensions")),
        };
        let value = value_at(values.as_ref(), Call::row_of(values, row))?;
        let bytes = match &value {
            ValueRef::Text(text) => text.len().max(8),
            ValueRef::Bytes(bytes) => bytes.len().max(8),
            _ => 8,
        };
        // What all rows of a batch make is in memory at once.
        let fits = |length: &usize| length.checked_mul(bytes).is_some_and(|more| made + more <= MOST);
        let length = usize::try_from(length).ok().filter(fits).ok_or_else(|| {
            let message = format!("array size exceeds the maximum allowed ({MOST})");
            SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message)
        })?;
        made += length * bytes;
        let mut elements = ColumnBuilder::new(call.result.element(), length);
        for _ in 0..length {
            elements.append(&value)?;
        }
        builder.append(&ValueRef::List(elements.finish()?))?;
    }
    builder.finish()
}

/// `array ordinals(array, …)`: 1, 2, … up to the length of the longest array.
fn ordinals(call: &Call<'_>) -> Result<ArrayRef> {
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let mut longest = 0;
        for array in call.arguments {
            if let ValueRef::List(elements) = value_at(array.as_ref(), Call::row_of(array, row))? {
                longest = longest.max(elements.len() as i64);
            }
        }
        builder.append(&ValueRef::List(Arc::new(Int64Array::from_iter_values(1..=longest))))?;
    }
    builder.finish()
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let immutable = Stability::Immutable;
    let int4 = Param::Is(SqlType::INT4);
    let make = |name, arguments: &[Param], result, kernel: Kernel| {
        ScalarFunction::polymorphic(name, arguments, false, result, immutable, kernel)
    };
    vec![
        make(
            "array_dims",
            &[Param::AnyArray],
            ResultType::Is(SqlType::TEXT),
            unary::<List, Text, _>(|elements: ArrayRef| {
                Nullable(Ok((!elements.is_empty()).then(|| format!("[1:{}]", elements.len()))))
            }),
        ),
        make("trim_array", &[Param::AnyArray, int4], ResultType::Argument(0), Arc::new(trim)),
        make("array slice", &[Param::AnyArray, int4, int4], ResultType::Argument(0), Arc::new(slice)),
        make("array_fill", &[Param::Any, Param::Is(SqlType::INT4.array_of())], ResultType::ArrayOf(0), Arc::new(fill)),
        ScalarFunction::polymorphic(
            "array ordinals",
            &[Param::AnyArray],
            true,
            ResultType::Is(SqlType::INT8.array_of()),
            immutable,
            Arc::new(ordinals),
        ),
    ]
}
