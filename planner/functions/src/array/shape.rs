//! Functions over an array's shape, such as array_dims, and array_fill, trim_array and the ordinals of elements.

use crate::kernel::{Call, Kernel, Stability};
use crate::registry::{Param, ResultType, ScalarFunction};
use crate::typed::{Int4, List, Nullable, Text, binary, unary};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use datafusion::arrow::datatypes::Int32Type;
use sql_error::interrupt;
use sql_error::value_size::{self, room};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::array::{ArrayValue, Dimension, Span, count, subscript_error, too_many_dimensions};
use types::value::{ValueRef, value_at};

/// Most bytes of an array that array_fill makes, as in PostgreSQL. An element without bytes of its own counts as eight.
const MOST: usize = 0x3fff_ffff;
/// Number of elements between two checks for cancellation.
const ELEMENTS_BETWEEN_CHECKS: usize = 1 << 16;

fn trim(call: &Call<'_>) -> Result<ArrayRef> {
    let (arrays, counts) = (call.column::<List>(0)?, call.column::<Int4>(1)?);
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        match (arrays.get(row)?, counts.get(row)?) {
            (Some(array), Some(count)) => {
                let outer = array.dimension(0);
                let length = outer.map_or(0, |outer| outer.length);
                if !(0..=length).contains(&count) {
                    let message = format!("number of elements to trim must be between 0 and {length}");
                    return Err(subscript_error(message));
                }
                let upper = outer.map(|outer| outer.upper() - count);
                let upper = upper.filter(|_| count < length);
                let made = match (outer, upper) {
                    (Some(_), Some(upper)) => array.slice(&[Span { lower: None, upper: Some(upper) }])?,
                    _ => array.elements().slice(0, 0).into(),
                };
                builder.append(&ValueRef::Array(made))?;
            }
            _ => builder.append_null(),
        }
    }
    builder.finish()
}

/// The numbers in an argument of array_fill. Errors: 22004, 2202E.
fn sizes(array: Option<ArrayValue>) -> Result<Vec<i32>> {
    let null = |message: &str| SqlError::new(state::NULL_VALUE_NOT_ALLOWED, message);
    let array = array.ok_or_else(|| null("dimension array or low bound array cannot be null"))?;
    if array.dimension_count() > 1 {
        return Err(
            subscript_error("wrong number of array subscripts").detail("Dimension array must be one dimensional.")
        );
    }
    if array.null_count() > 0 {
        return Err(null("dimension values cannot be null"));
    }
    Ok(array.elements().as_primitive::<Int32Type>().values().to_vec())
}

fn fill(call: &Call<'_>) -> Result<ArrayRef> {
    let (values, lengths) = (call.array(0)?, call.column::<List>(1)?);
    let lowers = if call.arguments.len() > 2 { Some(call.column::<List>(2)?) } else { None };
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    let mut made = 0;
    for row in 0..call.rows {
        let lengths = lengths.get(row)?;
        let lowers = lowers.as_ref().map(|lowers| lowers.get(row)).transpose()?;
        if lowers.as_ref().is_some_and(Option::is_none) {
            sizes(None)?;
        }
        let lengths = sizes(lengths)?;
        if lengths.len() > types::array::MOST_DIMENSIONS {
            return Err(too_many_dimensions(lengths.len()));
        }
        let lowers = lowers.map(sizes).transpose()?.unwrap_or_else(|| vec![1; lengths.len()]);
        if lowers.len() != lengths.len() {
            return Err(subscript_error("wrong number of array subscripts")
                .detail("Low bound array has different size than dimensions array."));
        }
        let dimensions: Vec<Dimension> =
            lengths.iter().zip(&lowers).map(|(length, lower)| Dimension { length: *length, lower: *lower }).collect();
        let length = count(&dimensions)?;
        let value = value_at(values.as_ref(), Call::row_of(values, row))?;
        let bytes = match &value {
            ValueRef::Text(text) => text.len().max(8),
            ValueRef::Bytes(bytes) => bytes.len().max(8),
            _ => 8,
        };
        // The arrays of all rows of a batch are in memory at once.
        let fits = length.checked_mul(bytes).filter(|more| made + more <= MOST);
        made += fits.ok_or_else(|| {
            let message = format!("array size exceeds the maximum allowed ({MOST})");
            SqlError::new(state::PROGRAM_LIMIT_EXCEEDED, message)
        })?;
        room((length * bytes).min(value_size::MOST))?;
        let mut elements = ColumnBuilder::new(call.result.element(), length);
        for at in 0..length {
            if at % ELEMENTS_BETWEEN_CHECKS == 0 {
                interrupt::check()?;
            }
            elements.append(&value)?;
        }
        builder.append(&ValueRef::Array(ArrayValue::new(elements.finish()?, &dimensions)?))?;
    }
    builder.finish()
}

/// `array ordinals(array, …)`: 1, 2, … up to the length of the longest array.
fn ordinals(call: &Call<'_>) -> Result<ArrayRef> {
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let mut longest = 0;
        for array in call.arguments {
            if let ValueRef::Array(array) = value_at(array.as_ref(), Call::row_of(array, row))? {
                longest = longest.max(array.len() as i64);
            }
        }
        builder.append(&ValueRef::array(Arc::new(Int64Array::from_iter_values(1..=longest))))?;
    }
    builder.finish()
}

/// A property of the dimension whose number is the second argument.
fn of_dimension(pick: fn(Dimension) -> i32) -> Kernel {
    binary::<List, Int4, Int4, _>(move |array: ArrayValue, number: i32| {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        Nullable(Ok(at.and_then(|at| array.dimension(at)).map(pick)))
    })
}

/// The dimensions as text, such as `[1:2][0:3]`.
fn shown(array: &ArrayValue) -> Option<String> {
    let shown = |dimension: &Dimension| format!("[{}:{}]", dimension.lower, dimension.upper());
    (!array.is_empty()).then(|| array.dimensions().iter().map(shown).collect())
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let immutable = Stability::Immutable;
    let int4 = Param::Is(SqlType::INT4);
    let int4s = Param::Is(SqlType::INT4.array_of());
    let number = ResultType::Is(SqlType::INT4);
    let make = |name, arguments: &[Param], result, kernel: Kernel| {
        ScalarFunction::polymorphic(name, arguments, false, result, immutable, kernel)
    };
    let any = Param::AnyArray;
    vec![
        make("array_length", &[any, int4], number, of_dimension(|dimension| dimension.length)),
        make("array_lower", &[any, int4], number, of_dimension(|dimension| dimension.lower)),
        make("array_upper", &[any, int4], number, of_dimension(|dimension| dimension.upper())),
        make("cardinality", &[any], number, unary::<List, Int4, _>(|array: ArrayValue| Ok(array.len() as i32))),
        make(
            "array_ndims",
            &[any],
            number,
            unary::<List, Int4, _>(|array: ArrayValue| {
                Nullable(Ok((!array.is_empty()).then(|| array.dimension_count() as i32)))
            }),
        ),
        make(
            "array_dims",
            &[any],
            ResultType::Is(SqlType::TEXT),
            unary::<List, Text, _>(|array: ArrayValue| Nullable(Ok(shown(&array)))),
        ),
        make("trim_array", &[any, int4], ResultType::Argument(0), Arc::new(trim)),
        make("array_fill", &[Param::Any, int4s], ResultType::ArrayOf(0), Arc::new(fill)),
        make("array_fill", &[Param::Any, int4s, int4s], ResultType::ArrayOf(0), Arc::new(fill)),
        ScalarFunction::polymorphic(
            "array ordinals",
            &[any],
            true,
            ResultType::Is(SqlType::INT8.array_of()),
            immutable,
            Arc::new(ordinals),
        ),
    ]
}
