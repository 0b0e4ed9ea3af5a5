//! Definitions over existing rows: their effects and refusals.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_column_that_is_added_has_its_default_in_the_rows_that_are_there() {
    let mut c = client().await;
    c.run("SET timezone = 'Asia/Kolkata'; CREATE TYPE mood AS ENUM ('sad', 'it''s')").await;
    for (column, expected) in [
        (r"bytea NOT NULL DEFAULT '\x'", r"\x"),
        (r"bytea DEFAULT '\x01ff'", r"\x01ff"),
        (r"text DEFAULT 'C:\tmp'", r"C:\tmp"),
        (r"text DEFAULT E'a\tb'", "a\tb"),
        ("text DEFAULT $$it's$$", "it's"),
        ("text DEFAULT ' null '", " null "),
        ("int DEFAULT 1.7", "2"),
        ("int DEFAULT 1e3", "1000"),
        ("int DEFAULT '5'::text::int", "5"),
        ("int DEFAULT true::int", "1"),
        ("int DEFAULT -7", "-7"),
        ("numeric DEFAULT 0.10", "0.10"),
        ("int[] DEFAULT '{1,2}'", "{1,2}"),
        ("mood DEFAULT 'it''s'", "it's"),
        ("timestamptz DEFAULT '2020-01-01 05:30'", "2020-01-01 00:00:00+00"),
        ("char(3) DEFAULT 'a'", "a  "),
        ("int DEFAULT NULL::int", "NULL"),
    ] {
        c.run("DROP TABLE IF EXISTS t; CREATE TABLE t (i int); INSERT INTO t VALUES (1)").await;
        c.run(&format!("ALTER TABLE t ADD x {column}")).await;
        c.run("INSERT INTO t VALUES (2)").await;
        assert_eq!(c.rows("SELECT x FROM t ORDER BY i").await, [expected, expected], "{column}");
        c.run("UPDATE t SET i = i + 2").await;
        assert_eq!(c.rows("SELECT x FROM t ORDER BY i").await, [expected, expected], "{column}");
    }
    c.run("ALTER TABLE t ADD m mood DEFAULT 'sad'; ALTER TYPE mood RENAME VALUE 'sad' TO 'glum'").await;
    assert_eq!(c.rows("SELECT m FROM t").await, ["glum", "glum"]);
    for (column, state) in [
        ("smallint DEFAULT 100000", "22003"),
        ("varchar(2) DEFAULT 'abc'", "22001"),
        ("int NOT NULL DEFAULT NULL::int", "23502"),
        ("int NOT NULL DEFAULT nullif(1, 1)", "23502"),
        ("int DEFAULT 'x'", "22P02"),
    ] {
        assert_eq!(c.state(&format!("ALTER TABLE t ADD y {column}")).await, state, "{column}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_type_makes_no_nulls_where_none_may_be() {
    let mut c = client().await;
    c.run("CREATE TABLE t (a text NOT NULL); INSERT INTO t VALUES ('')").await;
    assert_eq!(c.state("ALTER TABLE t ALTER a TYPE int USING nullif(a, '')::int").await, "23502");
    assert_eq!(c.rows("SELECT a || '.' FROM t").await, ["."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_is_dropped_with_what_names_it_and_nothing_else() {
    let mut c = client().await;
    c.run("CREATE TYPE mood AS ENUM ('a'); CREATE TYPE mood2 AS ENUM ('x', 'y')").await;
    c.run("CREATE TABLE t (c mood2 DEFAULT 'x', CHECK (c <> 'y'::text::mood2))").await;
    c.run("DROP TYPE mood; CREATE TYPE mood AS ENUM ('a'); DROP TYPE mood CASCADE; INSERT INTO t DEFAULT VALUES").await;
    assert_eq!(c.rows("SELECT c FROM t").await, ["x"]);
    assert_eq!(c.state("INSERT INTO t VALUES ('y')").await, "23514");
    c.run("CREATE TYPE mood AS ENUM ('a')").await;
    c.run(
        "CREATE TABLE g (n int, f bool GENERATED ALWAYS AS ((CASE WHEN n > 0 THEN 'a'::mood END) = 'a'::mood) STORED)",
    )
    .await;
    assert_eq!(c.state("DROP TYPE mood").await, "2BP01");
    assert_eq!(c.state("DROP TYPE mood CASCADE").await, "0A000");
    c.run("DROP TABLE g; CREATE TABLE g (n int); CREATE INDEX ON g (n) WHERE 'a'::mood <= 'a'::mood").await;
    assert_eq!(c.state("DROP TYPE mood").await, "2BP01");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_make_something_in_a_schema_moves_nothing_there() {
    let mut c = client().await;
    c.run("CREATE ROLE r; CREATE SCHEMA locked; GRANT USAGE ON SCHEMA locked TO r").await;
    c.run("CREATE TABLE mine (i serial); ALTER TABLE mine OWNER TO r; CREATE TABLE other (i serial)").await;
    c.run("GRANT TRUNCATE ON other TO r; SET ROLE r").await;
    assert_eq!(c.state("ALTER TABLE mine SET SCHEMA locked").await, "42501");
    assert_eq!(c.state("TRUNCATE other RESTART IDENTITY").await, "42501");
    c.run("TRUNCATE other").await;
    c.run("RESET ROLE; GRANT CREATE ON SCHEMA locked TO r; SET ROLE r; ALTER TABLE mine SET SCHEMA locked").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_savepoint_gives_no_value_of_a_new_sequence_back() {
    let mut c = client().await;
    c.run("BEGIN; CREATE TABLE t (id serial); SAVEPOINT a").await;
    assert_eq!(c.rows("INSERT INTO t DEFAULT VALUES RETURNING id").await, ["1"]);
    c.run("ROLLBACK TO a").await;
    assert_eq!(c.rows("INSERT INTO t DEFAULT VALUES RETURNING id").await, ["2"]);
    c.run("SAVEPOINT b; SELECT setval('t_id_seq', 40); ROLLBACK TO b").await;
    assert_eq!(c.rows("SELECT nextval('t_id_seq')").await, ["41"]);
    // After the rollback of a restart the sequence continues where it was.
    c.run("SAVEPOINT d; ALTER SEQUENCE t_id_seq RESTART").await;
    assert_eq!(c.rows("SELECT nextval('t_id_seq')").await, ["1"]);
    c.run("ROLLBACK TO d").await;
    assert_eq!(c.rows("SELECT nextval('t_id_seq')").await, ["42"]);
    // A value stays taken, even if its savepoint is rolled back.
    c.run("SAVEPOINT e; SELECT nextval('t_id_seq'); ROLLBACK TO e; COMMIT").await;
    assert_eq!(c.rows("SELECT nextval('t_id_seq')").await, ["44"]);
    assert_eq!(c.rows("SELECT nextval('t_id_seq')").await, ["45"]);
}
