//! Statements with excessive demands, run by several connections beside short statements. Each ends soon after its
//! `statement_timeout`, none causes an internal error, memory stays bounded, and no other session waits.
//!
//! The statements are in `tests/abuse/statements.sql`. By default each runs once, with values of about a megabyte. With
//! `PERCOSQL_ABUSE_SECONDS` the values have ten megabytes, and the list runs for that time with the limits of a release
//! build. `PERCOSQL_ABUSE_CONNECTIONS` sets the number of connections.

use percosql_tests::Server;
use percosql_tests::raw::{Raw, column};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Accepted SQLSTATEs: cancelled, out of memory, beyond a limit, too complex, out of range, too slow a pattern, disk
/// full.
const REFUSALS: [&str; 9] = ["57014", "53200", "54000", "54001", "22003", "2201B", "53100", "22P02", "22008"];
/// Memory limit of all statements together.
const QUERY_MEMORY: &str = "256MB";

fn list() -> Vec<String> {
    let list = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/abuse/statements.sql")).expect("the list");
    let lines = list.lines().filter(|line| !line.starts_with("--") && !line.is_empty());
    // A debug build takes seconds for ten megabytes.
    let (tens, numbers, parts) = match number("PERCOSQL_ABUSE_SECONDS") {
        Some(_) => (1_000_000, 2_000_000, 400_000),
        None => (120_000, 240_000, 48_000),
    };
    let text = format!("repeat('abcdefghij', {tens})");
    let bytes = format!("convert_to({text}, 'utf8')");
    let numbers = format!("array_fill(17, array[{numbers}])");
    let json = format!("('[' || repeat('{{\"key\": [1, 2.50, \"abc\"]}},', {parts}) || '1]')");
    lines
        .map(|line| {
            line.replace("{text}", &text)
                .replace("{bytes}", &bytes)
                .replace("{numbers}", &numbers)
                .replace("{json}", &json)
        })
        .collect()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Peak resident memory in MB.
fn peak(server: &Server) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("a running process");
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a field");
    line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") >> 10
}

struct Limits {
    connections: usize,
    timeout: Duration,
    /// Longest time between a statement's timeout and its answer.
    late: Duration,
    /// Longest time of a short concurrent statement.
    beside: Duration,
    /// Duration of the run. `None` runs the list once.
    duration: Option<Duration>,
    /// Limit of the resident memory, in MB.
    memory: u64,
}

impl Limits {
    fn of_environment() -> Limits {
        match number("PERCOSQL_ABUSE_SECONDS") {
            Some(seconds) => Limits {
                connections: number("PERCOSQL_ABUSE_CONNECTIONS").unwrap_or(100) as usize,
                timeout: Duration::from_millis(500),
                late: Duration::from_millis(number("PERCOSQL_ABUSE_LATE_MS").unwrap_or(5000)),
                beside: Duration::from_millis(number("PERCOSQL_ABUSE_BESIDE_MS").unwrap_or(5000)),
                duration: Some(Duration::from_secs(seconds)),
                memory: number("PERCOSQL_ABUSE_MEMORY_MB").unwrap_or(1500),
            },
            // Limits for a debug build on a busy machine.
            None => Limits {
                connections: 4,
                timeout: Duration::from_millis(40),
                late: Duration::from_secs(10),
                beside: Duration::from_secs(10),
                duration: None,
                memory: 1500,
            },
        }
    }
}

/// Runs one statement. Answers the time beyond its timeout, and a fault if there is one.
fn run(raw: &mut Raw, sql: &str, limits: &Limits) -> (Duration, Option<String>) {
    let begin = Instant::now();
    let replies = raw.try_query(sql);
    let late = begin.elapsed().saturating_sub(limits.timeout);
    let Some(replies) = replies else { return (late, Some(format!("no answer: {sql}"))) };
    let error = replies.iter().find(|reply| reply.kind == b'E');
    let state = error.and_then(|error| error.field(b'C')).unwrap_or_default();
    let message = error.and_then(|error| error.field(b'M')).unwrap_or_default();
    let wrong = if error.is_some() && !REFUSALS.contains(&state.as_str()) {
        Some(format!("{state} {message}: {sql}"))
    } else if late > limits.late {
        Some(format!("{late:?} late: {sql}"))
    } else {
        None
    };
    (late, wrong)
}

#[test]
fn whatever_asks_for_too_much_is_refused_in_time_and_harms_nobody() {
    let limits = Limits::of_environment();
    let server = Server::start_with(&["--query-memory", QUERY_MEMORY]);
    Raw::connect(&server).query("create table accounts (id int primary key, balance int); insert into accounts select g, 0 from generate_series(1, 100) g");
    let (list, next, wrong, over) = (list(), AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicBool::new(false));
    let (begin, latest, slowest) =
        (Instant::now(), Mutex::new((Duration::ZERO, String::new())), Mutex::new(Duration::ZERO));
    std::thread::scope(|scope| {
        let abusers: Vec<_> = (0..limits.connections)
            .map(|_| {
                scope.spawn(|| {
                    let mut raw = Raw::connect(&server);
                    raw.patience(Duration::from_secs(120));
                    raw.query(&format!("set statement_timeout = {}", limits.timeout.as_millis()));
                    loop {
                        let turn = next.fetch_add(1, Ordering::Relaxed);
                        let over = match limits.duration {
                            Some(duration) => begin.elapsed() > duration,
                            None => turn >= list.len(),
                        };
                        if over {
                            return;
                        }
                        let sql = &list[turn % list.len()];
                        let (late, fault) = run(&mut raw, sql, &limits);
                        let mut latest = latest.lock().expect("no panic");
                        if late > latest.0 {
                            *latest = (late, sql.clone());
                        }
                        drop(latest);
                        if let Some(fault) = fault {
                            let lost = fault.starts_with("no answer");
                            wrong.lock().expect("no panic").push(fault);
                            if lost {
                                raw = Raw::connect(&server);
                                raw.query(&format!("set statement_timeout = {}", limits.timeout.as_millis()));
                            }
                        }
                    }
                })
            })
            .collect();
        let beside = scope.spawn(|| {
            let mut raw = Raw::connect(&server);
            raw.patience(Duration::from_secs(120));
            let mut id = 0;
            while !over.load(Ordering::Relaxed) {
                id = id % 100 + 1;
                let begin = Instant::now();
                raw.query(&format!("begin; update accounts set balance = balance + 1 where id = {id}; commit"));
                let sql = format!("select balance > 0 from accounts where id = {id}");
                assert_eq!(column(&raw.query(&sql)), ["t"]);
                let mut slowest = slowest.lock().expect("no panic");
                *slowest = slowest.max(begin.elapsed());
                drop(slowest);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let ended: Vec<_> = abusers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        assert!(ended.into_iter().all(|ended| ended.is_ok()), "a connection was lost");
        beside.join().expect("short statements are answered");
    });
    let (latest, slowest) = (latest.into_inner().expect("no panic"), slowest.into_inner().expect("no panic"));
    let peak = peak(&server);
    println!(
        "{} statements, peak {peak} MB, slowest beside {slowest:?}, latest {latest:?}",
        next.load(Ordering::Relaxed)
    );
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!server.log().contains("panicked"), "{}", server.log());
    assert!(slowest < limits.beside, "{slowest:?} for a short statement");
    assert!(peak < limits.memory, "{peak} MB");
}
