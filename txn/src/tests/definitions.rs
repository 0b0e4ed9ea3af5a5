//! Tests of operations for definitions: locked and compared keys, writes without conflicts, reads
//! of the newest commits.

use super::harness::*;
use super::row_locks::beside;
use crate::locks::LockWait;
use crate::*;
use std::sync::Arc;
use std::time::Duration;
use storage::Env;

const FOREVER: LockWait = LockWait::For(None);
const LEVELS: [Isolation; 3] = [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable];

fn begin(world: &World, isolation: Isolation) -> Arc<Transaction> {
    world.store.begin(TransactionOptions { isolation, ..TransactionOptions::default() }).for_statement(false)
}

#[test]
fn locked_keys_tell_what_was_committed_since_the_snapshot() {
    on_paths_alone(|world| async move {
        for isolation in LEVELS {
            for name in ["changed", "same", "shared", "held"] {
                world.set(name, "1").await;
            }
            let transaction = begin(&world, isolation);
            get(&transaction, "same").await;
            let other = world.begin();
            other.write(vec![update("changed", "2"), lock("shared", LockStrength::KeyShare)]).await.unwrap();
            other.write(vec![update("held", "2")]).await.unwrap();
            other.commit().await.unwrap();
            let keys = [
                (key("changed"), LockStrength::NoKeyUpdate),
                (key("same"), LockStrength::Update),
                // A lock-only record conflicts only with a transaction that removes the key.
                (key("shared"), LockStrength::Update),
                // An update that keeps the key does not conflict with a holder of the key.
                (key("held"), LockStrength::KeyShare),
            ];
            assert_eq!(
                transaction.lock_keys(&keys, FOREVER).await.unwrap(),
                [true, false, true, false],
                "{isolation:?}"
            );
            let (last, waits) = (begin(&world, isolation), LockWait::No);
            assert!(last.lock_keys(&[(key("same"), LockStrength::KeyShare)], waits).await.is_err());
            transaction.rollback().await;
            assert_eq!(last.lock_keys(&[(key("same"), LockStrength::Update)], waits).await.unwrap(), [false]);
            last.rollback().await;
        }
    });
}

#[test]
fn what_is_overwritten_is_no_conflict_and_what_is_not_still_is() {
    on_paths_alone(|world| async move {
        for isolation in LEVELS {
            for conflict in [false, true] {
                for name in ["a", "b", "c"] {
                    world.set(name, "1").await;
                }
                let transaction = begin(&world, isolation);
                get(&transaction, "b").await;
                transaction.write(vec![update("b", "own")]).await.unwrap();
                world.set("a", "2").await;
                world.set(if conflict { "c" } else { "d" }, "2").await;
                transaction.overwrite(vec![put("a", "3")], FOREVER).await.unwrap();
                transaction.write(vec![update("c", "own")]).await.unwrap();
                assert_eq!(transaction.commit().await.is_ok(), !conflict, "{isolation:?}");
                let expected = if conflict { ["2", "1", "2"] } else { ["3", "own", "own"] };
                for (name, expected) in ["a", "b", "c"].into_iter().zip(expected) {
                    assert_eq!(world.value(name).await.as_deref(), Some(expected), "{name} {isolation:?}");
                }
            }
        }
    });
}

#[test]
fn one_who_overwrites_waits_for_another() {
    on_paths_alone(|world| async move {
        world.set("a", "1").await;
        let (one, two) = (begin(&world, Isolation::Snapshot), begin(&world, Isolation::Snapshot));
        get(&two, "a").await;
        one.overwrite(vec![put("a", "2")], FOREVER).await.unwrap();
        assert!(two.overwrite(vec![put("a", "4")], LockWait::No).await.is_err());
        let other = two.clone();
        let waits = beside(&world.env, async move { other.overwrite(vec![put("a", "3")], FOREVER).await });
        world.env.sleep(Duration::from_millis(10)).await;
        one.commit().await.unwrap();
        waits.await.unwrap().unwrap();
        two.commit().await.unwrap();
        assert_eq!(world.value("a").await.as_deref(), Some("3"));
    });
}

#[test]
fn what_is_newest_is_read_at_every_level_and_own_writes_with_it() {
    on_paths_alone(|world| async move {
        for isolation in LEVELS {
            world.set("a", "1").await;
            world.set("b", "1").await;
            let transaction = begin(&world, isolation);
            get(&transaction, "a").await;
            transaction.write(vec![update("b", "own")]).await.unwrap();
            world.set("a", "2").await;
            let newest = transaction.for_newest().await.unwrap();
            assert_eq!(get(&newest, "a").await.as_deref(), Some("2"), "{isolation:?}");
            assert_eq!(get(&newest, "b").await.as_deref(), Some("own"));
            assert_eq!(get(&transaction, "a").await.as_deref(), Some("1"));
            transaction.rollback().await;
        }
    });
}

#[test]
fn writes_that_are_undone_keep_their_locks() {
    on_paths_alone(|world| async move {
        world.set("a", "1").await;
        let transaction = begin(&world, Isolation::ReadCommitted);
        transaction.write(vec![update("b", "kept")]).await.unwrap();
        let command = transaction.advance_command();
        transaction.lock_keys(&[(key("a"), LockStrength::Update)], FOREVER).await.unwrap();
        transaction.write(vec![update("a", "2")]).await.unwrap();
        transaction.undo_writes(command);
        let other = begin(&world, Isolation::ReadCommitted);
        assert!(other.lock_keys(&[(key("a"), LockStrength::Update)], LockWait::No).await.is_err());
        assert_eq!(get(&transaction, "a").await.as_deref(), Some("1"));
        transaction.commit().await.unwrap();
        assert_eq!(world.value("a").await.as_deref(), Some("1"));
        assert_eq!(world.value("b").await.as_deref(), Some("kept"));
    });
}

#[test]
fn a_handle_is_that_of_the_transaction_not_of_its_statement() {
    on_paths_alone(|world| async move {
        let transaction = begin(&world, Isolation::ReadCommitted);
        let handle = transaction.handle();
        let next = transaction.for_statement(false);
        drop(transaction);
        assert!(handle.is_of(&next) && !handle.is_gone() && !handle.is_of(&world.begin()));
        drop(next);
        assert!(handle.is_gone());
    });
}
