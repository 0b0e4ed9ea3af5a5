//! [`TransactionOptions`]: how a transaction runs. [`Isolation`]: what its statements see. [`OwnWrites`]: which of
//! its own writes a read sees.

use crate::transaction::CommandNumber;
use storage::Timestamp;

/// The options of a transaction.
#[derive(Clone, Copy, Debug)]
pub struct TransactionOptions {
    /// Whether the transaction refuses writes.
    pub read_only: bool,
    /// Whether COMMIT waits for the sync (`synchronous_commit`).
    pub durable: bool,
    /// If set, the transaction reads at this timestamp instead of the newest one.
    pub as_of: Option<Timestamp>,
    /// With `as_of`: whether the transaction may write nevertheless. It commits if nobody has changed its rows since.
    /// Not supported over rows, where the snapshot's timestamp is the transaction's identity.
    pub imports: bool,
    /// The isolation level of its statements.
    pub isolation: Isolation,
}

/// What the statements of a transaction see (PostgreSQL's manual, chapter 13.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// One snapshot for all statements. The first committer of a row wins.
    #[default]
    Snapshot,
    /// A snapshot for each statement ([`crate::Transaction::for_statement`]). Rows are locked before they are read
    /// again and written ([`crate::Transaction::lock_rows`]).
    ReadCommitted,
    /// One snapshot for all statements. A writer commits only if nobody has written since to what it has read. So all
    /// such transactions are serializable in the order of their commits (docs/protocol.md, section 8). A reader sees
    /// a state between two of them, and is never refused.
    Serializable,
}

impl Isolation {
    /// Whether all statements share one snapshot.
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

/// Which of its own writes a transaction's read sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnWrites {
    /// Those of commands before the given one, as a statement's reads do.
    Before(CommandNumber),
    /// All writes of the transaction so far.
    All,
    /// All own writes and, if statements have their own snapshots, the newest committed writes of others. For
    /// uniqueness and foreign-key checks, after the keys were locked.
    Newest,
}
