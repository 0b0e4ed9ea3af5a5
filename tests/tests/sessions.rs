//! Two concurrent sessions, with a real psql where it matters.

use percosql_tests::Server;

fn state(error: &tokio_postgres::Error) -> String {
    error.code().map_or_else(|| error.to_string(), |code| code.code().to_string())
}

#[tokio::test]
async fn the_first_committer_wins() {
    let server = Server::start();
    let one = server.connect().await;
    let two = server.connect().await;
    one.batch_execute("create table t (a int primary key, b int); insert into t values (1, 0)").await.expect("set up");
    one.batch_execute("begin; update t set b = b + 1 where a = 1").await.expect("the first update");
    two.batch_execute("begin; update t set b = b + 10 where a = 1").await.expect("the second never waits");
    one.batch_execute("commit").await.expect("the first committer wins");
    let error = two.batch_execute("commit").await.expect_err("the second conflicts");
    assert_eq!(state(&error), "40001");
    let fields = error.as_db_error().expect("an error of the server");
    let detail = fields.detail().unwrap_or_default();
    assert!(detail.contains("\"t\"") && detail.contains("(a)=(1)"), "the detail names table and key: {detail}");
    assert!(fields.hint().is_some());
    let row = one.query_one("select b from t", &[]).await.expect("a row");
    assert_eq!(row.get::<_, i32>(0), 1);
}

/// A write of a changed row fails at once, as in PostgreSQL, because the transaction could not commit.
#[tokio::test]
async fn a_row_that_was_changed_since_the_snapshot_is_not_written() {
    let server = Server::start();
    let (one, other) = (server.connect().await, server.connect().await);
    let setup = "create table t (a int primary key, b int unique); insert into t values (1, 1), (2, 2), (3, 3)";
    one.batch_execute(setup).await.expect("set up");
    for write in
        ["update t set b = b + 10 where a = 1", "delete from t where b < 5", "update t set b = 7 where a in (1, 3)"]
    {
        for begin in ["begin", "begin isolation level serializable"] {
            one.batch_execute(&format!("{begin}; select count(*) from t")).await.expect("a snapshot");
            other.batch_execute("update t set b = b where a = 1").await.expect("the other");
            one.batch_execute("savepoint s; update t set b = 20 where a = 2").await.expect("nobody changed that row");
            let error = one.batch_execute(write).await.expect_err("the row was changed");
            assert_eq!(state(&error), "40001", "{write}");
            let detail = error.as_db_error().and_then(|error| error.detail()).unwrap_or_default();
            assert!(detail.contains("\"t\"") && detail.contains("(a)=(1)"), "{detail}");
            one.batch_execute("rollback to s; update t set b = 30 where a = 3").await.expect("the rest");
            // At SERIALIZABLE the counted rows have changed, so COMMIT fails.
            assert_eq!(one.batch_execute("commit").await.is_ok(), begin == "begin", "{write}");
            other.batch_execute("update t set b = a where a > 1").await.expect("as it was");
        }
    }
    let begin = "begin isolation level read committed; select 1";
    one.batch_execute(begin).await.expect("a snapshot a statement");
    other.batch_execute("update t set b = b where a = 1").await.expect("the other");
    one.batch_execute("update t set b = 1 where a = 1; commit").await.expect("it sees the newest");
}

#[tokio::test]
async fn single_statements_that_conflict_are_run_again() {
    let server = Server::start();
    let setup = server.connect().await;
    setup
        .batch_execute("create table counter (a int primary key, n int8); insert into counter values (1, 0)")
        .await
        .expect("set up");
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let client = server.connect().await;
        tasks.push(tokio::spawn(async move {
            for _ in 0..25 {
                client.execute("update counter set n = n + 1 where a = 1", &[]).await.expect("retried by the server");
            }
        }));
    }
    for task in tasks {
        task.await.expect("a client");
    }
    let row = setup.query_one("select n from counter", &[]).await.expect("a row");
    assert_eq!(row.get::<_, i64>(0), 100);
}

#[tokio::test]
async fn savepoints_restore() {
    let server = Server::start();
    let client = server.connect().await;
    client
        .batch_execute(
            "create table t (a int primary key, b text);
             begin;
             insert into t values (1, 'one');
             savepoint s;
             insert into t values (2, 'two');
             update t set b = 'changed' where a = 1;
             rollback to s;
             insert into t values (3, 'three');
             release s;
             commit",
        )
        .await
        .expect("a block");
    let rows = client.query("select a, b from t order by a", &[]).await.expect("rows");
    let found: Vec<(i32, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(found, vec![(1, "one".into()), (3, "three".into())]);
}

#[tokio::test]
async fn a_failed_block_refuses_until_it_ends() {
    let server = Server::start();
    let client = server.connect().await;
    client.batch_execute("create table t (a int primary key)").await.expect("set up");
    client.batch_execute("begin").await.expect("begin");
    let error = client.batch_execute("select * from nowhere").await.expect_err("no such table");
    assert_eq!(state(&error), "42P01");
    let error = client.batch_execute("insert into t values (1)").await.expect_err("the block has failed");
    assert_eq!(state(&error), "25P02");
    client.batch_execute("commit").await.expect("COMMIT of a failed block is a ROLLBACK");
    let rows = client.query("select * from t", &[]).await.expect("rows");
    assert!(rows.is_empty());
}

#[tokio::test]
async fn constraints_name_themselves() {
    let server = Server::start();
    let client = server.connect().await;
    client
        .batch_execute(
            "create table t (a int primary key, b int not null, c int check (c > 0), d text unique);
             insert into t values (1, 1, 1, 'x')",
        )
        .await
        .expect("set up");
    for (sql, code, constraint) in [
        ("insert into t values (1, 1, 1, 'y')", "23505", Some("t_pkey")),
        ("insert into t values (2, 1, 1, 'x')", "23505", Some("t_d_key")),
        ("insert into t values (3, null, 1, 'z')", "23502", None),
        ("insert into t values (4, 1, 0, 'z')", "23514", Some("t_c_check")),
    ] {
        let error = client.batch_execute(sql).await.expect_err(sql);
        assert_eq!(state(&error), code, "{sql}");
        let fields = error.as_db_error().expect("fields");
        assert_eq!(fields.table(), Some("t"), "{sql}");
        assert_eq!(fields.constraint(), constraint, "{sql}");
    }
}

#[tokio::test]
async fn read_only_refuses_writes() {
    let server = Server::start();
    let client = server.connect().await;
    client.batch_execute("create table t (a int primary key); begin read only").await.expect("set up");
    let error = client.batch_execute("insert into t values (1)").await.expect_err("read only");
    assert_eq!(state(&error), "25006");
}

#[tokio::test]
async fn ddl_is_transactional() {
    let server = Server::start();
    let client = server.connect().await;
    client
        .batch_execute("begin; create table t (a int primary key); insert into t values (1); rollback")
        .await
        .expect("a block");
    let error = client.query("select * from t", &[]).await.expect_err("rolled back");
    assert_eq!(state(&error), "42P01");
    client
        .batch_execute("begin; create table t (a int primary key); insert into t values (1); commit")
        .await
        .expect("a block");
    assert_eq!(client.query("select * from t", &[]).await.expect("rows").len(), 1);
}
