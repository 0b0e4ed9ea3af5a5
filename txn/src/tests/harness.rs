//! What the tests share: a store in memory with a simulated environment, on either commit path.

use super::hooked::HookedStore;
use crate::*;
use bytes::Bytes;
use futures::StreamExt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use storage::testing::{MemoryOptions, MemoryStore, SimEnv};
use storage::{Env, RowRange, StoreRef, Timestamp};

/// The commit path that a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// One batch through the committer.
    OnePhase,
    /// Locks, on an engine whose one log holds every row.
    Embedded,
    /// Locks, row by row, as over Bigtable.
    ByRow,
}

pub(crate) const PATHS: [Path; 3] = [Path::OnePhase, Path::Embedded, Path::ByRow];

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) env: Arc<SimEnv>,
    pub(crate) memory: Arc<MemoryStore>,
    pub(crate) store: Arc<TransactionStore>,
    pub(crate) options: TransactionStoreOptions,
}

pub(crate) fn options(path: Path) -> TransactionStoreOptions {
    TransactionStoreOptions {
        always_two_phase: path != Path::OnePhase,
        lock_wait: Duration::ZERO,
        ..TransactionStoreOptions::default()
    }
}

impl World {
    pub(crate) async fn new(env: Arc<SimEnv>, path: Path) -> World {
        World::with(env, path, options(path)).await
    }

    pub(crate) async fn with(env: Arc<SimEnv>, path: Path, options: TransactionStoreOptions) -> World {
        let oracle = Oracle::new(env.clone());
        let memory_options = MemoryOptions { atomic: path != Path::ByRow, ..MemoryOptions::default() };
        let memory = MemoryStore::with_options(oracle.clone(), memory_options);
        let as_store: StoreRef = memory.clone();
        let store = TransactionStore::open(as_store, oracle, env.clone(), options.clone()).await.unwrap();
        World { env, memory, store, options }
    }

    /// A node over rows whose calls pass through a [`HookedStore`], and that store.
    pub(crate) async fn hooked(env: Arc<SimEnv>, options: TransactionStoreOptions) -> (World, Arc<HookedStore>) {
        let oracle = Oracle::new(env.clone());
        let memory_options = MemoryOptions { atomic: false, ..MemoryOptions::default() };
        let memory = MemoryStore::with_options(oracle.clone(), memory_options);
        let hooked = HookedStore::new(memory.clone(), env.clone());
        let as_store: StoreRef = hooked.clone();
        let store = TransactionStore::open(as_store, oracle, env.clone(), options.clone()).await.unwrap();
        (World { env, memory, store, options }, hooked)
    }

    /// The same rows after a crash: nothing in memory survives, the oracle goes on.
    pub(crate) async fn reopen(&self) -> World {
        let as_store: StoreRef = self.memory.clone();
        let oracle = self.store.oracle().clone();
        let store = TransactionStore::open(as_store, oracle, self.env.clone(), self.options.clone()).await.unwrap();
        World { store, ..self.clone() }
    }

    pub(crate) fn begin(&self) -> Arc<Transaction> {
        self.store.begin(TransactionOptions::default())
    }

    /// Commits one value in a transaction of its own.
    pub(crate) async fn set(&self, key: &str, value: &str) -> Timestamp {
        let transaction = self.begin();
        transaction.write(vec![put(key, value)]).await.unwrap();
        transaction.commit().await.unwrap()
    }

    /// The newest committed value.
    pub(crate) async fn value(&self, key: &str) -> Option<String> {
        get(&self.begin(), key).await
    }

    /// Lets background tasks (secondaries) finish.
    pub(crate) async fn settle(&self) {
        self.env.sleep(Duration::from_millis(1)).await;
    }
}

/// Runs a test on every path.
pub(crate) fn on_every_path<Work: Future<Output = ()> + Send + 'static>(test: impl Fn(World) -> Work) {
    on_paths(&PATHS, test);
}

pub(crate) fn on_paths<Work: Future<Output = ()> + Send + 'static>(paths: &[Path], test: impl Fn(World) -> Work) {
    for path in paths {
        eprintln!("path {path:?}");
        let env = SimEnv::new(1);
        let for_world = env.clone();
        let path = *path;
        let world = env.block_on(async move { World::new(for_world, path).await }).unwrap();
        env.block_on(test(world)).unwrap();
    }
}

pub(crate) fn key(key: &str) -> Bytes {
    Bytes::copy_from_slice(key.as_bytes())
}

pub(crate) fn put(name: &str, value: &str) -> Write {
    Write { key: key(name), kind: WriteKind::Put(key(value)), strength: LockStrength::Update }
}

/// An update that leaves the key columns alone.
pub(crate) fn update(name: &str, value: &str) -> Write {
    Write { strength: LockStrength::NoKeyUpdate, ..put(name, value) }
}

pub(crate) fn delete(name: &str) -> Write {
    Write { key: key(name), kind: WriteKind::Delete, strength: LockStrength::Update }
}

pub(crate) fn lock(name: &str, strength: LockStrength) -> Write {
    Write { key: key(name), kind: WriteKind::Lock, strength }
}

pub(crate) async fn get(transaction: &Arc<Transaction>, name: &str) -> Option<String> {
    let value = transaction.get(name.as_bytes(), OwnWrites::All).await.unwrap();
    value.map(|value| String::from_utf8_lossy(&value).into_owned())
}

pub(crate) async fn scan(
    transaction: &Arc<Transaction>,
    range: RowRange,
    options: TxnScanOptions,
    own: OwnWrites,
) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut batches = transaction.scan(range, options, own);
    while let Some(batch) = batches.next().await {
        for (key, value) in batch.unwrap() {
            let text = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
            pairs.push((text(key), text(value)));
        }
    }
    pairs
}

pub(crate) fn conflict_kind(result: Result<Timestamp>) -> Option<ConflictKind> {
    match result {
        Err(TxnError::Conflict(conflict)) => Some(conflict.kind),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}
