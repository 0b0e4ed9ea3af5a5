//! [`RecordKind`], and the cells of the data family. `d@start_ts` holds a value that is too long for the lock and the
//! write record. A data cell is a zero byte (no class) followed by the value.

use bytes::{BufMut, Bytes, BytesMut};
use storage::StoreError;

/// Values up to this length in bytes are inlined in the lock and the write record, so a read touches one cell. Longer
/// values are written once, by the prewrite, to the data family.
pub const INLINE_VALUE_BYTES: usize = 1024;

/// The kind of a write record, or of the record that a lock will become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// A value was stored.
    Put,
    /// The value was removed: a tombstone.
    Delete,
    /// The key was locked or checked, and its value did not change.
    Lock,
}

/// Encodes `value` as a data cell.
pub fn encode_data(value: &[u8]) -> Bytes {
    let mut cell = BytesMut::with_capacity(1 + value.len());
    cell.put_u8(0);
    cell.put_slice(value);
    cell.freeze()
}

/// The value in a data cell. Errors: `Corrupted`.
pub fn decode_data(cell: &Bytes) -> Result<Bytes, StoreError> {
    if cell.is_empty() {
        return Err(StoreError::Corrupted("empty data cell".into()));
    }
    Ok(cell.slice(1..))
}
