//! Elements and slices of arrays: `a[1][2]`, `a[1:2]`. Also the assignments to them that UPDATE needs.

use crate::TypedExpr;
use crate::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::typed::{Column, Int4, List};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::ArrayRef;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::array::{ArrayValue, Span};
use types::value::{ValueRef, value_at};

/// The subscripts of one dimension.
#[derive(Clone, Debug)]
pub enum Subscripts {
    /// An index `[i]` of type int4.
    Place(TypedExpr),
    /// A slice `[i:j]`, where either bound may be left out.
    Part(Option<TypedExpr>, Option<TypedExpr>),
}

/// The subscripts as arguments. The flags say for each dimension which of its bounds are given.
fn arguments(subscripts: Vec<Subscripts>) -> (Vec<TypedExpr>, Vec<(bool, bool)>) {
    let (mut arguments, mut given) = (Vec::new(), Vec::new());
    for subscript in subscripts {
        let (lower, upper) = match subscript {
            Subscripts::Place(place) => (Some(place), None),
            Subscripts::Part(lower, upper) => (lower, upper),
        };
        given.push((lower.is_some(), upper.is_some()));
        arguments.extend(lower.into_iter().chain(upper));
    }
    (arguments, given)
}

/// Converts all subscripts to slices if one is a slice: `[i]` then means `[1:i]`.
fn as_parts(subscripts: Vec<Subscripts>) -> Vec<Subscripts> {
    let one = || TypedExpr::literal(types::Datum::Int32(Some(1)), types::SqlType::INT4);
    let part = |subscript| match subscript {
        Subscripts::Place(place) => Subscripts::Part(Some(one()), Some(place)),
        part => part,
    };
    subscripts.into_iter().map(part).collect()
}

fn is_slice(subscripts: &[Subscripts]) -> bool {
    subscripts.iter().any(|subscript| matches!(subscript, Subscripts::Part(..)))
}

fn function(name: &str, array: TypedExpr, rest: Vec<TypedExpr>, result: types::SqlType, kernel: Kernel) -> TypedExpr {
    let all: Vec<TypedExpr> = std::iter::once(array).chain(rest).collect();
    let types = all.iter().map(|expr| expr.ty).collect();
    KernelFunction::new(name, types, result, Stability::Immutable, kernel, None)
        .call(all.into_iter().map(|expr| expr.expr).collect())
}

/// The element or slice of an array. NULL if it does not exist or an argument is NULL.
pub fn subscripted(array: TypedExpr, subscripts: Vec<Subscripts>) -> TypedExpr {
    let element = array.ty.element();
    if is_slice(&subscripts) {
        let (rest, given) = arguments(as_parts(subscripts));
        // A slice of a vector is an array.
        let result = element.array_of();
        let kernel: Kernel = Arc::new({
            let given = given.clone();
            move |call: &Call<'_>| slice(call, &given)
        });
        return function(&format!("array slice {given:?}"), array, rest, result, kernel);
    }
    let (rest, _) = arguments(subscripts);
    function("array element", array, rest, element, Arc::new(element_at))
}

fn element_at(call: &Call<'_>) -> Result<ArrayRef> {
    let arrays = call.column::<List>(0)?;
    let places = (1..call.arguments.len()).map(|at| call.column::<Int4>(at)).collect::<Result<Vec<_>>>()?;
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let array = arrays.get(row)?;
        let place = match (&array, numbers(&places, row)?) {
            (Some(array), Some(subscripts)) => array.place(&subscripts),
            _ => None,
        };
        match (array, place) {
            (Some(array), Some(place)) => builder.append(&value_at(array.elements().as_ref(), place)?)?,
            _ => builder.append_null(),
        }
    }
    builder.finish()
}

/// The subscripts of a row. `None` if one is NULL.
fn numbers(columns: &[Column<'_, Int4>], row: usize) -> Result<Option<Vec<i32>>> {
    columns.iter().map(|column| column.get(row)).collect()
}

/// Assigns the given bounds to their dimensions.
fn spans(given: &[(bool, bool)], numbers: Vec<i32>) -> Vec<Span> {
    let mut numbers = numbers.into_iter();
    let mut next = |given: bool| if given { numbers.next() } else { None };
    given.iter().map(|(lower, upper)| Span { lower: next(*lower), upper: next(*upper) }).collect()
}

fn slice(call: &Call<'_>, given: &[(bool, bool)]) -> Result<ArrayRef> {
    let arrays = call.column::<List>(0)?;
    let bounds = (1..call.arguments.len()).map(|at| call.column::<Int4>(at)).collect::<Result<Vec<_>>>()?;
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        match (arrays.get(row)?, numbers(&bounds, row)?) {
            (Some(array), Some(numbers)) => builder.append(&ValueRef::Array(array.slice(&spans(given, numbers))?))?,
            _ => builder.append_null(),
        }
    }
    builder.finish()
}

/// The array with an element or slice replaced by `value`. A NULL array counts as empty. Errors while running: 22004,
/// 2202E, 54000.
pub fn replaced(array: TypedExpr, subscripts: Vec<Subscripts>, value: TypedExpr) -> TypedExpr {
    let (ty, sliced) = (array.ty, is_slice(&subscripts));
    let (mut rest, given) = arguments(if sliced { as_parts(subscripts) } else { subscripts });
    rest.push(value);
    let name = format!("array with {} {given:?}", if sliced { "slice" } else { "element" });
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| assign(call, &given, sliced));
    function(&name, array, rest, ty, kernel)
}

fn assign(call: &Call<'_>, given: &[(bool, bool)], sliced: bool) -> Result<ArrayRef> {
    let arrays = call.column::<List>(0)?;
    let last = call.arguments.len().saturating_sub(1);
    let places = (1..last).map(|at| call.column::<Int4>(at)).collect::<Result<Vec<_>>>()?;
    let values = call.array(last)?;
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let old = match arrays.get(row)? {
            Some(array) => array,
            None => ColumnBuilder::new(call.result.element(), 0).finish()?.into(),
        };
        let message = "array subscript in assignment must not be null";
        let numbers = numbers(&places, row)?.ok_or_else(|| SqlError::new(state::NULL_VALUE_NOT_ALLOWED, message))?;
        let at = Call::row_of(values, row);
        let made: ArrayValue = match value_at(values.as_ref(), at)? {
            // Assigning NULL to a slice changes nothing.
            ValueRef::Null if sliced => old,
            ValueRef::Array(source) if sliced => old.with_slice(&spans(given, numbers), &source)?,
            _ => old.with_element(&numbers, &values.slice(at, 1))?,
        };
        builder.append(&ValueRef::Array(made))?;
    }
    builder.finish()
}
