//! Temporary tables beside other sessions and after the end of their session: a normal end, a kill, and the death of
//! one of several servers.

use percosql_tests::{Bigtable, Server};
use std::time::{Duration, Instant};

const LEFT: &str = "select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname like 'pg_temp_%'";

async fn left(server: &Server) -> i64 {
    let client = server.connect().await;
    client.query_one(LEFT, &[]).await.expect("a count").get(0)
}

async fn until_none_is_left(server: &Server) {
    let begun = Instant::now();
    while left(server).await > 0 {
        assert!(begun.elapsed() < Duration::from_secs(90), "temporary tables are still there");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

const MAKE: &str = "create temp table t (a int primary key, b text unique, s serial); insert into t values (1, 'own')";

async fn is_its_sessions_alone(server: &Server) {
    let (one, other) = (server.connect().await, server.connect().await);
    one.batch_execute(MAKE).await.expect("a temporary table");
    let missing = other.batch_execute("select * from t").await.expect_err("not there");
    assert_eq!(missing.code().expect("a state").code(), "42P01");
    other.batch_execute("create temp table t (z int)").await.expect("one of the other's own");
    other.batch_execute("insert into t values (7)").await.expect("a row");
    let row = one.query_one("select a, b from t", &[]).await.expect("a row");
    assert_eq!((row.get::<_, i32>(0), row.get::<_, &str>(1)), (1, "own"));
    let schema: String = one
        .query_one("select nspname::text from pg_namespace where oid = pg_my_temp_schema()", &[])
        .await
        .expect("its schema")
        .get(0);
    let foreign = other.batch_execute(&format!("select * from {schema}.t")).await.expect_err("another's");
    assert_eq!(foreign.code().expect("a state").code(), "0A000");
    // A plan of the same text for one session must not serve the other.
    assert_eq!(other.query("select * from t", &[]).await.expect("its own").len(), 1);
    drop(one);
    drop(other);
    until_none_is_left(server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_temporary_table_is_its_sessions_alone() {
    is_its_sessions_alone(&Server::start()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_temporary_table_is_its_sessions_alone_over_bigtable() {
    let bigtable = Bigtable::start();
    is_its_sessions_alone(&bigtable.table().serve()).await;
}

/// `pg_temp` in search_path makes a relation temporary without the keyword. This also holds for the session's first
/// temporary relation.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn search_path_makes_relations_temporary() {
    let server = Server::start();
    let makes = ["create table w (a int)", "create view w as select 1", "create sequence w", "select 1 as a into w"];
    for (path, temporary) in
        [("pg_temp", true), ("nosuch, pg_temp, public", true), ("public, pg_temp", false), ("public", false)]
    {
        for make in makes {
            let client = server.connect().await;
            client.batch_execute(&format!("set search_path = {path}; {make}")).await.expect(make);
            let kind = client.query_one("select relpersistence::text from pg_class where relname = 'w'", &[]);
            let kind: String = kind.await.expect("the relation").get(0);
            assert_eq!(kind, if temporary { "t" } else { "p" }, "{path}: {make}");
            let found = client.query_one("select to_regclass('pg_temp.w') is not null", &[]);
            assert_eq!(found.await.expect("an answer").get::<_, bool>(0), temporary, "{path}: {make}");
            if !temporary {
                let word = if make.contains("into") { "table" } else { make.split(' ').nth(1).expect("a word") };
                client.batch_execute(&format!("drop {word} w")).await.expect("it goes");
            }
            drop(client);
            until_none_is_left(&server).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_leaves_no_temporary_table() {
    let mut server = Server::start();
    let client = server.connect().await;
    client.batch_execute(MAKE).await.expect("a temporary table");
    assert!(left(&server).await > 0);
    server.kill9();
    server.restart();
    until_none_is_left(&server).await;
    let client = server.connect().await;
    client.batch_execute(MAKE).await.expect("another one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_drops_the_temporary_tables_of_one_that_died() {
    let bigtable = Bigtable::start();
    let table = bigtable.table();
    let (mut one, other) = (table.node(), table.node());
    let client = one.connect().await;
    client.batch_execute(MAKE).await.expect("a temporary table");
    let own = other.connect().await;
    own.batch_execute(MAKE).await.expect("one of the other's");
    one.kill9();
    // Temporary tables of the living server stay.
    let begun = Instant::now();
    while left(&other).await > 4 {
        assert!(begun.elapsed() < Duration::from_secs(150), "temporary tables of a dead server are still there");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(own.query("select * from t", &[]).await.expect("still there").len(), 1);
}
