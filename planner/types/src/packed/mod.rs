//! Values as bytes: in keys, where the order of bytes is the order of values, and in rows. `storage`'s users document the whole
//! format in ENCODING.md.

mod columns;
mod fixed;
mod key;
mod record;
mod variable;

pub use columns::{ColumnBuilder, is_padded, push_value, take_value};
pub use key::{KeyColumn, KeyEncoder, KeyValue, decode_column, encode_column, exact_in_key};
pub use record::{append_field, push_record, record_columns, record_fields, record_key};
pub use variable::Variable;

use sql_error::{SqlError, state};

/// XX001: bytes that this version does not understand.
pub fn corrupted(what: &str) -> SqlError {
    SqlError::new(state::DATA_CORRUPTED, format!("invalid bytes of {what}"))
}

/// Appends an unsigned number, seven bits a byte, least significant first.
pub fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads what [`push_varint`] wrote and advances.
pub fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
