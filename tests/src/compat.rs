//! Sends statements from every chapter of the manual to PostgreSQL and to PercoSQL, and counts equal answers.
//! PostgreSQL's answer is the expected one.
//!
//! Each file of `tests/compat/` is a section. Its first line is a comment with the section's number and name. A
//! statement ends with a line that ends in a semicolon. Lines that begin with `--` between statements are comments.

use crate::raw::{Raw, Reply};
use crate::{Postgres, Server};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit of one statement: the statement timeout of both servers. The socket's limit is slightly longer.
const LIMIT: Duration = Duration::from_secs(30);

/// Result of comparing PercoSQL's answer with PostgreSQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The same rows, column names, types and command tag; or the same SQLSTATE.
    Equal,
    /// Rows, names, types, tag or SQLSTATE differ.
    Different,
    /// PercoSQL answers 0A000, and PostgreSQL does not.
    Refused,
}

/// The answer of a server to one statement.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The compared part of the answer.
    pub result: String,
    /// The message of an error. It is not compared.
    pub message: String,
}

impl Answer {
    /// The full answer, for a person.
    pub fn shown(&self) -> String {
        format!("{}{}", self.result.trim_end(), self.message)
    }
}

/// A statement with the answers of both servers.
#[derive(Clone, Debug)]
pub struct Probe {
    /// SQL text of the statement.
    pub statement: String,
    /// Answer of PostgreSQL to the statement.
    pub expected: Answer,
    /// Answer of PercoSQL to the statement.
    pub found: Answer,
}

impl Probe {
    /// Result of comparing the two answers.
    pub fn verdict(&self) -> Verdict {
        if self.expected.result == self.found.result {
            Verdict::Equal
        } else if self.found.result.contains("ERROR 0A000") {
            Verdict::Refused
        } else {
            Verdict::Different
        }
    }
}

/// A section of the manual.
#[derive(Clone, Debug)]
pub struct Section {
    /// Number and name of the section.
    pub name: String,
    /// Statements with their answers.
    pub probes: Vec<Probe>,
}

impl Section {
    /// Number of statements with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.probes.iter().filter(|probe| probe.verdict() == verdict).count()
    }
}

/// The folder that holds the sections' files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("compat")
}

fn files() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder()).expect("tests/compat").flatten().map(|entry| entry.path()).collect();
    all.retain(|path| path.extension().is_some_and(|kind| kind == "sql"));
    all.sort();
    all
}

/// Parses the name and the statements from the text of a section's file.
pub fn parse(text: &str) -> (String, Vec<String>) {
    let mut lines = text.lines();
    let name = lines.next().unwrap_or_default().trim_start_matches("--").trim().to_string();
    let mut statements = Vec::new();
    let mut current = String::new();
    for line in lines {
        if current.is_empty() && (line.trim().is_empty() || line.starts_with("--")) {
            continue;
        }
        if !current.is_empty() {
            current.push('\n');
        }
        current.push_str(line);
        if line.trim_end().ends_with(';') {
            statements.push(std::mem::take(&mut current));
        }
    }
    assert!(current.is_empty(), "{name}: no semicolon after {current}");
    (name, statements)
}

/// A connection that reconnects after the server closed it.
struct Asker {
    port: u16,
    database: String,
    connection: Option<Raw>,
}

impl Asker {
    fn connected(&mut self) -> Option<&mut Raw> {
        if self.connection.is_none() {
            let settings = ["user", "postgres", "database", &self.database, "TimeZone", "UTC"];
            let mut raw = Raw::try_connect_with(self.port, &settings)?;
            raw.patience(LIMIT + Duration::from_secs(5));
            raw.try_query(&format!("set statement_timeout = {}", LIMIT.as_millis()))?;
            self.connection = Some(raw);
        }
        self.connection.as_mut()
    }

    fn ask(&mut self, statement: &str) -> Answer {
        match self.connected().and_then(|raw| raw.try_query(statement)) {
            Some(replies) => answer(&replies),
            None => {
                self.connection = None;
                Answer { result: "CONNECTION LOST".to_string(), message: String::new() }
            }
        }
    }
}

/// Formats replies for comparison. OIDs of user-defined types are left out, because each server assigns its own.
pub fn answer(replies: &[Reply]) -> Answer {
    let (mut result, mut open, mut message) = (String::new(), String::new(), String::new());
    for reply in replies {
        match reply.kind {
            b'T' => open = format!("{}\n", columns(&reply.body)),
            b'D' => {
                let _ = writeln!(open, "  {}", values(&reply.body));
            }
            b'd' => {
                let _ = writeln!(open, "  {}", String::from_utf8_lossy(&reply.body).trim_end());
            }
            b'C' => {
                let tag = String::from_utf8_lossy(&reply.body);
                let _ = writeln!(result, "{open}{}", tag.trim_end_matches('\0'));
                open.clear();
            }
            b'I' => result.push_str("EMPTY\n"),
            b'E' => {
                // A server may or may not send rows before an error.
                let _ = writeln!(result, "ERROR {}", reply.field(b'C').unwrap_or_default());
                message = format!(": {}", reply.field(b'M').unwrap_or_default());
            }
            _ => {}
        }
    }
    Answer { result, message }
}

fn columns(body: &[u8]) -> String {
    const FIRST_USER_OID: u32 = 16_384;
    let mut shown = Vec::new();
    let mut rest = body.get(2..).unwrap_or_default();
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        // OID of the table, column number, type, size, modifier and format.
        let Some(fixed) = rest.get(end + 1..end + 19) else { break };
        let oid = u32::from_be_bytes([fixed[6], fixed[7], fixed[8], fixed[9]]);
        shown.push(match oid {
            FIRST_USER_OID.. => format!("{name}:user"),
            _ => format!("{name}:{oid}"),
        });
        rest = &rest[end + 19..];
    }
    format!("({})", shown.join(", "))
}

fn values(body: &[u8]) -> String {
    let mut shown = Vec::new();
    let mut rest = body.get(2..).unwrap_or_default();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        match usize::try_from(i32::from_be_bytes(*length)) {
            Ok(length) => {
                let (value, after) = after.split_at(length);
                shown.push(format!("{:?}", String::from_utf8_lossy(value)));
                rest = after;
            }
            Err(_) => {
                shown.push("NULL".to_string());
                rest = after;
            }
        }
    }
    shown.join(" ")
}

/// The answers of one server to all statements of a section, in a database for this section. Calls `after` when a
/// connection was lost.
fn ask_all(port: u16, database: &str, statements: &[String], mut after: impl FnMut()) -> Vec<Answer> {
    let mut administrator = Asker { port, database: "postgres".to_string(), connection: None };
    let made = administrator.ask(&format!("create database {database}"));
    assert_eq!(made.result, "CREATE DATABASE\n", "{}", made.shown());
    let mut asker = Asker { port, database: database.to_string(), connection: None };
    let mut answers = Vec::new();
    for statement in statements {
        answers.push(asker.ask(statement));
        if asker.connection.is_none() {
            after();
        }
    }
    answers
}

/// Sends the statements of every section whose name or file contains `only` to both servers in parallel.
pub fn run(only: Option<&str>) -> Vec<Section> {
    let mut sections = Vec::new();
    for file in files() {
        let (name, statements) = parse(&std::fs::read_to_string(&file).expect("a section"));
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if only.is_none_or(|part| stem.contains(part) || name.contains(part)) {
            sections.push((format!("section_{stem}"), name, statements));
        }
    }
    let postgres = Postgres::start();
    let mut server = Server::start();
    let (expected, found) = std::thread::scope(|scope| {
        let expected = scope.spawn(|| -> Vec<Vec<Answer>> {
            let ask = |(database, _, statements): &(String, String, Vec<String>)| {
                ask_all(postgres.port(), database, statements, || panic!("PostgreSQL closed a connection"))
            };
            sections.iter().map(ask).collect()
        });
        let found: Vec<Vec<Answer>> = sections
            .iter()
            .map(|(database, _, statements)| {
                ask_all(server.port(), database, statements, || {
                    if !server.is_running() {
                        server.restart();
                    }
                })
            })
            .collect();
        (expected.join().expect("PostgreSQL's answers"), found)
    });
    let mut all = Vec::new();
    for (((_, name, statements), expected), found) in sections.into_iter().zip(expected).zip(found) {
        let probes = statements.into_iter().zip(expected).zip(found);
        let probes = probes.map(|((statement, expected), found)| Probe { statement, expected, found }).collect();
        all.push(Section { name, probes });
    }
    all
}

/// Formats the table for COMPAT.md.
pub fn table(sections: &[Section]) -> String {
    let mut text = String::from("| section | tried | equal | different | refused |\n|---|---:|---:|---:|---:|\n");
    let mut row = |name: &str, sections: &[Section]| {
        let count = |verdict| sections.iter().map(|section| section.count(verdict)).sum::<usize>();
        let tried: usize = sections.iter().map(|section| section.probes.len()).sum();
        let (equal, different, refused) = (count(Verdict::Equal), count(Verdict::Different), count(Verdict::Refused));
        let _ = writeln!(text, "| {name} | {tried} | {equal} | {different} | {refused} |");
    };
    for section in sections {
        row(&section.name, std::slice::from_ref(section));
    }
    row("all", sections);
    text
}

/// Formats the statements with unequal answers, one per line, as in `tests/compat/differences.txt`.
pub fn differences(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        let _ = writeln!(text, "# {}", section.name);
        for probe in &section.probes {
            let kind = match probe.verdict() {
                Verdict::Equal => continue,
                Verdict::Different => "different",
                Verdict::Refused => "refused",
            };
            let _ = writeln!(text, "{kind}: {}", probe.statement.replace('\n', " "));
        }
    }
    text
}

/// Formats the statements with unequal answers, with both answers.
pub fn list(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        for probe in section.probes.iter().filter(|probe| probe.verdict() != Verdict::Equal) {
            let kind = format!("{:?}", probe.verdict()).to_uppercase();
            let _ = writeln!(text, "---- {kind} {}\n{}", section.name, probe.statement);
            let _ = writeln!(text, "PostgreSQL: {}\nPercoSQL:   {}", probe.expected.shown(), probe.found.shown());
        }
    }
    text
}
