//! Unmodified clients of PostgreSQL, run as programs: psql and pgbench.

use crate::server::Server;
use std::process::{Command, Stdio};

/// Output and exit status of a client.
#[derive(Debug)]
pub struct ClientOutput {
    /// Text of standard output.
    pub out: String,
    /// Text of standard error.
    pub err: String,
    /// Whether the exit code was 0.
    pub ok: bool,
}

impl ClientOutput {
    /// Checks that the client succeeded. Answers its standard output without surrounding white space.
    #[track_caller]
    pub fn success(&self) -> &str {
        assert!(self.ok, "the client failed:\n{}\n{}", self.out, self.err);
        self.out.trim()
    }
}

/// Runs psql with the given arguments against a server, without a start-up file.
pub fn psql(server: &Server, arguments: &[&str]) -> ClientOutput {
    client("psql", server, &[&["-X", "-v", "ON_ERROR_STOP=1"], arguments].concat())
}

/// Runs one statement with psql and answers its rows, unaligned and without headers.
pub fn value(server: &Server, sql: &str) -> String {
    psql(server, &["-At", "-c", sql]).success().to_string()
}

/// Runs pgbench with the given arguments against a server.
pub fn pgbench(server: &Server, arguments: &[&str]) -> ClientOutput {
    client("pgbench", server, arguments)
}

fn client(program: &str, server: &Server, arguments: &[&str]) -> ClientOutput {
    let output = Command::new(program)
        .args(arguments)
        .env("PGHOST", "127.0.0.1")
        .env("PGPORT", server.port().to_string())
        .env("PGUSER", "postgres")
        .env("PGDATABASE", "postgres")
        .env("PGCONNECT_TIMEOUT", "20")
        .env_remove("PGOPTIONS")
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    ClientOutput {
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        ok: output.status.success(),
    }
}
