//! The requests of a node to the keeper of the locks ([`LockRequest`]), and its answers ([`LockReply`]). Requests may
//! be lost, delayed or duplicated. Their numbers tell which still count.

use super::history::EndedWait;
use super::mode::{LockMode, LockName};
use super::table::{LockFailure, LockWait, NamedLock, WaitingLock};
use bytes::Bytes;
use std::time::Duration;

/// A request to the node that keeps the locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// The tenure of the asked oracle, from the row of its lease. Only that tenure may answer.
    pub tenure: u64,
    /// The session of the asking node. Zero to open one.
    pub session: u64,
    /// The action to perform in the session.
    pub call: LockCall,
}

/// The action of a [`LockRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockCall {
    /// Opens a session, which holds locks while its heartbeats arrive.
    Open {
        /// The random number of the asking node.
        node: u64,
        /// Grows with each request of this kind. A request with a lower number comes late.
        attempt: u64,
    },
    /// A heartbeat, which keeps the session open.
    Beat,
    /// Reclaims some of the locks that the node held in its previous session.
    Reclaim {
        /// A part of the held locks.
        locks: Vec<HeldLock>,
        /// The lockers whose locks commits must look for, with their labels.
        looked_for: Vec<(u64, i32)>,
        /// Whether these are the last locks to reclaim.
        last: bool,
    },
    /// Takes locks for one locker, one after the other.
    Acquire(AcquireCall),
    /// Releases locks and ends acquisitions.
    Release {
        /// Grows with each request of the session. A request with a lower number comes late.
        number: u64,
        /// Acquisitions below this number have ended. A request for one of them comes late.
        floor: u64,
        /// The releases, in this order.
        given_back: Vec<GivenBack>,
    },
    /// Asks for the holders and waiters of locks.
    Look,
}

/// A lock held by a locker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLock {
    /// The locker, by the number that its node gave it.
    pub locker: u64,
    /// The label that identifies the locker to others.
    pub label: i32,
    /// The name, the mode, and the tag that others see.
    pub lock: WantedLock,
}

/// A name, and the mode in which it should be held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedLock {
    /// The name to lock.
    pub name: LockName,
    /// The mode of the lock.
    pub mode: LockMode,
    /// Bytes that describe the name to others.
    pub tag: Bytes,
}

/// The acquisition of [`LockCall::Acquire`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcquireCall {
    /// Grows with each acquisition of the node.
    pub number: u64,
    /// The locker that the locks are for.
    pub locker: u64,
    /// The label that identifies the locker to others.
    pub label: i32,
    /// Whether commits at snapshot level must look for this locker's locks, until it withdraws that.
    pub looked_for: bool,
    /// How long to wait for each name.
    pub wait: LockWait,
    /// The names to lock, in this order.
    pub names: Vec<WantedLock>,
}

/// A release, or the end of an acquisition or a locker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenBack {
    /// Releases modes of names.
    Locks {
        /// The locker that releases them.
        locker: u64,
        /// The names and modes to release.
        locks: Vec<(LockName, LockMode)>,
    },
    /// Abandons an acquisition whose answer nobody awaits, and releases what it may have taken.
    Abandoned {
        /// The locker of the acquisition.
        locker: u64,
        /// The label that identifies the locker to others.
        label: i32,
        /// The number of the acquisition.
        number: u64,
        /// The names and modes that it may have taken.
        locks: Vec<(LockName, LockMode)>,
    },
    /// Commits need no longer look for the locker's locks.
    LookedFor {
        /// The locker whose locks are meant.
        locker: u64,
    },
    /// The locker no longer exists.
    Locker {
        /// The locker that was dropped.
        locker: u64,
        /// The number of its last acquisition.
        last: u64,
    },
}

/// The answer to a [`LockRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockReply {
    /// The new session, by its number.
    Opened(u64),
    /// The request was done, and there is nothing to report.
    Done,
    /// The names that could not be reclaimed, each with its locker.
    Lost(Vec<(u64, LockName)>),
    /// The results of an acquisition, up to the first name that failed.
    Taken {
        /// The results, in the order of the request.
        taken: Vec<Taken>,
        /// Why the next name was not taken, if it was not.
        failure: Option<LockFailure>,
    },
    /// The holders and waiters of locks.
    Seen(SeenLocks),
    /// The session does not exist any more, and its locks are lost.
    Unknown,
}

/// The result of locking a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The name is newly held in this mode.
    Newly,
    /// The name was held before, in this mode or in one that covers it.
    Already,
    /// Another locker holds the name, and the caller did not want to wait.
    Held,
}

/// The visible state of a lock table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenLocks {
    /// The monotonic clock that the waits refer to.
    pub now: Duration,
    /// The held names that are not rows, in no order.
    pub named: Vec<NamedLock>,
    /// The waiting lockers, in no order.
    pub waiting: Vec<WaitingLock>,
    /// The newest waits that have ended, oldest first.
    pub ended: Vec<EndedWait>,
}

impl SeenLocks {
    /// Converts the times to another clock, which shows `now` at this moment.
    pub(super) fn by_clock(mut self, now: Duration) -> SeenLocks {
        let moved = |since: Duration| now.saturating_sub(self.now.saturating_sub(since));
        self.waiting.iter_mut().for_each(|wait| wait.since = moved(wait.since));
        self.ended.iter_mut().for_each(|wait| wait.since = moved(wait.since));
        self.now = now;
        self
    }
}
