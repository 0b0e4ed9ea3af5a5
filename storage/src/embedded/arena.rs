//! [`Arena`]: memory for what a scan copies, in pieces.

use bytes::{Bytes, BytesMut};

/// Keys and values of a scan are copied into pieces of memory of this size,
const ARENA_BYTES: usize = 64 << 10;
/// but for the first, of which most scans need no more. Each is four times as large as the one before.
const FIRST_ARENA_BYTES: usize = 1 << 10;

/// See the head of the module.
pub struct Arena {
    free: BytesMut,
    /// Bytes of the next piece.
    piece: usize,
}

impl Arena {
    /// Nothing yet.
    pub fn new() -> Arena {
        Arena { free: BytesMut::new(), piece: FIRST_ARENA_BYTES }
    }

    /// A copy of `value`.
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
