//! Concurrent sessions compared with PostgreSQL 15: the same steps wait, and every step gives the same answer.

use percosql_tests::isolation::{run, run_on, scripts};
use percosql_tests::postgres::Postgres;
use percosql_tests::{Bigtable, Server};
use std::path::Path;

async fn same(file: &str) {
    same_on(&[&Server::start()], file, &|_| true).await;
}

/// Runs the scripts on servers of one store, at the levels that `wanted` selects.
async fn same_on(servers: &[&Server], file: &str, wanted: &dyn Fn(&str) -> bool) {
    let ports: Vec<u16> = servers.iter().map(|server| server.port()).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("isolation").join(file);
    let postgres = Postgres::start();
    let wish = std::env::var("PERCOSQL_SCRIPT").unwrap_or_default();
    let mut differences = Vec::new();
    for script in scripts(&path).iter().filter(|script| script.name.contains(&wish)) {
        for level in script.levels.iter().filter(|level| wanted(level)) {
            let ours = run_on(script, level, &ports);
            let theirs = run(script, level, postgres.port());
            let (ours, theirs) = tokio::join!(ours, theirs);
            if ours != theirs {
                differences.push(format!("{} ({level})\n--- PostgreSQL\n{theirs}--- PercoSQL\n{ours}", script.name));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn read_committed() {
    same("read_committed.txt").await;
}

#[tokio::test]
async fn row_locks() {
    same("row_locks.txt").await;
}

#[tokio::test]
async fn tables_and_advisory_locks() {
    same("locks.txt").await;
}

const READ_COMMITTED: &[&str] = &["--isolation", "read-committed"];

/// Of two sessions in a deadlock, one is refused and the other continues. The locks are on rows, tables or advisory.
#[tokio::test(flavor = "multi_thread")]
async fn circles_are_found() {
    let server = Server::start_with(READ_COMMITTED);
    let setup = server.connect().await;
    let tables = ["t", "u", "w"].map(|name| format!("create table {name} (a int primary key, b int)"));
    setup.batch_execute(&tables.join("; ")).await.expect("set up");
    for (one, two) in [
        ("update t set b = 5 where a = 1", "delete from t where a = 2"),
        ("select * from t where a = 1 for update", "select pg_advisory_xact_lock(7)"),
        ("lock table t in share mode", "select pg_advisory_xact_lock(1, 2)"),
        ("insert into t values (3, 3)", "insert into t values (4, 4)"),
        ("update t set b = 5 where a = 1", "alter table u alter b set default 7"),
        ("alter table u alter b set default 7", "update t set b = 6 where a = 2"),
        ("alter table u alter b set default 7", "alter table w alter b set default 7"),
    ] {
        setup.batch_execute("delete from t; insert into t values (1, 1), (2, 2)").await.expect("rows");
        let (a, b) = (server.connect().await, server.connect().await);
        a.batch_execute(&format!("begin; {one}")).await.expect("the first");
        b.batch_execute(&format!("begin; {two}")).await.expect("the second");
        // A share lock on a table blocks writers.
        let one = one.replace("lock table t in share mode", "insert into t values (5, 5)");
        let waits = tokio::spawn(async move {
            let ended = a.batch_execute(&format!("{two}; commit")).await;
            if ended.is_err() {
                a.batch_execute("rollback").await.expect("rollback");
            }
            ended
        });
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let second = b.batch_execute(&one).await;
        b.batch_execute("rollback").await.expect("rollback");
        let first = waits.await.expect("the one who waits");
        let failed: Vec<_> = [first, second].into_iter().filter_map(Result::err).collect();
        assert_eq!(failed.len(), 1, "{one}, {two}: {failed:?}");
        let error = failed[0].as_db_error().expect("an error of the server");
        assert_eq!(error.code().code(), "40P01", "{one}, {two}: {error}");
        assert!(error.detail().is_some_and(|detail| detail.contains("blocked by process")), "{error:?}");
    }
}

/// Concurrent workers do each job once and do not wait for each other.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_queue_does_each_job_once() {
    const JOBS: i64 = 400;
    let server = Server::start_with(READ_COMMITTED);
    let setup = server.connect().await;
    setup
        .batch_execute(&format!(
            "create table jobs (id int8 primary key, payload text);
             create table done (id int8, worker int4);
             insert into jobs select i, 'job ' || i from generate_series(1, {JOBS}) i"
        ))
        .await
        .expect("set up");
    let mut workers = Vec::new();
    for worker in 0..16i32 {
        let client = server.connect().await;
        workers.push(tokio::spawn(async move {
            let mut taken = 0;
            loop {
                client.batch_execute("begin").await.expect("begin");
                let next = "select id from jobs order by id for update skip locked limit 1";
                let Some(job) = client.query_opt(next, &[]).await.expect("a job") else {
                    client.batch_execute("commit").await.expect("commit");
                    return taken;
                };
                let id: i64 = job.get(0);
                client.execute("insert into done values ($1, $2)", &[&id, &worker]).await.expect("done");
                client.execute("delete from jobs where id = $1", &[&id]).await.expect("deleted");
                client.batch_execute("commit").await.expect("nothing else touches the job");
                taken += 1;
            }
        }));
    }
    let mut total = 0;
    for worker in workers {
        let taken = worker.await.expect("a worker");
        assert!(taken > 0, "a worker found no job");
        total += taken;
    }
    let row = setup.query_one("select count(*), count(distinct id), (select count(*) from jobs) from done", &[]);
    let row = row.await.expect("counts");
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1), row.get::<_, i64>(2)), (JOBS, JOBS, 0));
    assert_eq!(total, JOBS);
}

/// pgbench's own script at READ COMMITTED: no client sees a serialization failure, and the sums agree.
#[tokio::test(flavor = "multi_thread")]
async fn pgbench_at_read_committed_needs_no_retries() {
    let server = Server::start_with(READ_COMMITTED);
    let pgbench = |arguments: &[&str]| {
        let port = server.port().to_string();
        let connection = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
        let output = std::process::Command::new("pgbench").args(connection).args(arguments).output().expect("pgbench");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        text
    };
    pgbench(&["-i", "-s", "1", "-q", "postgres"]);
    let text = pgbench(&["-n", "-c", "16", "-j", "2", "-t", "25", "postgres"]);
    assert!(text.contains("number of transactions actually processed: 400/400"), "{text}");
    assert!(text.contains("number of failed transactions: 0 (0.000%)"), "{text}");
    let sums = "select (select sum(abalance) from pgbench_accounts), (select sum(bbalance) from pgbench_branches),
                       (select sum(tbalance) from pgbench_tellers), (select sum(delta) from pgbench_history)";
    let row = server.connect().await.query_one(sums, &[]).await.expect("sums");
    let sums: Vec<i64> = (0..4).map(|at| row.get(at)).collect();
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
}

#[tokio::test]
async fn serializable() {
    same("serializable.txt").await;
}

#[tokio::test]
async fn anomalies() {
    same("anomalies.txt").await;
}

/// A server that is alone over Bigtable locks rows as over the embedded store.
#[tokio::test]
async fn alone_over_bigtable() {
    let bigtable = Bigtable::start();
    let server = bigtable.table().serve();
    for file in ["read_committed.txt", "row_locks.txt", "locks.txt", "anomalies.txt"] {
        same_on(&[&server], file, &|_| true).await;
    }
}

/// The sessions of each script run on two servers over Bigtable. One of the servers holds the locks of both.
#[tokio::test]
async fn two_servers_over_bigtable() {
    let bigtable = Bigtable::start();
    let table = bigtable.table();
    let (first, second) = (table.node(), table.node());
    for file in ["read_committed.txt", "row_locks.txt", "locks.txt", "anomalies.txt", "serializable.txt"] {
        same_on(&[&first, &second], file, &|_| true).await;
    }
}
