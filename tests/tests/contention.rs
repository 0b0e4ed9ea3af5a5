//! Observability of lock waits and refused sessions, limits that end a wait, and snapshots that sessions share.

use percosql_tests::Server;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Error};

const READ_COMMITTED: &[&str] = &["--isolation", "read-committed"];

fn code(error: &Error) -> &str {
    error.code().map_or("", |code| code.code())
}

async fn pid(client: &Client) -> i32 {
    client.query_one("select pg_backend_pid()", &[]).await.expect("a process").get(0)
}

/// Waits until a session waits for a lock.
async fn until_waiting(client: &Client) {
    let begun = Instant::now();
    while client
        .query_one("select count(*) from pg_locks where not granted", &[])
        .await
        .expect("locks")
        .get::<_, i64>(0)
        == 0
    {
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody waits");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn table(server: &Server) -> Client {
    let client = server.connect().await;
    client
        .batch_execute("create table t (a int primary key, b int); insert into t values (1, 1), (2, 2)")
        .await
        .expect("t");
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_is_seen_while_it_lasts_and_afterwards() {
    let server = Server::start_with(READ_COMMITTED);
    let watcher = table(&server).await;
    let (holder, waiter) = (server.connect().await, server.connect().await);
    let (holder_pid, waiter_pid) = (pid(&holder).await, pid(&waiter).await);
    holder.batch_execute("begin; update t set b = 10 where a = 1").await.expect("the first");
    let waits = tokio::spawn(async move { waiter.batch_execute("update t set b = 11 where a = 1").await });
    until_waiting(&watcher).await;
    let blockers: Vec<i32> =
        watcher.query_one("select pg_blocking_pids($1)", &[&waiter_pid]).await.expect("blockers").get(0);
    assert_eq!(blockers, [holder_pid]);
    let row = watcher
        .query_one("select wait_event_type, wait_event, state from pg_stat_activity where pid = $1", &[&waiter_pid])
        .await
        .expect("its activity");
    assert_eq!((row.get(0), row.get(1), row.get(2)), ("Lock", "tuple", "active"));
    // Long waits are logged, so the test waits long enough.
    tokio::time::sleep(Duration::from_millis(1300)).await;
    holder.batch_execute("commit").await.expect("the first ends");
    waits.await.expect("the second").expect("the second goes on");
    let row = watcher
        .query_one(
            "select kind, relation, key, blocked_by, waited_ms, outcome from percosql.contention where pid = $1",
            &[&waiter_pid],
        )
        .await
        .expect("what is remembered");
    assert_eq!((row.get(0), row.get(1), row.get(2)), ("tuple", "public.t", "(a)=(1)"));
    assert_eq!((row.get::<_, Vec<i32>>(3), row.get(5)), (vec![holder_pid], "granted"));
    assert!((1300.0..60_000.0).contains(&row.get::<_, f64>(4)), "{row:?}");
    let log = server.log();
    let line = log.lines().find(|line| line.contains("waits for a lock")).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("update t set b = 11") && line.contains("update t set b = 10"), "both statements: {line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_analyze_tells_of_locked_rows() {
    let server = Server::start_with(READ_COMMITTED);
    let holder = table(&server).await;
    let waiter = server.connect().await;
    let told = |rows: Vec<tokio_postgres::Row>| {
        let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        lines.into_iter().find(|line| line.starts_with("Conflicts: ")).expect("a line about conflicts")
    };
    let read = waiter.query("explain analyze select * from t", &[]).await.expect("a plan");
    assert_eq!(told(read), "Conflicts: retries=0");
    holder.batch_execute("begin; update t set b = 10 where a = 1").await.expect("the first");
    let skips = "explain (analyze, timing off) select * from t for update skip locked";
    let skipped = told(waiter.query(skips, &[]).await.expect("a plan"));
    assert_eq!(skipped, "Conflicts: retries=0 rows locked=1 changed meanwhile=0 skipped=1");
    let waits =
        tokio::spawn(
            async move { waiter.query("explain analyze update t set b = b + 1", &[]).await.expect("an update") },
        );
    until_waiting(&holder).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    holder.batch_execute("commit").await.expect("the first");
    let waited = told(waits.await.expect("the second"));
    let time = waited.strip_prefix("Conflicts: retries=0 rows locked=2 changed meanwhile=1 skipped=0 wait=");
    let time: f64 = time.and_then(|text| text.strip_suffix(" ms")).expect(&waited).parse().expect(&waited);
    assert!(time >= 100.0, "{waited}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_remembered_and_deadlocks_logged() {
    let server = Server::start();
    let watcher = table(&server).await;
    let (one, other) = (server.connect().await, server.connect().await);
    one.batch_execute(
        "begin isolation level serializable; select * from t where a = 1; update t set b = 5 where a = 2",
    )
    .await
    .expect("one");
    other.batch_execute("update t set b = 7 where a = 1").await.expect("the other");
    let refused = one.batch_execute("commit").await.expect_err("what it read was changed");
    assert_eq!(code(&refused), "40001");
    let detail = refused.as_db_error().and_then(|error| error.detail()).unwrap_or_default();
    assert!(detail.contains("(a)=(1)") && detail.contains("\"t\"") && detail.contains("read"), "{detail}");
    let sql = "select relation, outcome, detail from percosql.contention where kind = 'conflict'";
    let row = watcher.query_one(sql, &[]).await.expect("what is remembered");
    assert_eq!((row.get(0), row.get(1), row.get(2)), ("public.t", "40001", detail));

    one.batch_execute("begin isolation level read committed; update t set b = 8 where a = 1").await.expect("one");
    other.batch_execute("begin isolation level read committed; update t set b = 8 where a = 2").await.expect("other");
    let waits = tokio::spawn(async move {
        let ended = one.batch_execute("update t set b = 9 where a = 2").await;
        (one, ended)
    });
    until_waiting(&watcher).await;
    let found = other.batch_execute("update t set b = 9 where a = 1").await.expect_err("a circle");
    assert_eq!(code(&found), "40P01");
    other.batch_execute("rollback").await.expect("rollback");
    waits.await.expect("one").1.expect("one goes on");
    let log = server.log();
    let line = log.lines().find(|line| line.contains("deadlock detected")).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("where a = 1") && line.contains("where a = 2"), "both statements: {line}");
    let sql = "select count(*) from percosql.contention where outcome = 'deadlock'";
    assert_eq!(watcher.query_one(sql, &[]).await.expect("the circle").get::<_, i64>(0), 1);
}

/// COMMIT waits for locks at snapshot level.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_waits_can_be_stopped() {
    let server = Server::start();
    let holder = table(&server).await;
    holder.batch_execute("begin isolation level read committed; update t set b = 3 where a = 1").await.expect("holder");
    let waiter = server.connect().await;
    waiter
        .batch_execute("set statement_timeout = '300ms'; begin; update t set b = 4 where a = 1")
        .await
        .expect("waiter");
    let ended = waiter.batch_execute("commit").await.expect_err("it waits for too long");
    assert_eq!(code(&ended), "57014");
    waiter.batch_execute("set statement_timeout = 0; begin; update t set b = 5 where a = 1").await.expect("waiter");
    let cancel = waiter.cancel_token();
    let (begun, waits) = (
        Instant::now(),
        tokio::spawn(async move {
            let ended = waiter.batch_execute("commit").await;
            (waiter, ended)
        }),
    );
    until_waiting(&server.connect().await).await;
    cancel.cancel_query(tokio_postgres::NoTls).await.expect("a cancel");
    let (waiter, ended) = waits.await.expect("waiter");
    assert_eq!(code(&ended.expect_err("cancelled")), "57014");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    holder.batch_execute("commit").await.expect("holder");
    // Neither commit took partial effect.
    let b: i32 = waiter.query_one("select b from t where a = 1", &[]).await.expect("b").get(0);
    assert_eq!(b, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_takes_too_long_ends_with_its_connection() {
    let server = Server::start_with(READ_COMMITTED);
    let watcher = table(&server).await;
    for (work, waits) in [("select 1", "select pg_sleep(20)"), ("update t set b = 6 where a = 1", "")] {
        let client = server.connect().await;
        client.batch_execute("set transaction_timeout = '400ms'; select pg_sleep(0)").await.expect("a session");
        client.batch_execute("begin").await.expect("begin");
        client.batch_execute(work).await.expect("work");
        let begun = Instant::now();
        if waits.is_empty() {
            tokio::time::sleep(Duration::from_millis(800)).await;
        }
        let ended = client.batch_execute(if waits.is_empty() { "select 1" } else { waits }).await.expect_err("over");
        assert!(begun.elapsed() < Duration::from_secs(10));
        assert!(code(&ended) == "25P04" || ended.is_closed(), "{ended:?}");
        // The locks of the ended session are released.
        watcher.batch_execute("set lock_timeout = '5s'; update t set b = b + 100 where a = 1").await.expect("free");
    }
    let b: i32 = watcher.query_one("select b from t where a = 1", &[]).await.expect("b").get(0);
    assert_eq!(b, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_share_an_exported_snapshot() {
    let server = Server::start();
    let exporter = table(&server).await;
    exporter.batch_execute("begin isolation level repeatable read").await.expect("begin");
    let name: String = exporter.query_one("select pg_export_snapshot()", &[]).await.expect("a name").get(0);
    let (other, importer) = (server.connect().await, server.connect().await);
    other.batch_execute("update t set b = 50; insert into t values (3, 3)").await.expect("later changes");
    let begin = format!("begin isolation level repeatable read; set transaction snapshot '{name}'");
    importer.batch_execute(&begin).await.expect("the import");
    let sum: i64 = importer.query_one("select sum(b) from t", &[]).await.expect("sum").get(0);
    assert_eq!(sum, 3, "it sees what the exporter sees");
    importer.batch_execute("insert into t values (4, 4)").await.expect("it may write");
    importer.batch_execute("commit").await.expect("nobody wrote that row");
    importer.batch_execute(&begin).await.expect("the import");
    let changed = importer.batch_execute("update t set b = 0 where a = 1").await;
    assert_eq!(code(&changed.expect_err("changed since")), "40001");
    importer.batch_execute("rollback").await.expect("rollback");
    for (sql, state) in [
        ("begin isolation level repeatable read; set transaction snapshot 'nonsense'", "22023"),
        ("begin isolation level repeatable read; set transaction snapshot '7FFFFFFF-FFFFFFFF-1'", "22023"),
        (&format!("begin isolation level read committed; set transaction snapshot '{name}'") as &str, "0A000"),
        (&format!("begin isolation level repeatable read; select 1; set transaction snapshot '{name}'"), "25001"),
    ] {
        assert_eq!(code(&importer.batch_execute(sql).await.expect_err(sql)), state, "{sql}");
        importer.batch_execute("rollback").await.expect("rollback");
    }
    exporter.batch_execute("commit").await.expect("the exporter");
}

/// pg_dump with several connections: all of them read one snapshot during concurrent writes.
#[tokio::test(flavor = "multi_thread")]
async fn a_parallel_dump_is_of_one_moment() {
    let server = Server::start();
    let client = server.connect().await;
    let tables: String = (0..6)
        .map(|at| format!("create table part{at} (a int primary key, b int); insert into part{at} values (1, 0);"))
        .collect();
    client.batch_execute(&tables).await.expect("tables");
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let over = stop.clone();
    let writer = tokio::spawn(async move {
        let all: String = (0..6).map(|at| format!("update part{at} set b = b + 1;")).collect();
        let mut rounds = 0;
        while !over.load(std::sync::atomic::Ordering::SeqCst) {
            client.batch_execute(&format!("begin; {all} commit")).await.expect("a round");
            rounds += 1;
        }
        rounds
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("dump");
    let port = server.port().to_string();
    let into = target.clone();
    let dump = move || {
        let connection = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
        let shape = ["-Fd", "-Z0", "-j", "4", "-f"];
        std::process::Command::new("pg_dump").args(connection).args(shape).arg(&into).arg("postgres").output()
    };
    let dumped = tokio::task::spawn_blocking(dump).await.expect("a thread").expect("pg_dump");
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    assert!(writer.await.expect("the writer") > 0);
    let mut values = Vec::new();
    for entry in std::fs::read_dir(&target).expect("the dump") {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "dat") && !path.ends_with("toc.dat") {
            let text = std::fs::read_to_string(&path).expect("rows");
            values.extend(text.lines().filter_map(|line| line.strip_prefix("1\t")).map(str::to_string));
        }
    }
    assert_eq!(values.len(), 6, "{values:?}");
    assert!(values.iter().all(|value| *value == values[0]), "not one moment: {values:?}");
}
