//! [`Transaction`]: a snapshot and a buffer of writes, from BEGIN to COMMIT. Keys and values are bytes.

mod definitions;
mod early_conflict;
mod ending;

use crate::buffer::Buffer;
use crate::error::{Result, TxnError};
use crate::lock::LockStrength;
use crate::locks::Locker;
use crate::pairs::Pairs;
use crate::pipelined_prewrite::EarlyLocks;
use crate::put_batch::Puts;
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

/// Position of a statement within its transaction, like PostgreSQL's CommandId.
pub type CommandNumber = u32;

/// What a write does to its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// Stores this value at the key.
    Put(Bytes),
    /// Removes the key's value.
    Delete,
    /// Only locks the key, so that others conflict at COMMIT.
    Lock,
}

/// A buffered write of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The key that is written.
    pub key: Bytes,
    /// The change of the key's value, if any.
    pub kind: WriteKind,
    /// How strongly the key is held. `Update` for inserts, deletes and key changes; `NoKeyUpdate` for updates that
    /// leave keys alone; the requested strength for locks.
    pub strength: LockStrength,
}

/// A key and its value, as a scan returns them.
pub type KeyValue = (Bytes, Bytes);

/// A transaction from the view of one statement, which may have its own snapshot. Methods take `&self`, because the
/// operators of a statement share it. If it is dropped without COMMIT, it has done nothing.
///
/// Commits on one log release their row locks when they are ordered, before they are published. So a popular row
/// changes hands many times in one sync. A later locker of such a row sees ordered but unpublished commits. If those
/// come to nothing, the log has failed, and this transaction comes to nothing too. No client may be told of them
/// before [`Transaction::settled`] has resolved.
pub struct Transaction {
    pub(crate) shared: Arc<Shared>,
    snapshot: RwLock<Option<Arc<Snapshot>>>,
    /// Whether the statement reports what it reads only after `settled` has resolved.
    quiet: bool,
}

/// The state that all statements of a transaction share.
pub(crate) struct Shared {
    pub(crate) store: Arc<TransactionStore>,
    pub(crate) options: TransactionOptions,
    state: RwLock<State>,
    /// Held while the snapshot or the identity is being taken.
    taking: tokio::sync::Mutex<()>,
    pub(crate) buffer: RwLock<Buffer>,
    /// The locks written before COMMIT. The mutex is held while more are written.
    early: tokio::sync::Mutex<Option<EarlyLocks>>,
    command: AtomicU32,
    /// Keys with the timestamp since which they must be unchanged. Zero stands for the transaction's snapshot.
    pub(crate) unchanged: Mutex<Vec<(Bytes, Timestamp)>>,
    /// Ranges whose keys only this transaction knows.
    fresh: Mutex<Vec<RowRange>>,
    /// Set if the commit ended with an unknown outcome. The transaction then counts as in progress until a restart.
    undetermined: AtomicBool,
    /// The first snapshot of a statement, if each has its own. Over rows its timestamp is the start_ts.
    first_snapshot: Mutex<Option<Arc<Snapshot>>>,
    /// The newest timestamp at which the transaction has looked at commits that may be only ordered.
    pub(crate) looked_at: AtomicU64,
    pub(crate) row_locks: RowLocks,
    pub(crate) counts: ReadCounts,
    /// The ranges that were read, if reads are validated.
    reads: Option<ReadSet>,
    /// Makes the store remember writes of others, for the validation.
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
            // Early locks are validated against the transaction's only snapshot.
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

    /// The transaction from the view of the next statement. At [`Isolation::ReadCommitted`] this view has
    /// its own snapshot, taken at its first read. Otherwise it is the same transaction. Earlier
    /// statements keep their snapshots.
    ///
    /// `quiet`: the statement reports nothing that it reads before [`Transaction::settled`] has resolved. So it need
    /// not wait for the commits of others.
    pub fn for_statement(self: &Arc<Self>, quiet: bool) -> Arc<Transaction> {
        match self.shared.options.isolation {
            Isolation::Snapshot | Isolation::Serializable => self.clone(),
            Isolation::ReadCommitted => {
                Arc::new(Transaction { shared: self.shared.clone(), snapshot: RwLock::default(), quiet })
            }
        }
    }

    /// The isolation level of the statements.
    pub fn isolation(&self) -> Isolation {
        self.shared.options.isolation
    }

    pub(crate) fn store(&self) -> &Arc<TransactionStore> {
        &self.shared.store
    }

    /// Whether the store supports [`crate::TxnScanOptions::reverse`].
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

    /// The snapshot, which the first call takes.
    pub(crate) async fn snapshot(&self) -> Result<Arc<Snapshot>> {
        if let Some(snapshot) = self.taken()? {
            return Ok(snapshot);
        }
        match self.take_at_once()? {
            Some(snapshot) => Ok(snapshot),
            None => Box::pin(self.take_snapshot()).await,
        }
    }

    /// Takes the snapshot if nothing must be awaited or noted. `None` otherwise.
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
            // The snapshot must show again what the transaction has already seen.
            self.settled().await?;
            Arc::new(self.shared.store.take_snapshot(self.shared.options.as_of).await?)
        };
        if self.isolation() == Isolation::ReadCommitted {
            self.shared.row_locks.reads_at(self.command(), snapshot.ts());
            // On one log the first snapshot is not kept, so old versions need not stay for it.
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

    /// From now on the statement reads as of `newest`, except for reads under way.
    pub(crate) fn see(&self, command: CommandNumber, newest: Arc<Snapshot>) -> Result<()> {
        self.taken()?;
        self.shared.row_locks.reads_at(command, newest.ts());
        *self.snapshot.write() = Some(newest);
        Ok(())
    }

    fn taken(&self) -> Result<Option<Arc<Snapshot>>> {
        if self.shared.state.read().ended { Err(ENDED) } else { Ok(self.snapshot.read().clone()) }
    }

    /// The snapshot for a read that sees these own writes.
    pub(crate) async fn snapshot_for(&self, own: OwnWrites) -> Result<Arc<Snapshot>> {
        if own != OwnWrites::Newest || self.isolation().has_one_snapshot() {
            return self.snapshot().await;
        }
        self.taken()?;
        let newest = self.newest().await?;
        self.looks_at(&newest);
        Ok(newest)
    }

    /// Whether the statement reports what it reads only after [`Transaction::settled`].
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The set that notes what is read, if reads are validated at COMMIT.
    pub(crate) fn reads(&self) -> Option<&ReadSet> {
        self.shared.reads.as_ref()
    }

    /// The timestamp of the snapshot, which the first call takes and registers. Errors: `as_of` lies below the safe
    /// point or in the future.
    pub async fn snapshot_ts(&self) -> Result<Timestamp> {
        Ok(self.snapshot().await?.ts())
    }

    /// The timestamp of the snapshot, if the store's writes alone determine what it shows of `range`. So no
    /// lock may stand for a write, the transaction must not have written there, and reads must not be
    /// validated. Only on one log.
    pub async fn plain_snapshot(&self, range: &RowRange) -> Result<Option<Timestamp>> {
        let snapshot = self.snapshot().await?;
        if self.reads().is_some() || !self.store().is_lean(&snapshot) {
            return Ok(None);
        }
        Ok((!self.has_written(range, OwnWrites::All)?).then(|| snapshot.ts()))
    }

    /// Whether the transaction has written anything in `range` that `own` sees.
    pub(crate) fn has_written(&self, range: &RowRange, own: OwnWrites) -> Result<bool> {
        let buffer = self.buffer().read();
        Ok(!buffer.is_empty() && !buffer.changes(range, false, own, 1)?.0.is_empty())
    }

    /// Whether the snapshot was taken already.
    pub fn has_snapshot(&self) -> bool {
        self.snapshot.read().is_some()
    }

    /// The value at `key`, or `None` if there is none.
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

    /// The transaction's own writes to `keys`, in their order: `None` for no write, `Some(None)` for a delete. Does
    /// not ask the store.
    pub fn own_writes(&self, keys: &[Bytes]) -> Result<Vec<Option<Option<Bytes>>>> {
        let buffer = self.shared.buffer.read();
        keys.iter().map(|key| buffer.get(key, OwnWrites::All)).collect()
    }

    /// Streams the pairs of a range in key order, with own writes merged in.
    pub fn scan(
        self: &Arc<Self>,
        range: RowRange,
        options: TxnScanOptions,
        own: OwnWrites,
    ) -> BoxStream<'static, Result<Vec<KeyValue>>> {
        self.scan_pairs(range, options, own).map_ok(Pairs::into_list).boxed()
    }

    /// Like [`Transaction::scan`], but answers batches in the form of the store's memory, for callers that do
    /// not keep the pairs.
    pub fn scan_pairs(
        self: &Arc<Self>,
        range: RowRange,
        options: TxnScanOptions,
        own: OwnWrites,
    ) -> BoxStream<'static, Result<Pairs>> {
        scan::scan(self.clone(), range, options, own)
    }

    /// The first `most` pairs of `range`, or its last if `reverse`, last first, if one read of the store finds them.
    /// `None` if deleted pairs or own writes are among them. [`Transaction::scan_pairs`] reads them in that case.
    pub async fn first_pairs(
        &self,
        range: RowRange,
        most: usize,
        reverse: bool,
        own: OwnWrites,
    ) -> Result<Option<Pairs>> {
        scan::first(self, range, most, reverse, own).await
    }

    /// Streams the pairs of several disjoint ranges, in key order and forwards, with at most `batch_rows` pairs in a
    /// batch. Short ranges are read together.
    pub fn scan_ranges(
        self: &Arc<Self>,
        ranges: Vec<RowRange>,
        batch_rows: usize,
        own: OwnWrites,
    ) -> BoxStream<'static, Result<Pairs>> {
        scan::scan_ranges(self.clone(), ranges, batch_rows, own)
    }

    /// Buffers writes under the current command number. Spills if the buffer is full; over rows the spilled keys are
    /// then locked. Errors: a conflict found by locking.
    pub async fn write(&self, writes: Vec<Write>) -> Result<()> {
        let add = |buffer: &mut Buffer, command| writes.into_iter().try_for_each(|write| buffer.write(command, write));
        self.buffer_writes(add).await
    }

    /// Like [`Transaction::write`], for rows that are put.
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

    /// Requires at COMMIT that no other transaction has written to `key` since the snapshot. Writes nothing: the
    /// committer checks, or, over rows, a read after commit_ts. Used for descriptors (docs/protocol.md, section 7).
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

    /// Declares that nobody else reads or writes the keys in `range` before this transaction commits: it
    /// made the table or index, under a new number. Must be called before the first write there. Over rows
    /// such keys are locked in batches, unconditionally ([`crate::parallel_prewrite`]). On one log a large transaction
    /// writes them without locks.
    pub fn made(&self, range: RowRange) {
        self.shared.fresh.lock().push(range);
    }

    /// Ranges whose keys only this transaction knows.
    pub(crate) fn fresh(&self) -> Vec<RowRange> {
        self.shared.fresh_ranges()
    }

    /// The number under which writes are buffered now.
    pub fn command(&self) -> CommandNumber {
        self.shared.command.load(Ordering::SeqCst)
    }

    /// Ends the current command, so that its writes become visible to `Before(the new number)`.
    /// Returns the new number.
    pub fn advance_command(&self) -> CommandNumber {
        self.shared.command.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Drops the writes of `command` and later commands (ROLLBACK TO SAVEPOINT). Their numbers are not used again:
    /// the current number advances.
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

    /// The transaction's identity, which the first call takes from the oracle. From then on its outcome can
    /// be asked for ([`TransactionStore::outcome`]).
    pub async fn start_ts(&self) -> Result<Timestamp> {
        // Over rows it is the snapshot's timestamp.
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

    /// The outcome of the transaction with this start_ts; see [`TransactionStore::outcome`].
    pub async fn outcome_of(&self, start_ts: Timestamp) -> Result<crate::Outcome> {
        self.shared.store.outcome(start_ts).await
    }

    fn forget(&self, start_ts: Option<Timestamp>) {
        self.shared.forget(start_ts);
    }

    /// The tablets that overlap `range`, as partitions of a parallel scan.
    pub async fn tablets(&self, range: &RowRange) -> Result<Vec<TabletInfo>> {
        Ok(self.shared.store.store.tablets(range).await?)
    }

    /// Keys that divide `range` into at most `pieces` pieces of about the same size. Empty if the
    /// engine does not know.
    pub async fn divide(&self, range: &RowRange, pieces: usize) -> Result<Vec<Bytes>> {
        Ok(self.shared.store.store.divide(range, pieces).await?)
    }

    /// The approximate size of `range` on disk, in bytes.
    pub async fn approximate_bytes(&self, range: &RowRange) -> Result<u64> {
        Ok(self.shared.store.store.approximate_bytes(range).await?)
    }
}

impl Shared {
    /// Releases what others keep for the transaction: old versions, and the memory of newer writes. A session may
    /// keep a transaction that has ended.
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

/// The result of a pass of garbage collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    /// The safe point of the pass.
    pub safe_point: Timestamp,
    /// Rows examined closely. If the store can skip rows, these are rows with several versions or a delete.
    pub rows: u64,
    /// The number of removed cells.
    pub removed: u64,
    /// The number of resolved locks.
    pub locks: u64,
}
