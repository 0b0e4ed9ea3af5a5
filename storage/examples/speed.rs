//! Measures the embedded engine on this machine: load, point reads, scans, synced commits, reopening.
//!
//! cargo run --release -p percosql-storage --example speed -- FOLDER
//!
//! The folder must not hold a store yet. The example leaves its store there.
// A measuring program uses the real clock, and fails by panicking.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::disallowed_methods)]

use bytes::Bytes;
use futures::StreamExt;
use percosql_storage::testing::CountingTimestamps;
use percosql_storage::{
    AtomicCommit, ClassRange, CommitBatch, CommitCell, CommitCondition, EmbeddedOptions, EmbeddedStore, EnvRef, Family,
    ReadFilter, RowRange, ScanOptions, Stamp, Store, SystemEnv, Timestamp, TimestampRange,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROWS: u64 = 1_000_000;
const READS: u64 = 200_000;
const VALUE: [u8; 100] = [b'v'; 100];

fn open(folder: &Path, env: &EnvRef) -> Arc<EmbeddedStore> {
    let timestamps = Arc::new(CountingTimestamps::after(Timestamp(1)));
    let store =
        EmbeddedStore::open(folder, timestamps.clone(), env.clone(), EmbeddedOptions::default()).expect("a store");
    timestamps.raise(store.recovered_max_timestamp());
    store
}

/// Keys of one table in random order, as hashed keys are.
fn key(table: u8, number: u64) -> Bytes {
    let mut key = vec![b't', 0, 0, table];
    key.extend(number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    Bytes::from(key)
}

/// A commit of rows as `txn` makes it, on condition that they have no newer write and no lock.
fn batch(table: u8, numbers: std::ops::Range<u64>, snapshot: Timestamp) -> CommitBatch {
    let mut batch = CommitBatch { publishes: true, durable: true, ..CommitBatch::default() };
    for number in numbers {
        for (family, none_after) in [(Family::Write, snapshot), (Family::Rollback, snapshot)] {
            let key = key(table, number);
            batch.conditions.push(CommitCondition { key, family, none_after, class: ClassRange::ANY });
        }
        let value = Some(Bytes::from_static(&VALUE));
        batch.cells.push(CommitCell { key: key(table, number), family: Family::Write, stamp: Stamp::AtCommit, value });
    }
    batch
}

async fn commit(store: &EmbeddedStore, table: u8, numbers: std::ops::Range<u64>) {
    let atomic = store.atomic().expect("the capability");
    atomic.commit_atomic(batch(table, numbers, atomic.published())).await.expect("a commit").expect("no conflict");
}

fn say(what: &str, count: u64, elapsed: Duration) {
    println!("{what:<34}{:>12.0} /s", count as f64 / elapsed.as_secs_f64());
}

async fn reads(store: &EmbeddedStore, name: &str, filter: &ReadFilter) {
    for at_once in [1, 100] {
        let begin = Instant::now();
        for first in (0..READS).step_by(at_once) {
            let keys: Vec<Bytes> = (first..first + at_once as u64).map(|number| key(1, number * 7919 % ROWS)).collect();
            assert_eq!(store.read(&keys, filter).await.expect("a read").len(), at_once);
        }
        say(&format!("rows read, {at_once} at once, {name}"), READS, begin.elapsed());
    }
    for reverse in [false, true] {
        let begin = Instant::now();
        let options = ScanOptions { reverse, ..ScanOptions::default() };
        let mut batches = store.scan(RowRange::all(), filter.clone(), options);
        let mut rows = 0;
        while let Some(batch) = batches.next().await {
            rows += batch.expect("a scan").len() as u64;
        }
        say(&format!("rows scanned, {}{name}", if reverse { "backwards, " } else { "" }), rows, begin.elapsed());
    }
}

async fn commits(store: &Arc<EmbeddedStore>, clients: u64) {
    let each = 20_000 / clients;
    let begin = Instant::now();
    let tasks = (0..clients).map(|client| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in client * each..(client + 1) * each {
                commit(&store, 1 + clients as u8, number..number + 1).await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("a client");
    }
    say(&format!("synced commits, {clients} clients"), each * clients, begin.elapsed());
}

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let folder = Path::new(&folder);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let env: EnvRef = SystemEnv::new(runtime.handle().clone());
    let store = open(folder, &env);
    let begin = Instant::now();
    runtime.block_on(async {
        for first in (0..ROWS).step_by(1000) {
            commit(&store, 1, first..first + 1000).await;
        }
    });
    say("rows loaded, 1000 a commit", ROWS, begin.elapsed());
    let up_to = TimestampRange::up_to(store.published());
    let lean = ReadFilter::new().with(Family::Write, up_to, 1);
    let with_locks = lean.clone().with(Family::Lock, up_to, 1);
    for (name, filter) in [("writes", &lean), ("writes and locks", &with_locks)] {
        runtime.block_on(reads(&store, name, filter));
    }
    for clients in [1, 16, 64] {
        runtime.block_on(commits(&store, clients));
    }
    drop(store);
    let begin = Instant::now();
    drop(open(folder, &env));
    println!("{:<34}{:>12.2} s", "reopened", begin.elapsed().as_secs_f64());
}
