//! Encoding of records: see [`crate::record`].

use super::columns::{push_value, take_value};
use super::key::{KeyColumn, encode_column};
use super::{ColumnBuilder, corrupted};
use crate::SqlType;
use crate::record::RecordType;
use crate::value::ValueRef;
use arrow::array::ArrayRef;
use sql_error::Result;

/// Bytes of the key's length.
const LENGTH: usize = 4;

/// Appends a record of these values.
pub fn push_record(types: impl Iterator<Item = SqlType>, values: &[ValueRef<'_>], out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    for (ty, value) in types.zip(values) {
        encode_column(&KeyColumn::ascending(ty), value, out)?;
    }
    let length = u32::try_from(out.len() - start).map_err(|_| corrupted("a record"))?;
    for value in values {
        push_value(value, out)?;
    }
    out.extend_from_slice(&length.to_be_bytes());
    Ok(())
}

fn split(record: &[u8]) -> Result<(&[u8], &[u8])> {
    let bad = || corrupted("a record");
    let (rest, length) = record.split_at_checked(record.len().wrapping_sub(LENGTH)).ok_or_else(bad)?;
    let length = u32::from_be_bytes(length.try_into().map_err(|_| bad())?);
    rest.split_at_checked(length as usize).ok_or_else(bad)
}

/// The sort key of a record: equal records have equal keys.
pub fn record_key(record: &[u8]) -> Result<&[u8]> {
    Ok(split(record)?.0)
}

/// The encoded fields of a record. `None` for NULL.
pub fn record_fields(record: &[u8]) -> Result<Vec<Option<&[u8]>>> {
    let mut rest = split(record)?.1;
    let mut fields = Vec::new();
    while !rest.is_empty() {
        fields.push(take_value(&mut rest).ok_or_else(|| corrupted("a record"))?);
    }
    Ok(fields)
}

/// Decodes each field of a record to an array with one value.
pub fn record_columns(ty: RecordType, record: &[u8]) -> Result<Vec<(SqlType, ArrayRef)>> {
    let fields = record_fields(record)?;
    let mut columns = Vec::with_capacity(fields.len());
    for (at, ty) in ty.types().enumerate() {
        let mut builder = ColumnBuilder::new(ty, 1);
        append_field(&mut builder, fields.get(at).copied().flatten())?;
        columns.push((ty, builder.finish()?));
    }
    Ok(columns)
}

/// Appends an encoded field of a record to a column of its type.
pub fn append_field(builder: &mut ColumnBuilder, field: Option<&[u8]>) -> Result<()> {
    match field {
        Some(bytes) => builder.append_row_bytes(bytes),
        None => {
            builder.append_null();
            Ok(())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn record(number: Option<i32>, text: &str) -> Vec<u8> {
        let number = number.map_or(ValueRef::Null, ValueRef::Int4);
        let mut out = Vec::new();
        push_record([SqlType::INT4, SqlType::TEXT].into_iter(), &[number, ValueRef::Text(text)], &mut out).unwrap();
        out
    }

    #[test]
    #[allow(clippy::indexing_slicing)]
    fn bytes_are_ordered_as_records_and_give_the_fields_back() {
        let ordered = [record(Some(-1), "z"), record(Some(1), ""), record(Some(1), "a"), record(None, "a")];
        assert!(ordered.is_sorted());
        assert_eq!(record_fields(&ordered[3]).unwrap(), vec![None, Some(b"a".as_slice())]);
        assert_ne!(record_key(&ordered[1]).unwrap(), record_key(&ordered[2]).unwrap());
        assert!(record_fields(b"ab").is_err());
    }
}
