//! Two sessions with concurrent definitions. Independent ones commit. Dependent ones wait, fail, or run again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::session::tests::{Client, connect, database};
use std::time::Duration;

async fn two() -> (Client, Client) {
    let database = database().await;
    (connect(&database).await, connect(&database).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn different_objects_made_in_two_open_transactions_both_commit() {
    let (mut a, mut b) = two().await;
    a.run("create table old(x int)").await;
    for sql in ["begin", "select count(*) from old"] {
        a.run(sql).await;
        b.run(sql).await;
    }
    a.run("create table a(i serial primary key)").await;
    b.run("create table b(i int primary key, t text unique)").await;
    a.run("insert into a default values").await;
    b.run("insert into b values (1, 'x')").await;
    a.run("create schema sa").await;
    b.run("create schema sb").await;
    a.run("create role ra").await;
    b.run("create sequence s").await;
    a.run("alter table old add y int").await;
    a.run("commit").await;
    b.run("commit").await;
    assert_eq!(a.rows("select * from a, b").await, ["1|1|x"]);
    assert_eq!(b.rows("select count(*) from pg_class where relname in ('a','b','s','a_i_seq')").await, ["4"]);
    // A third session that began before both sees neither, and can still define objects.
    b.run("begin").await;
    b.run("select 1 from old").await;
    for round in 0..40 {
        a.run(&format!("create table n{round}(x int)")).await;
    }
    assert_eq!(b.state("select * from n1").await, "42P01");
    b.run("rollback").await;
    b.run("begin").await;
    b.run("select 1 from old").await;
    a.run("drop table n1").await;
    b.run("create table late(x int)").await;
    assert_eq!(b.rows("select count(*) from n1").await, ["0"]);
    b.run("commit").await;
    assert_eq!(a.state("select * from n1").await, "42P01");
    assert_eq!(a.rows("select count(*) from late").await, ["0"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_name_is_taken_once() {
    let (mut a, mut b) = two().await;
    for (first, second, state, message) in [
        ("create table t(x int)", "create table t(y int)", "42P07", "relation \"t\" already exists"),
        ("create sequence q", "create table q(y int)", "42P07", "relation \"q\" already exists"),
        ("create schema s", "create schema s", "42P06", "schema \"s\" already exists"),
        ("create role r", "create role r", "42710", "role \"r\" already exists"),
        ("alter table t rename to u", "create table u(y int)", "42P07", "relation \"u\" already exists"),
        ("create index i on u(x)", "create table i(y int)", "42P07", "relation \"i\" already exists"),
    ] {
        a.run("begin").await;
        a.run(first).await;
        let waiting = tokio::spawn(async move {
            let result = b.again(second).await;
            (b, result)
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!waiting.is_finished(), "{second}");
        a.run("commit").await;
        let (back, result) = waiting.await.unwrap();
        b = back;
        let error = result.unwrap_err();
        assert_eq!((error.state(), error.fields().message.as_str()), (state, message), "{second}");
    }
    // A rollback frees the name.
    a.run("begin").await;
    a.run("create table free(x int)").await;
    let waiting = tokio::spawn(async move { b.again("create table free(y int)").await });
    tokio::time::sleep(Duration::from_millis(30)).await;
    a.run("rollback").await;
    assert_eq!(waiting.await.unwrap().unwrap(), "CREATE TABLE");
    assert_eq!(a.rows("select y from free").await.len(), 0);
    // The transaction that gave up a name can use it again.
    a.run("begin; drop table free; create table free(z text); commit").await;
    a.run("insert into free values ('z')").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_goes_only_when_nothing_comes_into_it() {
    let (mut a, mut b) = two().await;
    a.run("create schema s").await;
    // Both are open: the second waits and then sees the first's change.
    a.run("begin").await;
    a.run("create table s.t(x int)").await;
    let dropping = tokio::spawn(async move {
        let result = b.again("drop schema s").await;
        (b, result)
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!dropping.is_finished());
    a.run("commit").await;
    let (mut b, result) = dropping.await.unwrap();
    assert_eq!(result.unwrap_err().state(), "2BP01");
    a.run("drop table s.t").await;
    // Both blocks have old snapshots: exactly one commits.
    for drop_first in [true, false] {
        a.run("create schema if not exists s").await;
        for client in [&mut a, &mut b] {
            client.run("begin").await;
            client.run("select 1").await;
            client.run("select count(*) from pg_class").await;
        }
        let (first, second) = if drop_first {
            ("drop schema s", "create table s.t(x int)")
        } else {
            ("create table s.t(x int)", "drop schema s")
        };
        a.run(first).await;
        a.run("commit").await;
        let late = match b.try_run_with(second, "").await {
            Ok(_) => b.try_run_with("commit", "").await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert_eq!(late.unwrap_err().state(), "40001", "{second}");
        b.run("rollback").await;
        a.run("drop schema if exists s cascade").await;
    }
    // The same for a role that owns a new object.
    a.run("create role r").await;
    a.run("begin").await;
    a.run("create schema authorization r").await;
    let dropping = tokio::spawn(async move { b.again("drop role r").await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!dropping.is_finished());
    a.run("commit").await;
    assert_eq!(dropping.await.unwrap().unwrap_err().state(), "2BP01");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_changes_of_one_table_wait_for_each_other() {
    let (mut a, mut b) = two().await;
    a.run("create table t(x int)").await;
    a.run("begin").await;
    a.run("alter table t add y int").await;
    let waiting = tokio::spawn(async move {
        let result = b.again("alter table t add z int").await;
        (b, result)
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    a.run("commit").await;
    let (mut b, result) = waiting.await.unwrap();
    assert_eq!(result.unwrap(), "ALTER TABLE");
    b.run("insert into t(x, y, z) values (1, 2, 3)").await;
    // A writer with the old definition does not commit.
    a.run("begin").await;
    a.run("select * from t").await;
    b.run("alter table t drop z").await;
    a.run("insert into t(x, y, z) values (1, 2, 3)").await;
    assert_eq!(a.state("commit").await, "40001");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sequences_and_schemas_take_their_defaults_along_when_renamed() {
    let (mut a, mut b) = two().await;
    a.run("create schema s").await;
    a.run("create table s.t(i serial primary key, j int)").await;
    a.run("create sequence q").await;
    a.run("create table u(i int default nextval('q'), k int default nextval('s.t_i_seq'))").await;
    let defaults = "select a.attname, pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d join pg_attribute a on \
                    a.attrelid = d.adrelid and a.attnum = d.adnum order by 1, 2";
    assert_eq!(
        a.rows(defaults).await,
        ["i|nextval('q'::regclass)", "i|nextval('s.t_i_seq'::regclass)", "k|nextval('s.t_i_seq'::regclass)"]
    );
    a.run("alter schema s rename to z").await;
    a.run("alter sequence q rename to r").await;
    a.run("alter sequence if exists nosuch rename to r").await;
    assert_eq!(
        a.rows(defaults).await,
        ["i|nextval('r'::regclass)", "i|nextval('z.t_i_seq'::regclass)", "k|nextval('z.t_i_seq'::regclass)"]
    );
    assert_eq!(a.rows("insert into z.t(j) values (1) returning i").await, ["1"]);
    assert_eq!(b.rows("insert into u default values returning i, k").await, ["1|2"]);
    assert_eq!(a.state("alter schema nosuch rename to y").await, "3F000");
    assert_eq!(a.state("alter schema z rename to public").await, "42P06");
    assert_eq!(a.state("alter schema z rename to pg_z").await, "42939");
    assert_eq!(a.state("create table v(i int default nextval('nosuch'))").await, "42P01");
    assert_eq!(a.state("create table v(i int default nextval('u'))").await, "42809");
    assert_eq!(a.state("drop sequence r").await, "2BP01");
    // A sequence that a new default uses is not dropped.
    for client in [&mut a, &mut b] {
        client.run("create sequence if not exists n").await;
        client.run("begin").await;
        client.run("select count(*) from pg_class").await;
    }
    a.run("create table w(i int default nextval('n'))").await;
    a.run("commit").await;
    assert_eq!(b.state("drop sequence n").await, "40001");
    b.run("rollback").await;
    // A dropped column drops every constraint over it.
    a.run("create table d(x int, y int, check (x > y), unique (x, y))").await;
    a.run("alter table d drop column y").await;
    a.run("insert into d values (1), (1)").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_follow_savepoints_and_plans_follow_definitions() {
    let (mut a, mut b) = two().await;
    a.run("begin").await;
    a.run("create table t(a int primary key)").await;
    a.run("insert into t values (1)").await;
    a.run("savepoint s").await;
    a.run("create table u(b int)").await;
    a.run("create index i on t(a)").await;
    a.run("alter table t add c int default 5").await;
    assert_eq!(a.rows("select * from t").await, ["1|5"]);
    a.run("rollback to s").await;
    assert_eq!(a.rows("select * from t").await, ["1"]);
    assert_eq!(a.state("select * from u").await, "42P01");
    a.run("rollback to s").await;
    a.run("insert into t values (3)").await;
    a.run("commit").await;
    assert_eq!(a.rows("check table t").await, Vec::<String>::new());
    b.run("prepare p as select * from t order by 1").await;
    b.run("prepare w as insert into t values ($1)").await;
    assert_eq!(b.rows("execute p").await, ["1", "3"]);
    a.run("begin; drop table t; create table t(a int); insert into t values (7); commit").await;
    assert_eq!(b.rows("execute p").await, ["7"]);
    a.run("begin; truncate t; insert into t values (8); rollback").await;
    assert_eq!(b.rows("execute p").await, ["7"]);
    a.run("create index i on t(a)").await;
    b.run("execute w(9)").await;
    a.run("alter table t add z text").await;
    let error = b.error("execute p").await;
    assert_eq!((error.state(), error.fields().message.as_str()), ("0A000", "cached plan must not change result type"));
    b.run("execute w(10)").await;
    a.run("alter table t drop z").await;
    assert_eq!(b.rows("execute p").await, ["7", "9", "10"]);
    assert_eq!(a.rows("check table t").await, Vec::<String>::new());
    a.run("create sequence q").await;
    a.run("begin; select nextval('q'); rollback").await;
    assert_eq!(a.rows("select nextval('q')").await, ["2"]);
    a.run("begin; create sequence r; select nextval('r'); rollback").await;
    assert_eq!(a.state("select nextval('r')").await, "42P01");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_goes_only_when_no_view_comes_over_it() {
    let (mut a, mut b) = two().await;
    a.run("create table t(x int)").await;
    // If the table is dropped first, the view is not created.
    a.run("begin").await;
    a.run("select * from t").await;
    b.run("drop table t").await;
    assert_eq!(a.state("create view v as select x from t").await, "40001");
    a.run("rollback").await;
    assert_eq!(a.state("select * from v").await, "42P01");
    // If the view is created first, a DROP that began earlier fails, and finds the view when it runs again.
    a.run("create table t(x int)").await;
    b.run("begin isolation level repeatable read").await;
    b.run("select * from t").await;
    a.run("create view v as select x from t").await;
    let dropped = b.try_run_with("drop table t; commit", "").await;
    assert_eq!(dropped.unwrap_err().state(), "40001");
    b.run("rollback").await;
    assert_eq!(b.again("drop table t").await.unwrap_err().state(), "2BP01");
    assert_eq!(a.rows("select count(*) from v").await, ["0"]);
}
