//! [`BufferMemory`]: the memory of all transactions' write buffers together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes by which a buffer may differ from what is counted of it: buffers of many threads grow with each write.
const STEP: usize = 64 << 10;
/// A buffer of so many bytes stays in memory, however much the others hold: a file for less is not worth its making.
const LEAST_SPILLED: usize = 1 << 20;

/// Bytes that all buffers hold, and may hold before those that grow spill.
#[derive(Debug)]
pub struct BufferMemory {
    used: AtomicUsize,
    limit: usize,
}

impl BufferMemory {
    /// For buffers that hold `limit` bytes together, and a megabyte each beyond.
    pub fn new(limit: usize) -> Arc<BufferMemory> {
        Arc::new(BufferMemory { used: AtomicUsize::new(0), limit })
    }
    /// Bytes held.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
    /// Bytes that may be held.
    pub fn limit(&self) -> usize {
        self.limit
    }
    #[cfg(test)]
    pub(crate) fn add_for_test(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// One buffer's part of it, given back when it is dropped.
#[derive(Default)]
pub(crate) struct Part {
    /// None: it is not counted.
    all: Option<Arc<BufferMemory>>,
    counted: usize,
}

impl Part {
    pub(crate) fn new(all: Arc<BufferMemory>) -> Part {
        Part { all: Some(all), counted: 0 }
    }

    /// The buffer holds so many bytes now.
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

    /// Whether a buffer of so many bytes, which has spilled so often, has to spill for the sake of all. The files of one that goes on
    /// become longer: each of them is looked at for a key.
    pub(crate) fn is_over(&self, bytes: usize, runs: usize) -> bool {
        bytes >= LEAST_SPILLED * (1 + runs / 8) && self.all.as_ref().is_some_and(|all| all.used() > all.limit)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.set(0);
    }
}
