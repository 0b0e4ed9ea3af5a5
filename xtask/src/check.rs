//! `cargo xtask check`: the checks of the source before it lands. Installs nothing and runs no test.

use crate::run::{Result, command, finish, found, run, say};
use crate::{packages, tidy};

/// Runs the checks: formatting, tidy, clippy with warnings denied, links of doc comments, and licences.
pub fn check() -> Result<()> {
    packages::need_build()?;
    run("cargo", &["fmt", "--all", "--check"])?;
    tidy::tidy()?;
    run("cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])?;
    documents()?;
    if found("cargo-deny") {
        run("cargo", &["deny", "--offline", "check", "licenses", "bans", "sources"])?;
    } else {
        say("cargo-deny is not installed: licences were not checked (cargo install cargo-deny)");
    }
    Ok(())
}

/// Builds the documentation of every crate, private items included. Errors: a link of a doc comment leads nowhere.
fn documents() -> Result<()> {
    let arguments = ["doc", "--no-deps", "--workspace", "--document-private-items", "--quiet"];
    say(&format!("$ cargo {}", arguments.join(" ")));
    let mut cargo = command("cargo", &arguments);
    cargo.env("RUSTDOCFLAGS", "-D rustdoc::broken_intra_doc_links");
    finish(cargo, "cargo doc")
}
