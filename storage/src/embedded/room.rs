//! [`Room`]: whether the file system has room for what is to be written, beside a reserve. To ask it takes a microsecond, a hundredth of
//! what a short commit takes, so it is not asked each time. Must not know what is written.

use super::folder::free_bytes;
use crate::error::{Result, StoreError};
use std::cell::Cell;
use std::ffi::CString;

/// So many bytes are written without asking again, at most: little beside the reserve, should others fill the disk meanwhile.
const MOST_UNASKED: u64 = 1 << 20;
/// And this part of what there was beside the reserve.
const PART_UNASKED: u64 = 64;

/// See the head of the module.
pub struct Room {
    /// A directory of the file system.
    path: CString,
    /// Bytes that are left free.
    reserve_bytes: u64,
    /// Bytes that may be taken before it is asked again.
    unasked: Cell<u64>,
}

impl Room {
    /// In the file system that holds `path`, beside a reserve.
    pub fn new(path: CString, reserve_bytes: u64) -> Room {
        Room { path, reserve_bytes, unasked: Cell::new(0) }
    }

    /// Takes room for so many bytes. Errors: [`StoreError::DiskFull`] where there is none beside the reserve, then nothing is taken; and
    /// those of the file system.
    pub fn take(&self, bytes: u64) -> Result<()> {
        if let Some(left) = self.unasked.get().checked_sub(bytes) {
            self.unasked.set(left);
            return Ok(());
        }
        self.unasked.set(0);
        let free = free_bytes(&self.path).map_err(|error| StoreError::Io(format!("free space: {error}")))?;
        let Some(left) = free.checked_sub(self.reserve_bytes.saturating_add(bytes)) else {
            return Err(StoreError::DiskFull(format!(
                "{free} bytes are free, {} are kept in reserve",
                self.reserve_bytes
            )));
        };
        self.unasked.set((left / PART_UNASKED).min(MOST_UNASKED));
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn room(reserve_bytes: u64) -> Room {
        Room::new(CString::new("/").unwrap(), reserve_bytes)
    }

    #[test]
    fn it_is_asked_again_when_what_it_allowed_is_taken() {
        let room = room(0);
        room.take(1).unwrap();
        assert_eq!(room.unasked.get(), MOST_UNASKED);
        room.take(MOST_UNASKED - 1).unwrap();
        assert_eq!(room.unasked.get(), 1);
        room.take(2).unwrap();
        assert_eq!(room.unasked.get(), MOST_UNASKED);
    }

    #[test]
    fn near_the_reserve_it_is_asked_each_time() {
        let free = free_bytes(&CString::new("/").unwrap()).unwrap();
        // Others write to the disk meanwhile; so much they do not.
        let slack = 256 << 20;
        assert!(matches!(room(free + slack).take(1), Err(StoreError::DiskFull(_))));
        assert!(matches!(room(u64::MAX).take(1), Err(StoreError::DiskFull(_))));
        let refuses = room(free.saturating_sub(slack));
        refuses.take(1).unwrap();
        assert!((1..=2 * slack / PART_UNASKED).contains(&refuses.unasked.get()));
        // After a refusal nothing is taken unasked.
        assert!(matches!(refuses.take(2 * slack), Err(StoreError::DiskFull(_))));
        assert_eq!(refuses.unasked.get(), 0);
    }
}
