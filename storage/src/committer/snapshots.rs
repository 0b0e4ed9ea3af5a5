//! [`SnapshotRegistry`]: what is ordered, what is published, and who reads at which timestamp.

use super::Change;
use super::recent_writes::Validators;
use super::watch::Watch;
use crate::bulk::PreparedCells;
use crate::contract::{Registered, RowRange, SnapshotGuard};
use crate::error::{Result, StoreError};
use crate::timestamp::Timestamp;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::Notify;

/// Parts in which readers are registered.
const SHARDS: usize = 16;

/// The newest visible commit and the readers registered. Readers touch nothing that others write, but for a part that their thread
/// shares with a few.
///
/// Invariant: no reader is older than what [`SnapshotRegistry::oldest`] has answered. Who registers reads the newest commit while it has its
/// part locked; who asks for the oldest reads the newest commit first, and looks into the parts then. So a reader that was not
/// seen in its part locked it later, and reads what was the newest then, or later.
pub struct SnapshotRegistry {
    state: Mutex<State>,
    /// The newest commit that can be read. Only grows.
    visible: AtomicU64,
    /// The newest commit that has its place in the log. At least `visible`.
    ordered: AtomicU64,
    readers: [Arc<Readers>; SHARDS],
    validators: Validators,
    /// Something was published, or never will be.
    published: Notify,
}

struct State {
    /// What is ordered and not yet published never will be.
    stopped: bool,
    watches: Vec<Arc<Watch>>,
}

/// Some of the readers: how many there are at each timestamp, in order.
#[derive(Default)]
struct Readers(Mutex<Vec<(Timestamp, usize)>>);

impl Readers {
    fn register(&self, at: impl FnOnce() -> Timestamp) -> Timestamp {
        let mut readers = self.0.lock();
        let timestamp = at();
        // Most are the newest.
        match readers.iter().rposition(|(other, _)| *other <= timestamp) {
            Some(place) => match readers.get_mut(place) {
                Some((other, count)) if *other == timestamp => *count += 1,
                _ => readers.insert(place + 1, (timestamp, 1)),
            },
            None => readers.insert(0, (timestamp, 1)),
        }
        timestamp
    }

    fn oldest(&self) -> Option<Timestamp> {
        self.0.lock().first().map(|(timestamp, _)| *timestamp)
    }
}

impl Registered for Readers {
    fn release(&self, timestamp: Timestamp) {
        let mut readers = self.0.lock();
        let Some(place) = readers.iter().rposition(|(other, _)| *other == timestamp) else { return };
        if let Some((_, count)) = readers.get_mut(place) {
            *count -= 1;
            if *count == 0 {
                readers.remove(place);
            }
        }
    }
}

/// The part of this thread's readers.
fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHARD: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    SHARD.with(|shard| *shard)
}

impl SnapshotRegistry {
    /// Nobody reads; everything up to `visible` is readable.
    pub fn new(visible: Timestamp) -> Arc<Self> {
        Arc::new(SnapshotRegistry {
            state: Mutex::new(State { stopped: false, watches: Vec::new() }),
            visible: AtomicU64::new(visible.0),
            ordered: AtomicU64::new(visible.0),
            readers: std::array::from_fn(|_| Arc::default()),
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
        let state = self.state.lock();
        // In this order: a snapshot that shows them comes after, and under one lock: a watch that begins meanwhile knows of them.
        state.watches.iter().for_each(|watch| watch.look_at(changes, max));
        self.ordered.fetch_max(timestamp.0, Ordering::SeqCst);
    }

    /// A commit of prepared cells has its place.
    pub fn order_cells(&self, timestamp: Timestamp, cells: &[PreparedCells]) {
        let state = self.state.lock();
        for watch in &state.watches {
            cells.iter().for_each(|cells| watch.look_at_ends(&cells.ends, timestamp));
        }
        self.ordered.fetch_max(timestamp.0, Ordering::SeqCst);
    }

    /// See [`AtomicCommit::watch`](crate::AtomicCommit::watch).
    pub fn watch(&self, range: RowRange) -> Arc<Watch> {
        let mut state = self.state.lock();
        let watch = Arc::new(Watch::new(range, Timestamp(self.ordered.load(Ordering::SeqCst))));
        state.watches.push(Arc::clone(&watch));
        watch
    }

    /// Commits up to `timestamp` became readable.
    pub fn publish(&self, timestamp: Timestamp) {
        self.ordered.fetch_max(timestamp.0, Ordering::SeqCst);
        self.visible.fetch_max(timestamp.0, Ordering::SeqCst);
        self.published.notify_waiters();
    }

    /// Nothing more is published.
    pub fn stop(&self) {
        self.state.lock().stopped = true;
        self.published.notify_waiters();
    }

    /// See [`AtomicCommit::published`](crate::AtomicCommit::published).
    pub fn published(&self) -> Timestamp {
        Timestamp(self.visible.load(Ordering::SeqCst))
    }

    /// See [`AtomicCommit::when_published`](crate::AtomicCommit::when_published).
    pub async fn when_published(&self, timestamp: Timestamp) -> Result<()> {
        loop {
            let mut notified = std::pin::pin!(self.published.notified());
            // Registered before it is looked at, so that nothing falls between.
            notified.as_mut().enable();
            // In this order: what is published before all stops counts.
            let stopped = self.state.lock().stopped;
            if self.published() >= timestamp {
                return Ok(());
            }
            if stopped {
                return Err(StoreError::ReadOnly("a sync failed".to_owned()));
            }
            notified.await;
        }
    }

    /// See [`AtomicCommit::snapshot`](crate::AtomicCommit::snapshot).
    pub fn snapshot(&self) -> SnapshotGuard {
        self.registered(&self.visible)
    }

    /// See [`AtomicCommit::ordered_snapshot`](crate::AtomicCommit::ordered_snapshot).
    pub fn ordered_snapshot(&self) -> SnapshotGuard {
        self.registered(&self.ordered)
    }

    fn registered(&self, newest: &AtomicU64) -> SnapshotGuard {
        let [first, ..] = &self.readers;
        let readers = self.readers.get(shard()).unwrap_or(first);
        let timestamp = readers.register(|| Timestamp(newest.load(Ordering::SeqCst)));
        SnapshotGuard::new(timestamp, Some(readers.clone()))
    }

    /// See [`AtomicCommit::oldest_snapshot`](crate::AtomicCommit::oldest_snapshot).
    pub fn oldest(&self) -> Timestamp {
        let visible = self.published();
        // Whoever comes next reads what is visible, although others read what is only ordered.
        self.readers.iter().filter_map(|readers| readers.oldest()).fold(visible, Timestamp::min)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn readers_of_many_threads_hold_the_oldest_until_the_last_has_gone() {
        let registry = SnapshotRegistry::new(Timestamp(5));
        let early = registry.snapshot();
        let same: Vec<SnapshotGuard> = std::thread::scope(|scope| {
            let ask = || scope.spawn(|| registry.snapshot());
            let asked: Vec<_> = std::iter::repeat_with(ask).take(2 * SHARDS).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        registry.publish(Timestamp(9));
        let late = registry.snapshot();
        assert_eq!((late.timestamp(), registry.oldest()), (Timestamp(9), Timestamp(5)));
        drop(early);
        assert_eq!(registry.oldest(), Timestamp(5));
        // Dropped elsewhere than where they were taken.
        drop(same);
        assert_eq!(registry.oldest(), Timestamp(9));
        registry.publish(Timestamp(11));
        assert_eq!(registry.oldest(), Timestamp(9));
        drop(late);
        assert_eq!(registry.oldest(), Timestamp(11));
    }

    #[test]
    fn nobody_registers_below_what_was_the_oldest() {
        let registry = SnapshotRegistry::new(Timestamp(1));
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let before = registry.oldest();
                        let guard = registry.snapshot();
                        assert!(guard.timestamp() >= before);
                        assert!(registry.oldest() <= guard.timestamp());
                    }
                });
            }
            for timestamp in 2..20_000 {
                registry.publish(Timestamp(timestamp));
            }
            stop.store(true, Ordering::Relaxed);
        });
    }

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
