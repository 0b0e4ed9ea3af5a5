//! The pitfalls of other systems (docs/protocol.md, section 5), each as a test.

use super::harness::*;
use crate::data::RecordKind;
use crate::lock::Lock;
use crate::resolver::roll_back_mutations;
use crate::write::ROLLBACK;
use crate::*;
use bytes::Bytes;
use futures::StreamExt;
use futures::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use storage::testing::SimEnv;
use storage::{Env, Family, Mutation, RowMutation, RowRange, Timestamp};

/// Plants a lock of a transaction that never returns, with its primary at `primary`.
async fn plant_lock(world: &World, name: &str, primary: &str, start_ts: Timestamp, value: &str) {
    let lock = Lock {
        strength: LockStrength::Update,
        kind: RecordKind::Put,
        primary: key(primary),
        expires_at: world.store.oracle().physical_now(),
        min_commit_ts: Timestamp::ZERO,
        inlined: Some(key(value)),
    };
    let set = Mutation::Set { family: Family::Lock, timestamp: start_ts, value: lock.encode() };
    let row = RowMutation { key: key(name), mutations: vec![set] };
    world.store.store().mutate_rows(vec![row]).await.unwrap();
}

async fn new_ts(world: &World) -> Timestamp {
    world.store.oracle().timestamp().await.unwrap().timestamp
}

#[test]
fn late_prewrite_after_rollback_is_refused() {
    // tikv#7364, #16620: the rollback record at exactly start_ts refuses it, for ever.
    on_paths(&ROWS, |world| async move {
        let late = world.begin();
        let start_ts = late.start_ts().await.unwrap();
        late.write(vec![put("a", "late")]).await.unwrap();
        // The row of the outcome is its primary. Somebody ended it there, and on the row.
        for name in [key("a"), crate::system::outcome_key(start_ts)] {
            let row = RowMutation { key: name, mutations: roll_back_mutations(start_ts) };
            world.store.store().mutate_rows(vec![row]).await.unwrap();
        }
        assert_eq!(conflict_kind(late.commit().await), Some(ConflictKind::RolledBack));
        assert_eq!(world.value("a").await, None);
        let records = world.dump().into_iter().find(|row| row.key == "a").unwrap();
        assert!(records.family(Family::Rollback).any(|cell| ROLLBACK.contains(&cell.value)));
    });
}

#[test]
fn late_prewrite_after_commit_is_refused() {
    // tikv#10600, #11187: a retried prewrite of a committed transaction must not lock again.
    on_paths(&ROWS, |world| async move {
        let start_ts = new_ts(&world).await;
        world.set("a", "1").await;
        let snapshot = Arc::new(world.store.take_snapshot(Some(start_ts)).await.unwrap());
        let mut buffer = crate::buffer::Buffer::new(usize::MAX, None);
        buffer.write(1, put("a", "1")).unwrap();
        let job =
            crate::commit::CommitJob::new(world.store.clone(), snapshot, Arc::new(buffer), None, Vec::new(), true);
        assert_eq!(conflict_kind(job.run().await), Some(ConflictKind::Write));
        world.settle().await;
        assert!(world.dump().iter().all(|row| row.newest(Family::Lock).is_none()));
    });
}

#[test]
fn own_prewrite_retry_is_idempotent() {
    on_paths(&ROWS, |world| async move {
        let transaction = world.begin();
        let start_ts = transaction.snapshot_ts().await.unwrap();
        // The remains of an attempt whose answer was lost.
        plant_lock(&world, "a", "a", start_ts, "1").await;
        transaction.write(vec![put("a", "1")]).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(world.value("a").await.as_deref(), Some("1"));
    });
}

#[test]
fn commit_then_update_at_once_on_an_idle_server() {
    // With one timestamp for both snapshot and start, this conflicts for ever.
    on_every_path(|world| async move {
        for value in ["1", "2", "3", "4"] {
            let transaction = world.begin();
            transaction.write(vec![put("k", value), put("other", value)]).await.unwrap();
            transaction.commit().await.unwrap();
            let transaction = world.begin();
            assert_eq!(get(&transaction, "k").await.as_deref(), Some(value));
            transaction.write(vec![update("k", "again"), update("other", "again")]).await.unwrap();
            transaction.commit().await.unwrap();
        }
    });
}

#[test]
fn commit_ts_lies_above_every_snapshot_taken_before_the_locks_were_complete() {
    on_every_path(|world| async move {
        world.set("a", "0").await;
        let writer = world.begin();
        writer.write(vec![update("a", "1"), update("b", "1")]).await.unwrap();
        writer.snapshot_ts().await.unwrap();
        let reader = world.begin();
        let snapshot_ts = reader.snapshot_ts().await.unwrap();
        let commit_ts = writer.commit().await.unwrap();
        assert!(commit_ts > snapshot_ts);
        assert_eq!(get(&reader, "a").await.as_deref(), Some("0"));
        assert_eq!(get(&reader, "b").await, None);
    });
}

#[test]
fn a_key_that_was_only_checked_leaves_a_record_that_conflicts() {
    // insert-if-absent, foreign-key check, ON CONFLICT DO NOTHING
    on_every_path(|world| async move {
        world.set("parent", "1").await;
        let deleter = world.begin();
        deleter.snapshot_ts().await.unwrap();
        let child = world.begin();
        child.write(vec![lock("parent", LockStrength::KeyShare), put("child", "1")]).await.unwrap();
        child.commit().await.unwrap();
        world.settle().await;
        deleter.write(vec![delete("parent")]).await.unwrap();
        assert_eq!(conflict_kind(deleter.commit().await), Some(ConflictKind::LockOnly));
    });
}

#[test]
fn eight_children_of_one_parent_while_it_is_updated() {
    for path in PATHS {
        let env = SimEnv::new(3);
        let options = TransactionStoreOptions { lock_wait: Duration::from_secs(5), ..options(path) };
        let for_world = env.clone();
        let work = async move {
            let world = World::with(for_world, path, options).await;
            world.set("parent", "0").await;
            let children = (0..8).map(|client| {
                let world = world.clone();
                async move {
                    for i in 0..5 {
                        let child = world.begin();
                        assert!(get(&child, "parent").await.is_some());
                        let name = format!("child{client}-{i}");
                        let writes = vec![lock("parent", LockStrength::KeyShare), put(&name, "1")];
                        child.write(writes).await.unwrap();
                        child.commit().await.unwrap();
                    }
                }
            });
            let updates = async {
                for i in 0..5 {
                    let parent = world.begin();
                    parent.write(vec![update("parent", &format!("{i}"))]).await.unwrap();
                    parent.commit().await.unwrap();
                    world.env.sleep(Duration::from_micros(300)).await;
                }
            };
            futures::future::join(join_all(children), updates).await;
            world.settle().await;
            let reader = world.begin();
            let children = scan(&reader, RowRange::prefix("child"), TxnScanOptions::default(), OwnWrites::All);
            assert_eq!(children.await.len(), 40);
        };
        env.block_on(work).unwrap();
    }
}

#[test]
fn deletion_of_the_parent_against_insertion_of_a_child_has_one_winner() {
    on_every_path(|world| async move {
        world.set("parent", "0").await;
        let (child, parent) = (world.begin(), world.begin());
        assert!(get(&child, "parent").await.is_some());
        assert!(get(&parent, "parent").await.is_some());
        child.write(vec![lock("parent", LockStrength::KeyShare), put("child", "1")]).await.unwrap();
        parent.write(vec![delete("parent")]).await.unwrap();
        let (child, parent) = futures::future::join(child.commit(), parent.commit()).await;
        assert_eq!([child.is_ok(), parent.is_ok()].iter().filter(|ok| **ok).count(), 1);
    });
}

#[test]
fn insert_and_delete_of_one_key_stays_a_check_that_it_does_not_exist() {
    on_every_path(|world| async move {
        let checker = world.begin();
        assert_eq!(get(&checker, "a").await, None);
        checker.write(vec![put("a", "1")]).await.unwrap();
        checker.write(vec![delete("a")]).await.unwrap();
        world.set("a", "other").await;
        assert_eq!(conflict_kind(checker.commit().await), Some(ConflictKind::Write));
        world.settle().await;
        assert_eq!(world.value("a").await.as_deref(), Some("other"));
    });
}

#[test]
fn delete_and_insert_of_one_key_is_one_mutation() {
    on_every_path(|world| async move {
        world.set("a", "1").await;
        let transaction = world.begin();
        transaction.write(vec![delete("a"), put("a", "2")]).await.unwrap();
        let other = world.begin();
        other.write(vec![lock("a", LockStrength::KeyShare)]).await.unwrap();
        other.snapshot_ts().await.unwrap();
        transaction.commit().await.unwrap();
        world.settle().await;
        assert_eq!(conflict_kind(other.commit().await), Some(ConflictKind::Write), "the delete's strength is kept");
        assert_eq!(world.value("a").await.as_deref(), Some("2"));
    });
}

#[test]
fn deleting_an_index_entry_that_is_not_there_still_writes_a_tombstone() {
    // A backfill at an older snapshot must not bring the entry back.
    on_every_path(|world| async move {
        let backfill = world.begin();
        backfill.snapshot_ts().await.unwrap();
        let deleter = world.begin();
        deleter.write(vec![delete("entry")]).await.unwrap();
        deleter.commit().await.unwrap();
        world.settle().await;
        backfill.write(vec![put("entry", "stale")]).await.unwrap();
        assert_eq!(conflict_kind(backfill.commit().await), Some(ConflictKind::Write));
    });
}

#[test]
fn a_scan_that_meets_a_lock_half_way_loses_and_repeats_nothing() {
    // tidb#21339
    on_paths(&LOCKS, |world| async move {
        let writer = world.begin();
        for i in 0..50 {
            writer.write(vec![put(&format!("k{i:02}"), "old")]).await.unwrap();
        }
        writer.commit().await.unwrap();
        world.settle().await;
        // A commit with locked secondaries, and the locks of a dead transaction.
        world.store.fail_points().set(failpoint::BEFORE_COMMIT_SECONDARY, FailAction::Stop);
        let writer = world.begin();
        for i in (0..50).step_by(3) {
            writer.write(vec![update(&format!("k{i:02}"), "new")]).await.unwrap();
        }
        writer.commit().await.unwrap();
        if world.store.store().atomic().is_none() {
            let dead = new_ts(&world).await;
            plant_lock(&world, "k10", "k10", dead, "dead").await;
            plant_lock(&world, "k11", "k10", dead, "dead").await;
            world.advance(Duration::from_secs(60));
        }
        for batch_rows in [1, 7, 1000] {
            for reverse in [false, true] {
                if reverse && !world.raw.can_scan_reverse() {
                    continue;
                }
                let options = TxnScanOptions { batch_rows, reverse, ..TxnScanOptions::default() };
                let mut pairs = scan(&world.begin(), RowRange::prefix("k"), options, OwnWrites::All).await;
                if reverse {
                    pairs.reverse();
                }
                let expected = (0..50).map(|i| (format!("k{i:02}"), if i % 3 == 0 { "new" } else { "old" }.to_owned()));
                assert_eq!(pairs, expected.collect::<Vec<_>>());
            }
        }
    });
}

#[test]
fn only_proven_outcomes_are_reported() {
    // tidb#33641, #69831, #64296; client-rust#561: a write whose answer was lost is undetermined.
    on_paths(&[Path::OnePhase, Path::Embedded], |world| async move {
        let transaction = world.begin();
        transaction.write(vec![put("a", "1")]).await.unwrap();
        if world.options.always_two_phase {
            // It failed before the primary's commit was sent, so it has certainly not happened.
            world.store.fail_points().set(failpoint::BEFORE_COMMIT_PRIMARY, FailAction::Error);
            assert!(matches!(transaction.commit().await, Err(TxnError::Store(_))), "refused before it was sent");
            world.store.fail_points().clear(failpoint::BEFORE_COMMIT_PRIMARY);
            assert_eq!(world.value("a").await, None);
            return;
        }
        world.memory.as_ref().unwrap().fail_next_write(storage::StoreError::Io("lost".into()), true);
        assert!(matches!(transaction.commit().await, Err(TxnError::Undetermined { .. })));
    });
}

#[test]
fn as_of_in_the_future_is_refused_and_above_the_published_is_published_first() {
    on_every_path(|world| async move {
        world.set("a", "1").await;
        let now = world.store.oracle().physical_now();
        let future = TransactionOptions { as_of: Some(Timestamp(now + 60_000_000)), ..Default::default() };
        assert!(matches!(world.store.begin(future).snapshot_ts().await, Err(TxnError::Invalid(_))));
        world.advance(Duration::from_secs(5));
        let now = Timestamp(world.store.oracle().physical_now());
        let present = TransactionOptions { as_of: Some(now), ..Default::default() };
        let reader = world.store.begin(present);
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
        let commit_ts = world.set("a", "2").await;
        assert!(commit_ts > now, "no commit may land at or below what was read");
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
    });
}

#[test]
fn a_snapshot_below_the_safe_point_is_too_old() {
    on_every_path(|world| async move {
        let old = world.set("a", "1").await;
        // Over rows the safe point is a timestamp that was handed out.
        world.set("b", "1").await;
        world.advance(Duration::from_secs(2 * 3600));
        world.set("a", "2").await;
        world.settle().await;
        world.store.collect_garbage().await.unwrap();
        let reader = world.store.begin(TransactionOptions { as_of: Some(old), ..Default::default() });
        assert!(matches!(reader.get(b"a", OwnWrites::All).await, Err(TxnError::SnapshotTooOld { .. })));
        // It stays so after a restart.
        let again = world.reopen().await;
        assert_eq!(again.store.safe_point(), world.store.safe_point());
    });
}

#[test]
fn a_reader_of_the_past_keeps_what_it_reads() {
    on_paths(&[Path::OnePhase, Path::Embedded], |world| async move {
        let old = world.set("a", "1").await;
        world.set("a", "2").await;
        world.settle().await;
        let reader = world.store.begin(TransactionOptions { as_of: Some(old), ..Default::default() });
        assert_eq!(reader.snapshot_ts().await.unwrap(), old);
        world.advance(Duration::from_secs(3 * 3600));
        world.set("a", "3").await;
        world.settle().await;
        world.store.collect_garbage().await.unwrap();
        assert_eq!(get(&reader, "a").await.as_deref(), Some("1"));
    });
}

#[test]
fn a_deleted_key_does_not_come_back_through_garbage_collection() {
    on_every_path(|world| async move {
        world.set("a", "1").await;
        world.set("a", "2").await;
        let deleter = world.begin();
        deleter.write(vec![delete("a")]).await.unwrap();
        deleter.commit().await.unwrap();
        world.settle().await;
        for _ in 0..3 {
            world.advance(Duration::from_secs(3000));
            world.set("z", "tick").await;
            world.settle().await;
            world.store.collect_garbage().await.unwrap();
            assert_eq!(world.value("a").await, None);
        }
        let left: Vec<_> = world.dump().into_iter().filter(|row| row.key == "a").collect();
        assert!(left.is_empty(), "nothing of it is left: {left:?}");
    });
}

#[test]
fn a_dropped_range_goes_only_past_the_safe_point() {
    on_paths(&[Path::OnePhase, Path::Embedded], |world| async move {
        world.set("table/1", "1").await;
        let old = world.begin();
        old.snapshot_ts().await.unwrap();
        let since = world.set("descriptor", "dropped").await;
        world.advance(Duration::from_secs(2 * 3600));
        let range = || RowRange::prefix("table/");
        assert!(!world.store.remove_range(range(), since).await.unwrap());
        assert_eq!(get(&old, "table/1").await.as_deref(), Some("1"));
        drop(old);
        world.set("z", "tick").await;
        assert!(world.store.remove_range(range(), since).await.unwrap());
        assert_eq!(world.value("table/1").await, None);
    });
}

#[test]
fn a_reader_registers_first_and_then_looks_at_the_safe_point() {
    on_paths(&[Path::OnePhase, Path::Embedded], |world| async move {
        world.set("a", "1").await;
        let mut streams = Vec::new();
        let reader = world.begin();
        streams.push(reader.scan(RowRange::prefix("a"), TxnScanOptions::default(), OwnWrites::All));
        let first = streams[0].next().await.unwrap().unwrap();
        assert_eq!(first, [(Bytes::from_static(b"a"), Bytes::from_static(b"1"))]);
        drop(reader);
        // Only the stream keeps the snapshot.
        world.set("a", "2").await;
        world.advance(Duration::from_secs(3 * 3600));
        let report = world.store.collect_garbage().await.unwrap();
        drop(streams);
        assert!(world.store.collect_garbage().await.unwrap().safe_point > report.safe_point);
    });
}

#[test]
fn garbage_is_collected_in_the_background_until_the_store_goes() {
    on_paths(&[Path::OnePhase], |world| async move {
        world.store.collect_garbage_every(Duration::from_secs(60));
        world.set("a", "1").await;
        world.set("a", "2").await;
        world.env.sleep(Duration::from_secs(2 * 3600)).await;
        let versions = world.dump().iter().filter(|row| row.key == "a").map(|row| row.cells.len()).sum::<usize>();
        assert_eq!(versions, 1);
    });
}

/// A store may skip rows of one version, except those of which nothing must stay.
#[test]
fn what_garbage_collection_leaves_alone_is_what_somebody_may_see() {
    on_paths(&[Path::OnePhase], |world| async move {
        world.set("a", "1").await;
        let transaction = world.store.begin(TransactionOptions::default());
        transaction.start_ts().await.unwrap();
        // A delete marker with nothing beneath it, as of an absent index entry, and an outcome.
        transaction.write(vec![delete("absent")]).await.unwrap();
        transaction.commit().await.unwrap();
        let left = |world: &World| {
            let keys = world.dump().into_iter().map(|row| row.key);
            let of_interest = |key: &Bytes| key == "a" || key == "absent" || crate::system::is_outcome(key);
            keys.filter(of_interest).count()
        };
        assert_eq!(left(&world), 3);
        world.env.sleep(Duration::from_secs(2 * 3600)).await;
        world.store.collect_garbage().await.unwrap();
        assert_eq!(left(&world), 1);
        assert_eq!(world.value("a").await.as_deref(), Some("1"));
    });
}
