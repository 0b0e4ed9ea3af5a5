//! [`Calls`]: how often Bigtable was asked, by kind. For tests that count round trips, and for those who pay.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the store was opened. Attempts that repeat a call are counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// `ReadRows`.
    pub reads: u64,
    /// `CheckAndMutateRow`.
    pub checks: u64,
    /// `MutateRow` and `MutateRows`.
    pub writes: u64,
    /// `SampleRowKeys`, and the calls of the administration.
    pub others: u64,
    /// Attempts after the first of a call.
    pub repeated: u64,
}

/// See the head of the module.
#[derive(Debug, Default)]
pub struct Calls {
    reads: AtomicU64,
    checks: AtomicU64,
    writes: AtomicU64,
    others: AtomicU64,
    repeated: AtomicU64,
}

impl Calls {
    pub(super) fn read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }
    pub(super) fn check(&self) {
        self.checks.fetch_add(1, Ordering::Relaxed);
    }
    pub(super) fn write(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }
    pub(super) fn other(&self) {
        self.others.fetch_add(1, Ordering::Relaxed);
    }
    pub(super) fn repeated(&self) {
        self.repeated.fetch_add(1, Ordering::Relaxed);
    }
    /// The counts by now.
    pub fn counts(&self) -> CallCounts {
        CallCounts {
            reads: self.reads.load(Ordering::Relaxed),
            checks: self.checks.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            others: self.others.load(Ordering::Relaxed),
            repeated: self.repeated.load(Ordering::Relaxed),
        }
    }
}
