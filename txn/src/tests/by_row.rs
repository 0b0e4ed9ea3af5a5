//! Tests over rows: commits whose answers are lost, heartbeats, readers that never wait, and the number of calls.

use super::harness::*;
use super::hooked::{Call, Fate, HookedStore};
use super::nodes::*;
use crate::*;
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::testing::SimEnv;
use storage::{Env, Family, Mutation, RowRange, Timestamp};

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
        // Reads and other changes succeed, so the fate is certain.
        let result = commit_with(&world, &hooked, Fate::LostRequest, u64::MAX).await;
        assert!(matches!(result, Err(TxnError::Store(_))), "{result:?}");
        assert_eq!(world.value("p").await, None);
        assert_eq!(world.value("s").await, None);
        assert!(world.dump().iter().all(|row| row.newest(Family::Lock).is_none()));
        assert_eq!(row(&world, "p").family(Family::Rollback).count(), 1);
    });
}

#[test]
fn a_commit_that_arrives_while_it_is_being_settled_is_found() {
    over_rows(|world, hooked| async move {
        let (in_hook, arrived) = (hooked.clone(), Arc::new(AtomicU64::new(0)));
        hooked.set(move |call| {
            let (hooked, arrived) = (in_hook.clone(), arrived.clone());
            async move {
                let fences = matches!(&call, Call::Change(key, mutations) if key == "p" && mutations.len() == 3);
                match call.commits("p") {
                    true if arrived.load(Ordering::SeqCst) == 0 => Fate::Late,
                    // Just before the commit is prevented for ever.
                    _ if fences && arrived.fetch_add(1, Ordering::SeqCst) == 0 => {
                        assert_eq!(hooked.replay().await.iter().filter(|done| **done).count(), 1);
                        Fate::Done
                    }
                    _ => Fate::Done,
                }
            }
        });
        let transaction = world.begin();
        transaction.write(vec![put("p", "1"), put("s", "1")]).await.unwrap();
        transaction.commit().await.unwrap();
        world.settle().await;
        assert_eq!(world.value("p").await.as_deref(), Some("1"));
        assert_eq!(world.value("s").await.as_deref(), Some("1"));
    });
}

#[test]
fn a_late_copy_of_a_prewrite_does_not_undo_a_push() {
    over_rows(|world, hooked| async move {
        world.set("p", "old").await;
        let other = other_node(&world).await;
        let reader = other.begin();
        let (in_hook, for_hook) = (hooked.clone(), reader.clone());
        let times = Arc::new(AtomicU64::new(0));
        hooked.set(move |call| {
            let (hooked, reader, times) = (in_hook.clone(), for_hook.clone(), times.clone());
            async move {
                if call.locks("p") {
                    return Fate::Copied;
                }
                if call.commits("p") && times.fetch_add(1, Ordering::SeqCst) == 0 {
                    assert_eq!(get(&reader, "p").await.as_deref(), Some("old"));
                    assert_eq!(hooked.replay().await, [false]);
                }
                Fate::Done
            }
        });
        let transaction = world.begin();
        transaction.write(vec![update("p", "new")]).await.unwrap();
        assert!(transaction.commit().await.unwrap() > reader.snapshot_ts().await.unwrap());
        assert_eq!(get(&reader, "p").await.as_deref(), Some("old"));
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
            // The store is back, and another node is asked.
            hooked.clear();
            let other = other_node(&world).await;
            world.advance(6 * SECOND);
            match (fate, other.store.outcome(start_ts).await.unwrap()) {
                (Fate::LostAnswer, Outcome::Committed(_)) => assert_eq!(other.value("s").await.as_deref(), Some("1")),
                (Fate::LostRequest, Outcome::Aborted) => assert_eq!(other.value("s").await, None),
                other => panic!("{other:?}"),
            }
        });
    }
}

// Keys that must stay unchanged.

#[test]
fn a_descriptor_that_changes_before_a_pushed_commit_refuses_it() {
    over_rows(|world, hooked| async move {
        world.set("descriptor", "1").await;
        let other = other_node(&world).await;
        let in_hook = other.clone();
        let times = hooked.at_commits("row", move |before| {
            let other = in_hook.clone();
            async move {
                // After the check of the descriptor, the descriptor changes, and a reader above that change arrives.
                if before == 0 {
                    other.set("descriptor", "2").await;
                    assert_eq!(other.value("row").await, None);
                }
            }
        });
        let writer = world.begin();
        writer.require_unchanged(key("descriptor"));
        writer.write(vec![put("row", "of version 1")]).await.unwrap();
        assert_eq!(conflict_kind(writer.commit().await), Some(ConflictKind::Condition));
        hooked.clear();
        assert_eq!(other.value("row").await, None);
        assert!(times.load(Ordering::SeqCst) > 0);
        // Without the reader it commits below the change.
        let writer = world.begin();
        writer.require_unchanged(key("descriptor"));
        writer.write(vec![put("row", "of version 2")]).await.unwrap();
        writer.commit().await.unwrap();
        assert_eq!(row(&world, "descriptor").cells.len(), 2, "nothing was written there");
    });
}

#[test]
fn a_descriptor_that_is_being_changed_is_waited_for() {
    let options = TransactionStoreOptions { lock_wait: 2 * SECOND, ..options(Path::ByRow) };
    over_rows_with(options, |world, hooked| async move {
        world.set("descriptor", "1").await;
        hooked.slow_down(|call| if call.commits("descriptor") { SECOND } else { Duration::ZERO });
        for (taken, expected) in [("before", Some(ConflictKind::Condition)), ("after", None)] {
            let writer = world.begin();
            if taken == "before" {
                writer.snapshot_ts().await.unwrap();
            }
            let definition = world.begin();
            definition.write(vec![update("descriptor", taken)]).await.unwrap();
            let commit = definition.commit();
            let writing = async {
                world.env.sleep(SECOND / 2).await;
                if taken == "after" {
                    // Its snapshot may still lie below the change. Then it is refused too.
                    world.env.sleep(SECOND).await;
                }
                writer.require_unchanged(key("descriptor"));
                writer.write(vec![put("row", taken)]).await.unwrap();
                writer.commit().await
            };
            let (defined, written) = futures::future::join(commit, writing).await;
            defined.unwrap();
            assert_eq!(conflict_kind(written), expected, "{taken}");
        }
    });
}

// Heartbeats.

#[test]
fn a_slow_prewrite_is_kept_alive_by_heart_beats() {
    over_rows(|world, hooked| async move {
        hooked.slow_down(|call| if call.locks("s") { 20 * SECOND } else { Duration::ZERO });
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
        hooked.slow_down(|call| if call.commits("p") { 20 * SECOND } else { Duration::ZERO });
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
                // Heartbeats do not arrive, and one row takes long.
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
        let reader = other.clone();
        let pushes = hooked.at_commits("p", move |_| {
            let reader = reader.clone();
            // A new reader reads just before every attempt.
            async move { assert_eq!(reader.value("p").await, None) }
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
fn readers_that_keep_pushing_on_a_slow_store_do_not_starve_heart_beats() {
    over_rows(|world, hooked| async move {
        // Calls of the owner are slow, and one row takes longer than its lock lives.
        hooked.slow_down(|call| if call.locks("s") { 12 * SECOND } else { Duration::from_millis(80) });
        let other = other_node(&world).await;
        let transaction = world.begin();
        transaction.write(vec![put("p", "1"), put("s", "1")]).await.unwrap();
        let done = Arc::new(Mutex::new(false));
        let reading = async {
            while !*done.lock() {
                other.value("p").await;
                world.env.sleep(Duration::from_millis(3)).await;
            }
        };
        let committing = async {
            let began = world.env.monotonic();
            let result = transaction.commit().await;
            *done.lock() = true;
            result.map(|_| world.env.monotonic() - began)
        };
        let (result, ()) = futures::future::join(committing, reading).await;
        assert!(result.unwrap() < 15 * SECOND, "prewrites, and not long after");
        assert_eq!(other.value("s").await.as_deref(), Some("1"));
    });
}

#[test]
fn an_owner_that_was_pushed_commits_above_its_readers() {
    over_rows(|world, hooked| async move {
        world.set("p", "old").await;
        let other = other_node(&world).await;
        let reader = other.begin();
        let for_hook = reader.clone();
        hooked.at_commits("p", move |_| {
            let reader = for_hook.clone();
            async move { assert_eq!(get(&reader, "p").await.as_deref(), Some("old")) }
        });
        let transaction = world.begin();
        transaction.write(vec![update("p", "new"), put("s", "new")]).await.unwrap();
        let commit_ts = transaction.commit().await.unwrap();
        assert!(commit_ts > reader.snapshot_ts().await.unwrap());
        assert_eq!(get(&reader, "p").await.as_deref(), Some("old"));
        assert_eq!(get(&reader, "s").await, None);
    });
}

#[test]
fn auditors_stay_as_fast_while_a_large_transaction_commits() {
    const ROWS: usize = 20_000;
    const RTT: Duration = Duration::from_millis(2);
    let env = SimEnv::new(1);
    let for_world = env.clone();
    let opened = async move { World::hooked(for_world, Path::ByRow, options(Path::ByRow)).await };
    let (world, hooked) = env.block_on(opened).unwrap();
    let work = async move {
        let before = world.begin();
        before.write((0..ROWS).map(|i| put(&format!("k{i:05}"), "old")).collect()).await.unwrap();
        before.commit().await.unwrap();
        world.settle().await;
        hooked.slow_down(|_| RTT);
        let auditor = other_over(&world, &hooked).await;
        let latencies = |auditor: World, until: Arc<Mutex<bool>>| async move {
            let mut latencies = Vec::new();
            while !*until.lock() || latencies.len() < 200 {
                let began = auditor.env.monotonic();
                let reader = auditor.begin();
                let at = auditor.env.random() as usize % (ROWS - 200);
                for i in 0..10 {
                    assert!(get(&reader, &format!("k{:05}", (at * (i + 1)) % ROWS)).await.is_some());
                }
                let range = RowRange { start: key(&format!("k{at:05}")), end: Some(key(&format!("k{:05}", at + 200))) };
                let rows = scan(&reader, range, TxnScanOptions::default(), OwnWrites::All).await;
                assert_eq!(rows.len(), 200);
                assert!(rows.iter().all(|(_, value)| *value == rows[0].1), "all of it or nothing");
                latencies.push(auditor.env.monotonic() - began);
            }
            latencies.sort();
            (latencies.len(), latencies[latencies.len() / 2], latencies[latencies.len() * 99 / 100])
        };
        let idle = latencies(auditor.clone(), Arc::new(Mutex::new(true))).await;
        let writer = world.begin();
        writer.write((0..ROWS).map(|i| update(&format!("k{i:05}"), "new")).collect()).await.unwrap();
        let done = Arc::new(Mutex::new(false));
        let committing = async {
            let began = world.env.monotonic();
            writer.commit().await.unwrap();
            let took = world.env.monotonic() - began;
            // The secondaries follow.
            world.env.sleep(100 * RTT).await;
            *done.lock() = true;
            took
        };
        let (took, busy) = futures::future::join(committing, latencies(auditor, done.clone())).await;
        println!("auditors of 11 calls: idle {idle:?}, beside a commit of {took:?} {busy:?}");
        // One question and at most one push for the one owner of all those locks.
        assert!(busy.2 <= idle.2 + 3 * RTT, "p99 {:?} idle, {:?} beside a commit", idle.2, busy.2);
    };
    env.block_on(work).unwrap();
}

// The number of calls.

#[test]
fn reads_are_one_call_and_a_commit_is_two_waves() {
    over_rows(|world, hooked| async move {
        const RTT: Duration = Duration::from_millis(10);
        let writes: Vec<Write> = (0..100).map(|i| put(&format!("k{i:02}"), &"x".repeat(i * 10))).collect();
        let keys: Vec<Bytes> = writes.iter().map(|write| write.key.clone()).collect();
        hooked.slow_down(|_| RTT);
        let transaction = world.begin();
        transaction.write(writes).await.unwrap();
        transaction.snapshot_ts().await.unwrap();
        hooked.take_log();
        let began = world.env.monotonic();
        assert_eq!((transaction.stats().commit_calls, transaction.stats().commit_waves), (101, 2));
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
        assert_eq!((reader.stats().calls, reader.stats().waves), (3, 3));
        futures::future::join(get(&reader, "k01"), get(&reader, "k02")).await;
        assert_eq!((reader.stats().calls, reader.stats().waves), (5, 4));
    });
}

// Keys that nobody else knows.

/// Declares the keys from `f` up to `g` as new, and puts `count` of them.
async fn made(world: &World, count: u32) -> Arc<Transaction> {
    let transaction = world.begin();
    transaction.snapshot_ts().await.unwrap();
    transaction.made(RowRange { start: key("f"), end: Some(key("g")) });
    let long = "long".repeat(500);
    let rows = (0..count).map(|n| put(&format!("f{n:05}"), if n % 7 == 0 { &long } else { "short" }));
    transaction.write(rows.collect()).await.unwrap();
    transaction
}

async fn count_of_made(world: &World) -> usize {
    let range = RowRange { start: key("f"), end: Some(key("g")) };
    scan(&world.begin(), range, TxnScanOptions::default(), OwnWrites::All).await.len()
}

#[test]
fn keys_that_nobody_else_knows_are_locked_many_at_a_time() {
    over_rows(|world, hooked| async move {
        let transaction = made(&world, 2500).await;
        transaction.write(vec![put("a", "1")]).await.unwrap();
        hooked.take_log();
        transaction.commit().await.unwrap();
        world.settle().await;
        let log = hooked.take_log();
        let changes = log.iter().filter(|(_, call)| matches!(call, Call::Change(..))).count();
        let many = log.iter().filter(|(_, call)| matches!(call, Call::ChangeMany(_))).count();
        assert_eq!(changes, 2, "the primary is locked and committed");
        assert!((6..=16).contains(&many), "{many} requests lock and commit the others");
        assert_eq!(count_of_made(&world).await, 2500);
        assert_eq!(count_of_made(&other_node(&world).await).await, 2500);
        assert!(world.dump().iter().all(|row| row.newest(Family::Lock).is_none()));
    });
}

#[test]
fn keys_that_nobody_else_knows_go_when_another_key_conflicts() {
    over_rows(|world, _| async move {
        world.set("a", "0").await;
        let transaction = made(&world, 1500).await;
        transaction.write(vec![update("z", "1")]).await.unwrap();
        transaction.write(vec![update("a", "1")]).await.unwrap();
        world.set("a", "2").await;
        assert!(conflict_kind(transaction.commit().await).is_some());
        world.settle().await;
        assert_eq!(count_of_made(&world).await, 0);
        assert!(
            world.dump().iter().all(|row| row.newest(Family::Lock).is_none() && row.newest(Family::Data).is_none())
        );
    });
}

#[test]
fn a_late_copy_of_locks_that_nobody_else_knew_says_what_is_there_already() {
    over_rows(|world, hooked| async move {
        // The locks of a request for many rows, before the primary commits.
        let (copied, of_hook, of_world) = (Arc::new(Mutex::new(Vec::new())), world.dump(), world.store.clone());
        assert!(of_hook.iter().all(|row| !row.key.starts_with(b"f")));
        let transaction = made(&world, 20).await;
        transaction.write(vec![put("a", "1")]).await.unwrap();
        let copies = copied.clone();
        hooked.set(move |call| {
            let (copies, store) = (copies.clone(), of_world.clone());
            async move {
                if call.commits("a") {
                    let filter = storage::ReadFilter::new().with(Family::Lock, storage::TimestampRange::ALL, 1).with(
                        Family::Data,
                        storage::TimestampRange::ALL,
                        1,
                    );
                    let keys: Vec<Bytes> = (0..20).map(|n| key(&format!("f{n:05}"))).collect();
                    *copies.lock() = store.store.read(&keys, &filter).await.unwrap();
                }
                Fate::Done
            }
        });
        transaction.commit().await.unwrap();
        hooked.clear();
        world.settle().await;
        // Some keys change before the copy arrives.
        world.set("f00001", "newer").await;
        let gone = world.begin();
        gone.write(vec![delete("f00007")]).await.unwrap();
        gone.commit().await.unwrap();
        world.settle().await;
        let rows = copied.lock().clone();
        assert_eq!(rows.len(), 20);
        for row in rows {
            for cell in row.cells {
                plant(&world, std::str::from_utf8(&row.key).unwrap(), cell.family, cell.timestamp, cell.value).await;
            }
        }
        let other = other_node(&world).await;
        for world in [&other, &world] {
            assert_eq!(count_of_made(world).await, 19);
            assert_eq!(world.value("f00001").await.as_deref(), Some("newer"));
            assert_eq!(world.value("f00007").await, None);
            assert_eq!(world.value("f00014").await, Some("long".repeat(500)));
        }
        world.set("f00002", "newest").await;
        assert_eq!(other.value("f00002").await.as_deref(), Some("newest"));
    });
}
