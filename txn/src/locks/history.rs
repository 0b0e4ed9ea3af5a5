//! [`LockHistory`]: the newest waits for locks that have ended, and the observer of long waits and deadlocks.

use super::mode::LockMode;
use super::table::{CircleMember, WaitingLock};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::time::Duration;

/// The most waits that are remembered.
const MOST: usize = 1000;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// The locker got the lock.
    Granted,
    /// It took longer than `lock_timeout`.
    TimedOut,
    /// The wait would have closed a cycle.
    Deadlock,
    /// The statement was cancelled, or its connection was lost.
    GivenUp,
}

/// A wait that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedWait {
    /// The label of the locker that waited.
    pub label: i32,
    /// The tag of the name it waited for.
    pub tag: Bytes,
    /// The mode it wanted.
    pub mode: LockMode,
    /// The labels of the lockers that blocked it when it began.
    pub blocked_by: Vec<i32>,
    /// The start of the wait, by the monotonic clock.
    pub since: Duration,
    /// The duration of the wait.
    pub waited: Duration,
    /// The reason for its end.
    pub end: WaitEnd,
}

/// An event that the operator of the server should know of.
#[derive(Debug)]
pub enum LockEvent<'a> {
    /// A wait has lasted for longer than [`super::table::LONG_WAIT`].
    Long(&'a WaitingLock),
    /// A deadlock was found.
    Deadlock(&'a [CircleMember]),
}

type Observer = Box<dyn Fn(LockEvent<'_>) + Send + Sync>;

/// The ended waits, and the observer.
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

    /// Sets the observer. Only the first call has an effect.
    pub(super) fn observe(&self, observer: Observer) {
        let _ = self.observer.set(observer);
    }

    pub(super) fn tell(&self, event: LockEvent<'_>) {
        if let Some(observer) = self.observer.get() {
            observer(event);
        }
    }
}
