//! [`Figure`]: a compared quantity of two samples. [`Goal`]: its target.

use super::sample::Sample;
use crate::ratio::Comparison;

/// A quantity that is computed from a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Transactions per second of the client.
    Throughput,
    /// Milliseconds per statement with a single client.
    Time,
    /// Microseconds of the server's processor time per transaction.
    Cpu,
    /// 99th percentile of the latency, in milliseconds.
    P99,
    /// Syncs of the server's log per transaction.
    Syncs,
    /// Tries beyond the first, per transaction.
    Retries,
    /// Rows per second of the client.
    Rows,
    /// Rows per second of the server's processor time. The time counts until the server is idle.
    RowsPerCpu,
    /// Resident memory in megabytes.
    Memory,
}

impl Figure {
    /// The name of the figure in reports.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Throughput => "transactions a second",
            Figure::Time => "ms a statement",
            Figure::Cpu => "server CPU, µs a transaction",
            Figure::P99 => "p99, ms",
            Figure::Syncs => "syncs of the log a transaction",
            Figure::Retries => "retries a transaction",
            Figure::Rows => "rows a second",
            Figure::RowsPerCpu => "rows a second of server CPU",
            Figure::Memory => "memory, MB",
        }
    }

    /// A value of the figure in short form, for the line of a run.
    pub fn brief(self, value: f64) -> String {
        let value = short(value);
        match self {
            Figure::Throughput => format!("{value} tps"),
            Figure::Time => format!("{value} ms"),
            Figure::Cpu => format!("{value} µs of server CPU each"),
            Figure::P99 => format!("p99 {value} ms"),
            Figure::Syncs => format!("{value} syncs each"),
            Figure::Retries => format!("{value} retries each"),
            Figure::Rows => format!("{value} rows/s"),
            Figure::RowsPerCpu => format!("{value} rows/s of server CPU"),
            Figure::Memory => format!("{value} MB"),
        }
    }

    /// The value of the figure in a sample. `None` if it was not measured.
    pub fn of(self, sample: &Sample) -> Option<f64> {
        let done = (sample.done > 0).then_some(sample.done as f64);
        match self {
            Figure::Throughput | Figure::Rows => sample.per_second,
            Figure::Time => sample.per_second.filter(|rate| *rate > 0.0).map(|rate| 1000.0 / rate),
            Figure::Cpu => Some(sample.cpu? * 1e6 / done?),
            Figure::P99 => sample.p99,
            Figure::Syncs => Some(sample.syncs? as f64 / done?),
            Figure::Retries => Some(sample.retries? as f64 / done?),
            Figure::RowsPerCpu => sample.cpu.filter(|cpu| *cpu > 0.0).and_then(|cpu| Some(done? / cpu)),
            Figure::Memory => sample.memory,
        }
    }
}

/// Formats a number with three significant digits, or with all digits before the point.
pub fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The bound of a goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// PercoSQL's figure is at most this multiple of PostgreSQL's.
    RatioAtMost(f64),
    /// PercoSQL's figure is at least this multiple of PostgreSQL's.
    RatioAtLeast(f64),
    /// PercoSQL's figure itself is at most this value.
    AtMost(f64),
}

/// The target of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Figure that the goal bounds.
    pub figure: Figure,
    /// Bound of the figure.
    pub bound: Bound,
}

impl Goal {
    /// The bound as text, such as `≤ 0.6`.
    pub fn text(&self) -> String {
        match self.bound {
            Bound::RatioAtMost(limit) | Bound::AtMost(limit) => format!("≤ {limit}"),
            Bound::RatioAtLeast(limit) => format!("≥ {limit}"),
        }
    }

    /// Whether the median meets the goal. `None` without measurements.
    pub fn met(&self, compared: &Comparison) -> Option<bool> {
        match self.bound {
            Bound::RatioAtMost(limit) => compared.ratio.map(|ratio| ratio.median <= limit),
            Bound::RatioAtLeast(limit) => compared.ratio.map(|ratio| ratio.median >= limit),
            Bound::AtMost(limit) => compared.b.map(|own| own <= limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::compare;

    #[test]
    fn figures_are_what_they_are_called() {
        let sample = Sample {
            done: 2000,
            per_second: Some(500.0),
            cpu: Some(0.5),
            syncs: Some(400),
            retries: Some(100),
            ..Sample::default()
        };
        assert_eq!(Figure::Throughput.of(&sample), Some(500.0));
        assert_eq!(Figure::Time.of(&sample), Some(2.0));
        assert_eq!(Figure::Cpu.of(&sample), Some(250.0));
        assert_eq!(Figure::RowsPerCpu.of(&sample), Some(4000.0));
        assert_eq!(Figure::Syncs.of(&sample), Some(0.2));
        assert_eq!(Figure::Retries.of(&sample), Some(0.05));
        assert_eq!(Figure::P99.of(&sample), None);
        let nothing = Sample::default();
        assert!([Figure::Cpu, Figure::RowsPerCpu, Figure::Time].iter().all(|figure| figure.of(&nothing).is_none()));
    }

    #[test]
    fn numbers_are_as_long_as_they_tell() {
        let said: Vec<String> = [12345.6, 12.34, 1.234, 0.1234, 0.0].into_iter().map(short).collect();
        assert_eq!(said, ["12346", "12.3", "1.23", "0.123", "0.000"]);
    }

    #[test]
    fn goals_are_met_at_their_bound() {
        let half = compare(&[(Some(200.0), Some(100.0))]);
        let met = |bound| Goal { figure: Figure::Cpu, bound }.met(&half);
        assert_eq!(met(Bound::RatioAtMost(0.5)), Some(true));
        assert_eq!(met(Bound::RatioAtMost(0.49)), Some(false));
        assert_eq!(met(Bound::RatioAtLeast(0.5)), Some(true));
        assert_eq!(met(Bound::RatioAtLeast(1.3)), Some(false));
        assert_eq!(met(Bound::AtMost(100.0)), Some(true));
        assert_eq!(met(Bound::AtMost(99.0)), Some(false));
        let missing = compare(&[(Some(1.0), None)]);
        assert_eq!(Goal { figure: Figure::Cpu, bound: Bound::AtMost(1.0) }.met(&missing), None);
    }
}
