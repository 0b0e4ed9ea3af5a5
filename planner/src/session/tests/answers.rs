//! Rows of joins, windows and constants.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_of_three_relations_holds_for_every_row() {
    let mut c = client().await;
    c.run("CREATE TABLE a (id int PRIMARY KEY, k int)").await;
    c.run("CREATE TABLE b (i int)").await;
    c.run("CREATE TABLE c (r int, n int)").await;
    c.run("INSERT INTO a VALUES (1, 1), (2, 5)").await;
    c.run("INSERT INTO b VALUES (1), (2)").await;
    c.run("INSERT INTO c VALUES (1, 1), (1, 2), (1, 3), (2, 6)").await;
    for analyzed in [false, true] {
        if analyzed {
            c.run("ANALYZE").await;
        }
        for from in [
            "a CROSS JOIN b JOIN c ON r = id AND n = k + i",
            "a JOIN b ON true JOIN c ON n = k + i AND r = id",
            "a CROSS JOIN b JOIN c ON r = id WHERE n = k + i",
            "a CROSS JOIN b LEFT JOIN c ON r = id AND n = k + i WHERE r IS NOT NULL",
            "c RIGHT JOIN (a CROSS JOIN b) ON r = id AND n = k + i WHERE r IS NOT NULL",
        ] {
            let rows = c.rows(&format!("SELECT id, i, n FROM {from} ORDER BY 1, 2")).await;
            assert_eq!(rows, ["1|1|2", "1|2|3", "2|1|6"], "{from}, analyzed: {analyzed}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_function_has_several_frames() {
    let mut c = client().await;
    let rows = c
        .rows(
            "SELECT a, count(*) OVER (ORDER BY b ROWS UNBOUNDED PRECEDING), count(*) OVER (ORDER BY b RANGE UNBOUNDED PRECEDING),
                count(*) OVER (ORDER BY b), max(a::int8) OVER (ORDER BY b), max(a::float8) OVER (ORDER BY b)
                FROM (VALUES (1, 5), (2, 5), (3, 6)) t (a, b) ORDER BY a",
        )
        .await;
    assert_eq!(rows, ["1|1|2|2|2|2", "2|2|2|2|2|2", "3|3|3|3|3|3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_behind_a_comma_see_nothing_before_it() {
    let mut c = client().await;
    c.run("CREATE TABLE a (id int, k int)").await;
    c.run("CREATE TABLE b (id int, n int)").await;
    c.run("INSERT INTO a VALUES (1, 1), (2, 5)").await;
    c.run("INSERT INTO b VALUES (1, 5), (2, 1)").await;
    for (from, rows) in [
        ("a, b NATURAL JOIN generate_series(1, 2) id", &["1|1|1|5", "1|1|2|1", "2|5|1|5", "2|5|2|1"][..]),
        ("a, b JOIN LATERAL (SELECT k AS n FROM a q WHERE q.id = a.id) l USING (n)", &["1|1|1|2", "2|5|5|1"]),
        ("a, b JOIN LATERAL (SELECT a.id AS m) l ON id = m", &["1|1|1|5|1", "2|5|2|1|2"]),
    ] {
        assert_eq!(c.rows(&format!("SELECT * FROM {from} ORDER BY 1, 2, 3, 4")).await, rows, "{from}");
    }
    assert_eq!(c.state("SELECT * FROM a, b JOIN generate_series(1, a.id) m ON b.id = m AND a.id = m").await, "42P01");
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_sort_rows_without_columns_and_rows_in_the_opposite_order() {
    let mut c = client().await;
    c.run("CREATE TABLE w (id int PRIMARY KEY, c bool)").await;
    c.run("INSERT INTO w VALUES (1, true), (2, false), (3, true)").await;
    let rows = c.rows("SELECT (SELECT row_number() OVER (ORDER BY w.id)) FROM w").await;
    assert_eq!(rows, ["1", "1", "1"]);
    let rows = c.rows("SELECT DISTINCT every(c) OVER (PARTITION BY c ORDER BY id), c FROM w LIMIT 3").await;
    assert_eq!(rows.len(), 2);
    let rows = c.rows("SELECT id, array_agg(id) OVER (ORDER BY id DESC) FROM w ORDER BY id").await;
    assert_eq!(rows, ["1|{3,2,1}", "2|{3,2}", "3|{3}"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_null_for_certain_is_not_computed() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int)").await;
    c.run("INSERT INTO t VALUES (2147483647), (5)").await;
    for (expression, value) in [
        ("(a * 2147483647 * NULL::int) IS NOT NULL", "f"),
        ("lower(NULL || (1 / (a - 5))::text)", "NULL"),
        ("substr('x', NULL, a * 2147483647)", "NULL"),
        ("CASE WHEN a * 2147483647 > NULL THEN 1 / 0 ELSE 2 END", "2"),
        ("coalesce(a * 2147483647 + NULL, 7)", "7"),
        ("(SELECT 1 / 0) + NULL::int", "NULL"),
    ] {
        assert_eq!(c.rows(&format!("SELECT {expression} FROM t")).await, [value, value], "{expression}");
    }
    for expression in ["concat(a * 2147483647, NULL)", "a * 2147483647 IS DISTINCT FROM NULL", "(1 / 0) + NULL::int"] {
        assert!(c.state(&format!("SELECT {expression} FROM t")).await.starts_with("22"), "{expression}");
    }
}
