//! [`Timestamp`]: the order of everything in the store, and [`TimestampSource`], through which the oracle (in
//! `txn`) hands timestamps out.

use std::fmt;

/// A point in the order of the database: microseconds since the Unix epoch (1970-01-01 UTC), made strictly increasing
/// by the oracle. Timestamps give an order and do not measure time: ages are computed from the oracle's physical
/// clock. `ts * 1000` is a legal Bigtable cell timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The least timestamp. No cell has it.
    pub const ZERO: Timestamp = Timestamp(0);
    /// The greatest timestamp, never handed out. It stays below `u64::MAX / 1000`, so that Bigtable's timestamps
    /// (microseconds, in whole milliseconds) can hold it.
    pub const MAX: Timestamp = Timestamp(i64::MAX as u64 / 1000);

    /// The smallest timestamp greater than this one.
    #[must_use]
    pub fn next(self) -> Timestamp {
        Timestamp(self.0 + 1)
    }

    /// The greatest timestamp smaller than this one. [`Timestamp::ZERO`] stays zero.
    #[must_use]
    pub fn previous(self) -> Timestamp {
        Timestamp(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The source of the timestamps for `AtCommit` cells. The oracle implements it and hands it to the embedded engine
/// when the engine is opened.
pub trait TimestampSource: Send + Sync {
    /// Takes `count` consecutive timestamps (at least 1) and returns the first. They are greater than all
    /// timestamps handed out before.
    fn take(&self, count: u64) -> Timestamp;

    /// Hands out exactly `at`. Answers false if `at` or a later timestamp was handed out before.
    fn take_at(&self, at: Timestamp) -> bool;
}
