//! psycopg 3, a driver independent of tokio-postgres, reads and writes the same values as with PostgreSQL.

use percosql_tests::{Postgres, Server};
use std::path::Path;
use std::process::Command;

/// Debian's Python. The test command installs packages for it.
const PYTHON: &str = "/usr/bin/python3";

fn told(script: &str, port: u16) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers").join(script);
    let output = Command::new(PYTHON).arg(&script).arg(port.to_string()).output().expect("python runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let last = text.lines().last().unwrap_or_default();
    assert!(output.status.success(), "after: {last}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn psycopg_gets_from_us_what_it_gets_from_postgresql() {
    let (server, postgres) = (Server::start(), Postgres::start());
    let expected = told("psycopg_types.py", postgres.port());
    let found = told("psycopg_types.py", server.port());
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
    // The script ran to its end, and each value came back unchanged.
    assert!(found.ends_with("done 0 utf-8 15\n"), "{found}");
    assert!(found.lines().filter(|line| line.ends_with(" same")).count() > 120);
    assert!(!found.contains("DIFFERENT"));
}
