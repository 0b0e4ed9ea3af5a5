//! [`Readers`]: registered readers and their timestamps, where the store does not register them itself.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use storage::{Registered, SnapshotGuard, Timestamp};

/// Readers whose snapshots the engine does not know. These are readers of the past, or all readers if
/// the engine registers none.
#[derive(Default)]
pub(crate) struct Readers(Arc<ByTimestamp>);

#[derive(Default)]
struct ByTimestamp(Mutex<BTreeMap<Timestamp, usize>>);

impl Registered for ByTimestamp {
    fn release(&self, ts: Timestamp) {
        let mut readers = self.0.lock();
        if let Some(count) = readers.get_mut(&ts) {
            *count -= 1;
            if *count == 0 {
                readers.remove(&ts);
            }
        }
    }
}

impl Readers {
    /// Registers a reader until the guard is dropped.
    pub(crate) fn register(&self, ts: Timestamp) -> SnapshotGuard {
        *self.0.0.lock().entry(ts).or_default() += 1;
        SnapshotGuard::new(ts, Some(self.0.clone()))
    }

    /// The timestamp of the oldest registered reader.
    pub(crate) fn oldest(&self) -> Option<Timestamp> {
        self.0.0.lock().keys().next().copied()
    }
}
