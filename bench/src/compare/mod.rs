//! `compare`: PostgreSQL and PercoSQL side by side on one machine, under pgbench and a few own statements. It starts
//! and loads both servers, runs each workload on them in turn, and reports the figures beside the goals. Measurements
//! come from the operating system, from pgbench, and from views that both servers have.

mod bench;
mod figure;
mod folders;
mod machine;
mod memory;
pub mod options;
mod percosql;
mod pgbench;
mod postgres;
mod program;
mod report;
mod sample;
mod series;
mod server;
mod table;
mod workload;

use crate::error::{Error, Result};
use bench::Bench;
use options::Options;
use series::Series;

/// Compares the two servers, writes the report, and stops the servers, also after an interruption.
pub async fn compare(options: Options) -> Result<()> {
    options.validate()?;
    tokio::select! {
        done = run(&options) => done,
        // The select drops the other branch, which stops the programs that it runs.
        signal = interrupted() => Err(signal.err().unwrap_or_else(|| Error::other("interrupted: both servers are stopped"))),
    }
}

/// Resolves at Ctrl-C, at SIGTERM, or when the terminal is closed.
async fn interrupted() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    tokio::select! {
        interrupt = tokio::signal::ctrl_c() => Ok(interrupt?),
        _ = terminated.recv() => Ok(()),
        _ = hung_up.recv() => Ok(()),
    }
}

#[allow(clippy::print_stdout)]
async fn run(options: &Options) -> Result<()> {
    let workloads = workload::chosen(options)?;
    let mut bench = Bench::start(options).await?;
    let mut measured: Vec<Series> = Vec::new();
    for workload in workloads {
        measured.push(series::run(&mut bench, workload).await);
    }
    let report = report::report(&bench, &measured);
    let path = match &options.report {
        Some(path) => path.clone(),
        None => format!("bench/results/{}.md", bench.begun.replace([' ', ':'], "-")).into(),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, report)
        .map_err(|error| Error::other(format!("the report cannot be written to {}: {error}", path.display())))?;
    print!("{}", report::tables(&measured));
    println!("the report is in {}", path.display());
    match measured.iter().filter(|series| series.failure.is_some()).count() {
        0 => Ok(()),
        failed => Err(Error::other(format!("{failed} of {} workloads failed", measured.len()))),
    }
}
