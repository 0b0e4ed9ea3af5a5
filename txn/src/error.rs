//! [`TxnError`]: the errors of a transaction, divided by what the caller should do.

use crate::locks::LockFailure;
use bytes::Bytes;
use std::fmt;
use storage::{StoreError, Timestamp};

/// An error of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnError {
    /// Another transaction committed to one of our keys first. Nothing of ours was written, so the caller should run
    /// the transaction again. SQLSTATE 40001.
    Conflict(Conflict),
    /// The commit may or may not have happened, and the store could not be asked. SQLSTATE 40003.
    Undetermined {
        /// The transaction's identity, for asking for its outcome later.
        start_ts: Timestamp,
    },
    /// The snapshot lies below the safe point of garbage collection. SQLSTATE 72000.
    SnapshotTooOld {
        /// The timestamp that the snapshot reads at.
        snapshot_ts: Timestamp,
        /// The least timestamp that can still be read.
        safe_point: Timestamp,
    },
    /// A row was not locked for the transaction. SQLSTATE 55P03, 40P01 or 53200.
    NotLocked {
        /// The key of the row that was not locked.
        key: Bytes,
        /// The reason, which selects the SQLSTATE.
        failure: LockFailure,
    },
    /// Locks of the transaction, other than on rows, were lost, so others may have held
    /// them meanwhile. SQLSTATE 40001.
    LocksLost,
    /// The commit has not looked for locks on another node. This error never leaves the crate.
    Unlooked,
    /// The transaction is read-only or has ended: a mistake of the caller.
    Invalid(&'static str),
    /// An error of the store below.
    Store(StoreError),
    /// The buffer could not spill to local disk.
    Spill(String),
}

/// A conflict with another transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The row key in conflict.
    pub key: Bytes,
    /// The snapshot of the transaction that failed.
    pub snapshot_ts: Timestamp,
    /// The timestamp of the conflicting cell: a commit_ts, or the start_ts of a lock.
    pub found: Timestamp,
    /// The kind of the conflicting cell.
    pub kind: ConflictKind,
}

/// The kind of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// A newer committed write.
    Write,
    /// A newer lock-only record of a conflicting strength.
    LockOnly,
    /// A lock of another transaction.
    Lock,
    /// Our own rollback record, written by another transaction that took ours for dead.
    RolledBack,
    /// A change of a key that had to stay unchanged, such as a descriptor.
    Condition,
    /// A newer committed write to a range that was only read.
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
