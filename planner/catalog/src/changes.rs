//! [`Changes`]: the number of rows this server has written to a table since its statistics were gathered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that all versions of a table's descriptor share. All counters compare equal, since they are not part of
/// the descriptor.
#[derive(Clone, Debug, Default)]
pub struct Changes(Arc<AtomicU64>);

impl Changes {
    /// Adds `rows` to the count. Rows that are rolled back count too.
    pub fn add(&self, rows: u64) {
        self.0.fetch_add(rows, Ordering::Relaxed);
    }
    /// Number of rows written so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
    /// Subtracts `rows` from the count.
    pub fn forget(&self, rows: u64) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| Some(count.saturating_sub(rows)));
    }
}

impl PartialEq for Changes {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}
