//! Tests of the embedded engine without faults: the contract, opening, tablets.

use super::folder::FORMAT_VERSION;
use super::*;
use crate::contract::TimestampRange;
use crate::env::SystemEnv;
use crate::testing::MemoryStore;
use crate::testing::{CountingTimestamps, SimEnv, contract};
use futures::executor::block_on;
use proptest::prelude::*;
use smallvec::smallvec;
use std::sync::OnceLock;
use std::time::Duration;

pub fn env() -> EnvRef {
    static RUNTIME: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    let runtime = RUNTIME
        .get_or_init(|| tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
    SystemEnv::new(runtime.handle().clone())
}

pub fn small() -> EmbeddedOptions {
    EmbeddedOptions { cache_bytes: 8 << 20, memtable_bytes: 16 << 20, reserve_bytes: 0, ..EmbeddedOptions::default() }
}

pub fn open(path: &Path, options: EmbeddedOptions) -> Result<Arc<EmbeddedStore>> {
    open_by(env(), path, options)
}

fn open_by(env: EnvRef, path: &Path, options: EmbeddedOptions) -> Result<Arc<EmbeddedStore>> {
    let timestamps = Arc::new(CountingTimestamps::after(Timestamp(1 << 40)));
    let mut store = EmbeddedStore::open(path, timestamps.clone(), env.clone(), options);
    // A concurrent test may start a program. Its process is for a moment a copy of this one, with this one's locks.
    for _ in 0..20 {
        if !matches!(store, Err(StoreError::InUse(_))) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
        store = EmbeddedStore::open(path, timestamps.clone(), env.clone(), options);
    }
    let store = store?;
    timestamps.raise(store.recovered_max_timestamp());
    Ok(store)
}

pub fn commit(store: &EmbeddedStore, keys: &[&str], value: &str) -> Timestamp {
    block_on(store.commit_atomic(contract::batch(keys, store.published(), value))).unwrap().unwrap()
}

#[test]
fn what_is_written_and_synced_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    let before = store.log_statistics();
    commit(&store, &["a"], "1");
    let one = store.log_statistics();
    assert_eq!((one.records, one.syncs), (before.records + 1, before.syncs + 1));
    let batch = CommitBatch { durable: false, ..contract::batch(&["b"], store.published(), &"2".repeat(1000)) };
    block_on(store.commit_atomic(batch)).unwrap().unwrap();
    let two = store.log_statistics();
    assert_eq!(two.records, one.records + 1);
    assert!((1000..2000).contains(&(two.bytes - one.bytes)), "{two:?} {one:?}");
}

/// A consumer takes a pending stream for a slow one and leaves its thread. So short scans must not pause.
#[test]
fn a_scan_of_few_rows_or_none_never_pauses() {
    use futures::{FutureExt, TryStreamExt};
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    commit(&store, &["b", "c"], "1");
    let wanted = FamilyFilter { family: Family::Write, range: TimestampRange::up_to(store.published()), cells: 1 };
    let filter = ReadFilter::new().with(Family::Write, wanted.range, 1).with(Family::Lock, wanted.range, 1);
    for reverse in [false, true] {
        for (range, rows) in [("a", 0), ("b", 1), ("d", 0)] {
            let range = RowRange::prefix(range.as_bytes().to_vec());
            let options = ScanOptions { reverse, ..ScanOptions::default() };
            let all = store.scan_packed(range.clone(), wanted, options).try_collect::<Vec<_>>().now_or_never();
            let all = all.expect("no pause").unwrap();
            assert_eq!(all.iter().map(PackedRows::len).sum::<usize>(), rows);
            let all = store.scan(range, filter.clone(), options).try_collect::<Vec<_>>().now_or_never();
            assert_eq!(all.expect("no pause").unwrap().iter().map(Vec::len).sum::<usize>(), rows);
        }
    }
}

#[test]
fn honours_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let stores = std::cell::Cell::new(0);
    for recent_bytes in [0, 1 << 20] {
        contract::check_all(&|| {
            stores.set(stores.get() + 1);
            open(&folder.path().join(stores.get().to_string()), EmbeddedOptions { recent_bytes, ..small() }).unwrap()
        });
    }
}

#[test]
fn what_was_committed_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    assert_eq!(store.recovered_max_timestamp(), Timestamp::ZERO);
    let first = commit(&store, &["a"], "1");
    let lock = Mutation::Set { family: Family::Lock, timestamp: Timestamp(1 << 50), value: Bytes::from_static(b"l") };
    block_on(store.check_and_mutate(Bytes::from_static(b"b"), vec![], vec![lock])).unwrap();
    block_on(store.put_meta("mark", Bytes::from_static(b"7"))).unwrap();
    drop(store);
    let store = open(folder.path(), small()).unwrap();
    assert_eq!(store.published(), first);
    assert_eq!(store.recovered_max_timestamp(), Timestamp(1 << 50));
    assert_eq!(block_on(store.get_meta("mark")).unwrap(), Some(Bytes::from_static(b"7")));
    assert_eq!(contract::scan(&*store, RowRange::all(), contract::everything(), ScanOptions::default()).len(), 2);
    // Earlier writes are not in memory, so the validation must find them in the store.
    let mut batch = contract::batch(&["b"], first, "2");
    batch.conditions[0].family = Family::Lock;
    let found = Timestamp(1 << 50);
    assert_eq!(block_on(store.commit_atomic(batch)).unwrap(), Err(FailedCondition::Newer { index: 0, found }));
}

#[test]
fn a_store_is_opened_once_and_in_its_format() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    assert!(matches!(open(folder.path(), small()), Err(StoreError::InUse(_))));
    drop(store);
    for other in [FORMAT_VERSION - 1, FORMAT_VERSION + 1] {
        std::fs::write(folder.path().join("FORMAT"), format!("percosql store, format {other}\n")).unwrap();
        assert!(matches!(open(folder.path(), small()), Err(StoreError::Format(_))), "{other}");
    }
    std::fs::remove_file(folder.path().join("FORMAT")).unwrap();
    assert!(matches!(open(folder.path(), small()), Err(StoreError::Format(_))));
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(open(&file.join("store"), small()), Err(StoreError::Io(_))));
    assert!(matches!(open(Path::new("/proc/percosql"), small()), Err(StoreError::Io(_))));
}

#[test]
fn commits_that_do_not_wait_are_visible_and_survive_closing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    let mut batch = contract::batch(&["a"], Timestamp::ZERO, "1");
    batch.durable = false;
    let committed = block_on(store.commit_atomic(batch)).unwrap().unwrap();
    assert_eq!(store.published(), committed);
    drop(store);
    assert_eq!(open(folder.path(), small()).unwrap().published(), committed);
}

#[test]
fn tablets_split_and_merge_while_rows_are_scanned() {
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions { tablet_bytes: 64 << 10, ..small() };
    let store = open(folder.path(), options).unwrap();
    let mut random = 1u64;
    let mut rows = Vec::new();
    for number in 0..2000u64 {
        // Incompressible, so that sizes are those of the written bytes.
        let value: Vec<u8> = (0..25)
            .flat_map(|_| {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                random.to_be_bytes()
            })
            .collect();
        let mutation = Mutation::Set { family: Family::Write, timestamp: Timestamp(5), value: value.into() };
        rows.push(RowMutation { key: format!("row{number:05}").into(), mutations: vec![mutation] });
    }
    block_on(store.mutate_rows(rows)).unwrap();
    store.flush().unwrap();
    let scan = |batch_rows| {
        let options = ScanOptions { batch_rows, ..ScanOptions::default() };
        contract::scan(&*store, RowRange::all(), contract::everything(), options).len()
    };
    std::thread::scope(|scope| {
        let scans = scope.spawn(|| (0..10).map(|_| scan(10)).collect::<Vec<_>>());
        while store.maintain_tablets().unwrap() {}
        assert_eq!(scans.join().unwrap(), [2000; 10]);
    });
    let tablets = block_on(store.tablets(&RowRange::all())).unwrap();
    assert!((5..20).contains(&tablets.len()), "{} tablets", tablets.len());
    let rows: usize = tablets
        .iter()
        .map(|tablet| {
            contract::scan(&*store, tablet.range.clone(), contract::everything(), ScanOptions::default()).len()
        })
        .sum();
    assert_eq!(rows, 2000);
    let reopened = {
        drop(store);
        open(folder.path(), options).unwrap()
    };
    let again = block_on(reopened.tablets(&RowRange::all())).unwrap();
    let ranges = |tablets: &[TabletInfo]| -> Vec<(u64, RowRange)> {
        tablets.iter().map(|tablet| (tablet.id, tablet.range.clone())).collect()
    };
    assert_eq!(ranges(&again), ranges(&tablets));
    block_on(reopened.delete_range(RowRange::all())).unwrap();
    reopened.flush().unwrap();
    reopened.compact().unwrap();
    while reopened.maintain_tablets().unwrap() {}
    assert_eq!(block_on(reopened.tablets(&RowRange::all())).unwrap().len(), 1);
}

#[test]
fn scans_are_right_while_tablets_split_under_writers() {
    use std::sync::atomic::{AtomicBool, Ordering};
    const ROWS: usize = 600;
    let folder = tempfile::tempdir().unwrap();
    // Small limits, so that split tablets are merged again at once.
    let store = open(folder.path(), EmbeddedOptions { tablet_bytes: 1 << 30, ..small() }).unwrap();
    let keys: Vec<String> = (0..ROWS).map(|number| format!("row{number:05}")).collect();
    commit(&store, &keys.iter().map(String::as_str).collect::<Vec<_>>(), "0");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The writers update existing rows and add rows between them.
        for writer in 0..2 {
            let (store, keys, done) = (&store, &keys, &done);
            scope.spawn(move || {
                for round in 0.. {
                    if done.load(Ordering::SeqCst) {
                        return;
                    }
                    let (old, new) = (&keys[(round * 7 + writer) % ROWS], format!("row{:05}+{writer}", round % ROWS));
                    let mut batch = contract::batch(&[old, &new], Timestamp::MAX, "1");
                    batch.durable = false;
                    block_on(store.commit_atomic(batch)).unwrap().unwrap();
                }
            });
        }
        let splits = scope.spawn(|| {
            let mut most = 0;
            for round in 0..400 {
                let places = (0..5).map(|place| Bytes::from(keys[(round * 37 + place * 113) % ROWS].clone()));
                store.split_at(&places.collect::<Vec<_>>()).unwrap();
                most = most.max(store.directory.all().len());
                if round % 5 == 4 {
                    store.maintain_tablets().unwrap();
                }
            }
            done.store(true, Ordering::SeqCst);
            most
        });
        let filter = contract::everything();
        let count = |range: RowRange, reverse| {
            let options = ScanOptions { batch_rows: 7, reverse, ..ScanOptions::default() };
            let rows = contract::scan(&*store, range, filter.clone(), options);
            let sorted = rows.is_sorted_by(|a, b| if reverse { a.key > b.key } else { a.key < b.key });
            assert!(sorted, "a row comes twice, or out of order");
            rows.iter().filter(|row| row.key.len() == 8).count()
        };
        while !done.load(Ordering::SeqCst) {
            // Like a parallel scan: one partition per tablet, all at one snapshot.
            let tablets = block_on(store.tablets(&RowRange::all())).unwrap();
            let parts: usize = tablets.into_iter().map(|tablet| count(tablet.range, false)).sum();
            assert_eq!(parts, ROWS);
            assert_eq!((count(RowRange::all(), false), count(RowRange::all(), true)), (ROWS, ROWS));
        }
        assert!(splits.join().unwrap() > 3);
    });
    while store.maintain_tablets().unwrap() {}
    assert_eq!(store.directory.all().len(), 1);
}

#[test]
fn a_busy_tablet_is_split() {
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions { tablet_operations: 100, tablet_interval: Duration::from_secs(1), ..small() };
    // With a stopped clock the store's own thread makes no pass, however slow the machine is.
    let store = open_by(SimEnv::new(1), folder.path(), options).unwrap();
    let value =
        |number: u32| Bytes::from((0..2000u32).flat_map(|at| (at * 7919 + number).to_be_bytes()).collect::<Vec<_>>());
    let rows = (0..100u32).map(|number| RowMutation {
        key: format!("row{number:03}").into(),
        mutations: vec![Mutation::Set { family: Family::Data, timestamp: Timestamp(1), value: value(number) }],
    });
    block_on(store.mutate_rows(rows.collect())).unwrap();
    store.flush().unwrap();
    for number in 0..500 {
        block_on(store.read(&[format!("row{:03}", number % 100).into()], &contract::everything())).unwrap();
    }
    assert!(store.maintain_tablets().unwrap());
    assert_eq!(block_on(store.tablets(&RowRange::all())).unwrap().len(), 2);
}

#[test]
fn a_scan_that_finds_little_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    let rows = 80_000u32;
    let cell = |timestamp| Mutation::Set {
        family: Family::Write,
        timestamp: Timestamp(timestamp),
        value: Bytes::from_static(b"v"),
    };
    let mutate = |number: u32, timestamp| RowMutation {
        key: number.to_be_bytes().to_vec().into(),
        mutations: vec![cell(timestamp)],
    };
    block_on(store.mutate_rows((0..rows).map(|number| mutate(number, 50)).collect())).unwrap();
    let old = [3, rows / 2, rows - 1];
    block_on(store.mutate_rows(old.map(|number| mutate(number, 10)).to_vec())).unwrap();
    let filter = ReadFilter::new().with(Family::Write, crate::TimestampRange::up_to(Timestamp(20)), 1);
    for reverse in [false, true] {
        let options = ScanOptions { reverse, ..ScanOptions::default() };
        let mut found: Vec<Bytes> =
            contract::scan(&*store, RowRange::all(), filter.clone(), options).into_iter().map(|row| row.key).collect();
        if reverse {
            found.reverse();
        }
        assert_eq!(found, old.map(|number| Bytes::from(number.to_be_bytes().to_vec())));
    }
}

#[test]
fn a_full_memtable_is_reopened_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions { memtable_bytes: 32 << 20, ..small() };
    let store = open(folder.path(), options).unwrap();
    let value = "x".repeat(1000);
    for number in 0..150 {
        let keys: Vec<String> = (0..1000).map(|row| format!("{number:04}-{row:04}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        commit(&store, &keys, &value);
    }
    let log_bytes: u64 =
        super::fault_tests::logs(folder.path()).iter().map(|log| std::fs::metadata(log).unwrap().len()).sum();
    assert!(log_bytes < 3 * options.memtable_bytes as u64, "{log_bytes} bytes of log");
    super::fault_tests::crash_copy(folder.path(), copy.path());
    let clock = env();
    let began = clock.monotonic();
    let reopened = open(copy.path(), options).unwrap();
    let taken = clock.monotonic() - began;
    assert!(taken < Duration::from_secs(5), "{taken:?}");
    assert_eq!(reopened.published(), store.published());
}

/// Ranges, forwards and backwards, with and without kept cursors.
fn ranges() -> impl Iterator<Item = (RowRange, bool, bool)> {
    let from =
        |start: &'static str, end: Option<&'static str>| RowRange { start: start.into(), end: end.map(Bytes::from) };
    let ranges = [from("", None), from("a", Some("b")), from("a", Some("bb")), from("b", None), from("bb", Some("c"))];
    let both = [false, true];
    let ways = move |range: RowRange| both.map(|reverse| both.map(|cached| (range.clone(), reverse, cached)));
    ranges.into_iter().flat_map(ways).flatten()
}

/// Selects every other class.
const EVEN: Plain = |value| value.first().is_some_and(|class| class % 2 == 0);

fn is_plain(row: &Row, plain: Plain) -> bool {
    matches!(&row.cells[..], [cell] if cell.family == Family::Write && plain(&cell.value))
}

/// Garbage collection skips most rows, so they must not be materialized.
#[test]
fn rows_of_one_plain_cell_are_stepped_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    commit(&store, &["a", "b", "c", "d", "e", "f"], "plain");
    commit(&store, &["f"], "again plain");
    let at = commit(&store, &["c", "g"], "other");
    let lock = Mutation::Set { family: Family::Lock, timestamp: Timestamp(7), value: "plain".into() };
    block_on(store.mutate_rows(vec![RowMutation { key: "e".into(), mutations: vec![lock] }])).unwrap();
    let below = TimestampRange::up_to(at);
    let filter = ReadFilter::new().with(Family::Write, below, 10).with(Family::Lock, below, 10);
    commit(&store, &["a"], "newer than what is looked for");
    let plain: Plain = |value| value.ends_with(b"plain");
    for batch_rows in [1, 100] {
        let keys = |rows: Vec<Row>| rows.into_iter().map(|row| row.key).collect::<Vec<_>>();
        let found = contract::scan_but_plain(&*store, RowRange::all(), filter.clone(), batch_rows, plain);
        assert_eq!(found.iter().map(|row| row.cells.len()).collect::<Vec<_>>(), [1, 2, 2, 2, 1]);
        assert_eq!(keys(found), ["a", "c", "e", "f", "g"], "one that has a newer cell may be left out, and is not");
        let options = ScanOptions { batch_rows, ..ScanOptions::default() };
        assert_eq!(contract::scan(&*store, RowRange::all(), filter.clone(), options).len(), 7);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// After the same requests both engines hold the same cells, reopened or not, and their scans agree.
    #[test]
    fn the_engines_agree(
        requests in prop::collection::vec(crate::committer::tests::requests(), 1..40),
        reopen in 0..40usize,
        flush in 0..40usize,
        compact in any::<bool>(),
        cells in 1..4usize,
        to in 0..12u64,
        batch_rows in 1..4usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let timestamps = || Arc::new(CountingTimestamps::after(Timestamp(5)));
        let memory = MemoryStore::new(timestamps());
        let source = timestamps();
        let open = || EmbeddedStore::open(folder.path(), source.clone(), env(), small()).unwrap();
        let mut store = open();
        for (number, request) in requests.into_iter().enumerate() {
            if number == reopen {
                drop(store);
                store = open();
            }
            if number == flush {
                store.flush().unwrap();
            }
            let expected = block_on(memory.request(request.clone()));
            let found = block_on(store.request(request, None));
            match (&expected, &found) {
                // The engines may report different newer cells.
                (Ok(Err(FailedCondition::Newer { index: a, .. })), Ok(Err(FailedCondition::Newer { index: b, .. }))) => {
                    prop_assert_eq!(a, b);
                }
                _ => prop_assert_eq!(&expected, &found),
            }
        }
        if compact {
            store.flush().unwrap();
            store.compact().unwrap();
        }
        let some = |filter: ReadFilter, family| filter.with(family, crate::TimestampRange::up_to(Timestamp(to)), cells);
        let filter = Family::ALL.into_iter().fold(ReadFilter::new(), some);
        for filter in [filter, contract::everything()] {
            for reverse in [false, true] {
                let options = ScanOptions { reverse, batch_rows, limit: None, ..ScanOptions::default() };
                let expected = contract::scan(&*memory, RowRange::all(), filter.clone(), options);
                prop_assert_eq!(contract::scan(&*store, RowRange::all(), filter.clone(), options), expected);
            }
            let found = contract::scan_but_plain(&*store, RowRange::all(), filter.clone(), batch_rows, EVEN);
            let found: Vec<Row> = found.into_iter().filter(|row| !is_plain(row, EVEN)).collect();
            prop_assert_eq!(found, contract::scan_but_plain(&*memory, RowRange::all(), filter.clone(), batch_rows, EVEN));
            let writes = filter.families.iter().find(|wanted| wanted.family == Family::Write).unwrap();
            let only = FamilyFilter { cells: 1, ..*writes };
            let newest = ReadFilter { families: smallvec![only] };
            for (range, reverse, cached) in ranges() {
                let options = ScanOptions { reverse, batch_rows, cached, limit: None };
                let expected = contract::scan(&*memory, range.clone(), newest.clone(), options);
                prop_assert_eq!(contract::scan_packed(&*store, range, only, options), expected);
            }
            let short = ["", "a", "b", "bb", "c"].map(Bytes::from);
            let short = short.iter().zip(short.iter().skip(1)).enumerate().filter(|(at, _)| *at != cells);
            let short = short.map(|(_, (start, end))| RowRange { start: start.clone(), end: Some(end.clone()) });
            let mut short: Vec<RowRange> = short.collect();
            short.push(RowRange { start: "c".into(), end: None });
            let expected = short.iter().flat_map(|range| {
                contract::scan(&*memory, range.clone(), newest.clone(), ScanOptions::default())
            });
            let expected: Vec<Row> = expected.collect();
            prop_assert_eq!(&contract::scan_short(&*store, &short, only, batch_rows).0, &expected);
            let (found, left) = contract::scan_short(&*store, &short, only, 100);
            prop_assert_eq!(found, expected);
            prop_assert_eq!(left, 0);
            let keys: Vec<Bytes> = ["c", "", "a", "b", "bb"].into_iter().map(Bytes::from).collect();
            let expected = block_on(memory.read(&keys, &filter)).unwrap();
            prop_assert_eq!(block_on(store.read(&keys, &filter)).unwrap(), expected);
            let filter = newest;
            let expected = block_on(memory.read(&keys, &filter)).unwrap();
            prop_assert_eq!(block_on(store.read(&keys, &filter)).unwrap(), expected);
        }
    }
}

#[test]
fn a_kept_cursor_sees_what_was_written_since() {
    let folder = tempfile::tempdir().unwrap();
    // Without caches each read goes to the database.
    let store = open(folder.path(), EmbeddedOptions { hot_row_bytes: 0, hot_range_bytes: 0, ..small() }).unwrap();
    let keys = [Bytes::from_static(b"a"), Bytes::from_static(b"b"), Bytes::from_static(b"c")];
    let read = |at: Timestamp| -> Vec<(Bytes, Bytes)> {
        let filter = ReadFilter::new().with(Family::Write, TimestampRange::up_to(at), 1);
        let rows = block_on(store.read(&keys, &filter)).unwrap();
        rows.into_iter().map(|row| (row.key, row.cells[0].value.clone())).collect()
    };
    let pairs = |expected: &[(&'static str, &'static str)]| -> Vec<(Bytes, Bytes)> {
        let bytes = |text: &'static str| Bytes::from_static(text.as_bytes());
        expected.iter().map(|(key, value)| (bytes(key), bytes(value))).collect()
    };
    let first = commit(&store, &["a", "c"], "one");
    assert_eq!(read(store.published()), pairs(&[("a", "one"), ("c", "one")]));
    assert_eq!(store.cursors.idle(), (1, 0));
    commit(&store, &["a", "b"], "two");
    assert_eq!(read(store.published()), pairs(&[("a", "two"), ("b", "two"), ("c", "one")]));
    // The memtables and tables are not those the cursor was made over.
    for value in ["three", "four"] {
        store.flush().unwrap();
        commit(&store, &["b"], value);
        store.compact().unwrap();
        assert_eq!(read(store.published())[1].1, value);
    }
    assert_eq!(read(first), pairs(&[("a", "one"), ("c", "one")]));
    assert_eq!(store.cursors.idle(), (1, 0));
    // The same for cursors of ranges.
    for value in ["five", "six"] {
        commit(&store, &["b"], value);
        for reverse in [false, true] {
            let options = ScanOptions { reverse, ..ScanOptions::default() };
            let wanted = FamilyFilter { family: Family::Write, range: TimestampRange::ALL, cells: 1 };
            let range = RowRange::prefix(Bytes::from_static(b"b"));
            let found = contract::scan_packed(&*store, range, wanted, options);
            assert_eq!(found.iter().map(|row| &row.cells[0].value[..]).collect::<Vec<_>>(), [value.as_bytes()]);
        }
        store.flush().unwrap();
    }
    assert_eq!(store.cursors.idle(), (1, 1));
    store.maintain_tablets().unwrap();
    assert_eq!(store.cursors.idle(), (0, 0));
    assert_eq!(read(store.published()), pairs(&[("a", "two"), ("b", "six"), ("c", "one")]));
}

#[test]
fn a_short_scan_beside_many_removed_rows_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    let removed = |head: &str| -> Vec<String> { (0..2000).map(|row| format!("{head}{row:04}")).collect() };
    let (before, behind) = (removed("a"), removed("c"));
    let kept = ["b1", "b2", "b3"];
    let mut all: Vec<&str> = before.iter().chain(&behind).map(String::as_str).collect();
    all.extend(kept);
    let at = commit(&store, &all, "here");
    // Flushed beneath the tombstones, so that nothing is dropped on the way.
    store.flush().unwrap();
    let remove = |key: &String| {
        let mutations = vec![Mutation::Delete { family: Family::Write, range: TimestampRange::at(at) }];
        RowMutation { key: key.clone().into(), mutations }
    };
    block_on(store.mutate_rows(before.iter().chain(&behind).map(remove).collect())).unwrap();
    let wanted = FamilyFilter { family: Family::Write, range: TimestampRange::ALL, cells: 1 };
    let range = |start: &'static str, end: &'static str| RowRange { start: start.into(), end: Some(end.into()) };
    let short = [range("a0", "a1"), range("b", "b2"), range("b2", "b2x"), range("b3", "c"), range("c", "d")];
    let (found, left) = contract::scan_short(&*store, &short, wanted, 100);
    assert_eq!(found.iter().map(|row| &row.key[..]).collect::<Vec<_>>(), kept.map(str::as_bytes));
    // Scans that are not short skip the removed rows.
    assert!((1..4).contains(&left), "{left}");
    for (start, end) in [("b", Some("c")), ("a", Some("c")), ("b", None), ("a", None), ("b2", Some("b2x"))] {
        for reverse in [false, true] {
            for batch_rows in [1, 2, 100] {
                let options = ScanOptions { reverse, batch_rows, ..ScanOptions::default() };
                let range = RowRange { start: start.into(), end: end.map(Bytes::from) };
                let mut expected: Vec<&str> = kept.into_iter().filter(|key| range.contains(key.as_bytes())).collect();
                if reverse {
                    expected.reverse();
                }
                let found = contract::scan_packed(&*store, range, wanted, options);
                let found: Vec<&[u8]> = found.iter().map(|row| &row.key[..]).collect();
                assert_eq!(found, expected.iter().map(|key| key.as_bytes()).collect::<Vec<_>>(), "{start} {end:?}");
            }
        }
    }
}

#[test]
fn a_batch_of_several_families_is_bounded_in_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    let rows = (0..20).map(|number| {
        let value = vec![0; 400 << 10].into();
        let mutation = Mutation::Set { family: Family::Write, timestamp: Timestamp(5), value };
        RowMutation { key: format!("row{number:02}").into(), mutations: vec![mutation] }
    });
    block_on(store.mutate_rows(rows.collect())).unwrap();
    for reverse in [false, true] {
        let options = ScanOptions { batch_rows: 512, reverse, ..ScanOptions::default() };
        let batches = store.scan(RowRange::all(), contract::everything(), options);
        let sizes: Vec<usize> = block_on(batches.map(|batch| batch.unwrap().len()).collect());
        assert_eq!(sizes.iter().sum::<usize>(), 20);
        assert!(sizes.iter().all(|size| *size <= 3), "{sizes:?}");
    }
}
