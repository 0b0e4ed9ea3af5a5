//! Tests of the engine behind a proxy that loses, delays, duplicates and breaks calls.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods)]

use super::tests::Bench;
use super::*;
use crate::contract::{ClassRange, Family, TimestampRange};
use crate::testing::contract::{bytes, everything, scan};
use crate::testing::{Fault, Proxy};
use futures::executor::block_on;
use futures::future::join_all;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Short time limits, to keep the tests fast.
fn hurried() -> BigtableOptions {
    BigtableOptions {
        attempt: Duration::from_millis(300),
        deadline: Duration::from_secs(2),
        ..BigtableOptions::default()
    }
}

/// Time limits that no call exceeds, however busy the machine is.
fn patient() -> BigtableOptions {
    BigtableOptions {
        attempt: Duration::from_secs(20),
        deadline: Duration::from_secs(60),
        ..BigtableOptions::default()
    }
}

fn set(family: Family, at: u64, value: &str) -> Mutation {
    Mutation::Set { family, timestamp: Timestamp(at), value: bytes(value) }
}

fn delete(family: Family, at: u64) -> Mutation {
    Mutation::Delete { family, range: TimestampRange::at(Timestamp(at)) }
}

fn equals(family: Family, at: u64, value: &str) -> Condition {
    Condition::CellEquals { family, timestamp: Timestamp(at), value: bytes(value) }
}

/// The condition that there is no lock, except at the timestamp `except`.
fn free(except: u64) -> Condition {
    let except = Some(Timestamp(except));
    Condition::NoCell { family: Family::Lock, range: TimestampRange::ALL, class: ClassRange::ANY, except }
}

fn check(store: &BigtableStore, conditions: Vec<Condition>, mutations: Vec<Mutation>) -> Result<bool> {
    block_on(store.check_and_mutate(bytes("k"), conditions, mutations))
}

fn cells(store: &BigtableStore) -> Vec<String> {
    let rows = block_on(store.read(&[bytes("k")], &everything())).unwrap();
    let cells = rows.into_iter().flat_map(|row| row.cells);
    cells.map(|cell| format!("{}@{}", proto::family_name(cell.family), cell.timestamp)).collect()
}

const CHECK: &str = "CheckAndMutateRow";

#[test]
fn a_conditional_change_whose_answer_is_lost_is_settled_or_undetermined() {
    let bench = Bench::new();
    let (proxy, store) = bench.store_behind_proxy(patient());
    let lost = [Fault::AnswerLost, Fault::DoneButUnavailable, Fault::ConnectionLost];
    for (at, fault) in (1..).zip(lost) {
        // A prewrite excepts its own lock, so its repetition holds.
        proxy.next(1, CHECK, fault);
        assert_eq!(check(&store, vec![free(at)], vec![set(Family::Lock, at, "lock")]), Ok(true), "{fault:?}");
        assert_eq!(proxy.faults(), at * 2 - 1);
        // A commit finds its lock gone. That may be its own first attempt, so the answer is not false.
        proxy.next(1, CHECK, fault);
        let commit = vec![delete(Family::Lock, at), set(Family::Write, at + 100, "w")];
        let answer = check(&store, vec![equals(Family::Lock, at, "lock")], commit);
        assert!(matches!(answer, Err(StoreError::Undetermined(_))), "{fault:?}: {answer:?}");
        assert_eq!(cells(&store)[0], format!("w@{}", at + 100));
    }
}

#[test]
fn a_conditional_change_that_never_arrived_is_made() {
    let bench = Bench::new();
    let (proxy, store) = bench.store_behind_proxy(patient());
    for (at, fault) in (1..).zip([Fault::RequestLost, Fault::Unavailable]) {
        proxy.next(3, CHECK, fault);
        let before = store.calls().repeated;
        assert_eq!(check(&store, vec![free(at)], vec![set(Family::Lock, at, "lock")]), Ok(true));
        assert_eq!(store.calls().repeated - before, 3);
        let commit = vec![delete(Family::Lock, at), set(Family::Write, at + 100, "w")];
        proxy.next(1, CHECK, fault);
        assert_eq!(check(&store, vec![equals(Family::Lock, at, "lock")], commit), Ok(true));
        // A condition that certainly does not hold is false at once.
        assert_eq!(check(&store, vec![equals(Family::Lock, at, "lock")], vec![delete(Family::Lock, at)]), Ok(false));
    }
}

#[test]
fn a_call_is_given_up_at_its_deadline() {
    let bench = Bench::new();
    let (proxy, store) = bench.store_behind_proxy(hurried());
    let lock = || check(&store, vec![free(1)], vec![set(Family::Lock, 1, "lock")]);
    let read = || block_on(store.read(&[bytes("k")], &everything()));
    let row = || vec![RowMutation { key: bytes("k"), mutations: vec![set(Family::Data, 1, "d")] }];
    let write = || block_on(store.mutate_rows(row()));
    let timed = |work: &dyn Fn()| {
        let begin = std::time::Instant::now();
        work();
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
    };
    proxy.set(|_| Fault::Unavailable);
    timed(&|| assert!(matches!(read(), Err(StoreError::Unavailable(_)))));
    timed(&|| assert!(matches!(lock(), Err(StoreError::Undetermined(_)))));
    proxy.set(|_| Fault::None);
    proxy.pause();
    timed(&|| assert!(matches!(read(), Err(StoreError::Unavailable(_)))));
    timed(&|| assert!(matches!(lock(), Err(StoreError::Undetermined(_)))));
    timed(&|| assert!(matches!(write(), Err(StoreError::Undetermined(_)))));
    // A call waits through a pause that ends in time.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(500));
            proxy.resume();
        });
        timed(&|| assert_eq!(write(), Ok(())));
    });
    assert!(cells(&store).contains(&"d@1".to_owned()));
}

#[test]
fn reads_go_on_where_they_broke() {
    let bench = Bench::new();
    let (proxy, store) = bench.store_behind_proxy(BigtableOptions { connections: 1, ..patient() });
    let value = "v".repeat(500);
    let rows = (0..2000).map(|number| RowMutation {
        key: bytes(&format!("k{number:04}")),
        mutations: vec![set(Family::Data, 1, &value), set(Family::Data, 2, &value)],
    });
    block_on(store.mutate_rows(rows.collect())).unwrap();
    let keys: Vec<Bytes> = (0..2000).map(|number| bytes(&format!("k{number:04}"))).collect();
    // Three reads break within a frame, the last one before any data came.
    let breaking = |frames: [usize; 3]| {
        let met = AtomicU64::new(0);
        proxy.set(move |name| match met.fetch_add(1, Ordering::SeqCst) {
            at if name == "ReadRows" && at < 3 => Fault::BrokenAfter(frames[at as usize]),
            _ => Fault::None,
        });
    };
    for frames in [[1, 2, 0], [3, 0, 7], [20, 5, 1]] {
        breaking(frames);
        let found = scan(&*store, RowRange::all(), everything(), ScanOptions::default());
        assert!(found.iter().all(|row| row.cells.len() == 2));
        assert_eq!(found.into_iter().map(|row| row.key).collect::<Vec<_>>(), keys);
        breaking(frames);
        let options = ScanOptions { limit: Some(1500), ..ScanOptions::default() };
        let found = scan(&*store, RowRange::all(), everything(), options);
        assert_eq!(found.into_iter().map(|row| row.key).collect::<Vec<_>>(), keys[..1500]);
        breaking(frames);
        let found = block_on(store.read(&keys, &everything())).unwrap();
        assert_eq!(found.into_iter().map(|row| row.key).collect::<Vec<_>>(), keys);
    }
    assert!(proxy.faults() >= 27, "{}", proxy.faults());
    let repeated = store.calls().repeated;
    assert!(repeated >= 18, "{repeated}");
}

#[test]
fn blind_changes_are_made_whatever_happens() {
    let bench = Bench::new();
    let (proxy, store) = bench.store_behind_proxy(hurried());
    let faults = [
        Fault::RequestLost,
        Fault::AnswerLost,
        Fault::ConnectionLost,
        Fault::Unavailable,
        Fault::DoneButUnavailable,
        Fault::Late(Duration::from_millis(500)),
        Fault::Twice(Duration::from_millis(20)),
        Fault::BrokenAfter(0),
    ];
    for fault in faults {
        proxy.next(2, "MutateRows", fault);
        let rows = (0..100).map(|number| {
            let mutations = vec![set(Family::Write, 9, &format!("{fault:?}")), delete(Family::Lock, 5)];
            RowMutation { key: bytes(&number.to_string()), mutations }
        });
        block_on(store.mutate_rows(rows.collect())).unwrap();
        let found = scan(&*store, RowRange::all(), everything(), ScanOptions::default());
        assert_eq!(found.len(), 100);
        assert!(found.iter().all(|row| row.cells[0].value == bytes(&format!("{fault:?}"))), "{fault:?}");
        // A delayed request lands before the next check.
        std::thread::sleep(Duration::from_millis(if matches!(fault, Fault::Late(_)) { 700 } else { 30 }));
    }
}

/// Adds one to the counter and writes a record with its own identity. Repeats until it is known to have succeeded.
async fn increment(store: &BigtableStore, identity: u64, undetermined: &AtomicU64) {
    let counter = ReadFilter::new().with(Family::Data, TimestampRange::at(Timestamp(1)), 1);
    let counter = counter.with(Family::Write, TimestampRange::at(Timestamp(identity)), 1);
    loop {
        let Ok(rows) = store.read(&[bytes("k")], &counter).await else { continue };
        if rows[0].newest(Family::Write).is_some() {
            return;
        }
        let found = rows[0].newest(Family::Data).unwrap().value.clone();
        let number: u64 = std::str::from_utf8(&found).unwrap().split(' ').next().unwrap().parse().unwrap();
        // No value occurs twice, so a delayed attempt finds another value and does nothing.
        let next = set(Family::Data, 1, &format!("{} {identity}", number + 1));
        let there = Condition::CellEquals { family: Family::Data, timestamp: Timestamp(1), value: found };
        let done = store.check_and_mutate(bytes("k"), vec![there], vec![next, set(Family::Write, identity, "w")]);
        match done.await {
            Ok(true) => return,
            Ok(false) => {}
            Err(StoreError::Undetermined(_)) => drop(undetermined.fetch_add(1, Ordering::SeqCst)),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn increments_are_neither_lost_nor_doubled_under_every_fault() {
    let bench = Bench::new();
    let (proxy, store): (Proxy, _) = bench.store_behind_proxy(hurried());
    let first = RowMutation { key: bytes("k"), mutations: vec![set(Family::Data, 1, "0 0")] };
    block_on(store.mutate_rows(vec![first])).unwrap();
    proxy.draw(bench.env(), 300, Duration::from_millis(400));
    let undetermined = AtomicU64::new(0);
    let worker = |worker: u64| {
        let (store, undetermined) = (&store, &undetermined);
        async move {
            for turn in 0..25 {
                increment(store, 10 + worker * 100 + turn, undetermined).await;
            }
        }
    };
    block_on(join_all((0..8).map(worker)));
    proxy.set(|_| Fault::None);
    // Requests that are still under way arrive.
    std::thread::sleep(Duration::from_millis(600));
    let rows = block_on(store.read(&[bytes("k")], &everything())).unwrap();
    let number = rows[0].newest(Family::Data).unwrap().value.clone();
    assert!(number.starts_with(b"200 "), "{number:?}");
    let identities: BTreeSet<Timestamp> = rows[0].family(Family::Write).map(|cell| cell.timestamp).collect();
    assert_eq!(identities.len(), 200);
    assert!(proxy.faults() > 100 && undetermined.load(Ordering::SeqCst) > 0);
}
