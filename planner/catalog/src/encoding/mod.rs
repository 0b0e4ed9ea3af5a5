//! Encoding of keys, rows and index entries. ENCODING.md documents the bytes.
//!
//! A key is `t`, the storage id (eight bytes, big-endian), then the key columns in an order-preserving form. A row's
//! value holds the columns that cannot be decoded exactly from its key.

mod index;
mod literal;
mod row;

pub use index::{IndexDecoder, IndexEncoder, IndexEntry};
pub use row::{RowDecoder, RowEncoder, TableKey};
pub use types::packed::{
    ColumnBuilder, KeyColumn, KeyEncoder, append_field, corrupted, exact_in_key, push_record, push_varint, read_varint,
    record_columns, record_fields, record_key,
};

use crate::StorageId;
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

#[cfg(test)]
mod tests;
