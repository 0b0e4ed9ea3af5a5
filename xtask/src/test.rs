//! `cargo xtask test`: installs what the tests need and runs all of them.

use crate::packages;
use crate::run::{Result, command, finish, run, say};
use std::process::Command;

/// Builds the server, then runs the workspace's tests against it, and those of SQL over Bigtable too. `filter` goes to the
/// runner, and then there is one run only.
pub fn test(filter: &[String]) -> Result<()> {
    packages::setup()?;
    // With all targets, so that dependencies have the features of the test build and are built once.
    run("cargo", &["build", "--workspace", "--all-targets", "--quiet"])?;
    let mut arguments = vec!["test", "--workspace", "--no-fail-fast"];
    arguments.extend(filter.iter().map(String::as_str));
    say(&format!("$ cargo {}", arguments.join(" ")));
    let tests = cargo(&arguments);
    finish(tests, "cargo test")?;
    if !filter.is_empty() {
        return Ok(());
    }
    // The SQL tests once more, over Bigtable's emulator. Of the workspace, because the planner built alone takes other
    // features of the same dependencies, and they would all be built again.
    let arguments = ["test", "--workspace", "--lib", "--", "session::tests", "ddl::"];
    say(&format!("$ PERCOSQL_TEST_STORE=bigtable cargo {}", arguments.join(" ")));
    let mut again = command("cargo", &arguments);
    again.env("PERCOSQL_TEST_STORE", "bigtable");
    finish(again, "cargo test over Bigtable")
}

/// Cargo with the programs of PostgreSQL on its PATH: pgbench and initdb lie beside each other in Debian's layout, off it.
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
