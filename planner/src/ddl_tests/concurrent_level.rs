//! Concurrent definitions at every isolation level. Definitions of different objects and background work do not make
//! each other fail. Of two definitions of one object, the second waits and reads the state again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::error::Result;
use crate::session::database::Database;
use crate::session::tests::{Client, connect, database};
use crate::statistics::automatic;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// SERIALIZABLE is omitted: this store then validates the catalog too, and the server does not.
const LEVELS: [&str; 2] = ["read committed", "repeatable read"];

/// A database with row locks. Without them there is no READ COMMITTED, and no transaction waits.
async fn with_row_locks() -> Option<Arc<Database>> {
    let database = database().await;
    database.transactions().can_lock_rows().then_some(database)
}

/// Runs a statement in the background, which must wait for a lock.
async fn waiting(mut client: Client, sql: &'static str) -> tokio::task::JoinHandle<(Client, Result<String>)> {
    let task = tokio::spawn(async move {
        let result = client.try_run_with(sql, "").await.map(|mut replies| replies.pop().unwrap().tag);
        (client, result)
    });
    tokio::time::sleep(Duration::from_millis(40)).await;
    assert!(!task.is_finished(), "{sql} does not wait");
    task
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statistics_never_make_a_definition_fail() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    for level in LEVELS {
        for sql in [
            "alter table t add y int",
            "alter table t alter x type bigint",
            "alter table t rename to u",
            "create index on t (x)",
            "create view v as select x from t",
            "comment on table t is 'c'",
            "truncate t",
            "analyze t",
            "drop table t",
        ] {
            // Background work commits before the definition, or while it is open.
            for open in [false, true] {
                a.run("create table t (x int); insert into t values (1), (2)").await;
                a.run(&format!("begin isolation level {level}; select count(*) from t")).await;
                if open {
                    a.run(sql).await;
                }
                automatic::look(database.catalog(), &mut HashSet::new()).await.unwrap();
                if !open {
                    a.run(sql).await;
                }
                assert_eq!(a.tag("commit").await, "COMMIT", "{level}: {sql}");
                a.run("drop view if exists v; drop table if exists t, u").await;
            }
            // Another session runs ANALYZE.
            a.run("create table t (x int); insert into t values (1), (2)").await;
            a.run(&format!("begin isolation level {level}; select count(*) from t")).await;
            b.run("analyze t").await;
            a.run(sql).await;
            assert_eq!(a.tag("commit").await, "COMMIT", "{level}: {sql}");
            a.run("drop view if exists v; drop table if exists t, u").await;
        }
    }
    a.run("create table t (x int); insert into t values (1), (2); begin; truncate t").await;
    automatic::look(database.catalog(), &mut HashSet::new()).await.unwrap();
    a.run("commit").await;
    assert_eq!(a.rows("select reltuples from pg_class where relname = 't'").await, ["-1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_of_different_objects_commit_at_every_level() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    for (round, level) in LEVELS.iter().enumerate() {
        a.run(&format!("create schema s{round}; create table s{round}.t (x int); create role r{round}")).await;
        a.run(&format!("begin isolation level {level}; select 1")).await;
        a.run(&format!("create table a{round} (i int)")).await;
        for sql in [
            format!("create table b{round} (i int)"),
            format!("create index on b{round} (i)"),
            format!("create type e{round} as enum ('x')"),
            format!("create view v{round} as select 1 as one"),
            format!("create role q{round} in role r{round}"),
            format!("grant create on schema s{round} to r{round}"),
            format!("comment on schema s{round} is 'c'"),
            format!("alter role r{round} createdb"),
            "alter database postgres set work_mem = '8MB'".to_string(),
            format!("alter table b{round} add k int"),
            format!("drop table b{round}"),
        ] {
            b.run(&sql).await;
        }
        a.run(&format!("create table s{round}.a{round} (i int primary key)")).await;
        a.run(&format!("create type f{round} as enum ('x'); create role p{round}")).await;
        assert_eq!(a.tag("commit").await, "COMMIT", "{level}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_open_definitions_do_not_share_what_they_write() {
    let database = database().await;
    let mut clients = Vec::new();
    for number in 0..40 {
        let mut client = connect(&database).await;
        let level = LEVELS[number % 2];
        client.run(&format!("begin isolation level {level}; create table n{number} (i int)")).await;
        clients.push(client);
    }
    for mut client in clients {
        assert_eq!(client.tag("commit").await, "COMMIT");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_definition_of_an_object_waits_and_looks_again() {
    let Some(database) = with_row_locks().await else { return };
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("create role r; create role g; create schema s; create type e as enum ('x'); create sequence q").await;
    for (first, second, outcome) in [
        ("alter table t add y int", "alter table t add z int", Ok("ALTER TABLE")),
        ("alter table t add y int", "alter table t add y int", Err("42701")),
        ("alter table t rename to u", "alter table t add z int", Err("42P01")),
        ("drop table t", "alter table if exists t add z int", Ok("ALTER TABLE")),
        ("drop table t", "create view v as select x from t", Err("42P01")),
        ("create view v as select x from t", "drop table t", Err("2BP01")),
        ("create table c (x int references t)", "drop table t", Err("2BP01")),
        ("comment on table t is 'c'", "alter table t add z int", Ok("ALTER TABLE")),
        ("grant select on t to r", "grant insert on t to r", Ok("GRANT")),
        ("create index i on t (x)", "create index i on t (x)", Err("42P07")),
        ("create table n (x int)", "create table if not exists n (x int)", Ok("CREATE TABLE")),
        ("alter role r createdb", "alter role r createrole", Ok("ALTER ROLE")),
        ("create schema w authorization r", "drop role r", Err("2BP01")),
        ("alter schema s rename to s2", "create table s.n (x int)", Err("3F000")),
        ("create table s.n (x int)", "drop schema s", Err("2BP01")),
        ("drop schema s", "create table s.n (x int)", Err("3F000")),
        ("grant create on schema s to r", "grant usage on schema s to r", Ok("GRANT")),
        ("alter type e add value 'y'", "alter type e add value 'z'", Ok("ALTER TYPE")),
        ("create table n (x e)", "drop type e", Err("2BP01")),
        ("alter sequence q increment 2", "alter sequence q minvalue -5", Ok("ALTER SEQUENCE")),
        ("drop sequence q", "create table n (x int default nextval('q'))", Err("42P01")),
    ] {
        a.run("create table if not exists t (x int primary key)").await;
        // The views of a block that began earlier, and of a single statement.
        for begin in
            ["begin isolation level read committed; select 1", "begin isolation level repeatable read", "select 1"]
        {
            a.run("begin isolation level read committed").await;
            a.run(first).await;
            b.run(begin).await;
            let task = waiting(b, second).await;
            a.run("commit").await;
            let (back, result) = task.await.unwrap();
            b = back;
            let found = result.as_ref().map(String::as_str).map_err(|error| error.state());
            assert_eq!(found, outcome, "{first} | {second} after {begin}: {result:?}");
            if begin != "select 1" {
                assert_eq!(b.tag("commit").await, if found.is_ok() { "COMMIT" } else { "ROLLBACK" }, "{second}");
            }
            a.run("drop view if exists v; drop table if exists c, n, s.n, t, u; drop schema if exists s2, w, s").await;
            a.run("drop role if exists r, g; create role r; create role g; drop type if exists e").await;
            a.run("drop sequence if exists q; create sequence q; create type e as enum ('x'); create schema s").await;
            a.run("create table t (x int primary key)").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_of_an_object_that_changed_since_an_old_snapshot_fails_at_once() {
    let database = database().await;
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("create table t (x int); create role r").await;
    for (first, second) in [
        ("alter table t add y int", "alter table t add z int"),
        ("alter role r createdb", "alter role r createrole"),
        ("create view v as select x from t", "drop table t"),
    ] {
        a.run("begin isolation level repeatable read; select count(*) from t").await;
        b.run(first).await;
        assert_eq!(a.state(second).await, "40001", "{second}");
        a.run("rollback").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_that_wait_for_each_other_and_for_rows_are_a_deadlock() {
    let Some(database) = with_row_locks().await else { return };
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("create table t (x int primary key); insert into t values (1); create role r").await;
    for (of_a, of_b) in [
        ("update t set x = 1", "alter role r createdb"),
        ("create table n (x int)", "alter role r createdb"),
        ("create type n as enum ('x')", "update t set x = 1"),
    ] {
        for client in [&mut a, &mut b] {
            client.run("begin isolation level read committed").await;
        }
        a.run(of_a).await;
        b.run(of_b).await;
        let task = tokio::spawn(async move {
            let result = b.try_run_with(of_a, "").await.map(drop);
            (b, result)
        });
        tokio::time::sleep(Duration::from_millis(40)).await;
        let result = a.try_run_with(of_b, "").await.map(drop);
        let lost = result.is_err();
        a.run(if lost { "rollback" } else { "commit" }).await;
        let (back, other) = task.await.unwrap();
        b = back;
        b.run("rollback").await;
        let errors: Vec<&str> =
            [result, other].iter().filter_map(|one| one.as_ref().err().map(|one| one.state())).collect();
        assert_eq!(errors.iter().filter(|state| **state == "40P01").count(), 1, "{of_a} | {of_b}: {errors:?}");
        a.run("drop table if exists n; drop type if exists n").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_committed_sees_what_others_defined_and_a_snapshot_says_why_it_does_not() {
    let Some(database) = with_row_locks().await else { return };
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    a.run("create table old (i int); create table gone (i int); create view shown as select i from gone").await;
    for level in LEVELS {
        a.run(&format!("begin isolation level {level}; select count(*) from old")).await;
        b.run("create table t (i int); insert into t values (7); create view v as select i from t").await;
        b.run("create sequence q; create type mood as enum ('sad'); create schema s; create table s.t (i int)").await;
        b.run("alter table old add z int default 5; insert into old values (1); drop view shown; drop table gone")
            .await;
        let new = ["table t", "table v", "select 'sad'::mood", "table s.t", "lock table t"];
        if level == "read committed" {
            for sql in new {
                a.run(sql).await;
            }
            assert_eq!(a.rows("select i, z from old").await, ["1|5"]);
            assert_eq!(a.state("select * from gone").await, "42P01");
        } else {
            for sql in new.into_iter().chain(["alter table t add x int", "drop table t", "create table s.n (i int)"]) {
                a.run("savepoint p").await;
                let error = a.error(sql).await;
                let state = if sql.contains("mood") {
                    "42704"
                } else if sql.contains("s.n") {
                    "3F000"
                } else {
                    "42P01"
                };
                assert_eq!(error.state(), state, "{sql}");
                let hint = error.fields().hint.clone().unwrap_or_default();
                assert!(hint.contains("created after this transaction's snapshot"), "{level}: {sql}: {hint}");
                a.run("rollback to p").await;
            }
            let error = a.error("table nowhere").await;
            assert_eq!((error.state(), error.fields().hint.as_deref()), ("42P01", None));
        }
        a.run("rollback").await;
        b.run("drop view v; drop table t, s.t; drop schema s; drop sequence q; drop type mood").await;
        b.run("drop table old; create table old (i int); create table gone (i int)").await;
        b.run("create view shown as select i from gone").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_waited_for_a_definition_goes_by_the_newest() {
    let Some(database) = with_row_locks().await else { return };
    let (mut a, mut b) = (connect(&database).await, connect(&database).await);
    for (definition, write, outcome) in [
        ("alter table t add y int default 7", "insert into t values (2)", Ok("INSERT 0 1")),
        ("alter table t add y int default 7", "update t set x = 2", Ok("UPDATE 1")),
        ("alter table t add y int default 7", "delete from t", Ok("DELETE 1")),
        ("alter table t alter x type bigint", "insert into t values (9000000000)", Ok("INSERT 0 1")),
        ("alter table t add check (x < 2)", "insert into t values (2)", Err("23514")),
        ("alter table t rename to u", "insert into t values (2)", Err("42P01")),
        ("truncate t", "update t set x = 2", Ok("UPDATE 0")),
        ("drop table t", "delete from t", Err("42P01")),
    ] {
        for begin in
            ["begin isolation level read committed; select 1", "begin isolation level repeatable read", "select 1"]
        {
            a.run("create table t (x int); insert into t values (1)").await;
            a.run("begin isolation level read committed").await;
            a.run(definition).await;
            b.run(begin).await;
            let task = waiting(b, write).await;
            a.run("commit").await;
            let (back, result) = task.await.unwrap();
            b = back;
            let found = result.as_ref().map(String::as_str).map_err(|error| error.state());
            assert_eq!(found, outcome, "{definition} | {write} after {begin}: {result:?}");
            if begin != "select 1" {
                assert_eq!(b.tag("commit").await, if found.is_ok() { "COMMIT" } else { "ROLLBACK" }, "{write}");
            }
            a.run("drop table if exists t, u").await;
        }
    }
}
