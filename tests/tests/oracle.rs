//! The oracle among several servers, and the cost of its death or pause for the others.

use percosql_tests::{Bigtable, Server};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tokio_postgres::Client;

/// Longest time without new transactions: a lease of 3 s, a margin, and the delays of a busy machine.
const LIMIT: Duration = Duration::from_secs(20);
/// Time of undisturbed writes before the event.
const QUIET: Duration = Duration::from_secs(2);

/// Inserts numbers by single statements until told to stop. Answers the acknowledged numbers and the longest time
/// between two acknowledgements.
async fn write(client: Client, first: i32, until: tokio::sync::watch::Receiver<bool>) -> (Vec<i32>, Duration) {
    let (mut done, mut longest, mut last) = (Vec::new(), Duration::ZERO, Instant::now());
    let mut number = first;
    while !*until.borrow() {
        let inserted = client.execute("insert into written values ($1)", &[&number]).await;
        match inserted {
            Ok(_) => {
                done.push(number);
                longest = longest.max(last.elapsed());
                last = Instant::now();
            }
            Err(error) => eprintln!("{number}: {error:?}"),
        }
        number += 1;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (done, longest.max(last.elapsed()))
}

async fn all(client: &Client) -> BTreeSet<i32> {
    let rows = client.query("select number from written", &[]).await.expect("all rows");
    rows.iter().map(|row| row.get(0)).collect()
}

/// Runs `event` on the oracle while two other servers write. Answers the longest pause of each.
async fn pauses(event: impl FnOnce(&mut Server)) -> (Vec<Duration>, Vec<Server>, BTreeSet<i32>, Bigtable) {
    let bigtable = Bigtable::start();
    let table = bigtable.table();
    // The first server to start takes the lease.
    let mut servers = vec![table.node(), table.node(), table.node()];
    let made = servers[1].connect().await;
    made.batch_execute("create table written (number int primary key)").await.expect("a table");
    let (stop, until) = tokio::sync::watch::channel(false);
    let mut writers = Vec::new();
    for (server, first) in servers.iter().skip(1).zip([0, 1_000_000]) {
        writers.push(tokio::spawn(write(server.connect().await, first, until.clone())));
    }
    tokio::time::sleep(QUIET).await;
    event(&mut servers[0]);
    let begin = Instant::now();
    tokio::time::sleep(Duration::from_secs(8)).await;
    while begin.elapsed() < LIMIT && !servers.iter().skip(1).any(|server| server.log().matches("hands out").count() > 0)
    {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    stop.send_replace(true);
    let (mut longest, mut written) = (Vec::new(), BTreeSet::new());
    for writer in writers {
        let (done, pause) = writer.await.expect("a writer");
        assert!(!done.is_empty());
        written.extend(done);
        longest.push(pause);
    }
    let read = all(&servers[2].connect().await).await;
    assert!(read.is_superset(&written), "{} were acknowledged, {} are there", written.len(), read.len());
    // The emulator must live as long as the servers.
    (longest, servers, written, bigtable)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_oracle_is_replaced() {
    let (longest, ..) = pauses(Server::kill9).await;
    println!("kill -9: no commit for {longest:?}");
    assert!(longest.iter().all(|pause| *pause > Duration::from_secs(2) && *pause < LIMIT), "{longest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_oracle_is_not_waited_for() {
    let (longest, ..) = pauses(|server| assert_eq!(server.stop(), Some(0))).await;
    println!("SIGTERM: no commit for {longest:?}");
    assert!(longest.iter().all(|pause| *pause < Duration::from_secs(3)), "{longest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_oracle_is_replaced_and_asks_when_it_wakes() {
    let (longest, servers, written, _bigtable) = pauses(|server| server.signal(libc::SIGSTOP)).await;
    println!("SIGSTOP: no commit for {longest:?}");
    assert!(longest.iter().all(|pause| *pause > Duration::from_secs(2) && *pause < LIMIT), "{longest:?}");
    servers[0].signal(libc::SIGCONT);
    let begin = Instant::now();
    let woken = loop {
        // Requests from before the pause may be refused.
        if let Ok(client) = servers[0].try_connect().await
            && client.execute("insert into written values (-1)", &[]).await.is_ok()
        {
            break client;
        }
        assert!(begin.elapsed() < LIMIT, "{}", servers[0].log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    println!("it works again after {:?}", begin.elapsed());
    assert!(all(&woken).await.is_superset(&written));
    assert!(all(&servers[1].connect().await).await.contains(&-1));
}
