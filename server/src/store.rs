//! [`OpenStore`]: the configured storage engine, opened, with transactions over it.

use crate::config::{Config, StoreKind};
use crate::oracle::{OracleClient, OracleService, ServingOracle};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use storage::bigtable::{BigtableAddress, BigtableOptions, BigtableStore, Initialized};
use storage::embedded::{EmbeddedOptions, EmbeddedStore};
use storage::{EnvRef, StoreError, StoreRef, SystemEnv, TimestampSource};
use txn::{Oracle, OracleNode, TransactionStore, TransactionStoreOptions, TxnError};

/// Interval of garbage collection. Each pass reads every row at about 3,400 instructions, and it removes only versions
/// older than this interval.
const GARBAGE_INTERVAL: Duration = Duration::from_secs(300);
/// How long old versions are kept if one process knows all readers. Snapshots of a closed exporter and late queries for
/// a transaction's status need them. Every scan passes over the remaining old versions and removed entries, so each
/// minute slows a queue down.
const EMBEDDED_HISTORY: Duration = Duration::from_secs(600);
/// Time limit for background work to release the store at close.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// An open store with its engine.
pub struct OpenStore {
    /// The transactions over the store.
    pub transactions: Arc<TransactionStore>,
    /// Time, randomness and background tasks.
    pub env: EnvRef,
    engine: Engine,
}

enum Engine {
    Embedded(Arc<EmbeddedStore>),
    Bigtable {
        store: Arc<BigtableStore>,
        oracle: Arc<Oracle>,
        /// Answers other nodes, if they can reach this one.
        serving: Option<ServingOracle>,
        scratch: PathBuf,
    },
}

/// Opens the store of a configuration. Errors are sentences for a person.
pub async fn open(config: &Config) -> Result<OpenStore, String> {
    let env: EnvRef = SystemEnv::current().map_err(|e| format!("no runtime: {e}"))?;
    let (engine, store, oracle): (Engine, StoreRef, Arc<Oracle>) = match &config.store {
        StoreKind::Embedded => {
            let oracle = Oracle::new(Arc::clone(&env));
            let timestamps: Arc<dyn TimestampSource> = Arc::clone(&oracle) as _;
            let path = config.data_dir.clone();
            // Recovery reads and writes files for seconds, so it runs on a blocking thread.
            let opening = {
                let env = Arc::clone(&env);
                let options = EmbeddedOptions { tablet_bytes: config.tablet_size as u64, ..EmbeddedOptions::default() }
                    .with_cache(config.cache_memory)
                    .with_memory(config.memory);
                tokio::task::spawn_blocking(move || EmbeddedStore::open(&path, timestamps, env, options))
            };
            let opened = opening.await.map_err(|e| format!("opening the store failed: {e}"))?;
            let embedded = opened.map_err(|error| explain(config, &error))?;
            (Engine::Embedded(Arc::clone(&embedded)), embedded, oracle)
        }
        StoreKind::Bigtable(address) => {
            let options = BigtableOptions::from_environment();
            let opened = BigtableStore::open(address.clone(), options, Arc::clone(&env)).await;
            let bigtable = opened.map_err(|error| explain(config, &error))?;
            let store: StoreRef = Arc::clone(&bigtable) as _;
            // The socket must listen before other nodes learn its address.
            let service = match &config.advertise {
                Some(address) => Some(OracleService::bind(address).await?),
                None => None,
            };
            let node = OracleNode { name: node_name(config), address: config.advertise.clone() };
            let joined = Oracle::join(&store, &env, node, Arc::new(OracleClient::default())).await;
            let oracle = joined.map_err(|error| explain_transactions(config, error))?;
            let serving = service.map(|service| service.serve(Arc::clone(&oracle)));
            let (held, scratch) = (Arc::clone(&oracle), config.data_dir.clone());
            (Engine::Bigtable { store: bigtable, oracle: held, serving, scratch }, store, oracle)
        }
    };
    let defaults = TransactionStoreOptions::default();
    let history = match engine {
        Engine::Embedded(_) => EMBEDDED_HISTORY,
        Engine::Bigtable { .. } => defaults.history,
    };
    let options = TransactionStoreOptions {
        history,
        spill_dir: Some(config.data_dir.join("spill")),
        validated: planner::catalog::keys::rows_of_users(),
        buffers_limit_bytes: config.buffer_memory(),
        commits_limit_bytes: config.commit_memory(),
        // Other nodes cannot request timestamps from a node without an address, so no other node writes.
        alone: config.advertise.is_none(),
        ..defaults
    };
    let opened = TransactionStore::open(store, oracle, Arc::clone(&env), options).await;
    let transactions = opened.map_err(|error| explain_transactions(config, error))?;
    transactions.collect_garbage_every(GARBAGE_INTERVAL);
    Ok(OpenStore { transactions, env, engine })
}

/// Makes the table of a store, or completes it. Answers a sentence for a person.
pub async fn init(store: &str) -> Result<String, String> {
    let address: BigtableAddress = store.parse()?;
    let env: EnvRef = SystemEnv::current().map_err(|e| format!("no runtime: {e}"))?;
    let done = storage::bigtable::init_store(address.clone(), BigtableOptions::from_environment(), env).await;
    let done = done.map_err(|error| format!("cannot make {address}: {error}"))?;
    Ok(match done {
        Initialized::Made => format!("{address} was made; start a server: percosql start --store {address}"),
        Initialized::Found => format!("{address} is there already"),
        Initialized::Completed => format!("{address} was there already; what it lacked was added"),
    })
}

/// The name under which other nodes see the user of a store.
fn node_name(config: &Config) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = Some(host.trim()).filter(|host| !host.is_empty()).unwrap_or("unknown host").to_owned();
    format!("{host}, process {}, listening on {}", std::process::id(), config.listen)
}

fn explain_transactions(config: &Config, error: TxnError) -> String {
    match error {
        TxnError::Store(error) => explain(config, &error),
        other => format!("cannot recover the transactions in {}: {other}", config.data_location()),
    }
}

/// Explains a store error and its remedy to a person.
fn explain(config: &Config, error: &StoreError) -> String {
    if let StoreKind::Bigtable(address) = &config.store {
        return match error {
            StoreError::InUse(who) => format!(
                "{address} is in use by another server ({who}). Several can share it when each is started with --advertise \
                 HOST:PORT, where the others reach it; else stop that one first"
            ),
            StoreError::Format(what) => format!("cannot use {address}: {what}"),
            other => format!("cannot open {address}: {other}"),
        };
    }
    let folder = config.data_dir.display();
    match error {
        StoreError::InUse(_) => {
            format!(
                "the data directory {folder} is in use by another server; stop it, or choose another with --data-dir"
            )
        }
        StoreError::Format(what) => format!(
            "the data directory {folder} has another format: {what}; start the version of percosql that wrote it"
        ),
        StoreError::Corrupted(what) => {
            format!("the data directory {folder} is corrupted: {what}; nothing was changed; restore it from a backup")
        }
        StoreError::Io(what) => format!("cannot use the data directory {folder}: {what}"),
        other => format!("cannot open the data directory {folder}: {other}"),
    }
}

impl OpenStore {
    /// Resolves with a reason when the store cannot continue: a write or sync failed, or another server took the store
    /// over.
    ///
    /// A disk that was full at that moment is no exception. After a failed sync, the cached pages of the operating
    /// system cannot be trusted, and only a restart reads the log again. Below the disk reserve, writes are refused
    /// earlier, and the server continues.
    pub async fn failed(&self) -> String {
        loop {
            let failure = match &self.engine {
                Engine::Embedded(store) => store.failure(),
                Engine::Bigtable { oracle, .. } => oracle.failure(),
            };
            match failure {
                Some(reason) => return reason,
                None => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Closes the store in order: finishes the requests, syncs them, and releases the store for the next server.
    pub async fn close(self) {
        let OpenStore { transactions, env, engine } = self;
        transactions.give_locks_back().await;
        drop(transactions);
        drop(env);
        match engine {
            Engine::Embedded(embedded) => {
                let_go(&embedded).await;
                // The drop waits for the store's threads.
                let _ = tokio::task::spawn_blocking(move || drop(embedded)).await;
            }
            Engine::Bigtable { store, oracle, serving, scratch } => {
                // The secondary commits of acknowledged transactions finish first.
                let_go(&store).await;
                if let Err(error) = oracle.leave().await {
                    tracing::warn!(%error, "the oracle's lease is not given free: the next node waits for it");
                }
                // Until now other nodes could send requests. From now on they find a successor.
                drop(serving);
                // The spilled files belong to this server alone. The folder stays if it holds other files.
                let _ = std::fs::remove_dir_all(scratch.join("spill"));
                let _ = std::fs::remove_dir_all(scratch.join("query-spill"));
                let _ = std::fs::remove_dir(scratch);
            }
        }
    }
}

/// Waits until nothing else holds the store. A pass of the garbage collector may still hold it.
async fn let_go<T>(store: &Arc<T>) {
    let begin = std::time::Instant::now();
    while Arc::strong_count(store) > 1 && begin.elapsed() < CLOSE_LIMIT {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if Arc::strong_count(store) > 1 {
        tracing::warn!("something still uses the store: it is left to recover at the next start");
    }
}
