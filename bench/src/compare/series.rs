//! [`Series`]: all runs of one workload, on both servers in turn.

use super::bench::Bench;
use super::figure::Figure;
use super::sample::Sample;
use super::workload::{Task, Workload};
use crate::error::Result;
use crate::ratio::{self, Comparison};

/// A workload and what it came to.
pub struct Series {
    /// What was run.
    pub workload: Workload,
    /// Pairs of runs: PostgreSQL's, or PercoSQL's first where it is compared with itself, then PercoSQL's.
    pub pairs: Vec<[Sample; 2]>,
    /// What was said of each run, in the order in which they ran.
    pub lines: Vec<String>,
    /// Why it is not complete, if it is not.
    pub failure: Option<String>,
}

impl Series {
    /// How the two compare in one figure.
    pub fn compared(&self, figure: Figure) -> Comparison {
        let pairs: Vec<_> = self.pairs.iter().map(|[a, b]| (figure.of(a), figure.of(b))).collect();
        ratio::compare(&pairs)
    }

    /// Transactions that were given up, on each side.
    pub fn failed(&self) -> [u64; 2] {
        self.pairs.iter().fold([0, 0], |[a, b], [of_a, of_b]| [a + of_a.failed, b + of_b.failed])
    }

    /// The most processors that other programs kept busy during a run.
    pub fn others(&self) -> Option<f64> {
        self.pairs.iter().flatten().filter_map(|sample| sample.others).max_by(f64::total_cmp)
    }
}

/// Runs a workload. What goes wrong is kept, so that the others run all the same.
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
    // Looking changes nothing: once is enough.
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

/// One run, for who watches.
fn line(workload: &Workload, pair: usize, pairs: usize, server: &str, sample: &Sample) -> String {
    let figures = workload.figures.iter().filter_map(|figure| Some(figure.brief(figure.of(sample)?)));
    let mut said: Vec<String> = figures.collect();
    if let Some(others) = sample.others {
        said.push(format!("others {others:.2} processors"));
    }
    format!("{:<18} pair {} of {pairs}, {server:<10}  {}", workload.name, pair + 1, said.join(", "))
}
