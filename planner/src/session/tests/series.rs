//! `generate_series`: rows, repeated plans, memory.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_series() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b text)").await;
    c.run("INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, 'z')").await;
    for (sql, expected) in [
        ("SELECT * FROM generate_series(1, 3)", &["1", "2", "3"][..]),
        ("SELECT * FROM generate_series(3, 1)", &[]),
        ("SELECT * FROM generate_series(10, 1, -4) s(n)", &["10", "6", "2"]),
        ("SELECT * FROM generate_series(1, NULL)", &[]),
        ("SELECT * FROM generate_series(NULL, 1, 0)", &[]),
        ("SELECT g FROM generate_series(2147483646, 2147483647) g", &["2147483646", "2147483647"]),
        ("SELECT g FROM generate_series(9223372036854775806, 9223372036854775807, 5) g", &["9223372036854775806"]),
        ("SELECT pg_typeof(g)::text FROM generate_series(1, 1) g", &["integer"]),
        ("SELECT pg_typeof(g)::text FROM generate_series(1::bigint, 1) g", &["bigint"]),
        ("SELECT g FROM generate_series(1, (SELECT max(a) FROM t)) g", &["1", "2", "3"]),
        ("SELECT a, g FROM t, generate_series(2, a) g ORDER BY 1, 2", &["2|2", "3|2", "3|3"]),
        ("SELECT b, g FROM t, generate_series(a, 2) g ORDER BY a, g", &["x|1", "x|2", "NULL|2"]),
        ("SELECT g FROM t, generate_series(1, a) g WHERE g > 1 ORDER BY g", &["2", "2", "3"]),
        ("SELECT count(*) FROM t, generate_series(1, a) g", &["6"]),
        ("SELECT a, (SELECT sum(g) FROM generate_series(1, t.a) g) FROM t ORDER BY a", &["1|1", "2|3", "3|6"]),
        ("SELECT t.a FROM t WHERE EXISTS (SELECT 1 FROM generate_series(3, t.a))", &["3"]),
        ("SELECT t.b, g FROM t LEFT JOIN generate_series(3, 9) g ON g = a ORDER BY a", &["x|NULL", "NULL|NULL", "z|3"]),
        ("SELECT x, y FROM generate_series(1, 2) x, generate_series(1, 2) y", &["1|1", "1|2", "2|1", "2|2"]),
        ("SELECT x, y FROM generate_series(1, 3) x, generate_series(x, 2) y", &["1|1", "1|2", "2|2"]),
        ("SELECT generate_series(1, 3) * 2", &["2", "4", "6"]),
        ("SELECT generate_series(1, 2), generate_series(1, 3)", &["1|1", "2|2", "NULL|3"]),
        ("SELECT b, generate_series(2, a) FROM t ORDER BY 1, 2", &["z|2", "z|3", "NULL|2"]),
        ("SELECT g FROM generate_series(1, 10000) g ORDER BY g DESC LIMIT 1", &["10000"]),
    ] {
        assert_eq!(c.rows(sql).await, expected, "{sql}");
    }
    let error = c.error("SELECT * FROM generate_series(1, 3, 0)").await;
    assert_eq!((error.state(), error.fields().message.as_str()), ("22023", "step size cannot equal zero"));
    assert_eq!(c.state("SELECT generate_series(1, 2), generate_series(1, 3, 0)").await, "22023");
    assert_eq!(c.state("SELECT generate_series(1, 2), generate_series(1, 10000000000)").await, "54000");
    assert_eq!(c.state("SELECT * FROM generate_series(1)").await, "42883");
    assert_eq!(c.state("SELECT * FROM generate_series('1', '2')").await, "42725");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_counts_through_other_series() {
    let mut c = client().await;
    for sql in ["SELECT * FROM generate_series($1::int, $2, $3)", "SELECT generate_series($1::int, $2, $3)"] {
        let statement = c.session.parse(sql).unwrap().pop().unwrap();
        let prepared = c.session.prepare(statement, &[]).await.unwrap();
        for (values, expected) in
            [([1, 3, 1], vec!["1", "2", "3"]), ([5, 1, -2], vec!["5", "3", "1"]), ([1, 0, 1], vec![])]
        {
            let values = values.into_iter().map(|value| Datum::Int32(Some(value))).collect();
            let rows = c.run_prepared(&prepared, values, "").await.unwrap().rows;
            assert_eq!(rows.concat(), expected, "{sql}");
        }
        let values = [1, 3, 0].into_iter().map(|value| Datum::Int32(Some(value))).collect();
        assert_eq!(c.run_prepared(&prepared, values, "").await.unwrap_err().state(), "22023");
        c.session.fail().await;
    }
}

/// As lists these series would need 8 TB.
#[tokio::test(flavor = "multi_thread")]
async fn long_series_are_not_held() {
    let mut c = client().await;
    for sql in [
        "SELECT g FROM generate_series(1, 1000000000000) g LIMIT 2",
        "SELECT generate_series(1, 1000000000000) LIMIT 2",
        "SELECT g FROM (VALUES (1)) v(a), generate_series(a, 1000000000000) g LIMIT 2",
    ] {
        assert_eq!(c.rows(sql).await, ["1", "2"], "{sql}");
    }
    assert_eq!(c.value("SELECT count(*) FROM generate_series(1, 1000000)").await, "1000000");
    assert_eq!(
        c.rows("EXPLAIN (COSTS OFF) SELECT count(*) FROM generate_series(1, 1000000000)").await[1].trim(),
        "->  Function Scan on generate_series"
    );
}

/// The rows of a query until it ends or fails, and the SQLSTATE of the failure.
async fn rows_before(c: &mut Client, sql: &str) -> (usize, &'static str) {
    let statement = c.session.parse(sql).unwrap().remove(0);
    let prepared = c.session.prepare(statement, &[]).await.unwrap();
    let Ok(Outcome::Rows { mut stream, .. }) = c.session.execute(&prepared, Vec::new()).await else { panic!("{sql}") };
    let (mut rows, mut failed) = (0, "");
    while let Some(batch) = stream.next().await {
        match batch {
            Ok(batch) => rows += batch.num_rows(),
            Err(error) => failed = SqlError::from(error).state(),
        }
    }
    drop(stream);
    c.session.fail().await;
    (rows, failed)
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_before_the_one_that_fails_are_returned() {
    let mut c = client().await;
    for first in [1, 2, 3, 64, 1000, 8192, 8193, 9999, 10_000] {
        let sql = format!("SELECT g, 1 / (g - {first}) FROM generate_series(1, 10000) g");
        assert_eq!(rows_before(&mut c, &sql).await, (first - 1, "22012"), "{sql}");
    }
    // The error of the first row is reported, in whichever column it is.
    let sql = "SELECT 1 / (g - 5), ('x' || g)::int FROM generate_series(4, 9) g";
    assert_eq!(rows_before(&mut c, sql).await, (0, "22P02"));
    let sql = "SELECT 1 / (g - 5), repeat('1', g)::int2 FROM generate_series(4, 9) g";
    assert_eq!(rows_before(&mut c, sql).await, (1, "22012"));
    assert_eq!(c.rows("SELECT 1 / (g - 3) FROM generate_series(1, 5) g LIMIT 2").await, ["0", "-1"]);
    // A volatile call runs once.
    c.run("CREATE SEQUENCE s").await;
    let sql = "SELECT nextval('s') / (g - 3) FROM generate_series(1, 5) g";
    rows_before(&mut c, sql).await;
    assert!(c.value("SELECT nextval('s')").await.parse::<i64>().unwrap() <= 6);
}
