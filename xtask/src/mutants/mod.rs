//! `cargo xtask mutants`: plants known bugs, one at a time, and shows that the tests catch each. It works on a copy of
//! the tree, so that an aborted run leaves the checkout intact.
//!
//! A bug counts as caught if its tests build and then fail or hang. The same tests must first pass without the bug, or
//! a failure would prove nothing.

mod catalogue;

use crate::run::{Result, root, say};
use catalogue::{Mutant, all};
use std::collections::BTreeSet;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of a mutant's tests before they count as hung. The build does not count.
const TIME_LIMIT: Duration = Duration::from_secs(180);

/// What the tests said.
enum Verdict {
    Passed,
    /// The first test that failed.
    Failed(String),
    Hung,
}

/// Runs every mutant, or those whose name contains the first argument.
pub fn mutants(filter: &[String]) -> Result<()> {
    let wanted = |mutant: &&Mutant| filter.first().is_none_or(|part| mutant.name.contains(part.as_str()));
    let every = all()?;
    let chosen: Vec<&Mutant> = every.iter().filter(wanted).collect();
    if chosen.is_empty() {
        return Err("no mutant has such a name".to_owned());
    }
    let copy = root().join("target").join("mutants");
    copy_tree(&copy)?;
    let filters: BTreeSet<_> = chosen.iter().map(|mutant| &mutant.tests).collect();
    for tests in filters {
        match run_tests(&copy, tests)? {
            Verdict::Passed => {}
            Verdict::Failed(which) => return Err(format!("{} fails without any mutant: {which}", tests.join(" "))),
            Verdict::Hung => return Err(format!("{} hangs without any mutant", tests.join(" "))),
        }
    }
    let mut survived = Vec::new();
    for mutant in &chosen {
        copy_tree(&copy)?;
        plant(&copy, mutant)?;
        match run_tests(&copy, &mutant.tests).map_err(|error| format!("{}: {error}", mutant.name))? {
            Verdict::Passed => {
                say(&format!("SURVIVED  {}", mutant.name));
                survived.push(mutant.name.as_str());
            }
            Verdict::Failed(which) => say(&format!("caught    {}  ({which})", mutant.name)),
            Verdict::Hung => say(&format!("caught    {}  (hung: {})", mutant.name, mutant.tests.join(" "))),
        }
    }
    say(&format!("{} mutants caught, {} survived", chosen.len() - survived.len(), survived.len()));
    if survived.is_empty() { Ok(()) } else { Err(format!("survived: {}", survived.join(", "))) }
}

/// Plants a mutant in the copy.
fn plant(copy: &Path, mutant: &Mutant) -> Result<()> {
    let file = copy.join(&mutant.file);
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", mutant.file))?;
    if text.matches(&mutant.original).count() != 1 {
        return Err(format!("{}: its text does not stand exactly once in {}", mutant.name, mutant.file));
    }
    std::fs::write(&file, text.replace(&mutant.original, &mutant.broken))
        .map_err(|error| format!("{}: {error}", mutant.file))
}

/// Builds the tests, then runs them. Errors: they do not build, or there are none.
fn run_tests(copy: &Path, tests: &[String]) -> Result<Verdict> {
    let mut builds = vec![cargo(copy, &["test", "--no-run"], tests)];
    if tests.iter().any(|word| word == "percosql-tests") {
        // They start the program, which cargo does not build for them.
        builds.insert(0, cargo(copy, &["build", "-p", "percosql"], &[]));
    }
    for mut build in builds {
        let build = build.output().map_err(|error| format!("cargo: {error}"))?;
        if !build.status.success() {
            return Err(format!("does not build:\n{}", String::from_utf8_lossy(&build.stderr)));
        }
    }
    let path = copy.with_extension("log");
    let file = || std::fs::File::create(&path).map_err(|error| format!("{}: {error}", path.display()));
    // The tests get a process group of their own, so that their child processes end with them.
    let mut child = cargo(copy, &["test"], tests)
        .stdout(file()?)
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("cargo: {error}"))?;
    let began = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| format!("cargo: {error}"))? {
            Some(status) => break status,
            None if began.elapsed() < TIME_LIMIT => std::thread::sleep(Duration::from_millis(50)),
            None => {
                // Uses the shell's built-in kill, because a small Debian has no kill program.
                let command = format!("kill -KILL -- -{}", child.id());
                let killed = Command::new("sh").args(["-c", &command]).status();
                killed.map_err(|error| format!("kill: {error}"))?;
                child.wait().map_err(|error| format!("cargo: {error}"))?;
                return Ok(Verdict::Hung);
            }
        }
    };
    let log = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let log = String::from_utf8_lossy(&log);
    if !log.lines().any(|line| line.starts_with("running ") && !line.starts_with("running 0 ")) {
        return Err(format!("no test matches {}", tests.join(" ")));
    }
    if status.success() {
        return Ok(Verdict::Passed);
    }
    let first = log.lines().find(|line| line.starts_with("test ") && line.ends_with("FAILED"));
    Ok(Verdict::Failed(first.unwrap_or("the tests ended before their time").to_owned()))
}

fn cargo(copy: &Path, words: &[&str], tests: &[String]) -> Command {
    let mut command = Command::new("cargo");
    command.args(words).args(tests).current_dir(copy);
    command.env("CARGO_TARGET_DIR", target_folder()).stdin(Stdio::null());
    command
}

/// Builds of all mutants share one target folder, apart from the checkout's.
fn target_folder() -> PathBuf {
    std::env::var_os("PERCOSQL_MUTANTS_TARGET").map_or_else(|| root().join("target").join("mutants-target"), Into::into)
}

/// Makes `to` equal to the checkout. Equal files stay untouched, so that cargo builds only changed ones.
fn copy_tree(to: &Path) -> Result<()> {
    let list = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("git: {error}"))?;
    let list = String::from_utf8_lossy(&list.stdout);
    let mut wanted = BTreeSet::new();
    for name in list.split('\0').filter(|name| !name.is_empty()) {
        let failed = |error| format!("{name}: {error}");
        let target = to.join(name);
        let content = match std::fs::read(root().join(name)) {
            Ok(content) => content,
            // The file was deleted, but the deletion is not committed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error)),
        };
        if std::fs::read(&target).ok().as_ref() != Some(&content) {
            if let Some(folder) = target.parent() {
                std::fs::create_dir_all(folder).map_err(failed)?;
            }
            std::fs::write(&target, content).map_err(failed)?;
        }
        wanted.insert(target);
    }
    remove_others(to, &wanted).map_err(|error| format!("{}: {error}", to.display()))
}

/// Removes files of an earlier run: saved failures of tests, and files that were deleted since.
fn remove_others(folder: &Path, wanted: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains(&path) {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_mutant_can_be_planted() {
        let mut names = BTreeSet::new();
        for mutant in &all().unwrap() {
            let text = std::fs::read_to_string(root().join(&mutant.file)).unwrap();
            assert_eq!(text.matches(&mutant.original).count(), 1, "{} in {}", mutant.name, mutant.file);
            assert_ne!(mutant.original, mutant.broken, "{}", mutant.name);
            assert!(!mutant.tests.is_empty(), "{}", mutant.name);
            assert!(names.insert(mutant.name.clone()), "{} comes twice", mutant.name);
        }
        assert!(names.len() >= 10, "{} mutants", names.len());
    }
}
