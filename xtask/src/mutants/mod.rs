//! `cargo xtask mutants`: plants known bugs, one at a time, and shows that the tests catch each.
//! Works on a copy of the tree, so that a broken run leaves the checkout alone.

mod list;

use crate::run::{Result, root, say};
use list::MUTANTS;
use std::path::Path;
use std::process::{Command, Stdio};

/// One planted bug: a text that stands exactly once in a file, its replacement, and the tests
/// that have to fail.
pub struct Mutant {
    /// What is broken, for a person.
    pub name: &'static str,
    /// File, from the root.
    pub file: &'static str,
    /// Text as it is; must stand in the file exactly once.
    pub original: &'static str,
    /// Text that breaks it.
    pub broken: &'static str,
    /// Arguments of `cargo test` that run the tests expected to fail.
    pub tests: &'static [&'static str],
}

/// Runs every mutant, or those whose name contains the first argument.
pub fn mutants(filter: &[String]) -> Result<()> {
    let copy = root().join("target").join("mutants");
    let mut survived = Vec::new();
    let mut caught = 0;
    for mutant in MUTANTS {
        if filter.first().is_some_and(|part| !mutant.name.contains(part.as_str())) {
            continue;
        }
        copy_tree(&copy)?;
        let file = copy.join(mutant.file);
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", mutant.file))?;
        if text.matches(mutant.original).count() != 1 {
            return Err(format!("{}: its text does not stand exactly once in {}", mutant.name, mutant.file));
        }
        std::fs::write(&file, text.replace(mutant.original, mutant.broken))
            .map_err(|error| format!("{}: {error}", mutant.file))?;
        let output = Command::new("cargo")
            .arg("test")
            .args(mutant.tests)
            .current_dir(&copy)
            .env("CARGO_TARGET_DIR", target_folder())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cargo: {error}"))?;
        let log = String::from_utf8_lossy(&output.stdout).into_owned();
        // A mutant that does not compile proves nothing.
        if !log.contains("test result:") {
            return Err(format!("{} did not build:\n{}", mutant.name, String::from_utf8_lossy(&output.stderr)));
        }
        if output.status.success() {
            say(&format!("SURVIVED  {}", mutant.name));
            survived.push(mutant.name);
        } else {
            let first = log.lines().find(|line| line.contains("FAILED") && line.starts_with("test "));
            say(&format!("caught    {}  ({})", mutant.name, first.unwrap_or("a test failed").trim()));
            caught += 1;
        }
    }
    say(&format!("{caught} mutants caught, {} survived", survived.len()));
    if survived.is_empty() { Ok(()) } else { Err(format!("survived: {}", survived.join(", "))) }
}

/// Builds of mutants share one target folder, apart from the checkout's.
fn target_folder() -> std::path::PathBuf {
    std::env::var_os("PERCOSQL_MUTANTS_TARGET").map_or_else(|| root().join("target").join("mutants-target"), Into::into)
}

fn copy_tree(to: &Path) -> Result<()> {
    let _ = std::fs::remove_dir_all(to);
    let list = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("git: {error}"))?;
    for name in String::from_utf8_lossy(&list.stdout).split('\0').filter(|name| !name.is_empty()) {
        let target = to.join(name);
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder).map_err(|error| format!("{name}: {error}"))?;
        }
        std::fs::copy(root().join(name), target).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}
