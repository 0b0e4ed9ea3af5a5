//! [`Transaction`]: a snapshot and a buffer of writes, from BEGIN to COMMIT.
//!
//! Keys and values are bytes.

mod changed;
mod definitions;
mod ending;

use crate::buffer::Buffer;
use crate::early::EarlyLocks;
use crate::error::{Result, TxnError};
use crate::lock::LockStrength;
use crate::locks::Locker;
use crate::pairs::Pairs;
use crate::puts::Puts;
use crate::read_set::ReadSet;
use crate::resolver::Status;
use crate::row_locks::RowLocks;
use crate::scan::{self, TxnScanOptions};
use crate::snapshot::{ReadCounts, Snapshot};
use crate::store::{TransactionStore, TransactionStoreOptions};
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use storage::{AtomicCommit, RowRange, TabletInfo, Timestamp, Validator};

pub use crate::options::{Isolation, OwnWrites, TransactionOptions};
pub use definitions::TransactionHandle;

/// Position of a statement within its transaction, as PostgreSQL's CommandId.
pub type CommandNumber = u32;

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

/// A transaction, as one statement sees it where each has a snapshot of its own. Methods take `&self`: the operators of one
/// statement share it. Dropped without COMMIT it has done nothing.
///
/// Commits on one log give up their row locks when they are ordered, before they are published, so that a row that all
/// want changes hands many times in one sync. Who locks such a row sees what is only ordered: should that come to nothing, the
/// log has failed, and this transaction comes to nothing too. But nobody is told of it before: [`Transaction::settled`].
pub struct Transaction {
    pub(crate) shared: Arc<Shared>,
    snapshot: RwLock<Option<Arc<Snapshot>>>,
    /// Whether its statement tells nobody what it reads, but for whom `settled` lets.
    quiet: bool,
}

/// What all statements of a transaction share.
pub(crate) struct Shared {
    pub(crate) store: Arc<TransactionStore>,
    pub(crate) options: TransactionOptions,
    state: RwLock<State>,
    /// Held while the snapshot or the identity is being taken.
    taking: tokio::sync::Mutex<()>,
    pub(crate) buffer: RwLock<Buffer>,
    /// What was locked before COMMIT. Held while more is.
    early: tokio::sync::Mutex<Option<EarlyLocks>>,
    command: AtomicU32,
    /// With the snapshot that they are unchanged since; zero: that of the transaction.
    pub(crate) unchanged: Mutex<Vec<(Bytes, Timestamp)>>,
    /// Ranges whose keys nobody else knows.
    fresh: Mutex<Vec<RowRange>>,
    /// Its commit ended without anybody knowing how: it counts as in progress until a restart.
    undetermined: AtomicBool,
    /// The first snapshot of a statement, where each has one of its own: over rows it names the transaction.
    first_snapshot: Mutex<Option<Arc<Snapshot>>>,
    /// The newest timestamp at which it has looked at what may be only ordered.
    pub(crate) looked_at: AtomicU64,
    pub(crate) row_locks: RowLocks,
    pub(crate) counts: ReadCounts,
    /// What it has read, where that is validated.
    reads: Option<ReadSet>,
    /// That the store remembers what is written meanwhile.
    validator: Mutex<Option<Validator>>,
}

#[derive(Default)]
struct State {
    ended: bool,
    start_ts: Option<Timestamp>,
}

const ENDED: TxnError = TxnError::Invalid("the transaction has ended");

impl Transaction {
    pub(crate) fn new(store: Arc<TransactionStore>, options: TransactionOptions, locker: Option<Arc<Locker>>) -> Self {
        let TransactionStoreOptions { buffer_limit_bytes, early_prewrite_bytes, .. } = &store.options;
        let spill_dir = &store.spill_dir;
        let limit = match store.store.atomic() {
            // What is locked early is held against its transaction's only snapshot.
            None if spill_dir.is_some() && options.isolation.has_one_snapshot() => {
                *buffer_limit_bytes.min(early_prewrite_bytes)
            }
            _ => *buffer_limit_bytes,
        };
        let buffer = Buffer::new(limit, spill_dir.clone()).counted(&store.buffer_memory);
        let writes = !options.read_only && (options.as_of.is_none() || options.imports);
        let reads = (options.isolation == Isolation::Serializable && writes)
            .then(|| ReadSet::new(store.options.read_set_bytes, store.options.validated.clone()));
        let most_listed = store.options.listed_locks;
        let shared = Shared {
            store,
            options,
            state: RwLock::default(),
            taking: tokio::sync::Mutex::new(()),
            buffer: RwLock::new(buffer),
            early: tokio::sync::Mutex::default(),
            command: AtomicU32::new(1),
            unchanged: Mutex::default(),
            fresh: Mutex::default(),
            undetermined: AtomicBool::new(false),
            first_snapshot: Mutex::default(),
            looked_at: AtomicU64::new(0),
            row_locks: RowLocks::new(locker, most_listed),
            counts: ReadCounts::default(),
            reads,
            validator: Mutex::default(),
        };
        Transaction { shared: Arc::new(shared), snapshot: RwLock::default(), quiet: false }
    }

    /// The transaction as the next statement sees it: with a snapshot of its own, to be taken at its first read, at
    /// [`Isolation::ReadCommitted`]; itself otherwise. Statements of before go on reading what they saw. `quiet`: the statement
    /// tells nobody what it reads before [`Transaction::settled`] has resolved; so it need not wait for what others
    /// commit.
    pub fn for_statement(self: &Arc<Self>, quiet: bool) -> Arc<Transaction> {
        match self.shared.options.isolation {
            Isolation::Snapshot | Isolation::Serializable => self.clone(),
            Isolation::ReadCommitted => {
                Arc::new(Transaction { shared: self.shared.clone(), snapshot: RwLock::default(), quiet })
            }
        }
    }

    /// What its statements see.
    pub fn isolation(&self) -> Isolation {
        self.shared.options.isolation
    }

    pub(crate) fn store(&self) -> &Arc<TransactionStore> {
        &self.shared.store
    }

    /// Whether [`crate::TxnScanOptions::reverse`] may be asked for.
    pub fn can_scan_reverse(&self) -> bool {
        self.store().store().can_scan_reverse()
    }

    pub(crate) fn counts(&self) -> &ReadCounts {
        &self.shared.counts
    }

    pub(crate) fn early(&self) -> &tokio::sync::Mutex<Option<EarlyLocks>> {
        &self.shared.early
    }

    pub(crate) fn buffer(&self) -> &RwLock<Buffer> {
        &self.shared.buffer
    }

    /// The snapshot, taken at the first call.
    pub(crate) async fn snapshot(&self) -> Result<Arc<Snapshot>> {
        if let Some(snapshot) = self.taken()? {
            return Ok(snapshot);
        }
        match self.take_at_once()? {
            Some(snapshot) => Ok(snapshot),
            None => Box::pin(self.take_snapshot()).await,
        }
    }

    /// Takes the snapshot where nothing has to be waited for or noted: `None` otherwise.
    fn take_at_once(&self) -> Result<Option<Arc<Snapshot>>> {
        let shared = &self.shared;
        let plain =
            shared.reads.is_none() && shared.options.as_of.is_none() && shared.looked_at.load(Ordering::SeqCst) == 0;
        let (true, Some(atomic), Ok(_taking)) = (plain, shared.store.store.atomic(), shared.taking.try_lock()) else {
            return Ok(None);
        };
        if let Some(snapshot) = self.taken()? {
            return Ok(Some(snapshot));
        }
        let snapshot = Arc::new(Snapshot::newest(atomic));
        if self.isolation() == Isolation::ReadCommitted {
            shared.row_locks.reads_at(self.command(), snapshot.ts());
        }
        self.keep(snapshot).map(Some)
    }

    async fn take_snapshot(&self) -> Result<Arc<Snapshot>> {
        let _taking = self.shared.taking.lock().await;
        if let Some(snapshot) = self.taken()? {
            return Ok(snapshot);
        }
        if self.shared.reads.is_some() {
            let validator = self.shared.store.store.atomic().map(AtomicCommit::validator);
            *self.shared.validator.lock() = validator;
        }
        let snapshot = if self.quiet && self.shared.looked_at.load(Ordering::SeqCst) > 0 {
            let newest = self.newest().await?;
            self.looks_at(&newest);
            newest
        } else {
            // What it has seen already it sees again.
            self.settled().await?;
            Arc::new(self.shared.store.take_snapshot(self.shared.options.as_of).await?)
        };
        if self.isolation() == Isolation::ReadCommitted {
            self.shared.row_locks.reads_at(self.command(), snapshot.ts());
            // Elsewhere it is not held: old versions need not stay for it.
            if !self.shared.store.has_one_log() {
                self.shared.first_snapshot.lock().get_or_insert_with(|| snapshot.clone());
            }
        }
        self.keep(snapshot)
    }

    fn keep(&self, snapshot: Arc<Snapshot>) -> Result<Arc<Snapshot>> {
        let mut slot = self.snapshot.write();
        if self.shared.state.read().ended {
            return Err(ENDED);
        }
        *slot = Some(snapshot.clone());
        Ok(snapshot)
    }

    /// From now on the statement reads as of `newest`, except for what it is reading.
    pub(crate) fn see(&self, command: CommandNumber, newest: Arc<Snapshot>) -> Result<()> {
        self.taken()?;
        self.shared.row_locks.reads_at(command, newest.ts());
        *self.snapshot.write() = Some(newest);
        Ok(())
    }

    fn taken(&self) -> Result<Option<Arc<Snapshot>>> {
        if self.shared.state.read().ended { Err(ENDED) } else { Ok(self.snapshot.read().clone()) }
    }

    /// The snapshot for a read that sees these writes of its own.
    pub(crate) async fn snapshot_for(&self, own: OwnWrites) -> Result<Arc<Snapshot>> {
        if own != OwnWrites::Newest || self.isolation().has_one_snapshot() {
            return self.snapshot().await;
        }
        self.taken()?;
        let newest = self.newest().await?;
        self.looks_at(&newest);
        Ok(newest)
    }

    /// Whether its statement tells nobody what it reads.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// What is read is validated at COMMIT: notes it.
    pub(crate) fn reads(&self) -> Option<&ReadSet> {
        self.shared.reads.as_ref()
    }

    /// The snapshot that reads see; taken (and registered) at the first call.
    /// Errors: an `as_of` below the safe point or in the future.
    pub async fn snapshot_ts(&self) -> Result<Timestamp> {
        Ok(self.snapshot().await?.ts())
    }

    /// The timestamp of the snapshot that reads see, where what it shows of `range` is what the store's writes there say: no lock
    /// stands for one, the transaction wrote nothing there itself, and need not note at COMMIT that it read. One log only.
    pub async fn plain_snapshot(&self, range: &RowRange) -> Result<Option<Timestamp>> {
        let snapshot = self.snapshot().await?;
        if self.reads().is_some() || !self.store().is_lean(&snapshot) {
            return Ok(None);
        }
        Ok((!self.has_written(range, OwnWrites::All)?).then(|| snapshot.ts()))
    }

    /// Whether it wrote anything in `range` that `own` sees.
    pub(crate) fn has_written(&self, range: &RowRange, own: OwnWrites) -> Result<bool> {
        let buffer = self.buffer().read();
        Ok(!buffer.is_empty() && !buffer.changes(range, false, own, 1)?.0.is_empty())
    }

    /// Whether the snapshot was taken already.
    pub fn has_snapshot(&self) -> bool {
        self.snapshot.read().is_some()
    }

    /// The value at `key`.
    pub async fn get(&self, key: &[u8], own: OwnWrites) -> Result<Option<Bytes>> {
        let snapshot = self.snapshot_for(own).await?;
        if let Some(reads) = self.reads() {
            reads.note_key(key);
        }
        {
            let buffer = self.shared.buffer.read();
            if !buffer.is_empty()
                && let Some(change) = buffer.get(key, own)?
            {
                return Ok(change);
            }
        }
        self.shared.store.read(&snapshot, key, &self.shared.counts).await
    }

    /// The values at `keys`, in their order.
    pub async fn get_many(&self, keys: &[Bytes], own: OwnWrites) -> Result<Vec<Option<Bytes>>> {
        let snapshot = self.snapshot_for(own).await?;
        if let Some(reads) = self.reads() {
            keys.iter().for_each(|key| reads.note_key(key));
        }
        let mut changes = Vec::new();
        {
            let buffer = self.shared.buffer.read();
            if !buffer.is_empty() {
                for key in keys {
                    changes.push(buffer.get(key, own)?);
                }
            }
        }
        if changes.iter().all(Option::is_none) {
            return self.shared.store.read_many(&snapshot, keys, &self.shared.counts).await;
        }
        let unchanged = keys.iter().zip(&changes).filter(|(_, change)| change.is_none());
        let unchanged: Vec<Bytes> = unchanged.map(|(key, _)| key.clone()).collect();
        let mut stored = self.shared.store.read_many(&snapshot, &unchanged, &self.shared.counts).await?.into_iter();
        Ok(changes.into_iter().map(|change| change.unwrap_or_else(|| stored.next().flatten())).collect())
    }

    /// What this transaction itself writes to `keys`, in their order: a value, its removal, or nothing. Asks no store.
    pub fn own_writes(&self, keys: &[Bytes]) -> Result<Vec<Option<Option<Bytes>>>> {
        let buffer = self.shared.buffer.read();
        keys.iter().map(|key| buffer.get(key, OwnWrites::All)).collect()
    }

    /// Streams the pairs of a range in key order, own writes merged in.
    pub fn scan(
        self: &Arc<Self>,
        range: RowRange,
        options: TxnScanOptions,
        own: OwnWrites,
    ) -> BoxStream<'static, Result<Vec<KeyValue>>> {
        self.scan_pairs(range, options, own).map_ok(Pairs::into_list).boxed()
    }

    /// The same, for who only looks at the pairs: batches as they lie in the store's memory.
    pub fn scan_pairs(
        self: &Arc<Self>,
        range: RowRange,
        options: TxnScanOptions,
        own: OwnWrites,
    ) -> BoxStream<'static, Result<Pairs>> {
        scan::scan(self.clone(), range, options, own)
    }

    /// The first `most` pairs of `range`, or its last, last first, where one look at the store finds them; `None` where it does not, for
    /// pairs that were deleted or that this transaction wrote are among them: then [`Transaction::scan_pairs`] reads them.
    pub async fn first_pairs(
        &self,
        range: RowRange,
        most: usize,
        reverse: bool,
        own: OwnWrites,
    ) -> Result<Option<Pairs>> {
        scan::first(self, range, most, reverse, own).await
    }

    /// Streams the pairs of several ranges, in key order and disjoint, forwards, so many in a batch at most: those of short ones
    /// together.
    pub fn scan_ranges(
        self: &Arc<Self>,
        ranges: Vec<RowRange>,
        batch_rows: usize,
        own: OwnWrites,
    ) -> BoxStream<'static, Result<Pairs>> {
        scan::scan_ranges(self.clone(), ranges, batch_rows, own)
    }

    /// Buffers writes under the current command number. Spills when the buffer is full; where each row is a request of
    /// its own, what was spilled is locked then. Errors: a conflict met there.
    pub async fn write(&self, writes: Vec<Write>) -> Result<()> {
        let add = |buffer: &mut Buffer, command| writes.into_iter().try_for_each(|write| buffer.write(command, write));
        self.buffer_writes(add).await
    }

    /// The same of rows that are put.
    pub async fn put(&self, puts: Puts) -> Result<()> {
        self.buffer_writes(|buffer, command| buffer.put(command, puts)).await
    }

    async fn buffer_writes(&self, add: impl FnOnce(&mut Buffer, CommandNumber) -> Result<()>) -> Result<()> {
        let options = &self.shared.options;
        let past = options.as_of.is_some() && !(options.imports && self.shared.store.has_one_log());
        if options.read_only || past {
            return Err(TxnError::Invalid("the transaction is read-only"));
        }
        if self.shared.state.read().ended {
            return Err(ENDED);
        }
        let command = self.command();
        let spilled = {
            let mut buffer = self.shared.buffer.write();
            add(&mut buffer, command)?;
            buffer.has_unsent()
        };
        if spilled && self.shared.store.store.atomic().is_none() && self.isolation().has_one_snapshot() {
            Box::pin(self.prewrite_spilled()).await?;
        }
        Ok(())
    }

    /// Requires at COMMIT that `key` has not been written by others since the snapshot. Writes nothing: the
    /// committer looks, or, over rows, one read after commit_ts was taken. Used for descriptors (docs/protocol.md,
    /// section 7).
    pub fn require_unchanged(&self, key: Bytes) {
        let since = match (self.isolation(), &*self.snapshot.read()) {
            (Isolation::ReadCommitted, Some(snapshot)) => snapshot.ts(),
            _ => Timestamp::ZERO,
        };
        let mut unchanged = self.shared.unchanged.lock();
        if !unchanged.iter().any(|(other, _)| *other == key) {
            unchanged.push((key, since));
        }
    }

    /// Tells that nobody else reads or writes the keys in `range` before this transaction has committed, because it made
    /// what they belong to, under a number that is never used again. To be told before the first of them is written. Over rows
    /// they are locked many at a time, without a condition ([`crate::wave`]); on one log a large transaction writes them without a lock.
    pub fn made(&self, range: RowRange) {
        self.shared.fresh.lock().push(range);
    }

    /// Ranges whose keys nobody else knows.
    pub(crate) fn fresh(&self) -> Vec<RowRange> {
        self.shared.fresh_ranges()
    }

    /// The number under which writes are buffered now.
    pub fn command(&self) -> CommandNumber {
        self.shared.command.load(Ordering::SeqCst)
    }

    /// Ends the current command: what it wrote becomes visible to `Before(the new number)`.
    /// Returns the new number.
    pub fn advance_command(&self) -> CommandNumber {
        self.shared.command.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Drops what was buffered under `command` and later numbers (ROLLBACK TO SAVEPOINT). The
    /// numbers are not used again: the current one advances.
    pub async fn rollback_to(&self, command: CommandNumber) -> Result<()> {
        let mut buffer = self.shared.buffer.write();
        let last = self.command();
        self.shared.row_locks.undo_from(command);
        buffer.rollback_to(command, last);
        self.advance_command();
        Ok(())
    }

    /// Whether COMMIT has anything to write.
    pub fn has_writes(&self) -> bool {
        !self.shared.buffer.read().is_empty()
    }

    /// The transaction's identity, taken from the oracle at the first call. Once asked for, how
    /// the transaction ended can be asked too ([`TransactionStore::outcome`]).
    pub async fn start_ts(&self) -> Result<Timestamp> {
        // Where commits are not published by one committer, it is the snapshot's timestamp.
        let snapshot_ts = match self.shared.store.store.atomic() {
            Some(_) => None,
            None => {
                let snapshot = self.snapshot().await?;
                let first = self.shared.first_snapshot.lock().clone();
                Some(first.unwrap_or(snapshot).ts())
            }
        };
        let _taking = self.shared.taking.lock().await;
        if let Some(start_ts) = self.shared.state.read().start_ts {
            return Ok(start_ts);
        }
        let start_ts = match snapshot_ts {
            Some(start_ts) => start_ts,
            None => self.shared.store.oracle.timestamp().await?.timestamp,
        };
        let mut state = self.shared.state.write();
        if state.ended {
            return Err(ENDED);
        }
        state.start_ts = Some(start_ts);
        self.shared.store.identified.lock().insert(start_ts);
        Ok(start_ts)
    }

    /// How the transaction with this start_ts ended; see [`TransactionStore::outcome`].
    pub async fn outcome_of(&self, start_ts: Timestamp) -> Result<crate::Outcome> {
        self.shared.store.outcome(start_ts).await
    }

    fn forget(&self, start_ts: Option<Timestamp>) {
        self.shared.forget(start_ts);
    }

    /// The tablets that hold `range`: the partitions of a parallel scan.
    pub async fn tablets(&self, range: &RowRange) -> Result<Vec<TabletInfo>> {
        Ok(self.shared.store.store.tablets(range).await?)
    }

    /// Keys that divide `range` into at most `pieces` of about the same size, where the engine knows.
    pub async fn divide(&self, range: &RowRange, pieces: usize) -> Result<Vec<Bytes>> {
        Ok(self.shared.store.store.divide(range, pieces).await?)
    }

    /// Bytes of `range` on the medium, roughly.
    pub async fn approximate_bytes(&self, range: &RowRange) -> Result<u64> {
        Ok(self.shared.store.store.approximate_bytes(range).await?)
    }
}

impl Shared {
    /// Stops to hold what others keep for it: old versions, and the record of newer writes. A session may keep a
    /// transaction that is over.
    fn let_go(&self) {
        *self.first_snapshot.lock() = None;
        *self.validator.lock() = None;
    }

    fn forget(&self, start_ts: Option<Timestamp>) {
        if let Some(start_ts) = start_ts {
            self.store.identified.lock().remove(&start_ts);
        }
    }

    pub(crate) fn fresh_ranges(&self) -> Vec<RowRange> {
        self.fresh.lock().clone()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.row_locks.end();
        if !self.undetermined.load(Ordering::SeqCst) {
            let (start_ts, ended) = (self.state.get_mut().start_ts, self.state.get_mut().ended);
            self.forget(start_ts);
            if let Some(start_ts) = start_ts.filter(|_| !ended) {
                self.store.final_states.remember(start_ts, Status::RolledBack);
            }
        }
    }
}

/// What a pass of garbage collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    /// Safe point of the pass.
    pub safe_point: Timestamp,
    /// Rows looked at closely: of more than one version, or removed, where the store tells them from others.
    pub rows: u64,
    /// Cells removed.
    pub removed: u64,
    /// Locks resolved.
    pub locks: u64,
}
