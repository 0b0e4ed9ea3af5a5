//! [`Options`]: the options of `percosql-bench compare`.

use crate::cli::duration;
use crate::error::{Error, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// The isolation level of all transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Isolation {
    /// What each server does by itself: READ COMMITTED in PostgreSQL, REPEATABLE READ in PercoSQL.
    Shipped,
    /// READ COMMITTED in both.
    ReadCommitted,
    /// REPEATABLE READ in both.
    RepeatableRead,
}

impl Isolation {
    /// The level's name in `default_transaction_isolation`. `None` if each server keeps its default.
    pub fn setting(self) -> Option<&'static str> {
        match self {
            Isolation::Shipped => None,
            Isolation::ReadCommitted => Some("read committed"),
            Isolation::RepeatableRead => Some("repeatable read"),
        }
    }
}

/// The workloads and parameters of a comparison.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// How often each workload runs on each server.
    #[arg(long, default_value_t = 3)]
    pub pairs: usize,
    /// How long a run of pgbench lasts, in whole seconds.
    #[arg(long, value_parser = duration, default_value = "3s")]
    pub duration: Duration,
    /// How long pgbench runs on each server before a workload's first run, in whole seconds; 0s for not at all.
    #[arg(long, value_parser = duration, default_value = "1s")]
    pub warm_up: Duration,
    /// Runs only the workloads whose names contain this word; may be repeated. A word that is in no name lists them all.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// pgbench's scale: 100,000 accounts each.
    #[arg(long, default_value_t = 10)]
    pub scale: u32,
    /// Rows of the table that is scanned and indexed, and of each COPY.
    #[arg(long, default_value_t = 1_000_000)]
    pub rows: u64,
    /// How often pgbench tries a transaction that is refused because of another.
    #[arg(long, default_value_t = 1000)]
    pub max_tries: u32,
    /// The isolation level of all transactions.
    #[arg(long, value_enum, default_value = "shipped")]
    pub isolation: Isolation,
    /// The server `percosql`; by default the one beside this program.
    #[arg(long, value_name = "FILE")]
    pub percosql: Option<PathBuf>,
    /// The folder of PostgreSQL's programs; by default where the PATH has initdb, else the newest below /usr/lib/postgresql.
    #[arg(long, value_name = "FOLDER")]
    pub postgres_bin: Option<PathBuf>,
    /// The disk: both servers get a temporary folder in this one; by default the system's for temporary files.
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// The servers listen on the first two free ports from here on.
    #[arg(long, default_value_t = 6300)]
    pub first_port: u16,
    /// File of the report; by default a file in bench/results named by the time.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// A sentence for the head of the report, as which build is measured.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

impl Options {
    /// Checks that the options are valid together.
    pub fn validate(&self) -> Result<()> {
        if self.pairs == 0 {
            return Err(Error::other("--pairs: there must be one pair at least"));
        }
        if self.duration.as_secs() == 0 || self.duration.subsec_nanos() != 0 || self.warm_up.subsec_nanos() != 0 {
            return Err(Error::other(
                "--duration, --warm-up: pgbench runs for whole seconds, --duration for one at least",
            ));
        }
        if self.scale == 0 || self.rows == 0 || self.max_tries == 0 {
            return Err(Error::other("--scale, --rows and --max-tries: each must be 1 at least"));
        }
        Ok(())
    }

    /// Number of accounts that pgbench loads.
    pub fn accounts(&self) -> u64 {
        u64::from(self.scale) * 100_000
    }
}
