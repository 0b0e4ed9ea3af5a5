//! [`SnapshotGuard`]: a registered reader.

use crate::timestamp::Timestamp;
use std::sync::Arc;

/// A registry of readers.
pub trait Registered: Send + Sync {
    /// Unregisters one reader at `timestamp`.
    fn release(&self, timestamp: Timestamp);
}

/// A registered reader. Garbage collection keeps the versions it sees until the guard is dropped.
pub struct SnapshotGuard {
    timestamp: Timestamp,
    registered: Option<Arc<dyn Registered>>,
}

impl SnapshotGuard {
    /// A guard for a reader at `timestamp`. If `registered` is given, dropping the guard
    /// unregisters the reader there.
    pub fn new(timestamp: Timestamp, registered: Option<Arc<dyn Registered>>) -> Self {
        SnapshotGuard { timestamp, registered }
    }
    /// The timestamp that the reader reads at.
    pub fn timestamp(&self) -> Timestamp {
        self.timestamp
    }
}

impl Drop for SnapshotGuard {
    fn drop(&mut self) {
        if let Some(registered) = self.registered.take() {
            registered.release(self.timestamp);
        }
    }
}
