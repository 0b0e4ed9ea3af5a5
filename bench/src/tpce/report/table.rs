//! A run as a table of text.

use super::ms;
use crate::tpce::run::Measured;
use crate::tpce::transactions::{KINDS, Kind};
use std::fmt::Write;

/// The conditions of the run in words, as names and values.
pub fn conditions(measured: &Measured) -> Vec<(&'static str, String)> {
    let options = &measured.options;
    let scale = &measured.scale;
    let mut all = vec![
        ("server", measured.server.clone()),
        ("population", format!("{} customers, {} days of history, seed {}", scale.customers, scale.days, scale.seed)),
        (
            "clients",
            format!(
                "{} customers, {} for trade-results, 1 for the ticker, no think time",
                options.clients, options.market_clients
            ),
        ),
        (
            "measured",
            format!("{:.0} s after a ramp of {:.0} s", measured.took.as_secs_f64(), options.ramp.as_secs_f64()),
        ),
        ("isolation", options.isolation.name().to_string()),
        ("broker totals", format!("{:?}", options.broker).to_lowercase()),
        ("style", format!("{:?}", options.style).to_lowercase()),
        ("canceled before", format!("{} trades of earlier runs", measured.canceled)),
    ];
    let results = measured.tally.of(Kind::TradeResult).count.max(1) as f64;
    let each = |seconds: f64| format!("{:.2} ms a trade-result ({seconds:.1} s in all)", seconds * 1000.0 / results);
    if let Some(cpu) = measured.server_cpu {
        all.push(("server's processor time", each(cpu)));
    }
    all.push(("this program's", each(measured.client_cpu)));
    all
}

/// The text table of a run.
pub fn table(measured: &Measured) -> String {
    let mut text = String::new();
    let total = measured.tally.total().max(1) as f64;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{:<18} {:>8} {:>6} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7} {:>8}",
        "transaction",
        "count",
        "mix %",
        "target",
        "mean ms",
        "p50",
        "p90",
        "p99",
        "max",
        "retries",
        "errors",
        "warnings"
    );
    for kind in KINDS {
        let own = measured.tally.of(kind);
        let mix = if kind == Kind::DataMaintenance { 0.0 } else { 100.0 * own.count as f64 / total };
        let at = |quantile: f64| ms(own.latency.value_at_quantile(quantile));
        let _ = writeln!(
            text,
            "{:<18} {:>8} {:>6.2} {:>6.1} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>8} {:>7} {:>8}",
            kind.name(),
            own.count,
            mix,
            kind.target(),
            own.latency.mean() / 1000.0,
            at(0.5),
            at(0.9),
            at(0.99),
            ms(own.latency.max()),
            own.retries.values().sum::<u64>(),
            own.aborts.values().map(|(count, _)| count).sum::<u64>(),
            own.warnings,
        );
    }
    for kind in KINDS {
        let own = measured.tally.of(kind);
        for (code, count) in &own.retries {
            let _ = writeln!(text, "{}: tried again {count} times after {code}", kind.name());
        }
        for (code, (count, said)) in &own.aborts {
            let _ = writeln!(text, "{}: given up {count} times with {code}: {said}", kind.name());
        }
    }
    let orders = measured.tally.of(Kind::TradeOrder);
    let share = 100.0 * orders.rolled_back as f64 / orders.count.max(1) as f64;
    let _ = writeln!(
        text,
        "rolled back on purpose: {} of {} orders ({share:.2} %, target 0.99)",
        orders.rolled_back, orders.count
    );
    for (name, value) in conditions(measured) {
        let _ = writeln!(text, "{name}: {value}");
    }
    let _ = writeln!(
        text,
        "\n{:.2} trade-results per second, {:.1} transactions per second (TPC-E-style; not comparable with published results)",
        measured.results_per_second(),
        measured.all_per_second()
    );
    text
}

/// The number of answers and the time of each statement. The statement with the longest total time comes first.
pub fn statements(measured: &Measured) -> String {
    let mut text = format!("\n{:>10} {:>9} {:>9}  statement\n", "in all ms", "count", "mean ms");
    for (statement, own) in measured.tally.statements() {
        let all = own.took.as_secs_f64() * 1000.0;
        let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{all:>10.0} {:>9} {:>9.3}  {words}", own.count, all / own.count.max(1) as f64);
    }
    text
}
