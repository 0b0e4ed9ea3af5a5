//! `percosql-bench compare` from outside: it starts both servers, runs on each, reports, and cleans up. The test does
//! not judge times.

use percosql_tests::server;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the comparison on little data, with a folder for the servers' files.
fn compare(folder: &Path, arguments: &[&str]) -> Output {
    let program = server::binary().with_file_name("percosql-bench");
    assert!(program.is_file(), "{} is missing: cargo build --workspace", program.display());
    let output = Command::new(program)
        .arg("compare")
        .arg("--percosql")
        .arg(server::binary())
        .args(["--pairs", "1", "--duration", "1s", "--warm-up", "0s", "--rows", "1000"])
        .args(["--first-port", &server::free_port().to_string()])
        .arg("--folder")
        .arg(folder)
        .args(arguments)
        .output()
        .expect("percosql-bench runs");
    eprintln!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn both_servers_run_and_nothing_is_left() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // PostgreSQL runs as its own user, which needs access to this folder.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).expect("permissions");
    let servers = folder.path().join("servers");
    std::fs::create_dir(&servers).expect("a folder");
    let report = folder.path().join("reports").join("report.md");
    let run = compare(&servers, &["--only", "count", "--report", &report.to_string_lossy()]);
    assert!(run.status.success());
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let order: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("count"))
        .map(|line| if line.contains("PercoSQL") { "PercoSQL" } else { "PostgreSQL" })
        .collect();
    assert_eq!(order, ["PostgreSQL", "PercoSQL"]);
    let report = std::fs::read_to_string(&report).expect("the report");
    for word in ["count(*) of 1000 rows", "ms a statement", "≤ 3", "synchronous_commit = on", "Linux"] {
        assert!(report.contains(word), "{word} is not in the report:\n{report}");
    }
    assert_eq!(std::fs::read_dir(&servers).expect("a folder").count(), 0, "temporary folders are left");
}

#[test]
fn what_is_not_there_is_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = compare(folder.path(), &["--only", "nonsense"]);
    assert!(!run.status.success() && String::from_utf8_lossy(&run.stderr).contains("no workload is called nonsense"));
}
