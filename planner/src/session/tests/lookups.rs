//! Lookup joins: the key columns that they use, and that they find the same rows as a scan.

use super::*;

async fn quotes() -> Client {
    let mut c = client().await;
    c.run("CREATE TABLE share (symbol text PRIMARY KEY, owner int)").await;
    c.run("CREATE TABLE quote (symbol text, day date, grade int, price numeric, PRIMARY KEY (symbol, day))").await;
    c.run("CREATE INDEX quote_grade ON quote (grade DESC, symbol, price)").await;
    c.run("INSERT INTO share SELECT 'S' || i, i % 7 FROM generate_series(1, 40) i").await;
    c.run(
        "INSERT INTO quote SELECT 'S' || i, date '2020-01-01' + d, nullif((i + d) % 5, 4), (i * d % 9) + 0.50
            FROM generate_series(1, 40) i, generate_series(0, 29) d",
    )
    .await;
    c
}

/// In place of the `=` of a join, this prevents look-ups by key.
const HIDDEN: &str = "|| '' =";

/// The plan's line of look-up keys, if there is one, and the number of keys read.
async fn looked_up(c: &mut Client, sql: &str) -> (Option<String>, u64) {
    let plan = c.rows(&format!("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {sql}")).await;
    let line = plan.iter().find_map(|line| line.trim().strip_prefix("Lookup Keys: ").map(str::to_owned));
    let counted = |line: &String| line.split("keys read=").nth(1)?.split([' ', ',']).next()?.parse().ok();
    (line, plan.iter().find_map(counted).unwrap_or_else(|| panic!("{plan:?}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_use_what_filters_say_of_the_next_columns() {
    let mut c = quotes().await;
    let shares = 40;
    for (condition, keys, of_quotes) in [
        ("true", "symbol", 180),
        ("day = '2020-01-05'", "symbol, (day = '2020-01-05'::date)", 6),
        (
            "day > '2020-01-05' AND day <= '2020-01-08'",
            "symbol, (day > '2020-01-05'::date), (day <= '2020-01-08'::date)",
            18,
        ),
        ("day > '2020-01-28'", "symbol, (day > '2020-01-28'::date)", 12),
    ] {
        let sql = format!(
            "SELECT s.symbol, day, price FROM share s JOIN quote q ON q.symbol = s.symbol WHERE owner = 3 AND {condition} ORDER BY 1, 2"
        );
        let (line, read) = looked_up(&mut c, &sql).await;
        assert_eq!(line.as_deref(), Some(keys), "{sql}");
        assert_eq!(read, shares + of_quotes, "{sql}");
        let scanned = sql.replace("q.symbol =", &format!("q.symbol {HIDDEN}"));
        assert_eq!(c.rows(&sql).await, c.rows(&scanned).await, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_no_key_can_have_find_nothing() {
    let mut c = quotes().await;
    c.run("CREATE TABLE small (symbol text, code smallint, PRIMARY KEY (symbol, code))").await;
    c.run("INSERT INTO small SELECT 'S' || i, i FROM generate_series(1, 40) i").await;
    for (condition, rows) in [
        ("code = 100000", 0),
        ("code < 100000", 40),
        ("code > -100000 AND code <= 3", 3),
        ("code > 100000", 0),
        ("code = 7::bigint", 1),
    ] {
        let sql = format!("SELECT count(*) FROM share s JOIN small USING (symbol) WHERE {condition}");
        assert_eq!(c.value(&sql).await, rows.to_string(), "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prepared_lookups_take_other_values() {
    let mut c = quotes().await;
    let sql = "SELECT count(*) FROM share s JOIN quote q ON q.symbol = s.symbol
        WHERE owner = $1 AND day >= $2::date AND day < $3::date";
    let statement = c.session.parse(sql).unwrap().pop().unwrap();
    let prepared = c.session.prepare(statement, &[]).await.unwrap();
    let day = |day: i32| Datum::Date32(Some(7305 + day));
    for (owner, from, to, expected) in [(1, 0, 30, 180), (5, 3, 5, 12), (6, 29, 40, 5), (0, 5, 5, 0), (9, 0, 30, 0)] {
        let values = vec![Datum::Int32(Some(owner)), day(from), day(to)];
        let rows = c.run_prepared(&prepared, values, "").await.unwrap().rows;
        assert_eq!(rows.concat(), [expected.to_string()], "{owner} {from} {to}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_column_between_may_be_fixed_or_joined() {
    let mut c = quotes().await;
    c.run("CREATE TABLE wanted (grade int, price numeric)").await;
    c.run("INSERT INTO wanted VALUES (1, 3.5), (2, 0.50), (NULL, 1.5), (3, 7)").await;
    for condition in
        ["q.symbol = 'S3'", "q.symbol > 'S3' AND q.symbol < 'S32'", "q.symbol = 'S3' AND day > '2020-01-10'"]
    {
        let sql = format!(
            "SELECT q.symbol, day, q.price FROM wanted w JOIN quote q ON q.grade = w.grade AND q.price = w.price WHERE {condition} ORDER BY 1, 2"
        );
        let scanned = sql.replace("q.grade =", "q.grade + 0 =").replace("q.price =", "q.price + 0 =");
        assert_eq!(c.rows(&sql).await, c.rows(&scanned).await, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_of_the_table_is_looked_into() {
    let mut c = client().await;
    c.run("CREATE TABLE trade (id int PRIMARY KEY, account int, symbol text)").await;
    c.run("CREATE INDEX trade_account ON trade (account)").await;
    c.run("INSERT INTO trade SELECT i, i % 500, 'S' || i FROM generate_series(1, 4000) i").await;
    c.run("CREATE TABLE wanted (account int, id int)").await;
    c.run("INSERT INTO wanted VALUES (7, 1007), (8, 3008), (460, 1460)").await;
    c.run("ANALYZE").await;
    for (condition, line, most) in [
        // Looks up by the index, and filters its matches by the range of the primary key.
        ("t.account = w.account AND t.id BETWEEN 1000 AND 2000", "account, (id >= 1000) AND (id <= 2000)", 35),
        ("t.account = w.account AND t.account > 450", "account, (account > 450)", 15),
        ("t.id = w.id AND t.id < 3000", "id, (id < 3000)", 10),
    ] {
        let sql = format!("SELECT count(*), sum(t.id) FROM wanted w JOIN trade t ON {condition}");
        let (found, keys) = looked_up(&mut c, &sql).await;
        assert_eq!(found.as_deref(), Some(line));
        assert!(keys <= most, "{condition}: {keys} keys");
        let scanned = sql.replacen(" = w.", " + 0 = w.", 1);
        assert_eq!(c.rows(&sql).await, c.rows(&scanned).await, "{condition}");
    }
    // The planner does not know how much of the table parameters select.
    c.run("PREPARE p(int, int) AS SELECT count(*) FROM wanted w JOIN trade t ON t.account = w.account AND t.id BETWEEN $1 AND $2")
        .await;
    let plan = c.rows("EXPLAIN (COSTS OFF) EXECUTE p(1000, 2000)").await;
    assert!(plan.iter().any(|line| line.contains("Lookup Keys: account, ")), "{plan:?}");
    assert_eq!(c.rows("EXECUTE p(1000, 2000)").await, ["6"]);
    assert_eq!(c.rows("EXECUTE p(1, 4000)").await, ["24"]);
    assert_eq!(c.rows("EXECUTE p(2000, 1000)").await, ["0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_zeros_are_one_key() {
    let mut c = client().await;
    c.run("CREATE TABLE t (f float8 PRIMARY KEY); INSERT INTO t VALUES ('-0'), (1)").await;
    c.run("CREATE TABLE a (x float8); INSERT INTO a VALUES (0), (2)").await;
    assert_eq!(c.rows("SELECT a.x FROM a JOIN t ON a.x = t.f").await, ["0"]);
    assert_eq!(c.rows("SELECT a.x FROM a WHERE NOT EXISTS (SELECT FROM t WHERE t.f = a.x)").await, ["2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_looked_up_in_place_of_a_scan_backwards_is_sorted() {
    let mut c = client().await;
    c.run("CREATE TABLE a (x int); CREATE TABLE t (id int PRIMARY KEY)").await;
    for table in ["a", "t"] {
        c.run(&format!("INSERT INTO {table} SELECT n FROM generate_series(1, 600) AS g(n)")).await;
    }
    for join in ["a JOIN (SELECT id FROM t ORDER BY id DESC) s ON s.id = a.x", "a JOIN t s ON s.id = a.x"] {
        for (order, expected) in [("", ["1", "2", "3"]), ("DESC", ["600", "599", "598"])] {
            let query = format!("SELECT s.id FROM {join} ORDER BY s.id {order} LIMIT 3");
            assert_eq!(c.rows(&query).await, expected, "{query}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volatile_condition_keeps_no_other_from_its_key() {
    let mut c = client().await;
    c.run("CREATE TABLE a (id int PRIMARY KEY, v int); CREATE TABLE b (id int PRIMARY KEY, v int)").await;
    c.run("INSERT INTO a SELECT g, g FROM generate_series(1, 5000) g; INSERT INTO b SELECT * FROM a; ANALYZE").await;
    let mut plan = async |sql: &str| c.rows(&format!("EXPLAIN {sql}")).await.join("\n");
    let joined = plan("SELECT * FROM a, b WHERE a.v = b.v AND random() < 0.5").await;
    assert!(joined.contains("Hash Join") && !joined.contains("Nested Loop"), "{joined}");
    let found = plan("SELECT * FROM a JOIN b ON a.id = b.id WHERE a.id = 7 AND random() < 0.5").await;
    assert!(!found.contains("Seq Scan"), "{found}");
    let found = plan("SELECT * FROM (SELECT id, v, random() AS r FROM a) q WHERE id = 7").await;
    assert!(!found.contains("Seq Scan"), "{found}");
    let kept = plan("SELECT id FROM (SELECT id, random() AS r FROM a) q WHERE id = 7 AND r < 2").await;
    assert!(!kept.contains("Seq Scan"), "{kept}");
}

/// The lines of a plan without its counters.
async fn plan(c: &mut Client, sql: &str) -> Vec<String> {
    let lines = c.rows(&format!("EXPLAIN (COSTS OFF) {sql}")).await;
    lines.iter().map(|line| line.trim().trim_start_matches("->").trim().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_join_by_key_keeps_the_order_of_an_index() {
    let mut c = quotes().await;
    c.run("CREATE TABLE trade (id int PRIMARY KEY, account int, at int, symbol text)").await;
    c.run("CREATE INDEX ON trade (account, at)").await;
    c.run(
        "INSERT INTO trade SELECT i, i % 10, i * 7 % 1000, 'S' || i % 40 + 1 FROM generate_series(1, 900) i; ANALYZE",
    )
    .await;
    for order in ["at", "at DESC"] {
        let sql = format!(
            "SELECT t.id, at, owner FROM trade t JOIN share s ON s.symbol = t.symbol
            WHERE account = 7 ORDER BY {order} LIMIT 4"
        );
        let plan = plan(&mut c, &sql).await;
        assert!(plan.iter().any(|line| line.starts_with("Nested Loop")), "{plan:?}");
        // Not every store can be read backwards.
        if order == "at" || test_store::reads_backwards() {
            assert!(!plan.iter().any(|line| line.starts_with("Sort")), "{plan:?}");
        }
        assert_eq!(looked_up(&mut c, &sql).await.0.as_deref(), Some("symbol"));
        let scanned = sql.replace("s.symbol =", &format!("s.symbol {HIDDEN}"));
        assert_eq!(c.rows(&sql).await, c.rows(&scanned).await);
        assert_eq!(c.rows(&sql).await.len(), 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_equal_beside_the_key_is_compared_too() {
    let mut c = quotes().await;
    c.run("CREATE TABLE pick (n int PRIMARY KEY, symbol text, owner int)").await;
    c.run("INSERT INTO pick SELECT i, 'S' || i, i % 5 FROM generate_series(1, 60) i").await;
    for (join, rows) in [("JOIN", 9), ("LEFT JOIN", 60)] {
        let sql = format!("SELECT count(*), count(s.owner) FROM pick {join} share s USING (symbol, owner)");
        assert_eq!(c.rows(&sql).await, [format!("{rows}|9")], "{sql}");
    }
    let twice = "SELECT count(*) FROM pick JOIN share s ON s.symbol = pick.symbol AND s.symbol = 'S' || pick.owner";
    assert_eq!(c.value(twice).await, "4");
}

/// So many rows that look-ups do not pay: the table is read once, whatever the type of the join.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_held_when_many_rows_name_its_keys() {
    let mut c = quotes().await;
    c.run("CREATE TABLE many (n int, symbol text)").await;
    c.run("INSERT INTO many SELECT i, 'S' || i % 50 FROM generate_series(1, 5000) i").await;
    let sql =
        "SELECT count(*), count(s.owner), sum(n) FROM many LEFT JOIN share s ON s.symbol = many.symbol AND owner > 2";
    let (line, read) = looked_up(&mut c, sql).await;
    assert_eq!(line.as_deref(), Some("symbol"));
    assert!(read < 5000 + 200, "{read} keys are read");
    let scanned = sql.replace("s.symbol =", &format!("s.symbol {HIDDEN}"));
    assert_eq!(c.rows(sql).await, c.rows(&scanned).await);
    for kind in ["EXISTS", "NOT EXISTS"] {
        let sql = format!(
            "SELECT count(*), sum(n) FROM many WHERE {kind} (SELECT FROM share s WHERE s.symbol = many.symbol)"
        );
        let scanned = sql.replace("s.symbol =", &format!("s.symbol {HIDDEN}"));
        assert_eq!(c.rows(&sql).await, c.rows(&scanned).await, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_by_its_key_has_the_columns_that_are_asked_for_in_their_order() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int, b text, c numeric, d int DEFAULT 7, PRIMARY KEY (c, a))").await;
    c.run("INSERT INTO t VALUES (1, 'one', 1.50, NULL), (2, NULL, 2, 3)").await;
    c.run("ALTER TABLE t ADD COLUMN e text DEFAULT 'new'").await;
    let of = [
        ("b", "one", "NULL"),
        ("c", "1.50", "2"),
        ("d, a", "NULL|1", "3|2"),
        ("e, c, b", "new|1.50|one", "new|2|NULL"),
        ("b, b, a", "one|one|1", "NULL|NULL|2"),
        ("a + 1, b", "2|one", "3|NULL"),
        ("*", "1|one|1.50|NULL|new", "2|NULL|2|3|new"),
        ("e x, a y, d z", "new|1|NULL", "new|2|3"),
    ];
    for (columns, first, second) in of {
        for _ in 0..2 {
            let of_key = |a: i32, c: &str| format!("SELECT {columns} FROM t WHERE a = {a} AND c = {c}");
            assert_eq!(c.rows(&of_key(1, "1.5")).await, [first], "{columns}");
            assert_eq!(c.rows(&of_key(2, "2.0")).await, [second], "{columns}");
            assert!(c.rows(&of_key(2, "1.5")).await.is_empty(), "{columns}");
        }
    }
}
