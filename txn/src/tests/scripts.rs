//! Goldenscripts: the cells that a transaction writes, one by one. `txn/testscripts/` holds the scripts.
//! `UPDATE_GOLDENFILES=1 cargo test` rewrites their output, which must then be reviewed.
//!
//! Timestamps are shown as microseconds since the start of the simulated clock, so the first is @0.

use super::harness::*;
use crate::data::{RecordKind, decode_data};
use crate::lock::Lock;
use crate::write::{Record, decode_record};
use crate::*;
use bytes::Bytes;
use goldenscript::{Command, Runner};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use storage::testing::SimEnv;
use storage::{Cell, Env, Family, RowRange, Timestamp};

type Outcome<T> = std::result::Result<T, Box<dyn Error>>;
type Cells = BTreeMap<(Bytes, Family, std::cmp::Reverse<Timestamp>), String>;

struct Script {
    env: Arc<SimEnv>,
    start: u64,
    world: Option<World>,
    transactions: BTreeMap<String, Arc<Transaction>>,
    cells: Cells,
    /// The store of rows: memory, or Bigtable.
    rows: Path,
}

impl Script {
    fn new(rows: Path) -> Self {
        let env = SimEnv::new(1);
        let start = env.now_micros();
        Script { env, start, world: None, transactions: BTreeMap::new(), cells: Cells::new(), rows }
    }

    fn world(&self) -> Outcome<World> {
        Ok(self.world.clone().ok_or("no engine")?)
    }

    /// Runs `future`, and then all background work. `None` if it stopped halfway.
    fn block_on<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let result = self.env.block_on(future).ok();
        while self.env.step() {}
        result
    }

    fn at(&self, ts: Timestamp) -> String {
        match ts.0.checked_sub(self.start) {
            Some(since) => format!("@{since}"),
            None => "@start".to_owned(),
        }
    }

    fn shown_key(&self, key: &[u8]) -> String {
        if let Some(rest) = key.strip_prefix(b"\xff\xfepercosql/") {
            let name = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
            return format!("<{}>", String::from_utf8_lossy(name));
        }
        String::from_utf8_lossy(key).into_owned()
    }

    fn shown_value(value: &[u8]) -> String {
        match value.len() {
            0..=40 => format!("{:?}", String::from_utf8_lossy(value)),
            length => format!("({length} bytes)"),
        }
    }

    fn shown_cell(&self, cell: &Cell) -> Outcome<String> {
        let inlined = |kind: RecordKind, value: &Option<Bytes>| match (kind, value) {
            (RecordKind::Put, Some(value)) => format!(" {}", Self::shown_value(value)),
            (RecordKind::Put, None) => " in d".to_owned(),
            _ => String::new(),
        };
        Ok(match cell.family {
            Family::Data => {
                let value = decode_data(&cell.value)?;
                let shown = match value.starts_with(b"\xff") {
                    true => self.shown_key(&value),
                    false => Self::shown_value(&value),
                };
                format!("d{} {shown}", self.at(cell.timestamp))
            }
            Family::Lock => {
                let lock = Lock::decode(&cell.value)?;
                let mut shown = format!("l{} {:?} {:?}", self.at(cell.timestamp), lock.strength, lock.kind);
                shown += &inlined(lock.kind, &lock.inlined);
                write!(shown, " primary={}", self.shown_key(&lock.primary))?;
                if lock.min_commit_ts > Timestamp::ZERO {
                    write!(shown, " min_commit={}", self.at(lock.min_commit_ts))?;
                }
                shown
            }
            family @ (Family::Write | Family::Rollback) => {
                let name = if family == Family::Write { "w" } else { "r" };
                match decode_record(cell)? {
                    Record::RolledBack => format!("{name}{} rolled back", self.at(cell.timestamp)),
                    Record::Committed(record) => {
                        let mut shown =
                            format!("{name}{} {:?} {:?}", self.at(cell.timestamp), record.strength, record.kind);
                        shown += &inlined(record.kind, &record.inlined);
                        if record.start_ts > Timestamp::ZERO {
                            write!(shown, " start={}", self.at(record.start_ts))?;
                        }
                        shown
                    }
                }
            }
        })
    }

    fn all_cells(&self) -> Outcome<Cells> {
        let mut cells = Cells::new();
        let Some(world) = &self.world else { return Ok(cells) };
        for row in world.dump() {
            for cell in &row.cells {
                let at = (row.key.clone(), cell.family, std::cmp::Reverse(cell.timestamp));
                let shown = match self.shown_key(&row.key).as_str() {
                    "<gc-lease>" | "<safe-point>" => {
                        format!("d{} ({} bytes)", self.at(cell.timestamp), cell.value.len())
                    }
                    _ => self.shown_cell(cell)?,
                };
                cells.insert(at, shown);
            }
        }
        Ok(cells)
    }

    fn transaction(&self, command: &Command) -> Outcome<Arc<Transaction>> {
        let name = command.prefix.as_deref().ok_or("which transaction?")?;
        Ok(self.transactions.get(name).cloned().ok_or_else(|| format!("no transaction {name}"))?)
    }

    fn error(&self, error: &TxnError) -> String {
        match error {
            TxnError::Conflict(conflict) => {
                let key = self.shown_key(&conflict.key);
                format!("conflict on {key}: {:?} {}", conflict.kind, self.at(conflict.found))
            }
            TxnError::Undetermined { .. } => "undetermined".to_owned(),
            error => error.to_string(),
        }
    }

    fn engine(&mut self, command: &Command) -> Outcome<String> {
        let mut args = command.consume_args();
        let path = match args.next_pos().ok_or("which engine?")?.value.as_str() {
            "one-phase" => Path::OnePhase,
            "embedded" => Path::Embedded,
            "by-row" => self.rows,
            other => return Err(format!("no engine {other}").into()),
        };
        let mut options = options(path);
        if let Some(millis) = args.lookup_parse::<u64>("wait_ms")? {
            options.lock_wait = Duration::from_millis(millis);
        }
        if let Some(seconds) = args.lookup_parse::<u64>("history")? {
            options.history = Duration::from_secs(seconds);
        }
        args.reject_rest()?;
        *self = Script::new(self.rows);
        let env = self.env.clone();
        self.world = self.block_on(async move { World::with(env, path, options).await });
        self.cells = self.all_cells()?;
        Ok(String::new())
    }

    fn write(&self, command: &Command) -> Outcome<String> {
        let transaction = self.transaction(command)?;
        let mut args = command.consume_args();
        let strength = match args.lookup("strength").map(|argument| argument.value.as_str()) {
            None => None,
            Some("key-share") => Some(LockStrength::KeyShare),
            Some("share") => Some(LockStrength::Share),
            Some("no-key-update") => Some(LockStrength::NoKeyUpdate),
            Some("update") => Some(LockStrength::Update),
            Some(other) => return Err(format!("no strength {other}").into()),
        };
        let mut writes = Vec::new();
        for argument in args.rest() {
            let name = argument.key.as_deref().unwrap_or(&argument.value);
            let value = match argument.value.strip_prefix("long") {
                Some(length) => "x".repeat(length.parse()?),
                None => argument.value.clone(),
            };
            writes.push(match command.name.as_str() {
                "put" => put(name, &value),
                "update" => update(name, &value),
                "delete" => delete(name),
                _ => lock(name, strength.ok_or("lock needs a strength")?),
            });
        }
        let result = self.block_on(async move { transaction.write(writes).await }).ok_or("stuck")?;
        Ok(result.err().map(|error| self.error(&error)).unwrap_or_default())
    }

    fn read(&self, command: &Command) -> Outcome<String> {
        let transaction = self.transaction(command)?;
        let mut args = command.consume_args();
        let mut out = String::new();
        if command.name == "scan" {
            let mut bound = || args.next_pos().map(|argument| key(&argument.value));
            let range = RowRange { start: bound().unwrap_or_default(), end: bound().or(Some(key("~"))) };
            let options = TxnScanOptions::default();
            let work = async move { scan(&transaction, range, options, OwnWrites::All).await };
            for (key, value) in self.block_on(work).ok_or("stuck")? {
                writeln!(out, "{key}={value}")?;
            }
            return Ok(out);
        }
        for argument in args.rest_pos() {
            let (transaction, name) = (transaction.clone(), argument.value.clone());
            let read = async move { transaction.get(name.as_bytes(), OwnWrites::All).await };
            match self.block_on(read).ok_or("stuck")? {
                Ok(Some(value)) => writeln!(out, "{}={}", argument.value, String::from_utf8_lossy(&value))?,
                Ok(None) => writeln!(out, "{} is absent", argument.value)?,
                Err(error) => writeln!(out, "{}", self.error(&error))?,
            }
        }
        Ok(out)
    }

    fn begin(&mut self, command: &Command) -> Outcome<String> {
        let mut args = command.consume_args();
        let as_of = args.lookup_parse::<u64>("as_of")?.map(|since| Timestamp(self.start + since));
        args.reject_rest()?;
        let transaction = self.world()?.store.begin(TransactionOptions { as_of, ..Default::default() });
        let name = command.prefix.clone().ok_or("which transaction?")?;
        self.transactions.insert(name, transaction.clone());
        let taken = self.block_on(async move { transaction.snapshot_ts().await }).ok_or("stuck")?;
        Ok(match taken {
            Ok(ts) => format!("snapshot {}", self.at(ts)),
            Err(error) => self.error(&error),
        })
    }

    fn commit(&self, command: &Command) -> Outcome<String> {
        let transaction = self.transaction(command)?;
        Ok(match self.block_on(async move { transaction.commit().await }) {
            Some(Ok(ts)) => format!("committed {}", self.at(ts)),
            Some(Err(error)) => self.error(&error),
            None => "no answer".to_owned(),
        })
    }

    fn fail(&self, command: &Command) -> Outcome<String> {
        let mut args = command.consume_args();
        let name = args.next_pos().ok_or("which fail point?")?.value.clone();
        let action = args.next_pos().map(|argument| argument.value.as_str());
        let store = self.world()?.store;
        let points = store.fail_points();
        match action {
            Some("stop") => points.set(&name, FailAction::Stop),
            Some("error") => points.set(&name, FailAction::Error),
            _ => points.clear(&name),
        }
        Ok(String::new())
    }
}

impl Runner for Script {
    fn run(&mut self, command: &Command) -> Outcome<String> {
        match command.name.as_str() {
            "engine" => self.engine(command),
            "begin" => self.begin(command),
            "get" | "scan" => self.read(command),
            "put" | "update" | "delete" | "lock" => self.write(command),
            "commit" => self.commit(command),
            "rollback" => {
                let transaction = self.transaction(command)?;
                self.block_on(async move { transaction.rollback().await });
                Ok(String::new())
            }
            "unchanged" => {
                let transaction = self.transaction(command)?;
                for argument in command.consume_args().rest_pos() {
                    transaction.require_unchanged(key(&argument.value));
                }
                Ok(String::new())
            }
            "identity" => {
                let transaction = self.transaction(command)?;
                let taken = self.block_on(async move { transaction.start_ts().await }).ok_or("stuck")?;
                Ok(format!("start {}", self.at(taken?)))
            }
            "fail" => self.fail(command),
            // The process dies: nothing in memory survives. Another process starts on the same rows.
            "crash" => {
                self.transactions.clear();
                let world = self.world()?;
                self.world = self.block_on(async move { world.reopen().await });
                Ok(String::new())
            }
            "advance" => {
                let seconds = command.consume_args().lookup_parse::<u64>("seconds")?.unwrap_or(0);
                self.env.advance(Duration::from_secs(seconds));
                Ok(String::new())
            }
            "gc" => {
                let store = self.world()?.store;
                let report = self.block_on(async move { store.collect_garbage().await }).ok_or("stuck")??;
                let GcReport { safe_point, removed, locks, .. } = report;
                Ok(format!("safe point {}, {removed} cells removed, {locks} locks", self.at(safe_point)))
            }
            "cells" => {
                let mut out = String::new();
                for ((key, _, _), shown) in self.all_cells()? {
                    writeln!(out, "{} {shown}", self.shown_key(&key))?;
                }
                Ok(out)
            }
            other => Err(format!("no command {other}").into()),
        }
    }

    /// With the tag `[cells]`, prints the changes of the command in the store.
    fn end_command(&mut self, command: &Command) -> Outcome<String> {
        let now = self.all_cells()?;
        let before = std::mem::replace(&mut self.cells, now);
        let mut out = String::new();
        if command.tags.contains("cells") {
            let mut at: Vec<_> = before.keys().chain(self.cells.keys()).collect();
            at.sort();
            at.dedup();
            for at in at {
                let key = self.shown_key(&at.0);
                let (old, new) = (before.get(at), self.cells.get(at));
                if old != new {
                    for (sign, shown) in [("-", old), ("+", new)] {
                        shown.map(|shown| writeln!(out, "{sign} {key} {shown}")).transpose()?;
                    }
                }
            }
        }
        Ok(out)
    }
}

/// Runs every wanted script on the store `rows`. Answers their number.
fn run_scripts(rows: Path, wanted: impl Fn(&str) -> bool) -> usize {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testscripts");
    let mut ran = 0;
    for folder in std::fs::read_dir(&root).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let file = file.unwrap().path();
            if wanted(&std::fs::read_to_string(&file).unwrap()) {
                eprintln!("{}", file.display());
                goldenscript::run(&mut Script::new(rows), &file).unwrap();
                ran += 1;
            }
        }
    }
    ran
}

#[test]
fn scripts() {
    assert!(run_scripts(Path::ByRow, |_| true) >= 20);
}

/// Over Bigtable the cells must be the same to the byte as in memory.
#[test]
fn scripts_over_bigtable() {
    assert!(run_scripts(Path::Bigtable, |script| script.contains("engine by-row")) >= 10);
}
