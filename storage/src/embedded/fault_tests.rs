//! Tests of the embedded engine with faults: crashes, flipped bits, a full disk.

use super::tests::{commit, open, small};
use super::wal_reader::{Verdict, walk};
use super::*;
use crate::testing::contract;
use futures::executor::block_on;
use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

/// The logs of a store, oldest first.
pub fn logs(folder: &Path) -> Vec<PathBuf> {
    wal_recovery::logs(&folder.join("rocksdb")).unwrap().into_iter().map(|(_, path)| path).collect()
}

/// Copies the state that a machine crash would leave now, if every write had reached the disk.
pub fn crash_copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to.join("rocksdb")).unwrap();
    fs::copy(from.join("FORMAT"), to.join("FORMAT")).unwrap();
    for entry in fs::read_dir(from.join("rocksdb")).unwrap() {
        let path = entry.unwrap().path();
        // RocksDB may remove files meanwhile; they are not needed.
        let _ = fs::copy(&path, to.join("rocksdb").join(path.file_name().unwrap()));
    }
}

/// Bytes of a log that were written, without the zeroes ahead.
fn written_bytes(log: &Path) -> u64 {
    let content = fs::read(log).unwrap();
    match walk(&content, None).verdict {
        Verdict::Ended(offset) => offset as u64,
        verdict => {
            assert_eq!(verdict, Verdict::Intact);
            content.len() as u64
        }
    }
}

fn newest_log(folder: &Path) -> PathBuf {
    logs(folder).pop().unwrap()
}

fn values(store: &EmbeddedStore) -> Vec<Bytes> {
    let rows = contract::scan(store, RowRange::all(), contract::everything(), ScanOptions::default());
    rows.into_iter().map(|row| row.key).collect()
}

/// Opens a crashed store and checks that its rows are a gapless prefix, with a length in `possible`. Writes on,
/// and answers the length.
fn rows_kept(copy: &Path, possible: RangeInclusive<usize>) -> usize {
    let reopened = open(copy, small()).unwrap();
    let found = values(&reopened);
    assert!(possible.contains(&found.len()), "{} of {possible:?}", found.len());
    let expected: Vec<Bytes> = (0..found.len()).map(|number| format!("{number:06}").into()).collect();
    assert_eq!(found, expected, "no hole");
    commit(&reopened, &["zzz"], "after");
    drop(reopened);
    assert_eq!(values(&open(copy, small()).unwrap()).len(), found.len() + 1);
    found.len()
}

#[test]
fn a_crash_loses_nothing_synced_and_keeps_a_prefix_of_the_rest() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(folder.path(), small()).unwrap();
    let mut random = 17u64;
    let mut total: usize = 0;
    for round in 0..40 {
        commit(&store, &[&format!("{total:06}")], "synced");
        total += 1;
        let log = newest_log(folder.path());
        let (synced_rows, synced) = (total, written_bytes(&log));
        for _ in 0..round % 7 {
            let mut batch = contract::batch(&[&format!("{total:06}")], Timestamp::ZERO, &"v".repeat(round * 500));
            batch.durable = false;
            block_on(store.commit_atomic(batch)).unwrap().unwrap();
            total += 1;
        }
        crash_copy(folder.path(), copy.path());
        let written = written_bytes(&log);
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let kept = synced + (random >> 33) % (written - synced + 1);
        let torn = copy.path().join("rocksdb").join(log.file_name().unwrap());
        let file = fs::OpenOptions::new().write(true).open(&torn).unwrap();
        file.set_len(kept).unwrap();
        if round % 3 == 0 {
            // The file system allocated space whose content never arrived.
            file.set_len(kept + 5000).unwrap();
        }
        drop(file);
        rows_kept(copy.path(), synced_rows..=total);
    }
}

/// Simulates a power loss: any sectors that were not synced may be missing, and then read as they did before.
#[test]
fn a_loss_of_power_loses_nothing_synced_and_keeps_a_prefix_of_the_rest() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(folder.path(), EmbeddedOptions { sync_interval: Duration::from_secs(3600), ..small() }).unwrap();
    let mut random = 23u64;
    let mut below = |limit: u64| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) % limit
    };
    let (mut total, mut short) = (0, 0);
    for round in 0..60 {
        commit(&store, &[&format!("{total:06}")], "synced");
        total += 1;
        let log = newest_log(folder.path());
        let (synced_rows, synced) = (total, written_bytes(&log));
        for _ in 0..2 + round % 7 {
            let value = "v".repeat(if round % 5 == 0 { 40_000 } else { 600 });
            let mut batch = contract::batch(&[&format!("{total:06}")], Timestamp::ZERO, &value);
            batch.durable = false;
            block_on(store.commit_atomic(batch)).unwrap().unwrap();
            total += 1;
        }
        crash_copy(folder.path(), copy.path());
        let path = copy.path().join("rocksdb").join(log.file_name().unwrap());
        let mut content = fs::read(&path).unwrap();
        let sectors = synced / 512..written_bytes(&log).div_ceil(512);
        for sector in sectors.clone() {
            if below(1 + round % 4) == 0 && sectors.end - sector > below(8) {
                continue;
            }
            let end = ((sector + 1) * 512).min(content.len() as u64) as usize;
            content[(sector * 512).max(synced) as usize..end].fill(0);
        }
        fs::write(&path, content).unwrap();
        short += usize::from(rows_kept(copy.path(), synced_rows..=total) < total);
    }
    assert!(short > 30, "only {short} of 60 lost anything");
}

#[test]
fn a_sector_lost_from_what_was_synced_is_reported() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(folder.path(), small()).unwrap();
    for number in 0..50 {
        commit(&store, &[&format!("{number:06}")], &"v".repeat(600));
    }
    let written = written_bytes(&newest_log(folder.path()));
    // The last two records may have been written before the sync of those before them was known.
    for sector in 0..written / 512 - 6 {
        crash_copy(folder.path(), copy.path());
        let path = newest_log(copy.path());
        let mut content = fs::read(&path).unwrap();
        let place = sector as usize * 512;
        content[place..place + 512].fill(0);
        fs::write(&path, content).unwrap();
        let opened = open(copy.path(), small());
        assert!(matches!(opened, Err(StoreError::Corrupted(_))), "sector {sector}");
    }
}

#[test]
fn the_log_is_written_into_zeroes_that_a_start_cuts_off() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(folder.path(), small()).unwrap();
    for number in 0..2000 {
        commit(&store, &[&format!("{number:06}")], &"v".repeat(600));
        if number % 97 != 1 {
            continue;
        }
        let log = newest_log(folder.path());
        let ahead = fs::metadata(&log).unwrap().len() - written_bytes(&log);
        assert!(ahead > 0 && ahead < 1 << 20, "{ahead} bytes ahead of commit {number}");
    }
    crash_copy(folder.path(), copy.path());
    let reopened = open(copy.path(), small()).unwrap();
    assert_eq!(values(&reopened).len(), 2000);
    let log = newest_log(folder.path());
    drop(store);
    assert_eq!(fs::metadata(&log).unwrap().len(), written_bytes(&log), "RocksDB cuts what it closes");
    assert_eq!(values(&open(folder.path(), small()).unwrap()).len(), 2000);
}

/// Flips bits in a copy of a file and records the outcome for the store each time.
fn flip(
    original: &Path,
    copy: &Path,
    file: &dyn Fn(&Path) -> PathBuf,
    bits: impl Iterator<Item = usize>,
) -> [usize; 2] {
    let mut outcomes = [0, 0];
    for bit in bits {
        crash_copy(original, copy);
        let path = file(copy);
        let mut content = fs::read(&path).unwrap();
        content[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, content).unwrap();
        match open(copy, small()) {
            Ok(store) => {
                assert_eq!(values(&store).len(), 200, "bit {bit}");
                outcomes[0] += 1;
            }
            Err(StoreError::Corrupted(_)) => outcomes[1] += 1,
            Err(other) => panic!("bit {bit}: {other}"),
        }
    }
    outcomes
}

#[test]
fn a_bit_flipped_in_the_log_is_reported() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(folder.path(), small()).unwrap();
    for number in 0..200 {
        commit(&store, &[&format!("{number:06}")], "value");
    }
    let last = written_bytes(&newest_log(folder.path())) as usize;
    crash_copy(folder.path(), copy.path());
    assert_eq!(values(&open(copy.path(), small()).unwrap()).len(), 200);
    let length = last - 200;
    // Every bit of one header and of the log's first header, and a sample of the others.
    let headers = (0..7 * 8).chain((0..length * 8).step_by(997));
    let [opened, reported] = flip(folder.path(), copy.path(), &newest_log, headers);
    assert_eq!(opened, 0);
    assert!(reported > 100);
    // Also in the last record, and several bits at once.
    let [opened, reported] = flip(folder.path(), copy.path(), &newest_log, (last - 60) * 8..last * 8);
    assert_eq!((opened, reported), (0, 60 * 8));
    crash_copy(folder.path(), copy.path());
    let path = newest_log(copy.path());
    let mut content = fs::read(&path).unwrap();
    for place in [last / 3, last / 2, last - 3] {
        content[place] ^= 1;
    }
    fs::write(&path, content).unwrap();
    assert!(matches!(open(copy.path(), small()), Err(StoreError::Corrupted(_))));
}

#[test]
fn a_bit_flipped_in_the_manifest_or_a_table_is_reported() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(folder.path(), small()).unwrap();
    for number in 0..200 {
        commit(&store, &[&format!("{number:06}")], "value");
    }
    store.flush().unwrap();
    drop(store);
    let find = |start: &'static str, end: &'static str| {
        move |folder: &Path| {
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            let mut paths: Vec<PathBuf> =
                fs::read_dir(folder.join("rocksdb")).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.retain(|path| name(path).starts_with(start) && name(path).ends_with(end));
            paths.sort_by_key(|path| (fs::metadata(path).unwrap().len(), path.clone()));
            paths.pop().unwrap()
        }
    };
    let manifest = find("MANIFEST-", "");
    let length = fs::metadata(manifest(folder.path())).unwrap().len() as usize;
    let [_, reported] = flip(folder.path(), copy.path(), &manifest, (0..(length - 100) * 8).step_by(331));
    assert!(reported > 10);
    // Tables are checked when they are read.
    let table = find("", ".sst");
    crash_copy(folder.path(), copy.path());
    let path = table(copy.path());
    let mut content = fs::read(&path).unwrap();
    content[200] ^= 1;
    fs::write(&path, content).unwrap();
    let damaged = open(copy.path(), small()).and_then(|store| {
        let rows = store.scan(RowRange::all(), contract::everything(), ScanOptions::default());
        block_on(futures::TryStreamExt::try_collect::<Vec<_>>(rows)).map(|_| ())
    });
    assert!(matches!(damaged, Err(StoreError::Corrupted(_))), "{damaged:?}");
}

#[test]
fn below_the_reserve_writes_are_refused_and_reads_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    commit(&store, &["a"], "1");
    drop(store);
    let store = open(folder.path(), EmbeddedOptions { reserve_bytes: u64::MAX / 4, ..small() }).unwrap();
    let refused = block_on(store.commit_atomic(contract::batch(&["b"], store.published(), "2")));
    assert!(matches!(refused, Err(StoreError::DiskFull(_))));
    assert_eq!(values(&store), ["a"]);
    block_on(store.delete_range(RowRange::prefix("a"))).unwrap();
    assert!(values(&store).is_empty());
}

/// Blocks each sync of the store until a message is sent, and signals when a sync begins.
fn hold_syncs(store: &EmbeddedStore) -> (mpsc::Receiver<()>, mpsc::Sender<Result<()>>) {
    let ((begins, begun), (leave, left)) = (mpsc::channel(), mpsc::channel());
    *store.database.before_sync.lock() = Box::new(move || {
        let _ = begins.send(());
        left.recv().unwrap_or(Ok(()))
    });
    (begun, leave)
}

/// Whether a commit without a sync is ordered at once on the requesting thread.
fn is_ordered_at_once(store: &EmbeddedStore, key: &str) -> bool {
    let (ordered, mut told) = oneshot::channel();
    let batch = CommitBatch { durable: false, ..contract::batch(&[key], Timestamp::ZERO, "v") };
    let mut answer = store.commit_ordered(batch, ordered);
    let _ = answer.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    matches!(told.try_recv(), Ok(Some(_)))
}

#[test]
fn a_slow_sync_keeps_no_writer_and_no_reader_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), EmbeddedOptions { sync_interval: Duration::from_secs(3600), ..small() }).unwrap();
    commit(&store, &["a"], "1");
    let (begun, leave) = hold_syncs(&store);
    // While the oracle's high-water mark is being synced.
    let mut mark = store.put_meta("mark", "1".into());
    let waker = std::task::Waker::noop();
    assert!(mark.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    begun.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(is_ordered_at_once(&store, "b"));
    assert_eq!(values(&store), ["a", "b"]);
    leave.send(Ok(())).unwrap();
    drop(leave);
    block_on(mark).unwrap();
    assert_eq!(block_on(store.get_meta("mark")).unwrap().unwrap(), "1");
    // While files are ingested, RocksDB blocks writers until its manifest is synced.
    let write = || store.database.write_at_once(rocksdb::WriteBatch::default());
    assert_eq!((store.database.take_in(|_| write()), write()), (Ok(false), Ok(true)));
    commit(&store, &["c"], "1");
    assert_eq!(values(&store), ["a", "b", "c"]);
}

#[test]
fn a_failed_sync_ends_it_whoever_asked_for_the_sync() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), small()).unwrap();
    commit(&store, &["a"], "1");
    let mut left = 1;
    *store.database.before_sync.lock() = Box::new(move || match std::mem::take(&mut left) {
        0 => Ok(()),
        _ => Err(StoreError::DiskFull("no space".to_owned())),
    });
    assert!(matches!(block_on(store.put_meta("mark", "1".into())), Err(StoreError::DiskFull(_))));
    assert!(store.failure().is_some());
    // The next sync would succeed, but would say nothing of the writes that the failed one covered.
    let answer = block_on(store.commit_atomic(contract::batch(&["b"], store.published(), "2")));
    assert!(matches!(answer, Err(StoreError::Undetermined(_))), "{answer:?}");
    assert_eq!(values(&store).first().unwrap(), "a");
}

/// A file system of a few megabytes, unmounted on drop.
struct TinyDisk(tempfile::TempDir);

impl TinyDisk {
    /// Mounts it as root or with sudo. A machine that allows neither cannot run this test, and the failure says so.
    fn mount(megabytes: u32) -> TinyDisk {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        let mounted = [&["mount"][..], &["sudo", "-n", "mount"]].into_iter().any(|words| {
            let mut command = std::process::Command::new(words[0]);
            command.args(&words[1..]).args(["-t", "tmpfs", "-o", &size, "percosql-test"]).arg(folder.path());
            command.output().is_ok_and(|output| output.status.success())
        });
        assert!(mounted, "a small file system could not be mounted: run the tests as root or with sudo");
        TinyDisk(folder)
    }
}

impl Drop for TinyDisk {
    fn drop(&mut self) {
        for words in [&["umount"][..], &["sudo", "-n", "umount"]] {
            let mut command = std::process::Command::new(words[0]);
            if command
                .args(&words[1..])
                .arg("-l")
                .arg(self.0.path())
                .output()
                .is_ok_and(|output| output.status.success())
            {
                return;
            }
        }
    }
}

/// Commits until a commit is refused. Answers how many succeeded, and the error.
fn fill(store: &EmbeddedStore) -> (usize, StoreError) {
    let value = "0123456789abcdef".repeat(4096);
    let mut random = 11u64;
    for number in 0.. {
        let mut noise = String::with_capacity(value.len());
        while noise.len() < value.len() {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            noise.push_str(&format!("{random:016x}"));
        }
        let batch = contract::batch(&[&format!("{number:06}")], store.published(), &noise);
        match block_on(store.commit_atomic(batch)) {
            Ok(answer) => answer.unwrap(),
            Err(error) => return (number, error),
        };
    }
    unreachable!()
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let disk = TinyDisk::mount(48);
    let path = disk.0.path().join("store");
    let options = EmbeddedOptions { memtable_bytes: 8 << 20, ..small() };
    // With a reserve the disk never fills up: writes are refused, and succeed again when there is room.
    let store = open(&path, EmbeddedOptions { reserve_bytes: 24 << 20, ..options }).unwrap();
    let ballast = disk.0.path().join("ballast");
    fs::write(&ballast, vec![1; 8 << 20]).unwrap();
    let (committed, error) = fill(&store);
    assert!(matches!(error, StoreError::DiskFull(_)), "{error}");
    assert_eq!(values(&store).len(), committed);
    fs::remove_file(&ballast).unwrap();
    commit(&store, &["more"], "v");
    block_on(store.delete_range(RowRange::all())).unwrap();
    store.flush().unwrap();
    store.compact().unwrap();
    // Without a reserve, the write that meets the full disk has an unknown outcome, and no further write is accepted.
    drop(store);
    let store = open(&path, options).unwrap();
    let (committed, error) = fill(&store);
    assert!(matches!(error, StoreError::Undetermined(_) | StoreError::DiskFull(_)), "{error}");
    if matches!(error, StoreError::Undetermined(_)) {
        let next = block_on(store.commit_atomic(contract::batch(&["x"], store.published(), "v")));
        assert!(matches!(next, Err(StoreError::ReadOnly(_))), "{next:?}");
    }
    assert!(values(&store).len() >= committed);
    drop(store);
    // Once there is room again, every acknowledged write is there, and perhaps the last one.
    let room = tempfile::tempdir().unwrap();
    crash_copy(&path, room.path());
    let found = values(&open(room.path(), options).unwrap()).len();
    assert!((committed..=committed + 1).contains(&found), "{found} of {committed}");
}

/// The environment variable with the store's folder, for the process that is killed in
/// [`a_killed_process_loses_nothing_acknowledged`], which sets it.
const KILLED_FOLDER: &str = "PERCOSQL_TEST_KILLED_FOLDER";

#[test]
#[allow(clippy::print_stdout)]
fn a_killed_process_loses_nothing_acknowledged() {
    use std::io::{BufRead, BufReader};
    if let Ok(folder) = std::env::var(KILLED_FOLDER) {
        let store = open(Path::new(&folder), small()).unwrap();
        for number in values(&store).len().. {
            commit(&store, &[&format!("{number:06}")], "value");
            println!("acknowledged {number}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    for round in 1..4 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "embedded::fault_tests::a_killed_process_loses_nothing_acknowledged"])
            .env(KILLED_FOLDER, folder.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
        let acknowledged =
            |line: String| line.split_once("acknowledged ").map(|(_, number)| number.parse::<usize>().unwrap());
        let mut last = lines.by_ref().filter_map(acknowledged).nth(40 * round).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        last = lines.filter_map(acknowledged).last().unwrap_or(last);
        let found = values(&open(folder.path(), small()).unwrap());
        // The write after the last acknowledged one may have been logged.
        assert!((last + 1..=last + 2).contains(&found.len()), "{} after {last}", found.len());
        let expected: Vec<Bytes> = (0..found.len()).map(|number| format!("{number:06}").into()).collect();
        assert_eq!(found, expected);
    }
}
