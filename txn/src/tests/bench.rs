//! Bigtable's emulator under simulated time: one emulator for all tests of the process, and a table for each.
//! Every call starts and ends within one step of the simulation. So a run over Bigtable is deterministic,
//! like one in memory.

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use storage::bigtable::{BigtableAddress, BigtableOptions, BigtableStore, init_store};
use storage::testing::{Emulator, Proxy};
use storage::{
    AtomicCommit, BoxFuture, Condition, EnvRef, Mutation, ReadFilter, Result, Row, RowMutation, RowRange, ScanOptions,
    Store, StoreRef, SystemEnv, Timestamp,
};
use tokio::runtime::Runtime;

/// How many calls in a thousand meet a fault on a bad network.
const FAULTS: u64 = 50;
/// The longest delay of a call on a bad network.
const LATEST: Duration = Duration::from_millis(120);

struct Bench {
    runtime: Runtime,
    emulator: Emulator,
}

fn bench() -> &'static Bench {
    static BENCH: OnceLock<Bench> = OnceLock::new();
    BENCH.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Bench { runtime, emulator: Emulator::start().unwrap() }
    })
}

/// A new table, behind a bad network if `bad_network`. Answers that network too.
pub(crate) fn store(bad_network: bool) -> (StoreRef, Option<Arc<Proxy>>) {
    let Bench { runtime, emulator } = bench();
    let env: EnvRef = SystemEnv::new(runtime.handle().clone());
    let address: BigtableAddress = format!("bigtable://p/i/{}", emulator.table()).parse().unwrap();
    let direct = BigtableOptions { emulator: Some(emulator.address().to_owned()), ..BigtableOptions::default() };
    runtime.block_on(async {
        init_store(address.clone(), direct.clone(), env.clone()).await.unwrap();
        if !bad_network {
            let inner = BigtableStore::open(address, direct, env).await.unwrap();
            return (Arc::new(Blocking { inner }) as StoreRef, None);
        }
        let proxy = Arc::new(Proxy::start(emulator.address()).await.unwrap());
        let options = BigtableOptions {
            emulator: Some(proxy.address().to_owned()),
            attempt: Duration::from_millis(100),
            ..BigtableOptions::default()
        };
        let inner = BigtableStore::open(address, options, env.clone()).await.unwrap();
        proxy.draw(env, FAULTS, LATEST);
        (Arc::new(Blocking { inner }) as StoreRef, Some(proxy))
    })
}

/// Waits until every call over the network has arrived. A call lasts milliseconds of real time, so it must not cross a
/// jump of the simulated clock: no network delivers a call hours later.
pub(crate) fn silence(network: &Proxy) {
    wait(network.silence());
}

/// A store whose calls have ended when they return.
struct Blocking {
    inner: Arc<BigtableStore>,
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    bench().runtime.block_on(work)
}

impl Store for Blocking {
    fn read<'a>(&'a self, keys: &'a [Bytes], filter: &'a ReadFilter) -> BoxFuture<'a, Result<Vec<Row>>> {
        Box::pin(async move { wait(self.inner.read(keys, filter)) })
    }
    fn scan(&self, range: RowRange, filter: ReadFilter, options: ScanOptions) -> BoxStream<'_, Result<Vec<Row>>> {
        let batches = self.inner.scan(range, filter, options);
        stream::unfold(batches, |mut batches| async move { wait(batches.next()).map(|batch| (batch, batches)) }).boxed()
    }
    fn check_and_mutate<'a>(
        &'a self,
        key: Bytes,
        conditions: Vec<Condition>,
        mutations: Vec<Mutation>,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move { wait(self.inner.check_and_mutate(key, conditions, mutations)) })
    }
    fn mutate_rows(&self, rows: Vec<RowMutation>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { wait(self.inner.mutate_rows(rows)) })
    }
    fn delete_range(&self, range: RowRange) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { wait(self.inner.delete_range(range)) })
    }
    fn tablets<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<Vec<storage::TabletInfo>>> {
        Box::pin(async move { wait(self.inner.tablets(range)) })
    }
    fn can_scan_reverse(&self) -> bool {
        self.inner.can_scan_reverse()
    }
    fn atomic(&self) -> Option<&dyn AtomicCommit> {
        None
    }
    fn get_meta<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Bytes>>> {
        Box::pin(async move { wait(self.inner.get_meta(name)) })
    }
    fn put_meta<'a>(&'a self, name: &'a str, value: Bytes) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { wait(self.inner.put_meta(name, value)) })
    }
    fn recovered_max_timestamp(&self) -> Timestamp {
        self.inner.recovered_max_timestamp()
    }
    fn approximate_bytes<'a>(&'a self, range: &'a RowRange) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move { wait(self.inner.approximate_bytes(range)) })
    }
}
