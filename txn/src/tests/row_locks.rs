//! Tests of locked rows that others wait for, and of statements with their own snapshots, where one
//! process has all locks.

use super::harness::*;
use crate::locks::{LockFailure, LockWait};
use crate::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use storage::Env;
use storage::testing::SimEnv;

const FOREVER: LockWait = LockWait::For(None);

fn read_committed(world: &World) -> Arc<Transaction> {
    let options = TransactionOptions { isolation: Isolation::ReadCommitted, ..TransactionOptions::default() };
    world.store.begin(options)
}

async fn lock_row(transaction: &Transaction, name: &str) -> Result<LockedRow> {
    let locked = transaction.lock_rows(&[(key(name), LockStrength::NoKeyUpdate)], FOREVER).await?;
    Ok(locked[0])
}

/// The newest committed value, whatever the statement's snapshot sees.
async fn newest(transaction: &Transaction, name: &str) -> Option<String> {
    let value = transaction.get(name.as_bytes(), OwnWrites::Newest).await.unwrap();
    value.map(|value| String::from_utf8_lossy(&value).into_owned())
}

#[test]
fn each_statement_has_a_snapshot_of_its_own() {
    on_paths_alone(|world| async move {
        world.set("a", "1").await;
        let (transaction, at_snapshot) = (read_committed(&world), world.begin());
        let first = transaction.for_statement(false);
        assert_eq!(get(&first, "a").await.as_deref(), Some("1"));
        assert_eq!(get(&at_snapshot.for_statement(false), "a").await.as_deref(), Some("1"));
        world.set("a", "2").await;
        assert_eq!(get(&first, "a").await.as_deref(), Some("1"), "a statement under way");
        assert_eq!(newest(&first, "a").await.as_deref(), Some("2"));
        assert_eq!(get(&transaction.for_statement(false), "a").await.as_deref(), Some("2"));
        assert_eq!(get(&at_snapshot.for_statement(false), "a").await.as_deref(), Some("1"));
        assert_eq!(newest(&at_snapshot, "a").await.as_deref(), Some("1"));
    });
}

#[test]
fn a_locked_row_is_waited_for_and_told_to_have_changed() {
    on_paths_alone(|world| async move {
        world.set("a", "1").await;
        let (one, two) = (read_committed(&world), read_committed(&world));
        assert_eq!(lock_row(&one, "a").await, Ok(LockedRow::Same));
        one.write(vec![update("a", "2")]).await.unwrap();
        get(&two, "a").await;
        let other = two.clone();
        let waits = beside(&world.env, async move { lock_row(&other, "a").await });
        world.env.sleep(Duration::from_millis(10)).await;
        assert_eq!(world.store.locks().waiting().len(), 1);
        one.commit().await.unwrap();
        assert_eq!(waits.await.unwrap(), Ok(LockedRow::Changed));
        assert_eq!(newest(&two, "a").await.as_deref(), Some("2"));
        two.write(vec![update("a", "3")]).await.unwrap();
        two.commit().await.unwrap();
        assert_eq!(world.value("a").await.as_deref(), Some("3"));
        assert_eq!(world.store.locks().held(), 0);
    });
}

#[test]
fn at_snapshot_level_a_changed_row_is_a_conflict() {
    on_paths_alone(|world| async move {
        world.set("a", "1").await;
        let transaction = world.begin();
        get(&transaction, "a").await;
        world.set("a", "2").await;
        assert!(matches!(lock_row(&transaction, "a").await, Err(TxnError::Conflict(_))));
        assert_eq!(lock_row(&transaction, "b").await, Ok(LockedRow::Same));
    });
}

#[test]
fn nobody_commits_to_a_row_that_another_has_locked() {
    on_paths_alone(|world| async move {
        world.set("a", "1").await;
        for (changes, conflict) in [(false, None), (true, Some(ConflictKind::Write))] {
            let holder = read_committed(&world);
            lock_row(&holder, "a").await.unwrap();
            let writer = world.begin();
            writer.write(vec![update("a", "written")]).await.unwrap();
            writer.snapshot_ts().await.unwrap();
            let commit = beside(&world.env, async move { writer.commit().await });
            world.env.sleep(Duration::from_millis(10)).await;
            assert_eq!(world.store.locks().waiting().len(), 1, "COMMIT waits");
            if changes {
                holder.write(vec![update("a", "held")]).await.unwrap();
            }
            holder.commit().await.unwrap();
            assert_eq!(conflict_kind(commit.await.unwrap()), conflict);
            let expected = if changes { "held" } else { "written" };
            assert_eq!(world.value("a").await.as_deref(), Some(expected));
        }
        assert_eq!(world.store.locks().held(), 0);
    });
}

#[test]
fn a_commit_waits_no_longer_than_it_may() {
    on_paths_alone(|world| async move {
        let holder = world.begin();
        lock_row(&holder, "a").await.unwrap();
        let writer = world.begin();
        writer.set_lock_timeout(Some(Duration::from_millis(20)));
        writer.write(vec![put("a", "1")]).await.unwrap();
        let Err(TxnError::NotLocked { failure: LockFailure::TimedOut, .. }) = writer.commit().await else {
            panic!("not refused");
        };
        holder.rollback().await;
        assert_eq!(world.value("a").await, None);
        assert_eq!(world.store.locks().held(), 0);
    });
}

#[test]
fn a_row_lock_waits_for_no_commit_of_other_rows() {
    on_paths_alone(|world| async move {
        world.set("a", "1").await;
        world.set("b", "1").await;
        let writer = world.begin();
        writer.write(vec![update("a", "2")]).await.unwrap();
        let points = [failpoint::BEFORE_COMMIT_ATOMIC, failpoint::AFTER_PREWRITE];
        points.iter().for_each(|point| world.store.fail_points().set(point, FailAction::Wait));
        let commit = beside(&world.env, async move { writer.commit().await });
        world.env.sleep(Duration::from_millis(10)).await;
        let locker = read_committed(&world);
        let rows = [key("a"), key("b")].map(|key| (key, LockStrength::NoKeyUpdate));
        let states = locker.lock_rows(&rows, LockWait::No).await.unwrap();
        assert_eq!(states, [LockedRow::Held, LockedRow::Same], "the commit has not ended");
        let other = locker.clone();
        let waits = beside(&world.env, async move { lock_row(&other, "a").await });
        world.env.sleep(Duration::from_millis(10)).await;
        points.iter().for_each(|point| world.store.fail_points().clear(point));
        commit.await.unwrap().unwrap();
        assert_eq!(waits.await.unwrap(), Ok(LockedRow::Changed));
        assert_eq!(newest(&locker, "a").await.as_deref(), Some("2"));
    });
}

#[test]
fn what_was_not_locked_is_held_against_commits_since_its_statement() {
    on_paths_alone(|world| async move {
        world.set("a", "1").await;
        let transaction = read_committed(&world);
        let first = transaction.for_statement(false);
        get(&first, "a").await;
        first.write(vec![update("a", "2")]).await.unwrap();
        world.set("a", "3").await;
        // A later statement sees the change. The writes of the first could not know of it.
        transaction.advance_command();
        let second = transaction.for_statement(false);
        get(&second, "b").await;
        lock_row(&second, "b").await.unwrap();
        assert_eq!(conflict_kind(second.commit().await), Some(ConflictKind::Write));
    });
}

#[test]
fn rolling_back_to_a_command_gives_its_locks_back() {
    on_paths_alone(|world| async move {
        let holder = world.begin();
        lock_row(&holder, "a").await.unwrap();
        let savepoint = holder.advance_command();
        lock_row(&holder, "b").await.unwrap();
        let rows = [(key("a"), LockStrength::Update), (key("b"), LockStrength::Update)];
        let other = world.begin();
        assert_eq!(other.lock_rows(&rows, LockWait::No).await.unwrap(), [LockedRow::Held, LockedRow::Held]);
        holder.rollback_to(savepoint).await.unwrap();
        let again = world.begin();
        assert_eq!(again.lock_rows(&rows, LockWait::No).await.unwrap(), [LockedRow::Held, LockedRow::Same]);
        drop((holder, other, again));
        assert_eq!(world.store.locks().held(), 0);
    });
}

#[test]
fn a_deadlock_ends_one_of_both() {
    on_paths_alone(|world| async move {
        let (one, two) = (read_committed(&world), read_committed(&world));
        lock_row(&one, "a").await.unwrap();
        lock_row(&two, "b").await.unwrap();
        let waits = beside(&world.env, {
            let one = one.clone();
            async move { lock_row(&one, "b").await }
        });
        world.env.sleep(Duration::from_millis(10)).await;
        let refused = lock_row(&two, "a").await;
        assert!(matches!(&refused, Err(TxnError::NotLocked { failure: LockFailure::Deadlock(_), .. })), "{refused:?}");
        two.rollback().await;
        assert_eq!(waits.await.unwrap(), Ok(LockedRow::Same));
    });
}

/// Many clients increment the same few rows at both levels, in every order of their steps. No count is lost, and no
/// client is refused at READ COMMITTED.
#[test]
fn counts_are_never_lost() {
    for seed in 0..60 {
        for path in [Path::OnePhase, Path::Embedded, Path::ByRow] {
            let env = SimEnv::new(seed);
            let for_world = env.clone();
            env.clone()
                .block_on(async move {
                    let options = TransactionStoreOptions { alone: true, ..options(path) };
                    let world = World::with(for_world, path, options).await;
                    for row in ["a", "b"] {
                        world.set(row, "0").await;
                    }
                    let done = Arc::new(AtomicU64::new(0));
                    let tasks: Vec<_> = (0..8u64)
                        .map(|number| beside(&world.env, count_up(world.clone(), number, done.clone())))
                        .collect();
                    for task in tasks {
                        task.await.unwrap();
                    }
                    let mut sum = 0;
                    for row in ["a", "b"] {
                        sum += world.value(row).await.unwrap().parse::<u64>().unwrap();
                    }
                    assert_eq!(sum, done.load(Ordering::SeqCst), "seed {seed}");
                    assert_eq!(world.store.locks().held(), 0);
                })
                .unwrap();
        }
    }
}

pub(super) async fn count_up(world: World, number: u64, done: Arc<AtomicU64>) {
    for turn in 0..4 {
        let row = if (number + turn).is_multiple_of(3) { "b" } else { "a" };
        let at_snapshot = number.is_multiple_of(2);
        loop {
            world.env.sleep(Duration::from_micros(world.env.random() % 50)).await;
            let transaction = if at_snapshot { world.begin() } else { read_committed(&world) };
            let seen = get(&transaction, row).await;
            let count = if at_snapshot {
                seen
            } else {
                world.env.sleep(Duration::from_micros(world.env.random() % 50)).await;
                lock_row(&transaction, row).await.unwrap();
                newest(&transaction, row).await
            };
            let count: u64 = count.unwrap().parse().unwrap();
            transaction.write(vec![update(row, &(count + 1).to_string())]).await.unwrap();
            world.env.sleep(Duration::from_micros(world.env.random() % 50)).await;
            match transaction.commit().await {
                Ok(_) => break,
                Err(TxnError::Conflict(_)) if at_snapshot => {}
                Err(error) => panic!("{error}"),
            }
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// Runs a future beside others, and answers its result.
pub(super) fn beside<T: Send + 'static>(
    env: &Arc<SimEnv>,
    work: impl Future<Output = T> + Send + 'static,
) -> futures::channel::oneshot::Receiver<T> {
    let (sender, receiver) = futures::channel::oneshot::channel();
    env.spawn("test", Box::pin(async move { drop(sender.send(work.await)) }));
    receiver
}
