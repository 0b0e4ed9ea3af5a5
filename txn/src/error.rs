//! [`TxnError`]: what can go wrong in a transaction, by what the caller should do.

use crate::locks::LockFailure;
use bytes::Bytes;
use std::fmt;
use storage::{StoreError, Timestamp};

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnError {
    /// Another transaction committed to a key of ours first. Nothing of ours was written: run
    /// the transaction again. SQLSTATE 40001.
    Conflict(Conflict),
    /// The commit may or may not have happened, and the store could not be asked. SQLSTATE 40003.
    Undetermined {
        /// Identity of the transaction.
        start_ts: Timestamp,
    },
    /// The snapshot lies below the GC safe point. SQLSTATE 72000.
    SnapshotTooOld {
        /// Where the snapshot is.
        snapshot_ts: Timestamp,
        /// Where it would have to be.
        safe_point: Timestamp,
    },
    /// A row was not locked for the transaction. SQLSTATE 55P03, 40P01 or 53200.
    NotLocked {
        /// Row key.
        key: Bytes,
        /// Why.
        failure: LockFailure,
    },
    /// Locks that it held, other than of rows, were lost: others may have had them meanwhile. SQLSTATE 40001.
    LocksLost,
    /// It has not looked for locks that another node keeps. Never leaves this crate.
    Unlooked,
    /// The transaction is read-only, or has ended. A mistake of the caller.
    Invalid(&'static str),
    /// The store failed.
    Store(StoreError),
    /// The buffer could not spill to local disk.
    Spill(String),
}

/// Which key conflicted with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Row key in conflict.
    pub key: Bytes,
    /// Our snapshot.
    pub snapshot_ts: Timestamp,
    /// Timestamp of what was found: a commit_ts, or the start_ts of a lock.
    pub found: Timestamp,
    /// What was found.
    pub kind: ConflictKind,
}

/// What a writer ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// A newer committed write.
    Write,
    /// A newer lock-only record of a conflicting strength.
    LockOnly,
    /// Another transaction's lock.
    Lock,
    /// Our own rollback, by somebody who thought us dead.
    RolledBack,
    /// A key that had to stay unchanged (a descriptor) changed.
    Condition,
    /// A newer committed write of something that was only read.
    Read,
}

/// A result of a transaction.
pub type Result<T> = std::result::Result<T, TxnError>;

impl From<StoreError> for TxnError {
    fn from(error: StoreError) -> Self {
        TxnError::Store(error)
    }
}

impl fmt::Display for TxnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TxnError::Conflict(c) => {
                write!(f, "conflict on key {:?}: {:?} at {} after snapshot {}", c.key, c.kind, c.found, c.snapshot_ts)
            }
            TxnError::Undetermined { start_ts } => {
                write!(f, "the outcome of transaction {start_ts} is not known")
            }
            TxnError::SnapshotTooOld { snapshot_ts, safe_point } => {
                write!(f, "snapshot {snapshot_ts} is older than the safe point {safe_point}")
            }
            TxnError::NotLocked { key, failure } => write!(f, "key {key:?} was not locked: {failure:?}"),
            TxnError::LocksLost => f.write_str("locks of the transaction were lost"),
            TxnError::Unlooked => f.write_str("the commit did not look for locks"),
            TxnError::Invalid(what) => f.write_str(what),
            TxnError::Store(error) => error.fmt(f),
            TxnError::Spill(what) => write!(f, "spilling the write buffer failed: {what}"),
        }
    }
}

impl std::error::Error for TxnError {}
