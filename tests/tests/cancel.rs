//! Long computations that are cancelled, time out or lose their client. The rest of the server continues meanwhile.

use percosql_tests::Server;
use percosql_tests::raw::{Raw, Reply, column, error_state, kinds, status};
use std::time::{Duration, Instant};

/// Statements that run for minutes or endlessly on any machine.
const LONG: [&str; 15] = [
    "select count(*) from b x, b y where x.a + y.a = -1",
    "select count(*) from b x, b y, b z",
    "select count(*) from b x join b y on x.a = y.a join b z on y.a = z.a and x.id + y.id + z.id < 0",
    "select count(*) from generate_series(1, 10000000000)",
    "select * from generate_series(1, 100000000) g order by g desc limit 3",
    "select g % 1000, count(*) from generate_series(1, 100000000) g group by 1",
    "select (select count(*) from b y where y.a > x.a + y.id) from b x",
    "select pg_sleep(600)",
    "update b set a = a + 1 where id = (select count(*) from b x, b y where x.a + y.a = -1)",
    "insert into b select x.id + 1000000, 1 from b x, b y where x.a + y.a = -1",
    "explain analyze select count(*) from b x, b y where x.a + y.a = -1",
    "select gcd(3::numeric ^ 100000, 7::numeric ^ 57000)",
    "select sum(factorial(3000 + g % 10)) from generate_series(1, 1000000) g",
    "select count(regexp_count(repeat('ab', 20000 + g % 10), 'a.*b')) from generate_series(1, 10000000) g",
    "copy (select x.id from b x, b y where x.a + y.a = -1) to stdout",
];

/// Longest time until the answer. An idle machine takes some milliseconds. A rented machine may stall for seconds,
/// which must not fail the test. Every statement above takes longer than this limit.
const PROMPT: Duration = Duration::from_secs(30);
/// Processor seconds that a server may use meanwhile. Unlike elapsed time, they distinguish a prompt end from a late
/// one on any machine.
const PROMPT_WORK: f64 = 3.0;

fn server() -> Server {
    let server = Server::start();
    let mut raw = Raw::connect(&server);
    raw.query("create table b (id int primary key, a int)");
    let replies = raw.query("insert into b select g, g % 10 from generate_series(1, 30000) g");
    assert_eq!(kinds(&replies), "CZ", "{replies:?}");
    server
}

fn cancel(server: &Server, raw: &Raw) {
    let body = [&raw.key.0.to_be_bytes()[..], &raw.key.1].concat();
    Raw::open(server).packet(80_877_102, &body);
}

/// Waits until the server reports that a client's statement runs, then 200 ms more.
fn until_it_runs(server: &Server, raw: &Raw) {
    let active = format!("select count(*) from pg_stat_activity where state = 'active' and pid = {}", raw.key.0);
    let (mut watcher, begin) = (Raw::connect(server), Instant::now());
    while column(&watcher.query(&active)) != ["1"] {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
}

fn the_error(replies: &[Reply]) -> (String, String) {
    let error = replies.iter().find(|reply| reply.kind == b'E').expect("an error");
    (error.field(b'C').unwrap_or_default(), error.field(b'M').unwrap_or_default())
}

fn assert_prompt(begin: Instant, worked: f64, sql: &str) {
    assert!(begin.elapsed() < PROMPT, "{:?}: {sql}", begin.elapsed());
    assert!(worked < PROMPT_WORK, "{worked} s of processor time: {sql}");
}

#[test]
fn whatever_computes_is_cancelled_promptly() {
    let server = server();
    for sql in LONG {
        let mut raw = Raw::connect(&server);
        raw.send(b'Q', &[sql.as_bytes(), b"\0"].concat());
        until_it_runs(&server, &raw);
        let (begin, worked) = (Instant::now(), processor_seconds(&server));
        cancel(&server, &raw);
        let replies = raw.until_ready();
        assert_prompt(begin, processor_seconds(&server) - worked, sql);
        let expected = ("57014".to_string(), "canceling statement due to user request".to_string());
        assert_eq!(the_error(&replies), expected, "{sql}");
        assert_eq!(status(&replies), 'I');
        assert_eq!(column(&raw.query("select count(*) from b")), ["30000"], "{sql}");
    }
}

#[test]
fn whatever_computes_ends_at_its_timeout() {
    let server = server();
    let mut raw = Raw::connect(&server);
    raw.query("set statement_timeout = 200");
    for sql in LONG {
        let (begin, worked) = (Instant::now(), processor_seconds(&server));
        let replies = raw.query(sql);
        assert_prompt(begin, processor_seconds(&server) - worked, sql);
        let expected = ("57014".to_string(), "canceling statement due to statement timeout".to_string());
        assert_eq!(the_error(&replies), expected, "{sql}");
    }
    assert_eq!(kinds(&raw.query("select 1")), "TDCZ");
}

#[test]
fn a_cancelled_write_keeps_the_rest_of_its_block() {
    let server = server();
    let mut raw = Raw::connect(&server);
    raw.query("begin");
    raw.query("insert into b values (-1, 0)");
    raw.query("savepoint s");
    raw.send(b'Q', b"insert into b select x.id + 1000000 + y.id * 100000, 1 from b x, b y\0");
    until_it_runs(&server, &raw);
    cancel(&server, &raw);
    assert_eq!(error_state(&raw.until_ready()), "57014");
    raw.query("rollback to s");
    assert_eq!(kinds(&raw.query("commit")), "CZ");
    assert_eq!(column(&raw.query("select count(*) from b")), ["30001"]);
}

#[test]
fn others_are_served_while_many_compute() {
    let server = server();
    let mut busy = Vec::new();
    for _ in 0..6 {
        let mut raw = Raw::connect(&server);
        raw.send(b'Q', b"select count(*) from b x, b y where x.a + y.a = -1\0");
        busy.push(raw);
    }
    for raw in &busy {
        until_it_runs(&server, raw);
    }
    let mut raw = Raw::connect(&server);
    for id in 1..20 {
        let begin = Instant::now();
        assert_eq!(column(&raw.query(&format!("select a from b where id = {id}"))), [(id % 10).to_string()]);
        assert!(begin.elapsed() < PROMPT, "{:?}", begin.elapsed());
    }
    // A statement that is too long for the connection threads must not starve either.
    assert_eq!(column(&raw.query("select count(distinct id % 100) from b")), ["100"]);
    for raw in &busy {
        cancel(&server, raw);
    }
    for raw in &mut busy {
        assert_eq!(error_state(&raw.until_ready()), "57014");
    }
}

/// Processor time of a process in seconds.
fn processor_seconds(server: &Server) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).expect("a running process");
    let fields: Vec<&str> = text.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().expect("ticks") + fields[12].parse::<f64>().expect("ticks");
    ticks / 100.0
}

#[test]
fn a_client_that_leaves_takes_its_statement_with_it() {
    let server = server();
    for sql in ["select count(*) from b x, b y where x.a + y.a = -1", LONG[8], LONG[5]] {
        let mut raw = Raw::connect(&server);
        raw.send(b'Q', &[sql.as_bytes(), b"\0"].concat());
        until_it_runs(&server, &raw);
        drop(raw);
        let begin = Instant::now();
        loop {
            let before = processor_seconds(&server);
            std::thread::sleep(Duration::from_millis(500));
            if processor_seconds(&server) - before < 0.1 {
                break;
            }
            assert!(begin.elapsed() < Duration::from_secs(15), "nobody waits for it, and it still runs: {sql}");
        }
    }
}

/// A client that holds a row lock and does not read a result that fills all buffers between it and the server.
fn stuck(server: &Server, watcher: &mut Raw) -> Raw {
    let mut raw = Raw::connect(server);
    let rows = "select repeat('x', 1000) from generate_series(1, 10000000)";
    let sql = format!("begin isolation level read committed; update t set b = 1 where a = 1; {rows}\0");
    raw.send(b'Q', sql.as_bytes());
    let begin = Instant::now();
    while kinds(&watcher.query("select a from t where a = 1 for update nowait")).contains('D') {
        assert!(begin.elapsed() < PROMPT, "the row is not locked");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(700));
    raw
}

#[test]
fn a_client_that_does_not_read_keeps_nothing_from_others() {
    let mut server = Server::start();
    let mut watcher = Raw::connect(&server);
    watcher.query("create table t (a int primary key, b int); insert into t values (1, 0)");
    watcher.query("set default_transaction_isolation = 'read committed'; set lock_timeout = '20s'");
    let update = "update t set b = 2 where a = 1";
    // A cancel ends the statement and releases the row lock.
    let mut raw = stuck(&server, &mut watcher);
    assert_eq!(column(&watcher.query(&format!("select pg_cancel_backend({})", raw.key.0))), ["t"]);
    assert_eq!(kinds(&watcher.query(update)), "CZ");
    // The reply stream is complete up to the error.
    let replies = raw.until_ready();
    assert_eq!((error_state(&replies), status(&replies)), ("57014".into(), 'E'));
    assert_eq!(kinds(&raw.query("rollback")), "CZ");
    // A terminated session is gone.
    let raw = stuck(&server, &mut watcher);
    let begin = Instant::now();
    watcher.query(&format!("select pg_terminate_backend({})", raw.key.0));
    assert_eq!(kinds(&watcher.query(update)), "CZ");
    let left = format!("select count(*) from pg_stat_activity where pid = {}", raw.key.0);
    while column(&watcher.query(&left)) != ["0"] {
        assert!(begin.elapsed() < PROMPT, "it is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
    // A stop of the server does not wait for the client; statements have ten seconds.
    let _raw = stuck(&server, &mut watcher);
    let begin = Instant::now();
    assert_eq!(server.stop(), Some(0));
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
}

#[test]
fn a_terminated_connection_is_told_so() {
    let server = Server::start();
    let mut watcher = Raw::connect(&server);
    watcher.query("create table t (a int)");
    for sql in ["copy t from stdin", "select pg_sleep(600)", "begin; select pg_sleep(600)"] {
        let mut raw = Raw::connect(&server);
        raw.send(b'Q', format!("{sql}\0").as_bytes());
        until_it_runs(&server, &raw);
        watcher.query(&format!("select pg_terminate_backend({})", raw.key.0));
        let replies = raw.until_ready();
        assert_eq!(error_state(&replies), "57P01", "{sql}");
        assert_eq!(replies.last().map(|reply| reply.kind), Some(b'E'), "{sql}: nothing comes behind it");
    }
    let itself = "select pg_terminate_backend(pg_backend_pid())";
    for sql in [itself.to_string(), format!("begin; {itself}; commit"), format!("copy ({itself}) to stdout")] {
        let mut raw = Raw::connect(&server);
        raw.send(b'Q', format!("{sql}\0").as_bytes());
        let replies = raw.until_ready();
        assert_eq!(error_state(&replies), "57P01", "{sql}");
        assert_eq!(replies.last().map(|reply| reply.kind), Some(b'E'), "{sql}");
    }
}
