//! Statements and values that are too large are refused before they take much memory or time.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_would_be_too_long_is_not_begun() {
    let mut c = client().await;
    let long = "SELECT length(replace(repeat('a', 100000), 'a', repeat('b', 100000)))";
    assert_eq!(c.state(long).await, "54000");
    assert_eq!(c.state("SELECT length(format('%1100000000s|', 1))").await, "54000");
    assert_eq!(c.rows("SELECT length(format('%2000000s|', 1))").await, ["2000001"]);
    assert_eq!(c.rows("SELECT length(replace(repeat('ab', 1000), 'b', repeat('c', 1000)))").await, ["1001000"]);
    assert_eq!(
        c.rows("SELECT split_part('a,b,c', ',', -1) || split_part('a,b', ',', 3) || split_part('a', '', -1)").await,
        ["ca"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_that_name_each_other_too_often_are_not_planned() {
    let mut c = client().await;
    let chain = |links: usize| {
        let mut text = "WITH a0 AS (SELECT 1 AS n)".to_string();
        for link in 1..=links {
            let before = link - 1;
            text.push_str(&format!(", a{link} AS (SELECT x.n FROM a{before} x, a{before} y)"));
        }
        format!("{text} SELECT n FROM a{links}")
    };
    assert_eq!(c.rows(&chain(4)).await, ["1"]);
    assert_eq!(c.state(&chain(13)).await, "54001");
}

#[tokio::test(flavor = "multi_thread")]
async fn subqueries_too_deep_in_each_other_are_not_planned() {
    let mut c = client().await;
    let nested = |depth: usize| format!("SELECT {}1{}", "(SELECT ".repeat(depth), ")".repeat(depth));
    assert_eq!(c.rows(&nested(5)).await, ["1"]);
    assert_eq!(c.state(&nested(30)).await, "54001");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_rows_of_queries_are_no_deep_ones() {
    let mut c = client().await;
    let row = |queries: usize, between: &str| {
        let queries: Vec<String> = (0..queries).map(|at| format!("SELECT {at} AS n, 'a' || {at} AS s")).collect();
        format!("SELECT count(*), sum(n), min(s) FROM ({}) AS r", queries.join(between))
    };
    assert_eq!(c.rows(&row(600, " UNION ALL ")).await, ["600|179700|a0"]);
    assert_eq!(c.rows(&row(300, " UNION ")).await, ["300|44850|a0"]);
    assert_eq!(c.rows(&row(3_000, " UNION ALL ")).await, ["3000|4498500|a0"]);
    // Nesting depth grows with length here, even for lists after commas.
    for text in [
        row(400, " INTERSECT "),
        row(400, " UNION SELECT 0, '' UNION ALL "),
        format!("SELECT 1 FROM {}", (0..300).map(|at| format!("(SELECT {at}) t{at}")).collect::<Vec<_>>().join(", ")),
        format!("SELECT now(){}", " AT TIME ZONE 'utc'".repeat(1_000)),
        format!("SELECT 1{}", " OPERATOR(pg_catalog.+) 1".repeat(1_000)),
    ] {
        assert_eq!(c.state(&text).await, "54001", "{text:.60}");
    }
    let chain = |links: usize| {
        let mut text = "WITH a0 AS (SELECT 1 AS n)".to_string();
        for link in 1..=links {
            text.push_str(&format!(", a{link} AS (SELECT n + 1 AS n FROM a{})", link - 1));
        }
        format!("{text} SELECT n FROM a{links}")
    };
    assert_eq!(c.rows(&chain(40)).await, ["41"]);
    assert_eq!(c.state(&chain(2_000)).await, "54001");
    let arms = |count: usize| (0..count).map(|at| format!("WHEN {at} = -1 THEN {at}")).collect::<Vec<_>>().join(" ");
    assert_eq!(c.rows(&format!("SELECT CASE {} ELSE 7 END", arms(400))).await, ["7"]);
    let nested = format!("SELECT {}1{}", "CASE WHEN true THEN ".repeat(500), " END".repeat(500));
    assert_eq!(c.state(&nested).await, "54001");
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_expressions_run() {
    let mut c = client().await;
    let list = |count: usize, between: &str, item: &dyn Fn(usize) -> String| {
        (0..count).map(item).collect::<Vec<_>>().join(between)
    };
    let from = "FROM (VALUES (1)) v (x)";
    for (text, answer) in [
        (format!("SELECT count(*) {from} WHERE {}", list(3_000, " OR ", &|at| format!("x = {at}"))), "1"),
        (format!("SELECT CASE x {} END {from}", list(1_000, " ", &|at| format!("WHEN {at} THEN {at}"))), "1"),
        (format!("SELECT {}1{}", "(".repeat(4_000), ")".repeat(4_000)), "1"),
        (format!("SELECT {}(x = 1) {from}", "NOT ".repeat(200)), "t"),
        (format!("SELECT {} {from}", list(100, " + ", &|_| "x".to_string())), "100"),
        (format!("SELECT {}x{} {from}", "abs(".repeat(60), ")".repeat(60)), "1"),
    ] {
        assert_eq!(c.rows(&text).await, [answer], "{text:.60}");
    }
    for text in [
        format!("SELECT {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("SELECT {} {from}", list(3_000, " + ", &|_| "x".to_string())),
        format!("SELECT {}x{} {from}", "abs(".repeat(1_000), ")".repeat(1_000)),
        format!("SELECT {}1{}", "(SELECT ".repeat(300), ")".repeat(300)),
        format!("SELECT * {}", "FROM (SELECT * ".repeat(300) + "FROM (SELECT 1) s" + &") s".repeat(300)),
        format!("SELECT count(*) {from} WHERE {}", list(9_000, " AND ", &|at| format!("x <> {at}"))),
    ] {
        assert_eq!(c.state(&text).await, "54001", "{text:.60}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_constant_is_compared_with_many_rows_and_made_once() {
    let mut c = client().await;
    c.run("CREATE TABLE short (a int PRIMARY KEY, b text)").await;
    c.run("INSERT INTO short SELECT g, 'b' || g FROM generate_series(1, 2000) g").await;
    assert_eq!(c.rows("SELECT count(*) FROM short WHERE b = repeat('x', 2000000)").await, ["0"]);
    assert_eq!(c.rows("SELECT count(*) FROM short WHERE b < repeat('x', 2000000) AND a > 1000").await, ["1000"]);
    assert_eq!(c.rows("SELECT count(*) FROM short WHERE starts_with(repeat('b7', 600000), b)").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_row_of_a_cursor_is_found_wherever_it_is_kept() {
    let mut c = client().await;
    c.run("CREATE TABLE kept (a int PRIMARY KEY, b text)").await;
    c.run("INSERT INTO kept SELECT g, repeat('x', 300) || g FROM generate_series(1, 20000) g").await;
    c.run("BEGIN").await;
    c.run("DECLARE s SCROLL CURSOR FOR SELECT a, b FROM kept ORDER BY a").await;
    assert_eq!(c.tag("MOVE 5000 IN s").await, "MOVE 5000");
    assert_eq!(c.tag("UPDATE kept SET b = 'moved' WHERE CURRENT OF s").await, "UPDATE 1");
    assert_eq!(c.tag("MOVE 13000 IN s").await, "MOVE 13000");
    assert_eq!(c.tag("FETCH BACKWARD 15000 FROM s").await, "FETCH 15000");
    assert_eq!(c.tag("UPDATE kept SET b = 'back' WHERE CURRENT OF s").await, "UPDATE 1");
    c.run("COMMIT").await;
    let changed = "SELECT a, b FROM kept WHERE length(b) < 20 ORDER BY a";
    assert_eq!(c.rows(changed).await, ["3000|back", "5000|moved"]);
}
