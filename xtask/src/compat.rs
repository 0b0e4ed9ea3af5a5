//! `cargo xtask compat`: counts the statements of each section of the manual that have PostgreSQL's answer. The test
//! `compat` compares the answers.

use crate::packages;
use crate::run::{Result, finish, run};
use crate::test::cargo;

/// Prints the table and writes it to COMPAT.md, and the list to `tests/compat/differences.txt`. `--list` also prints
/// each differing statement with both answers and writes nothing. `--check` writes nothing and fails if any answer
/// differs from the recorded one, as the test does. A word restricts the run to the sections whose name contains it:
/// nothing is written, and their answers are checked.
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
