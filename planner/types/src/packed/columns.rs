//! [`ColumnBuilder`]: builds an Arrow array from keys, rows and datums without an allocation per value.

use super::corrupted;
use super::fixed::Fixed;
use super::key::KeyValue;
use super::variable::Variable;
use super::{push_varint, read_varint};
use crate::array::{ShapesBuilder, shape_length};
use crate::numeric::Numeric;
use crate::value::{ValueRef, value_at, value_of};
use crate::{BaseType, Datum, SqlType, interval, length};
use arrow::array::{ArrayRef, AsArray, BooleanBuilder, FixedSizeBinaryBuilder, LargeBinaryBuilder, NullArray};
use arrow::datatypes::{
    BinaryType, Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    Utf8Type,
};
use sql_error::{Result, SqlError};
use std::sync::Arc;

/// Builds the Arrow array of one column.
#[derive(Debug)]
pub struct ColumnBuilder {
    ty: SqlType,
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Bool(BooleanBuilder),
    Int2(Fixed<Int16Type>),
    Int4(Fixed<Int32Type>),
    Int8(Fixed<Int64Type>),
    Float4(Fixed<Float32Type>),
    Float8(Fixed<Float64Type>),
    Date(Fixed<Date32Type>),
    Timestamp(Fixed<TimestampMicrosecondType>),
    Text(Variable<Utf8Type>),
    Numeric(Variable<BinaryType>),
    Bytea(LargeBinaryBuilder),
    Uuid(FixedSizeBinaryBuilder),
    Array { elements: Box<ColumnBuilder>, shapes: ShapesBuilder },
    Void(usize),
}

fn bad() -> SqlError {
    corrupted("a value")
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    <[u8; N]>::try_from(bytes).map_err(|_| bad())
}

impl ColumnBuilder {
    /// An empty builder with room for `capacity` values.
    pub fn new(ty: SqlType, capacity: usize) -> Self {
        let inner = if ty.array {
            let elements = Box::new(ColumnBuilder::new(ty.element(), capacity));
            Inner::Array { elements, shapes: ShapesBuilder::new(capacity) }
        } else {
            match ty.base {
                BaseType::Bool => Inner::Bool(BooleanBuilder::with_capacity(capacity)),
                BaseType::Int2 => Inner::Int2(Fixed::with_capacity(capacity)),
                BaseType::Int4 => Inner::Int4(Fixed::with_capacity(capacity)),
                BaseType::Int8
                | BaseType::Enum(_)
                | BaseType::Time
                | BaseType::Oid
                | crate::object_name_type!()
                | BaseType::Xid
                | BaseType::Cid
                | BaseType::Xid8
                | BaseType::Tid => Inner::Int8(Fixed::with_capacity(capacity)),
                BaseType::Float4 => Inner::Float4(Fixed::with_capacity(capacity)),
                BaseType::Float8 => Inner::Float8(Fixed::with_capacity(capacity)),
                BaseType::Date => Inner::Date(Fixed::with_capacity(capacity)),
                BaseType::Timestamp | BaseType::Timestamptz => {
                    Inner::Timestamp(Fixed::with_capacity(capacity).with_data_type(ty.arrow()))
                }
                BaseType::Text
                | BaseType::Varchar
                | BaseType::Char
                | BaseType::Name
                | BaseType::SingleChar
                | BaseType::Json
                | BaseType::Jsonb
                | BaseType::Jsonpath
                | BaseType::Unknown => Inner::Text(Variable::with_capacity(capacity, capacity * 16)),
                BaseType::Numeric | BaseType::Interval | BaseType::Timetz | BaseType::Record(_) => {
                    Inner::Numeric(Variable::with_capacity(capacity, capacity * 12))
                }
                BaseType::Bytea => Inner::Bytea(LargeBinaryBuilder::with_capacity(capacity, capacity * 16)),
                BaseType::Uuid => Inner::Uuid(FixedSizeBinaryBuilder::with_capacity(capacity, 16)),
                BaseType::Void => Inner::Void(0),
            }
        };
        ColumnBuilder { ty, inner }
    }

    /// Makes room for so many more values, where that spares something.
    pub fn reserve(&mut self, values: usize) {
        match &mut self.inner {
            Inner::Int2(builder) => builder.reserve(values),
            Inner::Int4(builder) => builder.reserve(values),
            Inner::Int8(builder) => builder.reserve(values),
            Inner::Float4(builder) => builder.reserve(values),
            Inner::Float8(builder) => builder.reserve(values),
            Inner::Date(builder) => builder.reserve(values),
            Inner::Timestamp(builder) => builder.reserve(values),
            Inner::Text(builder) => builder.reserve_values(values),
            Inner::Numeric(builder) => builder.reserve_values(values),
            Inner::Bool(_) | Inner::Bytea(_) | Inner::Uuid(_) | Inner::Array { .. } | Inner::Void(_) => {}
        }
    }

    /// Reserves as many bytes for text as an array of the same type has.
    pub fn reserve_as_in(&mut self, array: &ArrayRef) {
        match &mut self.inner {
            Inner::Text(builder) => {
                builder.reserve(array.as_string_opt::<i32>().map_or(0, |array| array.value_data().len()))
            }
            Inner::Numeric(builder) => {
                builder.reserve(array.as_binary_opt::<i32>().map_or(0, |array| array.value_data().len()))
            }
            _ => {}
        }
    }

    /// Appends a NULL value.
    pub fn append_null(&mut self) {
        match &mut self.inner {
            Inner::Bool(builder) => builder.append_null(),
            Inner::Int2(builder) => builder.append_null(),
            Inner::Int4(builder) => builder.append_null(),
            Inner::Int8(builder) => builder.append_null(),
            Inner::Float4(builder) => builder.append_null(),
            Inner::Float8(builder) => builder.append_null(),
            Inner::Date(builder) => builder.append_null(),
            Inner::Timestamp(builder) => builder.append_null(),
            Inner::Text(builder) => builder.append_null(),
            Inner::Numeric(builder) => builder.append_null(),
            Inner::Bytea(builder) => builder.append_null(),
            Inner::Uuid(builder) => builder.append_null(),
            Inner::Array { shapes, .. } => shapes.append_null(),
            Inner::Void(count) => *count += 1,
        }
    }

    /// Appends a value. Errors: XX000 if it is not of the column's Arrow type.
    pub fn append(&mut self, value: &ValueRef<'_>) -> Result<()> {
        match (&mut self.inner, value) {
            (_, ValueRef::Null) => self.append_null(),
            (Inner::Bool(builder), ValueRef::Bool(value)) => builder.append_value(*value),
            (Inner::Int2(builder), ValueRef::Int2(value)) => builder.append_value(*value),
            (Inner::Int4(builder), ValueRef::Int4(value)) => builder.append_value(*value),
            (Inner::Int8(builder), ValueRef::Int8(value)) => builder.append_value(*value),
            (Inner::Float4(builder), ValueRef::Float4(value)) => builder.append_value(*value),
            (Inner::Float8(builder), ValueRef::Float8(value)) => builder.append_value(*value),
            (Inner::Date(builder), ValueRef::Date(value)) => builder.append_value(*value),
            (Inner::Timestamp(builder), ValueRef::Int8(value)) => builder.append_value(*value),
            (Inner::Text(builder), ValueRef::Text(value)) => builder.append_value(value.as_bytes())?,
            (Inner::Numeric(builder), ValueRef::Bytes(value)) => builder.append_value(value)?,
            (Inner::Bytea(builder), ValueRef::Bytes(value)) => builder.append_value(value),
            (Inner::Uuid(builder), ValueRef::Bytes(value)) => builder.append_value(value)?,
            (Inner::Array { elements, shapes }, ValueRef::Array(array)) => {
                for at in 0..array.len() {
                    elements.append(&value_at(array.elements().as_ref(), at)?)?;
                }
                shapes.append(array.len(), array)?;
            }
            _ => {
                return Err(SqlError::internal(format!("a value that is not of type {}", self.ty.name())));
            }
        }
        Ok(())
    }

    /// Appends a datum. Errors: as [`ColumnBuilder::append`].
    pub fn append_datum(&mut self, datum: &Datum) -> Result<()> {
        self.append(&value_of(datum)?)
    }

    /// Appends a value of a row, as [`push_value`] wrote it.
    pub fn append_row_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.inner {
            Inner::Bool(builder) => builder.append_value(fixed::<1>(bytes)? != [0]),
            Inner::Int2(builder) => builder.append_value(i16::from_le_bytes(fixed(bytes)?)),
            Inner::Int4(builder) => builder.append_value(i32::from_le_bytes(fixed(bytes)?)),
            Inner::Int8(builder) => builder.append_value(i64::from_le_bytes(fixed(bytes)?)),
            Inner::Float4(builder) => builder.append_value(f32::from_le_bytes(fixed(bytes)?)),
            Inner::Float8(builder) => builder.append_value(f64::from_le_bytes(fixed(bytes)?)),
            Inner::Date(builder) => builder.append_value(i32::from_le_bytes(fixed(bytes)?)),
            Inner::Timestamp(builder) => builder.append_value(i64::from_le_bytes(fixed(bytes)?)),
            Inner::Text(builder) if is_padded(self.ty) => append_padded(builder, bytes, self.ty.modifier)?,
            Inner::Text(builder) => builder.append_value(bytes)?,
            Inner::Numeric(builder) => builder.append_value(bytes)?,
            Inner::Bytea(builder) => builder.append_value(bytes),
            Inner::Uuid(builder) => builder.append_value(bytes)?,
            Inner::Array { elements, shapes } => {
                let (shape, mut rest) = split_shape(bytes).ok_or_else(bad)?;
                let mut count = 0;
                while !rest.is_empty() {
                    match take_value(&mut rest).ok_or_else(bad)? {
                        Some(element) => elements.append_row_bytes(element)?,
                        None => elements.append_null(),
                    }
                    count += 1;
                }
                shapes.append_bytes(count, shape)?;
            }
            Inner::Void(count) => *count += 1,
        }
        Ok(())
    }

    /// Appends what a key gave back.
    pub fn append_key_value(&mut self, value: &KeyValue<'_>) -> Result<()> {
        let bytes = match value {
            KeyValue::Null => {
                self.append_null();
                return Ok(());
            }
            KeyValue::Plain(bytes) => *bytes,
        };
        let u32_of = |bytes| fixed::<4>(bytes).map(u32::from_be_bytes);
        let u64_of = |bytes| fixed::<8>(bytes).map(u64::from_be_bytes);
        match &mut self.inner {
            Inner::Bool(builder) => builder.append_value(fixed::<1>(bytes)? != [0]),
            Inner::Int2(builder) => builder.append_value((u16::from_be_bytes(fixed(bytes)?) ^ 1 << 15) as i16),
            Inner::Int4(builder) => builder.append_value((u32_of(bytes)? ^ 1 << 31) as i32),
            Inner::Date(builder) => builder.append_value((u32_of(bytes)? ^ 1 << 31) as i32),
            Inner::Int8(builder) => builder.append_value((u64_of(bytes)? ^ 1 << 63) as i64),
            Inner::Timestamp(builder) => builder.append_value((u64_of(bytes)? ^ 1 << 63) as i64),
            Inner::Float4(builder) => {
                let bits = u32_of(bytes)?;
                builder.append_value(f32::from_bits(if bits >> 31 == 1 { bits ^ 1 << 31 } else { !bits }));
            }
            Inner::Float8(builder) => {
                let bits = u64_of(bytes)?;
                builder.append_value(f64::from_bits(if bits >> 63 == 1 { bits ^ 1 << 63 } else { !bits }));
            }
            Inner::Text(builder) if is_padded(self.ty) => append_padded(builder, bytes, self.ty.modifier)?,
            Inner::Text(builder) => builder.append_value(bytes)?,
            // An interval's key has no months: the result only compares equal. A time is decoded exactly.
            Inner::Numeric(builder) if self.ty.base == BaseType::Interval => {
                builder.append_value(&interval::canonical(bytes))?;
            }
            Inner::Numeric(builder) if self.ty.base == BaseType::Timetz => builder.append_value(bytes)?,
            Inner::Numeric(builder) => {
                // The scale is lost: use the least one that shows all digits.
                builder.append_value(&Numeric::from_key(bytes, 0)?.0.to_bytes())?;
            }
            Inner::Bytea(builder) => builder.append_value(bytes),
            Inner::Uuid(builder) => builder.append_value(bytes)?,
            Inner::Array { .. } => {
                return Err(SqlError::internal("an array is not read from a key"));
            }
            Inner::Void(count) => *count += 1,
        }
        Ok(())
    }

    /// Finishes the array and clears the builder.
    pub fn finish(&mut self) -> Result<ArrayRef> {
        Ok(match &mut self.inner {
            Inner::Bool(builder) => Arc::new(builder.finish()),
            Inner::Int2(builder) => Arc::new(builder.finish()),
            Inner::Int4(builder) => Arc::new(builder.finish()),
            Inner::Int8(builder) => Arc::new(builder.finish()),
            Inner::Float4(builder) => Arc::new(builder.finish()),
            Inner::Float8(builder) => Arc::new(builder.finish()),
            Inner::Date(builder) => Arc::new(builder.finish()),
            Inner::Timestamp(builder) => Arc::new(builder.finish()),
            Inner::Text(builder) => Arc::new(builder.finish().ok_or_else(bad)?),
            Inner::Numeric(builder) => Arc::new(builder.finish().ok_or_else(bad)?),
            Inner::Bytea(builder) => Arc::new(builder.finish()),
            Inner::Uuid(builder) => Arc::new(builder.finish()),
            Inner::Array { elements, shapes } => shapes.finish(elements.finish()?)?,
            Inner::Void(count) => Arc::new(NullArray::new(std::mem::take(count))),
        })
    }
}

/// Whether values of a type are padded with spaces to a length that the type tells, so that they need not be stored.
pub fn is_padded(ty: SqlType) -> bool {
    ty.base == BaseType::Char && !ty.array && length::characters(ty.modifier).is_some()
}

/// Appends a char(n) whose trailing spaces may be missing.
fn append_padded(builder: &mut Variable<Utf8Type>, bytes: &[u8], modifier: i32) -> Result<()> {
    // Count characters as bytes that are not continuation bytes.
    let stored = bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    builder.append_padded(bytes, length::characters(modifier).unwrap_or(0).saturating_sub(stored))
}

/// Precedes the shape of an array that is not ordinary. No value begins with these bytes.
const SHAPED: [u8; 2] = [0x80, 0];

/// Splits a stored array into its shape (unless it is ordinary) and its elements.
fn split_shape(bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let Some(rest) = bytes.strip_prefix(&SHAPED) else { return Some((None, bytes)) };
    let (shape, elements) = rest.split_at_checked(shape_length(*rest.first()?)?)?;
    Some((Some(shape), elements))
}

/// Appends `length + 1` and the bytes of a value, or `0` for NULL.
pub fn push_value(value: &ValueRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    fn sized(bytes: &[u8], out: &mut Vec<u8>) {
        push_varint(bytes.len() as u64 + 1, out);
        out.extend_from_slice(bytes);
    }
    match value {
        ValueRef::Null => out.push(0),
        ValueRef::Bool(value) => sized(&[u8::from(*value)], out),
        ValueRef::Int2(value) => sized(&value.to_le_bytes(), out),
        ValueRef::Int4(value) | ValueRef::Date(value) => sized(&value.to_le_bytes(), out),
        ValueRef::Int8(value) => sized(&value.to_le_bytes(), out),
        ValueRef::Float4(value) => sized(&value.to_le_bytes(), out),
        ValueRef::Float8(value) => sized(&value.to_le_bytes(), out),
        ValueRef::Text(value) => sized(value.as_bytes(), out),
        ValueRef::Bytes(value) => sized(value, out),
        ValueRef::Array(array) => {
            let mut body = Vec::new();
            if !array.is_ordinary() {
                body.extend_from_slice(&SHAPED);
                array.push_shape(&mut body);
            }
            for at in 0..array.len() {
                push_value(&value_at(array.elements().as_ref(), at)?, &mut body)?;
            }
            sized(&body, out);
        }
    }
    Ok(())
}

/// Reads what [`push_value`] wrote and advances: the bytes, or `None` inside for NULL. `None` outside: cut off.
pub fn take_value<'a>(bytes: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let Some(length) = read_varint(bytes)?.checked_sub(1) else {
        return Some(None);
    };
    let (value, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(Some(value))
}
