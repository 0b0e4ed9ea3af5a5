//! The explored scenarios (scripts of transactions, engines, clocks), and the search itself.

use super::checks::{Versions, check, commit_ts, versions};
use super::scheduler::{Clock, NodeEnv, Scheduler, Spawner, Step, block_on, yield_now};
use super::stepping_store::SteppingStore;
use crate::tests::harness::{Path, key};
use crate::*;
use futures::StreamExt;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use storage::testing::{MemoryOptions, MemoryStore};
use storage::{EnvRef, RowRange, StoreRef, Timestamp};

/// A statement of a script.
#[derive(Clone, Copy, Debug)]
enum Op {
    Get(&'static str),
    /// Every key from the first up to, but without, the second.
    Scan(&'static str, &'static str),
    /// An update that leaves keys alone. The value is the transaction's name.
    Update(&'static str),
    Insert(&'static str),
    Delete(&'static str),
    Lock(&'static str, LockStrength),
    /// The key must stay unchanged until COMMIT.
    Unchanged(&'static str),
    /// Only this transaction knows the keys from the first up to, but without, the second.
    Made(&'static str, &'static str),
    /// Reads the second key if the first has changed since the beginning, like a reader that learns of it there.
    Follow(&'static str, &'static str),
    /// Begins a savepoint: later writes may be undone.
    Savepoint,
    /// Undoes the writes since the savepoint.
    Undo,
    /// At the head of a script: its reads are validated.
    Serializable,
}
use Op::*;

/// The actions and observations of one transaction.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) began_at: u64,
    pub(super) snapshot_ts: Option<Timestamp>,
    pub(super) reads: Vec<(String, Option<String>)>,
    pub(super) writes: Vec<(String, WriteKind)>,
    /// Undone writes of a savepoint, for keys without other writes.
    pub(super) undone: Vec<String>,
    pub(super) unchanged: Vec<String>,
    pub(super) acknowledged_at: u64,
    pub(super) result: Option<Result<Timestamp>>,
}

struct Scenario {
    scripts: &'static [&'static [Op]],
    path: Path,
    /// Scripts that write one key commit in one phase, the others in two.
    mixed: bool,
    /// Every lock looks expired to others, so readers roll live transactions back.
    impatient: bool,
    crashes: bool,
    /// Every write is locked at once, before COMMIT.
    early: bool,
    /// One answer is lost, or one request arrives twice. Only over rows.
    faults: bool,
    /// The most departures from the default order.
    departures: usize,
    /// Further conditions on the final state.
    verify: fn(&[Record], &Versions),
}

struct Run {
    scheduler: Scheduler,
    records: Arc<Mutex<Vec<Record>>>,
    memory: Arc<MemoryStore>,
    clock: Clock,
    steps: Arc<Mutex<u64>>,
    open: Box<dyn Fn(usize, &mut Scheduler) -> Arc<TransactionStore>>,
    /// Holds the folder for spilled buffers.
    _folder: Option<tempfile::TempDir>,
}

impl Scenario {
    fn start(&self) -> Run {
        let spawner = Spawner::default();
        let clock = Clock::new(u64::from(self.impatient));
        let mut scheduler = Scheduler::new(spawner.clone(), clock.clone());
        let env = |node| -> EnvRef { Arc::new(NodeEnv { node, clock: clock.clone(), spawner: spawner.clone() }) };
        let oracle = Oracle::new(env(0));
        let memory_options = MemoryOptions { atomic: self.path != Path::ByRow, ..MemoryOptions::default() };
        let memory = MemoryStore::with_options(oracle.clone(), memory_options);
        let stepping: StoreRef = Arc::new(SteppingStore { memory: memory.clone(), spawner: spawner.clone() });
        let folder = self.early.then(|| tempfile::tempdir().unwrap());
        let options = TransactionStoreOptions {
            spill_dir: folder.as_ref().map(|folder| folder.path().to_owned()),
            early_prewrite_bytes: 0,
            always_two_phase: !matches!(self.path, Path::OnePhase | Path::InBulk),
            bulk_from_bytes: match (self.path, self.mixed) {
                (Path::InBulk, true) => "xt1".len() + 1,
                (Path::InBulk, false) => 0,
                _ => usize::MAX,
            },
            step_rows: if self.path == Path::InBulk { 1 } else { 1024 },
            one_phase_limit_bytes: if self.mixed { "xt1".len() } else { 1 << 20 },
            lock_wait: Duration::ZERO,
            // A transaction that goes first ends the other at once, unless a crash leaves locks to meet.
            wound_after: if self.crashes { Duration::MAX } else { Duration::ZERO },
            lock_time_to_live: if self.impatient { Duration::ZERO } else { Duration::from_secs(5) },
            ..TransactionStoreOptions::default()
        };
        let (clock_for_nodes, spawner_for_nodes) = (clock.clone(), spawner);
        let open = move |node, scheduler: &mut Scheduler| {
            let env: EnvRef =
                Arc::new(NodeEnv { node, clock: clock_for_nodes.clone(), spawner: spawner_for_nodes.clone() });
            let open = TransactionStore::open(stepping.clone(), oracle.clone(), env, options.clone());
            block_on(scheduler, open).unwrap()
        };
        let store = open(usize::MAX - 1, &mut scheduler);
        let seed = async move {
            let transaction = store.begin(TransactionOptions::default());
            let write = |name| Write { key: key(name), kind: WriteKind::Put(key("0")), strength: LockStrength::Update };
            transaction.write(vec![write("x"), write("y")]).await.unwrap();
            transaction.commit().await.unwrap();
        };
        block_on(&mut scheduler, seed);
        let records = Arc::new(Mutex::new(vec![Record::default(); self.scripts.len()]));
        Run { scheduler, records, memory, clock, steps: Arc::default(), open: Box::new(open), _folder: folder }
    }

    /// Makes one run. `choices` selects an option at each step; beyond its end, the first option is taken. Answers
    /// the number of options at each step.
    fn run(&self, choices: &[usize]) -> Vec<(usize, usize)> {
        let mut run = self.start();
        let by_row = self.path == Path::ByRow;
        // Over rows, every transaction has its own node. Otherwise all share one process.
        let nodes = if by_row { self.scripts.len() } else { 1 };
        let stores: Vec<_> = (0..nodes).map(|node| (run.open)(node, &mut run.scheduler)).collect();
        for (at, script) in self.scripts.iter().enumerate() {
            let node = at.min(nodes - 1);
            let work = perform(at, script, stores[node].clone(), run.records.clone(), run.steps.clone());
            run.scheduler.spawn(node, Box::pin(work));
        }
        drop(stores);
        let mut taken = Vec::new();
        let (mut crashed, mut faulted) = (false, false);
        loop {
            let mut options = run.scheduler.options();
            if options.is_empty() {
                break;
            }
            let polls = options.len();
            if self.crashes && !crashed {
                options.extend((0..nodes).map(Step::Crash));
            }
            if self.faults && !faulted {
                options.extend(run.scheduler.faults());
            }
            let choice = choices.get(taken.len()).copied().unwrap_or(0);
            taken.push((options.len(), polls));
            *run.steps.lock() += 1;
            match options[choice] {
                step @ (Step::Poll(_) | Step::Fire) => run.scheduler.take(step),
                step @ (Step::Lose(_) | Step::Repeat(_)) => {
                    faulted = true;
                    run.scheduler.take(step);
                }
                Step::Crash(node) => {
                    crashed = true;
                    run.scheduler.crash(node, !by_row);
                    if !by_row {
                        break;
                    }
                }
            }
            assert!(taken.len() < 2000, "the run does not end");
        }
        self.verify(run);
        taken
    }

    /// Restarts, resolves everything that is left, and checks.
    fn verify(&self, mut run: Run) {
        run.clock.advance(Duration::from_secs(3600));
        let store = (run.open)(usize::MAX - 2, &mut run.scheduler);
        let resolve = async move {
            let reader = store.begin(TransactionOptions::default());
            let mut batches = reader.scan(RowRange::all(), TxnScanOptions::default(), OwnWrites::All);
            while let Some(batch) = batches.next().await {
                batch.unwrap();
            }
            drop((batches, reader));
            store.resolve_everything().await.unwrap();
        };
        block_on(&mut run.scheduler, resolve);
        let records = run.records.lock().clone();
        let versions = versions(&run.memory);
        check(&records, &versions);
        (self.verify)(&records, &versions);
    }

    /// Makes every run within the bound.
    fn explore(&self) {
        let mut choices: Vec<usize> = Vec::new();
        let mut runs = 0u64;
        loop {
            let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.run(&choices)));
            let Ok(taken) = attempt else { panic!("after {runs} runs, with choices {choices:?}") };
            runs += 1;
            choices.resize(taken.len(), 0);
            // The last step with an option that was not tried.
            loop {
                let Some(last) = choices.pop() else {
                    let Scenario { path, impatient, crashes, faults, early, .. } = self;
                    eprintln!(
                        "{path:?} impatient={impatient} crashes={crashes} faults={faults} early={early}: {runs} runs"
                    );
                    assert!(runs > 10);
                    return;
                };
                let (options, polls) = taken[choices.len()];
                let departures = choices.iter().enumerate().filter(|(at, choice)| {
                    // A crash or a fault is no departure from the default order.
                    **choice > 0 && **choice < taken[*at].1
                });
                let left = self.departures - departures.count();
                let next = if left == 0 && last + 1 < polls { polls } else { last + 1 };
                if next < options {
                    choices.push(next);
                    break;
                }
            }
        }
    }
}

async fn perform(
    at: usize,
    script: &'static [Op],
    store: Arc<TransactionStore>,
    records: Arc<Mutex<Vec<Record>>>,
    steps: Arc<Mutex<u64>>,
) {
    let name = format!("t{}", at + 1);
    let note = |change: &dyn Fn(&mut Record)| change(&mut records.lock()[at]);
    let isolation = match script.first() {
        Some(Serializable) => Isolation::Serializable,
        _ => Isolation::Snapshot,
    };
    let transaction = store.begin(TransactionOptions { isolation, ..TransactionOptions::default() });
    let began_at = *steps.lock();
    let snapshot_ts = transaction.snapshot_ts().await.unwrap();
    note(&|record| {
        record.name = name.clone();
        record.began_at = began_at;
        record.snapshot_ts = Some(snapshot_ts);
    });
    yield_now().await;
    let mut savepoint = (0, 0);
    for op in script {
        let (key_name, kind, strength) = match op {
            Get(name) => {
                let value = transaction.get(name.as_bytes(), OwnWrites::All).await.unwrap();
                let value = value.map(|value| String::from_utf8(value.to_vec()).unwrap());
                note(&|record| record.reads.push(((*name).to_owned(), value.clone())));
                continue;
            }
            Scan(from, to) => {
                let range = RowRange { start: key(from), end: Some(key(to)) };
                let mut batches = transaction.scan(range, TxnScanOptions::default(), OwnWrites::All);
                let mut seen = std::collections::BTreeMap::from([("x", None), ("y", None)]);
                while let Some(batch) = batches.next().await {
                    for (key, value) in batch.unwrap() {
                        let name = if key == "x" { "x" } else { "y" };
                        let value = String::from_utf8(value.to_vec()).unwrap();
                        assert!(seen.insert(name, Some(value)).flatten().is_none(), "repeated");
                    }
                }
                note(&|record| {
                    let pairs = seen.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
                    record.reads.extend(pairs);
                });
                continue;
            }
            Made(from, to) => {
                transaction.made(RowRange { start: key(from), end: Some(key(to)) });
                continue;
            }
            Follow(told, name) => {
                for name in [told, name] {
                    let value = transaction.get(name.as_bytes(), OwnWrites::All).await.unwrap();
                    let value = value.map(|value| String::from_utf8(value.to_vec()).unwrap());
                    note(&|record| record.reads.push(((*name).to_owned(), value.clone())));
                    if value.as_deref() == Some("0") {
                        break;
                    }
                }
                continue;
            }
            Serializable => continue,
            Unchanged(key_name) => {
                note(&|record| record.unchanged.push((*key_name).to_owned()));
                transaction.require_unchanged(key(key_name));
                continue;
            }
            Savepoint => {
                savepoint = (transaction.advance_command(), records.lock()[at].writes.len());
                continue;
            }
            Undo => {
                transaction.rollback_to(savepoint.0).await.unwrap();
                note(&|record| {
                    let undone = record.writes.split_off(savepoint.1);
                    record.undone.extend(undone.into_iter().map(|(key_name, _)| key_name));
                });
                continue;
            }
            Update(key_name) => (key_name, WriteKind::Put(key(&name)), LockStrength::NoKeyUpdate),
            Insert(key_name) => (key_name, WriteKind::Put(key(&name)), LockStrength::Update),
            Delete(key_name) => (key_name, WriteKind::Delete, LockStrength::Update),
            Lock(key_name, strength) => (key_name, WriteKind::Lock, *strength),
        };
        note(&|record| record.writes.push(((*key_name).to_owned(), kind.clone())));
        if let Err(error) = transaction.write(vec![Write { key: key(key_name), kind, strength }]).await {
            // It failed before COMMIT, so it is rolled back, as a session does.
            transaction.rollback().await;
            note(&|record| record.result = Some(Err(error.clone())));
            return;
        }
    }
    let result = transaction.commit().await;
    let acknowledged_at = *steps.lock();
    note(&|record| {
        record.acknowledged_at = acknowledged_at;
        record.result = Some(result.clone());
    });
}

fn anything(_: &[Record], _: &Versions) {}

/// Whether both committed though neither saw the other's write.
fn both_unseen(records: &[Record], seen: Option<&str>) -> bool {
    records.iter().all(|record| {
        let committed = matches!(record.result, Some(Ok(_)));
        committed && record.reads.iter().all(|(_, value)| value.as_deref() == seen)
    })
}

/// A child whose parent was deleted concurrently, neither seeing the other: exactly one commits.
fn no_orphan(records: &[Record], versions: &Versions) {
    let child = commit_ts(&records[0], versions).is_some();
    let parent_deleted = versions["x"].values().any(Option::is_none);
    let saw = |record: &Record, name: &str| record.reads.iter().any(|(key, value)| key == name && value.is_some());
    let unseen = saw(&records[0], "x") && !saw(&records[1], "z");
    assert!(!(child && parent_deleted && unseen), "a child without its parent: {records:?}");
}

/// Both inserted the same new key: at most one commits.
fn one_winner(records: &[Record], _: &Versions) {
    assert!(!both_unseen(records, None), "{records:?}");
}

/// Children of one parent do not conflict.
fn nobody_refused(records: &[Record], _: &Versions) {
    for record in records {
        assert!(!matches!(record.result, Some(Err(_))), "{record:?}");
    }
}

/// Each wrote what the other read: one must have seen the other.
fn one_saw_the_other(records: &[Record], versions: &Versions) {
    let written = |record: &Record, name: &str| record.writes.iter().any(|(key, _)| key == name);
    let missed = |reader: &Record, writer: &Record| {
        reader.reads.iter().any(|(key, value)| written(writer, key) && value.as_deref() != Some(writer.name.as_str()))
    };
    let [one, other] = records else { return };
    let committed = [one, other].iter().all(|record| commit_ts(record, versions).is_some());
    assert!(!(committed && missed(one, other) && missed(other, one)), "write skew: {records:?}");
}

const WRITE_SKEW: &[&[Op]] = &[&[Serializable, Get("x"), Update("y")], &[Serializable, Get("y"), Update("x")]];
const SKEW_OF_GAPS: &[&[Op]] = &[&[Serializable, Get("v"), Insert("w")], &[Serializable, Get("w"), Insert("v")]];
const SKEW_OF_RANGES: &[&[Op]] =
    &[&[Serializable, Scan("x", "z"), Insert("w"), Insert("v")], &[Serializable, Get("w"), Update("x"), Update("y")]];
const UPDATE_BOTH: &[&[Op]] = &[&[Get("x"), Update("x"), Update("y")], &[Get("y"), Update("y"), Update("x")]];
const UPDATE_ONE: &[&[Op]] = &[&[Get("x"), Update("x")], &[Get("x"), Update("x")]];
const WRITE_AND_READ: &[&[Op]] = &[&[Update("x"), Update("y")], &[Get("x"), Get("y")]];
const WRITE_AND_SCAN: &[&[Op]] = &[&[Update("x"), Update("y")], &[Scan("x", "z")]];
const PARENT_AND_CHILD: &[&[Op]] =
    &[&[Get("x"), Lock("x", LockStrength::KeyShare), Insert("z")], &[Get("x"), Get("z"), Delete("x")]];
const INSERT_SAME: &[&[Op]] = &[&[Get("z"), Insert("z")], &[Get("z"), Insert("z")]];
const TWO_CHILDREN: &[&[Op]] = &[
    &[Lock("x", LockStrength::KeyShare), Insert("c1")],
    &[Lock("x", LockStrength::KeyShare), Insert("c2")],
    &[Update("x")],
];
const THREE: &[&[Op]] =
    &[&[Get("x"), Update("x"), Update("y")], &[Get("y"), Update("y"), Update("x")], &[Get("x"), Get("y")]];
const DESCRIPTOR: &[&[Op]] = &[&[Unchanged("x"), Update("y")], &[Update("x")]];
const DESCRIPTOR_AND_READER: &[&[Op]] = &[&[Unchanged("x"), Update("y")], &[Update("x")], &[Get("y"), Get("x")]];
const UNDO: &[&[Op]] = &[
    &[Update("x"), Savepoint, Update("y"), Undo, Lock("z", LockStrength::KeyShare), Insert("z")],
    &[Get("y"), Get("z")],
];
const UNDO_BESIDE: &[&[Op]] = &[&[Savepoint, Update("y"), Undo, Update("x")], &[Get("y"), Update("y")]];
const TWO_READERS: &[&[Op]] = &[&[Update("x"), Update("y")], &[Get("x"), Get("y")], &[Get("x"), Get("y")]];
const MADE_AND_READ: &[&[Op]] =
    &[&[Made("n", "o"), Insert("n1"), Insert("n2"), Update("x")], &[Follow("x", "n1"), Follow("x", "n2")]];
const MADE_AND_WRITE: &[&[Op]] =
    &[&[Made("n", "o"), Insert("n1"), Insert("n2"), Update("x")], &[Follow("x", "n2"), Update("x")]];
const THREE_UPDATES: &[&[Op]] = &[&[Get("x"), Update("x")], &[Get("x"), Update("x")], &[Get("x"), Update("x")]];

fn explore(
    scripts: &'static [&'static [Op]],
    departures: [usize; 3],
    impatient: bool,
    verify: fn(&[Record], &Versions),
) {
    // A commit beside the log has about as many steps as one with locks.
    let departures = [departures[0], departures[1], departures[1], departures[2]];
    for (path, departures) in [Path::OnePhase, Path::InBulk, Path::Embedded, Path::ByRow].into_iter().zip(departures) {
        for (crashes, faults) in [(false, false), (true, false), (false, true), (true, true)] {
            if faults && path != Path::ByRow {
                continue;
            }
            let fewer = usize::from(crashes) + usize::from(faults) + usize::from(crashes && faults);
            let departures = departures.saturating_sub(fewer);
            let scenario = Scenario {
                scripts,
                path,
                mixed: false,
                impatient: false,
                crashes,
                faults,
                early: false,
                departures,
                verify,
            };
            scenario.explore();
            if impatient && path == Path::ByRow {
                Scenario { impatient: true, ..scenario }.explore();
            }
        }
    }
}

/// One-phase, two-phase and prepared commits beside each other, on one engine.
fn explore_mixed(scripts: &'static [&'static [Op]], departures: usize, verify: fn(&[Record], &Versions)) {
    let crashes = [(false, departures), (true, departures - 1)];
    let all =
        [Path::OnePhase, Path::InBulk].into_iter().flat_map(|path| crashes.map(|(crash, most)| (path, crash, most)));
    for (path, crashes, departures) in all {
        let (mixed, impatient, faults, early) = (true, false, false, false);
        Scenario { scripts, path, mixed, impatient, crashes, faults, early, departures, verify }.explore();
    }
}

/// Transactions over rows that lock their writes at once.
fn explore_early(scripts: &'static [&'static [Op]], departures: usize, verify: fn(&[Record], &Versions)) {
    explore_rows(scripts, departures, true, verify);
}

/// Over rows only. `early`: every write is locked at once.
fn explore_rows(scripts: &'static [&'static [Op]], departures: usize, early: bool, verify: fn(&[Record], &Versions)) {
    for (crashes, faults) in [(false, false), (true, false), (false, true)] {
        let departures = departures - usize::from(crashes || faults);
        let (path, mixed, impatient) = (Path::ByRow, false, false);
        let scenario = Scenario { scripts, path, mixed, impatient, crashes, faults, early, departures, verify };
        scenario.explore();
        if !faults && !crashes {
            Scenario { impatient: true, ..scenario }.explore();
        }
    }
}

#[test]
fn mixed_one_phase_beside_two_phases() {
    explore_mixed(&[&[Get("x"), Update("x"), Update("y")], &[Get("x"), Update("x")]], 4, anything);
    explore_mixed(&[&[Get("x"), Update("x"), Update("y")], &[Get("y"), Update("y")]], 4, anything);
}

#[test]
fn three_mixed_with_a_reader() {
    explore_mixed(&[&[Update("x"), Update("y")], &[Get("y"), Update("y")], &[Get("x"), Get("y")]], 3, anything);
}

#[test]
fn two_updates_of_one_key() {
    explore(UPDATE_ONE, [20, 3, 3], true, anything);
}

#[test]
fn two_updates_of_two_keys() {
    explore(UPDATE_BOTH, [20, 3, 2], true, anything);
}

#[test]
fn a_reader_beside_a_writer() {
    explore(WRITE_AND_READ, [20, 4, 3], true, anything);
}

#[test]
fn a_scan_beside_a_writer() {
    explore(WRITE_AND_SCAN, [20, 4, 3], true, anything);
}

#[test]
fn a_child_beside_the_deletion_of_its_parent() {
    explore(PARENT_AND_CHILD, [20, 3, 2], true, no_orphan);
}

#[test]
fn two_inserts_of_one_key() {
    explore(INSERT_SAME, [20, 3, 3], true, one_winner);
}

#[test]
fn three_two_children_beside_an_update_of_their_parent() {
    explore(TWO_CHILDREN, [3, 2, 2], false, nobody_refused);
}

#[test]
fn three_two_writers_and_a_reader() {
    explore(THREE, [3, 2, 2], true, anything);
}

#[test]
fn a_writer_beside_a_change_of_its_descriptor() {
    explore(DESCRIPTOR, [20, 3, 3], false, anything);
}

#[test]
fn three_a_writer_beside_a_change_of_its_descriptor_and_a_reader() {
    explore(DESCRIPTOR_AND_READER, [3, 2, 2], false, anything);
}

/// The second reader that pushes pushes ahead of the oracle.
#[test]
fn three_a_writer_and_two_readers() {
    explore(TWO_READERS, [3, 2, 2], false, anything);
}

#[test]
fn three_updates_of_one_key() {
    explore(THREE_UPDATES, [3, 2, 2], true, anything);
}

#[test]
fn early_locks_beside_a_reader() {
    explore_early(WRITE_AND_READ, 2, anything);
}

#[test]
fn early_locks_of_two_writers() {
    explore_early(UPDATE_BOTH, 2, anything);
}

#[test]
fn early_locks_that_are_undone_beside_a_reader() {
    explore_early(UNDO, 2, anything);
}

#[test]
fn early_locks_that_are_undone_beside_a_writer() {
    explore_early(UNDO_BESIDE, 2, anything);
}

#[test]
fn keys_that_nobody_knew_beside_a_reader() {
    explore_rows(MADE_AND_READ, 3, false, anything);
}

#[test]
fn keys_that_nobody_knew_beside_a_writer() {
    explore_rows(MADE_AND_WRITE, 2, false, anything);
}

#[test]
fn serializable_no_write_skew() {
    explore(WRITE_SKEW, [20, 3, 2], true, one_saw_the_other);
}

#[test]
fn serializable_no_skew_of_what_is_not_there() {
    explore(SKEW_OF_GAPS, [20, 3, 2], false, one_saw_the_other);
}

#[test]
fn serializable_no_skew_of_ranges() {
    explore(SKEW_OF_RANGES, [20, 2, 2], true, one_saw_the_other);
    explore_mixed(SKEW_OF_RANGES, 3, one_saw_the_other);
}
