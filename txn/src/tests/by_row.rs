//! Over rows: what a status means, row by row of the table in `resolver`; commits whose answers are lost; signs
//! of life; readers that never wait; and how many calls all that takes.

use super::harness::*;
use super::hooked::{AheadEnv, Call, Fate, HookedStore};
use crate::data::{RecordKind, encode_data};
use crate::lock::Lock;
use crate::write::{ROLLBACK, WriteRecord, encode_rollback};
use crate::*;
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::testing::SimEnv;
use storage::{Cell, Env, Family, Mutation, Row, RowMutation, Timestamp};

const SECOND: Duration = Duration::from_secs(1);

/// Runs a test on a node over rows whose calls can be hooked.
fn over_rows<Work: Future<Output = ()> + Send + 'static>(test: impl Fn(World, Arc<HookedStore>) -> Work) {
    over_rows_with(options(Path::ByRow), test);
}

fn over_rows_with<Work: Future<Output = ()> + Send + 'static>(
    options: TransactionStoreOptions,
    test: impl Fn(World, Arc<HookedStore>) -> Work,
) {
    for path in [Path::ByRow, Path::Bigtable] {
        let env = SimEnv::new(1);
        let (for_world, options) = (env.clone(), options.clone());
        let (world, hooked) = env.block_on(async move { World::hooked(for_world, path, options).await }).unwrap();
        env.block_on(test(world, hooked)).unwrap();
    }
}

/// Another node over the same rows, which asks the same oracle.
async fn other_node(world: &World) -> World {
    other_node_with(world, world.options.clone(), Duration::ZERO).await
}

async fn other_node_with(world: &World, options: TransactionStoreOptions, ahead: Duration) -> World {
    let env = Arc::new(AheadEnv { inner: world.env.clone(), ahead });
    let store =
        TransactionStore::open(world.raw.clone(), world.store.oracle().clone(), env, options.clone()).await.unwrap();
    World { store, options, ..world.clone() }
}

async fn now(world: &World) -> Timestamp {
    world.store.oracle().timestamp().await.unwrap().timestamp
}

async fn plant(world: &World, name: &str, family: Family, timestamp: Timestamp, value: Bytes) {
    let row = RowMutation { key: key(name), mutations: vec![Mutation::Set { family, timestamp, value }] };
    world.raw.mutate_rows(vec![row]).await.unwrap();
}

/// A lock of the transaction `start_ts`, whose primary is `p`.
async fn plant_lock(world: &World, name: &str, start_ts: Timestamp, time_to_live: Duration) {
    let expires_at = world.store.oracle().physical_now() + time_to_live.as_micros() as u64;
    let (strength, kind, primary) = (LockStrength::NoKeyUpdate, RecordKind::Put, key("p"));
    let lock = Lock { strength, kind, primary, expires_at, min_commit_ts: Timestamp::ZERO, inlined: Some(key("new")) };
    plant(world, name, Family::Lock, start_ts, lock.encode()).await;
}

fn record(start_ts: Timestamp, kind: RecordKind, strength: LockStrength) -> WriteRecord {
    WriteRecord { strength, kind, start_ts, inlined: (kind == RecordKind::Put).then(|| key("new")) }
}

fn row(world: &World, name: &str) -> Row {
    let found = world.dump().into_iter().find(|row| row.key == name);
    found.unwrap_or(Row { key: key(name), cells: Vec::new() })
}

fn rolled_back(world: &World, name: &str, start_ts: Timestamp) -> bool {
    row(world, name).family(Family::Rollback).any(|cell| cell.timestamp == start_ts && ROLLBACK.contains(&cell.value))
}

fn lock_at(world: &World, name: &str, start_ts: Timestamp) -> Option<Cell> {
    row(world, name).family(Family::Lock).find(|cell| cell.timestamp == start_ts).cloned()
}

fn at_the_primary(log: &[(Duration, Call)]) -> usize {
    log.iter().filter(|(_, call)| matches!(call, Call::Change(key, _) if key == "p")).count()
}

// The table of statuses, row by row.

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
            // A key that was only locked can be the primary too: its record is in the other family.
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
        world.env.advance(2 * SECOND);
        // Its owner gives a sign of life after the resolver has looked.
        let beaten = Arc::new(AtomicU64::new(0));
        let (owner, times) = (world.clone(), beaten.clone());
        hooked.set(move |call| {
            let (owner, times) = (owner.clone(), times.clone());
            async move {
                if matches!(&call, Call::Change(key, _) if key == "p") && times.fetch_add(1, Ordering::SeqCst) == 0 {
                    plant_lock(&owner, "p", start_ts, 5 * SECOND).await;
                }
                Fate::Done
            }
        });
        assert_eq!(world.value("s").await.as_deref(), Some("old"));
        assert!(beaten.load(Ordering::SeqCst) > 0);
        assert!(lock_at(&world, "p", start_ts).is_some(), "it lives");
        world.env.advance(6 * SECOND);
        assert_eq!(world.value("s").await.as_deref(), Some("old"));
        world.settle().await;
        assert!(rolled_back(&world, "p", start_ts));
        assert_eq!(lock_at(&world, "p", start_ts), None);
        assert_eq!(row(&world, "p").newest(Family::Data), None);
        assert_eq!(lock_at(&world, "s", start_ts), None);
    });
}

#[test]
fn a_later_write_of_another_and_nothing_else_means_rolled_back_without_a_change() {
    over_rows(|world, hooked| async move {
        world.set("s", "old").await;
        let start_ts = now(&world).await;
        plant_lock(&world, "s", start_ts, 5 * SECOND).await;
        world.set("p", "another's").await;
        world.settle().await;
        hooked.take_log();
        assert_eq!(world.value("s").await.as_deref(), Some("old"));
        world.settle().await;
        assert_eq!(at_the_primary(&hooked.take_log()), 0, "its prewrite can never succeed");
        assert_eq!(lock_at(&world, "s", start_ts), None);
        assert!(!rolled_back(&world, "p", start_ts));
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
        world.env.advance(6 * SECOND);
        assert_eq!(world.value("s").await.as_deref(), Some("old"));
        world.settle().await;
        assert!(rolled_back(&world, "p", start_ts), "a prewrite on its way will be refused");
        assert_eq!(lock_at(&world, "s", start_ts), None);
    });
}

#[test]
fn a_primary_that_is_locked_while_a_resolver_looks_is_not_rolled_back() {
    over_rows(|world, hooked| async move {
        let start_ts = now(&world).await;
        plant_lock(&world, "s", start_ts, SECOND).await;
        world.env.advance(2 * SECOND);
        let owner = world.clone();
        let times = Arc::new(AtomicU64::new(0));
        hooked.set(move |call| {
            let (owner, times) = (owner.clone(), times.clone());
            async move {
                if matches!(&call, Call::Change(key, _) if key == "p") && times.fetch_add(1, Ordering::SeqCst) == 0 {
                    plant_lock(&owner, "p", start_ts, 5 * SECOND).await;
                }
                Fate::Done
            }
        });
        assert_eq!(world.value("s").await, None);
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

// Commits whose answers are lost.

/// Commits `p` and `s` while the first `times` requests that commit the primary meet `fate`.
async fn commit_with(world: &World, hooked: &Arc<HookedStore>, fate: Fate, times: u64) -> Result<Timestamp> {
    let met = Arc::new(AtomicU64::new(0));
    hooked.set(move |call| {
        let met = met.clone();
        async move {
            match call.commits("p") && met.fetch_add(1, Ordering::SeqCst) < times {
                true => fate,
                false => Fate::Done,
            }
        }
    });
    let transaction = world.begin();
    transaction.write(vec![put("p", "1"), put("s", "1")]).await.unwrap();
    let result = transaction.commit().await;
    hooked.clear();
    world.settle().await;
    result
}

#[test]
fn a_commit_whose_answer_was_lost_is_found_and_one_that_was_lost_is_sent_again() {
    for fate in [Fate::LostAnswer, Fate::LostRequest, Fate::Unavailable] {
        for times in [1, 3] {
            over_rows(move |world, hooked| async move {
                let commit_ts = commit_with(&world, &hooked, fate, times).await.unwrap();
                assert_eq!(row(&world, "p").newest(Family::Write).unwrap().timestamp, commit_ts, "{fate:?}");
                assert_eq!(world.value("s").await.as_deref(), Some("1"));
            });
        }
    }
}

#[test]
fn a_commit_that_the_store_does_not_take_is_rolled_back_for_good() {
    over_rows(|world, hooked| async move {
        // Reads and other changes go through: the fate is certain.
        let result = commit_with(&world, &hooked, Fate::LostRequest, u64::MAX).await;
        assert!(matches!(result, Err(TxnError::Store(_))), "{result:?}");
        assert_eq!(world.value("p").await, None);
        assert_eq!(world.value("s").await, None);
        assert!(world.dump().iter().all(|row| row.newest(Family::Lock).is_none()));
        assert_eq!(row(&world, "p").family(Family::Rollback).count(), 1);
    });
}

#[test]
fn only_a_store_that_cannot_be_reached_leaves_a_commit_undetermined() {
    for fate in [Fate::LostAnswer, Fate::LostRequest] {
        over_rows(move |world, hooked| async move {
            let transaction = world.begin();
            let start_ts = transaction.start_ts().await.unwrap();
            let primary_key = crate::system::outcome_key(start_ts);
            transaction.write(vec![put("p", "1"), put("s", "1")]).await.unwrap();
            let gone = Arc::new(Mutex::new(false));
            hooked.set(move |call| {
                let (gone, primary_key) = (gone.clone(), primary_key.clone());
                async move {
                    if *gone.lock() {
                        return Fate::Unavailable;
                    }
                    let commits = matches!(&call, Call::Change(key, mutations) if *key == primary_key
                        && mutations.iter().any(|mutation| matches!(mutation, Mutation::Set { family: Family::Write, .. })));
                    if commits {
                        *gone.lock() = true;
                        return fate;
                    }
                    Fate::Done
                }
            });
            let result = transaction.commit().await;
            assert_eq!(result, Err(TxnError::Undetermined { start_ts }));
            // The store is back: another node is asked.
            hooked.clear();
            let other = other_node(&world).await;
            world.env.advance(6 * SECOND);
            match (fate, other.store.outcome(start_ts).await.unwrap()) {
                (Fate::LostAnswer, Outcome::Committed(_)) => assert_eq!(other.value("s").await.as_deref(), Some("1")),
                (Fate::LostRequest, Outcome::Aborted) => assert_eq!(other.value("s").await, None),
                other => panic!("{other:?}"),
            }
        });
    }
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
        // Committed without a write of its own: so was its identity.
        let idle = world.begin();
        let idle_ts = idle.start_ts().await.unwrap();
        idle.commit().await.unwrap();
        assert!(matches!(other.store.outcome(idle_ts).await.unwrap(), Outcome::Committed(_)));
        // Its node died after the locks.
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
        // Its node died before: nobody can tell until it would have been ended.
        let gone = world.begin();
        let gone_ts = gone.start_ts().await.unwrap();
        world.env.advance(1900 * SECOND);
        assert_eq!(other.store.outcome(gone_ts).await.unwrap(), Outcome::Aborted);
        world.env.advance(3600 * SECOND);
        other.store.collect_garbage().await.unwrap();
        assert_eq!(other.store.outcome(start_ts).await.unwrap(), Outcome::Forgotten);
        assert_eq!(other.value("p").await.as_deref(), Some("1"));
    });
}

// Signs of life.

#[test]
fn a_slow_prewrite_is_kept_alive_by_heart_beats() {
    over_rows(|world, hooked| async move {
        let env = world.env.clone();
        hooked.set(move |call| {
            let env = env.clone();
            async move {
                if call.locks("s") {
                    env.sleep(20 * SECOND).await;
                }
                Fate::Done
            }
        });
        let other = other_node(&world).await;
        let transaction = world.begin();
        transaction.write(vec![put("p", "1"), put("s", "1")]).await.unwrap();
        let meanwhile = async {
            for _ in 0..9 {
                world.env.sleep(2 * SECOND).await;
                assert_eq!(other.value("p").await, None);
                let writer = other.begin();
                writer.write(vec![put("p", "other")]).await.unwrap();
                assert_eq!(conflict_kind(writer.commit().await), Some(ConflictKind::Lock));
            }
        };
        let (result, ()) = futures::future::join(transaction.commit(), meanwhile).await;
        result.unwrap();
        assert_eq!(other.value("s").await.as_deref(), Some("1"));
    });
}

#[test]
fn heart_beats_are_over_before_the_commit_is_sent() {
    over_rows(|world, hooked| async move {
        let env = world.env.clone();
        hooked.set(move |call| {
            let env = env.clone();
            async move {
                if call.commits("p") {
                    env.sleep(20 * SECOND).await;
                }
                Fate::Done
            }
        });
        let transaction = world.begin();
        transaction.write(vec![put("p", "1"), put("s", "1")]).await.unwrap();
        transaction.commit().await.unwrap();
        let log = hooked.take_log();
        let commits: Vec<_> = log.iter().enumerate().filter(|(_, (_, call))| call.commits("p")).collect();
        assert_eq!(commits.len(), 1, "the commit was not disturbed");
        assert!(log[commits[0].0..].iter().all(|(_, call)| !call.locks("p")), "no sign of life after it");
    });
}

#[test]
fn a_transaction_that_others_ended_stops_and_leaves_nothing() {
    over_rows(|world, hooked| async move {
        let env = world.env.clone();
        let locked = Arc::new(AtomicU64::new(0));
        hooked.set(move |call| {
            let (env, locked) = (env.clone(), locked.clone());
            async move {
                // Signs of life do not get through, and one row takes long.
                match call {
                    call if call.locks("p") && locked.fetch_add(1, Ordering::SeqCst) > 0 => Fate::Unavailable,
                    call if call.locks("s") => {
                        env.sleep(20 * SECOND).await;
                        Fate::Done
                    }
                    _ => Fate::Done,
                }
            }
        });
        let transaction = world.begin();
        transaction.write(vec![put("p", "1"), put("s", "1")]).await.unwrap();
        let other = other_node(&world).await;
        let meanwhile = async {
            world.env.sleep(10 * SECOND).await;
            other.set("p", "other").await;
        };
        let (result, ()) = futures::future::join(transaction.commit(), meanwhile).await;
        assert_eq!(conflict_kind(result), Some(ConflictKind::RolledBack));
        hooked.clear();
        world.settle().await;
        assert_eq!(world.value("p").await.as_deref(), Some("other"));
        assert_eq!(world.value("s").await, None);
        assert!(world.dump().iter().all(|row| row.newest(Family::Lock).is_none()));
    });
}

// Readers.

#[test]
fn readers_that_keep_pushing_do_not_starve_a_commit() {
    over_rows(|world, hooked| async move {
        let other = other_node(&world).await;
        let pushes = Arc::new(AtomicU64::new(0));
        let (reader, times) = (other.clone(), pushes.clone());
        hooked.set(move |call| {
            let (reader, times) = (reader.clone(), times.clone());
            async move {
                if call.commits("p") {
                    // Somebody new reads just before every attempt.
                    times.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(reader.value("p").await, None);
                }
                Fate::Done
            }
        });
        let transaction = world.begin();
        transaction.write(vec![put("p", "1"), put("s", "1")]).await.unwrap();
        let commit_ts = transaction.commit().await.unwrap();
        assert!(pushes.load(Ordering::SeqCst) <= 3, "{pushes:?} attempts");
        let reader = other.begin();
        assert!(reader.snapshot_ts().await.unwrap() > commit_ts, "acknowledged only when everybody sees it");
        assert_eq!(get(&reader, "s").await.as_deref(), Some("1"));
    });
}

#[test]
fn an_owner_that_was_pushed_commits_above_its_readers() {
    over_rows(|world, hooked| async move {
        world.set("p", "old").await;
        let other = other_node(&world).await;
        let reader = other.begin();
        let for_hook = reader.clone();
        hooked.set(move |call| {
            let reader = for_hook.clone();
            async move {
                if call.commits("p") {
                    assert_eq!(get(&reader, "p").await.as_deref(), Some("old"));
                }
                Fate::Done
            }
        });
        let transaction = world.begin();
        transaction.write(vec![update("p", "new"), put("s", "new")]).await.unwrap();
        let commit_ts = transaction.commit().await.unwrap();
        assert!(commit_ts > reader.snapshot_ts().await.unwrap());
        assert_eq!(get(&reader, "p").await.as_deref(), Some("old"));
        assert_eq!(get(&reader, "s").await, None);
    });
}

// How many calls.

#[test]
fn reads_are_one_call_and_a_commit_is_two_waves() {
    over_rows(|world, hooked| async move {
        const RTT: Duration = Duration::from_millis(10);
        let env = world.env.clone();
        let writes: Vec<Write> = (0..100).map(|i| put(&format!("k{i:02}"), &"x".repeat(i * 10))).collect();
        let keys: Vec<Bytes> = writes.iter().map(|write| write.key.clone()).collect();
        hooked.set(move |_| {
            let env = env.clone();
            async move {
                env.sleep(RTT).await;
                Fate::Done
            }
        });
        let transaction = world.begin();
        transaction.write(writes).await.unwrap();
        transaction.snapshot_ts().await.unwrap();
        hooked.take_log();
        let began = world.env.monotonic();
        transaction.commit().await.unwrap();
        assert_eq!(world.env.monotonic() - began, 2 * RTT, "one wave of locks, one commit, the answer");
        world.env.sleep(2 * RTT).await;
        let log = hooked.take_log();
        let at = |wave: u32| log.iter().filter(move |(at, _)| *at == began + wave * RTT).map(|(_, call)| call);
        assert_eq!(at(0).filter(|call| matches!(call, Call::Change(..))).count(), 100);
        assert_eq!(at(1).filter(|call| call.commits("k00")).count(), 1);
        assert_eq!(at(2).collect::<Vec<_>>(), [&Call::ChangeMany(99)], "secondaries, behind the answer");
        assert_eq!(log.len(), 102);
        let reader = world.begin();
        assert!(get(&reader, "k07").await.is_some());
        assert_eq!(hooked.take_log().len(), 1, "a point read");
        assert!(get(&reader, "k99").await.is_some());
        assert_eq!(hooked.take_log().len(), 1, "a point read of a long value");
        let values = reader.get_many(&keys, OwnWrites::All).await.unwrap();
        assert!(values.iter().all(Option::is_some));
        assert_eq!(hooked.take_log().len(), 1, "a read of many keys");
    });
}
