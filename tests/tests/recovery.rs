//! kill -9 around the commit of a large transaction. All of it or none is there, and no client waits for the recovery.
//!
//! `PERCOSQL_ROWS` sets the size. The default suits a debug build. Rows are wide, so that few of them exceed one batch.

use percosql_tests::clients::value;
use percosql_tests::{Server, psql};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn rows() -> u64 {
    std::env::var("PERCOSQL_ROWS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000)
}

/// Time limit of a restart. It takes two seconds on an idle machine, and more in a debug build on a busy one.
const RESTART_LIMIT: Duration = Duration::from_secs(8);

/// Attempts to interrupt a transaction in the middle.
const TRIES: u32 = 5;

/// Starts a large insert. `first` is an earlier statement of the same transaction.
fn insert(server: &Server, first: &str) -> Child {
    let rows = rows();
    let sql =
        format!("{first} insert into t select i, i, repeat('percosql ', 50) from generate_series(1, {rows}) as g(i)");
    Command::new("psql")
        .args(["-X", "-h", "127.0.0.1", "-p", &server.port().to_string(), "-U", "postgres", "-c", &sql, "postgres"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("psql runs")
}

fn answer(client: Child) -> String {
    String::from_utf8_lossy(&client.wait_with_output().expect("its output").stdout).trim().to_string()
}

/// Sizes in bytes of the files in a folder.
fn sizes(folder: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).collect()
}

fn restart(server: &mut Server, when: &str) {
    let took = server.restart();
    println!("killed {when}: started after {took:.2?}");
    assert!(took < RESTART_LIMIT, "killed {when}: the start took {took:?}");
}

/// The rows are written to files beside the log, which the store ingests at once.
#[test]
fn a_kill_around_a_large_commit_keeps_all_or_nothing_and_starts_at_once() {
    kill_around_a_large_commit("");
}

/// A transaction that creates a table locks for other sessions what it writes, and commits in two phases.
#[test]
fn a_kill_around_a_commit_of_two_phases_keeps_all_or_nothing_and_starts_at_once() {
    kill_around_a_large_commit("drop table if exists made; create table made (); ");
}

fn kill_around_a_large_commit(first: &str) {
    let mut server = Server::start();
    let schema = "create table t (a int primary key, b int, c text); create index t_b on t (b)";
    psql(&server, &["-c", schema]).success();
    let all = format!("INSERT 0 {}", rows());
    // In the middle of the prewrites: rows or locks are written, and the commit is not acknowledged.
    for part in [1, 2] {
        let caught = (0..TRIES).any(|_| killed_while_it_writes(&mut server, first, part));
        assert!(caught, "it was over too soon, {TRIES} times");
        restart(&mut server, "during the prewrites");
        let found = value(&server, "select count(*) from t");
        // For files beside the log the last step is short, so the kill may come after it.
        if first.is_empty() && found != "0" {
            assert_eq!(found, rows().to_string());
            assert_eq!(value(&server, "check table t"), "");
            psql(&server, &["-c", "truncate t"]).success();
            continue;
        }
        assert_eq!(found, "0");
    }
    // After the reply, while the secondaries are rolled forward.
    for (round, wait) in [0, 100, 500].into_iter().enumerate() {
        let client = insert(&server, first);
        assert_eq!(answer(client).lines().last(), Some(&all[..]));
        std::thread::sleep(Duration::from_millis(wait));
        server.kill9();
        restart(&mut server, &format!("{wait} ms after the reply"));
        let expected = format!("{}|{}", rows(), rows() * (rows() + 1) / 2);
        assert_eq!(value(&server, "select count(*), sum(a) from t"), expected);
        assert_eq!(value(&server, "select a from t where b = 77"), "77", "through the index");
        // Writers do not wait for the rest of the roll-forward. A second crash is harmless too.
        assert_eq!(psql(&server, &["-c", "update t set b = -1 where a = 99"]).success(), "UPDATE 1");
        server.kill9();
        restart(&mut server, "again");
        assert_eq!(value(&server, "select a from t where b = -1"), "99");
        assert_eq!(value(&server, "check table t"), "");
        if round < 2 {
            psql(&server, &["-c", "truncate t"]).success();
        }
    }
    // The restart removed the spill files of the killed processes.
    let spill = server.data_dir().join("spill");
    assert_eq!(std::fs::read_dir(spill).map_or(0, Iterator::count), 0, "spill files are left");
    assert_eq!(psql(&server, &["-c", "delete from t"]).success(), format!("DELETE {}", rows()));
    assert_eq!(value(&server, "select count(*) from t"), "0");
}

/// Kills the server once it has made `part` files beside the log, or written `part` quarters of the rows to the log.
/// False means that the transaction ended earlier. Its rows are removed in that case.
fn killed_while_it_writes(server: &mut Server, first: &str, part: u64) -> bool {
    let (load, log) = (server.data_dir().join("load"), server.data_dir().join("rocksdb"));
    let before: u64 = sizes(&log).iter().sum();
    let mut client = insert(server, first);
    let begin = Instant::now();
    let is_written = || match first.is_empty() {
        true => sizes(&load).len() as u64 >= part,
        false => sizes(&log).iter().sum::<u64>() >= before + rows() * 500 * part / 4,
    };
    while !is_written() {
        assert!(begin.elapsed() < Duration::from_secs(120), "nothing is written");
        if client.try_wait().expect("a child of ours").is_some() {
            psql(server, &["-c", "truncate t"]).success();
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    server.kill9();
    let told = answer(client);
    // The transaction may have ended between the check and the kill.
    if told.contains("INSERT") {
        restart(server, "behind its end");
        psql(server, &["-c", "truncate t"]).success();
        return false;
    }
    true
}

#[test]
fn a_kill_with_full_memtables_starts_at_once() {
    let mut server = Server::start();
    psql(&server, &["-c", "create table t (a int, b text)"]).success();
    // Many transactions instead of one, so that the log is as full as possible.
    let insert =
        format!("insert into t select i, repeat('{}', 20) from generate_series(1, 5000) as g(i)", "0123456789");
    for _ in 0..rows() / 5000 {
        psql(&server, &["-c", &insert]).success();
    }
    server.kill9();
    restart(&mut server, "with full memtables");
    assert_eq!(value(&server, "select count(*) from t"), rows().to_string());
}
