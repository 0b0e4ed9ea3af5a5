//! Tests of the status of a transaction, row by row of the table in `resolver`, and of `pg_xact_status`.

use super::harness::*;
use super::hooked::{Call, Fate, HookedStore};
use super::nodes::*;
use crate::data::{RecordKind, encode_data};
use crate::lock::Lock;
use crate::write::{WriteRecord, encode_rollback};
use crate::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::{Env, Family, Mutation, Timestamp};

/// Plants a lock of the transaction `start_ts`, whose primary is `p`.
async fn plant_lock(world: &World, name: &str, start_ts: Timestamp, time_to_live: Duration) {
    let expires_at = world.store.oracle().physical_now() + time_to_live.as_micros() as u64;
    let (strength, kind, primary) = (LockStrength::NoKeyUpdate, RecordKind::Put, key("p"));
    let lock = Lock { strength, kind, primary, expires_at, min_commit_ts: Timestamp::ZERO, inlined: Some(key("new")) };
    plant(world, name, Family::Lock, start_ts, lock.encode()).await;
}

fn record(start_ts: Timestamp, kind: RecordKind, strength: LockStrength) -> WriteRecord {
    WriteRecord { strength, kind, start_ts, inlined: (kind == RecordKind::Put).then(|| key("new")) }
}

/// The owner of `start_ts` locks its primary, or sends a heartbeat, just before the first change there. Answers a
/// counter of the changes.
fn locked_just_before_a_change(world: &World, hooked: &HookedStore, start_ts: Timestamp) -> Arc<AtomicU64> {
    let changes = Arc::new(AtomicU64::new(0));
    let (owner, times) = (world.clone(), changes.clone());
    hooked.set(move |call| {
        let (owner, times) = (owner.clone(), times.clone());
        async move {
            if matches!(&call, Call::Change(key, _) if key == "p") && times.fetch_add(1, Ordering::SeqCst) == 0 {
                plant_lock(&owner, "p", start_ts, 5 * SECOND).await;
            }
            Fate::Done
        }
    });
    changes
}

fn at_the_primary(log: &[(Duration, Call)]) -> usize {
    log.iter().filter(|(_, call)| matches!(call, Call::Change(key, _) if key == "p")).count()
}

#[test]
fn a_write_that_points_at_the_start_means_committed() {
    over_rows(|world, hooked| async move {
        world.set("s", "old").await;
        for kind in [RecordKind::Put, RecordKind::Delete, RecordKind::Lock] {
            let start_ts = now(&world).await;
            plant_lock(&world, "s", start_ts, 5 * SECOND).await;
            let before = world.begin();
            before.snapshot_ts().await.unwrap();
            let commit_ts = now(&world).await;
            // A key that was only locked can also be the primary. Its record is in the other family.
            let record = record(start_ts, kind, LockStrength::KeyShare);
            plant(&world, "p", record.family(), commit_ts, record.encode()).await;
            hooked.take_log();
            assert_eq!(world.value("s").await.as_deref(), Some("new"), "{kind:?}");
            assert_ne!(get(&before, "s").await.as_deref(), Some("new"), "committed above an older snapshot");
            assert_eq!(at_the_primary(&hooked.take_log()), 0);
            world.settle().await;
            assert_eq!(lock_at(&world, "s", start_ts), None, "rolled forward behind the reader");
            assert!(row(&world, "s").family(Family::Write).any(|cell| cell.timestamp == commit_ts));
            world.set("s", "old").await;
        }
    });
}

#[test]
fn a_rollback_record_at_the_start_means_rolled_back() {
    over_rows(|world, hooked| async move {
        world.set("s", "old").await;
        let start_ts = now(&world).await;
        plant_lock(&world, "s", start_ts, 5 * SECOND).await;
        plant(&world, "s", Family::Data, start_ts, encode_data(b"long")).await;
        plant(&world, "p", Family::Rollback, start_ts, encode_rollback(start_ts)).await;
        hooked.take_log();
        assert_eq!(world.value("s").await.as_deref(), Some("old"));
        assert_eq!(at_the_primary(&hooked.take_log()), 0);
        world.settle().await;
        assert_eq!(lock_at(&world, "s", start_ts), None);
        assert!(row(&world, "s").family(Family::Data).all(|cell| cell.timestamp != start_ts), "its value goes with it");
        assert!(rolled_back(&world, "s", start_ts), "the record stays: a late prewrite is refused by it");
    });
}

#[test]
fn a_live_lock_is_pushed_by_readers_and_waited_for_by_writers() {
    let options = TransactionStoreOptions { lock_wait: SECOND, ..options(Path::ByRow) };
    over_rows_with(options, |world, _| async move {
        world.set("p", "old").await;
        world.set("s", "old").await;
        let start_ts = now(&world).await;
        plant_lock(&world, "p", start_ts, 5 * SECOND).await;
        plant_lock(&world, "s", start_ts, 5 * SECOND).await;
        let began = world.env.monotonic();
        let reader = world.begin();
        let read_ts = reader.snapshot_ts().await.unwrap();
        assert_eq!(get(&reader, "s").await.as_deref(), Some("old"));
        assert_eq!(get(&reader, "p").await.as_deref(), Some("old"));
        assert_eq!(world.env.monotonic(), began, "a reader waits for nobody");
        let lock = Lock::decode(&lock_at(&world, "p", start_ts).unwrap().value).unwrap();
        assert_eq!(lock.min_commit_ts, read_ts.next());
        assert_eq!(reader.stats().locks_met, 2);
        let writer = world.begin();
        writer.write(vec![update("s", "other")]).await.unwrap();
        assert_eq!(conflict_kind(writer.commit().await), Some(ConflictKind::Lock));
        assert!(world.env.monotonic() >= began + SECOND, "a writer backs off first");
        assert!(lock_at(&world, "p", start_ts).is_some() && lock_at(&world, "s", start_ts).is_some());
    });
}

#[test]
fn an_expired_lock_is_ended_at_the_primary_exactly_as_it_was_seen() {
    over_rows(|world, hooked| async move {
        world.set("s", "old").await;
        let start_ts = now(&world).await;
        plant_lock(&world, "p", start_ts, SECOND).await;
        plant(&world, "p", Family::Data, start_ts, encode_data(b"long")).await;
        plant_lock(&world, "s", start_ts, SECOND).await;
        world.advance(2 * SECOND);
        // Its owner sends a heartbeat after the resolver has looked.
        let beaten = locked_just_before_a_change(&world, &hooked, start_ts);
        assert_eq!(world.value("s").await.as_deref(), Some("old"));
        assert!(beaten.load(Ordering::SeqCst) > 0);
        assert!(lock_at(&world, "p", start_ts).is_some(), "it lives");
        world.advance(6 * SECOND);
        assert_eq!(world.value("s").await.as_deref(), Some("old"));
        world.settle().await;
        assert!(rolled_back(&world, "p", start_ts));
        assert_eq!(lock_at(&world, "p", start_ts), None);
        assert_eq!(row(&world, "p").newest(Family::Data), None);
        assert_eq!(lock_at(&world, "s", start_ts), None);
    });
}

#[test]
fn a_later_write_of_another_says_nothing_before_the_time_to_live_is_over() {
    over_rows(|world, hooked| async move {
        world.set("s", "old").await;
        let start_ts = now(&world).await;
        plant_lock(&world, "s", start_ts, 5 * SECOND).await;
        world.set("p", "another's").await;
        world.settle().await;
        hooked.take_log();
        assert_eq!(world.value("s").await.as_deref(), Some("old"), "its commit_ts is still to be taken");
        world.settle().await;
        assert_eq!(at_the_primary(&hooked.take_log()), 0);
        assert!(lock_at(&world, "s", start_ts).is_some(), "it may have read what was written");
        world.advance(6 * SECOND);
        assert_eq!(world.value("s").await.as_deref(), Some("old"));
        world.settle().await;
        assert!(rolled_back(&world, "p", start_ts));
        assert_eq!(lock_at(&world, "s", start_ts), None);
        assert_eq!(world.value("p").await.as_deref(), Some("another's"));
    });
}

/// A statement with its own snapshot reads and then writes a row that was committed after its transaction began. A
/// reader meets a secondary before the primary is locked. It must not conclude from that commit that the transaction
/// can no longer prewrite.
#[test]
fn a_primary_written_since_the_transaction_began_is_no_rollback() {
    over_rows(|world, hooked| async move {
        world.set("p", "1").await;
        world.set("s", "1").await;
        let other = other_node(&world).await;
        let options = TransactionOptions { isolation: Isolation::ReadCommitted, ..TransactionOptions::default() };
        let transaction = world.store.begin(options);
        assert_eq!(get(&transaction.for_statement(false), "s").await.as_deref(), Some("1"));
        other.set("p", "2").await;
        transaction.advance_command();
        let statement = transaction.for_statement(false);
        assert_eq!(get(&statement, "p").await.as_deref(), Some("2"));
        statement.write(vec![update("p", "3"), update("s", "3")]).await.unwrap();
        let looked = Arc::new(AtomicU64::new(0));
        let (reader, times, here) = (other.clone(), looked.clone(), world.clone());
        hooked.set(move |call| {
            let (reader, times, here) = (reader.clone(), times.clone(), here.clone());
            async move {
                // The lock of the primary is delayed. That of the secondary has arrived.
                if matches!(&call, Call::Change(key, _) if key == "p") && times.fetch_add(1, Ordering::SeqCst) == 0 {
                    while row(&here, "s").newest(Family::Lock).is_none() {
                        here.env.sleep(Duration::from_millis(1)).await;
                    }
                    assert_eq!(reader.value("s").await.as_deref(), Some("1"));
                    reader.settle().await;
                }
                Fate::Done
            }
        });
        // Its owner dies after the commit. Only the locks are left.
        world.store.fail_points().set(failpoint::BEFORE_COMMIT_SECONDARY, FailAction::Stop);
        transaction.commit().await.unwrap();
        world.settle().await;
        assert!(looked.load(Ordering::SeqCst) > 0);
        for node in [&world, &other] {
            assert_eq!((node.value("p").await.as_deref(), node.value("s").await.as_deref()), (Some("3"), Some("3")));
        }
    });
}

#[test]
fn nothing_at_all_is_a_rollback_once_the_time_to_live_is_over() {
    over_rows(|world, hooked| async move {
        world.set("s", "old").await;
        let start_ts = now(&world).await;
        plant_lock(&world, "s", start_ts, 5 * SECOND).await;
        hooked.take_log();
        assert_eq!(world.value("s").await.as_deref(), Some("old"), "its commit_ts is still to be taken");
        assert_eq!(at_the_primary(&hooked.take_log()), 0);
        assert!(lock_at(&world, "s", start_ts).is_some());
        world.advance(6 * SECOND);
        assert_eq!(world.value("s").await.as_deref(), Some("old"));
        world.settle().await;
        assert!(rolled_back(&world, "p", start_ts), "a prewrite on its way will be refused");
        assert_eq!(lock_at(&world, "s", start_ts), None);
    });
}

#[test]
fn a_record_of_another_at_exactly_the_start_is_neither_taken_for_a_rollback_nor_overwritten() {
    over_rows(|world, hooked| async move {
        // Readers pushed another commit to exactly the timestamp that a transaction then started with.
        let transaction = world.begin();
        let start_ts = transaction.snapshot_ts().await.unwrap();
        let another = record(Timestamp(start_ts.0 - 5), RecordKind::Lock, LockStrength::KeyShare);
        plant(&world, "p", Family::Rollback, start_ts, another.encode()).await;
        transaction.write(vec![lock("p", LockStrength::KeyShare), put("s", "1")]).await.unwrap();
        assert_eq!(conflict_kind(transaction.commit().await), Some(ConflictKind::LockOnly));
        assert_eq!(row(&world, "p").newest(Family::Rollback).unwrap().value, another.encode());
        // A leftover lock is rolled back without a change there.
        plant_lock(&world, "s", start_ts, Duration::ZERO).await;
        world.advance(SECOND);
        hooked.take_log();
        assert_eq!(world.value("s").await, None);
        assert_eq!(at_the_primary(&hooked.take_log()), 0);
        assert_eq!(row(&world, "p").newest(Family::Rollback).unwrap().value, another.encode());
    });
}

#[test]
fn a_primary_that_is_locked_while_a_resolver_looks_is_not_rolled_back() {
    over_rows(|world, hooked| async move {
        let start_ts = now(&world).await;
        plant_lock(&world, "s", start_ts, SECOND).await;
        world.advance(2 * SECOND);
        let locked = locked_just_before_a_change(&world, &hooked, start_ts);
        assert_eq!(world.value("s").await, None);
        assert!(locked.load(Ordering::SeqCst) > 0);
        assert!(!rolled_back(&world, "p", start_ts));
        assert!(lock_at(&world, "p", start_ts).is_some());
    });
}

#[test]
fn expiry_is_judged_by_the_oracles_clock() {
    over_rows(|world, _| async move {
        world.set("p", "old").await;
        let start_ts = now(&world).await;
        plant_lock(&world, "p", start_ts, 5 * SECOND).await;
        // A node whose clock is an hour ahead.
        let ahead = other_node_with(&world, world.options.clone(), 3600 * SECOND).await;
        assert_eq!(ahead.value("p").await.as_deref(), Some("old"));
        let writer = ahead.begin();
        writer.write(vec![update("p", "other")]).await.unwrap();
        assert_eq!(conflict_kind(writer.commit().await), Some(ConflictKind::Lock));
        assert!(lock_at(&world, "p", start_ts).is_some());
    });
}

#[test]
fn the_status_of_a_transaction_on_another_node() {
    over_rows(|world, _| async move {
        let other = other_node(&world).await;
        let transaction = world.begin();
        let start_ts = transaction.start_ts().await.unwrap();
        transaction.write(vec![put("p", "1")]).await.unwrap();
        assert_eq!(other.store.outcome(start_ts).await.unwrap(), Outcome::InProgress, "it has not begun to commit");
        assert!(other.store.outcome(Timestamp(start_ts.0 + 60_000_000)).await.is_err(), "in the future");
        let commit_ts = transaction.commit().await.unwrap();
        assert_eq!(other.store.outcome(start_ts).await.unwrap(), Outcome::Committed(commit_ts));
        // It commits without writes of its own, and its identity is recorded as committed.
        let idle = world.begin();
        let idle_ts = idle.start_ts().await.unwrap();
        idle.commit().await.unwrap();
        assert!(matches!(other.store.outcome(idle_ts).await.unwrap(), Outcome::Committed(_)));
        // Its node died after writing the locks.
        let dead = world.begin();
        let dead_ts = dead.start_ts().await.unwrap();
        dead.write(vec![put("p", "2")]).await.unwrap();
        world.store.fail_points().set(failpoint::AFTER_PREWRITE, FailAction::Stop);
        let work = async move { drop(dead.commit().await) };
        world.env.spawn("dead", Box::pin(work));
        world.settle().await;
        assert_eq!(other.store.outcome(dead_ts).await.unwrap(), Outcome::InProgress);
        world.env.sleep(6 * SECOND).await;
        assert_eq!(other.store.outcome(dead_ts).await.unwrap(), Outcome::Aborted);
        assert_eq!(other.value("p").await.as_deref(), Some("1"));
        let left = world.begin();
        let left_ts = left.start_ts().await.unwrap();
        left.rollback().await;
        assert_eq!(other.store.outcome(left_ts).await.unwrap(), Outcome::Aborted);
        // Its node died earlier, so the outcome is unknown until the transaction would have been ended.
        let gone = world.begin();
        let gone_ts = gone.start_ts().await.unwrap();
        world.advance(1900 * SECOND);
        assert_eq!(other.store.outcome(gone_ts).await.unwrap(), Outcome::Aborted);
        world.advance(3600 * SECOND);
        other.store.collect_garbage().await.unwrap();
        assert_eq!(other.store.outcome(start_ts).await.unwrap(), Outcome::Forgotten);
        assert_eq!(other.value("p").await.as_deref(), Some("1"));
    });
}

#[test]
fn an_undetermined_commit_is_answered_soon_and_told_later() {
    // The request or only its answer is lost, with and without a request for the identity.
    for (fate, applied) in [(Fate::LostRequest, false), (Fate::LostAnswer, true)] {
        for asked in [false, true] {
            over_rows(move |world, hooked| async move {
                let transaction = world.begin();
                let asked_ts = if asked { Some(transaction.start_ts().await.unwrap()) } else { None };
                transaction.write(vec![put("p", "1"), put("s", "1")]).await.unwrap();
                let (sent, env) = (Arc::new(AtomicU64::new(0)), world.env.clone());
                let primary = asked_ts.map_or(key("p"), crate::system::outcome_key);
                hooked.set(move |call| {
                    let (sent, env, primary) = (sent.clone(), env.clone(), primary.clone());
                    async move {
                        let record = |mutation: &Mutation| matches!(mutation, Mutation::Set { family: Family::Write, .. });
                        let commits = |call: &Call| matches!(call, Call::Change(key, mutations) if *key == primary && mutations.iter().any(record));
                        match sent.load(Ordering::SeqCst) {
                            0 if !commits(&call) => Fate::Done,
                            0 => {
                                sent.store(1, Ordering::SeqCst);
                                fate
                            }
                            // From then on no call is answered within half a minute.
                            _ => {
                                env.sleep(30 * SECOND).await;
                                Fate::Unavailable
                            }
                        }
                    }
                });
                let began = world.env.monotonic();
                let Err(TxnError::Undetermined { start_ts }) = transaction.commit().await else {
                    panic!("it is not known whether it committed");
                };
                assert!(asked_ts.is_none_or(|asked| asked == start_ts));
                let took = world.env.monotonic() - began;
                assert!(took < 200 * SECOND, "the client waits no longer than a few calls take: {took:?}");
                hooked.clear();
                world.env.sleep(10 * SECOND).await;
                let outcome = world.store.outcome(start_ts).await.unwrap();
                assert_eq!(matches!(outcome, Outcome::Committed(_)), applied, "{outcome:?}");
                assert_eq!(outcome == Outcome::Aborted, !applied, "{outcome:?}");
                let other = other_node(&world).await;
                if asked {
                    assert_eq!(other.store.outcome(start_ts).await.unwrap(), outcome);
                }
                for name in ["p", "s"] {
                    assert_eq!(other.value(name).await.as_deref(), applied.then_some("1"));
                }
            });
        }
    }
}
