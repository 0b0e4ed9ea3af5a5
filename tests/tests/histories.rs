//! Random transactions at every isolation level, judged by `adya`, a black-box checker of histories. Each level keeps
//! its guarantees through kills and pauses. The checker also finds the anomalies that a level permits.
//! `PERCOSQL_HISTORY_TRANSACTIONS` sets the total number (10,000 when unset).

use adya::{History, Opts, Report, Valid, Workload, check};
use percosql_tests::clients::value;
use percosql_tests::histories::{Counts, Kind, Plan, run, run_on};
use percosql_tests::{Bigtable, Server};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;

/// Each level with the model that it guarantees and the model that it does not.
const LEVELS: [(&str, &str, &str); 3] = [
    ("read committed", "strong-read-committed", "snapshot-isolation"),
    ("repeatable read", "strong-snapshot-isolation", "serializable"),
    ("serializable", "strict-serializable", ""),
];

fn transactions() -> u64 {
    std::env::var("PERCOSQL_HISTORY_TRANSACTIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

fn verdict(history: &History, kind: Kind, model: &str) -> Report {
    let workload = if kind == Kind::Lists { Workload::ListAppend } else { Workload::RwRegister };
    let opts = Opts { models: vec![model.into()], timeout: Duration::from_secs(30), ..Opts::default() };
    check(history, workload, &opts)
}

fn assert_holds(text: &str, kind: Kind, model: &str, counts: Counts) {
    let history = History::from_json(text).expect("a history");
    let report = verdict(&history, kind, model);
    if report.valid != Valid::True {
        let path = std::env::temp_dir().join(format!("percosql-history-{}.jsonl", std::process::id()));
        let _ = std::fs::write(&path, text);
        let first = report.anomalies.values().flatten().next().map(|anomaly| anomaly.explanation.clone());
        panic!("not {model}: {:?} ({counts:?}), history in {}\n{first:?}", report.anomaly_types, path.display());
    }
}

/// Without faults: each level keeps its guarantees, and the permitted anomalies occur.
#[tokio::test(flavor = "multi_thread")]
async fn every_level_keeps_its_promise_and_no_more() {
    let server = Server::start();
    let each = transactions() / 12;
    let mut skew = Vec::new();
    for (at, (level, promise, more)) in LEVELS.into_iter().enumerate() {
        for (kind, seed) in [(Kind::Lists, 10), (Kind::Registers, 20)] {
            let plan = Plan { kind, level, transactions: each, sessions: 8, seed: seed + at as u64 };
            let (text, counts) = run(plan, server.port(), Arc::default()).await;
            eprintln!("{level}, {kind:?}: {counts:?}");
            assert!(counts.committed > each / 10 && counts.unknown == 0, "{counts:?}");
            assert_holds(&text, kind, promise, counts);
            if kind == Kind::Lists && !more.is_empty() {
                let history = History::from_json(&text).expect("a history");
                let report = verdict(&history, kind, more);
                eprintln!("{level} is not {more}: {:?}", report.anomaly_types);
                skew.push((level, report.valid, report.anomaly_types));
            }
        }
    }
    for (level, valid, anomalies) in skew {
        assert_eq!(valid, Valid::False, "{level}: {anomalies:?}");
        let expected = if level == "read committed" { "G-" } else { "G2" };
        assert!(anomalies.iter().any(|anomaly| anomaly.starts_with(expected)), "{level}: {anomalies:?}");
    }
}

/// The server is killed and paused repeatedly, and tablets are split. Every level keeps its guarantees.
#[tokio::test(flavor = "multi_thread")]
async fn kills_pauses_and_splits_break_no_promise() {
    let server = Arc::new(Mutex::new(Server::start_with(&["--tablet-size", "64kB"])));
    let port = server.lock().await.port();
    let each = transactions() / 12;
    for (at, (level, promise, _)) in LEVELS.into_iter().enumerate() {
        for (kind, seed) in [(Kind::Lists, 30), (Kind::Registers, 40)] {
            let over = Arc::new(AtomicBool::new(false));
            let (shared, ended) = (server.clone(), over.clone());
            let trouble = tokio::spawn(async move {
                let mut kills = 0;
                while !ended.load(Ordering::SeqCst) {
                    tokio::time::sleep(Duration::from_millis(1500)).await;
                    let mut server = shared.lock().await;
                    if kills % 2 == 0 {
                        server.signal(libc::SIGSTOP);
                        tokio::time::sleep(Duration::from_millis(300)).await;
                        server.signal(libc::SIGCONT);
                    } else {
                        tokio::task::block_in_place(|| server.restart());
                    }
                    kills += 1;
                }
                kills
            });
            let plan = Plan { kind, level, transactions: each, sessions: 8, seed: seed + at as u64 };
            let (text, counts) = run(plan, port, Arc::default()).await;
            over.store(true, Ordering::SeqCst);
            let troubles = trouble.await.expect("the troublemaker");
            eprintln!("{level}, {kind:?}: {counts:?}, {troubles} kills and pauses");
            assert!(counts.committed > each / 10, "{counts:?}");
            assert_holds(&text, kind, promise, counts);
        }
    }
    let server = server.lock().await;
    let tablets: u32 =
        value(&server, "SELECT count(DISTINCT tablet_id) FROM percosql.tablets").parse().expect("a number");
    eprintln!("{tablets} tablets");
    assert!(tablets > 1, "no tablet was split");
}

/// Over Bigtable, with half of the sessions on each of two servers.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_over_bigtable_keep_the_promises() {
    let bigtable = Bigtable::start();
    let table = bigtable.table();
    let nodes = [table.node(), table.node()];
    let each = transactions() / 100;
    for (at, (level, promise, _)) in LEVELS.into_iter().enumerate() {
        for (kind, seed) in [(Kind::Lists, 50), (Kind::Registers, 60)] {
            let plan = Plan { kind, level, transactions: each, sessions: 6, seed: seed + at as u64 };
            let (text, counts) = run_on(plan, &nodes.each_ref().map(Server::port), Arc::default()).await;
            eprintln!("{level}, {kind:?}, two servers: {counts:?}");
            assert!(counts.committed > each / 10, "{counts:?}");
            assert_holds(&text, kind, promise, counts);
        }
    }
}
