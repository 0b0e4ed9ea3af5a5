//! [`UnlookingCommits`]: commits under way that did not look for row locks, with their writes. A row lock waits only
//! for those that write its row.
//!
//! A commit at snapshot level enters itself here and then checks whether anybody holds row locks. If nobody does, it
//! proceeds without looking for locks, and stays here until it is published or has failed. Otherwise it leaves and
//! locks the rows it writes. A transaction that is about to take row locks first counts itself. Before each lock it
//! waits for the commits here that write that row.
//!
//! So the version read under a lock is the newest, and stays the newest. Let `L` be the transaction that locks `K`,
//! and `C` any commit that writes `K`:
//!
//! 1. `C` did not look. Then it found nobody counted, so `L` counted itself later, and looked here later still. `C`
//!    had entered before. Either `L` found it and waited, or it had already left. In both cases `C` is over when `L`
//!    takes the lock, and `L` reads at a later snapshot.
//! 2. `C` looked. Then it holds the lock of `K` in [`super::LockTable`] until it is ordered. If `L` gets the lock
//!    first, `C` waits for the end of `L`. If `L` gets it later, it reads what `C` wrote.
//!
//! No commit enters and proceeds without looking between 1 and the end of `L`, because `L` stays counted. Two
//! counters tell whether anybody is counted and whether anybody is here. Each side writes its counter before it reads
//! the other one, in one global order (`SeqCst`).
//!
//! A commit here waits for no row lock, so waiting for it closes no cycle.

use super::mode::LockMode;
use crate::buffer::Buffer;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// The commits that did not look for row locks. See the module documentation.
#[derive(Default)]
pub(super) struct UnlookingCommits {
    all: Mutex<Vec<Arc<Buffer>>>,
    /// The length of `all`. It changes only under the lock of `all`.
    count: AtomicUsize,
    /// Notified when a commit ends.
    ended: Notify,
}

impl UnlookingCommits {
    pub(super) fn enter(&self, writes: Arc<Buffer>) {
        let mut all = self.all.lock();
        all.push(writes);
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn leave(&self, writes: &Arc<Buffer>) {
        let left = {
            let mut all = self.all.lock();
            let place = all.iter().position(|other| Arc::ptr_eq(other, writes));
            self.count.fetch_sub(usize::from(place.is_some()), Ordering::SeqCst);
            place.map(|place| all.swap_remove(place))
        };
        drop(left);
        self.ended.notify_waiters();
    }

    /// Whether there is any such commit.
    pub(super) fn any(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    /// Whether any of them writes a row in a way that excludes a lock of this mode.
    pub(super) fn exclude(&self, key: &[u8], mode: LockMode) -> bool {
        // The list is not locked during the look-up, which may read from disk.
        let all = self.all.lock().clone();
        all.iter().any(|writes| match writes.strength_of(key) {
            Ok(strength) => strength.is_some_and(|strength| mode.excludes_mode(LockMode::of_row(strength))),
            // The commit itself will find the error.
            Err(_) => true,
        })
    }

    /// Resolves when a commit ends after this call.
    pub(super) fn ended(&self) -> tokio::sync::futures::Notified<'_> {
        self.ended.notified()
    }
}
