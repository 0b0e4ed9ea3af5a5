//! What a node of a store says to the one that keeps the locks of all ([`LockRequest`]), and what it is answered ([`LockReply`]).
//! Requests may be lost, come late or twice: numbers tell which of them still count.

use super::history::EndedWait;
use super::mode::{LockMode, LockName};
use super::table::{LockFailure, LockWait, NamedLock, WaitingLock};
use bytes::Bytes;
use std::time::Duration;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// The tenure of the oracle that is asked, from the row of its lease: only it may answer.
    pub tenure: u64,
    /// The session of the node that asks; 0 to open one.
    pub session: u64,
    /// What it asks for.
    pub call: LockCall,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockCall {
    /// A session, which holds locks as long as it is heard of.
    Open {
        /// The node that asks: a number of its own.
        node: u64,
        /// Grows with each of its requests of this kind: one of an earlier number comes late.
        attempt: u64,
    },
    /// A sign of life.
    Beat,
    /// The locks that the node held in its session before, some at a time.
    Reclaim {
        /// What is held.
        locks: Vec<HeldLock>,
        /// Lockers whose locks commits must look for, and their labels.
        looked_for: Vec<(u64, i32)>,
        /// These are the last.
        last: bool,
    },
    /// Locks for one locker, one after the other.
    Acquire(AcquireCall),
    /// Gives locks back.
    Release {
        /// Grows with each request of the session: one of an earlier number says nothing new.
        number: u64,
        /// Acquisitions below this number are over: a request for one comes late.
        floor: u64,
        /// What is given back, in this order.
        given_back: Vec<GivenBack>,
    },
    /// Who holds and waits for what.
    Look,
}

/// A lock of a locker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLock {
    /// The locker, by the number that its node gave it.
    pub locker: u64,
    /// As others are told of it.
    pub label: i32,
    /// What is locked, how, and what others are told it is.
    pub lock: WantedLock,
}

/// A name and the mode in which it is to be held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedLock {
    /// What.
    pub name: LockName,
    /// How.
    pub mode: LockMode,
    /// What others are told it is.
    pub tag: Bytes,
}

/// See [`LockCall::Acquire`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcquireCall {
    /// Grows with each acquisition of the node.
    pub number: u64,
    /// For whom.
    pub locker: u64,
    /// As others are told of it.
    pub label: i32,
    /// Commits at snapshot level must look for what this locker holds, until it says otherwise.
    pub looked_for: bool,
    /// How long each of the names is waited for.
    pub wait: LockWait,
    /// What is wanted.
    pub names: Vec<WantedLock>,
}

/// Something that is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenBack {
    /// Modes of names.
    Locks {
        /// Whose.
        locker: u64,
        /// Which.
        locks: Vec<(LockName, LockMode)>,
    },
    /// An acquisition whose answer nobody waits for any more, and what it may have taken.
    Abandoned {
        /// Whose.
        locker: u64,
        /// As others are told of it.
        label: i32,
        /// Which acquisition.
        number: u64,
        /// What it may have taken.
        locks: Vec<(LockName, LockMode)>,
    },
    /// Nobody need look for the locker's locks any more.
    LookedFor {
        /// Whose.
        locker: u64,
    },
    /// The locker is gone.
    Locker {
        /// Which.
        locker: u64,
        /// The number of its last acquisition.
        last: u64,
    },
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockReply {
    /// The session is open.
    Opened(u64),
    /// It was done.
    Done,
    /// Names of lockers that could not be reclaimed.
    Lost(Vec<(u64, LockName)>),
    /// What became of the names, up to the first that failed.
    Taken {
        /// In the order of the request.
        taken: Vec<Taken>,
        /// Why the next one was not taken.
        failure: Option<LockFailure>,
    },
    /// Who holds and waits for what.
    Seen(SeenLocks),
    /// There is no such session, or not any more: what it held is lost.
    Unknown,
}

/// What became of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is newly held in this mode.
    Newly,
    /// It was held in this mode before, or in one that makes it superfluous.
    Already,
    /// Another has it, and nobody wanted to wait.
    Held,
}

/// All that is to be seen of a table of locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenLocks {
    /// The monotonic clock by which waits are told.
    pub now: Duration,
    /// What is held that is not a row, in no order.
    pub named: Vec<NamedLock>,
    /// Who waits, in no order.
    pub waiting: Vec<WaitingLock>,
    /// The newest waits that are over, oldest first.
    pub ended: Vec<EndedWait>,
}

impl SeenLocks {
    /// The same by another clock, which shows `now` at this moment.
    pub(super) fn by_clock(mut self, now: Duration) -> SeenLocks {
        let moved = |since: Duration| now.saturating_sub(self.now.saturating_sub(since));
        self.waiting.iter_mut().for_each(|wait| wait.since = moved(wait.since));
        self.ended.iter_mut().for_each(|wait| wait.since = moved(wait.since));
        self.now = now;
        self
    }
}
