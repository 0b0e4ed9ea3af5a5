//! Transactions over Bigtable's emulator, behind a proxy that loses, delays, duplicates and breaks calls.

use super::harness::{get, key, put, scan, update};
use crate::locks::{LockReply, LockRequest};
use crate::*;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::bigtable::{BigtableAddress, BigtableOptions, BigtableStore, init_store};
use storage::testing::{Emulator, Proxy};
use storage::{BoxFuture, EnvRef, Family, ReadFilter, RowRange, StoreRef, SystemEnv, TimestampRange};

const ACCOUNTS: u64 = 20;
const TELLERS: u64 = 8;
const TRANSFERS: u64 = 30;

fn account(number: u64) -> String {
    format!("account{number:02}")
}

/// A transport without other nodes.
struct Nobody;

impl OracleTransport for Nobody {
    fn ask(&self, _: &str, _: OracleRequest) -> BoxFuture<'static, std::result::Result<OracleReading, String>> {
        Box::pin(async { Err("there is no other node".to_owned()) })
    }

    fn ask_for_locks(&self, _: &str, _: LockRequest) -> BoxFuture<'static, std::result::Result<LockReply, String>> {
        Box::pin(async { Err("there is no other node".to_owned()) })
    }
}

async fn open(proxy: &Proxy, address: &BigtableAddress, env: &EnvRef) -> Arc<TransactionStore> {
    let options = BigtableOptions {
        emulator: Some(proxy.address().to_owned()),
        attempt: Duration::from_millis(500),
        deadline: Duration::from_secs(10),
        ..BigtableOptions::default()
    };
    let store: StoreRef = BigtableStore::open(address.clone(), options, env.clone()).await.unwrap();
    let node = OracleNode { name: "test".to_owned(), address: None };
    let oracle = Oracle::join(&store, env, node, Arc::new(Nobody)).await.unwrap();
    TransactionStore::open(store, oracle, env.clone(), TransactionStoreOptions::default()).await.unwrap()
}

/// Moves one unit from an account to another and leaves a receipt. Answers whether it is known to be done.
async fn transfer(store: &Arc<TransactionStore>, from: u64, to: u64, receipt: &str) -> Result<()> {
    let transaction = store.begin(TransactionOptions::default());
    let mut writes = vec![put(receipt, &format!("{from} {to}"))];
    for (number, change) in [(from, -1), (to, 1)] {
        let value = transaction.get(account(number).as_bytes(), OwnWrites::All).await?.unwrap();
        let balance: i64 = std::str::from_utf8(&value).unwrap().parse().unwrap();
        writes.push(update(&account(number), &(balance + change).to_string()));
    }
    transaction.write(writes).await?;
    transaction.commit().await.map(|_| ())
}

/// The sum of all accounts at one snapshot.
async fn sum(store: &Arc<TransactionStore>) -> Result<i64> {
    let reader = store.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
    let mut sum = 0;
    for number in 0..ACCOUNTS {
        let value = reader.get(account(number).as_bytes(), OwnWrites::All).await?.unwrap();
        sum += std::str::from_utf8(&value).unwrap().parse::<i64>().unwrap();
    }
    Ok(sum)
}

#[test]
fn no_transfer_is_lost_or_doubled_behind_a_bad_network() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let emulator = Emulator::start().unwrap();
    runtime.block_on(async {
        let env: EnvRef = SystemEnv::current().unwrap();
        let address: BigtableAddress = format!("bigtable://p/i/{}", emulator.table()).parse().unwrap();
        let direct = BigtableOptions { emulator: Some(emulator.address().to_owned()), ..BigtableOptions::default() };
        init_store(address.clone(), direct, env.clone()).await.unwrap();
        let proxy = Proxy::start(emulator.address()).await.unwrap();
        let store = open(&proxy, &address, &env).await;
        let first = store.begin(TransactionOptions::default());
        first.write((0..ACCOUNTS).map(|number| put(&account(number), "100")).collect()).await.unwrap();
        first.commit().await.unwrap();

        proxy.draw(env.clone(), 100, Duration::from_millis(700));
        let undetermined = Arc::new(AtomicU64::new(0));
        let mut tellers = Vec::new();
        for teller in 0..TELLERS {
            let (store, env, undetermined) = (store.clone(), env.clone(), undetermined.clone());
            tellers.push(tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for turn in 0..TRANSFERS {
                    let from = env.random() % ACCOUNTS;
                    let to = (from + 1 + env.random() % (ACCOUNTS - 1)) % ACCOUNTS;
                    let receipt = format!("receipt{teller}-{turn}");
                    match transfer(&store, from, to, &receipt).await {
                        Ok(()) => acknowledged.push((receipt, true)),
                        // The transfer has certainly not happened.
                        Err(TxnError::Conflict(_)) => acknowledged.push((receipt, false)),
                        Err(_) => drop(undetermined.fetch_add(1, Ordering::SeqCst)),
                    }
                    if turn % 10 == 5
                        && let Ok(sum) = sum(&store).await
                    {
                        assert_eq!(sum, 100 * ACCOUNTS as i64);
                    }
                }
                acknowledged
            }));
        }
        let mut acknowledged = Vec::new();
        for teller in tellers {
            acknowledged.extend(teller.await.unwrap());
        }
        proxy.set(|_| storage::testing::Fault::None);
        // Delayed requests arrive, and leftover locks expire.
        env.sleep(Duration::from_secs(7)).await;
        assert!(proxy.faults() > 100, "{}", proxy.faults());
        assert_eq!(sum(&store).await.unwrap(), 100 * ACCOUNTS as i64);
        let reader = store.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
        let mut done = 0;
        for (receipt, told) in &acknowledged {
            assert_eq!(get(&reader, receipt).await.is_some(), *told, "{receipt}");
            done += u64::from(*told);
        }
        let receipts = scan(&reader, RowRange::prefix(key("receipt")), TxnScanOptions::default(), OwnWrites::All).await;
        // Each receipt's transfer was made exactly once. A sum alone would not show a transfer made twice.
        let mut expected = vec![100i64; ACCOUNTS as usize];
        for (_, moved) in &receipts {
            let (from, to) = moved.split_once(' ').unwrap();
            expected[from.parse::<usize>().unwrap()] -= 1;
            expected[to.parse::<usize>().unwrap()] += 1;
        }
        for (number, expected) in (0..).zip(expected) {
            assert_eq!(get(&reader, &account(number)).await, Some(expected.to_string()), "{}", account(number));
        }
        let (unknown, faults) = (undetermined.load(Ordering::SeqCst), proxy.faults());
        println!("{done} told done, {unknown} not told, {} receipts, {faults} faults", receipts.len());
        assert!(done > 0 && receipts.len() as u64 >= done && receipts.len() as u64 <= done + unknown);
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

/// Resident memory of this process, in bytes.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

/// The durations of an auditor's point reads, phase by phase.
#[derive(Default)]
struct Audit {
    phase: Mutex<&'static str>,
    took: Mutex<BTreeMap<&'static str, Vec<Duration>>>,
}

impl Audit {
    /// Counts later reads for `phase`. Answers the durations of the phase before.
    fn enter(&self, phase: &'static str) -> String {
        let before = std::mem::replace(&mut *self.phase.lock(), phase);
        let mut took = self.took.lock().remove(before).unwrap_or_default();
        took.sort();
        let at = |hundredth: usize| took.get(took.len() * hundredth / 100).copied().unwrap_or_default();
        format!("{before}: {} reads, median {:?}, p99 {:?}", took.len(), at(50), at(99))
    }

    async fn run(self: Arc<Self>, store: Arc<TransactionStore>, env: EnvRef, rows: usize) {
        while *self.phase.lock() != "over" {
            let (phase, began) = (*self.phase.lock(), env.monotonic());
            let reader = store.begin(TransactionOptions::default());
            let name = format!("k{:08}", env.random() as usize % rows);
            reader.get(name.as_bytes(), OwnWrites::All).await.unwrap();
            self.took.lock().entry(phase).or_default().push(env.monotonic() - began);
            env.sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Takes minutes in the test profile: `cargo test -p percosql-txn -- --ignored million --nocapture`.
/// `PERCOSQL_BULK_ROWS` sets another number of rows.
#[test]
#[ignore = "takes minutes"]
fn a_transaction_of_a_million_rows_over_bigtable_takes_bounded_memory_and_no_reader_waits() {
    let rows = std::env::var("PERCOSQL_BULK_ROWS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000usize);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let emulator = Emulator::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    runtime.block_on(async {
        let env: EnvRef = SystemEnv::current().unwrap();
        let address: BigtableAddress = format!("bigtable://p/i/{}", emulator.table()).parse().unwrap();
        let direct = BigtableOptions { emulator: Some(emulator.address().to_owned()), ..BigtableOptions::default() };
        init_store(address.clone(), direct.clone(), env.clone()).await.unwrap();
        let bigtable = BigtableStore::open(address, direct, env.clone()).await.unwrap();
        let options =
            TransactionStoreOptions { spill_dir: Some(folder.path().to_owned()), ..TransactionStoreOptions::default() };
        let oracle = Oracle::new(env.clone());
        let store = TransactionStore::open(bigtable.clone(), oracle, env.clone(), options).await.unwrap();
        let before = resident_bytes();
        let audit = Arc::new(Audit::default());
        audit.enter("idle");
        let auditing = tokio::spawn(audit.clone().run(store.clone(), env.clone(), rows));
        env.sleep(Duration::from_secs(3)).await;
        println!("{}", audit.enter("writing"));
        let transaction = store.begin(TransactionOptions::default());
        let began = env.monotonic();
        let mut most = 0;
        for start in (0..rows).step_by(1000) {
            let writes = (start..rows.min(start + 1000)).map(|i| put(&format!("k{i:08}"), &"v".repeat(100))).collect();
            transaction.write(writes).await.unwrap();
            most = most.max(resident_bytes());
        }
        println!("{}", audit.enter("committing"));
        println!("{rows} rows written after {:?}: {:?}", env.monotonic() - began, bigtable.calls());
        transaction.commit().await.unwrap();
        println!("{}", audit.enter("secondaries"));
        println!("committed after {:?}: {:?}", env.monotonic() - began, bigtable.calls());
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::ALL, 1);
        let last = [key(&format!("k{:08}", rows - 1))];
        while !store.store().read(&last, &filter).await.unwrap().is_empty() {
            env.sleep(Duration::from_millis(50)).await;
            most = most.max(resident_bytes());
        }
        println!("{}", audit.enter("after"));
        println!("no lock is left after {:?}: {:?}", env.monotonic() - began, bigtable.calls());
        env.sleep(Duration::from_secs(3)).await;
        println!("{}", audit.enter("over"));
        auditing.await.unwrap();
        let reader = store.begin(TransactionOptions::default());
        let mut batches = reader.scan(RowRange::prefix("k"), TxnScanOptions::default(), OwnWrites::All);
        let mut found = 0;
        while let Some(batch) = futures::StreamExt::next(&mut batches).await {
            found += batch.unwrap().len();
            most = most.max(resident_bytes());
        }
        println!("counted after {:?}, {} MB more", env.monotonic() - began, most.saturating_sub(before) >> 20);
        assert_eq!(found, rows);
        assert!(most.saturating_sub(before) < 200 << 20, "{} MB more", most.saturating_sub(before) >> 20);
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}
