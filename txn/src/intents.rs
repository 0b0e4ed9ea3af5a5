//! [`Intents`]: the two-phase transactions under way, on an engine with one log for all rows. Each has a durable row
//! ([`crate::system`]) and an entry in this table in memory. The table tells a reader of a lock what became of the
//! owner, so that no reader waits.
//!
//! The table also has two gates:
//!
//! - A snapshot is *lean* if no lock can hide a commit from it. Its reads look at the write family alone.
//! - A one-phase commit is lean if no lock exists at all. It does not look for locks.
//!
//! Both are sound for two reasons. A two-phase transaction enters the table before its first lock and leaves it after
//! its last. After entering, it waits for the lean commits that did not see it.

use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use storage::Timestamp;
use tokio::sync::Notify;

/// The progress of a two-phase transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntentState {
    /// It is writing locks. Its commit timestamp will lie above every snapshot taken so far.
    Prewriting,
    /// The committer has the primary's commit, so only the primary's row tells the outcome.
    Committing,
    /// It committed at this timestamp. Its secondaries follow.
    Committed(Timestamp),
    /// It was rolled back, and its locks are being removed.
    RolledBack,
}

/// The table of two-phase transactions. See the module documentation.
#[derive(Default)]
pub(crate) struct Intents {
    table: Mutex<BTreeMap<Timestamp, (Bytes, IntentState)>>,
    /// The number of entries.
    count: AtomicUsize,
    /// The number of lean commits under way.
    lean: AtomicUsize,
    drained: Notify,
}

/// A permit for a one-phase commit that does not look for locks. Held until the committer has answered.
pub(crate) struct LeanCommit<'a>(&'a Intents);

impl Drop for LeanCommit<'_> {
    fn drop(&mut self) {
        if self.0.lean.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.drained.notify_waiters();
        }
    }
}

impl Intents {
    /// Enters a transaction, before its first lock and before its durable row.
    pub(crate) fn enter(&self, start_ts: Timestamp, primary: Bytes, state: IntentState) {
        let mut table = self.table.lock();
        if table.insert(start_ts, (primary, state)).is_none() {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Waits until every lean commit that did not see the current entries has been answered.
    pub(crate) async fn wait_for_lean_commits(&self) {
        loop {
            let drained = self.drained.notified();
            if self.lean.load(Ordering::SeqCst) == 0 {
                return;
            }
            drained.await;
        }
    }

    /// A permit to commit without looking for locks. `None` if there may be locks.
    pub(crate) fn lean_commit(&self) -> Option<LeanCommit<'_>> {
        self.lean.fetch_add(1, Ordering::SeqCst);
        let permit = LeanCommit(self);
        (self.count.load(Ordering::SeqCst) == 0).then_some(permit)
    }

    /// Sets the progress of a transaction.
    pub(crate) fn set(&self, start_ts: Timestamp, state: IntentState) {
        if let Some(entry) = self.table.lock().get_mut(&start_ts) {
            entry.1 = state;
        }
    }

    /// Removes a transaction, after its last lock.
    pub(crate) fn leave(&self, start_ts: Timestamp) {
        if self.table.lock().remove(&start_ts).is_some() {
            self.count.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// The progress of a transaction. `None` if it is over.
    pub(crate) fn state(&self, start_ts: Timestamp) -> Option<IntentState> {
        self.table.lock().get(&start_ts).map(|entry| entry.1)
    }

    /// Whether no lock can hide a commit at or below `snapshot_ts`, which was taken before this call. Once true, it
    /// stays true for this snapshot.
    pub(crate) fn is_lean(&self, snapshot_ts: Timestamp) -> bool {
        self.count.load(Ordering::SeqCst) == 0
            || !self.table.lock().values().any(|(_, state)| match state {
                IntentState::Prewriting | IntentState::RolledBack => false,
                IntentState::Committing => true,
                IntentState::Committed(commit_ts) => *commit_ts <= snapshot_ts,
            })
    }

    /// The finished transactions whose locks could not all be removed. Readers and writers that meet such a lock
    /// resolve it, and garbage collection resolves the rest.
    pub(crate) fn finished(&self) -> Vec<(Timestamp, Bytes, IntentState)> {
        let table = self.table.lock();
        let entries = table.iter().map(|(start_ts, (primary, state))| (*start_ts, primary.clone(), *state));
        entries.filter(|(_, _, state)| matches!(state, IntentState::Committed(_) | IntentState::RolledBack)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_lean_unless_a_commit_below_it_is_unfinished() {
        let intents = Intents::default();
        assert!(intents.is_lean(Timestamp(10)));
        intents.enter(Timestamp(5), Bytes::new(), IntentState::Prewriting);
        assert!(intents.is_lean(Timestamp(10)), "it will commit above 10");
        intents.set(Timestamp(5), IntentState::Committing);
        assert!(!intents.is_lean(Timestamp(10)));
        intents.set(Timestamp(5), IntentState::Committed(Timestamp(11)));
        assert!(intents.is_lean(Timestamp(10)));
        assert!(!intents.is_lean(Timestamp(11)));
        intents.leave(Timestamp(5));
        assert!(intents.is_lean(Timestamp(11)));
    }

    #[test]
    fn an_entry_waits_for_lean_commits_and_stops_new_ones() {
        let intents = Intents::default();
        let permit = intents.lean_commit().unwrap();
        intents.enter(Timestamp(5), Bytes::new(), IntentState::Prewriting);
        assert!(intents.lean_commit().is_none());
        let mut wait = std::pin::pin!(intents.wait_for_lean_commits());
        assert!(futures::FutureExt::now_or_never(wait.as_mut()).is_none());
        drop(permit);
        assert!(futures::FutureExt::now_or_never(wait).is_some());
    }
}
