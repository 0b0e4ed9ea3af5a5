//! [`RecordKind`] and the cells of the data family: `d@start_ts` holds a value that is too long
//! to be inlined in the lock and in the write record.
//!
//! A data cell is a zero byte (its class: none) followed by the value.

use bytes::{BufMut, Bytes, BytesMut};
use storage::StoreError;

/// Values up to this length travel inside the lock and the write record, so that a read touches
/// one cell; longer ones are written once, to the data family, when they are prewritten.
pub const INLINE_VALUE_BYTES: usize = 1024;

/// What a lock will become, or a write record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// A value was stored.
    Put,
    /// The value was removed: a tombstone.
    Delete,
    /// The key was only locked or checked.
    Lock,
}

/// The cell for `value`.
pub fn encode_data(value: &[u8]) -> Bytes {
    let mut cell = BytesMut::with_capacity(1 + value.len());
    cell.put_u8(0);
    cell.put_slice(value);
    cell.freeze()
}

/// The value in `cell`.
pub fn decode_data(cell: &Bytes) -> Result<Bytes, StoreError> {
    if cell.is_empty() {
        return Err(StoreError::Corrupted("empty data cell".into()));
    }
    Ok(cell.slice(1..))
}
