//! `cargo xtask test`: installs the packages for the tests and runs all tests.

use crate::packages;
use crate::run::{Result, command, finish, run, say};
use std::process::Command;

/// Builds the server and runs the workspace's tests, then the SQL tests over Bigtable. With a `filter`, which goes to
/// the test runner, there is only one run.
pub fn test(filter: &[String]) -> Result<()> {
    packages::setup()?;
    // Building all targets gives dependencies the features of the test build, so they are built only once.
    run("cargo", &["build", "--workspace", "--all-targets", "--quiet"])?;
    let mut arguments = vec!["test", "--workspace", "--no-fail-fast"];
    arguments.extend(filter.iter().map(String::as_str));
    say(&format!("$ cargo {}", arguments.join(" ")));
    let tests = cargo(&arguments);
    finish(tests, "cargo test")?;
    if !filter.is_empty() {
        return Ok(());
    }
    // The SQL tests once more, over Bigtable's emulator. The command covers the workspace, because the planner built
    // alone would enable other features and rebuild the dependencies.
    let arguments = [
        "test",
        "--workspace",
        "--lib",
        "--",
        "session::tests",
        "ddl_tests::",
        "definition_tests::",
        "backfill_tests::",
    ];
    say(&format!("$ PERCOSQL_TEST_STORE=bigtable cargo {}", arguments.join(" ")));
    let mut again = command("cargo", &arguments);
    again.env("PERCOSQL_TEST_STORE", "bigtable");
    finish(again, "cargo test over Bigtable")
}

/// Cargo with PostgreSQL's programs on its PATH. Debian installs pgbench and initdb outside the PATH.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = command("cargo", arguments);
    if let Some(bin) = packages::postgresql_bin() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = vec![bin];
        folders.extend(std::env::split_paths(&path));
        if let Ok(joined) = std::env::join_paths(folders) {
            cargo.env("PATH", joined);
        }
    }
    cargo
}
