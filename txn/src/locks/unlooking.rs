//! [`UnlookingCommits`]: commits under way that did not look for row locks, and what they write, so that a row lock waits for
//! those alone that write its row.
//!
//! A commit at snapshot level enters itself here, then asks whether anybody holds row locks. If nobody does, it goes on without
//! looking and stays here until it is published, or has failed. If somebody does, it leaves and takes the locks of its writes. A
//! transaction that is about to take row locks counts itself first, and then, before each lock, waits for the commits here that
//! write that row.
//!
//! So what is read after a lock was granted is the newest, and stays so. Be `L` the transaction that locks `K`, and `C` any commit
//! that writes `K`:
//!
//! 1. `C` did not look. Then it found nobody counted, so `L` counted itself later, and looked here later still; `C` had entered
//!    before. Either `L` found it and waited, or it had left. In both cases `C` is over when `L` takes the lock, and `L` reads at a
//!    snapshot taken after that.
//! 2. `C` looked. Then it holds the lock of `K` in [`super::LockTable`] until it has its place in the order of commits. `L` gets
//!    the lock before `C`, which then waits for `L`'s end, or after, and then reads what `C` wrote.
//!
//! No commit enters between 1 and the end of `L` and goes on unlooking: `L` stays counted. Whether anybody is counted and whether
//! anybody is here is told by two counters, each written before the other is read, in one order that all agree on (`SeqCst`).
//!
//! A commit here waits for no row lock, so those who wait for it close no circle.

use super::mode::LockMode;
use crate::buffer::Buffer;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// See the head of the module.
#[derive(Default)]
pub(super) struct UnlookingCommits {
    /// What each writes.
    all: Mutex<Vec<Arc<Buffer>>>,
    /// How many there are; changed under the lock of `all`.
    count: AtomicUsize,
    /// One ended.
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

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    /// Whether any of them writes a row so that it excludes a lock of this mode.
    pub(super) fn exclude(&self, key: &[u8], mode: LockMode) -> bool {
        // Looked at beside the list: what was spilled lies on disk.
        let all = self.all.lock().clone();
        all.iter().any(|writes| match writes.strength_of(key) {
            Ok(strength) => strength.is_some_and(|strength| mode.excludes_mode(LockMode::of_row(strength))),
            // Its commit finds out.
            Err(_) => true,
        })
    }

    /// Waits until one has ended, if it does after this call.
    pub(super) fn ended(&self) -> tokio::sync::futures::Notified<'_> {
        self.ended.notified()
    }
}
