//! Cached plans: events that they outlive, events that invalidate them, and the view `percosql.plan_cache`.

use super::*;

/// The hits and misses of a query in the plan cache.
async fn uses(c: &mut Client, query: &str) -> (i64, i64) {
    let sql = format!("SELECT hits, misses FROM percosql.plan_cache WHERE query = '{query}'");
    let rows = c.run(&sql).await.rows;
    let [row] = rows.as_slice() else { panic!("{query}: {rows:?}") };
    (row[0].parse().unwrap(), row[1].parse().unwrap())
}

const QUERY: &str = "SELECT b FROM t ORDER BY a";

async fn answers(c: &mut Client, expected: &[&str]) {
    let rows = c.run(QUERY).await.rows;
    assert_eq!(rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), expected);
}

async fn one_table() -> Client {
    one_table_in(&database().await).await
}

async fn one_table_in(database: &Arc<Database>) -> Client {
    let mut c = connect(database).await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b int)").await;
    c.run("INSERT INTO t VALUES (1, 10), (2, 20)").await;
    answers(&mut c, &["10", "20"]).await;
    c
}

#[tokio::test]
async fn a_plan_outlives_definitions_that_are_not_its_business() {
    let database = database().await;
    let mut c = one_table_in(&database).await;
    let mut stranger = connect(&database).await;
    assert_eq!(uses(&mut c, QUERY).await, (0, 1));
    for other in [
        "CREATE TABLE other (x int PRIMARY KEY)",
        "CREATE TEMP TABLE passing (x int)",
        "CREATE INDEX ON other (x)",
        "COMMENT ON TABLE other IS 'not this one'",
        "CREATE VIEW v AS SELECT * FROM other",
        "CREATE SEQUENCE s",
        "DROP VIEW v",
        "DROP TABLE other",
    ] {
        stranger.run(other).await;
        answers(&mut c, &["10", "20"]).await;
    }
    assert_eq!(uses(&mut c, QUERY).await, (8, 1));
    let sizes =
        "SELECT idle_plans = 1 AND memory_bytes BETWEEN 1000 AND 100000 FROM percosql.plan_cache WHERE query = $$";
    assert_eq!(c.run(&format!("{sizes}{QUERY}$$")).await.rows, [["t"]]);
}

#[tokio::test]
async fn a_plan_ends_with_what_it_was_made_of() {
    let mut c = one_table().await;
    for (change, expected) in [
        ("ALTER TABLE t ADD COLUMN c int", ["10", "20"].as_slice()),
        ("CREATE INDEX ON t (b)", &["10", "20"]),
        ("CREATE TEMP TABLE t (a int, b int)", &[]),
        ("DROP TABLE pg_temp.t", &["10", "20"]),
        ("ALTER TABLE t RENAME COLUMN c TO d; ALTER TABLE t ALTER b TYPE int8 USING b + 1", &["11", "21"]),
        ("TRUNCATE t", &[]),
        ("ALTER TABLE t RENAME TO gone; CREATE VIEW t AS SELECT 5 AS a, 7 AS b", &["7"]),
        ("CREATE OR REPLACE VIEW t AS SELECT 5 AS a, 8 AS b", &["8"]),
        ("CREATE SCHEMA first; SET search_path = first, public", &["8"]),
        ("CREATE TABLE first.t AS SELECT 1 AS a, 9 AS b", &["9"]),
        ("DROP SCHEMA first CASCADE", &["8"]),
    ] {
        for statement in change.split("; ") {
            c.run(statement).await;
        }
        answers(&mut c, expected).await;
    }
    c.run("DROP VIEW t").await;
    let missing = c.try_run_with(QUERY, "").await.unwrap_err();
    assert_eq!(missing.state(), "42P01");
}

#[tokio::test]
async fn writers_hear_of_new_constraints_on_either_side() {
    let mut c = client().await;
    c.run("CREATE TABLE parent (a int PRIMARY KEY)").await;
    c.run("CREATE TABLE child (a int PRIMARY KEY, p int)").await;
    let (delete, insert) = ("DELETE FROM parent WHERE a > 0", "INSERT INTO child VALUES (2, 5)");
    for statement in
        [delete, insert, "DELETE FROM child", "INSERT INTO parent VALUES (1)", "INSERT INTO child VALUES (1, 1)"]
    {
        c.run(statement).await;
    }
    c.run("ALTER TABLE child ADD FOREIGN KEY (p) REFERENCES parent").await;
    for statement in [delete, insert] {
        assert_eq!(c.try_run_with(statement, "").await.unwrap_err().state(), "23503", "{statement}");
    }
    c.run("ALTER TABLE child DROP CONSTRAINT child_p_fkey").await;
    assert_eq!(c.run(delete).await.tag, "DELETE 1");
    assert_eq!(c.run(insert).await.tag, "INSERT 0 1");
}

#[tokio::test]
async fn what_was_asked_of_plans_that_are_gone_is_summed_up() {
    let mut c = one_table().await;
    answers(&mut c, &["10", "20"]).await;
    let gone = "SELECT hits, misses FROM percosql.plan_cache WHERE query IS NULL";
    let before = c.run(gone).await.rows;
    c.run("ALTER TABLE t ADD COLUMN c int").await;
    answers(&mut c, &["10", "20"]).await;
    assert_eq!(uses(&mut c, QUERY).await, (0, 1));
    let after = c.run(gone).await.rows;
    let number = |rows: &[Vec<String>], column: usize| rows[0][column].parse::<i64>().unwrap();
    assert!(number(&after, 0) > number(&before, 0) && number(&after, 1) > number(&before, 1), "{before:?} {after:?}");
}

#[tokio::test]
async fn others_may_not_read_what_was_asked() {
    let mut c = client().await;
    c.run("CREATE ROLE r").await;
    c.run("SET ROLE r").await;
    let refused = c.try_run_with("SELECT * FROM percosql.plan_cache", "").await.unwrap_err();
    assert_eq!(refused.state(), "42501");
}

#[tokio::test]
async fn a_plan_ends_with_how_its_constants_were_read() {
    let mut c = one_table().await;
    let query = "SELECT interval '-1 2:03:04' < interval '-1 day'";
    assert_eq!(c.rows(query).await, ["f"]);
    c.run("SET intervalstyle = sql_standard").await;
    assert_eq!(c.rows(query).await, ["t"]);
}

#[tokio::test]
async fn the_time_of_a_constant_is_that_of_its_transaction() {
    let mut c = one_table().await;
    for constant in ["$$now$$::timestamptz", "' NOW '::timestamptz", "E'no\\x77'::timestamptz", "timestamptz 'now'"] {
        let query = format!("SELECT {constant} = now()");
        assert_eq!(c.rows(&query).await, ["t"], "{constant}");
        assert_eq!(c.rows(&query).await, ["t"], "{constant}");
    }
    // A query that does not depend on the time of planning is cached, whatever its words.
    for query in ["SELECT 'Jan 1 2020'::date", "SELECT 'now' AS today", "SELECT now()", "SELECT time '10:00'"] {
        c.run(query).await;
        c.run(query).await;
        let sql = format!("SELECT hits FROM percosql.plan_cache WHERE query = $${query}$$");
        assert_eq!(c.rows(&sql).await, ["1"], "{query}");
    }
}

#[tokio::test]
async fn plans_of_long_texts_and_of_many_catalogs_are_not_kept() {
    let database = database().await;
    let mut c = one_table_in(&database).await;
    let long = format!("SELECT 1 AS long_one -- {}", "x".repeat(70_000));
    c.run(&long).await;
    // The statement is short, but it keeps the whole text around it alive.
    let beside = format!("SELECT 2 AS short_one; SELECT '{}'", "x".repeat(70_000));
    c.run(&beside).await;
    let kept = "SELECT count(*) FROM percosql.plan_cache WHERE query LIKE 'SELECT _ AS long%' OR query LIKE 'SELECT _ AS short%'";
    assert_eq!(c.rows(kept).await, ["0"]);
    for number in 0..80 {
        c.run(&format!("CREATE TABLE other{number} (a int)")).await;
        c.run(&format!("SELECT a FROM other{number}")).await;
    }
    let catalogs: std::collections::HashSet<u64> =
        database.plans().list().iter().map(|(_, planned)| planned.catalog().version()).collect();
    assert!((32..=64).contains(&catalogs.len()), "{}", catalogs.len());
}
