//! Tests of commits that are ordered in the log and not yet published: who may lock their rows, and who
//! may learn of them.

use super::harness::*;
use super::row_locks::beside;
use crate::locks::LockWait;
use crate::*;
use futures::FutureExt;
use std::sync::Arc;
use std::time::Duration;
use storage::{Env, Timestamp};

const FOREVER: LockWait = LockWait::For(None);

fn begin(world: &World) -> Arc<Transaction> {
    let options = TransactionOptions { isolation: Isolation::ReadCommitted, ..TransactionOptions::default() };
    world.store.begin(options)
}

async fn locked(transaction: &Transaction, name: &str) -> LockedRow {
    let rows = [(key(name), LockStrength::NoKeyUpdate)];
    transaction.lock_rows(&rows, FOREVER).await.unwrap()[0]
}

async fn newest(transaction: &Transaction, name: &str) -> Option<String> {
    let value = transaction.get(name.as_bytes(), OwnWrites::Newest).await.unwrap();
    value.map(|value| String::from_utf8_lossy(&value).into_owned())
}

/// Runs commits beside the test.
async fn committing(
    world: &World,
    transaction: &Arc<Transaction>,
) -> impl Future<Output = Result<Timestamp>> + Unpin + use<> {
    let other = transaction.clone();
    let commit = beside(&world.env, async move { other.commit().await }).map(std::result::Result::unwrap);
    world.env.sleep(Duration::from_millis(1)).await;
    Box::pin(commit)
}

#[test]
fn a_row_changes_hands_before_the_commit_is_published() {
    on_paths(&[Path::OnePhase], |world| async move {
        world.set("a", "1").await;
        world.memory.as_ref().unwrap().hold_publishing();
        let (one, two) = (begin(&world), begin(&world));
        assert_eq!(locked(&one, "a").await, LockedRow::Same);
        one.write(vec![update("a", "2")]).await.unwrap();
        get(&two, "a").await;
        let other = two.clone();
        let waits = beside(&world.env, async move { locked(&other, "a").await });
        let mut first = committing(&world, &one).await;
        assert_eq!(waits.await.unwrap(), LockedRow::Changed);
        assert!((&mut first).now_or_never().is_none(), "it is not published");
        assert_eq!(newest(&two, "a").await.as_deref(), Some("2"));
        two.write(vec![update("a", "3")]).await.unwrap();
        let mut second = committing(&world, &two).await;
        assert!((&mut second).now_or_never().is_none());
        assert_eq!(world.value("a").await.as_deref(), Some("1"));
        world.memory.as_ref().unwrap().publish();
        assert!(first.await.unwrap() < second.await.unwrap());
        assert_eq!(world.value("a").await.as_deref(), Some("3"));
        assert_eq!(world.store.locks().held(), 0);
    });
}

#[test]
fn nobody_is_told_of_what_is_not_published() {
    on_paths(&[Path::OnePhase], |world| async move {
        let memory = world.memory.clone().unwrap();
        world.set("a", "1").await;
        world.set("b", "1").await;
        memory.hold_publishing();
        let (one, two) = (begin(&world), begin(&world));
        locked(&one, "a").await;
        one.write(vec![update("a", "2"), update("b", "2")]).await.unwrap();
        let first = committing(&world, &one).await;
        assert_eq!(locked(&two, "a").await, LockedRow::Changed);
        // A quiet statement sees the whole commit, and so does a lock.
        let quiet = two.for_statement(true);
        assert_eq!(get(&quiet, "b").await.as_deref(), Some("2"));
        assert!(quiet.settled().now_or_never().is_none());
        // A statement that shows what it reads waits, so that it does not see less than the one before.
        let shows = two.for_statement(false);
        let other = shows.clone();
        let mut reads = beside(&world.env, async move { get(&other, "b").await });
        world.env.sleep(Duration::from_millis(1)).await;
        assert!((&mut reads).now_or_never().is_none());
        memory.publish();
        assert_eq!(reads.await.unwrap().as_deref(), Some("2"));
        quiet.settled().await.unwrap();
        first.await.unwrap();
        two.rollback().await;
    });
}

#[test]
fn who_has_looked_at_nothing_does_not_wait() {
    on_paths(&[Path::OnePhase], |world| async move {
        let memory = world.memory.clone().unwrap();
        world.set("a", "1").await;
        memory.hold_publishing();
        let one = begin(&world);
        locked(&one, "a").await;
        one.write(vec![update("a", "2")]).await.unwrap();
        let first = committing(&world, &one).await;
        let reader = begin(&world);
        assert_eq!(get(&reader.for_statement(false), "a").await.as_deref(), Some("1"));
        assert_eq!(get(&reader.for_statement(true), "a").await.as_deref(), Some("1"));
        assert_eq!(world.value("a").await.as_deref(), Some("1"));
        // At snapshot level too, a locked row is read at its newest version.
        let at_snapshot = world.begin();
        get(&at_snapshot, "a").await;
        let rows = [(key("a"), LockStrength::NoKeyUpdate)];
        assert!(matches!(at_snapshot.lock_rows(&rows, FOREVER).await, Err(TxnError::Conflict(_))));
        memory.publish();
        first.await.unwrap();
    });
}

#[test]
fn who_knows_the_key_of_a_locked_row_waits_before_looking() {
    on_paths(&[Path::OnePhase], |world| async move {
        let memory = world.memory.clone().unwrap();
        world.set("a", "1").await;
        let (one, two, three) = (begin(&world), begin(&world), begin(&world));
        locked(&one, "a").await;
        locked(&one, "new").await;
        one.write(vec![update("a", "2"), put("new", "1")]).await.unwrap();
        memory.hold_publishing();
        let contended = async |statement: &Transaction, name: &str| {
            statement.lock_contended(&key(name), LockStrength::NoKeyUpdate, FOREVER).await.unwrap();
        };
        // Rows that are free or absent are not waited for. Nor does a statement that shows what it reads wait.
        contended(&two.for_statement(true), "b").await;
        contended(&two.for_statement(true), "new").await;
        contended(&two.for_statement(false), "a").await;
        assert_eq!(get(&three.for_statement(true), "a").await.as_deref(), Some("1"));
        let quiet = two.for_statement(true);
        let other = quiet.clone();
        let mut waits = beside(&world.env, async move {
            let strength = LockStrength::NoKeyUpdate;
            other.lock_contended(&key("a"), strength, FOREVER).await.unwrap();
        });
        world.env.sleep(Duration::from_millis(1)).await;
        assert!((&mut waits).now_or_never().is_none());
        let first = committing(&world, &one).await;
        waits.await.unwrap();
        // It sees the commit that it waited for, and holds the row.
        assert_eq!(get(&quiet, "a").await.as_deref(), Some("2"));
        assert_eq!(locked(&quiet, "a").await, LockedRow::Same);
        assert!(quiet.settled().now_or_never().is_none(), "nobody is told before it is published");
        quiet.write(vec![update("a", "3")]).await.unwrap();
        let second = committing(&world, &two).await;
        memory.publish();
        assert!(first.await.unwrap() < second.await.unwrap());
        assert_eq!(world.value("a").await.as_deref(), Some("3"));
        three.rollback().await;
        assert_eq!(world.store.locks().held(), 0);
    });
}

#[test]
fn who_has_seen_that_a_row_is_as_it_was_does_not_wait() {
    on_paths(&[Path::OnePhase], |world| async move {
        let memory = world.memory.clone().unwrap();
        world.set("a", "1").await;
        world.set("b", "1").await;
        memory.hold_publishing();
        let (one, two) = (begin(&world), begin(&world));
        locked(&one, "a").await;
        one.write(vec![update("a", "2")]).await.unwrap();
        let first = committing(&world, &one).await;
        assert_eq!(locked(&two, "b").await, LockedRow::Same);
        two.settled().now_or_never().unwrap().unwrap();
        assert_eq!(locked(&two, "a").await, LockedRow::Changed);
        assert!(two.settled().now_or_never().is_none());
        memory.publish();
        first.await.unwrap();
        two.rollback().await;
    });
}

#[test]
fn who_is_refused_for_what_is_not_published_is_told_when_it_is() {
    on_paths(&[Path::OnePhase], |world| async move {
        let memory = world.memory.clone().unwrap();
        world.set("a", "1").await;
        world.set("b", "1").await;
        memory.hold_publishing();
        let (one, two) = (begin(&world), world.begin());
        get(&two, "a").await;
        locked(&one, "a").await;
        one.write(vec![update("a", "2")]).await.unwrap();
        let first = committing(&world, &one).await;
        assert_eq!(two.changed_since(&[key("b")]).await.unwrap(), None, "who is not refused goes on");
        let other = two.clone();
        let mut refused = beside(&world.env, async move { other.changed_since(&[key("a")]).await });
        world.env.sleep(Duration::from_millis(1)).await;
        assert!((&mut refused).now_or_never().is_none(), "whoever ran again would not see it yet");
        memory.publish();
        let conflict = refused.await.unwrap().unwrap().unwrap();
        assert_eq!((conflict.key, conflict.found), (key("a"), first.await.unwrap()));
        // A transaction that begins now is not refused because of it.
        let again = world.begin();
        assert_eq!(get(&again, "a").await.as_deref(), Some("2"));
        assert_eq!(again.changed_since(&[key("a")]).await.unwrap(), None);
        two.rollback().await;
    });
}
