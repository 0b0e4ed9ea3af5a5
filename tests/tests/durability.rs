//! Every commit is synced before its reply. The test counts system calls.

use percosql_tests::{Server, psql};
use std::fmt::Write;

/// Sequential commits of one client each need their own fdatasync between request and reply.
#[test]
fn every_commit_is_synced_before_its_reply() {
    const COMMITS: usize = 40;
    let trace = tempfile::NamedTempFile::new().expect("a trace file");
    let path = trace.path().to_string_lossy().into_owned();
    let mut server = Server::start_under(&[
        "strace",
        "-f",
        "-qq",
        "-s",
        "64",
        "-e",
        "trace=fdatasync,fsync,sendto,write,writev",
        "-o",
        &path,
    ]);
    let mut script = String::from("create table t (a int primary key);\n");
    for n in 0..COMMITS {
        let _ = writeln!(script, "insert into t values ({n});");
    }
    let file = server.folder().join("script.sql");
    std::fs::write(&file, script).expect("a script");
    psql(&server, &["-q", "-f", &file.to_string_lossy()]).success();
    server.signal(libc::SIGTERM);
    // strace has written the whole trace when it ends together with the server.
    server.wait();
    let log = std::fs::read_to_string(trace.path()).expect("the trace");
    let mut synced = false;
    let mut replies = 0;
    for line in log.lines() {
        let finished = line.contains("= 0") && (line.contains("fdatasync") || line.contains("fsync"));
        if finished {
            synced = true;
        }
        // The CommandComplete of the reply carries this tag.
        if line.contains("INSERT 0 1") {
            assert!(synced, "a reply left before its sync: {line}");
            synced = false;
            replies += 1;
        }
    }
    assert_eq!(replies, COMMITS, "strace saw other replies than psql");
}
