//! [`SnapshotRegistry`]: what is ordered, what is published, and who reads at which timestamp.

use super::Change;
use super::recent_writes::Validators;
use super::watch::Watch;
use crate::contract::{RowRange, SnapshotGuard};
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Notify;

/// The newest visible commit and the readers registered, under one lock, so that a reader cannot
/// register at a timestamp that GC has just passed.
pub struct SnapshotRegistry {
    state: Mutex<State>,
    validators: Validators,
    /// Something was published, or never will be.
    published: Notify,
}

struct State {
    visible: Timestamp,
    /// The newest commit that has its place in the log. At least `visible`.
    ordered: Timestamp,
    /// What is ordered and not yet published never will be.
    stopped: bool,
    readers: BTreeMap<Timestamp, usize>,
    watches: Vec<Arc<Watch>>,
}

impl SnapshotRegistry {
    /// Nobody reads; everything up to `visible` is readable.
    pub fn new(visible: Timestamp) -> Arc<Self> {
        Arc::new(SnapshotRegistry {
            state: Mutex::new(State {
                visible,
                ordered: visible,
                stopped: false,
                readers: BTreeMap::new(),
                watches: Vec::new(),
            }),
            validators: Validators::default(),
            published: Notify::new(),
        })
    }

    /// Those who may ask what was written to what they read.
    pub fn validators(&self) -> &Validators {
        &self.validators
    }

    /// Commits up to `timestamp` have their place, with these changes, none of which is younger than `max`.
    pub fn order(&self, timestamp: Timestamp, changes: &[Change], max: Timestamp) {
        let mut state = self.state.lock();
        // Under one lock: a snapshot that shows them comes after, and a watch that begins meanwhile knows of them.
        state.watches.iter().for_each(|watch| watch.look_at(changes, max));
        state.ordered = state.ordered.max(timestamp);
    }

    /// See [`AtomicCommit::watch`](crate::AtomicCommit::watch).
    pub fn watch(&self, range: RowRange) -> Arc<Watch> {
        let mut state = self.state.lock();
        let watch = Arc::new(Watch::new(range, state.ordered));
        state.watches.push(Arc::clone(&watch));
        watch
    }

    /// Commits up to `timestamp` became readable.
    pub fn publish(&self, timestamp: Timestamp) {
        {
            let mut state = self.state.lock();
            state.visible = state.visible.max(timestamp);
            state.ordered = state.ordered.max(timestamp);
        }
        self.published.notify_waiters();
    }

    /// Nothing more is published.
    pub fn stop(&self) {
        self.state.lock().stopped = true;
        self.published.notify_waiters();
    }

    /// See [`AtomicCommit::published`](crate::AtomicCommit::published).
    pub fn published(&self) -> Timestamp {
        self.state.lock().visible
    }

    /// See [`AtomicCommit::when_published`](crate::AtomicCommit::when_published).
    pub async fn when_published(&self, timestamp: Timestamp) -> Result<()> {
        loop {
            let mut notified = std::pin::pin!(self.published.notified());
            // Registered before it is looked at, so that nothing falls between.
            notified.as_mut().enable();
            {
                let state = self.state.lock();
                if state.visible >= timestamp {
                    return Ok(());
                }
                if state.stopped {
                    return Err(StoreError::ReadOnly("a sync failed".to_owned()));
                }
            }
            notified.await;
        }
    }

    /// See [`AtomicCommit::snapshot`](crate::AtomicCommit::snapshot).
    pub fn snapshot(self: &Arc<Self>) -> SnapshotGuard {
        self.registered(|state| state.visible)
    }

    /// See [`AtomicCommit::ordered_snapshot`](crate::AtomicCommit::ordered_snapshot).
    pub fn ordered_snapshot(self: &Arc<Self>) -> SnapshotGuard {
        self.registered(|state| state.ordered)
    }

    fn registered(self: &Arc<Self>, at: impl FnOnce(&State) -> Timestamp) -> SnapshotGuard {
        let timestamp = {
            let mut state = self.state.lock();
            let timestamp = at(&state);
            *state.readers.entry(timestamp).or_default() += 1;
            timestamp
        };
        let registry = self.clone();
        SnapshotGuard::new(timestamp, Some(Arc::new(move |timestamp| registry.release(timestamp))))
    }

    /// See [`AtomicCommit::oldest_snapshot`](crate::AtomicCommit::oldest_snapshot).
    pub fn oldest(&self) -> Timestamp {
        let state = self.state.lock();
        let visible = state.visible;
        // Whoever comes next reads what is visible, although others read what is only ordered.
        state.readers.keys().next().map_or(visible, |oldest| visible.min(*oldest))
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn what_is_ordered_is_read_by_those_only_who_ask_for_it() {
        let registry = SnapshotRegistry::new(Timestamp(5));
        registry.order(Timestamp(7), &[], Timestamp(7));
        let ordered = registry.ordered_snapshot();
        assert_eq!((ordered.timestamp(), registry.snapshot().timestamp()), (Timestamp(7), Timestamp(5)));
        assert_eq!(registry.oldest(), Timestamp(5), "who comes next reads at 5");
        let mut wait = std::pin::pin!(registry.when_published(Timestamp(7)));
        assert!(wait.as_mut().now_or_never().is_none());
        registry.publish(Timestamp(7));
        assert!(wait.now_or_never().unwrap().is_ok());
        assert_eq!((registry.snapshot().timestamp(), registry.oldest()), (Timestamp(7), Timestamp(7)));
        let mut never = std::pin::pin!(registry.when_published(Timestamp(8)));
        assert!(never.as_mut().now_or_never().is_none());
        registry.stop();
        assert!(never.now_or_never().unwrap().is_err());
    }
}
