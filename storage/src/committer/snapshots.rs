//! [`SnapshotRegistry`]: what is published, and who reads at which timestamp.

use super::recent_writes::Validators;
use crate::contract::SnapshotGuard;
use crate::timestamp::Timestamp;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The newest visible commit and the readers registered, under one lock, so that a reader cannot
/// register at a timestamp that GC has just passed.
pub struct SnapshotRegistry {
    state: Mutex<State>,
    validators: Validators,
}

struct State {
    visible: Timestamp,
    readers: BTreeMap<Timestamp, usize>,
}

impl SnapshotRegistry {
    /// Nobody reads; everything up to `visible` is readable.
    pub fn new(visible: Timestamp) -> Arc<Self> {
        Arc::new(SnapshotRegistry {
            state: Mutex::new(State { visible, readers: BTreeMap::new() }),
            validators: Validators::default(),
        })
    }

    /// Those who may ask what was written to what they read.
    pub fn validators(&self) -> &Validators {
        &self.validators
    }

    /// Commits up to `timestamp` became readable.
    pub fn publish(&self, timestamp: Timestamp) {
        let mut state = self.state.lock();
        state.visible = state.visible.max(timestamp);
    }

    /// See [`AtomicCommit::published`](crate::AtomicCommit::published).
    pub fn published(&self) -> Timestamp {
        self.state.lock().visible
    }

    /// See [`AtomicCommit::snapshot`](crate::AtomicCommit::snapshot).
    pub fn snapshot(self: &Arc<Self>) -> SnapshotGuard {
        let timestamp = {
            let mut state = self.state.lock();
            let visible = state.visible;
            *state.readers.entry(visible).or_default() += 1;
            visible
        };
        let registry = self.clone();
        SnapshotGuard::new(timestamp, Some(Arc::new(move |timestamp| registry.release(timestamp))))
    }

    /// See [`AtomicCommit::oldest_snapshot`](crate::AtomicCommit::oldest_snapshot).
    pub fn oldest(&self) -> Timestamp {
        let state = self.state.lock();
        state.readers.keys().next().copied().unwrap_or(state.visible)
    }

    fn release(&self, timestamp: Timestamp) {
        let mut state = self.state.lock();
        if let Some(count) = state.readers.get_mut(&timestamp) {
            *count -= 1;
            if *count == 0 {
                state.readers.remove(&timestamp);
            }
        }
    }
}
