//! Tests of the lock table alone: who waits for whom, in which order waiters proceed, and what a cycle is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;
use crate::LockStrength::{self, *};
use crate::buffer::Buffer;
use crate::{Write, WriteKind};
use bytes::Bytes;
use futures::FutureExt;
use std::sync::Arc;
use std::time::Duration;
use storage::testing::SimEnv;

const FOREVER: LockWait = LockWait::For(None);

fn table() -> Arc<LockTable> {
    LockTable::new(SimEnv::new(1))
}

fn name(text: &str) -> (LockName, Bytes) {
    (LockName::row(text.as_bytes()), Bytes::copy_from_slice(text.as_bytes()))
}

/// Starts to take a row.
fn take<'a>(
    locker: &'a Arc<Locker>,
    row: &str,
    strength: LockStrength,
    wait: LockWait,
) -> std::pin::Pin<Box<dyn Future<Output = Result<bool, LockFailure>> + Send + 'a>> {
    let (name, tag) = name(row);
    Box::pin(async move { locker.acquire(name, LockMode::of_row(strength), &tag, wait).await })
}

fn free(locker: &Locker, row: &str, strength: LockStrength) {
    locker.release(name(row).0, LockMode::of_row(strength));
}

#[test]
fn strengths_exclude_each_other_as_rows_do() {
    for held in [KeyShare, Share, NoKeyUpdate, Update] {
        for wanted in [KeyShare, Share, NoKeyUpdate, Update] {
            let table = table();
            let (one, two) = (table.locker(1), table.locker(2));
            assert_eq!(take(&one, "r", held, FOREVER).now_or_never(), Some(Ok(true)));
            let got = take(&two, "r", wanted, LockWait::No).now_or_never().unwrap();
            assert_eq!(got == Err(LockFailure::Held), held.conflicts_with(wanted), "{held:?} {wanted:?}");
            assert_eq!(take(&two, "other", wanted, LockWait::No).now_or_never(), Some(Ok(true)));
        }
    }
}

#[test]
fn who_holds_a_row_takes_it_again_in_any_strength() {
    let table = table();
    let one = table.locker(1);
    assert_eq!(take(&one, "r", KeyShare, LockWait::No).now_or_never(), Some(Ok(true)));
    assert_eq!(take(&one, "r", Update, LockWait::No).now_or_never(), Some(Ok(true)));
    assert_eq!(take(&one, "r", NoKeyUpdate, LockWait::No).now_or_never(), Some(Ok(false)), "it has a stronger one");
    assert_eq!(table.held(), 2);
    free(&one, "r", Update);
    let two = table.locker(2);
    assert_eq!(take(&two, "r", Share, LockWait::No).now_or_never(), Some(Ok(true)), "only KEY SHARE is left");
    free(&one, "r", KeyShare);
    free(&two, "r", Share);
    assert_eq!(table.held(), 0);
}

#[test]
fn waiters_go_on_in_the_order_of_arrival() {
    let table = table();
    let lockers: Vec<_> = (1..=5).map(|label| table.locker(label)).collect();
    for holder in [&lockers[0], &lockers[4]] {
        assert_eq!(take(holder, "r", Share, FOREVER).now_or_never(), Some(Ok(true)));
    }
    let mut writer = take(&lockers[1], "r", Update, FOREVER);
    assert!(writer.as_mut().now_or_never().is_none());
    // A later reader does not overtake a waiting writer.
    let mut reader = take(&lockers[2], "r", Share, FOREVER);
    assert!(reader.as_mut().now_or_never().is_none());
    assert_eq!(take(&lockers[3], "r", Share, LockWait::No).now_or_never(), Some(Err(LockFailure::Held)));
    assert_eq!(table.waiting().len(), 2);
    free(&lockers[4], "r", Share);
    assert!(writer.as_mut().now_or_never().is_none());
    assert!(reader.as_mut().now_or_never().is_none(), "nor when one of those goes who keep the writer waiting");
    free(&lockers[0], "r", Share);
    assert_eq!(writer.now_or_never(), Some(Ok(true)));
    assert!(reader.as_mut().now_or_never().is_none());
    free(&lockers[1], "r", Update);
    assert_eq!(reader.now_or_never(), Some(Ok(true)));
    assert!(table.waiting().is_empty());
}

#[test]
fn an_upgrade_passes_those_who_wait() {
    let table = table();
    let (one, two) = (table.locker(1), table.locker(2));
    assert_eq!(take(&one, "r", KeyShare, FOREVER).now_or_never(), Some(Ok(true)));
    let mut waits = take(&two, "r", Update, FOREVER);
    assert!(waits.as_mut().now_or_never().is_none());
    assert_eq!(take(&one, "r", NoKeyUpdate, FOREVER).now_or_never(), Some(Ok(true)));
    free(&one, "r", KeyShare);
    assert!(waits.as_mut().now_or_never().is_none());
    free(&one, "r", NoKeyUpdate);
    assert_eq!(waits.now_or_never(), Some(Ok(true)));
}

#[test]
fn a_circle_fails_who_closes_it_and_tells_its_members() {
    let table = table();
    let lockers: Vec<_> = (1..=3).map(|label| table.locker(label)).collect();
    for (locker, row) in lockers.iter().zip(["a", "b", "c"]) {
        assert_eq!(take(locker, row, Update, FOREVER).now_or_never(), Some(Ok(true)));
    }
    let mut first = take(&lockers[0], "b", Update, FOREVER);
    let mut second = take(&lockers[1], "c", Update, FOREVER);
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    let Some(Err(LockFailure::Deadlock(circle))) = take(&lockers[2], "a", Update, FOREVER).now_or_never() else {
        panic!("no deadlock");
    };
    let told: Vec<(i32, i32, &[u8])> = circle.iter().map(|at| (at.label, at.blocked_by, at.tag.as_ref())).collect();
    assert_eq!(told, [(3, 1, &b"a"[..]), (1, 2, b"b"), (2, 3, b"c")]);
    // The others keep waiting, and proceed when the victim has gone.
    assert_eq!(table.waiting().len(), 2);
    free(&lockers[2], "c", Update);
    assert_eq!(second.now_or_never(), Some(Ok(true)));
    free(&lockers[1], "b", Update);
    assert_eq!(first.now_or_never(), Some(Ok(true)));
}

#[test]
fn two_who_share_a_row_and_both_want_more_are_a_circle() {
    let table = table();
    let (one, two) = (table.locker(1), table.locker(2));
    for locker in [&one, &two] {
        assert_eq!(take(locker, "r", Share, FOREVER).now_or_never(), Some(Ok(true)));
    }
    let mut first = take(&one, "r", Update, FOREVER);
    assert!(first.as_mut().now_or_never().is_none());
    let second = take(&two, "r", Update, FOREVER).now_or_never();
    assert!(matches!(second, Some(Err(LockFailure::Deadlock(_)))));
    free(&two, "r", Share);
    assert_eq!(first.now_or_never(), Some(Ok(true)));
}

#[test]
fn who_stops_waiting_leaves_the_line_and_gives_back_a_grant() {
    let table = table();
    let lockers: Vec<_> = (1..=3).map(|label| table.locker(label)).collect();
    assert_eq!(take(&lockers[0], "r", Share, FOREVER).now_or_never(), Some(Ok(true)));
    let mut writer = take(&lockers[1], "r", Update, FOREVER);
    assert!(writer.as_mut().now_or_never().is_none());
    let mut reader = take(&lockers[2], "r", Share, FOREVER);
    assert!(reader.as_mut().now_or_never().is_none());
    drop(writer);
    assert_eq!(reader.now_or_never(), Some(Ok(true)), "nobody is before it any more");
    let mut writer = take(&lockers[1], "r", Update, FOREVER);
    assert!(writer.as_mut().now_or_never().is_none());
    free(&lockers[0], "r", Share);
    free(&lockers[2], "r", Share);
    // Granted, and cancelled before it noticed.
    drop(writer);
    assert_eq!(table.held(), 0);
    assert_eq!(take(&lockers[0], "r", Update, LockWait::No).now_or_never(), Some(Ok(true)));
}

#[test]
fn a_wait_ends_with_its_timeout() {
    let env = SimEnv::new(1);
    let table = LockTable::new(env.clone());
    let (one, two) = (table.locker(1), table.locker(2));
    assert_eq!(take(&one, "r", Update, FOREVER).now_or_never(), Some(Ok(true)));
    let begun = storage::Env::monotonic(env.as_ref());
    let waited = env
        .block_on(async move { take(&two, "r", KeyShare, LockWait::For(Some(Duration::from_millis(50)))).await })
        .unwrap();
    assert_eq!(waited, Err(LockFailure::TimedOut));
    assert!(storage::Env::monotonic(env.as_ref()) - begun >= Duration::from_millis(50));
    assert!(table.waiting().is_empty());
}

/// The writes of a commit.
fn writes(rows: &[(&str, LockStrength)]) -> Arc<Buffer> {
    let mut buffer = Buffer::new(usize::MAX, None);
    for (row, strength) in rows {
        let key = Bytes::copy_from_slice(row.as_bytes());
        buffer.write(1, Write { key, kind: WriteKind::Lock, strength: *strength }).unwrap();
    }
    Arc::new(buffer)
}

#[test]
fn a_row_lock_waits_for_the_commits_that_did_not_look_and_write_its_row() {
    let env = SimEnv::new(1);
    let table = LockTable::new(env.clone());
    let (one, two) = (table.locker(1), table.locker(2));
    let permit = table.unlooking_commit(&writes(&[("r", Update), ("shared", KeyShare)])).unwrap();
    let other = table.unlooking_commit(&writes(&[("q", Update)])).unwrap();
    table.begin_row_locks();
    assert!(table.unlooking_commit(&writes(&[])).is_none(), "no new ones meanwhile");
    // Rows that the commit does not write, or writes with a compatible strength.
    assert_eq!(take(&one, "s", Update, LockWait::No).now_or_never(), Some(Ok(true)));
    assert_eq!(take(&one, "shared", NoKeyUpdate, LockWait::No).now_or_never(), Some(Ok(true)));
    assert_eq!(take(&one, "r", KeyShare, LockWait::No).now_or_never(), Some(Err(LockFailure::Held)));
    let begun = storage::Env::monotonic(env.as_ref());
    let short = LockWait::For(Some(Duration::from_millis(50)));
    let locker = one.clone();
    let waited = env.block_on(async move { take(&locker, "r", Update, short).await }).unwrap();
    assert_eq!(waited, Err(LockFailure::TimedOut));
    assert!(storage::Env::monotonic(env.as_ref()) - begun >= Duration::from_millis(50));
    let mut waits = take(&one, "r", Update, FOREVER);
    assert!(waits.as_mut().now_or_never().is_none());
    drop(other);
    assert!(waits.as_mut().now_or_never().is_none(), "another's end is not its");
    drop(permit);
    assert_eq!(waits.now_or_never(), Some(Ok(true)));
    assert_eq!(take(&two, "r", KeyShare, LockWait::No).now_or_never(), Some(Err(LockFailure::Held)));
    table.end_row_locks();
    assert!(table.unlooking_commit(&writes(&[])).is_some());
}
