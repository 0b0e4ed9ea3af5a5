//! The tests' common harness: a store in memory with a simulated environment, on each commit path.

use super::bench;
use super::hooked::HookedStore;
use crate::*;
use bytes::Bytes;
use futures::StreamExt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use storage::testing::{MemoryOptions, MemoryStore, Proxy, SimEnv};
use storage::{Env, Family, ReadFilter, Row, RowRange, ScanOptions, StoreRef, Timestamp, TimestampRange};

/// The commit path that a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// One batch through the committer.
    OnePhase,
    /// Cells prepared beside the log.
    InBulk,
    /// Two phases on an engine with one log for all rows.
    Embedded,
    /// Two phases row by row, in memory.
    ByRow,
    /// Two phases row by row, over Bigtable's emulator.
    Bigtable,
    /// Like `Bigtable`, behind a network that loses, duplicates, delays and breaks calls.
    BadNetwork,
}

pub(crate) const PATHS: [Path; 6] =
    [Path::OnePhase, Path::InBulk, Path::Embedded, Path::ByRow, Path::Bigtable, Path::BadNetwork];
/// The paths that write locks.
pub(crate) const LOCKS: [Path; 4] = [Path::Embedded, Path::ByRow, Path::Bigtable, Path::BadNetwork];
/// The paths of stores that change one row at a time.
pub(crate) const ROWS: [Path; 3] = [Path::ByRow, Path::Bigtable, Path::BadNetwork];

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) env: Arc<SimEnv>,
    /// The rows, below all wrappers.
    pub(crate) raw: StoreRef,
    /// The rows, if they are in memory.
    pub(crate) memory: Option<Arc<MemoryStore>>,
    /// The network before the rows, if it is a bad one.
    pub(crate) network: Option<Arc<Proxy>>,
    pub(crate) store: Arc<TransactionStore>,
    pub(crate) options: TransactionStoreOptions,
}

pub(crate) fn options(path: Path) -> TransactionStoreOptions {
    TransactionStoreOptions {
        always_two_phase: !matches!(path, Path::OnePhase | Path::InBulk),
        bulk_from_bytes: if path == Path::InBulk { 0 } else { TransactionStoreOptions::default().bulk_from_bytes },
        step_rows: if path == Path::InBulk { 1 } else { TransactionStoreOptions::default().step_rows },
        lock_wait: Duration::ZERO,
        ..TransactionStoreOptions::default()
    }
}

/// The rows of a [`World`], each as its field says.
struct Rows {
    raw: StoreRef,
    memory: Option<Arc<MemoryStore>>,
    network: Option<Arc<Proxy>>,
}

fn rows(path: Path, oracle: &Arc<Oracle>) -> Rows {
    match path {
        Path::Bigtable | Path::BadNetwork => {
            let (raw, network) = bench::store(path == Path::BadNetwork);
            Rows { raw, memory: None, network }
        }
        path => {
            let options = MemoryOptions { atomic: path != Path::ByRow, ..MemoryOptions::default() };
            let memory = MemoryStore::with_options(oracle.clone(), options);
            Rows { raw: memory.clone(), memory: Some(memory), network: None }
        }
    }
}

impl World {
    pub(crate) async fn with(env: Arc<SimEnv>, path: Path, options: TransactionStoreOptions) -> World {
        let oracle = Oracle::new(env.clone());
        let Rows { raw, memory, network } = rows(path, &oracle);
        let store = TransactionStore::open(raw.clone(), oracle, env.clone(), options.clone()).await.unwrap();
        World { env, raw, memory, network, store, options }
    }

    /// A node over rows whose calls pass through a [`HookedStore`], and that store.
    pub(crate) async fn hooked(
        env: Arc<SimEnv>,
        path: Path,
        options: TransactionStoreOptions,
    ) -> (World, Arc<HookedStore>) {
        let oracle = Oracle::new(env.clone());
        let Rows { raw, memory, network } = rows(path, &oracle);
        let hooked = HookedStore::new(raw.clone(), env.clone());
        let store = TransactionStore::open(hooked.clone(), oracle, env.clone(), options.clone()).await.unwrap();
        (World { env, raw, memory, network, store, options }, hooked)
    }

    /// Every cell of every row.
    pub(crate) fn dump(&self) -> Vec<Row> {
        let filter = Family::ALL
            .iter()
            .fold(ReadFilter::new(), |filter, family| filter.with(*family, TimestampRange::ALL, usize::MAX));
        let batches: Vec<_> =
            futures::executor::block_on(self.raw.scan(RowRange::all(), filter, ScanOptions::default()).collect());
        batches.into_iter().flat_map(|batch| batch.unwrap()).collect()
    }

    /// The same rows after a crash: nothing in memory survives, and the oracle goes on.
    pub(crate) async fn reopen(&self) -> World {
        let oracle = self.store.oracle().clone();
        let env = self.env.clone();
        let store = TransactionStore::open(self.raw.clone(), oracle, env, self.options.clone()).await.unwrap();
        World { store, ..self.clone() }
    }

    pub(crate) fn begin(&self) -> Arc<Transaction> {
        self.store.begin(TransactionOptions::default())
    }

    /// Commits one value in its own transaction.
    pub(crate) async fn set(&self, key: &str, value: &str) -> Timestamp {
        let transaction = self.begin();
        transaction.write(vec![put(key, value)]).await.unwrap();
        transaction.commit().await.unwrap()
    }

    /// The newest committed value.
    pub(crate) async fn value(&self, key: &str) -> Option<String> {
        get(&self.begin(), key).await
    }

    /// Lets background tasks finish, such as the commit of secondaries, and every call over the network.
    pub(crate) async fn settle(&self) {
        self.env.sleep(Duration::from_millis(1)).await;
        self.network.as_deref().inspect(|network| bench::silence(network));
    }

    /// Moves the clock, after every call over the network.
    pub(crate) fn advance(&self, time: Duration) {
        self.network.as_deref().inspect(|network| bench::silence(network));
        self.env.advance(time);
    }
}

/// Runs a test on every path.
pub(crate) fn on_every_path<Work: Future<Output = ()> + Send + 'static>(test: impl Fn(World) -> Work) {
    on_paths(&PATHS, test);
}

pub(crate) fn on_paths<Work: Future<Output = ()> + Send + 'static>(paths: &[Path], test: impl Fn(World) -> Work) {
    on_paths_with(paths, options, test);
}

/// Runs a test on every path with a node that has the store to itself and so holds all locks. First all locks are
/// listed in memory, then all are spilled.
pub(crate) fn on_paths_alone<Work: Future<Output = ()> + Send + 'static>(test: impl Fn(World) -> Work) {
    let alone = |path| TransactionStoreOptions { alone: true, ..options(path) };
    on_paths_with(&PATHS, alone, &test);
    let folder = tempfile::tempdir().unwrap();
    let spill_dir = Some(folder.path().to_owned());
    let spilled = |path| TransactionStoreOptions { listed_locks: 0, spill_dir: spill_dir.clone(), ..alone(path) };
    on_paths_with(&PATHS, spilled, &test);
}

fn on_paths_with<Work: Future<Output = ()> + Send + 'static>(
    paths: &[Path],
    options: impl Fn(Path) -> TransactionStoreOptions,
    test: impl Fn(World) -> Work,
) {
    for path in paths {
        eprintln!("path {path:?}");
        let env = SimEnv::new(1);
        let for_world = env.clone();
        let (path, options) = (*path, options(*path));
        let world = env.block_on(async move { World::with(for_world, path, options).await }).unwrap();
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
        pairs.extend(texts(batch.unwrap()));
    }
    pairs
}

/// Keys and values as text.
pub(crate) fn texts(pairs: Vec<KeyValue>) -> impl Iterator<Item = (String, String)> {
    let text = |bytes: Bytes| String::from_utf8_lossy(&bytes).into_owned();
    pairs.into_iter().map(move |(key, value)| (text(key), text(value)))
}

pub(crate) fn conflict_kind(result: Result<Timestamp>) -> Option<ConflictKind> {
    match result {
        Err(TxnError::Conflict(conflict)) => Some(conflict.kind),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}
