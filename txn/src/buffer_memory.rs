//! [`BufferMemory`]: the memory of the write buffers of all transactions together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes by which a buffer may differ from its counted share. Counting each write would contend with other threads.
const STEP: usize = 64 << 10;
/// A buffer of up to this many bytes stays in memory, however much the others hold. A smaller file
/// is not worth making.
const LEAST_SPILLED: usize = 1 << 20;

/// The bytes that all buffers hold, and the limit beyond which growing buffers spill.
#[derive(Debug)]
pub struct BufferMemory {
    used: AtomicUsize,
    limit: usize,
}

impl BufferMemory {
    /// A limit of `limit` bytes for all buffers together. Beyond it each buffer may still hold a megabyte.
    pub fn new(limit: usize) -> Arc<BufferMemory> {
        Arc::new(BufferMemory { used: AtomicUsize::new(0), limit })
    }
    /// The bytes that all buffers hold.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
    /// The limit for all buffers, in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }
    #[cfg(test)]
    pub(crate) fn add_for_test(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// One buffer's share, which is returned on drop.
#[derive(Default)]
pub(crate) struct Part {
    /// `None` if the buffer is not counted.
    all: Option<Arc<BufferMemory>>,
    counted: usize,
}

impl Part {
    pub(crate) fn new(all: Arc<BufferMemory>) -> Part {
        Part { all: Some(all), counted: 0 }
    }

    /// Sets the buffer's size to `bytes`.
    pub(crate) fn set(&mut self, bytes: usize) {
        let Some(all) = &self.all else { return };
        if bytes == 0 || bytes.abs_diff(self.counted) >= STEP {
            match bytes.checked_sub(self.counted) {
                Some(more) => all.used.fetch_add(more, Ordering::Relaxed),
                None => all.used.fetch_sub(self.counted - bytes, Ordering::Relaxed),
            };
            self.counted = bytes;
        }
    }

    /// Whether a buffer of `bytes` bytes that has spilled `runs` times must spill because the total is too large. The
    /// required size grows with the number of runs, because each run may be searched for a key.
    pub(crate) fn is_over(&self, bytes: usize, runs: usize) -> bool {
        bytes >= LEAST_SPILLED * (1 + runs / 8) && self.all.as_ref().is_some_and(|all| all.used() > all.limit)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.set(0);
    }
}
