//! `cargo xtask check`: the checks of the source before it lands. Installs nothing and runs no test.

use crate::run::{Result, found, run, say};
use crate::{packages, tidy};

/// Runs the checks: formatting, tidy, clippy with warnings denied, and licences.
pub fn check() -> Result<()> {
    packages::need_build()?;
    run("cargo", &["fmt", "--all", "--check"])?;
    tidy::tidy()?;
    run("cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])?;
    if found("cargo-deny") {
        run("cargo", &["deny", "--offline", "check", "licenses", "bans", "sources"])?;
    } else {
        say("cargo-deny is not installed: licences were not checked (cargo install cargo-deny)");
    }
    Ok(())
}
