//! [`SnapshotGuard`]: a registered reader.

use crate::timestamp::Timestamp;
use std::sync::Arc;

/// Where readers are registered.
pub trait Registered: Send + Sync {
    /// One that was registered at `timestamp` has gone.
    fn release(&self, timestamp: Timestamp);
}

/// A registered reader. Dropping it lets GC go on.
pub struct SnapshotGuard {
    timestamp: Timestamp,
    registered: Option<Arc<dyn Registered>>,
}

impl SnapshotGuard {
    /// Of a reader that is registered there, if anywhere, until it is dropped.
    pub fn new(timestamp: Timestamp, registered: Option<Arc<dyn Registered>>) -> Self {
        SnapshotGuard { timestamp, registered }
    }
    /// The snapshot's timestamp.
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
