//! [`SnapshotRegistry`]: the ordered commits, the published commits, and the timestamps of the registered readers.

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

/// Number of shards of the reader table.
const SHARDS: usize = 16;

/// The newest visible commit and the registered readers. Readers share no memory that other threads write, except a
/// shard of the reader table.
///
/// Invariant: no reader is older than any answer of [`SnapshotRegistry::oldest`]. A new reader reads the newest
/// commit while it holds its shard's lock. `oldest` first reads the newest commit and then looks into the shards. So
/// a reader that `oldest` did not see locked its shard later, and reads that commit or a newer one.
pub struct SnapshotRegistry {
    state: Mutex<State>,
    /// The newest readable commit. Never decreases.
    visible: AtomicU64,
    /// The newest commit that is in the log. At least `visible`.
    ordered: AtomicU64,
    readers: [Arc<Readers>; SHARDS],
    validators: Validators,
    /// Notified when commits are published, and when the log has failed.
    published: Notify,
}

struct State {
    /// Whether the log has failed. Commits that are ordered and not yet published never will be.
    stopped: bool,
    watches: Vec<Arc<Watch>>,
}

/// One shard of the readers: the number of readers at each timestamp, in order.
#[derive(Default)]
struct Readers(Mutex<Vec<(Timestamp, usize)>>);

impl Readers {
    fn register(&self, at: impl FnOnce() -> Timestamp) -> Timestamp {
        let mut readers = self.0.lock();
        let timestamp = at();
        // Most readers read at the newest timestamp, so the search begins at the end.
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

/// This thread's shard of the readers.
fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHARD: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    SHARD.with(|shard| *shard)
}

impl SnapshotRegistry {
    /// A registry without readers, in which every commit up to `visible` is published.
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

    /// The transactions that may ask about writes to ranges they have read.
    pub fn validators(&self) -> &Validators {
        &self.validators
    }

    /// Notes that commits up to `timestamp` are in the log, with these changes. No cell among them
    /// is newer than `max`.
    pub fn order(&self, timestamp: Timestamp, changes: &[Change], max: Timestamp) {
        let state = self.state.lock();
        // The order matters: the watches must know the changes before a snapshot shows them. The lock includes
        // watches that begin meanwhile.
        state.watches.iter().for_each(|watch| watch.look_at(changes, max));
        self.ordered.fetch_max(timestamp.0, Ordering::SeqCst);
    }

    /// Notes that a commit of prepared cells is in the log.
    pub fn order_cells(&self, timestamp: Timestamp, cells: &[PreparedCells]) {
        let state = self.state.lock();
        for watch in &state.watches {
            cells.iter().for_each(|cells| watch.look_at_ends(&cells.ends, timestamp));
        }
        self.ordered.fetch_max(timestamp.0, Ordering::SeqCst);
    }

    /// Implements [`AtomicCommit::watch`](crate::AtomicCommit::watch): tracks the newest write to `range`.
    pub fn watch(&self, range: RowRange) -> Arc<Watch> {
        let mut state = self.state.lock();
        let watch = Arc::new(Watch::new(range, Timestamp(self.ordered.load(Ordering::SeqCst))));
        state.watches.push(Arc::clone(&watch));
        watch
    }

    /// Publishes the commits up to `timestamp`: new snapshots see them.
    pub fn publish(&self, timestamp: Timestamp) {
        self.ordered.fetch_max(timestamp.0, Ordering::SeqCst);
        self.visible.fetch_max(timestamp.0, Ordering::SeqCst);
        self.published.notify_waiters();
    }

    /// Notes that the log failed and no further commit will be published. Wakes all waiters.
    pub fn stop(&self) {
        self.state.lock().stopped = true;
        self.published.notify_waiters();
    }

    /// Implements [`AtomicCommit::published`](crate::AtomicCommit::published): the newest readable commit.
    pub fn published(&self) -> Timestamp {
        Timestamp(self.visible.load(Ordering::SeqCst))
    }

    /// Implements [`AtomicCommit::when_published`](crate::AtomicCommit::when_published). Errors: the log failed.
    pub async fn when_published(&self, timestamp: Timestamp) -> Result<()> {
        loop {
            let mut notified = std::pin::pin!(self.published.notified());
            // Registered before the check, so that no notification is missed.
            notified.as_mut().enable();
            // The order matters: a commit that was published before the stop counts as published.
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

    /// Implements [`AtomicCommit::snapshot`](crate::AtomicCommit::snapshot): registers a reader
    /// of the published commits.
    pub fn snapshot(&self) -> SnapshotGuard {
        self.registered(&self.visible)
    }

    /// Implements [`AtomicCommit::ordered_snapshot`](crate::AtomicCommit::ordered_snapshot): registers a reader
    /// of the ordered commits.
    pub fn ordered_snapshot(&self) -> SnapshotGuard {
        self.registered(&self.ordered)
    }

    fn registered(&self, newest: &AtomicU64) -> SnapshotGuard {
        let [first, ..] = &self.readers;
        let readers = self.readers.get(shard()).unwrap_or(first);
        let timestamp = readers.register(|| Timestamp(newest.load(Ordering::SeqCst)));
        SnapshotGuard::new(timestamp, Some(readers.clone()))
    }

    /// Implements [`AtomicCommit::oldest_snapshot`](crate::AtomicCommit::oldest_snapshot): the least timestamp
    /// that a reader uses.
    pub fn oldest(&self) -> Timestamp {
        let visible = self.published();
        // The next reader reads at `visible`, even if readers of ordered commits read at a later timestamp.
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
        // Guards may be dropped on another thread than the one that took them.
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
