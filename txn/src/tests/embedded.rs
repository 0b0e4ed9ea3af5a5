//! Tests over the embedded engine: restarts, transactions larger than their memory limit, and crashes in
//! the middle of them.

use super::harness::{delete, get, key, put, scan, update};
use crate::*;
use bytes::Bytes;
use futures::StreamExt;
use std::path::Path;
use std::sync::Arc;
use storage::embedded::{EmbeddedOptions, EmbeddedStore};
use storage::{EnvRef, Family, ReadFilter, RowRange, ScanOptions, StoreRef, SystemEnv, TimestampRange};

async fn open(folder: &Path, options: &TransactionStoreOptions) -> Arc<TransactionStore> {
    let env: EnvRef = SystemEnv::current().unwrap();
    let oracle = Oracle::new(env.clone());
    let embedded_options = EmbeddedOptions { reserve_bytes: 0, ..EmbeddedOptions::default() };
    let store = EmbeddedStore::open(&folder.join("data"), oracle.clone(), env.clone(), embedded_options);
    let store: StoreRef = store.unwrap();
    TransactionStore::open(store, oracle, env, options.clone()).await.unwrap()
}

/// Runs `work` and then drops the store and everything that holds it, like a crash. Tasks that stopped halfway belong
/// to the dropped runtime.
fn run<Work: Future<Output = ()>>(work: Work) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(work);
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
}

fn options(folder: &Path) -> TransactionStoreOptions {
    TransactionStoreOptions {
        spill_dir: Some(folder.join("spill")),
        buffer_limit_bytes: 200_000,
        one_phase_limit_bytes: 100_000,
        ..TransactionStoreOptions::default()
    }
}

const ROWS: usize = 12_000;

async fn write_many(store: &Arc<TransactionStore>, value: &str) -> Arc<Transaction> {
    let transaction = store.begin(TransactionOptions::default());
    for start in (0..ROWS).step_by(500) {
        let writes = (start..start + 500).map(|i| put(&format!("k{:08}", (i * 7919) % ROWS), value)).collect();
        transaction.write(writes).await.unwrap();
    }
    assert!(transaction.stats().spilled);
    transaction
}

async fn count(store: &Arc<TransactionStore>, value: &str) -> usize {
    let reader = store.begin(TransactionOptions { read_only: true, ..TransactionOptions::default() });
    let pairs = scan(&reader, RowRange::prefix("k"), TxnScanOptions::default(), OwnWrites::All).await;
    pairs.iter().filter(|pair| pair.1 == value).count()
}

#[test]
fn commits_survive_a_restart_and_timestamps_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut last = storage::Timestamp::ZERO;
    for round in 0..3 {
        run(async {
            let store = open(folder.path(), &options(folder.path())).await;
            let transaction = store.begin(TransactionOptions::default());
            if round > 0 {
                let expected = format!("{}", round - 1);
                assert_eq!(get(&transaction, "a").await.as_deref(), Some(expected.as_str()));
            }
            transaction.write(vec![put("a", &format!("{round}")), delete("b")]).await.unwrap();
            let commit_ts = transaction.commit().await.unwrap();
            assert!(commit_ts > last);
            last = commit_ts;
            // A two-phase commit directly after a one-phase commit of the same key.
            let transaction = store.begin(TransactionOptions::default());
            transaction.write(vec![update("a", &format!("{round}")), put("long", &"x".repeat(150_000))]).await.unwrap();
            last = transaction.commit().await.unwrap();
        });
    }
}

#[test]
fn a_transaction_larger_than_its_memory_commits_and_a_crash_half_way_shows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    run(async {
        let store = open(folder.path(), &options).await;
        write_many(&store, "first").await.commit().await.unwrap();
        assert_eq!(count(&store, "first").await, ROWS);
    });
    // A crash after every lock was written.
    run(async {
        let store = open(folder.path(), &options).await;
        assert_eq!(count(&store, "first").await, ROWS);
        store.fail_points().set(failpoint::BEFORE_COMMIT_PRIMARY, FailAction::Stop);
        let transaction = write_many(&store, "second").await;
        let commit = tokio::time::timeout(std::time::Duration::from_secs(2), transaction.commit());
        assert!(commit.await.is_err());
        assert_eq!(count(&store, "first").await, ROWS);
        assert_eq!(count(&store, "second").await, 0);
    });
    // A crash after the primary committed and before any secondary. The commit was acknowledged, so all of
    // it must be there.
    run(async {
        let store = open(folder.path(), &options).await;
        assert_eq!(count(&store, "first").await, ROWS);
        assert_eq!(count(&store, "second").await, 0);
        store.fail_points().set(failpoint::BEFORE_COMMIT_SECONDARY, FailAction::Stop);
        write_many(&store, "third").await.commit().await.unwrap();
        assert_eq!(count(&store, "third").await, ROWS);
    });
    run(async {
        let store = open(folder.path(), &options).await;
        assert_eq!(count(&store, "third").await, ROWS);
        // The background work of a restart neither blocks writers nor hides anything.
        let transaction = store.begin(TransactionOptions::default());
        transaction.write(vec![update("k00000007", "third")]).await.unwrap();
        transaction.commit().await.unwrap();
        finished(&store).await;
        assert_eq!(count(&store, "third").await, ROWS);
    });
    let left = std::fs::read_dir(folder.path().join("spill")).unwrap().count();
    assert_eq!(left, 0, "temporary files are gone");
}

/// Waits until the background work after a crash is finished.
async fn finished(store: &Arc<TransactionStore>) {
    let begin = std::time::Instant::now();
    while !store.intents.is_lean(storage::Timestamp::MAX) || !store.intents.finished().is_empty() {
        assert!(begin.elapsed() < std::time::Duration::from_secs(60), "the restart never finished it");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

/// The number of rows in the store, and of cells that are not write records.
async fn stored(store: &Arc<TransactionStore>, prefix: &'static str) -> (usize, usize) {
    let all = Family::ALL.into_iter();
    let filter = all.fold(ReadFilter::new(), |filter, family| filter.with(family, TimestampRange::ALL, usize::MAX));
    let mut rows = store.store().scan(RowRange::prefix(prefix), filter, ScanOptions::default());
    let (mut found, mut others) = (0, 0);
    while let Some(batch) = rows.next().await {
        for row in batch.unwrap() {
            found += 1;
            others += row.cells.iter().filter(|cell| cell.family != Family::Write).count();
        }
    }
    (found, others)
}

async fn make(store: &Arc<TransactionStore>, prefix: &'static str, known: &str) -> Arc<Transaction> {
    let transaction = store.begin(TransactionOptions::default());
    transaction.snapshot_ts().await.unwrap();
    transaction.made(RowRange::prefix(prefix));
    transaction.write(vec![put("z-definition", known)]).await.unwrap();
    for start in (0..ROWS).step_by(500) {
        let writes = (start..start + 500).map(|i| put(&format!("{prefix}{i:08}"), "value")).collect();
        transaction.write(writes).await.unwrap();
    }
    transaction.write(vec![delete(&format!("{prefix}00000001"))]).await.unwrap();
    transaction
}

#[test]
fn rows_that_nobody_else_knows_are_written_once_and_go_with_their_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    const LEFT: usize = ROWS - 1;
    run(async {
        let store = open(folder.path(), &options).await;
        make(&store, "one/", "one").await.commit().await.unwrap();
        assert_eq!(stored(&store, "one/").await, (LEFT, 0), "no lock, no value beside");
        let reader = store.begin(TransactionOptions::default());
        assert_eq!(get(&reader, "z-definition").await.as_deref(), Some("one"));
        let pairs = scan(&reader, RowRange::prefix("one/"), TxnScanOptions::default(), OwnWrites::All).await;
        assert_eq!(pairs.len(), LEFT);
        // Refused after all rows were written: another transaction has changed the definition, whose key is the last.
        let refused = make(&store, "two/", "two").await;
        let other = store.begin(TransactionOptions::default());
        other.write(vec![put("z-definition", "other")]).await.unwrap();
        other.commit().await.unwrap();
        assert!(matches!(refused.commit().await, Err(TxnError::Conflict(_))));
        assert_eq!(stored(&store, "two/").await, (0, 0));
        // After that the row is an ordinary one.
        let writer = store.begin(TransactionOptions::default());
        writer.write(vec![update("one/00000002", "changed")]).await.unwrap();
        writer.commit().await.unwrap();
        let (first, second) = (store.begin(TransactionOptions::default()), store.begin(TransactionOptions::default()));
        for (transaction, value) in [(&first, "a"), (&second, "b")] {
            assert_eq!(get(transaction, "one/00000002").await.as_deref(), Some("changed"));
            transaction.write(vec![update("one/00000002", value)]).await.unwrap();
        }
        first.commit().await.unwrap();
        assert!(matches!(second.commit().await, Err(TxnError::Conflict(_))));
    });
    // A crash after every row was written.
    run(async {
        let store = open(folder.path(), &options).await;
        store.fail_points().set(failpoint::BEFORE_COMMIT_PRIMARY, FailAction::Stop);
        let transaction = make(&store, "three/", "three").await;
        let commit = tokio::time::timeout(std::time::Duration::from_secs(2), transaction.commit());
        assert!(commit.await.is_err());
        assert_eq!(stored(&store, "three/").await.0, LEFT);
    });
    // A crash after the commit and before any clean-up.
    run(async {
        let store = open(folder.path(), &options).await;
        finished(&store).await;
        assert_eq!(stored(&store, "three/").await, (0, 0), "the start took them away");
        assert_eq!(stored(&store, "one/").await, (LEFT, 0));
        store.fail_points().set(failpoint::BEFORE_COMMIT_SECONDARY, FailAction::Stop);
        make(&store, "four/", "four").await.commit().await.unwrap();
    });
    run(async {
        let store = open(folder.path(), &options).await;
        assert_eq!(stored(&store, "four/").await, (LEFT, 0));
        let reader = store.begin(TransactionOptions::default());
        assert_eq!(get(&reader, "z-definition").await.as_deref(), Some("four"));
    });
}

#[test]
fn many_writers_of_one_counter_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let store = open(folder.path(), &options(folder.path())).await;
        let workers: Vec<_> = (0..8)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move {
                    let mut done = 0;
                    while done < 25 {
                        let transaction = store.begin(TransactionOptions::default());
                        let value = get(&transaction, "counter").await.map_or(0, |text| text.parse::<u64>().unwrap());
                        // Every fifth commit takes two phases, because its value is too long for one.
                        let mut writes = vec![update("counter", &format!("{}", value + 1))];
                        if done % 5 == 0 {
                            writes.push(put("long", &"x".repeat(120_000)));
                        }
                        transaction.write(writes).await.unwrap();
                        match transaction.commit().await {
                            Ok(_) => done += 1,
                            Err(TxnError::Conflict(_)) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.await.unwrap();
        }
        let reader = store.begin(TransactionOptions::default());
        assert_eq!(get(&reader, "counter").await.as_deref(), Some("200"));
        drop(reader);
        store.collect_garbage().await.unwrap();
        let range = RowRange { start: key("counter"), end: Some(Bytes::from_static(b"counter\x00")) };
        let reader = store.begin(TransactionOptions::default());
        assert_eq!(scan(&reader, range, TxnScanOptions::default(), OwnWrites::All).await.len(), 1);
    });
}

#[test]
fn what_was_written_since_the_snapshot_is_known_before_commit() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let store = open(folder.path(), &TransactionStoreOptions::default()).await;
        let write = async |name: &str, value: &str| {
            let transaction = store.begin(TransactionOptions::default());
            transaction.write(vec![put(name, value)]).await.unwrap();
            transaction.commit().await.unwrap()
        };
        for name in ["a", "b"] {
            write(name, "1").await;
        }
        let keys = [key("b"), key("absent"), key("a")];
        for isolation in [Isolation::Snapshot, Isolation::Serializable, Isolation::ReadCommitted] {
            let early = store.begin(TransactionOptions { isolation, ..TransactionOptions::default() });
            // It reads one of the rows, and not the other.
            assert!(get(&early, "a").await.is_some());
            assert_eq!(early.changed_since(&keys).await.unwrap(), None);
            let found = write("a", "2").await;
            let changed = early.changed_since(&keys).await.unwrap();
            if isolation == Isolation::ReadCommitted {
                assert_eq!(changed, None, "its next statement sees that");
                continue;
            }
            let changed = changed.unwrap();
            assert_eq!((changed.key, changed.found), (key("a"), found));
            assert!(changed.snapshot_ts < found);
            early.write(vec![update("a", "3")]).await.unwrap();
            assert!(matches!(early.commit().await, Err(TxnError::Conflict(_))), "COMMIT says so too");
            let late = store.begin(TransactionOptions { isolation, ..TransactionOptions::default() });
            assert_eq!(late.changed_since(&keys).await.unwrap(), None);
        }
    });
}

/// Resident memory of this process, in bytes.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

/// Takes a minute in the test profile: `cargo test -p percosql-txn -- --ignored million`.
#[test]
#[ignore = "takes a minute"]
fn a_transaction_of_a_million_rows_commits_in_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let options = TransactionStoreOptions { buffer_limit_bytes: 32 << 20, ..options(folder.path()) };
        let store = open(folder.path(), &options).await;
        let before = resident_bytes();
        let transaction = store.begin(TransactionOptions::default());
        let started = std::time::Instant::now();
        for start in (0..1_000_000u32).step_by(1000) {
            let writes = (start..start + 1000).map(|i| put(&format!("k{i:08}"), &"v".repeat(100))).collect();
            transaction.write(writes).await.unwrap();
        }
        eprintln!("buffered after {:?}, {} MB more", started.elapsed(), (resident_bytes() - before) >> 20);
        transaction.commit().await.unwrap();
        eprintln!("committed after {:?}, {} MB more", started.elapsed(), (resident_bytes() - before) >> 20);
        let range = RowRange::prefix("k");
        let reader = store.begin(TransactionOptions::default());
        let mut rows = 0;
        let mut batches = reader.scan(range, TxnScanOptions::default(), OwnWrites::All);
        while let Some(batch) = futures::StreamExt::next(&mut batches).await {
            rows += batch.unwrap().len();
        }
        eprintln!("counted after {:?}", started.elapsed());
        assert_eq!(rows, 1_000_000);
        // Memtables, block cache and recent commits have limits of their own.
        assert!(resident_bytes() - before < 700 << 20);
    });
}
