//! Blocks, savepoints, isolation.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn status_follows_the_block() {
    let mut c = client().await;
    assert_eq!(c.status(), TransactionStatus::Idle);
    assert_eq!(c.tag("BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE").await, "BEGIN");
    assert_eq!(c.status(), TransactionStatus::InBlock);
    assert_eq!(c.state("SELECT no_such_column").await, "42703");
    assert_eq!(c.status(), TransactionStatus::Failed);
    assert_eq!(c.state("SELECT 1").await, "25P02");
    assert_eq!(c.state("BEGIN").await, "25P02");
    assert_eq!(c.tag("COMMIT").await, "ROLLBACK");
    assert_eq!(c.status(), TransactionStatus::Idle);
    assert_eq!(c.tag("START TRANSACTION").await, "START TRANSACTION");
    assert_eq!(c.tag("END").await, "COMMIT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_outside_a_block_begins_with_its_statement() {
    let mut c = client().await;
    let both = "SELECT now() = statement_timestamp(), statement_timestamp() <= clock_timestamp()";
    assert_eq!(c.rows(both).await, ["t|t"]);
    let before = c.value("SELECT now()").await;
    c.run("SELECT pg_sleep(0.002)").await;
    assert_eq!(c.rows(both).await, ["t|t"]);
    assert_eq!(c.value(&format!("SELECT now() > '{before}'")).await, "t");
    c.run("BEGIN").await;
    let begun = c.value("SELECT now()").await;
    c.run("SELECT pg_sleep(0.002)").await;
    assert_eq!(c.rows("SELECT now() < statement_timestamp()").await, ["t"]);
    assert_eq!(c.value(&format!("SELECT now() = '{begun}'")).await, "t");
    c.run("COMMIT AND CHAIN").await;
    assert_eq!(c.value(&format!("SELECT now() > '{begun}'")).await, "t");
    c.run("COMMIT").await;
    assert_eq!(c.rows(both).await, ["t|t"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_without_a_block_warn() {
    let mut c = client().await;
    assert_eq!(c.tag("COMMIT").await, "COMMIT");
    assert_eq!(c.tag("ABORT").await, "ROLLBACK");
    assert_eq!(c.notices(), ["25P01 there is no transaction in progress", "25P01 there is no transaction in progress"]);
    c.run("BEGIN").await;
    c.run("BEGIN").await;
    assert_eq!(c.notices(), ["25001 there is already a transaction in progress"]);
    c.run("ROLLBACK").await;
    assert_eq!(c.state("SAVEPOINT a").await, "25P01");
    assert_eq!(c.state("COMMIT AND CHAIN").await, "25P01");
}

#[tokio::test(flavor = "multi_thread")]
async fn savepoints_nest_and_hide_each_other() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY)").await;
    c.run(
        "BEGIN; INSERT INTO t VALUES (1); SAVEPOINT s; INSERT INTO t VALUES (2); SAVEPOINT s; INSERT INTO t VALUES (3)",
    )
    .await;
    c.run("ROLLBACK TO s").await;
    assert_eq!(c.rows("SELECT a FROM t ORDER BY a").await, ["1", "2"]);
    c.run("INSERT INTO t VALUES (4); ROLLBACK TO s").await;
    assert_eq!(c.rows("SELECT a FROM t ORDER BY a").await, ["1", "2"]);
    c.run("RELEASE s; ROLLBACK TO s").await;
    assert_eq!(c.rows("SELECT a FROM t ORDER BY a").await, ["1"]);
    c.run("RELEASE s").await;
    assert_eq!(c.state("ROLLBACK TO s").await, "3B001");
    assert_eq!(c.tag("COMMIT").await, "ROLLBACK");
    assert_eq!(c.rows("SELECT a FROM t").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn rollback_to_heals_a_failed_block() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY); BEGIN; INSERT INTO t VALUES (1); SAVEPOINT s").await;
    assert_eq!(c.state("INSERT INTO t VALUES (2), (1)").await, "23505");
    assert_eq!(c.status(), TransactionStatus::Failed);
    assert_eq!(c.state("RELEASE s").await, "25P02");
    assert_eq!(c.tag("ROLLBACK TO SAVEPOINT s").await, "ROLLBACK");
    assert_eq!(c.status(), TransactionStatus::InBlock);
    c.run("INSERT INTO t VALUES (3); COMMIT").await;
    assert_eq!(c.rows("SELECT a FROM t ORDER BY a").await, ["1", "3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_of_one_string_are_one_transaction() {
    let database = database().await;
    let (mut c, mut other) = (connect(&database).await, connect(&database).await);
    c.run("CREATE TABLE t (a int PRIMARY KEY)").await;
    assert_eq!(c.state("INSERT INTO t VALUES (1); SELECT 1 / 0").await, "22012");
    assert_eq!(c.rows("SELECT a FROM t").await, Vec::<String>::new());
    // BEGIN takes earlier statements of the text into the block.
    c.run("INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)").await;
    assert_eq!(c.status(), TransactionStatus::InBlock);
    assert_eq!(other.rows("SELECT a FROM t").await, Vec::<String>::new());
    c.run("ROLLBACK").await;
    assert_eq!(c.rows("SELECT a FROM t").await, Vec::<String>::new());
    c.run("INSERT INTO t VALUES (1); COMMIT; INSERT INTO t VALUES (2)").await;
    assert_eq!(c.notices(), ["25P01 there is no transaction in progress"]);
    assert_eq!(other.rows("SELECT a FROM t ORDER BY a").await, ["1", "2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_of_two_commits_conflicts() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0)").await;
    a.run("BEGIN; UPDATE t SET v = v + 1 WHERE id = 1").await;
    b.run("BEGIN; UPDATE t SET v = v + 10 WHERE id = 1").await;
    assert_eq!(a.tag("COMMIT").await, "COMMIT");
    let error = b.error("COMMIT").await;
    assert_eq!(error.state(), "40001");
    assert!(error.is_retryable());
    assert_eq!(
        error.fields().detail.as_deref(),
        Some("Key (id)=(1) of table \"t\" was changed by another transaction.")
    );
    assert!(error.fields().hint.is_some());
    assert_eq!(error.fields().table.as_deref(), Some("t"));
    assert_eq!(b.status(), TransactionStatus::Idle);
    assert_eq!(b.rows("SELECT v FROM t ORDER BY id").await, ["1", "0"]);
    // Different rows do not conflict.
    a.run("BEGIN; UPDATE t SET v = 5 WHERE id = 1").await;
    b.run("UPDATE t SET v = 6 WHERE id = 2").await;
    a.run("COMMIT").await;
    assert_eq!(b.rows("SELECT v FROM t ORDER BY id").await, ["5", "6"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_implicit_transaction_conflicts_at_its_end() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)").await;
    let statement = a.session.parse("UPDATE t SET v = v + 1").unwrap().remove(0);
    let prepared = a.session.prepare(statement, &[]).await.unwrap();
    a.session.execute(&prepared, Vec::new()).await.map(|_| ()).unwrap();
    b.run("UPDATE t SET v = 7").await;
    assert_eq!(a.session.end_implicit().await.unwrap_err().state(), "40001");
    a.session.execute(&prepared, Vec::new()).await.map(|_| ()).unwrap();
    a.session.end_implicit().await.unwrap();
    assert_eq!(b.value("SELECT v FROM t").await, "8");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_is_taken_at_the_first_statement() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("CREATE TABLE t (id int PRIMARY KEY)").await;
    a.run("BEGIN").await;
    b.run("INSERT INTO t VALUES (1)").await;
    assert_eq!(a.rows("SELECT id FROM t").await, ["1"]);
    b.run("INSERT INTO t VALUES (2)").await;
    assert_eq!(a.rows("SELECT id FROM t").await, ["1"]);
    a.run("COMMIT").await;
    assert_eq!(a.rows("SELECT id FROM t ORDER BY id").await, ["1", "2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_refuses_writes() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1)").await;
    for sql in [
        "INSERT INTO t VALUES (2)",
        "UPDATE t SET a = 2",
        "DELETE FROM t",
        "CREATE TABLE u (a int)",
        "COPY t FROM STDIN",
        "SELECT * FROM t FOR UPDATE",
        "TRUNCATE t",
    ] {
        c.run("BEGIN READ ONLY").await;
        assert_eq!(c.state(sql).await, "25006", "{sql}");
        c.run("ROLLBACK").await;
    }
    c.run("SET default_transaction_read_only = on").await;
    assert_eq!(c.error("DELETE FROM t").await.fields().message, "cannot execute DELETE in a read-only transaction");
    c.run("BEGIN READ WRITE; DELETE FROM t; COMMIT").await;
    c.run("BEGIN; SET TRANSACTION READ WRITE; INSERT INTO t VALUES (9); COMMIT").await;
    assert_eq!(c.rows("SELECT a FROM t").await, ["9"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn isolation_levels() {
    let database = database().await;
    // Row locks exist only if one process holds all locks.
    let here = database.transactions().can_lock_rows();
    let mut c = connect(&database).await;
    assert_eq!(c.value("SHOW transaction_isolation").await, "repeatable read");
    c.run("BEGIN ISOLATION LEVEL SERIALIZABLE; COMMIT AND CHAIN").await;
    assert_eq!(c.value("SHOW transaction_isolation").await, "serializable");
    c.run("ROLLBACK").await;
    assert_eq!(c.status(), TransactionStatus::Idle);
    c.run("BEGIN ISOLATION LEVEL READ COMMITTED").await;
    assert_eq!(c.notices().len(), usize::from(!here));
    assert_eq!(c.value("SHOW TRANSACTION ISOLATION LEVEL").await, "read committed");
    c.run("COMMIT; BEGIN ISOLATION LEVEL READ COMMITTED; COMMIT").await;
    assert_eq!(c.notices(), Vec::<String>::new());
    c.run("BEGIN; SELECT 1").await;
    assert_eq!(c.state("SET TRANSACTION ISOLATION LEVEL READ COMMITTED").await, "25001");
    c.run("ROLLBACK").await;
}

/// Reads made while the transaction may write are validated, however it was declared.
#[tokio::test(flavor = "multi_thread")]
async fn serializable_transactions_validate_what_they_read() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("CREATE TABLE t (a int PRIMARY KEY, b int); INSERT INTO t VALUES (1, 1), (2, 2)").await;
    for begin in [
        "BEGIN ISOLATION LEVEL SERIALIZABLE",
        "BEGIN; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY; SET TRANSACTION READ WRITE",
        "BEGIN READ ONLY; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE",
    ] {
        a.run(begin).await;
        a.run("SELECT b FROM t WHERE a = 1; UPDATE t SET b = 0 WHERE a = 2").await;
        b.run("UPDATE t SET b = b + 1 WHERE a = 1").await;
        let error = a.error("COMMIT").await;
        assert_eq!(error.state(), "40001", "{begin}");
        assert_eq!(error.fields().table.as_deref(), Some("t"), "{begin}");
    }
    // A read-only transaction is not refused, however it was declared.
    for begin in ["BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE", "BEGIN ISOLATION LEVEL SERIALIZABLE"] {
        a.run(begin).await;
        a.run("SELECT b FROM t").await;
        b.run("UPDATE t SET b = b + 1 WHERE a = 1").await;
        a.run("SELECT b FROM t; COMMIT").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn data_definition_is_transactional() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("BEGIN; CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1)").await;
    assert_eq!(a.rows("SELECT a FROM t").await, ["1"]);
    assert_eq!(b.state("SELECT a FROM t").await, "42P01");
    a.run("ROLLBACK").await;
    assert_eq!(a.state("SELECT a FROM t").await, "42P01");
    a.run("BEGIN; CREATE TABLE t (a int PRIMARY KEY); SAVEPOINT s; DROP TABLE t; ROLLBACK TO s").await;
    a.run("INSERT INTO t VALUES (1); COMMIT").await;
    assert_eq!(b.rows("SELECT a FROM t").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_conflicts_with_a_changed_table() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("CREATE TABLE t (a int PRIMARY KEY)").await;
    a.run("BEGIN; SELECT a FROM t").await;
    b.run("ALTER TABLE t ADD COLUMN b int").await;
    a.run("INSERT INTO t VALUES (1)").await;
    let error = a.error("COMMIT").await;
    assert_eq!(error.state(), "40001");
    assert!(error.fields().detail.as_deref().unwrap().contains("\"t\""), "{:?}", error.fields());
}

#[tokio::test(flavor = "multi_thread")]
async fn chained_blocks_keep_their_modes() {
    let mut c = client().await;
    c.run("BEGIN READ ONLY").await;
    assert_eq!(c.tag("COMMIT AND CHAIN").await, "COMMIT");
    assert_eq!(c.status(), TransactionStatus::InBlock);
    assert_eq!(c.value("SHOW transaction_read_only").await, "on");
    c.run("ROLLBACK").await;
    assert_eq!(c.value("SHOW transaction_read_only").await, "off");
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_live_as_long_as_their_transaction_unless_held() {
    let mut client = client().await;
    client.run("create table t(a int)").await;
    client.run("insert into t values (1), (2), (3)").await;
    client.run("begin").await;
    client.run("declare c cursor for select a from t order by a").await;
    client.run("declare h cursor with hold for select a from t order by a").await;
    assert_eq!(client.rows("fetch 2 from c").await, ["1", "2"]);
    client.run("savepoint s").await;
    client.run("declare late cursor for select 1").await;
    client.run("rollback to s").await;
    assert_eq!(client.rows("select name from pg_cursors order by 1").await, ["c", "h"]);
    client.run("commit").await;
    assert_eq!(client.rows("select name from pg_cursors order by 1").await, ["h"]);
    assert_eq!(client.rows("fetch all from h").await, ["1", "2", "3"]);
    // A transaction that does not commit leaves no cursor.
    client.run("begin").await;
    client.run("declare k cursor with hold for select 1").await;
    client.run("rollback").await;
    assert_eq!(client.state("fetch k").await, "34000");
    // A text of several statements is a block of its own.
    assert_eq!(client.rows("declare x cursor for select 7; fetch x").await, ["7"]);
    assert_eq!(client.state("fetch x").await, "34000");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_of_a_transaction_can_be_asked_for() {
    let database = database().await;
    let (mut c, mut other) = (connect(&database).await, connect(&database).await);
    c.run("CREATE TABLE t (a int PRIMARY KEY)").await;
    for (end, status, rows) in [("COMMIT", "committed", "1"), ("ROLLBACK", "aborted", "1")] {
        c.run("BEGIN").await;
        let id = c.value("SELECT pg_current_xact_id()").await;
        c.run("INSERT INTO t SELECT count(*) FROM t").await;
        let ask = format!("SELECT pg_xact_status('{id}')");
        assert_eq!(c.value(&ask).await, "in progress");
        assert_eq!(other.value(&ask).await, "in progress");
        c.run(end).await;
        assert_eq!(c.value(&ask).await, status);
        assert_eq!(other.value(&ask).await, status);
        assert_eq!(other.value("SELECT count(*) FROM t").await, rows);
    }
    assert_eq!(c.state("SELECT pg_xact_status('9223372036854775807')").await, "22023");
    assert_eq!(c.state("SELECT pg_xact_status('-1')").await, "22023");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_table_keeps_its_definition() {
    let database = database().await;
    let (mut c, mut other) = (connect(&database).await, connect(&database).await);
    c.run("CREATE TABLE t (a int PRIMARY KEY); CREATE VIEW v AS SELECT a FROM t; CREATE SEQUENCE s").await;
    assert_eq!(c.state("LOCK TABLE t IN ACCESS SHARE MODE").await, "25P01");
    c.run("BEGIN").await;
    assert_eq!(c.tag("LOCK TABLE ONLY public.t IN ACCESS SHARE MODE").await, "LOCK TABLE");
    other.run("INSERT INTO t VALUES (1); SET lock_timeout = '50ms'").await;
    assert_eq!(other.state("ALTER TABLE t ADD b int").await, "55P03");
    c.run("COMMIT").await;
    other.run("BEGIN; ALTER TABLE t ADD b int").await;
    c.run("BEGIN").await;
    assert_eq!(c.state("LOCK TABLE t IN ROW SHARE MODE NOWAIT").await, "55P03");
    c.run("ROLLBACK").await;
    other.run("COMMIT").await;
    for (statement, state) in
        [("LOCK TABLE missing IN ACCESS SHARE MODE", "42P01"), ("LOCK TABLE s IN ACCESS SHARE MODE", "42809")]
    {
        c.run("BEGIN").await;
        assert_eq!(c.state(statement).await, state, "{statement}");
        c.run("ROLLBACK").await;
    }
    if !database.transactions().can_lock_rows() {
        for statement in ["LOCK TABLE t", "LOCK TABLE t IN EXCLUSIVE MODE"] {
            c.run("BEGIN").await;
            assert_eq!(c.state(statement).await, "0A000", "{statement}");
            c.run("ROLLBACK").await;
        }
        return;
    }
    c.run("BEGIN; LOCK TABLE t IN SHARE MODE").await;
    assert_eq!(other.state("INSERT INTO t VALUES (2)").await, "55P03");
    other.run("SELECT a FROM t; BEGIN; LOCK TABLE t IN SHARE MODE; COMMIT").await;
    c.run("COMMIT").await;
    other.run("INSERT INTO t VALUES (2)").await;
    // A view is locked with the relations of its query.
    c.run("CREATE VIEW w AS SELECT 1 WHERE EXISTS (SELECT FROM v)").await;
    c.run("BEGIN; LOCK TABLE w IN SHARE MODE").await;
    assert_eq!(other.state("INSERT INTO t VALUES (3)").await, "55P03");
    assert_eq!(other.state("DROP VIEW w").await, "55P03");
    c.run("COMMIT").await;
    other.run("INSERT INTO t VALUES (3); DROP VIEW w").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_snapshot_shows_its_own_definitions() {
    let database = database().await;
    let (mut one, mut other) = (connect(&database).await, connect(&database).await);
    for round in 0..3 {
        one.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1").await;
        other.run(&format!("CREATE TABLE t{round} (a int PRIMARY KEY)")).await;
        let select = format!("SELECT count(*) FROM t{round}");
        // The server knows the newer catalog by now. The older snapshot still gets the older one, each time.
        for _ in 0..2 {
            assert_eq!(other.rows(&select).await, ["0"]);
            one.run("SAVEPOINT s").await;
            assert_eq!(one.state(&select).await, "42P01");
            one.run("ROLLBACK TO s").await;
        }
        one.run("COMMIT").await;
        assert_eq!(one.rows(&select).await, ["0"]);

        // A transaction sees its own definitions. Others do not, and a savepoint undoes them.
        let select = format!("SELECT count(*) FROM u{round}");
        one.run(&format!("BEGIN; SELECT 1; SAVEPOINT s; CREATE TABLE u{round} (a int PRIMARY KEY)")).await;
        assert_eq!(one.rows(&select).await, ["0"]);
        assert_eq!(other.state(&select).await, "42P01");
        assert_eq!(other.rows("SELECT 1").await, ["1"]);
        one.run("ROLLBACK TO s").await;
        assert_eq!(one.state(&select).await, "42P01");
        one.run("ROLLBACK").await;
        one.run(&format!("ALTER TABLE t{round} ADD COLUMN b int DEFAULT 7; INSERT INTO t{round} VALUES (1)")).await;
        assert_eq!(other.rows(&format!("SELECT b FROM t{round}")).await, ["7"]);
        other.run(&format!("DROP TABLE t{round}")).await;
        assert_eq!(one.state(&format!("SELECT count(*) FROM t{round}")).await, "42P01");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_not_lost_to_one_that_did_not_see_it() {
    let database = database().await;
    let (mut c, mut other) = (connect(&database).await, connect(&database).await);
    c.run("CREATE ROLE r").await;
    c.run("BEGIN ISOLATION LEVEL READ COMMITTED; ALTER ROLE r CREATEDB").await;
    let waiting = tokio::spawn(async move { other.run("ALTER ROLE r CREATEROLE").await });
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(!waiting.is_finished());
    c.run("SELECT 1; COMMIT").await;
    waiting.await.unwrap();
    let says = "SELECT rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = 'r'";
    assert_eq!(c.run(says).await.rows, [["t", "t"]]);
}
