//! [`FailPoints`]: named points in the protocol at which a test makes one instance fail or stop, as if its process
//! had died there. Costs one relaxed load while no point is set.

use crate::error::{Result, TxnError};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use storage::StoreError;
use tokio::sync::Notify;

/// After every lock has been written, before the commit timestamp is taken.
pub const AFTER_PREWRITE: &str = "after_prewrite";
/// After the commit timestamp, before the primary is committed.
pub const BEFORE_COMMIT_PRIMARY: &str = "before_commit_primary";
/// After the primary was committed, before the first secondary is.
pub const BEFORE_COMMIT_SECONDARY: &str = "before_commit_secondary";
/// Before a batch of locks is written.
pub const BEFORE_PREWRITE: &str = "before_prewrite";
/// Before the one-phase batch is handed to the committer.
pub const BEFORE_COMMIT_ATOMIC: &str = "before_commit_atomic";

/// What happens at a fail point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailAction {
    /// The call fails as if the store were unavailable. Clean-up runs.
    Error,
    /// The call never continues, as if the process had died. Nothing is cleaned up.
    Stop,
    /// The call waits until the fail point is cleared.
    Wait,
}

/// The fail points of one instance.
#[derive(Default)]
pub struct FailPoints {
    any: AtomicBool,
    set: Mutex<BTreeMap<String, FailAction>>,
    reached: Mutex<BTreeSet<&'static str>>,
    cleared: Notify,
}

impl FailPoints {
    /// Makes later calls that reach `name` do `action`.
    pub fn set(&self, name: &str, action: FailAction) {
        self.set.lock().insert(name.to_owned(), action);
        self.any.store(true, Ordering::SeqCst);
    }

    /// Clears `name`: later calls pass it, and waiting ones continue.
    pub fn clear(&self, name: &str) {
        let mut set = self.set.lock();
        set.remove(name);
        self.any.store(!set.is_empty(), Ordering::SeqCst);
        drop(set);
        self.reached.lock().remove(name);
        self.cleared.notify_waiters();
    }

    /// Whether a call that reaches `name` stops for ever.
    pub(crate) fn stops(&self, name: &str) -> bool {
        self.any.load(Ordering::Relaxed) && self.set.lock().get(name) == Some(&FailAction::Stop)
    }

    /// Whether any call has stopped or waited at `name`, so that the steps before it are done.
    pub fn has_stopped(&self, name: &str) -> bool {
        self.reached.lock().contains(name)
    }

    /// Reaches the fail point `name` and does what is set there.
    pub async fn pass(&self, name: &'static str) -> Result<()> {
        if !self.any.load(Ordering::Relaxed) {
            return Ok(());
        }
        // Before the check, so that no clearing after it is missed.
        let mut cleared = self.cleared.notified();
        let mut action = self.set.lock().get(name).copied();
        while action == Some(FailAction::Wait) {
            self.reached.lock().insert(name);
            cleared.await;
            cleared = self.cleared.notified();
            action = self.set.lock().get(name).copied();
        }
        match action {
            None | Some(FailAction::Wait) => Ok(()),
            Some(FailAction::Error) => Err(TxnError::Store(StoreError::Unavailable(format!("fail point {name}")))),
            Some(FailAction::Stop) => {
                self.reached.lock().insert(name);
                std::future::pending().await
            }
        }
    }
}
