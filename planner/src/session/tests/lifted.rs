//! Statements that differ only in their numbers share a plan and keep their own answers.

use super::*;

#[tokio::test]
async fn texts_that_differ_in_numbers_share_a_plan() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int2, c text)").await;
    c.run("INSERT INTO t VALUES (1, 10, 'x = 1'), (2, -20, NULL)").await;
    let mut statements = Vec::new();
    for (sql, b) in [("SELECT b FROM t WHERE a = 1", "10"), ("SELECT b FROM t WHERE a = 2;", "-20")] {
        let (prepared, values) = c.session.prepare_lifted(sql).await.unwrap();
        assert_eq!(prepared.statement().text.as_ref(), "SELECT b FROM t WHERE a = $1");
        assert_eq!(prepared.text().as_ref(), sql.trim_end_matches(';'));
        assert_eq!(c.run_prepared(&prepared, values, "").await.unwrap().rows, [[b]]);
        c.session.end_implicit().await.unwrap();
        statements.push(prepared.planned.lock().clone().unwrap());
    }
    assert!(Arc::ptr_eq(&statements[0], &statements[1]));
    assert_eq!(c.run("UPDATE t SET b = b + -5 WHERE a = 1").await.tag, "UPDATE 1");
    assert_eq!(c.run("SELECT a, b, c FROM t ORDER BY 1").await.rows, [["1", "5", "x = 1"], ["2", "-20", "NULL"]]);
    // A number too large for integer is a bigint: another plan, the same answer.
    assert_eq!(c.run("SELECT b FROM t WHERE a = 3000000000").await.rows.len(), 0);
    let error = c.try_run_with("UPDATE t SET b = b + 40000 WHERE a = 1", "").await.unwrap_err();
    assert_eq!(error.state(), "22003");
}

#[tokio::test]
async fn numbers_stay_where_somebody_asks_what_they_are() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int, c int)").await;
    c.run("INSERT INTO t SELECT i, i % 3, i % 5 FROM generate_series(1, 100) AS i").await;
    let grouped = "SELECT b + 1, count(*) FROM t GROUP BY b + 1 ORDER BY 1 LIMIT 1";
    assert_eq!(c.run(grouped).await.rows, [["1", "33"]]);
    assert!(c.session.prepare_lifted(grouped).await.is_none());
    c.session.end_implicit().await.unwrap();
    let asked = "SELECT count(*) FROM t WHERE b = 1";
    assert!(c.session.prepare_lifted(asked).await.is_some());
    c.session.end_implicit().await.unwrap();
    c.run("CREATE INDEX partial ON t (c) WHERE b = 1").await;
    assert!(c.session.prepare_lifted(asked).await.is_none(), "the index asks what b is");
    c.session.end_implicit().await.unwrap();
    let plan = c.run("EXPLAIN SELECT a FROM t WHERE c = 2 AND b = 1").await;
    assert!(plan.rows.iter().any(|row| row[0].contains("partial")), "{:?}", plan.rows);
    // The table does not exist yet.
    let early = "SELECT x FROM later WHERE x = 1";
    assert_eq!(c.try_run_with(early, "").await.unwrap_err().state(), "42P01");
    c.run("CREATE TABLE later (x int)").await;
    assert!(c.session.prepare_lifted(early).await.is_some());
}
