//! [`LockHistory`]: the waits for locks that are over, the newest ones, and who is told of long waits and deadlocks.

use super::mode::LockMode;
use super::table::{CircleMember, WaitingLock};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::time::Duration;

/// Waits that are remembered, at most.
const MOST: usize = 1000;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// With the lock.
    Granted,
    /// It took longer than `lock_timeout`.
    TimedOut,
    /// It would have closed a circle.
    Deadlock,
    /// The statement was cancelled, or its connection is gone.
    GivenUp,
}

/// A wait that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedWait {
    /// Who: the label of the locker.
    pub label: i32,
    /// For what.
    pub tag: Bytes,
    /// In which mode.
    pub mode: LockMode,
    /// Who was in the way when it began.
    pub blocked_by: Vec<i32>,
    /// Since when, by the monotonic clock.
    pub since: Duration,
    /// How long.
    pub waited: Duration,
    /// How it ended.
    pub end: WaitEnd,
}

/// Something a person who runs the server wants to hear of.
#[derive(Debug)]
pub enum LockEvent<'a> {
    /// A wait goes on for longer than [`super::table::LONG_WAIT`].
    Long(&'a WaitingLock),
    /// A circle was found.
    Deadlock(&'a [CircleMember]),
}

type Observer = Box<dyn Fn(LockEvent<'_>) + Send + Sync>;

/// See the head of the module.
#[derive(Default)]
pub(super) struct LockHistory {
    ended: Mutex<VecDeque<EndedWait>>,
    observer: OnceLock<Observer>,
}

impl LockHistory {
    pub(super) fn note(&self, wait: EndedWait) {
        let mut ended = self.ended.lock();
        if ended.len() >= MOST {
            ended.pop_front();
        }
        ended.push_back(wait);
    }

    pub(super) fn ended(&self) -> Vec<EndedWait> {
        self.ended.lock().iter().cloned().collect()
    }

    /// Once.
    pub(super) fn observe(&self, observer: Observer) {
        let _ = self.observer.set(observer);
    }

    pub(super) fn tell(&self, event: LockEvent<'_>) {
        if let Some(observer) = self.observer.get() {
            observer(event);
        }
    }
}
