//! [`Arena`]: chunks of memory for the keys and values that a scan copies.

use bytes::{Bytes, BytesMut};

/// The largest chunk, in bytes.
const ARENA_BYTES: usize = 64 << 10;
/// The first chunk, in bytes; most scans need no other. Each further chunk is four times as large as the one before.
const FIRST_ARENA_BYTES: usize = 1 << 10;

/// Copies byte strings into shared chunks, to save allocations.
pub struct Arena {
    free: BytesMut,
    /// Size of the next chunk in bytes.
    piece: usize,
}

impl Arena {
    /// An arena without chunks.
    pub fn new() -> Arena {
        Arena { free: BytesMut::new(), piece: FIRST_ARENA_BYTES }
    }

    /// A copy of `value` that shares its chunk with other copies.
    pub fn copy(&mut self, value: &[u8]) -> Bytes {
        if value.len() > ARENA_BYTES / 8 {
            return Bytes::copy_from_slice(value);
        }
        if self.free.capacity() < value.len() {
            self.free = BytesMut::with_capacity(self.piece.max(value.len()));
            self.piece = self.piece.saturating_mul(4).min(ARENA_BYTES);
        }
        self.free.extend_from_slice(value);
        self.free.split().freeze()
    }
}
