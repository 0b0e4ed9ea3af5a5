//! `tpce run`: customers, the market and the maintenance run concurrently for a given time.

use super::client::{Client, Isolation, Shared};
use super::inputs::Customers;
use super::ledger::{Entry, Ledger};
use super::market::{Execution, Feed, Market, Told, Waiting};
use super::population::Population;
use super::scale::Scale;
use super::setting;
use super::tally::Tally;
use super::transactions::{BrokerMode, Kind, Request, trade_cleanup};
use crate::cpu;
use crate::error::Result;
use crate::session::{Session, Style};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_postgres::Config;

/// Customers wait while the market is behind by this many results per client. The mix therefore holds at any speed.
const BEHIND: usize = 2;
/// Customers also wait while this many feeds wait. One connection writes all feeds.
const FEEDS_BEHIND: usize = 20;
/// Time that transactions get to finish after the end of the run.
const LAST_ORDERS: Duration = Duration::from_secs(60);

/// Parameters of a run.
#[derive(Clone)]
pub struct Options {
    pub config: Config,
    pub clients: usize,
    pub market_clients: usize,
    pub duration: Duration,
    pub ramp: Duration,
    pub isolation: Isolation,
    pub broker: BrokerMode,
    pub style: Style,
    pub seed: u64,
    pub ledger: PathBuf,
    pub maintenance: Duration,
    pub server_pid: Option<u32>,
    pub quiet: bool,
    /// Whether the run also measures the time of each statement.
    pub statements: bool,
}

/// Counters of one second of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Second {
    pub results: u64,
    pub all: u64,
    pub retries: u64,
}

/// The measurements of a run.
pub struct Measured {
    pub options: Options,
    pub scale: Scale,
    pub server: String,
    pub took: Duration,
    pub tally: Tally,
    pub seconds: Vec<Second>,
    /// Processor seconds of the server, if its process id is known. `client_cpu` counts this program.
    pub server_cpu: Option<f64>,
    pub client_cpu: f64,
    pub canceled: usize,
}

impl Measured {
    /// Completed Trade-Results per second.
    pub fn results_per_second(&self) -> f64 {
        self.tally.of(Kind::TradeResult).count as f64 / self.took.as_secs_f64().max(1e-9)
    }

    pub fn all_per_second(&self) -> f64 {
        self.tally.total() as f64 / self.took.as_secs_f64().max(1e-9)
    }
}

type Tallies = Vec<Arc<Mutex<Tally>>>;

fn sum(tallies: &Tallies) -> Tally {
    let mut all = Tally::default();
    tallies.iter().for_each(|own| all.add(&own.lock().unwrap_or_else(PoisonError::into_inner)));
    all
}

/// Runs the benchmark. The ledger is complete when it returns.
pub async fn run(options: &Options) -> Result<Measured> {
    let mut session = Session::open(&options.config, Style::Prepared).await?;
    let scale = setting::loaded(&session.client).await?;
    let canceled = trade_cleanup::perform(&mut session, scale.last_trade_id() + 1).await?;
    setting::note_broker_mode(&session.client, options.broker == BrokerMode::Omit).await?;
    let (ledger, closing) = Ledger::create(&options.ledger)?;
    note_before(&mut session, &ledger).await?;
    let server = session.row("select version()", &[]).await?.text(0)?.to_string();
    drop(session);

    let population = Arc::new(Population::new(scale.clone()));
    let (told, told_receiver) = mpsc::unbounded_channel();
    let (results, results_receiver) = mpsc::unbounded_channel();
    let (feeds, feeds_receiver) = mpsc::unbounded_channel();
    let waiting = Waiting::default();
    let market = Market::new(Arc::clone(&population), options.seed, results, feeds, waiting.clone());
    let shared = Arc::new(Shared {
        config: options.config.clone(),
        style: options.style,
        isolation: options.isolation,
        broker: options.broker,
        ledger: ledger.clone(),
        told,
        stop: AtomicBool::new(false),
        measuring: AtomicBool::new(false),
        statements: options.statements,
        waiting,
    });

    let mut tallies: Tallies = Vec::new();
    let mut number = 0;
    let mut client = |tallies: &mut Tallies| {
        let tally = Arc::new(Mutex::new(Tally::default()));
        tallies.push(Arc::clone(&tally));
        number += 1;
        Client::new(Arc::clone(&shared), tally, number)
    };
    let mut tasks = JoinSet::new();
    for place in 0..options.clients {
        let inputs = Customers::new(Arc::clone(&population), options.seed, place);
        tasks.spawn(be_customers(client(&mut tallies), Arc::clone(&shared), inputs, BEHIND * options.market_clients));
    }
    let results_receiver = Arc::new(tokio::sync::Mutex::new(results_receiver));
    for _ in 0..options.market_clients {
        tasks.spawn(book_results(client(&mut tallies), Arc::clone(&shared), Arc::clone(&results_receiver)));
    }
    tasks.spawn(feed(client(&mut tallies), Arc::clone(&shared), feeds_receiver));
    let inputs = Customers::new(Arc::clone(&population), options.seed, usize::MAX);
    tasks.spawn(maintain(client(&mut tallies), Arc::clone(&shared), inputs, options.maintenance));
    let market = tokio::spawn(market.trade(told_receiver));

    watch(options, &tallies, &shared, None).await;
    let cpu_before = (options.server_pid.and_then(cpu::seconds), cpu::own());
    shared.measuring.store(true, Ordering::Relaxed);
    let begin = Instant::now();
    let mut seconds = Vec::new();
    watch(options, &tallies, &shared, Some(&mut seconds)).await;
    shared.measuring.store(false, Ordering::Relaxed);
    let took = begin.elapsed();
    let cpu_after = (options.server_pid.and_then(cpu::seconds), cpu::own());
    shared.stop.store(true, Ordering::Relaxed);
    // A task that does not finish is aborted. The ledger then has no entry for the end of the run.
    let mut whole = true;
    let end = async {
        while let Some(task) = tasks.join_next().await {
            whole &= task.is_ok();
        }
    };
    let ended = tokio::time::timeout(LAST_ORDERS, end).await.is_ok() && whole;
    tasks.abort_all();
    market.abort();
    if ended {
        ledger.note(Entry::End);
    }
    let tally = sum(&tallies);
    drop(shared);
    drop(ledger);
    // Aborted tasks still hold the ledger for a moment.
    while tasks.join_next().await.is_some() {}
    let _ = market.await;
    closing.close()?;
    Ok(Measured {
        options: options.clone(),
        scale,
        server,
        took,
        tally,
        seconds,
        server_cpu: cpu_after.0.zip(cpu_before.0).map(|(after, before)| after - before),
        client_cpu: cpu_after.1 - cpu_before.1,
        canceled,
    })
}

/// Records the numbers of trades and the volumes before the run.
async fn note_before(session: &mut Session, ledger: &Ledger) -> Result<()> {
    let trades = session.row("select count(*) from trade", &[]).await?.int(0)?;
    let completed = session.row("select count(*) from trade where t_st_id = 'CMPT'", &[]).await?.int(0)?;
    ledger.note(Entry::Start { trades, completed });
    for row in session.rows("select lt_s_symb, lt_vol from last_trade order by lt_s_symb", &[]).await? {
        ledger.note(Entry::Volume { symbol: row.text(0)?.to_string(), volume: row.int(1)? });
    }
    Ok(())
}

/// Prints the progress once a second until the ramp or the measurement is over.
#[allow(clippy::print_stderr)]
async fn watch(options: &Options, tallies: &Tallies, shared: &Shared, mut seconds: Option<&mut Vec<Second>>) {
    let begin = Instant::now();
    let length = if seconds.is_some() { options.duration } else { options.ramp };
    let mut before = (0, 0, 0);
    while begin.elapsed() < length {
        let next = Duration::from_secs(begin.elapsed().as_secs() + 1).min(length);
        tokio::time::sleep_until((begin + next).into()).await;
        let Some(seconds) = seconds.as_deref_mut() else {
            if !options.quiet {
                eprintln!("{:>5} s  ramp", begin.elapsed().as_secs());
            }
            continue;
        };
        let tally = sum(tallies);
        let now = (tally.of(Kind::TradeResult).count, tally.total(), tally.retries());
        let second = Second { results: now.0 - before.0, all: now.1 - before.1, retries: now.2 - before.2 };
        before = now;
        seconds.push(second);
        if !options.quiet {
            eprintln!(
                "{:>5} s  {:>6} trade-results/s  {:>7} transactions/s  {:>5} retries/s  {:>5} errors  {:>4} results, {} feeds wait",
                begin.elapsed().as_secs(),
                second.results,
                second.all,
                second.retries,
                tally.aborts(),
                shared.waiting.results.load(Ordering::Relaxed),
                shared.waiting.feeds.load(Ordering::Relaxed),
            );
        }
    }
}

async fn be_customers(mut client: Client, shared: Arc<Shared>, mut inputs: Customers, behind: usize) {
    while !shared.stopped() {
        let kind = inputs.draw();
        let is_behind = || {
            let Waiting { results, feeds } = &shared.waiting;
            results.load(Ordering::Relaxed) > behind || feeds.load(Ordering::Relaxed) > FEEDS_BEHIND
        };
        while kind == Kind::TradeOrder && is_behind() && !shared.stopped() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        client.carry_out(&inputs.request(kind)).await;
    }
}

async fn book_results(
    mut client: Client,
    shared: Arc<Shared>,
    executions: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Execution>>>,
) {
    while !shared.stopped() {
        let next = async { executions.lock().await.recv().await };
        // The timeout makes the loop check for the end of the run.
        let Ok(Some(execution)) = tokio::time::timeout(Duration::from_millis(100), next).await else { continue };
        let request = Request::TradeResult(execution.result);
        if client.carry_out_since(execution.due, &request).await.is_some() {
            let _ = shared.told.send(Told::Completed(execution.entry));
        }
        shared.waiting.results.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn feed(mut client: Client, shared: Arc<Shared>, mut feeds: mpsc::UnboundedReceiver<Feed>) {
    while !shared.stopped() {
        let Ok(Some((due, entries))) = tokio::time::timeout(Duration::from_millis(100), feeds.recv()).await else {
            continue;
        };
        let mut done = 0;
        for entry in entries {
            done += usize::from(client.persist(&Request::MarketFeed(entry)).await.is_some());
        }
        // A feed without any success does not count. Its errors are counted.
        if done > 0 {
            client.measure(Kind::MarketFeed, due, u64::from(done != super::market::ENTRIES), false);
        }
        shared.waiting.feeds.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn maintain(mut client: Client, shared: Arc<Shared>, mut inputs: Customers, every: Duration) {
    let mut next = Instant::now() + every;
    let mut n = 0;
    while !shared.stopped() {
        if Instant::now() < next {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        }
        next += every;
        client.carry_out(&inputs.maintenance(n)).await;
        n += 1;
    }
}
