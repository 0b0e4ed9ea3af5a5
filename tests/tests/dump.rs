//! pg_dump reads a PercoSQL, and what it writes makes the same database again: in PercoSQL, and in PostgreSQL.

use percosql_tests::{Postgres, Server};
use std::process::{Command, Stdio};

const SCHEMA: &str = "
    create type mood as enum ('sad', 'ok', 'it''s');
    create schema other;
    create table other.t (
        a int primary key, b text default 'x' not null, c numeric(5,2) check (c <> 1.5), d mood, e timestamptz, f int[],
        unique (b, c));
    create table plain (\"odd \"\"name\" jsonb, s serial);
    create index on other.t (b desc) include (c);
    create view v as select a, b from other.t where a > 1;
    create sequence counter increment 5 start 20;
    select nextval('counter'), nextval('counter');
    comment on table plain is 'it''s plain';
    insert into other.t (a, b, c, d, e, f) values
        (1, E'tab\\tnew\\nline\\\\', 2, 'sad', '2024-02-29 12:00+00', '{1,null,3}'), (2, '', null, 'it''s', null, null);
    insert into plain values ('{\"a\": [1, 2.50]}');
";

fn dump(port: u16, database: &str) -> String {
    let output = Command::new("pg_dump")
        .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-U", "postgres", database])
        .output()
        .expect("pg_dump runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing to complain of");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    // Each run has a key of its own in these.
    text.lines().filter(|line| !line.contains("restrict ")).map(|line| format!("{line}\n")).collect()
}

fn run(port: u16, database: &str, sql: &str) {
    let mut psql = Command::new("psql")
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &port.to_string(), "-U", "postgres"])
        .arg(database)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("psql runs");
    std::io::Write::write_all(&mut psql.stdin.take().expect("its input"), sql.as_bytes()).expect("it reads");
    let output = psql.wait_with_output().expect("psql ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_is_dumped_can_be_restored_here_and_there() {
    let (server, postgres) = (Server::start(), Postgres::start());
    run(server.port(), "postgres", SCHEMA);
    let dumped = dump(server.port(), "postgres");
    for part in
        ["CREATE TABLE other.t", "COPY public.plain", "CREATE VIEW public.v", "setval('public.counter', 25, true)"]
    {
        assert!(dumped.contains(part), "no {part} in\n{dumped}");
    }
    run(server.port(), "postgres", "create database again");
    run(server.port(), "again", &dumped);
    assert_eq!(dump(server.port(), "again"), dumped);
    run(postgres.port(), "postgres", &dumped);
    // What PostgreSQL makes of it comes back.
    let theirs = dump(postgres.port(), "postgres");
    run(server.port(), "postgres", "create database back");
    run(server.port(), "back", &theirs);
    for sql in
        ["select * from other.t order by a", "select * from plain", "select * from v", "select nextval('counter')"]
    {
        let rows = |port: u16, database: &str| {
            let arguments =
                ["-X", "-At", "-h", "127.0.0.1", "-p", &port.to_string(), "-U", "postgres", "-c", sql, database];
            let output = Command::new("psql").args(arguments).env("PGTZ", "UTC").output().expect("psql runs");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let first = rows(server.port(), "postgres");
        assert!(!first.is_empty(), "{sql}");
        assert_eq!(rows(server.port(), "again"), first, "{sql}");
        assert_eq!(rows(server.port(), "back"), first, "{sql}");
        assert_eq!(rows(postgres.port(), "postgres"), first, "{sql}");
    }
}
