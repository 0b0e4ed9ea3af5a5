//! The contract suite, which every engine must pass. Each check takes an empty store and panics on a deviation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use crate::contract::*;
use crate::error::StoreError;
use crate::packed::PackedRows;
use crate::timestamp::Timestamp;
use bytes::Bytes;
use futures::TryStreamExt;
use futures::executor::block_on;
use futures::future::join_all;
use std::sync::Arc;

/// A function that makes an empty store.
pub type Make<'a> = &'a dyn Fn() -> Arc<dyn Store>;

/// Runs every check, each on its own store.
pub fn check_all(make: Make<'_>) {
    filters_choose_cells(&*make());
    rows_come_back_whatever_their_keys(&*make());
    scans_stay_in_their_range(&*make());
    conditions_hold_or_nothing_happens(&*make());
    versions_are_removed(&*make());
    ranges_are_removed(&*make());
    one_of_many_wins(&*make());
    limits_are_told(&*make());
    named_values_are_kept(&*make());
    tablets_cover_everything(&*make());
    if make().atomic().is_some() {
        commits_are_stamped_and_published(&*make());
        commits_are_validated(&*make());
        row_conditions_see_the_group(&*make());
        racing_commits_have_one_winner(&*make());
        snapshots_are_registered(&*make());
    }
}

pub fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn set(family: Family, timestamp: u64, value: &str) -> Mutation {
    Mutation::Set { family, timestamp: Timestamp(timestamp), value: bytes(value) }
}

fn delete(family: Family, from: u64, to: u64) -> Mutation {
    Mutation::Delete { family, range: TimestampRange { from: Timestamp(from), to: Timestamp(to) } }
}

fn put(store: &dyn Store, key: &str, mutations: Vec<Mutation>) {
    block_on(store.mutate_rows(vec![RowMutation { key: bytes(key), mutations }])).unwrap();
}

fn up_to(family: Family, to: u64, cells: usize) -> ReadFilter {
    ReadFilter::new().with(family, TimestampRange::up_to(Timestamp(to)), cells)
}

pub fn everything() -> ReadFilter {
    let all = |filter: ReadFilter, family| filter.with(family, TimestampRange::ALL, usize::MAX);
    Family::ALL.into_iter().fold(ReadFilter::new(), all)
}

/// All rows of a range, by [`Store::scan`].
pub fn scan(store: &dyn Store, range: RowRange, filter: ReadFilter, options: ScanOptions) -> Vec<Row> {
    let batches: Vec<Vec<Row>> = block_on(store.scan(range, filter, options).try_collect()).unwrap();
    assert!(batches.iter().all(|batch| !batch.is_empty() && batch.len() <= options.batch_rows));
    batches.concat()
}

/// All rows of a range, by [`Store::scan_but_plain`].
pub fn scan_but_plain(
    store: &dyn Store,
    range: RowRange,
    filter: ReadFilter,
    batch_rows: usize,
    plain: Plain,
) -> Vec<Row> {
    let options = ScanOptions { batch_rows, ..ScanOptions::default() };
    let batches: Vec<Vec<Row>> = block_on(store.scan_but_plain(range, filter, options, plain).try_collect()).unwrap();
    assert!(batches.iter().all(|batch| batch.len() <= batch_rows));
    batches.concat()
}

/// All rows of a range, by [`Store::scan_packed`].
pub fn scan_packed(store: &dyn Store, range: RowRange, wanted: FamilyFilter, options: ScanOptions) -> Vec<Row> {
    let batches: Vec<PackedRows> = block_on(store.scan_packed(range, wanted, options).try_collect()).unwrap();
    assert!(batches.iter().all(|batch| !batch.is_empty() && batch.len() <= options.batch_rows));
    batches.into_iter().flat_map(|batch| batch.into_rows(wanted.family)).collect()
}

/// The rows whose cell's value is not `dead`, by [`Store::scan_packed_but_dead`].
pub fn scan_packed_but_dead(
    store: &dyn Store,
    range: RowRange,
    wanted: FamilyFilter,
    dead: crate::contract::Plain,
    options: ScanOptions,
) -> Vec<Row> {
    let batches: Vec<PackedRows> =
        block_on(store.scan_packed_but_dead(range, wanted, dead, options).try_collect()).unwrap();
    let rows = batches.into_iter().flat_map(|rows| rows.into_rows(wanted.family));
    rows.filter(|row| !row.cells.iter().any(|cell| dead(&cell.value))).collect()
}

/// The rows of disjoint ranges in key order. [`Store::scan_short`] reads what it can, and [`Store::scan_packed`] the
/// rest. Also answers how many ranges the latter read.
pub fn scan_short(store: &dyn Store, mut ranges: &[RowRange], wanted: FamilyFilter, limit: usize) -> (Vec<Row>, usize) {
    let (mut found, mut left) = (Vec::new(), 0);
    while let Some((first, others)) = ranges.split_first() {
        let (rows, read) = block_on(store.scan_short(ranges, wanted, limit)).unwrap();
        assert!(rows.len() <= limit && read <= ranges.len());
        assert!(read > 0 || rows.is_empty());
        found.extend(rows.into_rows(wanted.family));
        ranges = match read {
            0 => {
                found.extend(scan_packed(store, first.clone(), wanted, ScanOptions::default()));
                left += 1;
                others
            }
            _ => &ranges[read..],
        };
    }
    (found, left)
}

fn show(rows: &[Row]) -> Vec<String> {
    let cell = |cell: &Cell| format!("{:?}@{}={}", cell.family, cell.timestamp, String::from_utf8_lossy(&cell.value));
    let row = |row: &Row| {
        let cells: Vec<String> = row.cells.iter().map(cell).collect();
        format!("{}: {}", String::from_utf8_lossy(&row.key), cells.join(" "))
    };
    rows.iter().map(row).collect()
}

fn read(store: &dyn Store, keys: &[&str], filter: &ReadFilter) -> Vec<String> {
    let keys: Vec<Bytes> = keys.iter().map(|key| bytes(key)).collect();
    show(&block_on(store.read(&keys, filter)).unwrap())
}

fn filters_choose_cells(store: &dyn Store) {
    use Family::{Data, Lock, Write};
    put(store, "a", vec![set(Write, 10, "w10"), set(Write, 20, "w20"), set(Data, 9, "d9"), set(Lock, 30, "l30")]);
    put(store, "b", vec![set(Write, 15, "w15")]);
    let filter = up_to(Write, 20, 1).with(Data, TimestampRange::ALL, 5);
    assert_eq!(read(store, &["b", "x", "a"], &filter), ["b: Write@15=w15", "a: Data@9=d9 Write@20=w20"]);
    assert_eq!(read(store, &["a"], &up_to(Write, 19, 1)), ["a: Write@10=w10"]);
    assert_eq!(read(store, &["a"], &up_to(Write, 9, 1)), [""; 0]);
    assert_eq!(read(store, &["a"], &up_to(Write, 99, 2)), ["a: Write@20=w20 Write@10=w10"]);
    let after = ReadFilter::new().with(Write, TimestampRange::after(Timestamp(10)), 9);
    assert_eq!(read(store, &["a", "b"], &after), ["a: Write@20=w20", "b: Write@15=w15"]);
    let exactly = ReadFilter::new().with(Write, TimestampRange::at(Timestamp(10)), 9);
    assert_eq!(read(store, &["a", "b"], &exactly), ["a: Write@10=w10"]);
    // A cell replaces one with the same family and timestamp.
    put(store, "a", vec![set(Write, 20, "again")]);
    assert_eq!(read(store, &["a"], &up_to(Write, 20, 1)), ["a: Write@20=again"]);
    assert_eq!(read(store, &["a", "a"], &up_to(Lock, 99, 1)), ["a: Lock@30=l30"; 2]);
}

fn rows_come_back_whatever_their_keys(store: &dyn Store) {
    let mut keys: Vec<Vec<u8>> = vec![vec![], vec![0], vec![0, 0], vec![0, 1], vec![0, 255], vec![1], vec![255; 3]];
    keys.extend([b"a".to_vec(), b"a\0".to_vec(), b"a\0b".to_vec(), b"ab".to_vec(), vec![7; 1000]]);
    for key in &keys {
        let row = RowMutation { key: key.clone().into(), mutations: vec![set(Family::Write, 5, "v")] };
        block_on(store.mutate_rows(vec![row])).unwrap();
    }
    keys.sort();
    let found = scan(store, RowRange::all(), everything(), ScanOptions::default());
    assert_eq!(found.iter().map(|row| row.key.to_vec()).collect::<Vec<_>>(), keys);
    for key in keys {
        let key = Bytes::from(key);
        let rows = block_on(store.read(std::slice::from_ref(&key), &everything())).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].key, key);
    }
}

fn scans_stay_in_their_range(store: &dyn Store) {
    use Family::{Data, Write};
    for number in 0..50u64 {
        let versions = (1..=number % 12 + 1).map(|version| set(Write, version * 10, "v"));
        put(store, &format!("k{number:02}"), versions.collect());
        if number % 3 == 0 {
            put(store, &format!("k{number:02}"), vec![set(Data, 7, "d")]);
        }
    }
    let expected = |from: u64, to: u64, wanted: &dyn Fn(u64) -> bool| -> Vec<Bytes> {
        (from..to).filter(|number| wanted(*number)).map(|number| bytes(&format!("k{number:02}"))).collect()
    };
    let range = RowRange { start: bytes("k05"), end: Some(bytes("k45")) };
    let directions: &[bool] = if store.can_scan_reverse() { &[false, true] } else { &[false] };
    for reverse in directions {
        for batch_rows in [1, 3, 7, 1000] {
            for limit in [None, Some(0), Some(1), Some(5), Some(40), Some(99)] {
                let options = ScanOptions { reverse: *reverse, batch_rows, limit, cached: limit.is_none() };
                let check = |filter: ReadFilter, wanted: &dyn Fn(u64) -> bool, cells: &dyn Fn(&Row)| {
                    let mut expected = expected(5, 45, wanted);
                    if *reverse {
                        expected.reverse();
                    }
                    expected.truncate(limit.unwrap_or(usize::MAX));
                    let found = scan(store, range.clone(), filter.clone(), options);
                    found.iter().for_each(cells);
                    if let [only @ FamilyFilter { cells: 1, .. }] = filter.families[..] {
                        assert_eq!(scan_packed(store, range.clone(), only, options), found);
                    }
                    assert_eq!(found.into_iter().map(|row| row.key).collect::<Vec<_>>(), expected);
                };
                check(up_to(Write, 50, 1), &|_| true, &|row| {
                    assert_eq!(row.cells.len(), 1);
                    assert!(row.cells[0].timestamp <= Timestamp(50));
                });
                check(up_to(Write, 50, 2).with(Data, TimestampRange::ALL, 1), &|_| true, &|row| {
                    assert!(row.cells.is_sorted_by_key(|cell| (cell.family, std::cmp::Reverse(cell.timestamp))));
                });
                check(up_to(Data, 50, 1), &|number| number % 3 == 0, &|_| {});
                let late = ReadFilter::new().with(Write, TimestampRange::from(Timestamp(100)), 3);
                check(late, &|number| number % 12 >= 9, &|row| assert!(row.cells.len() <= 3));
            }
        }
    }
    let nothing = RowRange { start: bytes("k30"), end: Some(bytes("k30")) };
    assert!(scan(store, nothing, everything(), ScanOptions::default()).is_empty());
    assert_eq!(scan(store, RowRange::prefix(bytes("k1")), everything(), ScanOptions::default()).len(), 10);
}

fn conditions_hold_or_nothing_happens(store: &dyn Store) {
    use Family::{Lock, Write};
    put(store, "k", vec![set(Lock, 10, "\u{2}lock"), set(Write, 5, "\u{1}write")]);
    let attempt = |conditions: Vec<Condition>, mutations: Vec<Mutation>| {
        block_on(store.check_and_mutate(bytes("k"), conditions, mutations)).unwrap()
    };
    let none = |family, from: u64, to: u64, class: (u8, u8), except: Option<u64>| Condition::NoCell {
        family,
        range: TimestampRange { from: Timestamp(from), to: Timestamp(to) },
        class: ClassRange { from: class.0, to: class.1 },
        except: except.map(Timestamp),
    };
    let mark = || vec![set(Family::Rollback, 1, "mark")];
    assert!(!attempt(vec![none(Lock, 0, 99, (0, 255), None)], mark()));
    assert!(!attempt(vec![none(Write, 9, 99, (0, 255), None), none(Lock, 10, 10, (2, 2), None)], mark()));
    let equals = |timestamp: u64, value: &str| Condition::CellEquals {
        family: Lock,
        timestamp: Timestamp(timestamp),
        value: bytes(value),
    };
    assert!(!attempt(vec![equals(10, "\u{2}loc")], mark()));
    assert!(!attempt(vec![equals(11, "\u{2}lock")], mark()));
    assert!(read(store, &["k"], &up_to(Family::Rollback, 99, 1)).is_empty());
    assert!(attempt(vec![none(Lock, 0, 99, (0, 255), Some(10))], vec![]));
    assert!(attempt(vec![none(Lock, 0, 99, (3, 255), None), none(Lock, 11, 99, (0, 255), None)], vec![]));
    assert!(attempt(vec![none(Lock, 0, 9, (0, 255), None)], vec![]));
    let commit = vec![delete(Lock, 10, 10), set(Write, 12, "\u{1}")];
    for refused in [vec![equals(10, "\u{2}lock"), none(Write, 6, 99, (0, 255), None)], vec![equals(10, "\u{2}lock"); 2]]
    {
        let answer = block_on(store.check_and_mutate(bytes("k"), refused, mark()));
        assert!(matches!(answer, Err(StoreError::Unsupported(_))), "{answer:?}");
    }
    assert!(attempt(vec![equals(10, "\u{2}lock")], commit));
    assert_eq!(read(store, &["k"], &everything()), ["k: Write@12=\u{1} Write@5=\u{1}write"]);
}

fn versions_are_removed(store: &dyn Store) {
    use Family::{Data, Write};
    put(store, "k", (1..=9).flat_map(|at| [set(Write, at, "w"), set(Data, at, "d")]).collect());
    put(store, "k", vec![delete(Write, 3, 5), delete(Write, 9, 9), delete(Data, 0, 8), delete(Data, 20, 20)]);
    assert_eq!(read(store, &["k"], &everything()), ["k: Data@9=d Write@8=w Write@7=w Write@6=w Write@2=w Write@1=w"]);
    // Changes of a row apply in order.
    put(store, "k", vec![set(Write, 50, "x"), delete(Write, 0, 99), set(Write, 51, "y"), delete(Data, 9, 9)]);
    assert_eq!(read(store, &["k"], &everything()), ["k: Write@51=y"]);
    put(store, "k", vec![delete(Write, 51, 51)]);
    assert!(scan(store, RowRange::all(), everything(), ScanOptions::default()).is_empty());
}

fn ranges_are_removed(store: &dyn Store) {
    for key in ["a", "b", "ba", "bz", "c"] {
        put(store, key, Family::ALL.into_iter().map(|family| set(family, 5, "v")).collect());
    }
    block_on(store.delete_range(RowRange::prefix(bytes("b")))).unwrap();
    let keys = |store: &dyn Store| -> Vec<Bytes> {
        scan(store, RowRange::all(), everything(), ScanOptions::default()).into_iter().map(|row| row.key).collect()
    };
    assert_eq!(keys(store), [bytes("a"), bytes("c")]);
    put(store, "b", vec![set(Family::Write, 1, "again")]);
    assert_eq!(keys(store), [bytes("a"), bytes("b"), bytes("c")]);
    block_on(store.delete_range(RowRange::all())).unwrap();
    assert!(keys(store).is_empty());
}

fn one_of_many_wins(store: &dyn Store) {
    let free =
        Condition::NoCell { family: Family::Lock, range: TimestampRange::ALL, class: ClassRange::ANY, except: None };
    for round in 0..20 {
        let key = bytes(&format!("row{round}"));
        let attempts = (1..=64u64).map(|writer| {
            let lock = set(Family::Lock, writer, &writer.to_string());
            store.check_and_mutate(key.clone(), vec![free.clone()], vec![lock])
        });
        let won = block_on(join_all(attempts));
        assert_eq!(won.iter().filter(|won| *won.as_ref().unwrap()).count(), 1);
        let rows = block_on(store.read(&[key], &everything())).unwrap();
        assert_eq!(rows[0].cells.len(), 1);
        assert!(won[rows[0].cells[0].timestamp.0 as usize - 1].as_ref().unwrap());
    }
}

fn limits_are_told(store: &dyn Store) {
    let key = Bytes::from(vec![b'k'; crate::committer::MAX_KEY_BYTES + 1]);
    let row = RowMutation { key, mutations: vec![set(Family::Write, 1, "v")] };
    assert!(matches!(block_on(store.mutate_rows(vec![row])), Err(StoreError::TooLarge(_))));
}

fn named_values_are_kept(store: &dyn Store) {
    assert_eq!(block_on(store.get_meta("mark")).unwrap(), None);
    block_on(store.put_meta("mark", bytes("1"))).unwrap();
    block_on(store.put_meta("mark", bytes("2"))).unwrap();
    assert_eq!(block_on(store.get_meta("mark")).unwrap(), Some(bytes("2")));
    assert_eq!(block_on(store.get_meta("mar")).unwrap(), None);
    assert!(scan(store, RowRange::all(), everything(), ScanOptions::default()).is_empty());
}

fn tablets_cover_everything(store: &dyn Store) {
    put(store, "k", vec![set(Family::Write, 1, "v")]);
    let tablets = block_on(store.tablets(&RowRange::all())).unwrap();
    assert!(tablets[0].range.start.is_empty());
    assert_eq!(tablets.last().unwrap().range.end, None);
    assert!(tablets.windows(2).all(|pair| pair[0].range.end.as_ref() == Some(&pair[1].range.start)));
    // An engine that keeps the tablets knows counters and sizes; others only sample.
    let own = store.atomic().is_some();
    assert!(!own || tablets.iter().map(|tablet| tablet.writes).sum::<u64>() == 1);
    let part = RowRange { start: bytes("k"), end: Some(bytes("l")) };
    assert!(!block_on(store.tablets(&part)).unwrap().is_empty());
    assert!(!own || block_on(store.approximate_bytes(&part)).unwrap() > 0);
    let none = RowRange { start: bytes("l"), end: None };
    assert!(!own || block_on(store.approximate_bytes(&none)).unwrap() == 0);
}

/// A batch that writes `value` to `keys` if none has a newer write.
pub fn batch(keys: &[&str], none_after: Timestamp, value: &str) -> CommitBatch {
    CommitBatch {
        conditions: keys
            .iter()
            .map(|key| CommitCondition { key: bytes(key), family: Family::Write, none_after, class: ClassRange::ANY })
            .collect(),
        cells: keys
            .iter()
            .map(|key| CommitCell {
                key: bytes(key),
                family: Family::Write,
                stamp: Stamp::AtCommit,
                value: Some(bytes(value)),
            })
            .collect(),
        publishes: true,
        durable: true,
        ..CommitBatch::default()
    }
}

fn commits_are_stamped_and_published(store: &dyn Store) {
    let atomic = store.atomic().unwrap();
    let before = atomic.published();
    let first = block_on(atomic.commit_atomic(batch(&["a", "b"], before, "1"))).unwrap().unwrap();
    assert!(first > before);
    assert_eq!(atomic.published(), first);
    let rows = block_on(store.read(&[bytes("a"), bytes("b")], &everything())).unwrap();
    assert!(rows.iter().all(|row| row.cells.len() == 1 && row.cells[0].timestamp == first));
    // A batch that publishes without writing, as AS OF needs.
    let empty = CommitBatch { publishes: true, durable: true, ..CommitBatch::default() };
    let second = block_on(atomic.commit_atomic(empty)).unwrap().unwrap();
    assert!(second > first);
    assert_eq!(atomic.published(), second);
    // Written, but not published.
    let intent = CommitCell {
        key: bytes("c"),
        family: Family::Lock,
        stamp: Stamp::At(Timestamp(3)),
        value: Some(bytes("lock")),
    };
    let prewrite = CommitBatch { cells: vec![intent.clone()], durable: true, ..CommitBatch::default() };
    assert_eq!(block_on(atomic.commit_atomic(prewrite)).unwrap(), Ok(second));
    assert_eq!(atomic.published(), second);
    assert_eq!(read(store, &["c"], &everything()), ["c: Lock@3=lock"]);
    let removal = CommitCell { value: None, ..intent };
    let cleanup = CommitBatch { cells: vec![removal], ..CommitBatch::default() };
    block_on(atomic.commit_atomic(cleanup)).unwrap().unwrap();
    assert!(read(store, &["c"], &everything()).is_empty());
    let mut wrong = batch(&["a"], second, "2");
    wrong.publishes = false;
    assert!(matches!(block_on(atomic.commit_atomic(wrong)), Err(StoreError::Unsupported(_))));
}

fn commits_are_validated(store: &dyn Store) {
    let atomic = store.atomic().unwrap();
    let start = atomic.published();
    let first = block_on(atomic.commit_atomic(batch(&["a"], start, "\u{5}1"))).unwrap().unwrap();
    let conflict = block_on(atomic.commit_atomic(batch(&["b", "a"], start, "2"))).unwrap();
    assert_eq!(conflict, Err(FailedCondition::Newer { index: 1, found: first }));
    assert!(read(store, &["b"], &everything()).is_empty());
    // A cell of a class that does not count.
    let mut weak = batch(&["a"], start, "\u{5}3");
    weak.conditions[0].class = ClassRange { from: 6, to: 255 };
    let second = block_on(atomic.commit_atomic(weak)).unwrap().unwrap();
    assert!(block_on(atomic.commit_atomic(batch(&["a"], second, "4"))).unwrap().is_ok());
    // A removed cell does not count, nor does one below the snapshot. One above it does.
    let at = |timestamp: Timestamp| set(Family::Rollback, timestamp.0, "r");
    put(store, "r", vec![at(second.next())]);
    let mut rollback = batch(&["r"], second, "5");
    rollback.conditions[0].family = Family::Rollback;
    let failed = block_on(atomic.commit_atomic(rollback.clone())).unwrap();
    assert_eq!(failed, Err(FailedCondition::Newer { index: 0, found: second.next() }));
    put(store, "r", vec![delete(Family::Rollback, second.0 + 1, second.0 + 1)]);
    assert!(block_on(atomic.commit_atomic(rollback)).unwrap().is_ok());
    // Below the floor of the recent commits, the store is asked.
    put(store, "old", vec![set(Family::Lock, 2, "l")]);
    let mut old = batch(&["old"], Timestamp::ZERO, "6");
    old.conditions[0].family = Family::Lock;
    let failed = block_on(atomic.commit_atomic(old)).unwrap();
    assert_eq!(failed, Err(FailedCondition::Newer { index: 0, found: Timestamp(2) }));
}

fn row_conditions_see_the_group(store: &dyn Store) {
    let atomic = store.atomic().unwrap();
    let absent =
        Condition::NoCell { family: Family::Lock, range: TimestampRange::ALL, class: ClassRange::ANY, except: None };
    let lock = |writer: u64| CommitBatch {
        row_conditions: vec![(bytes("other"), absent.clone()), (bytes("k"), absent.clone())],
        cells: vec![CommitCell {
            key: bytes("k"),
            family: Family::Lock,
            stamp: Stamp::At(Timestamp(writer)),
            value: Some(bytes("l")),
        }],
        durable: true,
        ..CommitBatch::default()
    };
    let answers = block_on(join_all((1..=16).map(|writer| atomic.commit_atomic(lock(writer)))));
    let won = answers.iter().filter(|answer| matches!(answer, Ok(Ok(_)))).count();
    assert_eq!(won, 1);
    let failed = Err(FailedCondition::Row { index: 1 });
    assert_eq!(answers.iter().filter(|answer| **answer == Ok(failed.clone())).count(), 15);
}

fn racing_commits_have_one_winner(store: &dyn Store) {
    let atomic = store.atomic().unwrap();
    for round in 0..20 {
        let start = atomic.published();
        let (own, value) = (format!("own{round}"), round.to_string());
        let batches = (0..32).map(|writer| batch(&["shared", &format!("{own}-{writer}")], start, &value));
        let answers = block_on(join_all(batches.map(|batch| atomic.commit_atomic(batch))));
        assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(Ok(_)))).count(), 1);
        let rows = scan(store, RowRange::prefix(bytes(&format!("{own}-"))), everything(), ScanOptions::default());
        assert_eq!(rows.len(), 1);
    }
}

fn snapshots_are_registered(store: &dyn Store) {
    let atomic = store.atomic().unwrap();
    let commit = || block_on(atomic.commit_atomic(batch(&["k"], atomic.published(), "v"))).unwrap().unwrap();
    let first = commit();
    let (one, two) = (atomic.snapshot(), atomic.snapshot());
    assert_eq!(one.timestamp(), first);
    let second = commit();
    let three = atomic.snapshot();
    drop(one);
    assert_eq!(atomic.oldest_snapshot(), first);
    drop(two);
    assert_eq!(atomic.oldest_snapshot(), second);
    drop(three);
    let third = commit();
    assert_eq!(atomic.oldest_snapshot(), third);
}
