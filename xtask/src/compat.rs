//! `cargo xtask compat`: how many statements of each section of the manual have PostgreSQL's answer. The test `compat`
//! compares the answers.

use crate::packages;
use crate::run::{Result, finish, run};
use crate::test::cargo;

/// Prints the table and writes it to COMPAT.md. With `--list` it writes nothing, and prints each statement that is not equal with
/// both answers; with `--check` it writes nothing, and fails when what is written is out of date. A word restricts it to the
/// sections whose name contains it, and then nothing is written.
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
