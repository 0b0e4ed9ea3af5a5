//! The results of a run as JSON.

use super::{ms, table};
use crate::tpce::run::Measured;
use crate::tpce::transactions::{KINDS, Kind};
use serde_json::{Map, Value, json};

pub fn json(measured: &Measured) -> Value {
    let total = measured.tally.total().max(1) as f64;
    let of_kind = |kind: Kind| {
        let own = measured.tally.of(kind);
        let at = |quantile: f64| ms(own.latency.value_at_quantile(quantile));
        let aborts: Map<String, Value> = own
            .aborts
            .iter()
            .map(|(code, (count, said))| (code.clone(), json!({ "count": count, "first": said })))
            .collect();
        json!({
            "count": own.count,
            "mix_percent": 100.0 * own.count as f64 / total,
            "target_percent": kind.target(),
            "mean_ms": own.latency.mean() / 1000.0,
            "p50_ms": at(0.5),
            "p90_ms": at(0.9),
            "p95_ms": at(0.95),
            "p99_ms": at(0.99),
            "max_ms": ms(own.latency.max()),
            "rolled_back": own.rolled_back,
            "warnings": own.warnings,
            "retries": own.retries,
            "aborts": aborts,
        })
    };
    let transactions: Map<String, Value> = KINDS.iter().map(|kind| (kind.name().to_string(), of_kind(*kind))).collect();
    let conditions: Map<String, Value> =
        table::conditions(measured).into_iter().map(|(name, value)| (name.to_string(), Value::from(value))).collect();
    let seconds: Vec<Value> = measured
        .seconds
        .iter()
        .map(|second| json!({ "trade_results": second.results, "transactions": second.all, "retries": second.retries }))
        .collect();
    json!({
        "kind": "TPC-E-style, not comparable with published results",
        "trade_results_per_second": measured.results_per_second(),
        "transactions_per_second": measured.all_per_second(),
        "measured_seconds": measured.took.as_secs_f64(),
        "clients": measured.options.clients,
        "conditions": conditions,
        "server_cpu_seconds": measured.server_cpu,
        "client_cpu_seconds": measured.client_cpu,
        "transactions": transactions,
        "seconds": seconds,
    })
}
