//! kill -9 in a loop under load. No acknowledged commit is lost, and no transaction is there in part. Indexes agree
//! with their tables, the bank's sum holds, and schema changes, sequences and large transactions survive.

use percosql_tests::Server;
use percosql_tests::clients::value;
use percosql_tests::ledgers::Ledgers;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

const CYCLES: usize = 50;
const WRITERS: i64 = 4;
const ACCOUNTS: i64 = 20;

/// Each writer inserts rows (writer, n) with ascending n, each in one transaction with a transfer. `acknowledged[w]` is
/// the largest n with an acknowledged COMMIT. `tried[w]` is the largest n that was sent.
struct Ledger {
    acknowledged: Vec<AtomicI64>,
    tried: Vec<AtomicI64>,
}

async fn write_until_it_breaks(server_port: u16, writer: i64, ledger: Arc<Ledger>) {
    let settings = format!("host=127.0.0.1 port={server_port} user=postgres dbname=postgres");
    let Ok((mut client, connection)) = tokio_postgres::connect(&settings, tokio_postgres::NoTls).await else { return };
    tokio::spawn(async move {
        let _ = connection.await;
    });
    loop {
        // An unacknowledged number may have been committed, so the writer continues after the largest attempt.
        let n = ledger.tried[writer as usize].load(Ordering::SeqCst) + 1;
        ledger.tried[writer as usize].store(n, Ordering::SeqCst);
        let from = rand::random_range(0..ACCOUNTS);
        let to = (from + 1 + rand::random_range(0..ACCOUNTS - 1)) % ACCOUNTS;
        let done = async {
            let transaction = client.transaction().await?;
            transaction
                .execute(
                    "insert into ledger (writer, n, note) values ($1, $2, $3)",
                    &[&writer, &n, &format!("w{writer}-{n}")],
                )
                .await?;
            transaction.execute("update account set balance = balance - 1 where id = $1", &[&from]).await?;
            transaction.execute("update account set balance = balance + 1 where id = $1", &[&to]).await?;
            transaction.commit().await
        };
        match done.await {
            Ok(()) => ledger.acknowledged[writer as usize].store(n, Ordering::SeqCst),
            Err(error) if error.code().is_some_and(|code| code.code() == "40001") => {}
            Err(_) => return,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_kills_lose_nothing() {
    let mut server = Server::start();
    let client = server.connect().await;
    client
        .batch_execute(
            "create table ledger (writer int8, n int8, note text unique, primary key (writer, n));
             create index ledger_n on ledger (n desc) include (note);
             create table account (id int8 primary key, balance int8 not null);",
        )
        .await
        .expect("the schema");
    client
        .execute("insert into account select i, 100 from generate_series(0, $1::int8 - 1) as g(i)", &[&ACCOUNTS])
        .await
        .expect("the accounts");
    let mut ledgers = Ledgers::create(&client).await;
    drop(client);
    let zeroes = || (0..WRITERS).map(|_| AtomicI64::new(0)).collect();
    let ledger = Arc::new(Ledger { acknowledged: zeroes(), tried: zeroes() });
    for cycle in 0..CYCLES {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(write_until_it_breaks(server.port(), writer, Arc::clone(&ledger))))
            .collect();
        let port = server.port();
        // Some cycles last long enough for two-phase transactions.
        let with_large = cycle % 10 == 9;
        let others = tokio::spawn(async move {
            ledgers.run(port, with_large).await;
            ledgers
        });
        let longest = if with_large { 9000 } else { 250 };
        tokio::time::sleep(Duration::from_millis(rand::random_range(longest / 8..longest))).await;
        server.kill9();
        for writer in writers {
            let _ = writer.await;
        }
        ledgers = others.await.expect("the other ledgers");
        server.restart();
        ledgers.check(&server).await;
        let client = server.connect().await;
        for writer in 0..WRITERS {
            let acknowledged = ledger.acknowledged[writer as usize].load(Ordering::SeqCst);
            let row = client
                .query_one(
                    "select count(*), max(n) from ledger where writer = $1 and n = $2",
                    &[&writer, &acknowledged],
                )
                .await
                .expect("the ledger");
            let found: i64 = row.get(0);
            assert!(acknowledged == 0 || found == 1, "cycle {cycle}: writer {writer} lost {acknowledged}");
        }
        let row = client.query_one("select sum(balance)::int8, count(*) from account", &[]).await.expect("the bank");
        assert_eq!(row.get::<_, i64>(0), ACCOUNTS * 100, "cycle {cycle}: money was made or lost");
        for table in ["ledger", "account"] {
            let faults = client.query(&format!("check table {table}"), &[]).await.expect("a check");
            assert!(faults.is_empty(), "cycle {cycle}: {table} and its indexes disagree: {faults:?}");
        }
    }
    let total: i64 = ledger.acknowledged.iter().map(|n| n.load(Ordering::SeqCst)).sum();
    assert!(total > 0, "nothing was ever committed");
    println!(
        "{total} commits, {} schema changes, {} values of the sequence acknowledged",
        ledgers.schema_changes(),
        ledgers.sequence.values.len()
    );
    assert!(ledgers.schema_changes() > 50 && ledgers.sequence.values.len() > 100);
    let stored: i64 = value(&server, "select count(*) from ledger").parse().expect("a count");
    assert!(stored > 0);
}
