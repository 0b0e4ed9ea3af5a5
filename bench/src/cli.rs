//! The command line of `percosql-bench`.

use crate::compare as servers;
use crate::error::{Error, Result};
use crate::session::Style;
use crate::tpce::client::Isolation;
use crate::tpce::report::{html, json, table};
use crate::tpce::run::Options;
use crate::tpce::scale::Scale;
use crate::tpce::transactions::BrokerMode;
use crate::tpce::{check, cleanup, compare, load, run};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;

/// Benchmarks for servers that speak PostgreSQL's protocol.
#[derive(Parser)]
#[command(name = "percosql-bench", version)]
pub struct Cli {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// A brokerage: TPC-E-style transactions, trade-results per second. Not comparable with published results.
    #[command(subcommand)]
    Tpce(Command),
    /// PostgreSQL and PercoSQL beside each other on this machine, started for it: pgbench, scans, loads, memory.
    Compare(Box<servers::options::Options>),
}

#[derive(Subcommand)]
enum Command {
    /// Makes the tables and loads them; goes on where an earlier load was interrupted.
    Init(Init),
    /// Runs all transactions for a while and reports.
    Run(Run),
    /// Checks that everything holds that must, after a load or a run.
    Check(Check),
    /// Runs on two servers in turn and tells how they compare.
    Compare(Compare),
    /// Drops everything that init made.
    Cleanup(Target),
}

#[derive(Args)]
pub struct Target {
    /// The server, as libpq writes it: "host=127.0.0.1 port=5432 user=postgres dbname=postgres" or postgres://…
    #[arg(long, env = "PERCOSQL_BENCH_DSN", default_value = "host=127.0.0.1 port=5432 user=postgres dbname=postgres")]
    pub dsn: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Size {
    /// 100 customers, one day: for tests.
    Tiny,
    /// 1000 customers, 5 days: 288,000 trades.
    Xs,
    /// 5000 customers, 5 days: 1,440,000 trades.
    S,
    /// 5000 customers, 20 days: 5,760,000 trades.
    M,
}

#[derive(Args)]
struct Init {
    #[command(flatten)]
    target: Target,
    /// A size; the options below change parts of it.
    #[arg(long, value_enum, default_value = "xs")]
    scale: Size,
    /// Customers: hundreds below 1000, else thousands.
    #[arg(long)]
    customers: Option<i64>,
    /// Trading days of history; below five, some transactions find less than they should.
    #[arg(long)]
    days: Option<i64>,
    /// Weekdays of daily_market.
    #[arg(long)]
    market_days: Option<i64>,
    /// Bytes of one news item.
    #[arg(long)]
    news_bytes: Option<i64>,
    /// Another seed makes another population.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Connections that load side by side.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

impl Init {
    fn scale(&self) -> Result<Scale> {
        let (customers, days, market_days, news_bytes) = match self.scale {
            Size::Tiny => (100, 1, 50, 500),
            Size::Xs => (1000, 5, 1305, 2_000),
            Size::S => (5000, 5, 1305, 10_000),
            Size::M => (5000, 20, 1305, 50_000),
        };
        let scale = Scale {
            customers: self.customers.unwrap_or(customers),
            days: self.days.unwrap_or(days),
            market_days: self.market_days.unwrap_or(market_days),
            news_bytes: self.news_bytes.unwrap_or(news_bytes),
            seed: self.seed,
        };
        scale.validate().map_err(Error::Other)?;
        Ok(scale)
    }
}

/// `60s`, `2m`, `500ms`, or seconds.
pub fn duration(text: &str) -> std::result::Result<Duration, String> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let number: f64 = digits.parse().map_err(|_| format!("{text} is no duration"))?;
    let seconds = match unit {
        "" | "s" => number,
        "ms" => number / 1000.0,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("{unit} is no unit of time: ms, s, m, h")),
    };
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[derive(Args)]
struct Running {
    /// Connections of customers, who never pause.
    #[arg(long, default_value_t = 4)]
    clients: usize,
    /// Connections that book trade-results; half as many as customers by default.
    #[arg(long)]
    market_clients: Option<usize>,
    /// How long to measure.
    #[arg(long, value_parser = duration, default_value = "60s")]
    duration: Duration,
    /// How long to run before measuring.
    #[arg(long, value_parser = duration, default_value = "5s")]
    ramp: Duration,
    #[arg(long, value_enum, default_value = "repeatable-read")]
    isolation: Isolation,
    /// How trade-results treat the brokers' totals.
    #[arg(long, value_enum, default_value = "exact")]
    broker: BrokerMode,
    #[arg(long, value_enum, default_value = "prepared")]
    style: Style,
    /// Seed of the customers' inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How often Data-Maintenance runs.
    #[arg(long, value_parser = duration, default_value = "60s")]
    maintenance: Duration,
    /// Prints no progress line each second.
    #[arg(long)]
    quiet: bool,
}

impl Running {
    fn options(&self, config: Config, ledger: PathBuf, server_pid: Option<u32>) -> Options {
        Options {
            config,
            clients: self.clients,
            market_clients: self.market_clients.unwrap_or(self.clients.div_ceil(2)).max(1),
            duration: self.duration,
            ramp: self.ramp,
            isolation: self.isolation,
            broker: self.broker,
            style: self.style,
            seed: self.seed,
            ledger,
            maintenance: self.maintenance,
            server_pid,
            quiet: self.quiet,
            statements: false,
        }
    }
}

#[derive(Args)]
struct Run {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    running: Running,
    /// What the server acknowledged, for `check`.
    #[arg(long, default_value = "percosql-bench.ledger")]
    ledger: PathBuf,
    /// The server's process, to count its processor time.
    #[arg(long)]
    server_pid: Option<u32>,
    /// Shows how often each statement was answered, and how long that took.
    #[arg(long)]
    statements: bool,
    /// Writes the results as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Writes the results as a page.
    #[arg(long)]
    html: Option<PathBuf>,
}

#[derive(Args)]
struct Check {
    #[command(flatten)]
    target: Target,
    /// The ledger of the last run: what it says is held against the tables too.
    #[arg(long)]
    ledger: Option<PathBuf>,
}

#[allow(clippy::print_stdout)]
async fn run_once(asked: Run) -> Result<()> {
    let options = asked.running.options(asked.target.config()?, asked.ledger, asked.server_pid);
    let options = Options { statements: asked.statements, ..options };
    let measured = run::run(&options).await?;
    print!("{}", table::table(&measured));
    if asked.statements {
        print!("{}", table::statements(&measured));
    }
    if let Some(path) = asked.json {
        std::fs::write(path, format!("{:#}\n", json::json(&measured)))?;
    }
    if let Some(path) = asked.html {
        std::fs::write(path, html::page(&measured))?;
    }
    Ok(())
}

#[derive(Args)]
struct Compare {
    /// The two servers, A and B; both must be loaded.
    #[arg(long, required = true)]
    dsn: Vec<String>,
    #[command(flatten)]
    running: Running,
    /// How often both run.
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// The servers' processes in the same order, to compare their processor time.
    #[arg(long)]
    server_pid: Vec<u32>,
    /// Path of the file for the ledgers of the last runs.
    #[arg(long, default_value = "percosql-bench.ledger")]
    ledger: PathBuf,
}

#[allow(clippy::print_stdout)]
async fn run_pairs(asked: Compare) -> Result<()> {
    let [a, b] = asked.dsn.as_slice() else { return Err(Error::other("name two servers: --dsn A --dsn B")) };
    let options = |dsn: &str, place: usize| {
        let ledger = asked.ledger.with_extension(["a.ledger", "b.ledger"][place]);
        let options = asked.running.options(parse_dsn(dsn)?, ledger, asked.server_pid.get(place).copied());
        Ok::<_, Error>(Options { quiet: true, ..options })
    };
    print!("{}", compare::compare(&[options(a, 0)?, options(b, 1)?], asked.pairs).await?);
    Ok(())
}

/// Parses a DSN in libpq's form. Errors: the text is no DSN.
pub fn parse_dsn(dsn: &str) -> Result<Config> {
    let mut config: Config = dsn.parse().map_err(|error| Error::other(format!("{dsn}: {error}")))?;
    config.application_name("percosql-bench");
    if config.get_user().is_none() {
        config.user("postgres");
    }
    Ok(config)
}

impl Target {
    pub fn config(&self) -> Result<Config> {
        parse_dsn(&self.dsn)
    }
}

/// Runs the command of a command line.
pub async fn execute(cli: Cli) -> Result<()> {
    let command = match cli.benchmark {
        Benchmark::Tpce(command) => command,
        Benchmark::Compare(options) => return servers::compare(*options).await,
    };
    match command {
        Command::Init(init) => load::init(&init.target.config()?, init.scale()?, init.jobs).await,
        Command::Run(asked) => run_once(asked).await,
        Command::Check(asked) => check::check(&asked.target.config()?, asked.ledger.as_deref()).await,
        Command::Compare(asked) => run_pairs(asked).await,
        Command::Cleanup(target) => cleanup::drop_all(&target.config()?).await,
    }
}
