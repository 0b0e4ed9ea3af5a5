//! [`ValueRef`]: a borrowed value of an Arrow array or datum of any type.

use crate::Datum;
use crate::array::ArrayValue;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StringArray};
use arrow::datatypes::{
    DataType, Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
};
use datafusion_common::ScalarValue;
use sql_error::{Result, SqlError};

/// A borrowed value in the Arrow form of its type.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ValueRef<'a> {
    Null,
    Bool(bool),
    Int2(i16),
    Int4(i32),
    /// An int8, an oid or a timestamp.
    Int8(i64),
    Float4(f32),
    Float8(f64),
    Date(i32),
    Text(&'a str),
    /// A numeric, a bytea or a uuid.
    Bytes(&'a [u8]),
    Array(ArrayValue),
}

impl ValueRef<'_> {
    /// A one-dimensional array with these elements.
    pub fn array(elements: ArrayRef) -> Self {
        ValueRef::Array(elements.into())
    }
}

fn foreign(data_type: &DataType) -> SqlError {
    SqlError::internal(format!("no SQL value stands as {data_type}"))
}

/// A source of values, addressed by row.
pub trait Column {
    /// The value at `row`. Errors: as [`value_at`].
    fn value(&self, row: usize) -> Result<ValueRef<'_>>;
}

impl Column for ArrayRef {
    fn value(&self, row: usize) -> Result<ValueRef<'_>> {
        value_at(self.as_ref(), row)
    }
}

/// An array from which many values are read. For the most frequent types, the type is checked only once.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// An array of type int4.
    Int4(&'a Int32Array),
    /// An array of type int8.
    Int8(&'a Int64Array),
    /// An array of text values.
    Text(&'a StringArray),
    /// An array of any other type.
    Other(&'a ArrayRef),
}

impl<'a> Values<'a> {
    /// Wraps an array by its type.
    pub fn of(array: &'a ArrayRef) -> Values<'a> {
        let any = array.as_any();
        let int4 = any.downcast_ref().map(Values::Int4);
        let int8 = || any.downcast_ref().map(Values::Int8);
        let text = || any.downcast_ref().map(Values::Text);
        int4.or_else(int8).or_else(text).unwrap_or(Values::Other(array))
    }

    /// Wraps each of several arrays.
    pub fn of_all(arrays: &'a [ArrayRef]) -> Vec<Values<'a>> {
        arrays.iter().map(Values::of).collect()
    }
}

impl Column for Values<'_> {
    fn value(&self, row: usize) -> Result<ValueRef<'_>> {
        fn known<'a, A: Array>(
            array: &'a A,
            row: usize,
            value: impl FnOnce(&'a A) -> ValueRef<'a>,
        ) -> Result<ValueRef<'a>> {
            match array.len() {
                rows if row >= rows => Err(beyond_end()),
                _ if array.is_null(row) => Ok(ValueRef::Null),
                _ => Ok(value(array)),
            }
        }
        match self {
            Values::Int4(array) => known(*array, row, |array| ValueRef::Int4(array.value(row))),
            Values::Int8(array) => known(*array, row, |array| ValueRef::Int8(array.value(row))),
            Values::Text(array) => known(*array, row, |array| ValueRef::Text(array.value(row))),
            Values::Other(array) => value_at(array.as_ref(), row),
        }
    }
}

fn beyond_end() -> SqlError {
    SqlError::internal("a row beyond the end of its array")
}

/// The value of `array` at `row`. Errors: XX000 for an Arrow type that no SQL type uses, or a row out of range.
pub fn value_at(array: &dyn Array, row: usize) -> Result<ValueRef<'_>> {
    if row >= array.len() {
        return Err(beyond_end());
    }
    if array.is_null(row) {
        return Ok(ValueRef::Null);
    }
    Ok(match array.data_type() {
        DataType::Boolean => ValueRef::Bool(array.as_boolean().value(row)),
        DataType::Int16 => ValueRef::Int2(array.as_primitive::<Int16Type>().value(row)),
        DataType::Int32 => ValueRef::Int4(array.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => ValueRef::Int8(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => ValueRef::Float4(array.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => ValueRef::Float8(array.as_primitive::<Float64Type>().value(row)),
        DataType::Date32 => ValueRef::Date(array.as_primitive::<Date32Type>().value(row)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            ValueRef::Int8(array.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        DataType::Utf8 => ValueRef::Text(array.as_string::<i32>().value(row)),
        DataType::Utf8View => ValueRef::Text(array.as_string_view().value(row)),
        DataType::LargeUtf8 => ValueRef::Text(array.as_string::<i64>().value(row)),
        DataType::Binary => ValueRef::Bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => ValueRef::Bytes(array.as_binary::<i64>().value(row)),
        DataType::FixedSizeBinary(_) => ValueRef::Bytes(array.as_fixed_size_binary().value(row)),
        DataType::Struct(_) => ValueRef::Array(ArrayValue::at(array.as_struct(), row)?),
        DataType::Null => ValueRef::Null,
        other => return Err(foreign(other)),
    })
}

/// The value of a datum.
pub fn value_of(datum: &Datum) -> Result<ValueRef<'_>> {
    if datum.is_null() {
        return Ok(ValueRef::Null);
    }
    Ok(match datum {
        ScalarValue::Boolean(Some(value)) => ValueRef::Bool(*value),
        ScalarValue::Int16(Some(value)) => ValueRef::Int2(*value),
        ScalarValue::Int32(Some(value)) => ValueRef::Int4(*value),
        ScalarValue::Int64(Some(value)) | ScalarValue::TimestampMicrosecond(Some(value), _) => ValueRef::Int8(*value),
        ScalarValue::Float32(Some(value)) => ValueRef::Float4(*value),
        ScalarValue::Float64(Some(value)) => ValueRef::Float8(*value),
        ScalarValue::Date32(Some(value)) => ValueRef::Date(*value),
        ScalarValue::Utf8(Some(value)) | ScalarValue::Utf8View(Some(value)) | ScalarValue::LargeUtf8(Some(value)) => {
            ValueRef::Text(value)
        }
        ScalarValue::Binary(Some(value))
        | ScalarValue::LargeBinary(Some(value))
        | ScalarValue::FixedSizeBinary(_, Some(value)) => ValueRef::Bytes(value),
        ScalarValue::Struct(array) => ValueRef::Array(ArrayValue::at(array, 0)?),
        other => return Err(foreign(&other.data_type())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{BinaryArray, Int16Array};
    use std::sync::Arc;

    #[test]
    fn values_of_a_known_kind_are_what_any_are() {
        let arrays: [ArrayRef; 5] = [
            Arc::new(Int32Array::from(vec![Some(7), None])),
            Arc::new(Int64Array::from(vec![Some(-7), None])),
            Arc::new(StringArray::from(vec![Some("seven"), None])),
            Arc::new(Int16Array::from(vec![Some(7), None])),
            Arc::new(BinaryArray::from(vec![Some(&b"7"[..]), None])),
        ];
        for (array, values) in arrays.iter().zip(Values::of_all(&arrays)) {
            for row in 0..2 {
                let shown = [array.value(row).unwrap(), values.value(row).unwrap()].map(|value| format!("{value:?}"));
                assert_eq!(shown[0], shown[1]);
            }
            assert!(array.value(2).is_err() && values.value(2).is_err());
        }
        assert!(matches!(Values::of(&arrays[2]), Values::Text(_)));
    }
}
