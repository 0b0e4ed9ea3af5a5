//! Bits flipped in the files of a killed server. The next start either refuses or has all data. It never silently loses
//! part of the history.

use percosql_tests::clients::value;
use percosql_tests::server::{free_port, make_private, start_refused};
use percosql_tests::{Server, psql};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const ROWS: usize = 300;

/// The files of a store whose names have this prefix and suffix. The largest file is last.
fn files(data: &Path, begin: &str, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(data.join("rocksdb")).expect("a store").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.retain(|path| name(path).starts_with(begin) && name(path).ends_with(end));
    paths.sort_by_key(|path| std::fs::metadata(path).map_or(0, |data| data.len()));
    paths
}

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to.join("rocksdb")).expect("a folder");
    make_private(to);
    for folder in ["", "rocksdb"] {
        for entry in std::fs::read_dir(from.join(folder)).expect("a store").flatten() {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), to.join(folder).join(entry.file_name())).expect("a copy");
            }
        }
    }
}

fn flip(path: &Path, places: &[usize]) {
    let mut content = std::fs::read(path).expect("the file");
    for place in places {
        content[*place] ^= 0x10;
    }
    std::fs::write(path, content).expect("the file");
}

fn assert_refused(data: &Path, what: &str) {
    let (code, text) = start_refused(data, &format!("127.0.0.1:{}", free_port()));
    assert_eq!(code, Some(1), "{what}: {text}");
    assert!(text.contains("is corrupted"), "{what}: {text}");
    assert!(!text.contains("panicked"), "{what}: {text}");
}

fn filled() -> Server {
    let mut server = Server::start();
    let mut script = String::from("create table t (a int primary key, b text);\n");
    for n in 0..ROWS {
        let _ = writeln!(script, "insert into t values ({n}, 'row number {n}');");
    }
    let file = server.folder().join("script.sql");
    std::fs::write(&file, script).expect("a script");
    psql(&server, &["-q", "-f", &file.to_string_lossy()]).success();
    server.kill9();
    server
}

#[test]
fn bits_flipped_in_the_log_are_reported() {
    let server = filled();
    let data = server.data_dir();
    let log = files(&data, "", ".log").pop().expect("a log");
    // Ignores the preallocated zeroes at the end. No record ends with a zero.
    let content = std::fs::read(&log).expect("the log");
    let length = content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    assert!(length > ROWS * 50, "{length} bytes are not the log of {ROWS} commits");
    let damaged = server.folder().join("damaged");
    let target = damaged.join("rocksdb").join(log.file_name().expect("a name"));
    // The header of the first record, places in the middle, the last record, and several places at once.
    let mut cases: Vec<Vec<usize>> = (0..7).map(|place| vec![place]).collect();
    cases.extend((1..12).map(|part| vec![length * part / 12 + part]));
    cases.extend([1, 10, 40].map(|before| vec![length - before]));
    cases.push(vec![length / 4, length / 2, length - 5]);
    for places in cases {
        copy(&data, &damaged);
        flip(&target, &places);
        assert_refused(&damaged, &format!("bits at {places:?} of {length}"));
    }
    // An undamaged copy starts.
    copy(&data, &damaged);
    let folder = tempfile::tempdir().expect("a folder");
    copy(&damaged, &folder.path().join("data"));
    let whole = Server::start_in(folder, &[]);
    assert_eq!(value(&whole, "select count(*) from t"), ROWS.to_string());
}

#[test]
fn bits_flipped_in_tables_and_manifests_are_reported() {
    let mut server = filled();
    // Reopening flushes the memtables.
    server.restart();
    assert_eq!(value(&server, "select count(*) from t"), ROWS.to_string());
    server.kill9();
    let data = server.data_dir();
    let damaged = server.folder().join("damaged");
    for (begin, end) in [("MANIFEST-", ""), ("", ".sst"), ("CURRENT", "")] {
        let original = files(&data, begin, end).pop().expect("such a file");
        let length = std::fs::metadata(&original).expect("the file").len() as usize;
        for part in 0..8 {
            let place = (length - 1) * part / 7;
            copy(&data, &damaged);
            flip(&damaged.join("rocksdb").join(original.file_name().expect("a name")), &[place]);
            let what = format!("{begin}{end}: bit at {place} of {length}");
            let port = free_port();
            if end != ".sst" {
                let (code, text) = start_refused(&damaged, &format!("127.0.0.1:{port}"));
                assert_eq!(code, Some(1), "{what}: {text}");
                assert!(!text.contains("panicked"), "{what}: {text}");
                continue;
            }
            // A table is checked when it is read. Either the start fails, or the query fails, or the bit is in an
            // unused part and all rows are there.
            let folder = tempfile::tempdir().expect("a folder");
            copy(&damaged, &folder.path().join("data"));
            match Server::try_start_in(folder) {
                Err(text) => assert!(text.contains("corrupt") && !text.contains("panicked"), "{what}: {text}"),
                Ok(running) => {
                    let answer = psql(&running, &["-At", "-v", "VERBOSITY=verbose", "-c", "select count(*) from t"]);
                    match answer.ok {
                        true => assert_eq!(answer.out.trim(), ROWS.to_string(), "{what}"),
                        false => assert!(answer.err.contains("XX001"), "{what}: {}", answer.err),
                    }
                }
            }
        }
    }
}
