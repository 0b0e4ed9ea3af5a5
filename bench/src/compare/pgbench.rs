//! [`Pgbench`]: one run of pgbench and its output.

use super::options::{Isolation, Options};
use super::program;
use super::server::Server;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Parameters of a run of pgbench.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pgbench {
    /// Options that select the workload, such as `-S` and `-M prepared`.
    pub arguments: &'static [&'static str],
    /// An own script instead of a built-in one.
    pub script: Option<String>,
    /// Number of concurrent connections.
    pub clients: usize,
    /// pgbench logs the latency of one transaction out of this many; 0 disables the log. To log every short transaction
    /// would take longer than the transactions.
    pub log_one_of: u32,
    /// Isolation level of this workload. `None` means the level of all workloads.
    pub isolation: Option<Isolation>,
}

/// Results of a run of pgbench.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Number of transactions that succeeded.
    pub transactions: u64,
    /// Number of transactions that pgbench abandoned.
    pub failed: u64,
    /// Number of tries beyond the first.
    pub retries: u64,
    /// Transactions per second.
    pub per_second: f64,
    /// 99th percentile of the latency in milliseconds. `None` if no latency was logged.
    pub p99: Option<f64>,
}

impl Pgbench {
    /// Runs pgbench for the given duration.
    pub async fn run(&self, program: &Path, server: &Server, options: &Options, duration: Duration) -> Result<Outcome> {
        let folder = tempfile::Builder::new().prefix("percosql-bench-").tempdir()?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut command = Command::new(program);
        server.address(&mut command, self.isolation.unwrap_or(options.isolation));
        command.current_dir(folder.path()).arg("--no-vacuum").args(self.arguments);
        command.args(["-c", &self.clients.to_string(), "-j", &self.clients.min(cores).to_string()]);
        command.args(["-T", &duration.as_secs().to_string(), "--max-tries", &options.max_tries.to_string()]);
        if self.log_one_of > 0 {
            command.args(["--log", "--log-prefix=latencies"]);
        }
        if self.log_one_of > 1 {
            command.arg(format!("--sampling-rate={}", 1.0 / f64::from(self.log_one_of)));
        }
        if let Some(script) = &self.script {
            std::fs::write(folder.path().join("script.sql"), script)?;
            command.args(["-f", "script.sql"]);
        }
        let mut outcome = parse(&program::run(command).await?)?;
        let mut latencies = Vec::new();
        for file in logs(folder.path())? {
            latencies.extend(logged(&std::fs::read_to_string(file)?));
        }
        outcome.p99 = percentile(latencies, 99).map(|micros| micros as f64 / 1000.0);
        Ok(outcome)
    }
}

/// Creates and fills pgbench's own tables.
pub async fn load(program: &Path, server: &Server, options: &Options) -> Result<()> {
    let mut command = Command::new(program);
    server.address(&mut command, options.isolation);
    command.args(["-i", "-q", "-s", &options.scale.to_string()]);
    program::run(command).await.map(|_| ())
}

/// The log files in a folder. Each thread of pgbench writes one.
fn logs(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_log = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("latencies"));
    let entries = std::fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    Ok(entries.into_iter().map(|entry| entry.path()).filter(is_log).collect())
}

/// The first number after a label at the start of a line.
fn number(text: &str, label: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(label))?;
    rest.trim_start_matches([':', '=', ' ']).split([' ', '/', '(']).next()?.parse().ok()
}

/// Parses the final output of pgbench.
pub fn parse(text: &str) -> Result<Outcome> {
    let count = |label: &str| number(text, label).map(|value| value as u64);
    let incomplete = || Error::other(format!("pgbench did not say what came of it: {}", program::tail(text)));
    let outcome = Outcome {
        transactions: count("number of transactions actually processed").ok_or_else(incomplete)?,
        per_second: number(text, "tps =").ok_or_else(incomplete)?,
        // pgbench prints these lines only if there can be such transactions.
        failed: count("number of failed transactions").unwrap_or(0),
        retries: count("total number of retries").unwrap_or(0),
        p99: None,
    };
    if outcome.transactions == 0 {
        return Err(Error::other(format!("no transaction succeeded, {} failed", outcome.failed)));
    }
    Ok(outcome)
}

/// The latencies of a log in microseconds. Failed transactions have none.
pub fn logged(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| line.split(' ').nth(2)?.parse().ok()).collect()
}

/// The smallest value that `percent` percent of the values do not exceed.
pub fn percentile(mut values: Vec<u64>, percent: usize) -> Option<u64> {
    values.sort_unstable();
    values.get((values.len() * percent).div_ceil(100).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRIED: &str = "pgbench (15.18 (Debian 15.18-0+deb12u1))
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: prepared
number of clients: 16
number of threads: 2
maximum number of tries: 1000
duration: 3 s
number of transactions actually processed: 6214
number of failed transactions: 2 (0.032%)
number of transactions retried: 1934 (31.123%)
total number of retries: 3275
latency average = 7.712 ms (including failures)
initial connection time = 11.370 ms
tps = 2074.662291 (without initial connection time)
";

    #[test]
    fn what_pgbench_says_is_understood() {
        let outcome = parse(RETRIED).unwrap();
        let expected = Outcome { transactions: 6214, failed: 2, retries: 3275, per_second: 2_074.662_291, p99: None };
        assert_eq!(outcome, expected);
        let connecting = "number of transactions actually processed: 1186\nnumber of failed transactions: 0 (0.000%)\n\
            latency average = 2.530 ms\naverage connection time = 2.440 ms\ntps = 395.184275 (including reconnection times)\n";
        let outcome = parse(connecting).unwrap();
        assert_eq!((outcome.transactions, outcome.per_second, outcome.retries), (1186, 395.184_275, 0));
        // With -t, pgbench also prints the requested number.
        assert_eq!(parse("number of transactions actually processed: 7/10\ntps = 1.5 (x)\n").unwrap().transactions, 7);
    }

    #[test]
    fn half_an_answer_is_an_error() {
        assert!(parse("").is_err());
        assert!(parse("number of transactions actually processed: 5\n").is_err());
        let none =
            parse("number of transactions actually processed: 0\nnumber of failed transactions: 3 (100%)\ntps = 0\n");
        assert!(none.unwrap_err().to_string().contains("3 failed"));
    }

    #[test]
    fn latencies_are_read() {
        let log =
            "0 1 1290 0 1764000000 120034\n1 2 failed 0 1764000000 120040\n0 3 815 0 1764000000 130000 2\n\nbroken\n";
        assert_eq!(logged(log), [1290, 815]);
    }

    #[test]
    fn percentiles_are_values_that_were_seen() {
        assert_eq!(percentile(vec![], 99), None);
        assert_eq!(percentile(vec![7], 99), Some(7));
        assert_eq!(percentile((1..=100).rev().collect(), 99), Some(99));
        assert_eq!(percentile((1..=1000).collect(), 99), Some(990));
        assert_eq!(percentile(vec![1, 2, 3], 50), Some(2));
    }
}
