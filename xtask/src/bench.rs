//! `cargo xtask bench`: compares PostgreSQL 15 and PercoSQL by `percosql-bench compare`.

use crate::packages;
use crate::run::{Result, command, finish, run, say, shown};
use std::path::{Path, PathBuf};

/// Builds optimized binaries, installs PostgreSQL 15 if necessary, and compares. `arguments` go to `percosql-bench
/// compare`.
pub fn bench(arguments: &[String]) -> Result<()> {
    // The help text needs no optimized build.
    if arguments.iter().any(|argument| matches!(argument.as_str(), "--help" | "-h")) {
        return run("cargo", &["run", "--quiet", "-p", "percosql-bench", "--", "compare", "--help"]);
    }
    let postgres_bin = packages::ensure_bench()?;
    // The same selection as for `dist`. The whole workspace would enable the test doubles of the store.
    run("cargo", &["build", "--profile", "optimized", "-p", "percosql", "-p", "percosql-bench", "--quiet"])?;
    let built = optimized_folder()?;
    let asked = |option: &str| {
        arguments.iter().any(|argument| argument == option || argument.starts_with(&format!("{option}=")))
    };
    let mut all = vec!["compare".to_string()];
    if !asked("--percosql") {
        all.extend(["--percosql".to_string(), shown(&built.join("percosql"))]);
        if !asked("--note") {
            all.extend(["--note".to_string(), note()]);
        }
    }
    if !asked("--postgres-bin") {
        all.extend(["--postgres-bin".to_string(), shown(&postgres_bin)]);
    }
    all.extend(arguments.iter().cloned());
    let program = shown(&built.join("percosql-bench"));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    say(&format!("$ {program} {}", all.join(" ")));
    finish(command(&program, &all), "percosql-bench")
}

/// Folder of cargo's optimized builds. It lies beside the folder of this program, wherever the target folder is.
pub fn optimized_folder() -> Result<PathBuf> {
    let own = std::env::current_exe().map_err(|error| format!("this program does not find itself: {error}"))?;
    let target = own.parent().and_then(Path::parent).ok_or("this program does not lie in a target folder")?;
    Ok(target.join("optimized"))
}

/// The description of the measured build, for the head of the report.
fn note() -> String {
    let git = |arguments: &[&str]| {
        let output = command("git", arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let Some(commit) = git(&["rev-parse", "--short", "HEAD"]) else { return "An optimized build.".to_string() };
    match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if changes.is_empty() => format!("An optimized build of commit {commit}."),
        _ => format!("An optimized build of commit {commit} with changes that are not committed."),
    }
}
