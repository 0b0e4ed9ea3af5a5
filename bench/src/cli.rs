//! The command line. Must not know how anything is done.

use crate::error::{Error, Result};
use crate::tpce::scale::Scale;
use crate::tpce::{cleanup, load};
use clap::{Args, Parser, Subcommand, ValueEnum};
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
}

#[derive(Subcommand)]
enum Command {
    /// Makes the tables and loads them; goes on where an earlier load was interrupted.
    Init(Init),
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

/// What a DSN means.
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

/// Carries a command line out.
pub async fn run(cli: Cli) -> Result<()> {
    let Benchmark::Tpce(command) = cli.benchmark;
    match command {
        Command::Init(init) => load::init(&init.target.config()?, init.scale()?, init.jobs).await,
        Command::Cleanup(target) => cleanup::drop_all(&target.config()?).await,
    }
}
