//! Garbage collection where several nodes share the rows.

use super::harness::*;
use super::hooked::{Call, Fate};
use super::nodes::*;
use crate::*;
use std::sync::Arc;
use std::time::Duration;
use storage::{Env, Family, RowRange, Timestamp};

const HOUR: Duration = Duration::from_secs(3600);
fn versions(world: &World, name: &str) -> usize {
    let rows = world.dump();
    rows.iter().filter(|row| row.key == name).map(|row| row.family(Family::Write).count()).sum()
}

/// A transaction that reads the past.
fn past(world: &World, ts: Timestamp) -> Arc<Transaction> {
    world.store.begin(TransactionOptions { as_of: Some(ts), ..TransactionOptions::default() })
}

/// Lets time pass, with background work.
async fn pass(world: &World, duration: Duration) {
    world.env.sleep(duration).await;
}

#[test]
fn one_node_collects_at_a_time_and_another_takes_over_when_it_dies() {
    over_rows(|world, hooked| async move {
        world.set("a", "1").await;
        world.set("a", "2").await;
        world.settle().await;
        pass(&world, 2 * HOUR).await;
        let other = other_node(&world).await;
        // The first removal of the first node never ends, as if the node died there.
        hooked.set(|call| async move {
            if matches!(call, Call::ChangeMany(_)) {
                std::future::pending::<()>().await;
            }
            Fate::Done
        });
        let store = world.store.clone();
        world.env.spawn("dies", Box::pin(async move { drop(store.collect_garbage().await) }));
        pass(&world, SECOND).await;
        assert_eq!(other.store.collect_garbage().await.unwrap().rows, 0, "somebody is at it");
        assert_eq!(versions(&world, "a"), 2);
        pass(&world, 61 * SECOND).await;
        assert_eq!(other.store.collect_garbage().await.unwrap().removed, 1);
        assert_eq!(versions(&world, "a"), 1);
        // The background task does not repeat a pass that another node has just finished.
        let third = other_node(&world).await;
        assert!(third.store.begin_collecting(HOUR).await.unwrap().is_none());
        assert!(third.store.begin_collecting(Duration::ZERO).await.unwrap().is_some());
    });
}

#[test]
fn a_collector_that_lost_its_lease_removes_nothing_more() {
    over_rows(|world, hooked| async move {
        for name in ["a", "b"] {
            world.set(name, "1").await;
            world.set(name, "2").await;
        }
        world.settle().await;
        pass(&world, 2 * HOUR).await;
        let lease = world.store.begin_collecting(Duration::ZERO).await.unwrap().unwrap();
        pass(&world, 70 * SECOND).await;
        let other = other_node(&world).await;
        let taken = other.store.begin_collecting(Duration::ZERO).await.unwrap();
        assert!(taken.is_some());
        hooked.take_log();
        assert!(world.store.go_on_collecting(lease).await.unwrap().is_none());
        assert_eq!(world.store.collect_garbage().await.unwrap().removed, 0);
        assert!(hooked.take_log().iter().all(|(_, call)| !matches!(call, Call::ChangeMany(_))));
    });
}

#[test]
fn the_safe_point_is_durable_before_anything_is_removed() {
    over_rows(|world, hooked| async move {
        let old = world.set("a", "1").await;
        world.set("a", "2").await;
        world.settle().await;
        pass(&world, 2 * HOUR).await;
        hooked.take_log();
        hooked.set(|call| async move {
            match call {
                Call::ChangeMany(_) => Fate::Unavailable,
                _ => Fate::Done,
            }
        });
        assert!(world.store.collect_garbage().await.is_err());
        hooked.clear();
        let log = hooked.take_log();
        let safe_point = crate::system::safe_point_key();
        let moved = log.iter().position(|(_, call)| matches!(call, Call::Change(key, _) if *key == safe_point));
        let removed = log.iter().position(|(_, call)| matches!(call, Call::ChangeMany(_)));
        assert!(moved.unwrap() < removed.unwrap());
        assert!(world.store.begin_collecting(HOUR).await.unwrap().is_some(), "a pass that failed is soon repeated");
        // Another node refuses snapshots that may have been collected, even if it has checked the safe point before.
        let other = other_node(&world).await;
        assert!(matches!(past(&other, old).snapshot_ts().await, Err(TxnError::SnapshotTooOld { .. })));
    });
}

#[test]
fn a_lock_is_resolved_before_its_owners_record_is_collected_in_another_tablet() {
    over_rows(|world, _| async move {
        if let Some(memory) = &world.memory {
            memory.split_at(key("m"));
        }
        world.store.fail_points().set(failpoint::BEFORE_COMMIT_SECONDARY, FailAction::Stop);
        let transaction = world.begin();
        transaction.write(vec![put("a", "1"), put("z", "1")]).await.unwrap();
        transaction.commit().await.unwrap();
        world.store.fail_points().clear(failpoint::BEFORE_COMMIT_SECONDARY);
        // The primary is overwritten, and its record is shadowed.
        world.set("a", "2").await;
        let other = other_node(&world).await;
        pass(&world, 2 * HOUR).await;
        let report = other.store.collect_garbage().await.unwrap();
        assert_eq!((report.locks, versions(&world, "a")), (1, 1));
        assert_eq!(other.value("z").await.as_deref(), Some("1"));
        assert_eq!(other.value("a").await.as_deref(), Some("2"));
    });
}

#[test]
fn what_tells_the_fate_of_a_lock_stays_while_the_lock_does() {
    over_rows(|world, hooked| async move {
        world.store.fail_points().set(failpoint::BEFORE_COMMIT_SECONDARY, FailAction::Stop);
        let transaction = world.begin();
        transaction.write(vec![put("a", "1"), put("z", "1")]).await.unwrap();
        transaction.commit().await.unwrap();
        world.store.fail_points().clear(failpoint::BEFORE_COMMIT_SECONDARY);
        world.set("a", "2").await;
        let other = other_over(&world, &hooked).await;
        pass(&world, 2 * HOUR).await;
        // The locked row cannot be changed, and the answer is lost.
        hooked.set(|call| async move {
            match call {
                Call::Change(name, _) if name == "z" => Fate::LostRequest,
                _ => Fate::Done,
            }
        });
        let report = other.store.collect_garbage().await.unwrap();
        assert_eq!((report.locks, versions(&world, "a")), (0, 2));
        hooked.clear();
        // The next pass removes everything.
        let report = other.store.collect_garbage().await.unwrap();
        assert_eq!((report.locks, versions(&world, "a")), (1, 1));
        assert_eq!(other.value("z").await.as_deref(), Some("1"));
    });
}

#[test]
fn readers_of_the_past_on_another_node_are_respected_while_it_lives() {
    over_rows(|world, hooked| async move {
        let old = world.set("a", "1").await;
        world.set("a", "2").await;
        world.settle().await;
        let other = other_node(&world).await;
        pass(&world, HOUR - 600 * SECOND).await;
        let reader = past(&world, old);
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        // The history passes the snapshot while it is in use.
        pass(&world, 1200 * SECOND).await;
        let report = other.store.collect_garbage().await.unwrap();
        assert_eq!(report.safe_point, old);
        assert_eq!(versions(&world, "a"), 2);
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        // Its node can no longer renew its hold.
        hooked.set(|_| async { Fate::Unavailable });
        pass(&world, 2 * SECOND).await;
        assert_eq!(other.store.collect_garbage().await.unwrap().safe_point, old);
        pass(&world, 45 * SECOND).await;
        hooked.clear();
        assert!(other.store.collect_garbage().await.unwrap().safe_point > old);
        assert_eq!(versions(&world, "a"), 1);
        let read = reader.get(b"a", OwnWrites::All).await;
        assert!(matches!(read, Err(TxnError::SnapshotTooOld { .. })), "{read:?}");
    });
}

#[test]
fn a_reader_of_the_past_that_comes_while_the_safe_point_moves_is_refused_or_respected() {
    over_rows(|world, hooked| async move {
        let old = world.set("a", "1").await;
        world.set("a", "2").await;
        world.settle().await;
        pass(&world, 2 * HOUR).await;
        // The hold arrives after the collector has looked for holds, and before it moves the safe point.
        let other = other_node(&world).await;
        let reader = past(&other, old);
        let (in_hook, safe_point) = (reader.clone(), crate::system::safe_point_key());
        hooked.set(move |call| {
            let (reader, safe_point) = (in_hook.clone(), safe_point.clone());
            async move {
                if matches!(&call, Call::Change(key, _) if *key == safe_point) {
                    assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
                }
                Fate::Done
            }
        });
        assert_eq!(world.store.collect_garbage().await.unwrap().removed, 0);
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        hooked.clear();
        let late = past(&other, old);
        assert!(matches!(late.snapshot_ts().await, Err(TxnError::SnapshotTooOld { .. })), "one that comes later");
        reader.rollback().await;
        drop(reader);
        pass(&world, 15 * SECOND).await;
        assert_eq!(world.store.collect_garbage().await.unwrap().removed, 1);
    });
}

#[test]
fn a_named_snapshot_is_kept_until_it_is_released() {
    for path in [Path::OnePhase, Path::ByRow, Path::Bigtable] {
        on_paths(&[path], |world| async move {
            let old = world.set("a", "1").await;
            world.set("a", "2").await;
            world.settle().await;
            world.store.hold_snapshot("monthly", old).await.unwrap();
            pass(&world, 5 * HOUR).await;
            world.set("z", "tick").await;
            world.store.collect_garbage().await.unwrap();
            let again = world.reopen().await;
            assert_eq!(get(&past(&again, old), "a").await.as_deref(), Some("1"));
            assert!(again.store.release_snapshot("monthly").await.unwrap());
            assert!(!again.store.release_snapshot("monthly").await.unwrap());
            // A node that has just started does not know yet which timestamps are old.
            pass(&world, HOUR).await;
            again.store.collect_garbage().await.unwrap();
            assert_eq!(versions(&world, "a"), 1);
            let refused = again.store.hold_snapshot("monthly", old).await;
            assert!(matches!(refused, Err(TxnError::SnapshotTooOld { .. })), "{refused:?}");
            assert!(!again.store.release_snapshot("monthly").await.unwrap(), "nothing of it is left");
        });
    }
}

#[test]
fn a_node_ends_its_own_transactions_at_half_the_history() {
    over_rows(|world, _| async move {
        world.set("a", "1").await;
        let (reader, writer) = (world.begin(), world.begin());
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        writer.snapshot_ts().await.unwrap();
        writer.write(vec![update("a", "2")]).await.unwrap();
        pass(&world, HOUR / 2 + SECOND).await;
        assert!(matches!(reader.get(b"a", OwnWrites::All).await, Err(TxnError::SnapshotTooOld { .. })));
        assert!(matches!(writer.commit().await, Err(TxnError::SnapshotTooOld { .. })));
        let fresh = world.begin();
        let pairs = scan(&fresh, RowRange::prefix("a"), TxnScanOptions::default(), OwnWrites::All).await;
        assert_eq!(pairs, [("a".to_owned(), "1".to_owned())]);
    });
}

/// Another server over the same rows. Its clock shows `ahead` more when it becomes the oracle.
async fn successor(world: &World, ahead: Duration) -> World {
    world.env.jump_wall_clock(ahead.as_micros() as i64);
    let oracle = Oracle::new(world.env.clone());
    let (raw, env) = (world.raw.clone(), world.env.clone());
    let store = TransactionStore::open(raw, oracle, env, world.options.clone()).await.unwrap();
    World { store, ..world.clone() }
}

#[test]
fn a_jump_of_the_oracles_clock_takes_nothing_from_an_open_snapshot() {
    over_rows(|world, _| async move {
        let old = world.set("a", "1").await;
        let reader = world.begin();
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        world.set("a", "2").await;
        world.settle().await;
        let other = successor(&world, Duration::from_secs(61 * 60)).await;
        other.set("b", "1").await;
        for node in [&world, &other] {
            let report = node.store.collect_garbage().await.unwrap();
            assert!(report.safe_point < old && report.removed == 0, "{report:?}");
        }
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        // Versions that were older than the history before, and that nobody reads, are removed.
        pass(&world, 2 * HOUR).await;
        assert!(matches!(reader.get(b"a", OwnWrites::All).await, Err(TxnError::SnapshotTooOld { .. })));
        assert_eq!(other.store.collect_garbage().await.unwrap().removed, 1);
        assert_eq!(other.value("a").await.as_deref(), Some("2"));
    });
}

#[test]
fn a_jump_of_the_oracles_clock_ends_no_hold() {
    over_rows(|world, _| async move {
        let old = world.set("a", "1").await;
        world.set("a", "2").await;
        world.settle().await;
        // Its clock is ahead, and it has run for long enough to collect.
        let other = successor(&world, Duration::from_secs(61 * 60)).await;
        pass(&world, HOUR - 300 * SECOND).await;
        let reader = past(&world, old);
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        let report = other.store.collect_garbage().await.unwrap();
        assert_eq!((report.safe_point, report.removed), (old, 0));
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
    });
}

#[test]
fn a_node_that_is_alone_collects_what_none_of_its_readers_sees() {
    let options = TransactionStoreOptions { alone: true, ..options(Path::ByRow) };
    over_rows_with(options, |world, _| async move {
        world.set("a", "1").await;
        let reader = world.begin();
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        world.set("a", "2").await;
        world.settle().await;
        // Like a node that has just started, it takes the oracle's clock over.
        let other = successor(&world, 2 * HOUR).await;
        let again = other.begin();
        assert_eq!(get(&again, "a").await.as_deref(), Some("2"));
        assert_eq!(other.store.collect_garbage().await.unwrap().removed, 1);
        assert_eq!(get(&again, "a").await.as_deref(), Some("2"));
        // The former oracle may not know that it was replaced. It notices when the safe point
        // has passed its snapshot.
        world.store.reload_safe_point().await.unwrap();
        let read = reader.get(b"a", OwnWrites::All).await;
        assert!(matches!(read, Err(TxnError::SnapshotTooOld { .. })), "{read:?}");
    });
}
