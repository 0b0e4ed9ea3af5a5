//! [`Series`]: all runs of one workload, alternating between both servers.

use super::bench::Bench;
use super::figure::Figure;
use super::sample::Sample;
use super::workload::{Task, Workload};
use crate::error::Result;
use crate::ratio::{self, Comparison};

/// A workload and its results.
pub struct Series {
    /// The workload that was run.
    pub workload: Workload,
    /// Pairs of runs: PostgreSQL's and PercoSQL's. If PercoSQL is compared with itself, both are PercoSQL's.
    pub pairs: Vec<[Sample; 2]>,
    /// One line of text per run, in the order of the runs.
    pub lines: Vec<String>,
    /// Reason why the series is incomplete; `None` if it is complete.
    pub failure: Option<String>,
}

impl Series {
    /// Comparison of both sides in one figure.
    pub fn compared(&self, figure: Figure) -> Comparison {
        let pairs: Vec<_> = self.pairs.iter().map(|[a, b]| (figure.of(a), figure.of(b))).collect();
        ratio::compare(&pairs)
    }

    /// Transactions that were abandoned, on each side.
    pub fn failed(&self) -> [u64; 2] {
        self.pairs.iter().fold([0, 0], |[a, b], [of_a, of_b]| [a + of_a.failed, b + of_b.failed])
    }

    /// The most processors that other programs kept busy during a run.
    pub fn others(&self) -> Option<f64> {
        self.pairs.iter().flatten().filter_map(|sample| sample.others).max_by(f64::total_cmp)
    }
}

/// Runs a workload. An error is stored in the series, so that the other workloads still run.
#[allow(clippy::print_stderr)]
pub async fn run(bench: &mut Bench, workload: Workload) -> Series {
    let mut series = Series { workload, pairs: Vec::new(), lines: Vec::new(), failure: None };
    if let Err(error) = run_pairs(bench, &mut series).await {
        let ended = bench.ended().map_or_else(String::new, |ended| format!("; {ended}"));
        let failure = format!("{error}{ended}");
        eprintln!("{}: failed: {failure}", series.workload.name);
        series.failure = Some(failure);
    }
    series
}

#[allow(clippy::print_stderr)]
async fn run_pairs(bench: &mut Bench, series: &mut Series) -> Result<()> {
    bench.prepare(&series.workload).await?;
    // Reading the memory changes nothing, so once is enough.
    let pairs = if series.workload.task == Task::Memory { 1 } else { bench.options.pairs };
    for pair in 0..pairs {
        let mut both = [Sample::default(), Sample::default()];
        for which in ratio::turns(pair) {
            let [postgres, percosql] = &bench.servers;
            let server = if which == 1 || series.workload.itself { percosql } else { postgres };
            let sample = bench.run(server, &series.workload).await?;
            let line = line(&series.workload, pair, pairs, server.name, &sample);
            eprintln!("{line}");
            series.lines.push(line);
            both[which] = sample;
        }
        series.pairs.push(both);
    }
    Ok(())
}

/// The line of one run, shown while the comparison runs.
fn line(workload: &Workload, pair: usize, pairs: usize, server: &str, sample: &Sample) -> String {
    let figures = workload.figures.iter().filter_map(|figure| Some(figure.brief(figure.of(sample)?)));
    let mut said: Vec<String> = figures.collect();
    if let Some(others) = sample.others {
        said.push(format!("others {others:.2} processors"));
    }
    format!("{:<18} pair {} of {pairs}, {server:<10}  {}", workload.name, pair + 1, said.join(", "))
}
