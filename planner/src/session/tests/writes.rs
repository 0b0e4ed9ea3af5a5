//! INSERT, UPDATE, DELETE, ON CONFLICT, constraints, locks.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_path() {
    let mut c = client().await;
    assert_eq!(
        c.tag("CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL, c numeric(10,2) DEFAULT 1.5)").await,
        "CREATE TABLE"
    );
    assert_eq!(c.tag("INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')").await, "INSERT 0 2");
    assert_eq!(c.rows("SELECT a, b, c FROM t ORDER BY a").await, ["1|x|1.50", "2|y|1.50"]);
    assert_eq!(c.tag("UPDATE t SET c = c + a WHERE a > 1").await, "UPDATE 1");
    assert_eq!(c.rows("SELECT c FROM t WHERE a = 2").await, ["3.50"]);
    assert_eq!(c.rows("DELETE FROM t WHERE b = 'x' RETURNING a, b").await, ["1|x"]);
    assert_eq!(c.tag("DELETE FROM t").await, "DELETE 1");
    assert_eq!(c.value("SELECT count(*) FROM t").await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn keywords_are_values() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b timestamptz DEFAULT CURRENT_TIMESTAMP, c text DEFAULT current_user)")
        .await;
    c.run("BEGIN; INSERT INTO t (a) VALUES (1)").await;
    assert_eq!(
        c.rows("SELECT b = now(), c, current_schema, session_user FROM t").await,
        ["t|postgres|public|postgres"]
    );
    assert_eq!(c.value("SELECT current_date = now()::date").await, "t");
    c.run("UPDATE t SET b = CURRENT_TIMESTAMP WHERE a = 1; COMMIT").await;
    assert_eq!(c.rows("CHECK TABLE t").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn violations_name_what_was_violated() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL, c int CHECK (c > 0), d int UNIQUE)").await;
    c.run("INSERT INTO t VALUES (1, 'x', 1, 1)").await;
    let error = c.error("INSERT INTO t VALUES (2, 'y', 1, 2), (1, 'z', 1, 3)").await;
    let fields = error.fields();
    assert_eq!(fields.state, "23505");
    assert_eq!(fields.message, "duplicate key value violates unique constraint \"t_pkey\"");
    assert_eq!(fields.detail.as_deref(), Some("Key (a)=(1) already exists."));
    assert_eq!((fields.table.as_deref(), fields.constraint.as_deref()), (Some("t"), Some("t_pkey")));
    let error = c.error("INSERT INTO t VALUES (2, 'y', 1, 1)").await;
    assert_eq!(error.fields().constraint.as_deref(), Some("t_d_key"));
    assert_eq!(error.fields().detail.as_deref(), Some("Key (d)=(1) already exists."));
    assert_eq!(c.state("INSERT INTO t VALUES (5, 'y', 1, 9), (5, 'y', 1, 10)").await, "23505");
    let error = c.error("INSERT INTO t VALUES (2, NULL, 1, 2)").await;
    assert_eq!(error.state(), "23502");
    assert_eq!(error.fields().column.as_deref(), Some("b"));
    assert_eq!(error.fields().detail.as_deref(), Some("Failing row contains (2, null, 1, 2)."));
    let error = c.error("INSERT INTO t VALUES (2, 'y', 0, 2)").await;
    assert_eq!((error.state(), error.fields().constraint.as_deref()), ("23514", Some("t_c_check")));
    assert_eq!(c.state("UPDATE t SET c = -1").await, "23514");
    assert_eq!(c.state("UPDATE t SET b = NULL").await, "23502");
    // NULL passes a check and is distinct from NULL.
    c.run("INSERT INTO t VALUES (2, 'y', NULL, NULL), (3, 'y', NULL, NULL)").await;
    assert_eq!(c.value("SELECT count(*) FROM t").await, "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_does_not_see_its_own_rows() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)").await;
    assert_eq!(c.tag("INSERT INTO t SELECT a + 10 FROM t").await, "INSERT 0 3");
    c.run("BEGIN; INSERT INTO t SELECT a + 100 FROM t; INSERT INTO t SELECT a + 1000 FROM t").await;
    assert_eq!(c.value("SELECT count(*) FROM t").await, "24");
    assert_eq!(c.tag("UPDATE t SET a = a + 5").await, "UPDATE 24");
    c.run("COMMIT").await;
    assert_eq!(c.value("SELECT count(*) FROM t").await, "24");
    // An update scans the index that it changes.
    c.run("CREATE TABLE u (a int PRIMARY KEY, b int); CREATE INDEX ON u (b); INSERT INTO u SELECT a, a FROM t").await;
    assert_eq!(c.tag("UPDATE u SET b = b + 1 WHERE b > 0").await, "UPDATE 24");
    assert_eq!(c.value("SELECT sum(b - a) FROM u").await, "24");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_trade_unique_keys() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE, c int)").await;
    c.run("CREATE INDEX t_c ON t (c); INSERT INTO t VALUES (1, 10, 5), (2, 20, 5), (3, 30, 5)").await;
    assert_eq!(c.tag("UPDATE t SET a = a + 1").await, "UPDATE 3");
    assert_eq!(c.rows("SELECT a, b FROM t ORDER BY a").await, ["2|10", "3|20", "4|30"]);
    c.run("UPDATE t SET b = CASE b WHEN 10 THEN 20 WHEN 20 THEN 10 ELSE b END").await;
    assert_eq!(c.rows("SELECT a FROM t WHERE b = 10").await, ["3"]);
    assert_eq!(c.rows("SELECT a FROM t WHERE b = 20").await, ["2"]);
    c.run("UPDATE t SET a = 5 - a WHERE a IN (2, 3)").await;
    assert_eq!(c.rows("SELECT a, b FROM t WHERE c = 5 ORDER BY a").await, ["2|10", "3|20", "4|30"]);
    assert_eq!(c.state("UPDATE t SET b = 10").await, "23505");
    assert_eq!(c.state("UPDATE t SET a = 4 WHERE a = 2").await, "23505");
    assert_eq!(c.rows("SELECT a, b FROM t ORDER BY a").await, ["2|10", "3|20", "4|30"]);
    // A transaction releases a key and takes it again.
    c.run("BEGIN; DELETE FROM t WHERE a = 4; INSERT INTO t VALUES (4, 30, 1); COMMIT").await;
    assert_eq!(c.rows("SELECT a, b, c FROM t WHERE b = 30").await, ["4|30|1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_rows_trade_keys_across_batches() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE)").await;
    c.run("INSERT INTO t SELECT i, i FROM generate_series(1, 20000) AS g(i)").await;
    assert_eq!(c.tag("UPDATE t SET a = a + 1, b = 20001 - b").await, "UPDATE 20000");
    assert_eq!(c.rows("SELECT count(*), min(a), max(a), min(b), max(b) FROM t").await, ["20000|2|20001|1|20000"]);
    assert_eq!(c.rows("SELECT a FROM t WHERE b = 20000").await, ["2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_conflict() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE, n int DEFAULT 0); INSERT INTO t VALUES (1, 10), (2, 20)")
        .await;
    assert_eq!(c.tag("INSERT INTO t VALUES (1, 11), (3, 30), (3, 31) ON CONFLICT DO NOTHING").await, "INSERT 0 1");
    assert_eq!(c.tag("INSERT INTO t VALUES (4, 10) ON CONFLICT DO NOTHING").await, "INSERT 0 0");
    assert_eq!(c.state("INSERT INTO t VALUES (4, 10) ON CONFLICT (a) DO NOTHING").await, "23505");
    let sql = "INSERT INTO t VALUES (1, 99, 5), (5, 50, 5) ON CONFLICT (a) DO UPDATE SET n = t.n + excluded.n RETURNING a, b, n";
    assert_eq!(c.rows(sql).await, ["1|10|5", "5|50|5"]);
    let sql = "INSERT INTO t VALUES (9, 20, 7) ON CONFLICT (b) DO UPDATE SET n = excluded.n, b = 21";
    assert_eq!(c.tag(sql).await, "INSERT 0 1");
    assert_eq!(c.rows("SELECT a, b, n FROM t WHERE b = 21").await, ["2|21|7"]);
    let sql = "INSERT INTO t VALUES (1, 0, 0) ON CONFLICT (a) DO UPDATE SET n = 1 WHERE t.n > 100";
    assert_eq!(c.tag(sql).await, "INSERT 0 0");
    let sql = "INSERT INTO t VALUES (7, 70), (7, 71) ON CONFLICT (a) DO UPDATE SET n = 1";
    assert_eq!(c.state(sql).await, "21000");
    let sql = "INSERT INTO t VALUES (1, 70), (1, 71) ON CONFLICT (a) DO UPDATE SET n = 1";
    assert_eq!(c.state(sql).await, "21000");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_found_twice_is_written_once() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int); CREATE TABLE u (a int, x int)").await;
    c.run("INSERT INTO t VALUES (1, 0), (2, 0); INSERT INTO u VALUES (1, 5), (1, 5), (2, 7)").await;
    assert_eq!(c.tag("UPDATE t SET b = u.x FROM u WHERE u.a = t.a").await, "UPDATE 2");
    assert_eq!(c.rows("SELECT a, b FROM t ORDER BY a").await, ["1|5", "2|7"]);
    assert_eq!(c.tag("DELETE FROM t USING u WHERE u.a = t.a").await, "DELETE 2");
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_without_primary_key_keep_equal_rows() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int, b text); CREATE INDEX ON t (a)").await;
    c.run("INSERT INTO t VALUES (1, 'x'), (1, 'x'); INSERT INTO t VALUES (1, 'x')").await;
    assert_eq!(c.value("SELECT count(*) FROM t WHERE a = 1").await, "3");
    assert_eq!(c.tag("UPDATE t SET a = 2").await, "UPDATE 3");
    assert_eq!(c.value("SELECT count(*) FROM t WHERE a = 2").await, "3");
    assert_eq!(c.tag("DELETE FROM t WHERE a = 2").await, "DELETE 3");
}

#[tokio::test(flavor = "multi_thread")]
async fn locked_rows_conflict_with_their_writers() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("CREATE TABLE t (a int PRIMARY KEY, b int); INSERT INTO t VALUES (1, 0), (2, 0)").await;
    a.run("BEGIN; SELECT * FROM t WHERE a = 1 FOR UPDATE").await;
    if database.transactions().can_lock_rows() {
        b.run("SET lock_timeout = '50ms'").await;
        assert_eq!(b.state("UPDATE t SET b = 1 WHERE a = 1").await, "55P03");
        assert_eq!(b.state("SELECT * FROM t FOR SHARE NOWAIT").await, "55P03");
        assert_eq!(b.rows("SELECT a FROM t FOR UPDATE SKIP LOCKED").await, ["2"]);
        a.run("COMMIT").await;
        b.run("UPDATE t SET b = 1 WHERE a = 1").await;
    } else {
        b.run("UPDATE t SET b = 1 WHERE a = 1").await;
        assert_eq!(a.state("COMMIT").await, "40001");
        assert_eq!(b.state("SELECT * FROM t FOR SHARE NOWAIT").await, "0A000");
        assert_eq!(b.state("SELECT * FROM t FOR SHARE SKIP LOCKED").await, "0A000");
    }
    a.run("BEGIN; SELECT * FROM t WHERE a = 1 FOR UPDATE").await;
    b.run("UPDATE t SET b = 1 WHERE a = 2").await;
    a.run("COMMIT").await;
    // Shared locks of one row do not conflict.
    a.run("BEGIN; SELECT * FROM t WHERE a = 1 FOR SHARE").await;
    b.run("BEGIN; SELECT * FROM t WHERE a = 1 FOR SHARE; COMMIT").await;
    a.run("COMMIT").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_inserts_of_one_key_conflict() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE)").await;
    a.run("BEGIN; INSERT INTO t VALUES (1, 1)").await;
    b.run("INSERT INTO t VALUES (2, 1)").await;
    let error = a.error("COMMIT").await;
    assert_eq!(error.state(), "40001");
    assert_eq!(
        error.fields().detail.as_deref(),
        Some("Key (b)=(1) of table \"t\" was changed by another transaction.")
    );
    assert_eq!(a.state("INSERT INTO t VALUES (1, 1)").await, "23505");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_write_runs_again_and_again() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int)").await;
    let statement = c.session.parse("INSERT INTO t VALUES ($1, $2)").unwrap().remove(0);
    let prepared = c.session.prepare(statement, &[]).await.unwrap();
    assert_eq!(prepared.parameter_types(), [SqlType::INT4, SqlType::INT4]);
    for number in 0..10 {
        let values = vec![Datum::Int32(Some(number)), Datum::Int32(Some(number * 2))];
        assert_eq!(c.run_prepared(&prepared, values, "").await.unwrap().tag, "INSERT 0 1");
        c.session.end_implicit().await.unwrap();
    }
    assert_eq!(c.rows("SELECT count(*), sum(b) FROM t").await, ["10|90"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_default_of_now_is_the_time_of_its_making() {
    let mut c = client().await;
    c.run("SET timezone = 'Asia/Kolkata'").await;
    c.run("CREATE TABLE t (i int, at timestamptz DEFAULT 'now', plain timestamp DEFAULT 'now'::timestamp, d date)")
        .await;
    c.run("ALTER TABLE t ALTER d SET DEFAULT 'tomorrow'").await;
    c.run("INSERT INTO t VALUES (1)").await;
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    c.run("SET timezone = 'UTC'").await;
    c.run("INSERT INTO t VALUES (2)").await;
    c.try_run_with("COPY t (i) FROM STDIN", "3\n").await.unwrap();
    assert_eq!(c.rows("SELECT count(DISTINCT (at, plain, d)) FROM t WHERE at < now()").await, ["1"]);
    assert_eq!(c.rows("SELECT bool_and(at AT TIME ZONE 'Asia/Kolkata' = plain) FROM t").await, ["t"]);
    // Kolkata is ahead of UTC, so d is UTC's tomorrow or the day after it.
    for kept in [
        "ALTER TABLE t ADD CHECK (d >= 'tomorrow')",
        "ALTER TABLE t ALTER at SET DEFAULT 'now'::timestamptz + '1 day'",
        "CREATE INDEX ON t ((d < 'today'))",
        "CREATE INDEX ON t (i) WHERE d > 'yesterday'",
        "CREATE VIEW v AS SELECT 'now'::timestamptz AS at, 'now'::text::timestamptz AS later",
    ] {
        c.run(kept).await;
    }
    let seen = c.rows("SELECT at FROM v").await;
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    assert_eq!(c.rows("SELECT at FROM v").await, seen);
    assert_eq!(c.rows("SELECT at < later FROM v").await, ["t"]);
    let texts = "SELECT count(*) FROM (SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
        UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index UNION ALL SELECT pg_get_viewdef('v')) s
        WHERE text ~ '(today|tomorrow|yesterday)'";
    assert_eq!(c.rows(texts).await, ["0"]);
    c.run("ALTER TABLE t ALTER at SET DEFAULT now(); ALTER TABLE t ADD CHECK (d > '2020-01-01')").await;
}
