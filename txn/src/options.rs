//! [`TransactionOptions`]: how a transaction runs, what its statements see ([`Isolation`]), and which of its own writes a read sees
//! ([`OwnWrites`]).

use crate::transaction::CommandNumber;
use storage::Timestamp;

/// How a transaction runs.
#[derive(Clone, Copy, Debug)]
pub struct TransactionOptions {
    /// Refuse writes.
    pub read_only: bool,
    /// Whether COMMIT waits for the sync (`synchronous_commit`).
    pub durable: bool,
    /// Read at this timestamp rather than at the newest.
    pub as_of: Option<Timestamp>,
    /// With `as_of`: it may write all the same, and commits if nobody changed its rows since. Not over rows, where the
    /// snapshot's timestamp is the transaction's name.
    pub imports: bool,
    /// What its statements see.
    pub isolation: Isolation,
}

/// What the statements of a transaction see (PostgreSQL's manual, chapter 13.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// One snapshot for all; the first committer of a row wins.
    #[default]
    Snapshot,
    /// A snapshot for each statement ([`crate::Transaction::for_statement`]). Rows are locked before they are read again and
    /// written ([`crate::Transaction::lock_rows`]): on engines that hold locks in memory alone.
    ReadCommitted,
    /// One snapshot for all; who writes commits only if nothing that it has read was written since, so that all such
    /// transactions are as if one after the other, in the order of their commits (docs/protocol.md, section 8). Who only reads
    /// sees a state between two of them, and is never refused.
    Serializable,
}

impl Isolation {
    /// Whether all statements see one snapshot.
    pub fn has_one_snapshot(self) -> bool {
        self != Isolation::ReadCommitted
    }
}

impl Default for TransactionOptions {
    fn default() -> Self {
        TransactionOptions {
            read_only: false,
            durable: true,
            as_of: None,
            imports: false,
            isolation: Isolation::Snapshot,
        }
    }
}

/// Which of the transaction's own writes a read sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnWrites {
    /// Those of commands before the one given: what a statement reads.
    Before(CommandNumber),
    /// All.
    All,
    /// All, and of what others wrote the newest rather than what the statement's snapshot sees, where statements have
    /// snapshots of their own: uniqueness and foreign-key checks, after the keys were locked.
    Newest,
}
