//! Large transactions over rows, which lock their writes before COMMIT.

use super::harness::*;
use super::hooked::{Call, Fate, HookedStore};
use super::nodes::*;
use crate::*;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::testing::SimEnv;
use storage::{Env, Family, Mutation, RowRange};

/// Options with no memory for buffers: every write is locked at once.
fn early(spill_dir: &std::path::Path) -> TransactionStoreOptions {
    TransactionStoreOptions { spill_dir: Some(spill_dir.to_owned()), early_prewrite_bytes: 0, ..options(Path::ByRow) }
}

fn early_over_rows<Work: Future<Output = ()> + Send + 'static>(test: impl Fn(World, Arc<HookedStore>) -> Work) {
    let folder = tempfile::tempdir().unwrap();
    over_rows_with(early(folder.path()), test);
}

fn locks(world: &World) -> usize {
    world.dump().iter().filter(|row| row.newest(Family::Lock).is_some()).count()
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

async fn everything(transaction: &Arc<Transaction>, own: OwnWrites) -> Vec<(String, String)> {
    scan(transaction, RowRange { start: key("a"), end: Some(key("z")) }, TxnScanOptions::default(), own).await
}

#[test]
fn what_was_locked_before_commit_is_seen_by_its_transaction_alone() {
    early_over_rows(|world, hooked| async move {
        world.set("a", "0").await;
        world.set("b", "0").await;
        let other = other_node(&world).await;
        let transaction = world.begin();
        transaction.write(vec![update("a", "1"), put("c", "1")]).await.unwrap();
        let command = transaction.advance_command();
        transaction.write(vec![delete("b"), put("d", &"long".repeat(500))]).await.unwrap();
        assert_eq!(locks(&world), 5, "four keys and the outcome");
        assert_eq!(get(&transaction, "a").await.as_deref(), Some("1"));
        assert_eq!(get(&transaction, "b").await, None);
        let own = transaction.get(b"b", OwnWrites::Before(command)).await.unwrap();
        assert_eq!(own.as_deref(), Some(&b"0"[..]), "the statement does not see its own");
        let keys = [key("a"), key("b"), key("c"), key("x")];
        let values = transaction.get_many(&keys, OwnWrites::All).await.unwrap();
        assert_eq!(values, [Some(key("1")), None, Some(key("1")), None]);
        assert_eq!(
            everything(&transaction, OwnWrites::Before(command)).await,
            pairs(&[("a", "1"), ("b", "0"), ("c", "1")])
        );
        assert_eq!(transaction.stats().locks_met, 0, "its own locks are none");
        let began = world.env.monotonic();
        let reader = other.begin();
        assert_eq!(everything(&reader, OwnWrites::All).await, pairs(&[("a", "0"), ("b", "0")]));
        assert_eq!(world.env.monotonic(), began, "nobody waits");
        assert_eq!((transaction.stats().commit_calls, transaction.stats().commit_waves), (1, 2));
        let start_ts = transaction.start_ts().await.unwrap();
        hooked.take_log();
        transaction.commit().await.unwrap();
        let log = hooked.take_log();
        let outcome = crate::system::outcome_key(start_ts);
        let of_rows = |call: &Call| matches!(call, Call::Change(key, _) if *key != outcome);
        assert!(!log.iter().any(|(_, call)| of_rows(call)), "only the primary's commit is left to do: {log:?}");
        assert_eq!(everything(&reader, OwnWrites::All).await, pairs(&[("a", "0"), ("b", "0")]));
        world.settle().await;
        let long = "long".repeat(500);
        assert_eq!(everything(&other.begin(), OwnWrites::All).await, pairs(&[("a", "1"), ("c", "1"), ("d", &long)]));
        assert_eq!(locks(&world), 0);
    });
}

/// A transaction writes, rolls savepoints back and commits. The undone writes leave nothing, not even by a late copy.
#[test]
fn what_a_savepoint_undid_leaves_nothing_not_even_by_a_late_copy() {
    for dies in [false, true] {
        early_over_rows(move |world, hooked| async move {
            world.set("b", "0").await;
            hooked.set(|call| async move {
                let copied = ["a", "b", "c"].iter().any(|name| call.locks(name));
                if copied { Fate::Copied } else { Fate::Done }
            });
            let transaction = world.begin();
            transaction.write(vec![put("d", "1"), put("c", "first")]).await.unwrap();
            let savepoint = transaction.advance_command();
            transaction.write(vec![put("a", "undone"), update("b", "undone"), put("c", "undone")]).await.unwrap();
            transaction.rollback_to(savepoint).await.unwrap();
            transaction.write(vec![put("e", "1")]).await.unwrap();
            if dies {
                world.store.fail_points().set(failpoint::BEFORE_COMMIT_SECONDARY, FailAction::Stop);
            }
            transaction.commit().await.unwrap();
            world.settle().await;
            hooked.clear();
            // Another node that meets its locks finishes them by their contents.
            let other = other_node(&world).await;
            let expected = pairs(&[("b", "0"), ("c", "first"), ("d", "1"), ("e", "1")]);
            assert_eq!(everything(&other.begin(), OwnWrites::All).await, expected);
            world.settle().await;
            hooked.replay().await;
            assert_eq!(everything(&other.begin(), OwnWrites::All).await, expected);
            world.settle().await;
            other.store.resolve_everything().await.unwrap();
            assert_eq!(everything(&other.begin(), OwnWrites::All).await, expected);
        });
    }
}

#[test]
fn a_key_that_is_written_again_keeps_its_last_value() {
    let long = |text: &str| text.repeat(1000);
    for dies in [false, true] {
        early_over_rows(move |world, _| async move {
            let transaction = world.begin();
            for (first, last) in [("a", long("x")), ("b", "2".to_owned()), ("c", long("y")), ("d", "2".to_owned())] {
                let long_first = first == "b" || first == "c";
                let value = if long_first { long("w") } else { "1".to_owned() };
                transaction.write(vec![put(first, &value)]).await.unwrap();
                transaction.write(vec![update(first, &last)]).await.unwrap();
            }
            transaction.write(vec![put("e", "1")]).await.unwrap();
            transaction.write(vec![delete("e")]).await.unwrap();
            transaction.write(vec![lock("f", LockStrength::KeyShare)]).await.unwrap();
            transaction.write(vec![put("f", "2")]).await.unwrap();
            if dies {
                world.store.fail_points().set(failpoint::BEFORE_COMMIT_SECONDARY, FailAction::Stop);
            }
            transaction.commit().await.unwrap();
            world.settle().await;
            let other = other_node(&world).await;
            for _ in 0..2 {
                let (x, y) = (long("x"), long("y"));
                let expected = pairs(&[("a", &x), ("b", "2"), ("c", &y), ("d", "2"), ("f", "2")]);
                assert_eq!(everything(&other.begin(), OwnWrites::All).await, expected);
                world.settle().await;
                other.store.resolve_everything().await.unwrap();
            }
            assert_eq!(row(&world, "b").newest(Family::Data), None, "the first value is gone");
            assert_eq!(row(&world, "e").newest(Family::Write), None, "only a check is left");
        });
    }
}

#[test]
fn a_conflict_is_told_when_it_is_met_and_leaves_nothing() {
    early_over_rows(|world, _| async move {
        world.set("b", "0").await;
        let other = other_node(&world).await;
        let transaction = world.begin();
        transaction.write(vec![put("a", "1")]).await.unwrap();
        other.set("b", "other").await;
        let savepoint = transaction.advance_command();
        let refused = transaction.write(vec![update("b", "1")]).await;
        assert!(matches!(refused, Err(TxnError::Conflict(_))), "{refused:?}");
        // The rollback cannot undo the conflict. The transaction's snapshot shows the row that the other overwrote,
        // so it must not go on.
        transaction.rollback_to(savepoint).await.unwrap();
        assert_eq!(conflict_kind(transaction.commit().await), Some(ConflictKind::Write));
        world.settle().await;
        assert_eq!(everything(&other.begin(), OwnWrites::All).await, pairs(&[("b", "other")]));
        assert_eq!(locks(&world), 0);
    });
}

#[test]
fn a_rollback_removes_what_was_locked() {
    early_over_rows(|world, _| async move {
        let transaction = world.begin();
        transaction.write(vec![put("a", "1"), put("b", &"long".repeat(500))]).await.unwrap();
        let start_ts = transaction.start_ts().await.unwrap();
        assert_eq!(locks(&world), 3);
        transaction.rollback().await;
        world.env.sleep(SECOND).await;
        assert_eq!(locks(&world), 0);
        assert!(row(&world, "b").cells.is_empty());
        assert_eq!(other_node(&world).await.store.outcome(start_ts).await.unwrap(), Outcome::Aborted);
        world.set("a", "2").await;
    });
}

#[test]
fn signs_of_life_begin_with_the_first_lock_and_end_with_the_transaction() {
    early_over_rows(|world, _| async move {
        let other = other_node(&world).await;
        let transaction = world.begin();
        transaction.write(vec![put("a", "1")]).await.unwrap();
        // The client pauses for longer than a lock lives.
        for _ in 0..10 {
            world.env.sleep(2 * SECOND).await;
            assert_eq!(other.value("a").await, None);
            let writer = other.begin();
            assert!(matches!(writer.write(vec![put("a", "other")]).await, Err(TxnError::Conflict(_))));
            writer.rollback().await;
        }
        transaction.write(vec![put("b", "1")]).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(other.value("b").await.as_deref(), Some("1"));
        world.settle().await;
        // A transaction whose client vanishes is ended by others.
        let gone = world.begin();
        gone.write(vec![update("a", "gone")]).await.unwrap();
        drop(gone);
        world.env.sleep(6 * SECOND).await;
        other.set("a", "2").await;
        assert_eq!(world.value("a").await.as_deref(), Some("2"));
    });
}

#[test]
fn a_transaction_that_is_open_for_too_long_gives_no_more_signs_of_life() {
    early_over_rows(|world, _| async move {
        let transaction = world.begin();
        transaction.write(vec![put("a", "1")]).await.unwrap();
        world.env.sleep(1810 * SECOND).await;
        // Garbage collection must not wait for it.
        other_node(&world).await.set("a", "other").await;
        let refused = transaction.write(vec![put("b", "1")]).await;
        assert!(matches!(refused, Err(TxnError::SnapshotTooOld { .. })), "{refused:?}");
        assert!(matches!(transaction.commit().await, Err(TxnError::SnapshotTooOld { .. })));
        world.settle().await;
        assert_eq!(world.value("a").await.as_deref(), Some("other"));
        assert_eq!(locks(&world), 0);
    });
}

#[test]
fn a_transaction_that_others_ended_before_commit_is_told() {
    early_over_rows(|world, hooked| async move {
        let other = other_node(&world).await;
        let transaction = world.begin();
        transaction.write(vec![put("a", "1")]).await.unwrap();
        // Its node is cut off for longer than its locks live.
        hooked.set(|_| async { Fate::Unavailable });
        world.env.sleep(7 * SECOND).await;
        other.set("a", "other").await;
        hooked.clear();
        world.env.sleep(3 * SECOND).await;
        let refused = transaction.write(vec![put("b", "1")]).await;
        assert!(matches!(&refused, Err(TxnError::Conflict(c)) if c.kind == ConflictKind::RolledBack), "{refused:?}");
        assert_eq!(conflict_kind(transaction.commit().await), Some(ConflictKind::RolledBack));
        world.settle().await;
        assert_eq!(everything(&other.begin(), OwnWrites::All).await, pairs(&[("a", "other")]));
    });
}

#[test]
fn a_statement_that_is_cancelled_while_it_locks_leaves_nothing() {
    early_over_rows(|world, hooked| async move {
        let transaction = world.begin();
        transaction.write(vec![put("a", "1")]).await.unwrap();
        let savepoint = transaction.advance_command();
        // The lock of one row arrives, one is delayed, and one was not sent.
        hooked.set(|call| async move {
            match call {
                call if call.locks("c") => std::future::pending().await,
                call if call.locks("d") => Fate::Late,
                _ => Fate::Done,
            }
        });
        let writes = transaction.write(vec![put("b", "undone"), put("c", "undone"), put("d", "undone")]);
        let cancel = Box::pin(world.env.sleep(SECOND));
        assert!(matches!(futures::future::select(Box::pin(writes), cancel).await, futures::future::Either::Right(_)));
        hooked.set(|call| async move { if call.locks("d") { Fate::Copied } else { Fate::Done } });
        transaction.rollback_to(savepoint).await.unwrap();
        transaction.write(vec![put("e", "1")]).await.unwrap();
        transaction.commit().await.unwrap();
        world.settle().await;
        hooked.clear();
        hooked.replay().await;
        let other = other_node(&world).await;
        for _ in 0..2 {
            assert_eq!(everything(&other.begin(), OwnWrites::All).await, pairs(&[("a", "1"), ("e", "1")]));
            world.settle().await;
            other.store.resolve_everything().await.unwrap();
        }
    });
}

#[test]
fn readers_of_a_node_push_a_live_owner_once_and_remember_it() {
    early_over_rows(|world, hooked| async move {
        let transaction = world.begin();
        let rows: Vec<String> = (0..50).map(|i| format!("k{i:02}")).collect();
        transaction.write(rows.iter().map(|name| put(name, "1")).collect()).await.unwrap();
        let other = other_over(&world, &hooked).await;
        // The first reader pushes just above itself, and the second further ahead.
        for _ in 0..2 {
            assert_eq!(other.value("k00").await, None);
        }
        hooked.take_log();
        for name in &rows {
            assert_eq!(other.value(name).await, None);
        }
        assert_eq!(hooked.take_log().len(), rows.len(), "one call a read");
        let commit_ts = transaction.commit().await.unwrap();
        let reader = other.begin();
        assert!(reader.snapshot_ts().await.unwrap() > commit_ts);
        assert_eq!(get(&reader, "k07").await.as_deref(), Some("1"));
    });
}

/// After random writes, savepoints, losses and delays, the committed state is what remained in the end.
#[test]
fn random_transactions_leave_what_remained() {
    for seed in 0..150 {
        let env = SimEnv::new(seed);
        let folder = tempfile::tempdir().unwrap();
        let limit = [0, 300, 900][(seed % 3) as usize];
        let options = TransactionStoreOptions { early_prewrite_bytes: limit, ..early(folder.path()) };
        let for_world = env.clone();
        let opened = async move { World::hooked(for_world, Path::ByRow, options).await };
        let (world, hooked) = env.block_on(opened).unwrap();
        env.block_on(random_transaction(world, hooked, seed)).unwrap();
    }
}

async fn random_transaction(world: World, hooked: Arc<HookedStore>, seed: u64) {
    let env = world.env.clone();
    let draw = move |below: u64| env.random() % below;
    let names: Vec<String> = (0..8).map(|i| format!("k{i}")).collect();
    let mut model: BTreeMap<String, String> = BTreeMap::new();
    for name in names.iter().take(4) {
        world.set(name, "before").await;
        model.insert(name.clone(), "before".to_owned());
    }
    world.settle().await;
    let drawn = draw.clone();
    hooked.set(move |call| {
        let fate = match (&call, drawn(12)) {
            (Call::Change(..), 0) => Fate::LostAnswer,
            (Call::Change(..), 1) => Fate::LostRequest,
            (Call::Change(..), 2) => Fate::Late,
            (Call::Change(..), 3 | 4) => Fate::Copied,
            _ => Fate::Done,
        };
        async move { fate }
    });
    let transaction = world.begin();
    // States at savepoints that can be rolled back to.
    let mut savepoints = vec![(transaction.advance_command(), model.clone())];
    for step in 0..30 {
        let name = names[draw(8) as usize].clone();
        match draw(10) {
            0 => savepoints.push((transaction.advance_command(), model.clone())),
            1 if savepoints.len() > 1 => {
                savepoints.truncate(1 + draw(savepoints.len() as u64 - 1) as usize);
                let (command, state) = savepoints.pop().unwrap();
                transaction.rollback_to(command).await.unwrap();
                model = state.clone();
                savepoints.push((transaction.advance_command(), state));
            }
            2 | 3 => {
                transaction.write(vec![delete(&name)]).await.unwrap();
                model.remove(&name);
            }
            4 => transaction.write(vec![lock(&name, LockStrength::KeyShare)]).await.unwrap(),
            drawn => {
                let value = format!("{seed} {step} ").repeat(if drawn == 9 { 200 } else { 1 });
                transaction.write(vec![put(&name, &value)]).await.unwrap();
                model.insert(name, value);
            }
        }
        let expected: Vec<_> = model.clone().into_iter().collect();
        assert_eq!(everything(&transaction, OwnWrites::All).await, expected, "seed {seed} step {step}");
    }
    let commits = draw(4) > 0;
    if draw(3) == 0 {
        world.store.fail_points().set(failpoint::BEFORE_COMMIT_SECONDARY, FailAction::Stop);
    }
    if commits {
        transaction.commit().await.unwrap();
    } else {
        transaction.rollback().await;
        model = names.iter().take(4).map(|name| (name.clone(), "before".to_owned())).collect();
    }
    hooked.clear();
    // If even the rollback was lost, the locks must expire.
    world.env.sleep(7 * SECOND).await;
    let expected: Vec<_> = model.into_iter().collect();
    let other = other_node(&world).await;
    for round in 0..3 {
        assert_eq!(everything(&other.begin(), OwnWrites::All).await, expected, "seed {seed}, round {round}");
        world.settle().await;
        match round {
            0 => drop(hooked.replay().await),
            _ => drop(other.store.resolve_everything().await.unwrap()),
        }
    }
    assert_eq!(locks(&world), 0, "seed {seed}");
}

#[test]
fn a_large_transaction_goes_in_waves_and_stays_small() {
    const ROWS: usize = 5_000;
    let folder = tempfile::tempdir().unwrap();
    let options = TransactionStoreOptions { early_prewrite_bytes: 100_000, ..early(folder.path()) };
    let env = SimEnv::new(1);
    let for_world = env.clone();
    let opened = async move { World::hooked(for_world, Path::ByRow, options).await };
    let (world, hooked) = env.block_on(opened).unwrap();
    let work = async move {
        const RTT: Duration = Duration::from_millis(10);
        let (most, under_way) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (of_hook, in_hook, env) = (most.clone(), under_way.clone(), world.env.clone());
        hooked.set(move |_| {
            let (most, under_way, env) = (of_hook.clone(), in_hook.clone(), env.clone());
            async move {
                most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                env.sleep(RTT).await;
                under_way.fetch_sub(1, Ordering::SeqCst);
                Fate::Done
            }
        });
        let began = world.env.monotonic();
        let transaction = world.begin();
        for start in (0..ROWS).step_by(100) {
            transaction.write((start..start + 100).map(|i| put(&format!("k{i:05}"), "value")).collect()).await.unwrap();
            assert!(transaction.stats().buffer_bytes < 200_000);
        }
        let before = hooked.take_log();
        let locked = before.iter().filter(|(_, call)| matches!(call, Call::Change(..))).count();
        assert!(locked > ROWS * 8 / 10, "{locked} rows were locked as it went");
        assert!(most.load(Ordering::SeqCst) >= 200, "in waves");
        assert!(world.env.monotonic() - began < 40 * RTT);
        let at_commit = world.env.monotonic();
        transaction.commit().await.unwrap();
        assert!(world.env.monotonic() - at_commit < 5 * RTT, "little is left to do");
        let sets = |call: &Call| {
            matches!(call, Call::Change(_, mutations) if mutations.iter().any(|mutation|
            matches!(mutation, Mutation::Set { family: Family::Lock, .. })))
        };
        let rest = hooked.take_log().iter().filter(|(_, call)| sets(call)).count();
        assert_eq!(locked + rest, ROWS + 1, "each row is locked once, and the outcome");
        world.env.sleep(SECOND).await;
        assert_eq!(everything(&world.begin(), OwnWrites::All).await.len(), ROWS);
    };
    env.block_on(work).unwrap();
}

#[test]
fn keys_that_nobody_else_knows_are_left_to_commit() {
    early_over_rows(|world, hooked| async move {
        let transaction = world.begin();
        transaction.made(RowRange { start: key("f"), end: Some(key("g")) });
        transaction.write(vec![put("a", "1"), put("f1", "1"), put("f2", "1")]).await.unwrap();
        transaction.write(vec![put("f1", "2"), delete("f2"), put("f3", &"long".repeat(500))]).await.unwrap();
        assert_eq!(locks(&world), 2, "a and the outcome");
        hooked.take_log();
        transaction.commit().await.unwrap();
        world.settle().await;
        let of_made = |call: &Call| matches!(call, Call::Change(key, _) if key.starts_with(b"f"));
        assert!(!hooked.take_log().iter().any(|(_, call)| of_made(call)));
        let other = other_node(&world).await;
        let long = "long".repeat(500);
        assert_eq!(everything(&other.begin(), OwnWrites::All).await, pairs(&[("a", "1"), ("f1", "2"), ("f3", &long)]));
        assert_eq!(locks(&world), 0);
    });
}
