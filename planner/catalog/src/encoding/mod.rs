//! Bytes of keys, rows and index entries, as ENCODING.md documents them.
//!
//! A key is `t`, the storage id (eight bytes, big-endian), then the key columns in an order-preserving form. A row's value
//! holds the columns that its key does not give back exactly.

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
/// Bytes of [`table_prefix`].
pub const PREFIX_LENGTH: usize = 9;

/// The prefix of all keys of a table or index.
pub fn table_prefix(storage_id: StorageId) -> Bytes {
    let mut prefix = Vec::with_capacity(PREFIX_LENGTH);
    push_prefix(storage_id, &mut prefix);
    prefix.into()
}

/// Appends [`table_prefix`].
pub fn push_prefix(storage_id: StorageId, out: &mut Vec<u8>) {
    out.push(TABLE_SPACE);
    out.extend_from_slice(&storage_id.to_be_bytes());
}

/// The storage id that a key belongs to, if it is a table's or an index's.
pub fn storage_id_of(key: &[u8]) -> Option<StorageId> {
    let (space, rest) = key.split_first()?;
    let id = rest.first_chunk::<8>()?;
    (*space == TABLE_SPACE).then(|| StorageId::from_be_bytes(*id))
}

/// The first key after all keys that begin with `prefix`; empty when there is none.
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
