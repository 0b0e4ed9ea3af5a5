//! [`Calls`]: counts calls to Bigtable by kind, for tests of round trips and for cost control.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the store was opened. Repeated attempts of a call are counted separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// The number of `ReadRows` calls.
    pub reads: u64,
    /// The number of `CheckAndMutateRow` calls.
    pub checks: u64,
    /// The number of `MutateRow` and `MutateRows` calls.
    pub writes: u64,
    /// The number of `SampleRowKeys` and administration calls.
    pub others: u64,
    /// The number of further attempts, after the first one of each call.
    pub repeated: u64,
}

/// The counters behind [`CallCounts`].
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
    /// The counts so far.
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
