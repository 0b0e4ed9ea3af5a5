//! A bank over three servers that are killed, paused and cut off at random. Proxies lose, delay, duplicate and break
//! their calls to Bigtable. The sum never changes, no acknowledged transfer is lost or done twice, and index and table
//! agree. `PERCOSQL_CHAOS_SECONDS` sets the duration (60 when unset).

use percosql_tests::{Bigtable, Server};
use rand::RngExt;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use storage::SystemEnv;
use storage::testing::Proxy;
use tokio::sync::Mutex;
use tokio_postgres::{Client, Error};

const ACCOUNTS: i32 = 40;
const START: i64 = 1000;
/// Time limit of a statement. After it the client abandons the statement and its connection.
const PATIENCE: Duration = Duration::from_secs(30);
/// Broken calls out of 1000.
const BROKEN: u64 = 20;

/// Receipts by outcome, as the clients saw it.
#[derive(Default)]
struct Ledger {
    done: BTreeSet<i64>,
    refused: BTreeSet<i64>,
    unknown: BTreeSet<i64>,
}

#[derive(Default)]
struct World {
    stop: AtomicBool,
    next: AtomicU64,
    audits: AtomicU64,
    lookups: AtomicU64,
    ledger: Mutex<Ledger>,
}

async fn connect(port: u16) -> Option<Client> {
    tokio::time::timeout(PATIENCE, percosql_tests::ledgers::connect(port)).await.ok().flatten()
}

/// The existing connection or a new one. `None` if the server is not reachable yet.
async fn connected(client: &mut Option<Client>, port: u16) -> Option<&Client> {
    if client.is_none() {
        *client = connect(port).await;
    }
    if client.is_none() {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    client.as_ref()
}

fn text_is(error: &Error, states: &[&str]) -> bool {
    error.code().is_some_and(|code| states.contains(&code.code()))
}

/// One transfer with its receipt. `Err(None)` means an unknown outcome.
async fn transfer(client: &Client, receipt: i64) -> Result<(), Option<Error>> {
    let (from, to, amount) = {
        let mut random = rand::rng();
        let from = random.random_range(0..ACCOUNTS);
        (from, (from + random.random_range(1..ACCOUNTS)) % ACCOUNTS, random.random_range(1..20_i64))
    };
    let sql = format!(
        "begin;
         update account set balance = balance - {amount} where id = {from};
         update account set balance = balance + {amount} where owner = 'owner {to}';
         insert into receipt values ({receipt}, {from}, {to}, {amount})"
    );
    client.batch_execute(&sql).await.map_err(Some)?;
    match client.batch_execute("commit").await {
        Ok(()) => Ok(()),
        // With these codes the transaction certainly did nothing.
        Err(error) if text_is(&error, &["40001", "40P01", "25P02"]) => Err(Some(error)),
        Err(_) => Err(None),
    }
}

async fn teller(world: Arc<World>, port: u16) {
    let mut client = None;
    while !world.stop.load(Ordering::SeqCst) {
        let Some(connected) = connected(&mut client, port).await else { continue };
        let receipt = world.next.fetch_add(1, Ordering::SeqCst).cast_signed();
        let result = tokio::time::timeout(PATIENCE, transfer(connected, receipt)).await;
        let mut ledger = world.ledger.lock().await;
        match result {
            Ok(Ok(())) => drop(ledger.done.insert(receipt)),
            Ok(Err(Some(_))) => {
                ledger.refused.insert(receipt);
                drop(ledger);
                if connected.is_closed() || connected.batch_execute("rollback").await.is_err() {
                    client = None;
                }
            }
            Ok(Err(None)) | Err(_) => {
                ledger.unknown.insert(receipt);
                client = None;
            }
        }
    }
}

/// Sums all accounts by table and by index at one snapshot. Also looks one account up by each.
async fn auditor(world: Arc<World>, port: u16) {
    let mut client = None;
    while !world.stop.load(Ordering::SeqCst) {
        let Some(connected) = connected(&mut client, port).await else { continue };
        let sums = "select (select sum(balance)::int8 from account), (select count(*) from account), \
                    (select sum(balance)::int8 from account where owner > 'owner'), \
                    (select count(*) from account where owner > 'owner')";
        match tokio::time::timeout(PATIENCE, connected.query_one(sums, &[])).await {
            Ok(Ok(row)) => {
                let found: Vec<i64> = (0..4).map(|column| row.get(column)).collect();
                let (sum, count) = (i64::from(ACCOUNTS) * START, i64::from(ACCOUNTS));
                assert_eq!(found, [sum, count, sum, count], "the sum changed");
                world.audits.fetch_add(1, Ordering::SeqCst);
            }
            Ok(Err(error)) if !connected.is_closed() => {
                assert!(!text_is(&error, &["XX000", "XX001", "XX002"]), "{error:?}");
                continue;
            }
            _ => {
                client = None;
                continue;
            }
        }
        let id = rand::rng().random_range(0..ACCOUNTS);
        let lookup = format!(
            "select (select balance from account where id = {id}) = (select balance from account where owner = 'owner {id}')"
        );
        match tokio::time::timeout(PATIENCE, connected.query_one(&lookup, &[])).await {
            Ok(Ok(row)) => {
                assert!(row.get::<_, bool>(0), "table and index disagree about {id}");
                world.lookups.fetch_add(1, Ordering::SeqCst);
            }
            Ok(Err(_)) if !connected.is_closed() => {}
            _ => client = None,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Kills, pauses and cuts off servers at random until the deadline.
fn trouble(servers: &mut [Server], proxies: &[Proxy], until: Instant) -> [u64; 3] {
    let mut counts = [0; 3];
    while Instant::now() < until {
        let (kind, node, pause) = {
            let mut random = rand::rng();
            (random.random_range(0..4), random.random_range(0..servers.len()), random.random_range(500..8000))
        };
        let pause = Duration::from_millis(pause).min(until.saturating_duration_since(Instant::now()));
        match kind {
            0 => {
                servers[node].kill9();
                std::thread::sleep(pause / 4);
                servers[node].restart();
                counts[0] += 1;
            }
            1 => {
                servers[node].signal(libc::SIGSTOP);
                std::thread::sleep(pause);
                servers[node].signal(libc::SIGCONT);
                counts[1] += 1;
            }
            2 => {
                proxies[node].pause();
                std::thread::sleep(pause);
                proxies[node].resume();
                counts[2] += 1;
            }
            _ => std::thread::sleep(pause),
        }
    }
    counts
}

async fn settled(server: &Server, sql: &str) -> Vec<tokio_postgres::Row> {
    let begin = Instant::now();
    loop {
        let error = match server.try_connect().await {
            Ok(client) => match client.query(sql, &[]).await {
                Ok(rows) => return rows,
                Err(error) => error,
            },
            Err(error) => error,
        };
        assert!(begin.elapsed() < Duration::from_secs(60), "{sql}: {error:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_bank_balances_through_kills_pauses_and_a_bad_network() {
    let seconds = std::env::var("PERCOSQL_CHAOS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let bigtable = Bigtable::start();
    let table = bigtable.table();
    let (mut proxies, mut servers) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let proxy = Proxy::start(bigtable.host()).await.expect("a proxy");
        let host = proxy.address().to_owned();
        servers.push(tokio::task::block_in_place(|| table.node_through(&host)));
        proxies.push(proxy);
    }
    let first = servers[0].connect().await;
    first
        .batch_execute(&format!(
            "create table account(id int primary key, owner text not null, balance int8 not null);
             create table receipt(id int8 primary key, source int, target int, amount int8);
             insert into account select g, 'owner ' || g, {START} from generate_series(0, {ACCOUNTS} - 1) g"
        ))
        .await
        .expect("the bank");
    first.batch_execute("create unique index by_owner on account(owner) include (balance)").await.expect("an index");
    drop(first);

    let world = Arc::new(World::default());
    let env = SystemEnv::current().expect("a runtime");
    for proxy in &proxies {
        proxy.draw(env.clone(), BROKEN, Duration::from_millis(500));
    }
    let mut workers = Vec::new();
    for server in &servers {
        for _ in 0..2 {
            workers.push(tokio::spawn(teller(world.clone(), server.port())));
        }
        workers.push(tokio::spawn(auditor(world.clone(), server.port())));
    }
    let until = Instant::now() + Duration::from_secs(seconds);
    let [kills, pauses, cuts] = tokio::task::block_in_place(|| trouble(&mut servers, &proxies, until));
    for proxy in &proxies {
        proxy.set(|_| storage::testing::proxy::Fault::None);
    }
    world.stop.store(true, Ordering::SeqCst);
    for worker in workers {
        worker.await.expect("a worker");
    }
    for server in &mut servers {
        if !server.is_running() {
            println!("{}", server.log());
            tokio::task::block_in_place(|| server.restart());
        }
    }

    let ledger = world.ledger.lock().await;
    println!(
        "{seconds} s: {kills} kills, {pauses} pauses, {cuts} cuts, {} broken calls; {} transfers done, {} refused, {} unknown; {} audits, {} look-ups",
        proxies.iter().map(Proxy::faults).sum::<u64>(),
        ledger.done.len(),
        ledger.refused.len(),
        ledger.unknown.len(),
        world.audits.load(Ordering::SeqCst),
        world.lookups.load(Ordering::SeqCst),
    );
    assert!(ledger.done.len() as u64 > seconds / 4, "almost nothing was done");
    // Locks of dead servers must not block: every server can write every row and change the definition.
    for server in &servers {
        settled(server, "update account set balance = balance").await;
    }
    settled(&servers[1], "alter table account add checked bool").await;
    for server in &servers {
        let rows = settled(server, "select id from receipt").await;
        let receipts: BTreeSet<i64> = rows.iter().map(|row| row.get(0)).collect();
        assert_eq!(rows.len(), receipts.len());
        let lost: Vec<_> = ledger.done.difference(&receipts).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        let risen: Vec<_> = ledger.refused.intersection(&receipts).collect();
        assert!(risen.is_empty(), "refused and done: {risen:?}");
        // Every balance matches the receipts, so no transfer was done in half or twice.
        let wrong = settled(
            server,
            &format!(
                "select id, balance from account a where balance <> {START}
                   - (select coalesce(sum(amount), 0) from receipt where source = a.id)
                   + (select coalesce(sum(amount), 0) from receipt where target = a.id)"
            ),
        )
        .await;
        assert!(wrong.is_empty(), "{wrong:?}");
        for table in ["account", "receipt"] {
            let faults = settled(server, &format!("check table {table}")).await;
            assert!(faults.is_empty(), "{faults:?}");
        }
    }
    // The rows hold no locks either. All rows have been read since, and a reader removes the locks that it meets.
    let begin = Instant::now();
    loop {
        let locked = table.locked_rows().await;
        if locked.is_empty() {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "locks are left: {locked:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
