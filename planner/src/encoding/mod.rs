//! Encoding of keys, rows and index entries. ENCODING.md documents the bytes.
//!
//! A key is `t`, the storage id (eight bytes, big-endian), then the key columns in an order-preserving form. A row's
//! value holds the columns that cannot be decoded exactly from its key.

mod columns;
mod fixed;
mod index;
mod key;
mod literal;
mod record;
mod row;
mod variable;

pub use columns::ColumnBuilder;
pub use index::{IndexDecoder, IndexEncoder, IndexEntry};
pub use key::{KeyColumn, KeyEncoder, exact_in_key};
pub use record::{append_field, push_record, record_columns, record_fields, record_key};
pub use row::{RowDecoder, RowEncoder, TableKey};

use crate::catalog::StorageId;
use crate::error::{SqlError, state};
use bytes::Bytes;

/// First byte of every key of a table or index.
pub const TABLE_SPACE: u8 = b't';
/// Length of [`table_prefix`] in bytes.
pub const PREFIX_LENGTH: usize = 9;

/// The prefix of all keys of a table or index.
pub fn table_prefix(storage_id: StorageId) -> Bytes {
    let mut prefix = Vec::with_capacity(PREFIX_LENGTH);
    push_prefix(storage_id, &mut prefix);
    prefix.into()
}

/// Appends the bytes of [`table_prefix`].
pub fn push_prefix(storage_id: StorageId, out: &mut Vec<u8>) {
    out.push(TABLE_SPACE);
    out.extend_from_slice(&storage_id.to_be_bytes());
}

/// The storage id of a key. `None` for keys outside tables and indexes.
pub fn storage_id_of(key: &[u8]) -> Option<StorageId> {
    let (space, rest) = key.split_first()?;
    let id = rest.first_chunk::<8>()?;
    (*space == TABLE_SPACE).then(|| StorageId::from_be_bytes(*id))
}

/// The first key behind all keys with the prefix. Empty if there is none.
pub fn prefix_end(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last != 0xff {
            end.push(last + 1);
            return end;
        }
    }
    end
}

/// The error XX001 for bytes that this version cannot decode.
pub(crate) fn corrupted(what: &str) -> SqlError {
    SqlError::new(state::DATA_CORRUPTED, format!("invalid bytes of {what}"))
}

/// Appends an unsigned number with seven bits per byte, least significant first.
pub(crate) fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a number that [`push_varint`] wrote and advances.
pub(crate) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
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

#[cfg(test)]
mod tests;
