//! ANALYZE: the statistics that it stores, who sees them, and their effect on plans.

use super::*;

/// A shop with this many orders, and two lines for the first `with_lines` orders.
async fn shop(orders: usize, with_lines: usize) -> Client {
    let mut c = client().await;
    c.run("CREATE TABLE customers (id int PRIMARY KEY, region int) WITH (autovacuum_enabled = off)").await;
    // On a slow store the server's automatic ANALYZE would run first.
    c.run("CREATE TABLE orders (id int PRIMARY KEY, customer int, status text, note text) WITH (autovacuum_enabled = off)")
        .await;
    c.run("CREATE INDEX ON orders (customer)").await;
    c.run("CREATE INDEX by_status ON orders (status)").await;
    c.run("CREATE TABLE lines (order_id int, line int, item int, PRIMARY KEY (order_id, line)) WITH (autovacuum_enabled = off)")
        .await;
    c.run("INSERT INTO customers SELECT i, i % 10 FROM generate_series(1, 200) i").await;
    c.run(&format!(
        "INSERT INTO orders SELECT i, i % 200 + 1, CASE WHEN i % 500 = 0 THEN 'open' ELSE 'done' END, \
         CASE WHEN i % 4 = 0 THEN NULL ELSE 'note ' || i END FROM generate_series(1, {orders}) i",
    ))
    .await;
    c.run(&format!(
        "INSERT INTO lines SELECT i, l, i / 100 * l % 50 FROM generate_series(1, {with_lines}) i, generate_series(1, 2) l"
    ))
    .await;
    c
}

async fn plan(c: &mut Client, query: &str) -> String {
    c.rows(&format!("EXPLAIN {query}")).await.join("\n")
}

#[tokio::test]
async fn what_it_finds_is_shown() {
    let mut c = shop(12_000, 20).await;
    let rows = "SELECT reltuples FROM pg_class WHERE relname = 'orders'";
    assert_eq!(c.value(rows).await, "-1");
    assert_eq!(c.run("ANALYZE orders (status, note)").await.tag, "ANALYZE");
    assert_eq!(c.value(rows).await, "12000");
    let known = "SELECT attname, null_frac, n_distinct, most_common_vals, most_common_freqs FROM pg_stats \
                 WHERE tablename = 'orders' AND attname <> 'note' ORDER BY attname";
    assert_eq!(c.run(known).await.rows, [["status", "0", "2", "{done,open}", "{0.998,0.002}"]]);
    let note = "SELECT null_frac || ' ' || n_distinct FROM pg_stats WHERE attname = 'note'";
    assert_eq!(c.value(note).await, "0.25 -0.75");
    // Analyzing another column keeps the statistics that exist.
    c.run("ANALYZE orders (customer)").await;
    let all = "SELECT string_agg(attname, ' ' ORDER BY attname) FROM pg_stats WHERE tablename = 'orders'";
    assert_eq!(c.value(all).await, "customer note status");
    c.run("VACUUM ANALYZE").await;
    assert_eq!(c.value("SELECT count(*) FROM pg_stats").await, "9");
    c.run("ALTER TABLE orders ALTER status TYPE varchar(10)").await;
    assert_eq!(c.value(all).await, "customer id note", "of another type nothing is known");
    c.run("DROP TABLE orders").await;
    assert_eq!(c.value("SELECT count(*) FROM pg_stats").await, "5");
}

#[tokio::test]
async fn it_belongs_to_its_transaction() {
    let mut c = shop(20, 3000).await;
    let rows = "SELECT reltuples FROM pg_class WHERE relname = 'lines'";
    c.run("BEGIN").await;
    c.run("DELETE FROM lines WHERE line = 2").await;
    c.run("ANALYZE lines").await;
    assert_eq!(c.value(rows).await, "3000");
    c.run("ROLLBACK").await;
    assert_eq!(c.value(rows).await, "-1");
    // ANALYZE does not disturb a concurrent writer.
    let database = database().await;
    let (mut writer, mut other) = (connect(&database).await, connect(&database).await);
    writer.run("CREATE TABLE t (a int PRIMARY KEY)").await;
    writer.run("BEGIN ISOLATION LEVEL REPEATABLE READ").await;
    writer.run("INSERT INTO t VALUES (1)").await;
    other.run("ANALYZE t").await;
    writer.run("INSERT INTO t VALUES (2)").await;
    assert_eq!(writer.run("COMMIT").await.tag, "COMMIT");
}

#[tokio::test]
async fn plans_are_made_again_and_by_what_is_known() {
    let mut c = shop(12_000, 20).await;
    let done = "SELECT count(note) FROM orders WHERE status = 'done'";
    assert!(plan(&mut c, done).await.contains("by_status"));
    c.run("ANALYZE").await;
    let known = plan(&mut c, done).await;
    assert!(known.contains("Seq Scan on orders  (rows=11976)"), "{known}");
    let open = plan(&mut c, "SELECT note FROM orders WHERE status = 'open'").await;
    assert!(open.contains("Index Scan using by_status on orders  (rows=24)"), "{open}");
    let few = plan(&mut c, "SELECT note FROM orders WHERE customer = 3 AND status = 'done'").await;
    assert!(few.contains("orders_customer_idx"), "{few}");
    assert_eq!(c.value(done).await, "9000");
}

#[tokio::test]
async fn joins_begin_where_there_are_fewest_rows() {
    let mut c = shop(12_000, 12_000).await;
    let query = "SELECT count(*), sum(l.item), min(c.region) FROM customers c JOIN orders o ON o.customer = c.id \
                 JOIN lines l ON l.order_id = o.id WHERE o.status = 'open' AND l.item > 3";
    let before = c.run(query).await.rows;
    c.run("ANALYZE").await;
    assert_eq!(c.run(query).await.rows, before);
    let known = plan(&mut c, query).await;
    let at = |word: &str| known.find(word).unwrap_or_else(|| panic!("{word} in\n{known}"));
    assert!(at("Index Scan using by_status on orders") < at("on customers"), "{known}");
    assert!(at("on customers") < at("Index Lookup using lines_pkey on lines"), "{known}");
    // A condition other than equality belongs to the pair of relations that it names, wherever it stands.
    let between = query.replace("l.item > 3", "l.item > 3 AND c.region + l.line < o.id % 7");
    let answer = c.run(&between).await.rows;
    let written = format!(
        "WITH a AS MATERIALIZED (SELECT * FROM orders), b AS MATERIALIZED (SELECT * FROM lines) {}",
        between.replace("orders o", "a o").replace("lines l", "b l")
    );
    assert_eq!(c.run(&written).await.rows, answer);
    assert_ne!(answer, before);
    assert_ne!(answer[0][0], "0");
    // Outer joins and tables without statistics keep their written order.
    c.run("CREATE TABLE unknown (id int PRIMARY KEY)").await;
    for other in [
        "SELECT count(*) FROM customers c JOIN orders o ON o.customer = c.id JOIN unknown u ON u.id = o.id WHERE o.status = 'open'",
        "SELECT count(*) FROM customers c LEFT JOIN orders o ON o.customer = c.id LEFT JOIN lines l ON l.order_id = o.id",
    ] {
        c.run(other).await;
    }
}

#[tokio::test]
async fn the_server_does_it_by_itself_where_much_has_changed() {
    let database = database().await;
    let mut c = connect(&database).await;
    let mut looked_at = Default::default();
    c.run("CREATE TABLE t (a int PRIMARY KEY)").await;
    c.run("CREATE TABLE empty (a int PRIMARY KEY)").await;
    c.run("CREATE TEMP TABLE passing (a int)").await;
    c.run("CREATE TABLE alone (a int) WITH (autovacuum_enabled = off)").await;
    c.run("INSERT INTO alone SELECT generate_series(1, 1000)").await;
    c.run("INSERT INTO t SELECT generate_series(1, 1000)").await;
    c.run("INSERT INTO passing SELECT generate_series(1, 1000)").await;
    let known = "SELECT string_agg(relname || ' ' || reltuples || ' ' || n_mod_since_analyze, ', ' ORDER BY relname) FROM pg_class \
                 JOIN pg_stat_user_tables USING (relname) WHERE last_autoanalyze > now() - interval '1 hour'";
    for (statement, expected) in [
        ("SELECT 1", "t 1000 0"),
        ("INSERT INTO t SELECT generate_series(1001, 1150)", "t 1000 150"),
        ("UPDATE t SET a = a WHERE a = 1", "t 1150 0"),
        ("DELETE FROM t WHERE a > 10", "t 10 0"),
    ] {
        c.run(statement).await;
        crate::statistics::automatic::look(database.catalog(), &mut looked_at).await.unwrap();
        assert_eq!(c.value(known).await, expected, "after {statement}");
    }
}

#[tokio::test]
async fn it_says_what_it_cannot_analyze() {
    let mut c = shop(20, 20).await;
    assert_eq!(c.state("ANALYZE nosuch").await, "42P01");
    assert_eq!(c.state("ANALYZE orders (id, nosuch)").await, "42703");
    assert_eq!(c.state("ANALYZE orders (id, id)").await, "42701");
    assert_eq!(c.state("VACUUM orders (id)").await, "0A000");
    c.run("CREATE VIEW v AS SELECT 1").await;
    assert_eq!(c.run("ANALYZE v, orders").await.tag, "ANALYZE");
    let warning = "01000 skipping \"v\" --- cannot analyze non-tables or special system tables";
    assert_eq!(c.notices(), [warning]);
    c.run("CREATE ROLE nobody").await;
    c.run("SET ROLE nobody").await;
    c.run("ANALYZE orders").await;
    assert_eq!(c.notices(), ["01000 skipping \"orders\" --- only table or database owner can analyze it"]);
    assert_eq!(c.value("SELECT count(*) FROM pg_stats").await, "0");
}

#[tokio::test]
async fn a_beginning_is_looked_for_in_an_index() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a text PRIMARY KEY, b text)").await;
    c.run("CREATE INDEX ON t (b)").await;
    c.run(
        "INSERT INTO t SELECT p || s, p || s FROM unnest(ARRAY['', 'a', 'ab', 'a%', 'a_', 'aé', U&'a\\D7FF', U&'a\\+10FFFF', 'b', 'A']) p, \
         unnest(ARRAY['', 'x', '%', 'é', U&'\\+10FFFF', 'b']) s ON CONFLICT DO NOTHING",
    )
    .await;
    for pattern in ["a%", "ab%", "a\\%%", "a\\_%", "aé%", "a\\\\%", "b%", "", "%", "a_%", "a%b%", "ab"] {
        let rows = c.run(&format!("SELECT a FROM t WHERE a LIKE '{pattern}' ORDER BY a")).await.rows;
        let all = format!("SELECT a FROM t WHERE a || '' LIKE '{pattern}' ORDER BY a");
        assert_eq!(rows, c.run(&all).await.rows, "{pattern}");
        assert_eq!(
            c.run(&format!("SELECT b FROM t WHERE b LIKE '{pattern}' ORDER BY b")).await.rows,
            rows,
            "{pattern}"
        );
    }
    let known = plan(&mut c, "SELECT * FROM t WHERE b LIKE 'ab%'").await;
    assert!(known.contains("Index Cond: (b >= 'ab') AND (b < 'ac')"), "{known}");
}
