//! `tpce compare`: two servers in turn (A B, B A, …), the ratios of each pair, and how far they can be trusted. Must not know
//! what is run.

use super::run::{Measured, Options, run};
use super::transactions::Kind;
use crate::error::{Error, Result};
use crate::random::Stream;
use std::fmt::Write;

/// Samples of the bootstrap.
const SAMPLES: usize = 5000;

/// What is compared of two runs.
struct Figure {
    name: &'static str,
    value: fn(&Measured) -> Option<f64>,
}

fn p90(measured: &Measured, kind: Kind) -> Option<f64> {
    let own = measured.tally.of(kind);
    (own.count > 0).then(|| super::report::ms(own.latency.value_at_quantile(0.9)))
}

fn cpu_of_transaction(measured: &Measured) -> Option<f64> {
    measured.server_cpu.map(|cpu| cpu * 1000.0 / measured.tally.total().max(1) as f64)
}

const FIGURES: &[Figure] = &[
    Figure { name: "trade-results per second", value: |measured| Some(measured.results_per_second()) },
    Figure { name: "transactions per second", value: |measured| Some(measured.all_per_second()) },
    Figure { name: "server ms of processor a transaction", value: cpu_of_transaction },
    Figure { name: "Trade-Result p90 ms", value: |measured| p90(measured, Kind::TradeResult) },
    Figure { name: "Trade-Order p90 ms", value: |measured| p90(measured, Kind::TradeOrder) },
    Figure { name: "Trade-Status p90 ms", value: |measured| p90(measured, Kind::TradeStatus) },
    Figure { name: "Market-Watch p90 ms", value: |measured| p90(measured, Kind::MarketWatch) },
    Figure { name: "Customer-Position p90 ms", value: |measured| p90(measured, Kind::CustomerPosition) },
];

/// The middle of some numbers.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// Between which bounds the median lies with 95 % confidence, by drawing again from the same values.
fn interval(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let mut stream = Stream::of(1, 0, values.len() as u64);
    let mut medians: Vec<f64> =
        (0..SAMPLES).map(|_| median(&values.iter().map(|_| *stream.pick(values)).collect::<Vec<_>>())).collect();
    medians.sort_by(f64::total_cmp);
    (medians[SAMPLES / 40], medians[SAMPLES - 1 - SAMPLES / 40])
}

/// Runs pairs, and says how B compares with A.
#[allow(clippy::print_stderr)]
pub async fn compare(options: &[Options; 2], pairs: usize) -> Result<String> {
    if pairs == 0 {
        return Err(Error::other("there must be one pair at least"));
    }
    let mut measured: [Vec<Measured>; 2] = [Vec::new(), Vec::new()];
    for pair in 0..pairs {
        // Who is first changes, so that neither always finds the machine as the other left it.
        for turn in 0..2 {
            let which = (pair + turn) % 2;
            let mut own = options[which].clone();
            own.seed = options[which].seed.wrapping_add(pair as u64);
            let one = run(&own).await?;
            eprintln!(
                "pair {} of {pairs}, {}: {:.2} trade-results/s, {:.1} transactions/s, {} retries, {} errors",
                pair + 1,
                ["A", "B"][which],
                one.results_per_second(),
                one.all_per_second(),
                one.tally.retries(),
                one.tally.aborts()
            );
            measured[which].push(one);
        }
    }
    Ok(table(&measured))
}

fn table(measured: &[Vec<Measured>; 2]) -> String {
    let [a, b] = measured;
    let mut text = String::new();
    // Writing to a string cannot fail.
    for (name, own) in [("A", a), ("B", b)] {
        let server = own.first().map_or("", |one| one.server.as_str());
        let _ = writeln!(text, "{name}: {server}");
    }
    let _ = writeln!(text, "{:<38} {:>10} {:>10} {:>8}  95 % interval", "median of the pairs", "A", "B", "B / A");
    for figure in FIGURES {
        let values = |own: &[Measured]| own.iter().filter_map(figure.value).collect::<Vec<f64>>();
        let (of_a, of_b) = (values(a), values(b));
        let ratios: Vec<f64> = of_a.iter().zip(&of_b).filter(|(a, _)| **a > 0.0).map(|(a, b)| b / a).collect();
        if ratios.is_empty() {
            continue;
        }
        let (low, high) = interval(&ratios);
        let _ = writeln!(
            text,
            "{:<38} {:>10.2} {:>10.2} {:>8.3}  {low:.3} to {high:.3}",
            figure.name,
            median(&of_a),
            median(&of_b),
            median(&ratios)
        );
    }
    text.push_str("TPC-E-style; not comparable with published results.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_median() {
        let values = [1.0, 1.1, 0.9, 1.05, 0.95];
        let (low, high) = interval(&values);
        assert!(low <= median(&values) && median(&values) <= high && low >= 0.9 && high <= 1.1);
        assert_eq!(median(&[3.0, 1.0]), 2.0);
    }
}
