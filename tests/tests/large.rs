//! Large tables and transactions in bounded memory: COPY in, kill -9, COPY out, SELECT.
//!
//! `PERCOSQL_ROWS` sets the size. The default suits a debug build.

use percosql_tests::clients::value;
use percosql_tests::{Server, psql};
use std::io::Write;

fn rows() -> usize {
    std::env::var("PERCOSQL_ROWS").ok().and_then(|text| text.parse().ok()).unwrap_or(200_000)
}

/// Current resident memory of the server in bytes.
fn resident(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("its status");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    let kibibytes: u64 = line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).expect("a number");
    kibibytes * 1024
}

#[test]
fn a_copy_is_one_transaction_and_survives_kill_nine() {
    let mut server = Server::start();
    let file = server.folder().join("rows.csv");
    let mut csv = std::io::BufWriter::new(std::fs::File::create(&file).expect("a file"));
    for n in 0..rows() {
        writeln!(csv, "{n},name {n},{}.25", n % 1000).expect("a row");
    }
    drop(csv);
    psql(&server, &["-c", "create table t (a int primary key, b text, c numeric(10,2))"]).success();
    let copy = format!("\\copy t from '{}' with (format csv)", file.display());
    assert_eq!(psql(&server, &["-c", &copy]).success(), format!("COPY {}", rows()));
    assert_eq!(value(&server, "select count(*) from t"), rows().to_string());
    server.restart();
    assert_eq!(value(&server, "select count(*), max(a) from t"), format!("{}|{}", rows(), rows() - 1));
    let before = resident(&server);
    let out = psql(&server, &["-At", "-v", "FETCH_COUNT=0", "-c", "copy t to stdout"]);
    assert!(out.ok && out.out.lines().count() == rows());
    let grown = resident(&server).saturating_sub(before);
    assert!(grown < 256 << 20, "streaming a table grew the server by {grown} bytes");
}

#[test]
fn a_failed_copy_leaves_nothing() {
    let server = Server::start();
    let file = server.folder().join("rows.csv");
    let mut csv = std::io::BufWriter::new(std::fs::File::create(&file).expect("a file"));
    for n in 0..10_000 {
        writeln!(csv, "{n}").expect("a row");
    }
    writeln!(csv, "not a number").expect("a row");
    drop(csv);
    psql(&server, &["-c", "create table t (a int primary key)"]).success();
    let copy = format!("\\copy t from '{}' with (format csv)", file.display());
    let failed = psql(&server, &["-c", &copy]);
    assert!(!failed.ok);
    assert!(failed.err.contains("invalid input syntax for type integer"), "{}", failed.err);
    assert!(failed.err.contains("COPY t, line 10001, column a"), "{}", failed.err);
    assert_eq!(value(&server, "select count(*) from t"), "0");
}
