//! Tests of the validation of reads at COMMIT, on every engine.

use super::harness::*;
use crate::*;
use bytes::Bytes;
use futures::StreamExt;
use std::sync::Arc;
use storage::{RowRange, Timestamp};

fn begin(world: &World) -> Arc<Transaction> {
    world.store.begin(TransactionOptions { isolation: Isolation::Serializable, ..TransactionOptions::default() })
}

fn range(from: &str, to: &str) -> RowRange {
    RowRange { start: key(from), end: Some(key(to)) }
}

async fn scanned(transaction: &Arc<Transaction>, range: RowRange, limit: Option<usize>, reverse: bool) -> Vec<Bytes> {
    let options = TxnScanOptions { limit, reverse, ..TxnScanOptions::default() };
    let mut found = Vec::new();
    let mut batches = transaction.scan(range, options, OwnWrites::All);
    while let Some(batch) = batches.next().await {
        found.extend(batch.unwrap().into_iter().map(|(key, _)| key));
    }
    found
}

/// A read of one transaction. Each case pairs it with another transaction's write and says whether
/// that is a conflict.
enum Read {
    Key(&'static str),
    Keys(&'static [&'static str]),
    Range(&'static str, &'static str),
    Ranges([(&'static str, &'static str); 3]),
    First(&'static str, &'static str),
    Last(&'static str, &'static str),
    /// A read with a limit that finds a number of rows in one read of the store.
    AtOnce(&'static str, &'static str, usize, usize),
    Nothing,
}

const THREE: [(&str, &str); 3] = [("a", "b"), ("bb", "c"), ("m", "n")];

const CASES: [(Read, &str, bool); 24] = [
    (Read::Key("b"), "b", true),
    (Read::Key("b"), "c", false),
    (Read::Key("x"), "x", true),
    (Read::Keys(&["a", "x", "c"]), "x", true),
    (Read::Keys(&["a", "x", "c"]), "b", false),
    (Read::Range("a", "c"), "b", true),
    (Read::Range("a", "c"), "bb", true),
    (Read::Range("a", "c"), "c", false),
    (Read::Range("m", "n"), "mm", true),
    (Read::Ranges(THREE), "a", true),
    (Read::Ranges(THREE), "b", false),
    (Read::Ranges(THREE), "bb", true),
    (Read::Ranges(THREE), "mm", true),
    (Read::First("a", "z"), "a", true),
    (Read::First("aa", "z"), "aaa", true),
    (Read::First("a", "z"), "b", false),
    (Read::Last("a", "d"), "cc", true),
    (Read::Last("a", "d"), "b", false),
    (Read::AtOnce("a", "z", 1, 1), "a", true),
    (Read::AtOnce("a", "z", 1, 1), "b", false),
    (Read::AtOnce("a", "b", 3, 1), "aa", true),
    (Read::AtOnce("y", "z", 3, 0), "yy", true),
    (Read::AtOnce("u", "v", 3, 0), "v", false),
    (Read::Nothing, "a", false),
];

#[test]
fn a_write_of_what_was_read_is_in_the_way_and_no_other() {
    on_paths(&PATHS, |world| async move {
        for (number, (read, written, in_the_way)) in CASES.iter().enumerate() {
            for name in ["a", "b", "c"] {
                world.set(name, "0").await;
            }
            for gone in ["x", "bb", "mm", "aaa", "cc"] {
                let remover = world.begin();
                remover.write(vec![delete(gone)]).await.unwrap();
                remover.commit().await.unwrap();
            }
            let transaction = begin(&world);
            transaction.snapshot_ts().await.unwrap();
            match read {
                Read::Key(name) => drop(get(&transaction, name).await),
                Read::Keys(names) => {
                    let keys: Vec<Bytes> = names.iter().map(|name| key(name)).collect();
                    drop(transaction.get_many(&keys, OwnWrites::All).await.unwrap());
                }
                Read::Range(from, to) => drop(scanned(&transaction, range(from, to), None, false).await),
                Read::Ranges(ranges) => {
                    let ranges = ranges.map(|(from, to)| range(from, to)).to_vec();
                    let pairs = transaction.scan_ranges(ranges, 1000, OwnWrites::All);
                    drop(pairs.collect::<Vec<_>>().await);
                }
                Read::First(from, to) => {
                    assert_eq!(scanned(&transaction, range(from, to), Some(1), false).await.len(), 1);
                }
                // Bigtable's emulator cannot scan backwards.
                Read::Last(from, to) if world.raw.can_scan_reverse() => {
                    assert_eq!(scanned(&transaction, range(from, to), Some(1), true).await, [key("c")]);
                }
                Read::Last(..) => continue,
                Read::AtOnce(from, to, most, found) => {
                    let first = transaction.first_pairs(range(from, to), *most, false, OwnWrites::All).await.unwrap();
                    assert_eq!(first.map(|pairs| pairs.len()), Some(*found), "case {number}");
                }
                Read::Nothing => {}
            }
            transaction.write(vec![update("own", "1")]).await.unwrap();
            world.set(written, "2").await;
            let ended = transaction.commit().await;
            assert_eq!(ended.is_err(), *in_the_way, "case {number}: {ended:?}");
            if *in_the_way {
                let Err(TxnError::Conflict(conflict)) = ended else { panic!("case {number}: {ended:?}") };
                assert_eq!((conflict.key, conflict.kind), (key(written), ConflictKind::Read), "case {number}");
            }
        }
    });
}

#[test]
fn who_only_reads_is_never_refused() {
    on_paths(&PATHS, |world| async move {
        world.set("a", "0").await;
        let transaction = begin(&world);
        get(&transaction, "a").await;
        world.set("a", "1").await;
        assert_eq!(get(&transaction, "a").await.as_deref(), Some("0"));
        transaction.commit().await.unwrap();
    });
}

/// Two transactions that read each other's writes and commit concurrently. At most one commits, in every order.
#[test]
fn write_skew_beside_each_other() {
    on_paths(&PATHS, |world| async move {
        for round in 0..4 {
            let (left, right) = (format!("l{round}"), format!("r{round}"));
            let (one, other) = (begin(&world), begin(&world));
            get(&one, &left).await;
            get(&other, &right).await;
            one.write(vec![update(&right, "1")]).await.unwrap();
            other.write(vec![update(&left, "1")]).await.unwrap();
            let (one, other) = futures::join!(one.commit(), other.commit());
            assert!(one.is_err() || other.is_err(), "round {round}: {one:?}, {other:?}");
        }
    });
}

/// The committer does not remember as far back as this snapshot, so the read ranges are read again.
#[test]
fn an_old_snapshot_is_validated_by_reading() {
    on_paths(&[Path::OnePhase, Path::Embedded], |world| async move {
        for name in ["a", "b", "c"] {
            world.set(name, "0").await;
        }
        let old: Timestamp = world.begin().snapshot_ts().await.unwrap();
        // No transaction validates now, so no write is remembered.
        world.set("b", "1").await;
        let options = TransactionOptions {
            isolation: Isolation::Serializable,
            as_of: Some(old),
            imports: true,
            ..TransactionOptions::default()
        };
        for (read, in_the_way) in [("a", false), ("b", true), ("c", false)] {
            let transaction = world.store.begin(options);
            get(&transaction, read).await;
            transaction.write(vec![update(&format!("own {read}"), "1")]).await.unwrap();
            let ended = transaction.commit().await;
            assert_eq!(ended.is_err(), in_the_way, "{read}: {ended:?}");
        }
        let transaction = world.store.begin(options);
        scanned(&transaction, range("a", "c"), None, false).await;
        transaction.write(vec![update("own", "1")]).await.unwrap();
        assert_eq!(conflict_kind(transaction.commit().await), Some(ConflictKind::Read));
    });
}

/// A read set that exceeds its memory refuses more commits, and misses no conflict.
#[test]
fn a_read_set_that_widens_loses_no_read() {
    let env = storage::testing::SimEnv::new(7);
    let shared = env.clone();
    let test = async move {
        let options = TransactionStoreOptions { read_set_bytes: 2000, ..options(Path::OnePhase) };
        let world = World::with(shared, Path::OnePhase, options).await;
        for number in (0..400).step_by(37) {
            let transaction = begin(&world);
            for read in 0..400 {
                get(&transaction, &format!("k{:04}", read * 2)).await;
            }
            transaction.write(vec![update("own", "1")]).await.unwrap();
            world.set(&format!("k{:04}", number * 2), "2").await;
            assert_eq!(conflict_kind(transaction.commit().await), Some(ConflictKind::Read), "{number}");
        }
        let transaction = begin(&world);
        for read in 0..400 {
            get(&transaction, &format!("k{:04}", read * 2)).await;
        }
        transaction.write(vec![update("own", "1")]).await.unwrap();
        world.set("another", "2").await;
        transaction.commit().await.unwrap();
    };
    env.block_on(test).unwrap();
}

/// The validation comes after writes that are under way. It must know of those too.
#[test]
fn keys_of_unfinished_commits_count() {
    on_paths(&[Path::Embedded], |world| async move {
        world.set("a", "0").await;
        let transaction = begin(&world);
        get(&transaction, "a").await;
        get(&transaction, "b").await;
        transaction.write(vec![update("own", "1")]).await.unwrap();
        let other = world.begin();
        // In two phases, the second key's record may come after the answer.
        other.write(vec![update("0 primary", "2"), update("b", "2")]).await.unwrap();
        other.commit().await.unwrap();
        assert_eq!(conflict_kind(transaction.commit().await), Some(ConflictKind::Read));
    });
}
