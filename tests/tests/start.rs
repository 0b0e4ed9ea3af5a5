//! Start, refused starts and stop of the server.

use percosql_tests::clients::value;
use percosql_tests::server::{free_port, start_refused};
use percosql_tests::{Server, psql};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn assert_refused(data_dir: &Path, listen: &str, says: &str) {
    let (code, text) = start_refused(data_dir, listen);
    assert_ne!(code, Some(0), "exit code 0 although it refused: {text}");
    assert!(!text.contains("panicked"), "{text}");
    assert!(text.to_lowercase().contains(says), "the message does not say {says:?}: {text}");
}

fn local() -> String {
    format!("127.0.0.1:{}", free_port())
}

#[test]
fn a_stranger_connects() {
    let server = Server::start();
    let version = value(&server, "select version()");
    assert!(version.starts_with("PostgreSQL 15"), "{version}");
    assert!(version.contains("PercoSQL"), "{version}");
    assert_eq!(value(&server, "select current_user || ' ' || current_database()"), "postgres postgres");
    let log = server.log();
    assert!(log.contains("psql -h 127.0.0.1"), "the banner says what to type: {log}");
    assert!(log.to_lowercase().contains("trust"), "the banner says that loopback is trusted: {log}");
}

#[test]
fn a_data_directory_in_use_is_refused() {
    let server = Server::start();
    assert_refused(&server.data_dir(), &local(), "in use");
}

#[test]
fn an_address_in_use_is_refused() {
    let server = Server::start();
    let other = tempfile::tempdir().expect("a folder");
    assert_refused(&other.path().join("data"), &format!("127.0.0.1:{}", server.port()), "in use");
}

#[test]
fn listening_beyond_loopback_needs_a_password() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_refused(&folder.path().join("data"), &format!("0.0.0.0:{}", free_port()), "password");
}

#[test]
fn a_data_directory_that_cannot_be_made_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("a file");
    assert_refused(&file.join("data"), &local(), "data");
}

#[test]
fn another_format_version_is_refused() {
    let mut server = Server::start();
    server.stop();
    let format = server.data_dir().join("FORMAT");
    assert!(format.is_file(), "the data directory says its format");
    std::fs::write(&format, "percosql 999\n").expect("a format file");
    assert_refused(&server.data_dir(), &local(), "format");
}

#[test]
fn a_corrupted_data_directory_is_refused() {
    let mut server = Server::start();
    psql(&server, &["-c", "create table t (a int primary key)"]).success();
    server.stop();
    let mut damaged = 0;
    for entry in walk(&server.data_dir()) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("MANIFEST") {
            let bytes = std::fs::read(&entry).expect("a manifest");
            std::fs::write(&entry, &bytes[..bytes.len() / 2]).expect("half of it");
            let mut half = bytes[..bytes.len() / 2].to_vec();
            for byte in half.iter_mut().take(64) {
                *byte ^= 0xff;
            }
            std::fs::write(&entry, half).expect("a damaged manifest");
            damaged += 1;
        }
    }
    assert!(damaged > 0, "no manifest was found");
    assert_refused(&server.data_dir(), &local(), "corrupt");
}

/// The permission bits of a file or folder.
fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn nobody_else_reads_the_data_directory() {
    let mut server = Server::start();
    psql(&server, &["-c", "create table t (a int primary key)", "-c", "insert into t values (1)"]).success();
    let data = server.data_dir();
    let files = walk(&data);
    assert!(files.iter().any(|file| file.starts_with(data.join("rocksdb"))), "{files:?}");
    for path in files.iter().flat_map(|file| file.ancestors().take_while(|path| path.starts_with(&data))) {
        assert_eq!(mode(path) & 0o077, 0, "{}: {:o}", path.display(), mode(path));
    }
    server.stop();
    let set = |mode| std::fs::set_permissions(&data, Permissions::from_mode(mode)).expect("a folder of ours");
    for open in [0o755, 0o770, 0o701] {
        set(open);
        assert_refused(&data, &local(), "permissions should be u=rwx (0700) or u=rwx,g=rx (0750)");
    }
    // If the group may read the folder, it may also read new files.
    set(0o750);
    server.restart();
    psql(&server, &["-c", "insert into t values (2)"]).success();
    let logs: Vec<_> =
        walk(&data).into_iter().filter(|file| file.extension().is_some_and(|end| end == "log")).collect();
    assert!(logs.iter().any(|log| mode(log) == 0o640) && logs.iter().all(|log| mode(log) & 0o037 == 0), "{logs:?}");
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(walk(&path));
        } else {
            all.push(path);
        }
    }
    all
}

#[test]
fn sigterm_stops_cleanly_and_keeps_everything() {
    let mut server = Server::start();
    psql(&server, &["-c", "create table t (a int primary key)", "-c", "insert into t values (1)"]).success();
    assert_eq!(server.stop(), Some(0));
    server.restart();
    assert_eq!(value(&server, "select a from t"), "1");
}

#[test]
fn a_password_is_asked_for_once_there_is_one() {
    let server = Server::start();
    psql(&server, &["-c", "create role ada login password 'secret'"]).success();
    let login = |password: &str| {
        Command::new("psql")
            .args([
                "-X",
                "-At",
                "-h",
                "127.0.0.1",
                "-p",
                &server.port().to_string(),
                "-U",
                "ada",
                "-c",
                "select current_user",
                "postgres",
            ])
            .env("PGPASSWORD", password)
            .output()
            .expect("psql runs")
    };
    let right = login("secret");
    assert_eq!(String::from_utf8_lossy(&right.stdout).trim(), "ada", "{}", String::from_utf8_lossy(&right.stderr));
    let wrong = login("guess");
    assert!(!wrong.status.success());
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("password authentication failed"));
}
