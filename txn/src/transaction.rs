//! [`Transaction`]: a snapshot and a buffer of writes, from BEGIN to COMMIT.
//!
//! Must not know SQL or types: keys and values are bytes.

use crate::error::Result;
use crate::lock::LockStrength;
use bytes::Bytes;
use futures::stream::BoxStream;
use std::sync::Arc;
use storage::{RowRange, StoreRef, TabletInfo, Timestamp};

/// Position of a statement within its transaction, as PostgreSQL's CommandId.
pub type CommandNumber = u32;

/// How a transaction runs.
#[derive(Clone, Copy, Debug)]
pub struct TransactionOptions {
    /// Refuse writes.
    pub read_only: bool,
    /// Whether COMMIT waits for the sync (`synchronous_commit`).
    pub durable: bool,
    /// Read at this timestamp rather than at the newest.
    pub as_of: Option<Timestamp>,
}

impl Default for TransactionOptions {
    fn default() -> Self {
        TransactionOptions { read_only: false, durable: true, as_of: None }
    }
}

/// Which of the transaction's own writes a read sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnWrites {
    /// Those of commands before the one given: what a statement reads.
    Before(CommandNumber),
    /// All: uniqueness and foreign-key checks.
    All,
}

/// What a write does to its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// Stores a value.
    Put(Bytes),
    /// Removes the value.
    Delete,
    /// Only takes the lock, so that others conflict at COMMIT.
    Lock,
}

/// One buffered write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Row key.
    pub key: Bytes,
    /// Change.
    pub kind: WriteKind,
    /// How strongly the key is held: `Update` for inserts, deletes and key changes,
    /// `NoKeyUpdate` for updates that leave keys alone, the asked strength for locks.
    pub strength: LockStrength,
}

/// One key and its value, as a scan returns them.
pub type KeyValue = (Bytes, Bytes);

/// How a transactional scan runs.
#[derive(Clone, Copy, Debug)]
pub struct TxnScanOptions {
    /// From the end of the range to its start.
    pub reverse: bool,
    /// Pairs in one item of the stream, at most. At least 1.
    pub batch_rows: usize,
    /// Pairs in all, at most.
    pub limit: Option<usize>,
}

impl Default for TxnScanOptions {
    fn default() -> Self {
        TxnScanOptions { reverse: false, batch_rows: 1024, limit: None }
    }
}

/// What a transaction has done so far, for EXPLAIN ANALYZE and statistics.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransactionStats {
    /// Keys buffered.
    pub writes: u64,
    /// Bytes buffered in memory.
    pub buffer_bytes: u64,
    /// Whether the buffer went to disk.
    pub spilled: bool,
    /// Keys read from the store.
    pub keys_read: u64,
    /// Locks of others met while reading.
    pub locks_met: u64,
}

/// A transaction. Methods take `&self`: the operators of one statement share it.
pub struct Transaction {
    _todo: (),
}

#[allow(unused_variables, clippy::unimplemented)]
impl Transaction {
    /// The snapshot that reads see; taken (and registered) at the first call.
    /// Errors: an `as_of` below the safe point or in the future.
    pub async fn snapshot_ts(&self) -> Result<Timestamp> {
        unimplemented!()
    }
    /// Whether the snapshot was taken already.
    pub fn has_snapshot(&self) -> bool {
        unimplemented!()
    }
    /// The value at `key`.
    pub async fn get(&self, key: &[u8], own: OwnWrites) -> Result<Option<Bytes>> {
        unimplemented!()
    }
    /// The values at `keys`, in their order.
    pub async fn get_many(&self, keys: &[Bytes], own: OwnWrites) -> Result<Vec<Option<Bytes>>> {
        unimplemented!()
    }
    /// Streams the pairs of a range in key order, own writes merged in.
    pub fn scan(
        self: &Arc<Self>,
        range: RowRange,
        options: TxnScanOptions,
        own: OwnWrites,
    ) -> BoxStream<'static, Result<Vec<KeyValue>>> {
        unimplemented!()
    }
    /// Buffers writes under the current command number. Spills when the buffer is full.
    pub async fn write(&self, writes: Vec<Write>) -> Result<()> {
        unimplemented!()
    }
    /// Requires at COMMIT that `key` has not been written by others since the snapshot. Writes
    /// nothing on the embedded engine; a `KeyShare` lock-only record where there is no
    /// `commit_atomic`. Used for descriptors (protocol.md, section 7).
    pub fn require_unchanged(&self, key: Bytes) {
        unimplemented!()
    }
    /// The number under which writes are buffered now.
    pub fn command(&self) -> CommandNumber {
        unimplemented!()
    }
    /// Ends the current command: what it wrote becomes visible to `Before(the new number)`.
    /// Returns the new number.
    pub fn advance_command(&self) -> CommandNumber {
        unimplemented!()
    }
    /// Drops what was buffered under `command` and later numbers (ROLLBACK TO SAVEPOINT).
    pub async fn rollback_to(&self, command: CommandNumber) -> Result<()> {
        unimplemented!()
    }
    /// Whether COMMIT has anything to write.
    pub fn has_writes(&self) -> bool {
        unimplemented!()
    }
    /// The transaction's identity, taken from the oracle at the first call.
    pub async fn start_ts(&self) -> Result<Timestamp> {
        unimplemented!()
    }
    /// Commits. The timestamp is the commit_ts (the snapshot's when nothing was written). An
    /// error other than `Undetermined` means that nothing was or will be written.
    pub async fn commit(&self) -> Result<Timestamp> {
        unimplemented!()
    }
    /// Ends the transaction; nothing was written. Infallible: what it leaves behind, others resolve.
    pub async fn rollback(&self) {
        unimplemented!()
    }
    /// What it has done so far.
    pub fn stats(&self) -> TransactionStats {
        unimplemented!()
    }
    /// The tablets that hold `range`: the partitions of a parallel scan.
    pub async fn tablets(&self, range: &RowRange) -> Result<Vec<TabletInfo>> {
        unimplemented!()
    }
}

/// The transactional store: what the server opens once.
pub struct TransactionStore {
    _todo: (),
}

#[allow(unused_variables, clippy::unimplemented)]
impl TransactionStore {
    /// Begins a transaction. Nothing is read until the first statement.
    pub fn begin(self: &Arc<Self>, options: TransactionOptions) -> Arc<Transaction> {
        unimplemented!()
    }
    /// The store below.
    pub fn store(&self) -> &StoreRef {
        unimplemented!()
    }
    /// Removes the rows of a range once no live snapshot can reach them: the storage ids of
    /// dropped and truncated tables. `since` is the commit that dropped them. Durable: survives
    /// restart because the caller passes the same range again until it is told it is gone.
    /// Answers whether the range has been removed (false: the safe point has not passed `since`).
    pub async fn remove_range(&self, range: RowRange, since: Timestamp) -> Result<bool> {
        unimplemented!()
    }
    /// One pass of garbage collection over every tablet (protocol.md, section 6).
    pub async fn collect_garbage(&self) -> Result<GcReport> {
        unimplemented!()
    }
    /// The GC safe point.
    pub fn safe_point(&self) -> Timestamp {
        unimplemented!()
    }
}

/// What a pass of garbage collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Safe point of the pass.
    pub safe_point: Timestamp,
    /// Rows looked at.
    pub rows: u64,
    /// Versions removed.
    pub removed: u64,
    /// Locks resolved.
    pub locks: u64,
}
