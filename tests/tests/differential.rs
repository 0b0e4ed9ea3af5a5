//! The same scripts through the same psql on PostgreSQL and on PercoSQL. The output must be equal, including errors.
//! Each file of `tests/sql/` is one area.

use percosql_tests::{Bigtable, Postgres, Server};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Scripts for which psql's marker of the error position is not compared, because some positions differ.
const OTHER_PLACES: &[&str] = &["arrays.sql", "copy_where.sql", "intervals.sql", "lexical.sql", "read_more.sql"];

/// The output of psql for a script, with standard error in place and with error positions.
fn run(port: u16, script: &Path) -> String {
    let of_places = script.file_name().is_none_or(|name| !OTHER_PLACES.iter().any(|other| name == *other));
    let output = Command::new("psql")
        .args(["-X", "-a", "-q", "-h", "127.0.0.1", "-p", &port.to_string(), "-U", "postgres"])
        .args(["-v", "VERBOSITY=verbose", "-v", "SHOW_CONTEXT=never", "-P", "pager=off", "postgres", "-f"])
        .arg(script)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .env("PGTZ", "UTC")
        .output()
        .expect("psql runs");
    // Standard output echoes every statement, and errors follow in the order of statements.
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str("---- errors ----\n");
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        // The source location in PostgreSQL's C code is not part of an error's meaning.
        let picture = line.starts_with("LINE ") || line.trim() == "^";
        if line.starts_with("LOCATION:") || (picture && !of_places) {
            continue;
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("tests/sql").flatten().map(|entry| entry.path()).collect();
    all.retain(|path| path.extension().is_some_and(|kind| kind == "sql"));
    all.sort();
    all
}

/// The differing lines, with the lines before them.
fn difference(expected: &str, found: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (left, right) = (folder.path().join("postgresql"), folder.path().join("percosql"));
    std::fs::write(&left, expected).expect("a file");
    std::fs::write(&right, found).expect("a file");
    let diff = Command::new("diff").arg("-U3").arg(&left).arg(&right).output().expect("diff runs");
    String::from_utf8_lossy(&diff.stdout).into_owned()
}

/// Runs every script on an empty PostgreSQL database and on a new server from `start`. Scripts do not share tables.
fn compare(start: impl Fn() -> Server) {
    let only = std::env::var("PERCOSQL_SQL").ok();
    let postgres = Postgres::start();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for script in scripts() {
        let name = script.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|part| !name.contains(part.as_str())) {
            continue;
        }
        let server = start();
        postgres.clear();
        let expected = run(postgres.port(), &script);
        let found = run(server.port(), &script);
        compared += 1;
        if expected != found {
            wrong.push(format!("==== {name}\n{}", difference(&expected, &found)));
        }
    }
    assert!(compared > 0, "no script was run");
    assert!(wrong.is_empty(), "{} of {compared} scripts differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn psql_prints_the_same() {
    compare(Server::start);
}

#[test]
fn psql_prints_the_same_over_bigtable() {
    let bigtable = Bigtable::start();
    compare(|| bigtable.table().serve());
}
