//! `tpce compare`: two servers in turn (A B, B A, …), the ratios of each pair, and their confidence intervals.

use super::run::{Measured, Options, run};
use super::transactions::Kind;
use crate::error::{Error, Result};
use crate::ratio;
use std::fmt::Write;

/// A figure that is compared between two runs.
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

/// Runs pairs and reports how B compares with A.
#[allow(clippy::print_stderr)]
pub async fn compare(options: &[Options; 2], pairs: usize) -> Result<String> {
    if pairs == 0 {
        return Err(Error::other("there must be one pair at least"));
    }
    let mut measured: [Vec<Measured>; 2] = [Vec::new(), Vec::new()];
    for pair in 0..pairs {
        for which in ratio::turns(pair) {
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
    let between = if a.len().min(b.len()) < ratio::ENOUGH { "range of the pairs" } else { "95 % interval" };
    let _ = writeln!(text, "{:<38} {:>10} {:>10} {:>8}  {between}", "median of the pairs", "A", "B", "B / A");
    for figure in FIGURES {
        let pairs: Vec<_> = a.iter().zip(b).map(|(a, b)| ((figure.value)(a), (figure.value)(b))).collect();
        let compared = ratio::compare(&pairs);
        let (Some(of_a), Some(of_b), Some(ratio)) = (compared.a, compared.b, compared.ratio) else { continue };
        let _ = writeln!(
            text,
            "{:<38} {of_a:>10.2} {of_b:>10.2} {:>8.3}  {:.3} to {:.3}",
            figure.name, ratio.median, ratio.low, ratio.high
        );
    }
    text.push_str("TPC-E-style; not comparable with published results.\n");
    text
}
