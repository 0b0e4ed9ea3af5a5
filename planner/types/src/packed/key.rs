//! Order-preserving encoding of values: byte order is SQL order.

use super::columns::is_padded;
use super::corrupted;
use crate::array::{ArrayValue, shape_length};
use crate::numeric::key_of;
use crate::value::{ValueRef, value_at, value_of};
use crate::{BaseType, Datum, SqlType, interval, json};
use arrow::array::ArrayRef;
use sql_error::{Result, SqlError};

/// Marks NULL if NULLs sort first.
const NULL_FIRST: u8 = 0;
/// Before a value.
pub const VALUE: u8 = 1;
/// NULL where NULLs come last.
const NULL_LAST: u8 = 2;
/// Precedes the shape of an array that is not ordinary.
const SHAPED: u8 = 3;
/// Ends a text or bytea. A zero byte inside is followed by `ff`.
const END: [u8; 2] = [0, 1];

/// A column of a key and its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// SQL type of the column.
    pub ty: SqlType,
    /// Whether the column sorts descending (DESC).
    pub descending: bool,
    /// Whether NULLs sort first (NULLS FIRST).
    pub nulls_first: bool,
    /// Whether the bytes are only compared in memory. Then arrays of all shapes are in order. In the store, arrays of
    /// the ordinary shape keep their old encoding, and others sort behind them.
    pub in_memory: bool,
}

impl KeyColumn {
    /// An ascending column with NULLs last, for comparison in memory.
    pub fn ascending(ty: SqlType) -> Self {
        KeyColumn { ty, descending: false, nulls_first: false, in_memory: true }
    }
    /// The byte that marks NULL.
    pub fn null_marker(&self) -> u8 {
        if self.nulls_first { NULL_FIRST } else { NULL_LAST }
    }
}

/// Whether a value can be decoded exactly from its key. numeric loses its scale, floats the sign of zero, and char
/// without a length its padding.
pub fn exact_in_key(ty: SqlType) -> bool {
    !ty.array
        && match ty.base {
            BaseType::Numeric | BaseType::Interval | BaseType::Jsonb | BaseType::Float4 | BaseType::Float8 => false,
            BaseType::Record(_) => false,
            BaseType::Char => is_padded(ty),
            _ => true,
        }
}

/// Encodes the columns of a key.
#[derive(Clone, Debug)]
pub struct KeyEncoder {
    columns: Vec<KeyColumn>,
}

impl KeyEncoder {
    /// An encoder for these columns in order.
    pub fn new(columns: Vec<KeyColumn>) -> Self {
        KeyEncoder { columns }
    }
    /// The columns of the key, in order.
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }
    /// Appends the key of a row, given one array per column. Fewer arrays give a prefix.
    pub fn encode_row(&self, arrays: &[ArrayRef], row: usize, out: &mut Vec<u8>) -> Result<()> {
        for (column, array) in self.columns.iter().zip(arrays) {
            encode_column(column, &value_at(array.as_ref(), row)?, out)?;
        }
        Ok(())
    }
    /// Appends the column at a position.
    pub fn encode_column(&self, position: usize, datum: &Datum, out: &mut Vec<u8>) -> Result<()> {
        let column = self.columns.get(position).ok_or_else(|| SqlError::internal("a key has no such column"))?;
        encode_column(column, &value_of(datum)?, out)
    }
    /// Appends the key of datums. Fewer datums than columns give a prefix, for bounds.
    pub fn encode_datums(&self, datums: &[Datum], out: &mut Vec<u8>) -> Result<()> {
        for (column, datum) in self.columns.iter().zip(datums) {
            encode_column(column, &value_of(datum)?, out)?;
        }
        Ok(())
    }
}

/// Appends one column of a key.
pub fn encode_column(column: &KeyColumn, value: &ValueRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    if matches!(value, ValueRef::Null) {
        out.push(column.null_marker());
        return Ok(());
    }
    out.push(VALUE);
    let start = out.len();
    match value {
        ValueRef::Array(array) => encode_array(column, array, out)?,
        value => encode_value(column.ty, value, out)?,
    }
    if column.descending {
        for byte in out.iter_mut().skip(start) {
            *byte = !*byte;
        }
    }
    Ok(())
}

fn push_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == 0) {
        let (head, tail) = rest.split_at(at);
        out.extend_from_slice(head);
        out.extend_from_slice(&[0, 0xff]);
        rest = tail.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&END);
}

fn ordered_f64(value: f64) -> u64 {
    let value = if value.is_nan() { f64::NAN.abs() } else { value + 0.0 };
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn ordered_f32(value: f32) -> u32 {
    let value = if value.is_nan() { f32::NAN.abs() } else { value };
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn encode_value(ty: SqlType, value: &ValueRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    match value {
        ValueRef::Null => return Err(SqlError::internal("NULL has no key form")),
        ValueRef::Bool(value) => out.push(u8::from(*value)),
        ValueRef::Int2(value) => out.extend_from_slice(&(*value as u16 ^ 1 << 15).to_be_bytes()),
        ValueRef::Int4(value) | ValueRef::Date(value) => {
            out.extend_from_slice(&(*value as u32 ^ 1 << 31).to_be_bytes())
        }
        ValueRef::Int8(value) => out.extend_from_slice(&(*value as u64 ^ 1 << 63).to_be_bytes()),
        ValueRef::Float4(value) => out.extend_from_slice(&ordered_f32(*value).to_be_bytes()),
        ValueRef::Float8(value) => out.extend_from_slice(&ordered_f64(*value).to_be_bytes()),
        ValueRef::Text(text) if ty.base == BaseType::Jsonb => push_escaped(&json::key(text)?, out),
        ValueRef::Text(text) => {
            let text = if ty.base == BaseType::Char { text.trim_end_matches(' ') } else { text };
            push_escaped(text.as_bytes(), out);
        }
        ValueRef::Bytes(bytes) => match ty.base {
            BaseType::Numeric => out.extend_from_slice(key_of(bytes)),
            BaseType::Interval => out.extend_from_slice(interval::key_of(bytes)),
            BaseType::Record(_) => push_escaped(super::record_key(bytes)?, out),
            BaseType::Uuid | BaseType::Timetz => out.extend_from_slice(bytes),
            _ => push_escaped(bytes, out),
        },
        ValueRef::Array(_) => return Err(SqlError::internal("an array among an array's elements")),
    }
    Ok(())
}

/// Encodes an array: NULL elements sort last, a prefix before the longer array, then the shapes are compared.
fn encode_array(column: &KeyColumn, array: &ArrayValue, out: &mut Vec<u8>) -> Result<()> {
    if !column.in_memory && !array.is_ordinary() {
        out.push(SHAPED);
        array.push_shape(out);
    }
    let element_type = column.ty.element();
    for at in 0..array.len() {
        match value_at(array.elements().as_ref(), at)? {
            ValueRef::Null => out.push(NULL_LAST),
            element => {
                out.push(VALUE);
                encode_value(element_type, &element, out)?;
            }
        }
    }
    out.push(NULL_FIRST);
    if column.in_memory {
        array.push_shape(out);
    }
    Ok(())
}

/// A value decoded from one column of a key.
#[derive(Debug)]
pub enum KeyValue<'a> {
    /// NULL.
    Null,
    /// The bytes that [`encode_value`] wrote, with complement and escapes undone.
    Plain(&'a [u8]),
}

/// Reads one column of a key and advances. `scratch` holds bytes that had to be changed.
pub fn decode_column<'s, 'k: 's>(
    column: &KeyColumn,
    key: &mut &'k [u8],
    scratch: &'s mut Vec<u8>,
) -> Result<KeyValue<'s>> {
    let bad = || corrupted("a key");
    let (marker, rest) = key.split_first().ok_or_else(bad)?;
    *key = rest;
    match *marker {
        NULL_FIRST | NULL_LAST => return Ok(KeyValue::Null),
        VALUE => {}
        _ => return Err(bad()),
    }
    let mask = if column.descending { 0xff } else { 0 };
    let length = value_length(column.ty, rest, mask).ok_or_else(bad)?;
    let (value, rest) = rest.split_at_checked(length).ok_or_else(bad)?;
    *key = rest;
    if !column.ty.array && is_escaped(column.ty.base) {
        let body = value.get(..length - END.len()).ok_or_else(bad)?;
        if mask == 0 && !body.contains(&0) {
            return Ok(KeyValue::Plain(body));
        }
        scratch.clear();
        let mut bytes = body.iter().map(|byte| byte ^ mask);
        while let Some(byte) = bytes.next() {
            scratch.push(byte);
            if byte == 0 {
                bytes.next();
            }
        }
        return Ok(KeyValue::Plain(scratch));
    }
    if mask == 0 {
        return Ok(KeyValue::Plain(value));
    }
    scratch.clear();
    scratch.extend(value.iter().map(|byte| byte ^ mask));
    Ok(KeyValue::Plain(scratch))
}

fn is_escaped(base: BaseType) -> bool {
    matches!(
        base,
        BaseType::Text
            | BaseType::Varchar
            | BaseType::Char
            | BaseType::Name
            | BaseType::SingleChar
            | BaseType::Json
            | BaseType::Jsonb
            | BaseType::Jsonpath
            | BaseType::Unknown
            | BaseType::Bytea
    )
}

/// Number of bytes of the value at the start of `key`, including its end marker.
fn value_length(ty: SqlType, key: &[u8], mask: u8) -> Option<usize> {
    if ty.array {
        let mut at = 0;
        if key.first()? ^ mask == SHAPED {
            at = 1 + shape_length(key.get(1)? ^ mask)?;
        }
        loop {
            let marker = key.get(at)? ^ mask;
            at += 1;
            match marker {
                NULL_FIRST => return Some(at),
                NULL_LAST => {}
                VALUE => at += value_length(ty.element(), key.get(at..)?, mask)?,
                _ => return None,
            }
        }
    }
    match ty.base {
        BaseType::Bool => Some(1),
        BaseType::Int2 => Some(2),
        BaseType::Int4 | BaseType::Float4 | BaseType::Date => Some(4),
        BaseType::Int8
        | BaseType::Float8
        | BaseType::Timestamp
        | BaseType::Timestamptz
        | BaseType::Time
        | BaseType::Enum(_) => Some(8),
        base if base.is_oid() => Some(8),
        BaseType::Xid | BaseType::Cid | BaseType::Xid8 | BaseType::Tid => Some(8),
        BaseType::Interval => Some(10),
        BaseType::Timetz => Some(12),
        BaseType::Uuid => Some(16),
        BaseType::Numeric => {
            let kind = key.first()? ^ mask;
            if kind != 2 && kind != 4 {
                return Some(1);
            }
            // Negative values are complemented twice.
            let mask = if kind == 2 { !mask } else { mask };
            let exponent = key.get(1)? ^ mask;
            let start = if exponent == 0 || exponent == 0xff { 6 } else { 2 };
            let digits = key.get(start..)?.iter().position(|byte| byte ^ mask == 0)?;
            Some(start + digits + 1)
        }
        _ => {
            let mut at = 0;
            loop {
                at += key.get(at..)?.iter().position(|byte| *byte == mask)?;
                let next = key.get(at + 1)? ^ mask;
                at += 2;
                if next == END[1] {
                    return Some(at);
                }
            }
        }
    }
}
