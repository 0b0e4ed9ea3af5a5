//! Histories of random transactions on any server, in the form that `adya` reads. The objects are append-only lists or
//! registers. Transactions read keys by primary key, by index and by range.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_postgres::{Client, Error, NoTls};

/// Keys in use at any time.
const KEYS: i64 = 6;
/// Writes to a key before another key replaces it.
const WRITES: i64 = 40;
/// Operations of one transaction, at most.
const STEPS: u32 = 5;
/// Time limit of a call. After it the client abandons the call and its connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// Kind of the written objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Writes append to a list.
    Lists,
    /// Writes overwrite a register.
    Registers,
}

/// Parameters of a history.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Lists or registers as written objects.
    pub kind: Kind,
    /// Isolation level, as in SQL.
    pub level: &'static str,
    /// Number of transactions of all sessions together.
    pub transactions: u64,
    /// Number of concurrent sessions.
    pub sessions: u64,
    /// Seed of the random choices.
    pub seed: u64,
}

/// Outcomes of the transactions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Transactions that certainly committed.
    pub committed: u64,
    /// Transactions that certainly did not commit.
    pub refused: u64,
    /// Transactions with an unknown outcome.
    pub unknown: u64,
}

struct World {
    plan: Plan,
    table: String,
    left: AtomicU64,
    next_process: AtomicI64,
    /// The next written value. Every value is unique.
    next_value: AtomicI64,
    events: Mutex<String>,
    counts: Mutex<Counts>,
}

#[derive(Clone)]
enum Step {
    Write(i64, i64),
    Read(i64),
    ReadByIndex(i64),
    /// Reads two adjacent keys by one statement.
    ReadRange(i64),
}

/// Reason why a transaction did not commit.
enum Failure {
    /// The server refused it, so it certainly did not commit.
    Refused,
    /// The connection was lost before COMMIT was sent.
    Lost,
    /// The connection was lost after COMMIT was sent.
    Unknown,
}

/// Runs the plan against a server at `port`. Answers the history and the outcomes. `stop` ends the run early.
pub async fn run(plan: Plan, port: u16, stop: Arc<AtomicBool>) -> (String, Counts) {
    run_on(plan, &[port], stop).await
}

/// Like [`run`], on several servers of one store. The sessions are spread evenly over the servers.
pub async fn run_on(plan: Plan, ports: &[u16], stop: Arc<AtomicBool>) -> (String, Counts) {
    let port = *ports.first().expect("a server");
    let table = format!("history_{}", plan.seed);
    let setup = connect(port).await.expect("a server");
    let create = format!(
        "drop table if exists {table};
         create table {table} (k bigint primary key, i bigint unique, v text not null)"
    );
    setup.batch_execute(&create).await.expect("the table of the history");
    let world = Arc::new(World {
        plan,
        table,
        left: AtomicU64::new(plan.transactions),
        next_process: AtomicI64::new(i64::try_from(plan.sessions).expect("a few sessions")),
        next_value: AtomicI64::new(1),
        events: Mutex::default(),
        counts: Mutex::default(),
    });
    let mut sessions = Vec::new();
    for (number, port) in (0..plan.sessions).zip(ports.iter().cycle()) {
        sessions.push(tokio::spawn(session(world.clone(), number, *port, stop.clone())));
    }
    for session in sessions {
        session.await.expect("a session");
    }
    let events = std::mem::take(&mut *world.events.lock().await);
    let counts = *world.counts.lock().await;
    (events, counts)
}

async fn connect(port: u16) -> Option<Client> {
    let config = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres connect_timeout=5");
    let connected = tokio::time::timeout(PATIENCE, tokio_postgres::connect(&config, NoTls)).await.ok()?;
    let (client, connection) = connected.ok()?;
    tokio::spawn(async move { drop(connection.await) });
    Some(client)
}

async fn session(world: Arc<World>, number: u64, port: u16, stop: Arc<AtomicBool>) {
    let mut random = StdRng::seed_from_u64(world.plan.seed * 1000 + number);
    let mut process = i64::try_from(number).expect("a few sessions");
    let mut client = None;
    while !stop.load(Ordering::SeqCst)
        && world.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    {
        while client.is_none() && !stop.load(Ordering::SeqCst) {
            client = connect(port).await;
            if client.is_none() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        let Some(connected) = &client else { return };
        let steps = world.draw(&mut random);
        world.note("invoke", process, &world.invoked(&steps)).await;
        let done = world.transact(connected, &steps).await;
        let mut counts = world.counts.lock().await;
        let (kind, value) = match &done {
            Ok(value) => ("ok", value.clone()),
            Err(Failure::Unknown) => ("info", world.invoked(&steps)),
            Err(Failure::Refused | Failure::Lost) => ("fail", world.invoked(&steps)),
        };
        *match kind {
            "ok" => &mut counts.committed,
            "info" => &mut counts.unknown,
            _ => &mut counts.refused,
        } += 1;
        drop(counts);
        world.note(kind, process, &value).await;
        match done {
            Err(Failure::Lost) => client = None,
            Err(Failure::Unknown) => {
                client = None;
                // A process with an unknown outcome must not continue in the history, so the session takes a new
                // process number.
                process = world.next_process.fetch_add(1, Ordering::SeqCst);
            }
            Ok(_) | Err(Failure::Refused) => {}
        }
    }
}

impl World {
    fn write_word(&self) -> &'static str {
        if self.plan.kind == Kind::Lists { "append" } else { "w" }
    }

    fn draw(&self, random: &mut StdRng) -> Vec<Step> {
        let count = random.random_range(1..=STEPS);
        let age = self.next_value.load(Ordering::SeqCst) / (KEYS * WRITES);
        (0..count)
            .map(|_| {
                let key = age * KEYS + random.random_range(0..KEYS);
                match random.random_range(0..8) {
                    0..4 => Step::Write(key, self.next_value.fetch_add(1, Ordering::SeqCst)),
                    4 | 5 => Step::Read(key),
                    6 => Step::ReadByIndex(key),
                    _ => Step::ReadRange(key),
                }
            })
            .collect()
    }

    fn invoked(&self, steps: &[Step]) -> String {
        let word = self.write_word();
        let told: Vec<String> = steps
            .iter()
            .flat_map(|step| match step {
                Step::Write(key, value) => vec![format!("[\"{word}\",{key},{value}]")],
                Step::Read(key) | Step::ReadByIndex(key) => vec![format!("[\"r\",{key},null]")],
                Step::ReadRange(key) => vec![format!("[\"r\",{key},null]"), format!("[\"r\",{},null]", key + 1)],
            })
            .collect();
        format!("[{}]", told.join(","))
    }

    async fn note(&self, kind: &str, process: i64, value: &str) {
        let mut events = self.events.lock().await;
        events.push_str(&format!("{{\"type\":\"{kind}\",\"process\":{process},\"value\":{value}}}\n"));
    }

    /// Runs one transaction. Answers its reads and writes in `adya`'s form.
    async fn transact(&self, client: &Client, steps: &[Step]) -> Result<String, Failure> {
        let work = async {
            client.batch_execute(&format!("begin isolation level {}", self.plan.level)).await?;
            let mut told = Vec::new();
            for step in steps {
                told.extend(self.take(client, step).await?);
            }
            Ok::<_, Error>(told)
        };
        let told = match tokio::time::timeout(PATIENCE, work).await {
            Ok(Ok(told)) => told,
            Ok(Err(error)) => return Err(self.undo(client, &error).await),
            Err(_) => return Err(Failure::Lost),
        };
        match tokio::time::timeout(PATIENCE, client.simple_query("commit")).await {
            Ok(Ok(_)) => Ok(format!("[{}]", told.join(","))),
            // The server's error means that the transaction did nothing, except for 40003: its outcome is unknown.
            Ok(Err(error))
                if error.code().is_some_and(|code| code.code() != "40003" && !code.code().starts_with("57")) =>
            {
                Err(Failure::Refused)
            }
            Ok(Err(_)) | Err(_) => Err(Failure::Unknown),
        }
    }

    async fn undo(&self, client: &Client, error: &Error) -> Failure {
        match error.code() {
            Some(code) => {
                let known = ["40001", "40P01", "23505", "55P03"].contains(&code.code());
                assert!(known || code.code().starts_with("57"), "{error:?}");
                match client.batch_execute("rollback").await {
                    Ok(()) => Failure::Refused,
                    Err(_) => Failure::Lost,
                }
            }
            None => Failure::Lost,
        }
    }

    async fn take(&self, client: &Client, step: &Step) -> Result<Vec<String>, Error> {
        let table = &self.table;
        let read = |key: i64, rows: &[(i64, String)]| {
            let found = rows.iter().find(|(of, _)| *of == key).map(|(_, value)| value.as_str());
            match (self.plan.kind, found) {
                (Kind::Lists, found) => format!("[\"r\",{key},[{}]]", found.unwrap_or_default()),
                (Kind::Registers, found) => format!("[\"r\",{key},{}]", found.unwrap_or("null")),
            }
        };
        let (sql, keys) = match step {
            Step::Write(key, value) => {
                let new = match self.plan.kind {
                    Kind::Lists => format!("{table}.v || ',' || excluded.v"),
                    Kind::Registers => "excluded.v".to_string(),
                };
                let sql = format!(
                    "insert into {table} values ({key}, {key}, '{value}') on conflict (k) do update set v = {new}"
                );
                client.batch_execute(&sql).await?;
                return Ok(vec![format!("[\"{}\",{key},{value}]", self.write_word())]);
            }
            Step::Read(key) => (format!("select k, v from {table} where k = {key}"), vec![*key]),
            Step::ReadByIndex(key) => (format!("select k, v from {table} where i = {key}"), vec![*key]),
            Step::ReadRange(key) => {
                (format!("select k, v from {table} where k between {key} and {}", key + 1), vec![*key, key + 1])
            }
        };
        let rows = client.query(&sql, &[]).await?;
        let rows: Vec<(i64, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        Ok(keys.into_iter().map(|key| read(key, &rows)).collect())
    }
}
