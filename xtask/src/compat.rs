//! `cargo xtask compat`: counts the statements of each section of the manual that have PostgreSQL's answer. The test
//! `compat` compares the answers.

use crate::packages;
use crate::run::{Result, finish, run};
use crate::test::cargo;

/// Prints the table and writes it to COMPAT.md. `--list` also prints each differing statement with both answers and
/// writes nothing. `--check` writes nothing and fails if the written table is out of date. A word restricts the run to
/// the sections whose name contains it, and nothing is written.
pub fn compat(arguments: &[String]) -> Result<()> {
    packages::setup()?;
    run("cargo", &["build", "--workspace", "--all-targets", "--quiet"])?;
    let mut tests = cargo(&["test", "--workspace", "--quiet", "--test", "compat", "--", "--nocapture"]);
    tests.env("PERCOSQL_COMPAT", "write");
    for argument in arguments {
        match argument.as_str() {
            "--list" => tests.env("PERCOSQL_COMPAT", "list"),
            "--check" => tests.env("PERCOSQL_COMPAT", "check"),
            section => tests.env("PERCOSQL_SECTION", section),
        };
    }
    finish(tests, "cargo test")
}
