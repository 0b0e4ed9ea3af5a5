//! [`OpenStore`]: the engine that a configuration names, opened, with transactions over it.

use crate::config::{Config, StoreKind};
use crate::oracle::{OracleClient, OracleService, ServingOracle};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use storage::bigtable::{BigtableAddress, BigtableOptions, BigtableStore, Initialized};
use storage::embedded::{EmbeddedOptions, EmbeddedStore};
use storage::{EnvRef, StoreError, StoreRef, SystemEnv, TimestampSource};
use txn::{Oracle, OracleNode, TransactionStore, TransactionStoreOptions, TxnError};

/// How often old versions are collected. Each pass reads every row, at some 3,400 instructions, and what it removes has been
/// kept for longer than this anyway.
const GARBAGE_INTERVAL: Duration = Duration::from_secs(300);
/// How long old versions are kept where one process knows who reads them: for snapshots whose exporter is gone, and for who asks later what
/// became of a transaction. Every scan passes over the old versions and removed entries that are left, so a queue suffers from each minute.
const EMBEDDED_HISTORY: Duration = Duration::from_secs(600);
/// How long closing waits for background work to let go of the store.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// An open store.
pub struct OpenStore {
    /// Transactions over it.
    pub transactions: Arc<TransactionStore>,
    /// Time, randomness, background work.
    pub env: EnvRef,
    engine: Engine,
}

enum Engine {
    Embedded(Arc<EmbeddedStore>),
    Bigtable {
        store: Arc<BigtableStore>,
        oracle: Arc<Oracle>,
        /// Answers other nodes, where they can ask.
        serving: Option<ServingOracle>,
        scratch: PathBuf,
    },
}

/// Opens the store. Errors are sentences for a person.
pub async fn open(config: &Config) -> Result<OpenStore, String> {
    let env: EnvRef = SystemEnv::current().map_err(|e| format!("no runtime: {e}"))?;
    let (engine, store, oracle): (Engine, StoreRef, Arc<Oracle>) = match &config.store {
        StoreKind::Embedded => {
            let oracle = Oracle::new(Arc::clone(&env));
            let timestamps: Arc<dyn TimestampSource> = Arc::clone(&oracle) as _;
            let path = config.data_dir.clone();
            // Recovery reads and writes files for seconds.
            let opening = {
                let env = Arc::clone(&env);
                let options = EmbeddedOptions { tablet_bytes: config.tablet_size as u64, ..EmbeddedOptions::default() }
                    .with_cache(config.cache_memory);
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
            // Listens before others are told where.
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
        // Who has no address cannot be asked for timestamps, so nobody else writes.
        alone: config.advertise.is_none(),
        ..defaults
    };
    let opened = TransactionStore::open(store, oracle, Arc::clone(&env), options).await;
    let transactions = opened.map_err(|error| explain_transactions(config, error))?;
    transactions.collect_garbage_every(GARBAGE_INTERVAL);
    Ok(OpenStore { transactions, env, engine })
}

/// Makes the table of a store, or completes it. Answers what a person is told.
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

/// How others are told who uses a store.
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

/// What a person can do about it.
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
    /// Resolves with a reason when the store cannot go on: a write or sync failed, or another server took it over. A disk that
    /// was full at that moment is no exception: what the operating system kept of a failed sync cannot be trusted, and only
    /// a start reads the log again. (Below the reserve writes are refused before, and the server stays.)
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

    /// Closes it in order: what was asked of it is finished, synced, and given free for the next server.
    pub async fn close(self) {
        let OpenStore { transactions, env, engine } = self;
        transactions.give_locks_back().await;
        drop(transactions);
        drop(env);
        match engine {
            Engine::Embedded(embedded) => {
                let_go(&embedded).await;
                // Dropping waits for the store's threads.
                let _ = tokio::task::spawn_blocking(move || drop(embedded)).await;
            }
            Engine::Bigtable { store, oracle, serving, scratch } => {
                // The second commits of transactions that were acknowledged are finished first.
                let_go(&store).await;
                if let Err(error) = oracle.leave().await {
                    tracing::warn!(%error, "the oracle's lease is not given free: the next node waits for it");
                }
                // Until here others could ask; from here on they find a successor.
                drop(serving);
                // Nothing in it outlives this server; the folder stays where it holds something else.
                let _ = std::fs::remove_dir_all(scratch.join("spill"));
                let _ = std::fs::remove_dir_all(scratch.join("query-spill"));
                let _ = std::fs::remove_dir(scratch);
            }
        }
    }
}

/// Waits until nobody else holds the store: a pass of the garbage collector may.
async fn let_go<T>(store: &Arc<T>) {
    let begin = std::time::Instant::now();
    while Arc::strong_count(store) > 1 && begin.elapsed() < CLOSE_LIMIT {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if Arc::strong_count(store) > 1 {
        tracing::warn!("something still uses the store: it is left to recover at the next start");
    }
}
