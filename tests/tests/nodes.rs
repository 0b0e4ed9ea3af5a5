//! Three servers over one Bigtable table form one database. Each sees changes of the others at once.

use percosql_tests::clients::value;
use percosql_tests::{Bigtable, Server, pgbench, psql};
use std::time::{Duration, Instant};

/// pgbench's own script, over fewer accounts.
const BANK: &str = "\\set aid random(1, 500)
\\set tid random(1, 10)
\\set delta random(-5000, 5000)
begin;
update pgbench_accounts set abalance = abalance + :delta where aid = :aid;
select abalance from pgbench_accounts where aid = :aid;
update pgbench_tellers set tbalance = tbalance + :delta where tid = :tid;
update pgbench_branches set bbalance = bbalance + :delta where bid = 1;
insert into pgbench_history values (:tid, 1, :aid, :delta, current_timestamp);
end;
";

fn three() -> (Bigtable, Vec<Server>) {
    let bigtable = Bigtable::start();
    let table = bigtable.table();
    let nodes = (0..3).map(|_| table.node()).collect();
    (bigtable, nodes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_creates_and_fills_and_another_reads_at_once() {
    let (_bigtable, nodes) = three();
    psql(&nodes[0], &["-c", "create table t(id int primary key, v text)", "-c", "insert into t values (1, 'one')"])
        .success();
    assert_eq!(value(&nodes[1], "select v from t"), "one");
    psql(&nodes[2], &["-c", "alter table t add w int default 7", "-c", "create index on t(v)"]).success();
    assert_eq!(value(&nodes[0], "select w from t where v = 'one'"), "7");
    // Both sessions update one row, so the second COMMIT fails.
    let (first, second) = (nodes[0].connect().await, nodes[1].connect().await);
    for client in [&first, &second] {
        client.batch_execute("begin; update t set w = w + 1 where id = 1").await.expect("an update");
    }
    first.batch_execute("commit").await.expect("the first commit");
    let error = second.batch_execute("commit").await.expect_err("the second commit");
    assert_eq!(error.code().map(|code| code.code()), Some("40001"), "{error:?}");
    assert_eq!(value(&nodes[2], "select w from t"), "8");
    // Sequences, roles and databases.
    psql(&nodes[0], &["-c", "create sequence s", "-c", "select nextval('s')"]).success();
    let mut values: Vec<i64> =
        (0..9).map(|n| value(&nodes[n % 3], "select nextval('s')").parse().expect("a number")).collect();
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), 9);
    psql(&nodes[1], &["-c", "select setval('s', 1000000)"]).success();
    assert!(value(&nodes[0], "select nextval('s')").parse::<i64>().expect("a number") > 1_000_000);
    psql(&nodes[2], &["-c", "create role r login"]).success();
    assert_eq!(value(&nodes[0], "select rolcanlogin from pg_roles where rolname = 'r'"), "t");
    for node in &nodes {
        psql(node, &["-c", "check table t"]).success();
    }
}

#[test]
fn pgbench_from_three_servers_at_once() {
    let (_bigtable, nodes) = three();
    // A small bank. Filling pgbench's own takes minutes in a debug build, because it writes 100,000 rows in one
    // transaction.
    psql(
        &nodes[0],
        &[
            "-c",
            "create table pgbench_branches(bid int primary key, bbalance int)",
            "-c",
            "create table pgbench_tellers(tid int primary key, tbalance int)",
            "-c",
            "create table pgbench_accounts(aid int primary key, abalance int)",
            "-c",
            "create table pgbench_history(tid int, bid int, aid int, delta int, mtime timestamp)",
            "-c",
            "insert into pgbench_branches values (1, 0)",
            "-c",
            "insert into pgbench_tellers select g, 0 from generate_series(1, 10) g",
            "-c",
            "insert into pgbench_accounts select g, 0 from generate_series(1, 500) g",
        ],
    )
    .success();
    let script = nodes[0].folder().join("bank.sql");
    std::fs::write(&script, BANK).expect("a script");
    let script = script.to_string_lossy().into_owned();
    std::thread::scope(|scope| {
        for node in &nodes {
            let script = &script;
            scope.spawn(move || {
                let arguments = ["-n", "-f", script, "-c", "4", "-j", "1", "-t", "10", "--max-tries=1000"];
                let run = pgbench(node, &arguments);
                assert!(run.ok && run.out.contains("number of failed transactions: 0 "), "{}\n{}", run.out, run.err);
            });
        }
        // Meanwhile one server builds an index.
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(500));
            psql(&nodes[1], &["-c", "create index on pgbench_accounts(abalance)"]).success();
        });
    });
    let sums = "select (select sum(abalance) from pgbench_accounts) = (select sum(delta) from pgbench_history),
                       (select sum(tbalance) from pgbench_tellers) = (select sum(delta) from pgbench_history),
                       (select sum(bbalance) from pgbench_branches) = (select sum(delta) from pgbench_history),
                       (select count(*) from pgbench_history)";
    for node in &nodes {
        assert_eq!(value(node, sums), "t|t|t|120");
    }
    for table in ["pgbench_accounts", "pgbench_tellers", "pgbench_branches"] {
        assert_eq!(value(&nodes[2], &format!("check table {table}")), "");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_server_loses_only_what_a_definition_waits_for() {
    let (_bigtable, nodes) = three();
    psql(&nodes[0], &["-c", "create table t(id int primary key)"]).success();
    // Not the first server, because it is the oracle.
    let client = nodes[1].connect().await;
    client.batch_execute("begin; insert into t values (1)").await.expect("an insert");
    nodes[1].signal(libc::SIGSTOP);
    let begin = Instant::now();
    // Another server changes an unrelated definition. A transaction that blocked it would be aborted after 6 s.
    psql(&nodes[2], &["-c", "create table other(id int primary key)", "-c", "insert into t values (2)"]).success();
    tokio::time::sleep(Duration::from_secs(9).saturating_sub(begin.elapsed())).await;
    nodes[1].signal(libc::SIGCONT);
    client.batch_execute("commit").await.expect("a commit after the pause");
    assert_eq!(value(&nodes[0], "select count(*) from t"), "2");
    // Now a definition waits for the paused server's transaction, which does not learn of it.
    client.batch_execute("begin; insert into t values (3)").await.expect("an insert");
    nodes[1].signal(libc::SIGSTOP);
    psql(&nodes[0], &["-c", "alter table t add v int default 5"]).success();
    nodes[1].signal(libc::SIGCONT);
    let error = client.batch_execute("commit").await.expect_err("a commit of one who was given up");
    assert_eq!(error.code().map(|code| code.code()), Some("40001"), "{error:?}");
    assert_eq!(value(&nodes[1], "select sum(v) from t"), "10");
    psql(&nodes[1], &["-c", "insert into t values (3)"]).success();
    assert_eq!(value(&nodes[0], "select sum(v) from t"), "15");
}

#[test]
fn the_others_go_on_when_one_is_killed_or_stops() {
    let (_bigtable, mut nodes) = three();
    psql(&nodes[0], &["-c", "create table t(id int primary key)"]).success();
    // The first server has been the oracle so far.
    nodes[0].kill9();
    psql(&nodes[1], &["-c", "insert into t values (1)", "-c", "alter table t add v int"]).success();
    assert_eq!(value(&nodes[2], "select count(v) from t"), "0");
    assert_eq!(nodes[2].stop(), Some(0));
    psql(&nodes[1], &["-c", "alter table t add w int", "-c", "insert into t values (2, 2, 2)"]).success();
    nodes[0].restart();
    assert_eq!(value(&nodes[0], "select sum(w) from t"), "2");
}
