//! Failing disks and full disks.

use percosql_tests::clients::value;
use percosql_tests::{Server, psql};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// A file system that the test may fill. Dropping it unmounts it.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(megabytes: u32) -> SmallDisk {
        let folder = tempfile::Builder::new().prefix("percosql-disk-").tempdir().expect("a temporary folder");
        let size = format!("size={megabytes}m");
        let mut said = String::new();
        for with in [&["mount"][..], &["sudo", "-n", "mount"]] {
            let mut command = Command::new(with[0]);
            command.args(&with[1..]).args(["-t", "tmpfs", "-o", &size, "percosql-test"]).arg(folder.path());
            match command.output() {
                Ok(output) if output.status.success() => return SmallDisk(folder),
                Ok(output) => said.push_str(&String::from_utf8_lossy(&output.stderr)),
                Err(error) => said.push_str(&format!("{error}\n")),
            }
        }
        panic!("this test mounts a small file system, as root or with sudo: {said}");
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        for with in [&["umount"][..], &["sudo", "-n", "umount"]] {
            let done = Command::new(with[0]).args(&with[1..]).arg("-l").arg(self.0.path()).output();
            if done.is_ok_and(|output| output.status.success()) {
                return;
            }
        }
    }
}

/// The SQLSTATE of a statement that fails.
fn state(server: &Server, sql: &str) -> String {
    let output = psql(server, &["-v", "VERBOSITY=sqlstate", "-c", sql]);
    assert!(!output.ok, "it went through: {sql}");
    output.err.trim().rsplit(' ').next().unwrap_or_default().to_string()
}

#[test]
fn a_full_disk_refuses_writes_and_goes_on_reading() {
    let disk = SmallDisk::mount(600);
    let folder = tempfile::Builder::new().tempdir_in(disk.path()).expect("a folder");
    let mut server = Server::start_in(folder, &[]);
    psql(&server, &["-c", "create table t (a int primary key, b text)"]).success();
    psql(&server, &["-c", "insert into t select i, 'x' from generate_series(1, 1000) as g(i)"]).success();
    // Another program fills the disk.
    let ballast = disk.path().join("ballast");
    let mut file = File::create(&ballast).expect("a file");
    for _ in 0..420 {
        file.write_all(&[1; 1 << 20]).expect("room for the ballast");
    }
    drop(file);
    for sql in [
        "insert into t values (0, 'y')",
        "update t set b = 'y'",
        "insert into t select i, 'y' from generate_series(1001, 200000) as g(i)",
        "create table u (a int)",
    ] {
        assert_eq!(state(&server, sql), "53100", "{sql}");
    }
    assert!(server.is_running(), "{}", server.log());
    assert_eq!(value(&server, "select count(*), max(b) from t"), "1000|x");
    // A crash in this state loses no data, and the server starts.
    server.kill9();
    server.restart();
    assert_eq!(value(&server, "select count(*), max(b) from t"), "1000|x");
    assert_eq!(state(&server, "insert into t values (0, 'y')"), "53100");
    // Once there is room, the server writes again without a restart.
    std::fs::remove_file(&ballast).expect("the ballast");
    psql(&server, &["-c", "insert into t values (0, 'y')"]).success();
    assert_eq!(value(&server, "select count(*), max(b) from t"), "1001|y");
    assert_eq!(value(&server, "check table t"), "");
}

/// Inserts single rows until one fails. Answers the number of acknowledged rows and psql's error.
fn insert_until_it_fails(server: &Server) -> (u32, String) {
    for n in 0..500 {
        let output = psql(server, &["-v", "VERBOSITY=verbose", "-c", &format!("insert into t values ({n})")]);
        if !output.ok {
            return (n, output.err);
        }
    }
    panic!("every sync succeeded");
}

#[test]
fn a_failed_sync_stops_the_server() {
    stop_at_a_failed_sync("EIO");
    // A disk that fills up between two checks of its free space.
    stop_at_a_failed_sync("ENOSPC");
}

fn stop_at_a_failed_sync(error: &str) {
    // Fails the calls from the sixtieth of each thread on. That is the committer's, in the middle of the inserts.
    let fault = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e"];
    let inject = format!("inject=fdatasync,fsync:error={error}:when=60+");
    let mut server = Server::start_under(&[&fault[..], &[&inject]].concat());
    psql(&server, &["-c", "create table t (a int primary key)"]).success();
    let (acknowledged, error) = insert_until_it_fails(&server);
    assert!(acknowledged > 0);
    let expected = ["40003", "server closed the connection", "57P01", "57P03"];
    assert!(expected.iter().any(|text| error.contains(text)), "{error}");
    let code = server.wait();
    let log = server.log();
    assert!(code.is_some_and(|code| code != 0), "exit code {code:?}: {log}");
    assert!(log.contains("the store failed and the server stopped"), "{log}");
    assert!(!log.contains("panicked"), "{log}");
    // The process that saw a failed sync does not repeat it. The next process recovers.
    server.restart();
    let found: u32 = value(&server, "select count(*) from t").parse().expect("a count");
    assert!((acknowledged..=acknowledged + 1).contains(&found), "{found} of {acknowledged}");
    psql(&server, &["-c", "insert into t values (-1)"]).success();
    assert_eq!(value(&server, "check table t"), "");
}
