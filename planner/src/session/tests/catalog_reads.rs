//! The catalog reads of drivers and ORMs: subqueries run only for the requested rows, and system views
//! make only those rows.

use super::*;

/// A database with this many tables of three columns.
async fn tables(count: usize) -> Client {
    let mut c = client().await;
    for number in 0..count {
        c.run(&format!("CREATE TABLE wide{number} (a int PRIMARY KEY, b text, c int[])")).await;
    }
    c
}

/// The numbers after a word in the executed statement's plan.
async fn counted(c: &mut Client, word: &str, sql: &str) -> Vec<u64> {
    let plan = c.rows(&format!("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {sql}")).await;
    let number = |line: &String| line.trim().strip_prefix(word)?.trim().parse().ok();
    plan.iter().filter_map(number).collect()
}

const COLUMNS: &str = "SELECT c.column_name, a.attnum FROM information_schema.columns c
    LEFT JOIN pg_catalog.pg_attribute a ON a.attname = c.column_name
        AND a.attrelid = (SELECT k.oid FROM pg_catalog.pg_class k LEFT JOIN pg_catalog.pg_namespace n ON n.oid = k.relnamespace
            WHERE k.relname = c.table_name AND n.nspname = c.table_schema)
    WHERE c.table_schema = 'public' AND c.table_name = 'wide3'";

#[tokio::test(flavor = "multi_thread")]
async fn a_subquery_in_a_join_condition_is_a_key_of_the_join() {
    let mut c = tables(8).await;
    assert_eq!(c.rows(&format!("{COLUMNS} ORDER BY 2")).await, ["a|1", "b|2", "c|3"]);
    assert_eq!(counted(&mut c, "Subplan Runs:", COLUMNS).await, [1]);
    let examined = counted(&mut c, "Rows Examined:", COLUMNS).await;
    assert!(!examined.is_empty());
    for examined in examined {
        // The columns of a table, its system columns, and those of its index.
        assert!(examined <= 16, "{examined}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_are_asked_before_a_subquery_runs() {
    let mut c = client().await;
    c.run("CREATE TABLE t (id int PRIMARY KEY, g int)").await;
    c.run("INSERT INTO t SELECT i, i % 5 FROM generate_series(1, 50) i").await;
    let first = "(SELECT u.id FROM t u WHERE u.g = t.g AND u.id > t.id ORDER BY u.id LIMIT 1)";
    for (sql, runs) in [
        (format!("SELECT * FROM (SELECT id, {first} AS next FROM t) s WHERE id BETWEEN 10 AND 12"), 3),
        (format!("SELECT * FROM (SELECT id, {first} AS next FROM t) s JOIN t o ON o.id = s.id + 1 WHERE o.id = 8"), 1),
        (
            format!(
                "SELECT * FROM (SELECT id, {first} AS next FROM t) s, t o WHERE o.id IN (8, 9) AND (o.g = s.id OR o.id = s.id)"
            ),
            4,
        ),
        (format!("SELECT id, CASE WHEN id > 45 THEN {first} WHEN id > 40 THEN 0 ELSE NULL END FROM t"), 5),
        (format!("SELECT id, CASE WHEN id > 3 THEN 0 ELSE {first} END FROM t"), 3),
        (format!("SELECT id, CASE id WHEN 7 THEN {first} WHEN 9 THEN -{first} END FROM t"), 2),
        (format!("SELECT o.id, t.id FROM t o LEFT JOIN t ON t.g = o.g AND t.id = {first} WHERE o.id = 1"), 50),
    ] {
        let found: u64 = counted(&mut c, "Subplan Runs:", &sql).await.iter().sum();
        assert!(found > 0 && found <= runs, "{found}: {sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_of_case_that_is_not_taken_runs_no_subquery() {
    let mut c = client().await;
    c.run("CREATE TABLE t (id int PRIMARY KEY, g int)").await;
    c.run("INSERT INTO t VALUES (1, 1), (2, 1), (3, 2), (4, NULL)").await;
    let several = "(SELECT u.id FROM t u WHERE u.g = t.g)";
    let sql = format!("SELECT id, CASE WHEN g = 1 THEN 0 ELSE {several} END FROM t ORDER BY 1");
    assert_eq!(c.rows(&sql).await, ["1|0", "2|0", "3|3", "4|NULL"]);
    let sql = format!("SELECT id, CASE WHEN g > 1 THEN CASE WHEN id = 3 THEN {several} END END FROM t ORDER BY 1");
    assert_eq!(c.rows(&sql).await, ["1|NULL", "2|NULL", "3|3", "4|NULL"]);
    let sql = format!("SELECT id, CASE WHEN g = 2 THEN 0 ELSE {several} END FROM t ORDER BY 1");
    assert_eq!(c.try_run_with(&sql, "").await.unwrap_err().state(), "21000");
    let sql = "SELECT id, CASE WHEN id > 2 THEN EXISTS (SELECT 1 FROM t u WHERE u.g > t.g) END,
        CASE WHEN id < 3 THEN id NOT IN (SELECT u.id FROM t u WHERE u.g = t.g AND u.id > 1) END FROM t ORDER BY 1";
    assert_eq!(c.rows(sql).await, ["1|NULL|t", "2|NULL|f", "3|f|NULL", "4|f|NULL"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn views_and_comments_are_found_by_their_keys() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a int PRIMARY KEY, b text); CREATE VIEW v AS SELECT a, b FROM t; CREATE VIEW w AS TABLE v")
        .await;
    c.run("COMMENT ON TABLE t IS 'a table'; COMMENT ON COLUMN t.b IS 'a column'").await;
    c.run("COMMENT ON CONSTRAINT t_pkey ON t IS 'a constraint'; COMMENT ON VIEW v IS 'a view'").await;
    for (view, key, whole) in [
        ("pg_views", "viewname = 'v'", "viewname || '' = 'v'"),
        ("pg_rewrite", "ev_class = 'v'::regclass", "ev_class::text = 'v'::regclass::oid::text"),
        ("pg_description", "objoid = 't'::regclass", "objoid::text = 't'::regclass::oid::text"),
        ("pg_description", "objoid = 'v'::regclass", "objoid::text = 'v'::regclass::oid::text"),
        (
            "pg_description",
            "objoid = (SELECT oid FROM pg_constraint WHERE conname = 't_pkey')",
            "objoid::text = (SELECT oid::text FROM pg_constraint WHERE conname || '' = 't_pkey')",
        ),
    ] {
        let mut rows = [Vec::new(), Vec::new()];
        for (found, condition) in rows.iter_mut().zip([key, whole]) {
            *found = c.rows(&format!("SELECT x::text FROM {view} x WHERE {condition} ORDER BY 1")).await;
        }
        assert!(!rows[0].is_empty(), "{view}: {key}");
        assert_eq!(rows[0], rows[1], "{view}: {key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subquery_of_several_rows_fails_for_rows_that_ask_for_them() {
    let mut c = client().await;
    c.run("CREATE TABLE t (id int PRIMARY KEY, g int); INSERT INTO t VALUES (1, 1), (2, 1), (3, 2)").await;
    c.run("CREATE TABLE o (g int); INSERT INTO o VALUES (2), (7)").await;
    let sql = "SELECT (SELECT u.id FROM t u WHERE u.g = o.g) FROM o ORDER BY 1";
    assert_eq!(c.rows(sql).await, ["3", "NULL"]);
    assert_eq!(c.rows("SELECT g FROM o WHERE (SELECT u.id FROM t u WHERE u.g = o.g) = 3").await, ["2"]);
    // A unique key has at most one match, so the subquery becomes a join.
    let by_key = "SELECT (SELECT u.g FROM t u WHERE u.id = o.g) FROM o ORDER BY 1";
    assert_eq!(c.rows(by_key).await, ["1", "NULL"]);
    assert!(c.rows(&format!("EXPLAIN {by_key}")).await.join("\n").contains("Join"));
    c.run("INSERT INTO o VALUES (1)").await;
    assert_eq!(c.state(sql).await, "21000");
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_nobody_reads_are_made_where_functions_have_effects() {
    let mut c = client().await;
    c.run("CREATE SEQUENCE s; CREATE TABLE u (k int); INSERT INTO u VALUES (2), (3)").await;
    let sql = "SELECT count(*) FROM (VALUES (1), (2), (3)) j(id), LATERAL (SELECT nextval('s') FROM u WHERE u.k > j.id LIMIT 1) x";
    assert_eq!(c.value(sql).await, "2");
    assert_eq!(c.value("SELECT nextval('s')").await, "3", "once for each row that finds another");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_is_refused_although_no_row_can_be_found() {
    let mut c = client().await;
    c.run("CREATE ROLE nobody; SET ROLE nobody").await;
    let statement = c.session.parse("SELECT * FROM pg_authid WHERE oid = $1").unwrap().pop().unwrap();
    let prepared = c.session.prepare(statement, &[]).await.unwrap();
    let error = c.run_prepared(&prepared, vec![Datum::Int64(None)], "").await.unwrap_err();
    assert_eq!(error.state(), "42501");
}

/// The query that asyncpg sends for unknown types.
const TYPES: &str = "WITH RECURSIVE typeinfo AS (
    SELECT t.oid AS oid, ns.nspname AS ns, t.typname AS name, t.typtype AS kind,
        (CASE WHEN t.typtype = 'd' THEN
            (WITH RECURSIVE typebases(oid, depth) AS (
                SELECT t2.typbasetype AS oid, 0 AS depth FROM pg_type t2 WHERE t2.oid = t.oid
                UNION ALL
                SELECT t2.typbasetype AS oid, tb.depth + 1 AS depth FROM pg_type t2, typebases tb
                WHERE tb.oid = t2.oid AND t2.typbasetype != 0)
            SELECT oid FROM typebases ORDER BY depth DESC LIMIT 1) ELSE NULL END) AS basetype,
        t.typelem AS elemtype, elem_t.typdelim AS elemdelim,
        (CASE WHEN t.typtype = 'c' THEN
            (SELECT array_agg(ia.atttypid ORDER BY ia.attnum) FROM pg_attribute ia INNER JOIN pg_class c ON (ia.attrelid = c.oid)
            WHERE ia.attnum > 0 AND NOT ia.attisdropped AND c.reltype = t.oid) ELSE NULL END) AS attrtypoids
    FROM pg_catalog.pg_type AS t
        INNER JOIN pg_catalog.pg_namespace ns ON (ns.oid = t.typnamespace)
        LEFT JOIN pg_type elem_t ON (t.typlen = -1 AND t.typelem != 0 AND t.typelem = elem_t.oid)
), typeinfo_tree(oid, ns, name, kind, basetype, elemtype, elemdelim, attrtypoids, depth) AS (
    SELECT ti.oid, ti.ns, ti.name, ti.kind, ti.basetype, ti.elemtype, ti.elemdelim, ti.attrtypoids, 0
    FROM typeinfo AS ti WHERE ti.oid = any(ARRAY['wide1[]'::regtype]::oid[])
    UNION ALL
    SELECT ti.oid, ti.ns, ti.name, ti.kind, ti.basetype, ti.elemtype, ti.elemdelim, ti.attrtypoids, tt.depth + 1
    FROM typeinfo ti, typeinfo_tree tt
    WHERE (tt.elemtype IS NOT NULL AND ti.oid = tt.elemtype) OR (tt.attrtypoids IS NOT NULL AND ti.oid = any(tt.attrtypoids))
        OR (tt.basetype IS NOT NULL AND ti.oid = tt.basetype))
SELECT DISTINCT name, kind, depth FROM typeinfo_tree ORDER BY depth, name";

#[tokio::test(flavor = "multi_thread")]
async fn types_are_followed_one_by_one() {
    let mut c = tables(4).await;
    let expected = ["_wide1|b|0", "wide1|c|1", "_int4|b|2", "int4|b|2", "text|b|2", "int4|b|3"];
    assert_eq!(c.rows(TYPES).await, expected);
    let runs: u64 = counted(&mut c, "Subplan Runs:", TYPES).await.iter().sum();
    assert!(runs <= 4, "{runs}");
    let examined = counted(&mut c, "Rows Examined:", TYPES).await;
    assert!(!examined.is_empty() && examined.iter().all(|rows| *rows <= 20), "{examined:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn views_make_the_rows_that_are_asked_for() {
    let mut c = tables(8).await;
    c.run("CREATE TABLE child (id int PRIMARY KEY REFERENCES wide2, other int DEFAULT 3 CHECK (other > 2))").await;
    for (sql, most) in [
        ("SELECT relkind FROM pg_class WHERE relname = 'wide3'", 4),
        ("SELECT relkind FROM pg_class WHERE oid = 'wide3'::regclass", 4),
        ("SELECT relname FROM pg_class WHERE oid IN ('wide3'::regclass, 'wide4_pkey'::regclass)", 4),
        ("SELECT attname FROM pg_attribute WHERE attrelid = 'wide3'::regclass AND attnum > 0", 16),
        (
            "SELECT attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relname = 'wide3' AND a.attnum > 0",
            16,
        ),
        ("SELECT conname FROM pg_constraint c JOIN pg_class t ON c.conrelid = t.oid WHERE t.relname = 'child'", 4),
        ("SELECT conname FROM pg_constraint WHERE confrelid = 'wide2'::regclass", 4),
        ("SELECT indexrelid FROM pg_index WHERE indrelid = 'wide2'::regclass", 2),
        (
            "SELECT k.n FROM (SELECT * FROM pg_index, unnest(indkey) WITH ORDINALITY u(key, n)) k JOIN pg_class c ON k.indrelid = c.oid
                WHERE c.relname = 'wide2' AND pg_table_is_visible(c.oid)",
            4,
        ),
        ("SELECT typname FROM pg_type WHERE oid = 23", 2),
        ("SELECT typname FROM pg_type WHERE typname = 'wide2'", 4),
        ("SELECT typname FROM pg_type t JOIN pg_class c ON c.reltype = t.oid WHERE c.relname = 'wide2'", 4),
        ("SELECT column_name FROM information_schema.columns WHERE table_name = 'wide2'", 4),
        ("SELECT proname FROM pg_proc WHERE oid = 1598", 1),
        ("SELECT proname FROM pg_type t JOIN pg_proc p ON p.oid = t.typinput WHERE t.oid = 23", 2),
    ] {
        assert!(!c.rows(sql).await.is_empty(), "{sql}");
        let examined = counted(&mut c, "Rows Examined:", sql).await;
        assert!(!examined.is_empty() && examined.iter().all(|rows| *rows <= most), "{examined:?}: {sql}");
    }
    assert!(c.rows("SELECT oid FROM pg_class WHERE relname = NULL").await.is_empty());
    assert_eq!(c.value("SELECT count(*) > 100 FROM pg_type WHERE typelem = 0").await, "t");
}
