//! [`TransactionStore`]: the state that all transactions of a server share.

use crate::aged::AgedTimestamps;
use crate::buffer::Buffer;
use crate::buffer_memory::BufferMemory;
use crate::bulk_commit::{Appointments, CellRate};
use crate::commit::STEP_ROWS;
use crate::commit_memory::CommitMemory;
use crate::error::Result;
use crate::failpoint::FailPoints;
use crate::gc_barriers::NodeHold;
use crate::intents::Intents;
use crate::lock_resolution::{FinalStates, Pushed};
use crate::locks::{LockAgent, LockTable, Locker, SeenLocks};
use crate::oracle::Oracle;
use crate::readers::Readers;
use crate::system;
use crate::transaction::{Transaction, TransactionOptions};
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::{AtomicCommit, Cell, EnvRef, RowRange, StoreError, StoreRef, Timestamp};

/// The options of a [`TransactionStore`].
#[derive(Clone, Debug)]
pub struct TransactionStoreOptions {
    /// The folder for buffers that exceed their memory. Without it they stay in memory.
    pub spill_dir: Option<PathBuf>,
    /// Bytes that one transaction's buffer may hold in memory before it spills.
    pub buffer_limit_bytes: usize,
    /// Bytes that the buffers of all transactions together may hold in memory. Beyond it growing buffers spill.
    pub buffers_limit_bytes: usize,
    /// Bytes that large commits under way may use together on one log. Further commits wait.
    pub commits_limit_bytes: usize,
    /// The limit of one buffer over rows, with a `spill_dir`. Spilled writes are locked before COMMIT.
    pub early_prewrite_bytes: usize,
    /// Transactions up to this many bytes of keys and values commit in one phase, if the engine can.
    pub one_phase_limit_bytes: usize,
    /// They must also have at most this many writes, each of which costs some hundred bytes in the log and memtables.
    pub one_phase_limit_writes: u64,
    /// Transactions from this many bytes on commit beside the log, if the engine can; see [`storage::BulkCommit`].
    pub bulk_from_bytes: usize,
    /// How long old versions are kept for reads in the past.
    pub history: Duration,
    /// How long COMMIT waits for another transaction's lock before it answers with a conflict.
    pub lock_wait: Duration,
    /// Over rows: how long a prewrite waits for the lock of a live transaction that must give way, before it ends
    /// that transaction. On one log locks are taken in one order.
    pub wound_after: Duration,
    /// How long after its last heartbeat others may remove a transaction's locks, on engines where its owner
    /// may be another process.
    pub lock_time_to_live: Duration,
    /// The most locks of one transaction that are listed in memory. Beyond it row locks go to `spill_dir`,
    /// if there is one.
    pub listed_locks: usize,
    /// Over rows: how many rows one COMMIT prewrites at the same time.
    pub parallel_rows: usize,
    /// Bytes for the read set of one transaction at [`Isolation::Serializable`](crate::Isolation::Serializable).
    /// Beyond it the set loses precision.
    pub read_set_bytes: usize,
    /// The rows whose reads are validated at that level. Other rows are guarded by
    /// [`Transaction::require_unchanged`], or need no guard.
    pub validated: RowRange,
    /// Whether no other process writes to the store, so that this one keeps all locks. Always true on one log.
    /// Otherwise the oracle's node keeps the locks, if nodes can ask it.
    pub alone: bool,
    /// Rows in one step of a stepwise commit. Few, because other commits wait behind a step.
    pub step_rows: usize,
    /// Whether all transactions commit in two phases. For tests.
    pub always_two_phase: bool,
}

impl Default for TransactionStoreOptions {
    fn default() -> Self {
        TransactionStoreOptions {
            spill_dir: None,
            buffer_limit_bytes: 256 << 20,
            buffers_limit_bytes: 1 << 30,
            commits_limit_bytes: 1 << 30,
            early_prewrite_bytes: 16 << 20,
            one_phase_limit_bytes: 32 << 20,
            one_phase_limit_writes: 1 << 17,
            bulk_from_bytes: 4 << 20,
            history: Duration::from_secs(3600),
            lock_wait: Duration::from_secs(1),
            wound_after: Duration::from_millis(15),
            lock_time_to_live: Duration::from_secs(5),
            listed_locks: 1 << 16,
            parallel_rows: 256,
            read_set_bytes: 16 << 20,
            validated: RowRange::all(),
            alone: false,
            step_rows: STEP_ROWS,
            always_two_phase: false,
        }
    }
}

/// Bytes of spilled row locks that one transaction keeps in memory. Others wait while more are written to disk.
const LOCKS_IN_MEMORY: usize = 16 << 20;

/// The store as transactions use it. A server opens it once.
pub struct TransactionStore {
    pub(crate) store: StoreRef,
    pub(crate) oracle: Arc<Oracle>,
    pub(crate) env: EnvRef,
    pub(crate) options: TransactionStoreOptions,
    /// The folder of the options, which all transactions share.
    pub(crate) spill_dir: Option<Arc<Path>>,
    pub(crate) buffer_memory: Arc<BufferMemory>,
    pub(crate) commit_memory: CommitMemory,
    pub(crate) intents: Intents,
    pub(crate) cell_rate: CellRate,
    pub(crate) appointments: Appointments,
    pub(crate) locks: Arc<LockTable>,
    /// Asks the node that keeps the locks, where several nodes share the store.
    pub(crate) agent: Option<Arc<LockAgent>>,
    pub(crate) readers: Readers,
    /// Readers of the past, where other nodes collect garbage too. They are also in `readers`.
    pub(crate) past_readers: Readers,
    pub(crate) node_hold: NodeHold,
    /// Finds timestamps that no node reads at any more, over rows.
    pub(crate) aged: AgedTimestamps,
    /// Rows by which nodes hold snapshots, as last seen, with the monotonic time since which each is unchanged.
    pub(crate) seen_holds: Mutex<HashMap<Bytes, (Cell, Duration)>>,
    /// A random number that tells this node from others.
    pub(crate) node: u64,
    /// Final fates of transactions that were looked up over rows.
    pub(crate) final_states: FinalStates,
    /// The timestamps above which readers have pushed live transactions.
    pub(crate) pushed: Pushed,
    /// The number of locks that readers are removing in the background.
    pub(crate) resolving: AtomicUsize,
    pub(crate) safe_point: AtomicU64,
    /// Whether the safe point may have been announced without being saved.
    pub(crate) safe_point_unsaved: AtomicBool,
    /// Allows one pass of garbage collection, or one move of the safe point, at a time.
    pub(crate) collecting: tokio::sync::Mutex<()>,
    /// Open transactions of this process that asked for their identity.
    pub(crate) identified: Mutex<BTreeSet<Timestamp>>,
    /// Primaries of this process's transactions whose COMMIT ended undetermined. They allow questions about the
    /// outcome even if the transaction did not ask for its identity.
    pub(crate) undetermined: Mutex<BTreeMap<Timestamp, Bytes>>,
    fail_points: FailPoints,
    pub(crate) this: Weak<TransactionStore>,
}

impl TransactionStore {
    /// Opens the transactions of `store`, with timestamps from `oracle`. Raises the oracle above everything
    /// recovered, and finishes two-phase commits that a crash interrupted.
    pub async fn open(
        store: StoreRef,
        oracle: Arc<Oracle>,
        env: EnvRef,
        options: TransactionStoreOptions,
    ) -> Result<Arc<TransactionStore>> {
        let published = store.atomic().map_or(Timestamp::ZERO, AtomicCommit::published);
        let recovered = published.max(store.recovered_max_timestamp());
        oracle.attach(&store, recovered).await?;
        let safe_point = match store.atomic() {
            Some(_) => system::load(&store, system::SAFE_POINT).await?,
            // Over rows the safe point is in a row that other nodes may move, and is loaded below.
            None => Timestamp::ZERO,
        };
        let node = env.random();
        let locks = oracle.keeper().map_or_else(|| LockTable::new(env.clone()), |keeper| keeper.table().clone());
        let several = store.atomic().is_none() && !options.alone && oracle.keeper().is_some();
        let agent = several.then(|| LockAgent::start(oracle.clone(), env.clone(), node));
        let this = Arc::new_cyclic(|this| TransactionStore {
            store,
            oracle,
            env,
            spill_dir: options.spill_dir.as_deref().map(Arc::from),
            aged: AgedTimestamps::new(options.history),
            seen_holds: Mutex::default(),
            buffer_memory: BufferMemory::new(options.buffers_limit_bytes),
            commit_memory: CommitMemory::new(options.commits_limit_bytes),
            options,
            intents: Intents::default(),
            cell_rate: CellRate::default(),
            appointments: Appointments::default(),
            locks,
            agent,
            readers: Readers::default(),
            past_readers: Readers::default(),
            node_hold: NodeHold::default(),
            node,
            final_states: FinalStates::default(),
            pushed: Pushed::default(),
            resolving: AtomicUsize::new(0),
            safe_point: AtomicU64::new(safe_point.0),
            safe_point_unsaved: AtomicBool::new(false),
            collecting: tokio::sync::Mutex::new(()),
            identified: Mutex::default(),
            undetermined: Mutex::default(),
            fail_points: FailPoints::default(),
            this: this.clone(),
        });
        match this.store.atomic() {
            Some(_) => this.recover_intents().await?,
            None => {
                this.load_safe_point().await?;
                this.aged.note(this.env.monotonic(), this.oracle.last());
            }
        }
        Ok(this)
    }

    /// The memory of the buffers of all transactions.
    pub fn buffer_memory(&self) -> &Arc<BufferMemory> {
        &self.buffer_memory
    }

    /// The memory of all large commits under way.
    pub fn commit_memory(&self) -> &CommitMemory {
        &self.commit_memory
    }

    /// A buffer for the row locks of a large transaction. `None` without a spill folder.
    pub(crate) fn buffer_of_locks(&self) -> Option<Buffer> {
        let folder = self.spill_dir.clone()?;
        let limit = self.options.buffer_limit_bytes.min(LOCKS_IN_MEMORY);
        Some(Buffer::new(limit, Some(folder)).counted(&self.buffer_memory))
    }

    /// Begins a transaction. Nothing is read before its first statement.
    pub fn begin(self: &Arc<Self>, options: TransactionOptions) -> Arc<Transaction> {
        Arc::new(Transaction::new(self.clone(), options, None))
    }

    /// Begins a transaction of a session, whose locker others see while they wait for its locks.
    pub fn begin_for(self: &Arc<Self>, options: TransactionOptions, locker: &Arc<Locker>) -> Arc<Transaction> {
        Arc::new(Transaction::new(self.clone(), options, Some(locker.clone())))
    }

    /// Whether rows can be locked so that others wait: this process keeps all locks, or can ask the node that does.
    pub fn can_lock_rows(&self) -> bool {
        self.has_one_log() || self.options.alone || self.agent.is_some()
    }

    /// A new locker that holds nothing. `label` identifies it to others.
    pub fn locker(&self, label: i32) -> Arc<Locker> {
        match &self.agent {
            Some(agent) => agent.locker(label),
            None => self.locks.locker(label),
        }
    }

    /// Waits a little until the node that keeps the locks knows what this node released. Call it when this node needs
    /// no more locks. If the message gets lost, the keeper notices this node's silence.
    pub async fn give_locks_back(&self) {
        if let Some(agent) = &self.agent {
            agent.give_everything_back().await;
        }
    }

    /// The holders and waiters of locks, on all nodes. Errors: the node that keeps the locks does not answer.
    pub async fn seen_locks(&self) -> Result<SeenLocks> {
        match &self.agent {
            Some(agent) => agent.seen().await.map_err(|why| StoreError::Unavailable(why).into()),
            None => Ok(self.locks.seen()),
        }
    }

    /// Whether one log holds every row, so that commits are published one after the other.
    pub fn has_one_log(&self) -> bool {
        self.store.atomic().is_some()
    }

    /// The table of locks that this process keeps.
    pub fn locks(&self) -> &Arc<LockTable> {
        &self.locks
    }

    /// The engine that holds the rows.
    pub fn store(&self) -> &StoreRef {
        &self.store
    }

    /// The source of timestamps.
    pub fn oracle(&self) -> &Arc<Oracle> {
        &self.oracle
    }

    /// The expiry of a lock that is written now, by the oracle's clock in microseconds.
    pub(crate) fn expires_at(&self) -> u64 {
        self.oracle.physical_now() + self.options.lock_time_to_live.as_micros() as u64
    }

    /// The fail points of this instance, for tests.
    pub fn fail_points(&self) -> &FailPoints {
        &self.fail_points
    }

    /// The safe point of garbage collection. Snapshots below it are refused.
    pub fn safe_point(&self) -> Timestamp {
        Timestamp(self.safe_point.load(Ordering::SeqCst))
    }
}
