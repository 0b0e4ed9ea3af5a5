//! [`Timestamp`]: the order of everything in the store.
//!
//! Knows nothing of who hands timestamps out (that is the oracle, in `txn`) nor of transactions.

use std::fmt;

/// A point in the order of the database: microseconds since the Unix epoch (1970-01-01 UTC),
/// made strictly increasing by the oracle. Timestamps order; they do not measure: ages are
/// computed from the oracle's physical clock. `ts * 1000` is a legal Bigtable cell timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Before everything.
    pub const ZERO: Timestamp = Timestamp(0);
    /// After everything. Never handed out. Kept below `u64::MAX / 1000` so that Bigtable's
    /// millisecond-granular microsecond timestamps can hold it.
    pub const MAX: Timestamp = Timestamp(i64::MAX as u64 / 1000);

    /// The smallest timestamp greater than this one.
    #[must_use]
    pub fn next(self) -> Timestamp {
        Timestamp(self.0 + 1)
    }

    /// The greatest timestamp smaller than this one; [`Timestamp::ZERO`] stays.
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

/// Where the store gets the timestamps it stamps `AtCommit` cells with. Handed to the embedded
/// engine when it is opened; implemented by the oracle.
pub trait TimestampSource: Send + Sync {
    /// `count` consecutive timestamps, the first of which is returned. Each call's timestamps are
    /// greater than all those handed out before. `count` is at least 1.
    fn take(&self, count: u64) -> Timestamp;

    /// Hands out exactly `at`, unless it or a later timestamp was handed out before: false then.
    fn take_at(&self, at: Timestamp) -> bool;
}
