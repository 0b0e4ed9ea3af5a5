//! A chaos test with three nodes over one table of Bigtable's emulator, each behind its own bad network. Nodes
//! die in the middle of their work, or are cut off for longer than their locks live. Meanwhile tellers move money
//! between accounts, auditors add it up, and garbage is collected behind a short history. Takes [`SECONDS`], or
//! the time in `PERCOSQL_CHAOS_SECONDS`.

use super::harness::{get, key, put, scan, update};
use crate::*;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use storage::bigtable::{BigtableAddress, BigtableOptions, BigtableStore, init_store};
use storage::testing::{Emulator, Fault, Proxy};
use storage::{EnvRef, Family, ReadFilter, RowRange, ScanOptions, StoreRef, SystemEnv, Timestamp, TimestampRange};
use tokio::runtime::Runtime;

const SECONDS: u64 = 20;
const ACCOUNTS: u64 = 16;
const TELLERS: u64 = 3;
const OPENING: i64 = 100;

/// The findings of tellers and auditors, which survive their nodes.
#[derive(Default)]
struct Ledger {
    /// Receipts, and whether the transfer is known to be done. `None` if nobody was told.
    told: Mutex<BTreeMap<String, Option<bool>>>,
    /// Transfers whose commits ended undetermined.
    undetermined: Mutex<Vec<(String, Timestamp)>>,
    faults: Mutex<Vec<String>>,
    audits: AtomicU64,
    over: AtomicBool,
}

struct Town {
    runtime: Runtime,
    emulator: Emulator,
    address: BigtableAddress,
    oracle: Arc<Oracle>,
    ledger: Arc<Ledger>,
    nodes: AtomicU64,
}

struct Node {
    runtime: Runtime,
    proxy: Proxy,
    store: Arc<TransactionStore>,
}

fn options() -> TransactionStoreOptions {
    TransactionStoreOptions {
        history: Duration::from_secs(24),
        lock_time_to_live: Duration::from_secs(1),
        lock_wait: Duration::from_millis(300),
        ..TransactionStoreOptions::default()
    }
}

fn account(number: u64) -> String {
    format!("account{number:02}")
}

/// Moves one unit from an account to another and leaves a receipt.
async fn transfer(store: &Arc<TransactionStore>, ledger: &Ledger, env: &EnvRef, receipt: String) -> Result<()> {
    let from = env.random() % ACCOUNTS;
    let to = (from + 1 + env.random() % (ACCOUNTS - 1)) % ACCOUNTS;
    let transaction = store.begin(TransactionOptions::default());
    let mut writes = vec![put(&receipt, &format!("{from} {to}"))];
    for (number, change) in [(from, -1), (to, 1)] {
        let value = transaction.get(account(number).as_bytes(), OwnWrites::All).await?;
        let balance: i64 = std::str::from_utf8(&value.unwrap()).unwrap().parse().unwrap();
        writes.push(update(&account(number), &(balance + change).to_string()));
    }
    transaction.write(writes).await?;
    let asked = env.random().is_multiple_of(2);
    let start_ts = if asked { Some(transaction.start_ts().await?) } else { None };
    ledger.told.lock().insert(receipt.clone(), None);
    let told = match transaction.commit().await {
        Ok(_) => Some(true),
        // The outcome is unknown, or only the store knows it and does not answer.
        Err(TxnError::Undetermined { .. }) => {
            ledger.undetermined.lock().extend(start_ts.map(|start_ts| (receipt.clone(), start_ts)));
            None
        }
        Err(_) => Some(false),
    };
    ledger.told.lock().insert(receipt, told);
    Ok(())
}

async fn audit(store: &Arc<TransactionStore>, ledger: &Ledger) -> Result<()> {
    let reader = store.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
    let keys: Vec<_> = (0..ACCOUNTS).map(|number| key(&account(number))).collect();
    let values = reader.get_many(&keys, OwnWrites::All).await?;
    let of =
        |value: &Option<bytes::Bytes>| std::str::from_utf8(value.as_ref().unwrap()).unwrap().parse::<i64>().unwrap();
    let sum: i64 = values.iter().map(of).sum();
    if sum != OPENING * ACCOUNTS as i64 {
        ledger.faults.lock().push(format!("the sum was {sum}"));
    }
    ledger.audits.fetch_add(1, Ordering::SeqCst);
    Ok(())
}

impl Town {
    fn new() -> Town {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let emulator = Emulator::start().unwrap();
        let env: EnvRef = SystemEnv::new(runtime.handle().clone());
        let address: BigtableAddress = format!("bigtable://p/i/{}", emulator.table()).parse().unwrap();
        let oracle = Oracle::new(env);
        Town { runtime, emulator, address, oracle, ledger: Arc::default(), nodes: AtomicU64::new(0) }
    }

    fn direct(&self) -> BigtableOptions {
        BigtableOptions { emulator: Some(self.emulator.address().to_owned()), ..BigtableOptions::default() }
    }

    /// A node without tellers and faults, which keeps the oracle's high-water mark.
    fn town_hall(&self) -> Arc<TransactionStore> {
        let env: EnvRef = SystemEnv::new(self.runtime.handle().clone());
        self.runtime.block_on(async {
            init_store(self.address.clone(), self.direct(), env.clone()).await.unwrap();
            let store: StoreRef = BigtableStore::open(self.address.clone(), self.direct(), env.clone()).await.unwrap();
            TransactionStore::open(store, self.oracle.clone(), env, options()).await.unwrap()
        })
    }

    fn node(&self) -> Node {
        let number = self.nodes.fetch_add(1, Ordering::SeqCst);
        let proxy = self.runtime.block_on(Proxy::start(self.emulator.address())).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let env: EnvRef = SystemEnv::new(runtime.handle().clone());
        let bigtable = BigtableOptions {
            emulator: Some(proxy.address().to_owned()),
            attempt: Duration::from_millis(250),
            deadline: Duration::from_secs(2),
            ..BigtableOptions::default()
        };
        let store = runtime.block_on(async {
            let store: StoreRef = BigtableStore::open(self.address.clone(), bigtable, env.clone()).await.unwrap();
            TransactionStore::open(store, self.oracle.clone(), env.clone(), options()).await.unwrap()
        });
        proxy.draw(SystemEnv::new(self.runtime.handle().clone()), 40, Duration::from_millis(400));
        for teller in 0..TELLERS {
            let (store, ledger, env) = (store.clone(), self.ledger.clone(), env.clone());
            let work = async move {
                for turn in 0.. {
                    if ledger.over.load(Ordering::SeqCst) {
                        return;
                    }
                    // A transfer that fails before its commit is sent has not happened.
                    let _ = transfer(&store, &ledger, &env, format!("receipt{number}-{teller}-{turn}")).await;
                }
            };
            runtime.spawn(work);
        }
        let (audited, ledger, clock) = (store.clone(), self.ledger.clone(), env.clone());
        runtime.spawn(async move {
            while !ledger.over.load(Ordering::SeqCst) {
                let _ = audit(&audited, &ledger).await;
                clock.sleep(Duration::from_millis(20)).await;
            }
        });
        store.collect_garbage_every(Duration::from_secs(3));
        Node { runtime, proxy, store }
    }
}

#[test]
fn three_nodes_that_die_and_are_cut_off_lose_and_double_nothing() {
    let seconds = std::env::var("PERCOSQL_CHAOS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    let town = Town::new();
    let hall = town.town_hall();
    let env: EnvRef = SystemEnv::new(town.runtime.handle().clone());
    let opening = hall.begin(TransactionOptions::default());
    town.runtime.block_on(async {
        let accounts = (0..ACCOUNTS).map(|number| put(&account(number), &OPENING.to_string()));
        opening.write(accounts.collect()).await.unwrap();
        opening.commit().await.unwrap();
    });
    let sleep = |millis: u64| town.runtime.block_on(env.sleep(Duration::from_millis(millis)));
    let mut nodes: Vec<Node> = (0..3).map(|_| town.node()).collect();
    let until = env.monotonic() + Duration::from_secs(seconds);
    let (mut deaths, mut cuts) = (0, 0);
    while env.monotonic() < until {
        sleep(300 + env.random() % 700);
        let at = env.random() as usize % nodes.len();
        if env.random().is_multiple_of(2) {
            let dead = std::mem::replace(&mut nodes[at], town.node());
            dead.runtime.shutdown_background();
            deaths += 1;
        } else {
            nodes[at].proxy.pause();
            sleep(1500 + env.random() % 1500);
            nodes[at].proxy.resume();
            cuts += 1;
        }
    }
    town.ledger.over.store(true, Ordering::SeqCst);
    for node in &nodes {
        node.proxy.set(|_| Fault::None);
    }
    // Delayed requests arrive, and locks without owners expire.
    sleep(5000);
    let ledger = &town.ledger;
    let last = nodes[0].store.clone();
    town.runtime.block_on(async {
        audit(&last, ledger).await.unwrap();
        let reader = last.begin(TransactionOptions::default());
        let range = RowRange::prefix(key("receipt"));
        let receipts = scan(&reader, range, TxnScanOptions::default(), OwnWrites::All).await;
        let receipts: BTreeMap<String, String> = receipts.into_iter().collect();
        let told = ledger.told.lock().clone();
        for (receipt, told) in &told {
            if let Some(told) = told {
                assert_eq!(receipts.contains_key(receipt), *told, "{receipt} was told {told}");
            }
        }
        let mut balances = vec![OPENING; ACCOUNTS as usize];
        for moved in receipts.values() {
            let (from, to) = moved.split_once(' ').unwrap();
            balances[from.parse::<usize>().unwrap()] -= 1;
            balances[to.parse::<usize>().unwrap()] += 1;
        }
        for (number, balance) in (0..).zip(balances) {
            assert_eq!(get(&reader, &account(number)).await, Some(balance.to_string()), "{}", account(number));
        }
        let undetermined = ledger.undetermined.lock().clone();
        for (receipt, start_ts) in &undetermined {
            match last.outcome(*start_ts).await.unwrap() {
                Outcome::Committed(_) => assert!(receipts.contains_key(receipt)),
                Outcome::Aborted => assert!(!receipts.contains_key(receipt)),
                Outcome::Forgotten => {}
                Outcome::InProgress => panic!("{receipt} is still in progress"),
            }
        }
        // The first reader of an expired lock removes it.
        drop(scan(&reader, RowRange::all(), TxnScanOptions::default(), OwnWrites::All).await);
        env.sleep(Duration::from_secs(1)).await;
        let filter = ReadFilter::new().with(Family::Lock, TimestampRange::ALL, usize::MAX);
        let locks: Vec<_> =
            futures::StreamExt::collect(hall.store().scan(RowRange::all(), filter, ScanOptions::default())).await;
        let left: usize = locks.into_iter().map(|batch| batch.unwrap().len()).sum();
        assert_eq!(left, 0, "locks are left");
        let acknowledged = told.values().filter(|told| **told == Some(true)).count();
        let refused = told.values().filter(|told| **told == Some(false)).count();
        let audits = ledger.audits.load(Ordering::SeqCst);
        println!(
            "{deaths} deaths, {cuts} cuts; {acknowledged} transfers acknowledged, {refused} refused, {} not told; \
             {} undetermined asked about; {audits} audits; safe point moved: {}",
            told.len() - acknowledged - refused,
            undetermined.len(),
            last.safe_point() > Timestamp::ZERO,
        );
        assert!(acknowledged > 50 && audits > 50);
    });
    assert_eq!(*ledger.faults.lock(), Vec::<String>::new());
    for node in nodes {
        node.runtime.shutdown_background();
    }
    drop(hall);
    town.runtime.shutdown_background();
}
