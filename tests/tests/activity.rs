//! Views of sessions and their activity, functions that stop them, and conflicts in EXPLAIN ANALYZE.

use percosql_tests::Server;
use percosql_tests::raw::{Raw, column, error_state, kinds};
use std::time::{Duration, Instant};

/// Repeats a query until it gives the expected answer.
fn until(raw: &mut Raw, sql: &str, expected: &[&str]) {
    let begin = Instant::now();
    loop {
        let found = column(&raw.query(sql));
        if found == expected {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "{sql}: {found:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn every_session_is_shown_with_what_it_does() {
    let server = Server::start();
    let (mut watcher, mut other) = (Raw::connect(&server), Raw::connect(&server));
    let pid = other.key.0;
    let of_other = |what: &str| format!("select {what} from pg_stat_activity where pid = {pid}");
    other.query("set application_name = 'other one'");
    assert_eq!(column(&watcher.query("select count(*) from pg_stat_activity")), ["2"]);
    until(&mut watcher, &of_other("state || '/' || datname || '/' || usename"), &["idle/postgres/postgres"]);
    until(&mut watcher, &of_other("client_addr || '/' || (client_port > 0)::text"), &["127.0.0.1/true"]);
    other.query("begin");
    other.query("select 42");
    until(
        &mut watcher,
        &of_other("state || ': ' || query || ', ' || application_name"),
        &["idle in transaction: select 42, other one"],
    );
    until(&mut watcher, &of_other("(xact_start <= query_start and backend_start <= xact_start)::text"), &["true"]);
    other.query("select nothing");
    until(&mut watcher, &of_other("state"), &["idle in transaction (aborted)"]);
    other.query("rollback");
    until(&mut watcher, &of_other("coalesce(xact_start::text, 'none')"), &["none"]);
    let own = "select state || ': ' || pid::text from pg_stat_activity where pid = pg_backend_pid()";
    assert_eq!(column(&watcher.query(own)), [format!("active: {}", watcher.key.0)]);
    drop(other);
    until(&mut watcher, "select count(*) from pg_stat_activity", &["1"]);
}

#[test]
fn a_session_knows_both_ends_of_its_connection() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    let ends = "select inet_server_addr() || ':' || inet_server_port() || ' ' || inet_client_addr()";
    assert_eq!(column(&raw.query(ends)), [format!("127.0.0.1:{} 127.0.0.1", server.port())]);
    let same = "select inet_client_port() = client_port from pg_stat_activity where pid = pg_backend_pid()";
    assert_eq!(column(&raw.query(same)), ["t"]);
    // The views show each client as unencrypted, but only to roles that may see it.
    let other = Raw::connect(&server);
    let clear = "select count(*) from pg_stat_ssl s join pg_stat_gssapi g using (pid) where not ssl and not encrypted";
    assert_eq!(column(&raw.query(clear)), ["2"]);
    raw.query("create role nosy; set role nosy");
    assert_eq!(column(&raw.query("select count(*) from pg_stat_ssl")), ["0"]);
    drop(other);
}

#[test]
fn what_the_log_takes_and_how_often_it_is_synced_is_told() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    raw.query("create table t (a int)");
    let told = "select wal_sync || ' ' || wal_records || ' ' || wal_bytes from pg_stat_wal";
    let numbers = |raw: &mut Raw| -> Vec<u64> {
        let told = column(&raw.query(told));
        told.iter().flat_map(|row| row.split(' ')).map(|number| number.parse().expect("a number")).collect()
    };
    let before = numbers(&mut raw);
    for number in 0..10 {
        raw.query(&format!("insert into t values ({number})"));
    }
    let after = numbers(&mut raw);
    assert!(after[0] >= before[0] + 10, "{before:?} {after:?}");
    assert!(after[1] >= before[1] + 10 && after[2] > before[2] + 100, "{before:?} {after:?}");
}

#[test]
fn sessions_are_cancelled_and_terminated_by_statements() {
    let server = Server::start();
    let (mut watcher, mut other) = (Raw::connect(&server), Raw::connect(&server));
    let pid = other.key.0;
    other.send(b'Q', b"select pg_sleep(100)\0");
    until(
        &mut watcher,
        &format!("select query from pg_stat_activity where pid = {pid} and state = 'active'"),
        &["select pg_sleep(100)"],
    );
    assert_eq!(column(&watcher.query(&format!("select pg_cancel_backend({pid})"))), ["t"]);
    assert_eq!(error_state(&other.until_ready()), "57014");
    assert_eq!(kinds(&other.query("select 1")), "TDCZ");
    assert_eq!(column(&watcher.query(&format!("select pg_terminate_backend({pid})"))), ["t"]);
    let replies = other.until_ready();
    assert_eq!(error_state(&replies), "57P01");
    assert_eq!(kinds(&replies), "E");
    let replies = watcher.query("select pg_cancel_backend(2000000000)");
    assert_eq!(column(&replies), ["f"]);
    assert!(replies.iter().any(|reply| reply.kind == b'N' && reply.field(b'C').as_deref() == Some("01000")));
}

#[test]
fn explain_analyze_tells_how_often_it_was_run_again() {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    raw.query("create table t (a int primary key, b int); insert into t values (1, 0)");
    let lines = |replies: &[percosql_tests::raw::Reply]| column(replies).join("\n");
    let once = lines(&raw.query("explain analyze update t set b = b + 1"));
    assert!(once.contains("Conflicts: retries=0"), "{once}");
    // A writer commits while the other session computes, so the first run of the other conflicts.
    let mut slow = Raw::connect(&server);
    let sql = "explain analyze update t set b = b + 1 where (select count(*) from generate_series(1, 5000000)) > 0";
    slow.send(b'Q', &[sql.as_bytes(), b"\0"].concat());
    let active = format!("select state from pg_stat_activity where pid = {}", slow.key.0);
    until(&mut raw, &active, &["active"]);
    raw.query("update t set b = b + 10");
    let again = lines(&slow.until_ready());
    assert!(again.contains("Conflicts: retries=1"), "{again}");
    assert_eq!(column(&raw.query("select b from t")), ["12"]);
}
