//! [`OpenStore`]: the engine that a configuration names, opened, with transactions over it.

use crate::config::{Config, StoreKind};
use std::sync::Arc;
use std::time::Duration;
use storage::embedded::{EmbeddedOptions, EmbeddedStore};
use storage::{EnvRef, StoreError, StoreRef, SystemEnv, TimestampSource};
use txn::{Oracle, TransactionStore, TransactionStoreOptions, TxnError};

/// How often old versions are collected.
const GARBAGE_INTERVAL: Duration = Duration::from_secs(60);
/// How long closing waits for background work to let go of the store.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// An open store.
pub struct OpenStore {
    /// Transactions over it.
    pub transactions: Arc<TransactionStore>,
    /// Time, randomness, background work.
    pub env: EnvRef,
    embedded: Arc<EmbeddedStore>,
}

/// Opens the store. Errors are sentences for a person.
pub async fn open(config: &Config) -> Result<OpenStore, String> {
    let StoreKind::Embedded = config.store;
    let env: EnvRef = SystemEnv::current().map_err(|e| format!("no runtime: {e}"))?;
    let oracle = Oracle::new(Arc::clone(&env));
    let timestamps: Arc<dyn TimestampSource> = Arc::clone(&oracle) as _;
    let options = EmbeddedOptions::default();
    let path = config.data_dir.clone();
    // Recovery reads and writes files for seconds.
    let opening = {
        let env = Arc::clone(&env);
        tokio::task::spawn_blocking(move || EmbeddedStore::open(&path, timestamps, env, options))
    };
    let embedded = opening
        .await
        .map_err(|e| format!("opening the store failed: {e}"))?
        .map_err(|error| explain(config, &error))?;
    let store: StoreRef = Arc::clone(&embedded) as _;
    let options = TransactionStoreOptions {
        spill_dir: Some(config.data_dir.join("spill")),
        ..TransactionStoreOptions::default()
    };
    let transactions =
        TransactionStore::open(store, oracle, Arc::clone(&env), options).await.map_err(|error| match error {
            TxnError::Store(error) => explain(config, &error),
            other => format!("cannot recover the transactions in {}: {other}", config.data_dir.display()),
        })?;
    transactions.collect_garbage_every(GARBAGE_INTERVAL);
    Ok(OpenStore { transactions, env, embedded })
}

/// What a person can do about it.
fn explain(config: &Config, error: &StoreError) -> String {
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
    /// Resolves with a reason when the store cannot go on: a write or sync failed. After a full disk it can
    /// still be read: the server stays.
    pub async fn failed(&self) -> String {
        loop {
            match self.embedded.failure() {
                Some(reason) if !reason.starts_with("disk full") => return reason,
                _ => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Closes it in order: what was asked of it is finished, synced, and the directory given free.
    pub async fn close(self) {
        let OpenStore { transactions, env, embedded } = self;
        drop(transactions);
        drop(env);
        // The last handle closes. A pass of the garbage collector may still hold one.
        let begin = std::time::Instant::now();
        while Arc::strong_count(&embedded) > 1 && begin.elapsed() < CLOSE_LIMIT {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if Arc::strong_count(&embedded) > 1 {
            tracing::warn!("something still uses the store: it is left to recover at the next start");
        }
        // Dropping waits for the store's threads.
        let _ = tokio::task::spawn_blocking(move || drop(embedded)).await;
    }
}
