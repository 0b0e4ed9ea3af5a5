//! Runs scripts of several sessions on any server and records which steps wait and what each step answers.
//! `tests/isolation/*.txt`:
//!
//! ```text
//! # what it shows
//! levels: read committed, repeatable read
//! setup: create table t (a int primary key)
//! a: begin
//! b: update t set …
//! ```
//!
//! With `compare: outcome` the record holds only the outcome: the first SQLSTATE of each session, and the final answers
//! of the `check:` statements. Use it for levels at which servers refuse the same transactions at different steps.
//!
//! `begin` alone starts a transaction at the tested level. A step *waits* if the server's `pg_locks` shows the wait for
//! some time. Its answer is recorded after the step that releases it.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// All running steps must wait without a break for this time before the script continues.
const WHILE: Duration = Duration::from_millis(250);
/// Interval between two looks at `pg_locks`.
const LOOK: Duration = Duration::from_millis(10);
/// Time limit for a step to end or to start a wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// A script of steps for several sessions.
pub struct Script {
    /// What the script demonstrates, from its first line.
    pub name: String,
    /// Isolation levels at which the script runs.
    pub levels: Vec<String>,
    /// Statements that run before the first step.
    pub setup: Vec<String>,
    /// Session name and statement of each step.
    pub steps: Vec<(String, String)>,
    /// Statements that run after the last step when only the outcome is compared.
    pub checks: Vec<String>,
    /// Whether only the outcome is compared.
    pub outcome: bool,
}

/// Parses the scripts of a file.
pub fn scripts(file: &Path) -> Vec<Script> {
    let text = std::fs::read_to_string(file).expect("a file of scripts");
    let mut all: Vec<Script> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# ") {
            let levels = vec!["read committed".to_string()];
            let (setup, steps, checks) = (Vec::new(), Vec::new(), Vec::new());
            all.push(Script { name: name.to_string(), levels, setup, steps, checks, outcome: false });
            continue;
        }
        let script = all.last_mut().expect("a script begins with its name");
        let (who, what) = line.split_once(": ").unwrap_or_else(|| panic!("no step: {line}"));
        match who {
            "levels" => script.levels = what.split(", ").map(str::to_string).collect(),
            "setup" => script.setup.push(what.to_string()),
            "check" => script.checks.push(what.to_string()),
            "compare" if what == "outcome" => script.outcome = true,
            _ => script.steps.push((who.to_string(), what.to_string())),
        }
    }
    all
}

async fn connect(port: u16) -> Client {
    let config = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres");
    let (client, connection) = tokio_postgres::connect(&config, NoTls).await.expect("a connection");
    tokio::spawn(async move { drop(connection.await) });
    client
}

async fn answer(client: &Client, sql: &str) -> String {
    match client.simple_query(sql).await {
        Ok(messages) => {
            let mut text = String::new();
            for message in messages {
                match message {
                    SimpleQueryMessage::Row(row) => {
                        let fields: Vec<&str> = (0..row.len()).map(|at| row.get(at).unwrap_or("null")).collect();
                        let _ = write!(text, "({}) ", fields.join(", "));
                    }
                    SimpleQueryMessage::CommandComplete(rows) => {
                        let _ = write!(text, "ok {rows}");
                    }
                    _ => {}
                }
            }
            text
        }
        Err(error) => match error.as_db_error() {
            Some(error) => format!("{}: {}", error.code().code(), error.message()),
            None => error.to_string(),
        },
    }
}

struct Session {
    name: String,
    steps: mpsc::Sender<String>,
    answers: mpsc::Receiver<String>,
    /// The statement that has not answered yet.
    waits: Option<String>,
}

impl Session {
    async fn start(name: &str, port: u16, level: &str) -> Session {
        let client = connect(port).await;
        let set =
            format!("set search_path = isolation; set session characteristics as transaction isolation level {level}");
        client.batch_execute(&set).await.expect("a session at its level");
        let (steps, mut taken) = mpsc::channel::<String>(1);
        let (answered, answers) = mpsc::channel(1);
        tokio::spawn(async move {
            while let Some(sql) = taken.recv().await {
                if answered.send(answer(&client, &sql).await).await.is_err() {
                    return;
                }
            }
        });
        Session { name: name.to_string(), steps, answers, waits: None }
    }

    /// Records the answer to the running step, if it has arrived.
    fn take(&mut self, told: &mut String) {
        let Some(sql) = &self.waits else { return };
        if let Ok(answer) = self.answers.try_recv() {
            let _ = writeln!(told, "{}: {sql} => {answer}", self.name);
            self.waits = None;
        }
    }
}

/// Records answers until every running step waits for a lock.
async fn settle(sessions: &mut [Session], monitor: &Client, told: &mut String) {
    let waiting = "select count(distinct pid) from pg_locks where not granted";
    let begun = Instant::now();
    let mut all_wait_since = None;
    loop {
        for session in sessions.iter_mut() {
            session.take(told);
        }
        let under_way = sessions.iter().filter(|session| session.waits.is_some()).count();
        if under_way == 0 {
            return;
        }
        let waiting: i64 = monitor.query_one(waiting, &[]).await.expect("pg_locks").get(0);
        if usize::try_from(waiting).is_ok_and(|waiting| waiting == under_way) {
            if all_wait_since.get_or_insert_with(Instant::now).elapsed() >= WHILE {
                return;
            }
        } else {
            all_wait_since = None;
        }
        assert!(begun.elapsed() < PATIENCE, "a step neither ends nor waits; so far:\n{told}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Runs a script on a server in a schema of its own. Answers the record.
pub async fn run(script: &Script, level: &str, port: u16) -> String {
    run_on(script, level, &[port]).await
}

/// Like [`run`], with the sessions spread over servers of one store.
pub async fn run_on(script: &Script, level: &str, ports: &[u16]) -> String {
    let setup = connect(ports[0]).await;
    let prepare = "drop schema if exists isolation cascade; create schema isolation; set search_path = isolation";
    setup.batch_execute(prepare).await.expect("a schema for the script");
    for statement in &script.setup {
        setup.batch_execute(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    let mut sessions: Vec<Session> = Vec::new();
    let mut told = String::new();
    for (who, sql) in &script.steps {
        if !sessions.iter().any(|session| session.name == *who) {
            let port = ports[sessions.len() % ports.len()];
            sessions.push(Session::start(who, port, level).await);
        }
        let session = sessions.iter_mut().find(|session| session.name == *who).expect("a session");
        assert!(session.waits.is_none(), "{}: {who} still waits, {sql} cannot run; so far:\n{told}", script.name);
        session.steps.send(sql.clone()).await.expect("a session");
        session.waits = Some(sql.clone());
        // The answer of this step precedes the answers of the steps that it releases.
        let mut answers = String::new();
        settle(&mut sessions, &setup, &mut answers).await;
        let own = format!("{who}: {sql} => ");
        let (own, others): (Vec<&str>, Vec<&str>) = answers.lines().partition(|line| line.starts_with(&own));
        match own.first() {
            Some(answer) => told += &format!("{answer}\n"),
            None => told += &format!("{who}: {sql} waits\n"),
        }
        let mut others = others;
        others.sort_unstable();
        others.into_iter().for_each(|answer| told += &format!("{answer}\n"));
    }
    if script.outcome { outcome(script, &sessions, &told, &setup).await } else { told }
}

async fn outcome(script: &Script, sessions: &[Session], told: &str, client: &Client) -> String {
    let mut text = String::new();
    for Session { name, .. } in sessions {
        let own = format!("{name}: ");
        let answers = told.lines().filter_map(|line| line.strip_prefix(&own)?.split_once(" => "));
        let code = |answer: &str| {
            answer.split_once(": ").filter(|(code, _)| code.len() == 5).map(|(code, _)| code.to_string())
        };
        let failed = answers.filter_map(|(_, answer)| code(answer)).next();
        let _ = writeln!(text, "{name}: {}", failed.as_deref().unwrap_or("done"));
    }
    for check in &script.checks {
        let _ = writeln!(text, "{check} => {}", answer(client, check).await);
    }
    text
}
