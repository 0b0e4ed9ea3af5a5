//! [`TransactionStore`]: what the server opens once, and what every transaction shares.

use crate::aged::AgedTimestamps;
use crate::buffer::Buffer;
use crate::buffer_memory::BufferMemory;
use crate::bulk_commit::{Appointments, CellRate};
use crate::commit::STEP_ROWS;
use crate::commit_memory::CommitMemory;
use crate::error::Result;
use crate::failpoint::FailPoints;
use crate::holds::NodeHold;
use crate::intents::Intents;
use crate::locks::{LockAgent, LockTable, Locker, SeenLocks};
use crate::met_locks::{FinalStates, Pushed};
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

/// How a [`TransactionStore`] behaves.
#[derive(Clone, Debug)]
pub struct TransactionStoreOptions {
    /// Folder for buffers that outgrow memory; without one they stay in memory.
    pub spill_dir: Option<PathBuf>,
    /// Bytes of memory that one transaction's buffer may hold before it spills.
    pub buffer_limit_bytes: usize,
    /// Bytes of memory that the buffers of all transactions may hold together; beyond it those that grow spill.
    pub buffers_limit_bytes: usize,
    /// Bytes of memory that large commits under way may take together, where one log holds every row: beyond it they wait.
    pub commits_limit_bytes: usize,
    /// The limit of one where each row is a request of its own and there is such a folder: what spills is locked before
    /// COMMIT.
    pub early_prewrite_bytes: usize,
    /// Transactions up to this many bytes of keys and values commit in one phase, where the
    /// engine can.
    pub one_phase_limit_bytes: usize,
    /// And up to so many writes: in the log and the memtables each takes some hundred bytes beside its own.
    pub one_phase_limit_writes: u64,
    /// Transactions from so many bytes on commit beside the log, where the engine can; see [`storage::BulkCommit`].
    pub bulk_from_bytes: usize,
    /// How long old versions are kept for reads in the past.
    pub history: Duration,
    /// How long COMMIT waits for another's lock before it answers with a conflict.
    pub lock_wait: Duration,
    /// How long a prewrite waits for the lock of a live transaction that has to give way to it, before it ends that one:
    /// so long it may finish by itself. Where each row is a request of its own; elsewhere locks are taken in one order.
    pub wound_after: Duration,
    /// How long after its last sign of life a transaction's locks may be removed by others, on
    /// engines where its owner may be another process.
    pub lock_time_to_live: Duration,
    /// Locks of one transaction that are listed in memory, at most; beyond it those of rows go to `spill_dir`, where there is one.
    pub listed_locks: usize,
    /// Rows that one COMMIT prewrites at the same time, where each is a request of its own.
    pub parallel_rows: usize,
    /// Bytes of memory for what one transaction at [`Isolation::Serializable`](crate::Isolation::Serializable) has read;
    /// beyond it precision is lost.
    pub read_set_bytes: usize,
    /// Rows whose reads are validated at that level. What lies elsewhere is guarded otherwise
    /// ([`Transaction::require_unchanged`]), or need not be.
    pub validated: RowRange,
    /// No other process writes to the store: this one keeps all locks. Always so where one log holds every row. Else the node
    /// that is the oracle keeps them, where nodes can ask it.
    pub alone: bool,
    /// Rows of one step of a commit in several: few, because the commits of others wait behind a step.
    pub step_rows: usize,
    /// Commit in two phases even where one would do. For tests.
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

/// Bytes of spilled row locks that one transaction keeps in memory: others wait while more are written to disk.
const LOCKS_IN_MEMORY: usize = 16 << 20;

/// The transactional store.
pub struct TransactionStore {
    pub(crate) store: StoreRef,
    pub(crate) oracle: Arc<Oracle>,
    pub(crate) env: EnvRef,
    pub(crate) options: TransactionStoreOptions,
    /// That of the options, which each transaction shares.
    pub(crate) spill_dir: Option<Arc<Path>>,
    pub(crate) buffer_memory: Arc<BufferMemory>,
    pub(crate) commit_memory: CommitMemory,
    pub(crate) intents: Intents,
    pub(crate) cell_rate: CellRate,
    pub(crate) appointments: Appointments,
    pub(crate) locks: Arc<LockTable>,
    /// Asks who keeps the locks of all nodes, where there can be several.
    pub(crate) agent: Option<Arc<LockAgent>>,
    pub(crate) readers: Readers,
    /// Those of them that read the past where other nodes collect garbage.
    pub(crate) past_readers: Readers,
    pub(crate) node_hold: NodeHold,
    /// Timestamps that no node reads at any more, over rows.
    pub(crate) aged: AgedTimestamps,
    /// Rows of nodes that hold snapshots, as they were found, and since when they lie still, by the monotonic clock.
    pub(crate) seen_holds: Mutex<HashMap<Bytes, (Cell, Duration)>>,
    /// Drawn when it was opened: tells nodes apart.
    pub(crate) node: u64,
    /// Fates of transactions that were asked for over rows.
    pub(crate) final_states: FinalStates,
    /// What readers over rows learned of live ones.
    pub(crate) pushed: Pushed,
    /// Locks that readers are having removed.
    pub(crate) resolving: AtomicUsize,
    pub(crate) safe_point: AtomicU64,
    /// Whether the safe point may have been announced without being saved.
    pub(crate) safe_point_unsaved: AtomicBool,
    /// One pass of garbage collection, or one move of the safe point, at a time.
    pub(crate) collecting: tokio::sync::Mutex<()>,
    /// Transactions of this process that asked for their identity and have not ended.
    pub(crate) identified: Mutex<BTreeSet<Timestamp>>,
    /// Primaries of this process's transactions of which nobody knew at COMMIT how they ended: by these they can be asked
    /// about though they did not ask for their identity.
    pub(crate) undetermined: Mutex<BTreeMap<Timestamp, Bytes>>,
    fail_points: FailPoints,
    pub(crate) this: Weak<TransactionStore>,
}

impl TransactionStore {
    /// Opens the transactions of `store`, whose timestamps `oracle` hands out: sets the oracle
    /// above everything recovered, and finishes the two-phase commits that a crash cut short.
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
            // In a row that other nodes may move: see below.
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

    /// The memory of all transactions' buffers.
    pub fn buffer_memory(&self) -> &Arc<BufferMemory> {
        &self.buffer_memory
    }

    /// The memory of all large commits.
    pub fn commit_memory(&self) -> &CommitMemory {
        &self.commit_memory
    }

    /// A buffer for the row locks of a large transaction; `None` where there is no disk for it.
    pub(crate) fn buffer_of_locks(&self) -> Option<Buffer> {
        let folder = self.spill_dir.clone()?;
        let limit = self.options.buffer_limit_bytes.min(LOCKS_IN_MEMORY);
        Some(Buffer::new(limit, Some(folder)).counted(&self.buffer_memory))
    }

    /// Begins a transaction. Nothing is read until the first statement.
    pub fn begin(self: &Arc<Self>, options: TransactionOptions) -> Arc<Transaction> {
        Arc::new(Transaction::new(self.clone(), options, None))
    }

    /// The same for a session, as which others know it while they wait for its locks.
    pub fn begin_for(self: &Arc<Self>, options: TransactionOptions, locker: &Arc<Locker>) -> Arc<Transaction> {
        Arc::new(Transaction::new(self.clone(), options, Some(locker.clone())))
    }

    /// Whether rows can be locked so that others wait for them: this process has all locks, or can ask who has.
    pub fn can_lock_rows(&self) -> bool {
        self.has_one_log() || self.options.alone || self.agent.is_some()
    }

    /// A new locker, who holds nothing. `label`: as others are told of it.
    pub fn locker(&self, label: i32) -> Arc<Locker> {
        match &self.agent {
            Some(agent) => agent.locker(label),
            None => self.locks.locker(label),
        }
    }

    /// Waits a little until the node that keeps the locks of all knows what was given back here. To be called when nothing is
    /// asked of it any more: what it does not learn, it learns from this node's silence.
    pub async fn give_locks_back(&self) {
        if let Some(agent) = &self.agent {
            agent.give_everything_back().await;
        }
    }

    /// Who holds and waits for what, on all nodes. Errors: who keeps the locks does not answer.
    pub async fn seen_locks(&self) -> Result<SeenLocks> {
        match &self.agent {
            Some(agent) => agent.seen().await.map_err(|why| StoreError::Unavailable(why).into()),
            None => Ok(self.locks.seen()),
        }
    }

    /// Whether one log holds every row: then commits are published one after the other.
    pub fn has_one_log(&self) -> bool {
        self.store.atomic().is_some()
    }

    /// The locks that this process keeps.
    pub fn locks(&self) -> &Arc<LockTable> {
        &self.locks
    }

    /// The store below.
    pub fn store(&self) -> &StoreRef {
        &self.store
    }

    /// Where timestamps come from.
    pub fn oracle(&self) -> &Arc<Oracle> {
        &self.oracle
    }

    /// When a lock written now expires, by the oracle's clock.
    pub(crate) fn expires_at(&self) -> u64 {
        self.oracle.physical_now() + self.options.lock_time_to_live.as_micros() as u64
    }

    /// The fail points of this instance.
    pub fn fail_points(&self) -> &FailPoints {
        &self.fail_points
    }

    /// The GC safe point: snapshots below it are refused.
    pub fn safe_point(&self) -> Timestamp {
        Timestamp(self.safe_point.load(Ordering::SeqCst))
    }
}
