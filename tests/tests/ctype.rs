//! A database with LC_CTYPE `C` keeps this setting after a kill of the server and through pg_dump to another server.

use percosql_tests::{Postgres, Server, psql};
use std::io::Write;
use std::process::{Command, Stdio};

const MAKE: &str = "create table t (a text unique, low text generated always as (lower(a)) stored);
    create unique index t_low on t (lower(a)); insert into t values ('É'), ('é'), ('Ab')";

fn ask(server: &Server, sql: &str) -> String {
    psql(server, &["-At", "-c", sql, "letters"]).success().to_string()
}

fn has_letters_of_ascii(server: &Server) {
    assert_eq!(ask(server, "show lc_ctype"), "C");
    assert_eq!(ask(server, "select upper('é'), 'É' ilike 'é', 'é' ~ '\\w'"), "é|f|f");
    assert_eq!(ask(server, "select a, low from t where lower(a) = 'é'"), "é|é");
    assert_eq!(ask(server, "select a, low from t where lower(a) = 'ab'"), "Ab|ab");
    assert_eq!(ask(server, "select count(*) from t where a ~* 'é'"), "1");
}

fn dump(port: u16) -> String {
    let output = Command::new("pg_dump")
        .args(["-C", "-h", "127.0.0.1", "-p", &port.to_string(), "-U", "postgres", "letters"])
        .output()
        .expect("pg_dump runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing to complain of");
    let text = String::from_utf8(output.stdout).expect("text");
    // pg_dump 15 writes a random key into the `restrict` lines.
    text.lines().filter(|line| !line.contains("restrict ")).map(|line| format!("{line}\n")).collect()
}

fn restore(port: u16, dumped: &str) {
    let mut psql = Command::new("psql")
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &port.to_string(), "-U", "postgres"])
        .arg("postgres")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("psql runs");
    psql.stdin.take().expect("its input").write_all(dumped.as_bytes()).expect("it reads");
    let output = psql.wait_with_output().expect("psql ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn lc_ctype_outlives_a_kill_and_a_dump() {
    let mut server = Server::start();
    psql(&server, &["-c", "create database letters template template0 lc_ctype 'C'"]).success();
    psql(&server, &["-c", MAKE, "letters"]).success();
    has_letters_of_ascii(&server);
    server.restart();
    has_letters_of_ascii(&server);
    let dumped = dump(server.port());
    assert!(dumped.contains("LC_COLLATE = 'C.UTF-8' LC_CTYPE = 'C'"), "{dumped}");
    let other = Server::start();
    restore(other.port(), &dumped);
    has_letters_of_ascii(&other);
    // PostgreSQL restores the dump to the same database.
    let postgres = Postgres::start();
    restore(postgres.port(), &dumped);
    assert!(dump(postgres.port()).contains("LC_COLLATE = 'C.UTF-8' LC_CTYPE = 'C'"));
}
