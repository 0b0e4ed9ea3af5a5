//! Basic behaviour of transactions, on every commit path.

use super::harness::*;
use crate::*;
use bytes::Bytes;
use futures::StreamExt;
use std::time::Duration;
use storage::{Family, RowRange};

fn all() -> RowRange {
    RowRange { start: Bytes::new(), end: Some(Bytes::from_static(b"\xff")) }
}

#[test]
fn commits_and_reads_back() {
    on_every_path(|world| async move {
        assert_eq!(world.value("a").await, None);
        let first = world.set("a", "1").await;
        let second = world.set("a", "2").await;
        assert!(second > first);
        assert_eq!(world.value("a").await.as_deref(), Some("2"));
        let transaction = world.begin();
        transaction.write(vec![delete("a")]).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(world.value("a").await, None);
    });
}

#[test]
fn reads_its_own_writes_and_only_earlier_commands() {
    on_every_path(|world| async move {
        world.set("b", "old").await;
        world.set("d", "old").await;
        let transaction = world.begin();
        transaction.write(vec![put("a", "1"), put("c", "3"), delete("d")]).await.unwrap();
        let own = OwnWrites::Before(transaction.command());
        assert_eq!(transaction.get(b"a", own).await.unwrap(), None);
        let command = transaction.advance_command();
        let own = OwnWrites::Before(command);
        transaction.write(vec![put("e", "5")]).await.unwrap();
        let forward = scan(&transaction, all(), TxnScanOptions::default(), own).await;
        let keys: Vec<_> = forward.iter().map(|pair| pair.0.as_str()).collect();
        assert_eq!(keys, ["a", "b", "c"]);
        if world.raw.can_scan_reverse() {
            let options = TxnScanOptions { reverse: true, batch_rows: 1, limit: Some(3), ..TxnScanOptions::default() };
            let backward = scan(&transaction, all(), options, OwnWrites::All).await;
            let keys: Vec<_> = backward.iter().map(|pair| pair.0.as_str()).collect();
            assert_eq!(keys, ["e", "c", "b"]);
        }
        let values = transaction.get_many(&[key("d"), key("b"), key("a"), key("x")], OwnWrites::All).await.unwrap();
        assert_eq!(values, [None, Some(key("old")), Some(key("1")), None]);
    });
}

#[test]
fn a_scan_merges_in_every_batch_size_and_limit() {
    on_every_path(|world| async move {
        let transaction = world.begin();
        for i in (0..60).step_by(2) {
            transaction.write(vec![put(&format!("k{i:02}"), "stored")]).await.unwrap();
        }
        transaction.commit().await.unwrap();
        let transaction = world.begin();
        for i in (0..60).step_by(3) {
            let write = if i % 4 == 0 { delete(&format!("k{i:02}")) } else { put(&format!("k{i:02}"), "own") };
            transaction.write(vec![write]).await.unwrap();
        }
        let expected: Vec<(String, String)> = (0..60)
            .filter_map(|i| match (i % 3, i % 2, i % 4) {
                (0, _, 0) => None,
                (0, _, _) => Some((format!("k{i:02}"), "own".to_owned())),
                (_, 0, _) => Some((format!("k{i:02}"), "stored".to_owned())),
                _ => None,
            })
            .collect();
        for reverse in [false, true] {
            if reverse && !world.raw.can_scan_reverse() {
                continue;
            }
            for batch_rows in [1, 2, 7, 1000] {
                for limit in [None, Some(1), Some(5), Some(1000)] {
                    let options = TxnScanOptions { reverse, batch_rows, limit, ..TxnScanOptions::default() };
                    let mut expected = expected.clone();
                    if reverse {
                        expected.reverse();
                    }
                    expected.truncate(limit.unwrap_or(usize::MAX));
                    assert_eq!(scan(&transaction, all(), options, OwnWrites::All).await, expected, "{options:?}");
                }
            }
        }
    });
}

#[test]
fn ranges_are_read_as_if_each_were_scanned() {
    on_every_path(|world| async move {
        let transaction = world.begin();
        for i in 0..400 {
            transaction.write(vec![put(&format!("k{i:03}"), "stored")]).await.unwrap();
        }
        transaction.commit().await.unwrap();
        world.set("k012", "later").await;
        let gone = world.begin();
        gone.write(vec![delete("k021")]).await.unwrap();
        gone.commit().await.unwrap();
        let bounds =
            [("k00", "k003"), ("k010", "k015"), ("k015", "k015x"), ("k02", "k03"), ("k05", "k39"), ("k399", "l")];
        let ranges: Vec<RowRange> =
            bounds.iter().map(|(start, end)| RowRange { start: key(start), end: Some(key(end)) }).collect();
        for writes in [vec![], vec![put("k011", "own"), delete("k399")], vec![put("a", "own")]] {
            let transaction = world.begin();
            transaction.write(writes).await.unwrap();
            for batch_rows in [1, 5, 1000] {
                let options = TxnScanOptions { batch_rows, ..TxnScanOptions::default() };
                let mut expected = Vec::new();
                for range in &ranges {
                    expected.extend(scan(&transaction, range.clone(), options, OwnWrites::All).await);
                }
                let mut found = Vec::new();
                let mut batches = transaction.scan_ranges(ranges.clone(), batch_rows, OwnWrites::All);
                while let Some(batch) = batches.next().await {
                    let batch = batch.unwrap();
                    assert!(batch.len() <= batch_rows);
                    found.extend(texts(batch.into_list()));
                }
                assert_eq!(found, expected);
                assert!(found.len() > 350);
            }
        }
    });
}

#[test]
fn the_first_pairs_are_those_of_a_scan_or_are_left_to_one() {
    on_every_path(|world| async move {
        let transaction = world.begin();
        for i in 0..30 {
            transaction.write(vec![put(&format!("k{i:03}"), "stored")]).await.unwrap();
        }
        transaction.commit().await.unwrap();
        let gone = world.begin();
        gone.write(vec![delete("k012"), delete("k029")]).await.unwrap();
        gone.commit().await.unwrap();
        // The bounds, the limit, the direction, and whether a deleted pair is in the way.
        let cases = [
            ("k000", "k010", 3, false, false),
            ("k000", "k010", 3, true, false),
            ("k000", "k003", 3, false, false),
            ("k000", "k003", 64, false, false),
            ("k000", "k003", 64, true, false),
            ("k03", "k04", 5, true, false),
            ("k02", "k02", 5, false, false),
            ("k000", "k010", 0, false, false),
            ("k010", "k020", 4, false, true),
            ("k010", "k013", 2, true, true),
            ("k02", "k03", 1, true, true),
        ];
        for writes in [vec![], vec![put("k001x", "own"), delete("k008")], vec![put("a", "own")]] {
            let own = writes.len();
            let transaction = world.begin();
            transaction.write(writes).await.unwrap();
            for (start, end, most, reverse, in_the_way) in cases {
                if reverse && !world.raw.can_scan_reverse() {
                    continue;
                }
                let range = RowRange { start: key(start), end: Some(key(end)) };
                let options = TxnScanOptions { reverse, limit: Some(most), ..TxnScanOptions::default() };
                let expected = scan(&transaction, range.clone(), options, OwnWrites::All).await;
                let found = transaction.first_pairs(range, most, reverse, OwnWrites::All).await.unwrap();
                let ours = own == 2 && start == "k000" && most > 0;
                assert_eq!(found.is_none(), in_the_way || ours, "{start} {end} {most} {reverse}");
                let Some(found) = found else { continue };
                let found: Vec<_> = texts(found.into_list()).collect();
                assert_eq!(found, expected, "{start} {end} {most} {reverse}");
            }
        }
    });
}

#[test]
fn a_snapshot_does_not_move() {
    on_every_path(|world| async move {
        world.set("a", "1").await;
        let reader = world.begin();
        let ts = reader.snapshot_ts().await.unwrap();
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        world.set("a", "2").await;
        world.set("b", "2").await;
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        assert_eq!(get(&reader, "b").await, None);
        assert_eq!(reader.commit().await.unwrap(), ts);
        assert_eq!(world.value("a").await.as_deref(), Some("2"));
    });
}

#[test]
fn the_first_committer_wins() {
    on_every_path(|world| async move {
        world.set("a", "0").await;
        let (one, two) = (world.begin(), world.begin());
        one.snapshot_ts().await.unwrap();
        two.snapshot_ts().await.unwrap();
        one.write(vec![update("a", "1")]).await.unwrap();
        two.write(vec![update("a", "2")]).await.unwrap();
        one.commit().await.unwrap();
        match two.commit().await {
            Err(TxnError::Conflict(conflict)) => {
                assert_eq!((conflict.key, conflict.kind), (key("a"), ConflictKind::Write));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(world.value("a").await.as_deref(), Some("1"));
    });
}

#[test]
fn a_key_that_had_to_stay_unchanged_conflicts() {
    on_every_path(|world| async move {
        world.set("descriptor", "1").await;
        let writer = world.begin();
        writer.snapshot_ts().await.unwrap();
        writer.require_unchanged(key("descriptor"));
        writer.write(vec![put("row", "1")]).await.unwrap();
        world.set("descriptor", "2").await;
        let kind = conflict_kind(writer.commit().await);
        assert!(matches!(kind, Some(ConflictKind::Condition | ConflictKind::Write)), "{kind:?}");
        let writer = world.begin();
        writer.require_unchanged(key("descriptor"));
        writer.write(vec![put("row", "1")]).await.unwrap();
        writer.commit().await.unwrap();
    });
}

#[test]
fn rollback_to_and_rollback() {
    on_every_path(|world| async move {
        let transaction = world.begin();
        transaction.write(vec![put("a", "1")]).await.unwrap();
        let savepoint = transaction.advance_command();
        transaction.write(vec![put("a", "2"), put("b", "2")]).await.unwrap();
        transaction.rollback_to(savepoint).await.unwrap();
        assert_eq!(get(&transaction, "a").await.as_deref(), Some("1"));
        transaction.write(vec![put("c", "3")]).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(world.value("a").await.as_deref(), Some("1"));
        assert_eq!(world.value("b").await, None);
        assert_eq!(world.value("c").await.as_deref(), Some("3"));
        let transaction = world.begin();
        transaction.write(vec![put("a", "9")]).await.unwrap();
        transaction.rollback().await;
        assert!(transaction.write(vec![put("a", "9")]).await.is_err());
        assert_eq!(world.value("a").await.as_deref(), Some("1"));
    });
}

#[test]
fn a_dropped_transaction_releases_its_snapshot() {
    on_paths(&[Path::OnePhase, Path::Embedded], |world| async move {
        world.set("a", "1").await;
        let reader = world.begin();
        let ts = reader.snapshot_ts().await.unwrap();
        world.set("a", "2").await;
        world.advance(Duration::from_secs(3 * 3600));
        assert_eq!(world.store.collect_garbage().await.unwrap().safe_point, ts);
        drop(reader);
        assert!(world.store.collect_garbage().await.unwrap().safe_point > ts);
    });
}

#[test]
fn read_only_transactions_refuse_writes() {
    on_every_path(|world| async move {
        let options = TransactionOptions { read_only: true, ..TransactionOptions::default() };
        let reader = world.store.begin(options);
        assert!(matches!(reader.write(vec![put("a", "1")]).await, Err(TxnError::Invalid(_))));
    });
}

#[test]
fn long_values_take_the_data_family() {
    on_every_path(|world| async move {
        let long = "x".repeat(5000);
        world.set("a", &long).await;
        world.settle().await;
        assert_eq!(world.value("a").await, Some(long.clone()));
        let pairs = scan(&world.begin(), all(), TxnScanOptions::default(), OwnWrites::All).await;
        assert_eq!(pairs, [("a".to_owned(), long)]);
    });
}

#[test]
fn a_transaction_that_asked_for_its_identity_can_be_asked_about() {
    on_every_path(|world| async move {
        let (one, two) = (world.begin(), world.begin());
        let (first, second) = (one.start_ts().await.unwrap(), two.start_ts().await.unwrap());
        assert!(second > first);
        one.write(vec![put("a", "1")]).await.unwrap();
        assert_eq!(world.store.outcome(first).await.unwrap(), Outcome::InProgress);
        let commit_ts = one.commit().await.unwrap();
        world.settle().await;
        assert_eq!(world.store.outcome(first).await.unwrap(), Outcome::Committed(commit_ts));
        drop(two);
        assert_eq!(world.store.outcome(second).await.unwrap(), Outcome::Aborted);
    });
}

#[test]
fn a_spilled_transaction_commits() {
    for path in [Path::Embedded, Path::ByRow, Path::Bigtable] {
        let folder = tempfile::tempdir().unwrap();
        let env = storage::testing::SimEnv::new(7);
        let spill_dir = Some(folder.path().to_owned());
        let options = TransactionStoreOptions { spill_dir, buffer_limit_bytes: 20_000, ..options(path) };
        let for_world = env.clone();
        let work = async move {
            let world = World::with(for_world, path, options).await;
            let transaction = world.begin();
            for i in 0..9000 {
                transaction.write(vec![put(&format!("k{i:05}"), "v")]).await.unwrap();
            }
            assert!(transaction.stats().spilled);
            assert_eq!(get(&transaction, "k00001").await.as_deref(), Some("v"));
            transaction.commit().await.unwrap();
            let reader = world.begin();
            assert_eq!(scan(&reader, all(), TxnScanOptions::default(), OwnWrites::All).await.len(), 9000);
            world.settle().await;
            assert_eq!(scan(&reader, all(), TxnScanOptions::default(), OwnWrites::All).await.len(), 9000);
        };
        env.block_on(work).unwrap();
    }
}

#[test]
fn a_row_of_more_versions_than_are_looked_at_at_a_time_is_collected_whole() {
    on_every_path(|world| async move {
        for number in 0..20 {
            world.set("kept", &number.to_string()).await;
            world.set("gone", &number.to_string()).await;
        }
        let transaction = world.begin();
        transaction.write(vec![delete("gone")]).await.unwrap();
        transaction.commit().await.unwrap();
        world.settle().await;
        world.advance(Duration::from_secs(3 * 3600));
        world.store.collect_garbage().await.unwrap();
        let versions = |name: &str| {
            let rows = world.dump();
            rows.iter().filter(|row| row.key == name).map(|row| row.family(Family::Write).count()).sum::<usize>()
        };
        assert_eq!((versions("kept"), versions("gone")), (1, 0));
        assert_eq!((world.value("kept").await.as_deref(), world.value("gone").await), (Some("19"), None));
    });
}
