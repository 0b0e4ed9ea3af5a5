//! Tests of the row and range caches beside writes. The store must answer as the memory engine does.

use super::tests::{env, small};
use super::*;
use crate::contract::CommitCell;
use crate::contract::TimestampRange;
use crate::testing::{CountingTimestamps, MemoryStore, contract};
use futures::executor::block_on;
use proptest::prelude::*;
use smallvec::smallvec;

/// The prefix of a table's keys, long enough that its ranges are cached.
const HEAD: &str = "a table\0:";

fn headed(key: &[u8]) -> Bytes {
    [HEAD.as_bytes(), key].concat().into()
}

/// How the keys of a test's rows look.
#[derive(Clone, Copy, Debug)]
enum Keys {
    /// Keys of one length: all rows may be in one leaf.
    Alike,
    /// Each key is a prefix of the next one.
    Longer,
}

impl Keys {
    /// The key of the row called `a`, `b` or `c`.
    fn of(self, row: &[u8]) -> Bytes {
        match (self, row) {
            (Keys::Longer, b"b") => headed(b"ab"),
            (Keys::Longer, b"c") => headed(b"abc"),
            _ => headed(row),
        }
    }

    fn ranges(self) -> Vec<RowRange> {
        let part = |from: &str, to: &str| RowRange { start: headed(from.as_bytes()), end: Some(headed(to.as_bytes())) };
        let all = RowRange::prefix(headed(b""));
        match self {
            Keys::Alike => vec![all, part("a", "b"), part("a", "bb"), part("", "a"), part("bb", "d")],
            Keys::Longer => vec![all, part("a", "ab"), part("a", "abb"), part("", "a"), part("aba", "ac")],
        }
    }

    /// Moves a request to rows of one table.
    fn within_table(self, request: Request) -> Request {
        match request {
            Request::Commit(mut batch) => {
                batch.conditions.iter_mut().for_each(|condition| condition.key = self.of(&condition.key));
                batch.row_conditions.iter_mut().for_each(|(key, _)| *key = self.of(key));
                batch.cells.iter_mut().for_each(|cell: &mut CommitCell| cell.key = self.of(&cell.key));
                Request::Commit(batch)
            }
            Request::Rows { conditions, mut rows } => {
                rows.iter_mut().for_each(|row| row.key = self.of(&row.key));
                Request::Rows { conditions, rows }
            }
            Request::RemoveRange(range) => {
                let start = self.of(&range.start);
                Request::RemoveRange(RowRange { end: crate::contract::prefix_end(&start), start })
            }
            Request::Claim(_) | Request::Prepared(_) => request,
        }
    }
}

/// A read of a range: which range, whether backwards, rows per batch, and a timestamp or the newest.
fn looks() -> impl Strategy<Value = (usize, bool, usize, Option<u64>)> {
    (0..5usize, any::<bool>(), 1..4usize, prop::option::of(0..12u64))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_kept_is_what_is_there(
        steps in prop::collection::vec(
            (crate::committer::tests::requests(), prop::collection::vec(looks(), 0..4)),
            1..24,
        ),
        keys in prop_oneof![Just(Keys::Alike), Just(Keys::Longer)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let timestamps = || Arc::new(CountingTimestamps::after(Timestamp(5)));
        let memory = MemoryStore::new(timestamps());
        let store = EmbeddedStore::open(folder.path(), timestamps(), env(), small()).unwrap();
        for (request, looks) in steps {
            let request = keys.within_table(request);
            let expected = block_on(memory.request(request.clone()));
            let found = block_on(store.request(request, None));
            prop_assert_eq!(expected.is_ok(), found.is_ok());
            for (which, reverse, batch_rows, at) in looks {
                let to = at.map_or(store.published(), Timestamp);
                let wanted = FamilyFilter { family: Family::Write, range: TimestampRange::up_to(to), cells: 1 };
                let newest = ReadFilter { families: smallvec![wanted] };
                let range = keys.ranges()[which].clone();
                let options = ScanOptions { reverse, batch_rows, limit: None, ..ScanOptions::default() };
                let expected = contract::scan(&*memory, range.clone(), newest.clone(), options);
                // A range that is asked for again is cached, and then found.
                for _ in 0..3 {
                    prop_assert_eq!(&contract::scan_packed(&*store, range.clone(), wanted, options), &expected);
                }
                // Dead rows are left out, and runs of them are skipped.
                let dead = |value: &[u8]| value.iter().fold(0_u8, |sum, byte| sum ^ byte) & 1 == 0;
                let alive: Vec<Row> =
                    expected.iter().filter(|row| !row.cells.iter().any(|cell| dead(&cell.value))).cloned().collect();
                for _ in 0..3 {
                    let found = contract::scan_packed_but_dead(&*store, range.clone(), wanted, dead, options);
                    prop_assert_eq!(&found, &alive);
                }
                // Single rows by key.
                for row in ["a", "b", "c", "d"].into_iter().cycle().skip(which).take(2) {
                    let row = [keys.of(row.as_bytes())];
                    let expected = block_on(memory.read(&row, &newest)).unwrap();
                    prop_assert_eq!(block_on(store.read(&row, &newest)).unwrap(), expected);
                }
                let mut short = keys.ranges();
                short = vec![short.swap_remove(3), short.swap_remove(1)];
                let expected = short.iter().flat_map(|range| {
                    contract::scan(&*memory, range.clone(), newest.clone(), ScanOptions::default())
                });
                let expected: Vec<Row> = expected.collect();
                for _ in 0..2 {
                    prop_assert_eq!(&contract::scan_short(&*store, &short, wanted, batch_rows).0, &expected);
                    prop_assert_eq!(contract::scan_short(&*store, &short, wanted, 100), (expected.clone(), 0));
                }
            }
        }
    }
}

/// If a batch ends between the cells of a row, the next batch must still know of the newer cell. Otherwise the row
/// would join a run.
#[test]
fn a_row_that_is_alive_again_is_in_no_run_although_a_batch_ends_within_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = tests::open(folder.path(), small()).unwrap();
    let dead = |value: &[u8]| value == b"dead";
    let scan = |from: &str, to: Timestamp, batch_rows: usize| {
        let wanted = FamilyFilter { family: Family::Write, range: TimestampRange::up_to(to), cells: 1 };
        let options = ScanOptions { batch_rows, ..ScanOptions::default() };
        let range = RowRange { start: headed(from.as_bytes()), end: Some(headed(b"z")) };
        let rows = contract::scan_packed_but_dead(&*store, range, wanted, dead, options);
        rows.iter().map(|row| String::from_utf8_lossy(&row.key[HEAD.len()..]).into_owned()).collect::<Vec<_>>()
    };
    let commit = |rows: &[&str], value: &str| {
        let keys: Vec<String> = rows.iter().map(|row| format!("{HEAD}{row}")).collect();
        tests::commit(&store, &keys.iter().map(String::as_str).collect::<Vec<_>>(), value)
    };
    commit(&["a", "b", "d", "f", "g"], "dead");
    let old = commit(&["c", "e"], "alive");
    commit(&["e"], "dead");
    let new = commit(&["f"], "alive");
    // The scan notes a run of d and e, which ends before f.
    assert_eq!(scan("c", new, 100), ["c", "f"]);
    // From a and b on, the scan notes runs. After e a batch ends, at the dead cell of f. If f counted as dead, its
    // run would join that of d and e.
    assert_eq!(scan("a", old, 1), ["c", "e"]);
    assert_eq!(scan("a", new, 100), ["c", "f"]);
}

/// Reads ranges while others write to them. Every snapshot must see the sum it was told.
#[test]
fn readers_beside_writers_see_what_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let store = tests::open(folder.path(), small()).unwrap();
    let key = |row: usize| format!("{HEAD}{row}");
    let write = |value: &str| {
        let keys: Vec<String> = (0..4).map(key).collect();
        tests::commit(&store, &keys.iter().map(String::as_str).collect::<Vec<_>>(), value)
    };
    write("0");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reverse in [false, true] {
            let (store, done) = (&store, &done);
            scope.spawn(move || {
                let (mut last, mut looks) = (0, 0);
                while !done.load(std::sync::atomic::Ordering::Relaxed) || looks < 100 {
                    let snapshot = store.snapshot();
                    let range = TimestampRange::up_to(snapshot.timestamp());
                    let wanted = FamilyFilter { family: Family::Write, range, cells: 1 };
                    let options = ScanOptions { reverse, ..ScanOptions::default() };
                    let rows = contract::scan_packed(&**store, RowRange::prefix(HEAD.to_owned()), wanted, options);
                    let values: Vec<u64> = rows
                        .iter()
                        .map(|row| std::str::from_utf8(&row.cells[0].value).unwrap().parse().unwrap())
                        .collect();
                    // One commit wrote all of them, and none is undone.
                    assert_eq!(values, vec![values[0]; 4]);
                    assert!(values[0] >= last, "{} after {last}", values[0]);
                    (last, looks) = (values[0], looks + 1);
                }
            });
        }
        let (store, done) = (&store, &done);
        scope.spawn(move || {
            let mut first = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) || first < 100 {
                first += 1;
                let snapshot = store.snapshot();
                let range = TimestampRange::up_to(snapshot.timestamp());
                let filter = ReadFilter::new().with(Family::Write, range, 1);
                let read = |row: usize| block_on(store.read(&[key(row).into()], &filter)).unwrap().remove(0);
                let rows: Vec<Row> = (first..first + 4).map(|row| read(row % 4)).collect();
                let values: Vec<&Bytes> = rows.iter().map(|row| &row.cells[0].value).collect();
                assert_eq!(values, vec![values[0]; 4]);
            }
        });
        for value in 1..400 {
            write(&value.to_string());
            if value % 3 == 0 {
                // This removal evicts all rows.
                block_on(store.delete_range(RowRange::prefix("something else"))).unwrap();
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let (found, _) = contract::scan_short(
        &*store,
        &[RowRange::prefix(HEAD.to_owned())],
        FamilyFilter { family: Family::Write, range: TimestampRange::up_to(store.published()), cells: 1 },
        100,
    );
    assert!(found.iter().all(|row| row.cells[0].value == "399"));
}

/// If a client reads a few rows of a table, the rows beside them are soon cached too.
#[test]
fn rows_beside_those_that_were_read_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let store = tests::open(folder.path(), small()).unwrap();
    let key = |leaf: u8, last: u8| headed(&[leaf, last]);
    let write = |keys: Vec<Bytes>| {
        let cells = keys.into_iter().map(|key| CommitCell {
            key,
            family: Family::Write,
            stamp: crate::contract::Stamp::AtCommit,
            value: Some("value".into()),
        });
        let batch = CommitBatch { cells: cells.collect(), publishes: true, durable: true, ..CommitBatch::default() };
        block_on(store.commit_atomic(batch)).unwrap().unwrap();
    };
    write((0..8).flat_map(|leaf| (1..200).step_by(2).map(move |last| key(leaf, last))).collect());
    write(vec![headed(&[6, 1, 0])]);
    let wanted = FamilyFilter { family: Family::Write, range: TimestampRange::up_to(store.published()), cells: 1 };
    let point = |leaf, last| store.newest_cell(&key(leaf, last), &wanted).unwrap().is_some();
    let scan = |leaf: u8, last: u8, reverse| {
        let range = match reverse {
            false => RowRange { start: key(leaf, last), end: Some(key(leaf, 0xff)) },
            true => RowRange { start: headed(b""), end: Some(key(leaf, last)) },
        };
        let options = ScanOptions { reverse, batch_rows: 10, limit: Some(10), ..ScanOptions::default() };
        contract::scan_packed(&*store, range, wanted, options).len()
    };
    let is_known = |leaf, last| !matches!(store.hot.rows.find(&key(leaf, last), &wanted), row_cache::Known::Missed(_));
    // Reads by key, of existing and of absent rows.
    (0..15).for_each(|row| assert!(point(0, 2 * row + 1)));
    assert!(!is_known(0, 77));
    (0..17).for_each(|row| assert!(!point(1, 2 * row)));
    assert!(is_known(1, 5));
    // Reads of several rows at once.
    let keys: Vec<Bytes> = (0..17).map(|row| key(2, row)).collect();
    assert_eq!((store.read_newest(&keys, &wanted).unwrap().len(), is_known(2, 99)), (8, true));
    // Reads of the first and last rows of ranges.
    for (leaf, reverse) in [(3, false), (4, true)] {
        (0..17).for_each(|row| assert_eq!(scan(leaf, 40 + row, reverse), 10));
        assert!(is_known(leaf, 199));
    }
    // Rows do not form a leaf if one of them has a longer key.
    (0..40).for_each(|row| assert!(point(6, 2 * row + 1)));
    assert!(!is_known(6, 177));
    // Cached rows must equal those that a scan reads.
    for (leaf, last) in [(3, 180), (4, 30), (4, 5), (2, 60)] {
        for reverse in [false, true] {
            let found = scan(leaf, last, reverse);
            let rows = if reverse { u32::from(last) / 2 + 100 * u32::from(leaf) } else { (200 - u32::from(last)) / 2 };
            assert_eq!(found, 10.min(rows as usize), "{leaf} {last} {reverse}");
        }
    }
}
