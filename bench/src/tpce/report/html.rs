//! A run as one self-contained page with figures, plots and tables.

use super::svg::{Bars, Line, bars, lines, short};
use super::{ms, table};
use crate::tpce::run::Measured;
use crate::tpce::transactions::{KINDS, Kind};
use std::fmt::Write;

const STYLE: &str = "
:root { --ink: #1d2733; --soft: #66758a; --rule: #e3e8ee; --page: #f6f8fa; --card: #fff; --one: #2563c9; --two: #e08a1e; --three: #c23b4e;
  --light: #b9d0f5; --pale: #dfe9fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf2; --soft: #93a1b5; --rule: #2b3644; --page: #12181f; --card: #1a222c;
  --one: #6aa1f7; --two: #f0a94a; --three: #ef7182; --light: #34568c; --pale: #253a5c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 940px; margin: 0 auto; padding: 40px 20px 60px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 16px; margin: 0 0 12px; }
.lead { color: var(--soft); margin: 0 0 24px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px; margin-bottom: 16px; }
section, .figure { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 16px 20px; }
section { margin-bottom: 16px; overflow-x: auto; }
.figure b { display: block; font-size: 26px; font-variant-numeric: tabular-nums; } .figure span { color: var(--soft); font-size: 13px; }
.figure.main b { color: var(--one); }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--soft); font-size: 12px; } svg .name { fill: var(--ink); }
.grid { stroke: var(--rule); } .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.line.one { stroke: var(--one); } .line.two { stroke: var(--two); } .line.three { stroke: var(--three); }
.bar.p50 { fill: var(--one); } .bar.p90 { fill: var(--light); } .bar.p99 { fill: var(--pale); }
.bar.target { fill: var(--pale); } .bar.share { fill: var(--one); }
.key { color: var(--soft); font-size: 13px; margin: 0 0 8px; } .key i { display: inline-block; width: 10px; height: 10px; border-radius: 3px;
  margin: 0 5px 0 14px; } .key i:first-child { margin-left: 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { text-align: right; padding: 5px 8px; border-bottom: 1px solid var(--rule); white-space: nowrap; } th { color: var(--soft); font-weight: 500; }
th:first-child, td:first-child { text-align: left; } tr:last-child td { border-bottom: 0; } td.text { text-align: left; white-space: normal; }
.bad { color: var(--three); }
footer { color: var(--soft); font-size: 13px; }";

/// Escapes text for a page.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn figure(class: &str, value: &str, name: &str) -> String {
    format!("<div class=\"figure {class}\"><b>{value}</b><span>{name}</span></div>")
}

fn key(entries: &[(&str, &str)]) -> String {
    let one = |(color, name): &(&str, &str)| format!("<i style=\"background: var(--{color})\"></i>{name}");
    format!("<p class=\"key\">{}</p>", entries.iter().map(one).collect::<String>())
}

/// The HTML page of a run.
pub fn page(measured: &Measured) -> String {
    let mut page = String::from("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">");
    page.push_str(
        "<meta name=\"viewport\" content=\"width=device-width\"><title>Trade-results per second</title><style>",
    );
    page.push_str(STYLE);
    page.push_str("</style><main><h1>A brokerage under load</h1>");
    // Writing to a string cannot fail.
    let _ = write!(page, "<p class=\"lead\">{}</p>", escaped(&measured.server));
    let _ = write!(page, "<div class=\"figures\">{}</div>", figures(measured));
    let _ = write!(page, "<section><h2>Second by second</h2>{}</section>", over_time(measured));
    let _ = write!(page, "<section><h2>Latency</h2>{}</section>", latencies(measured));
    let _ = write!(page, "<section><h2>Mix</h2>{}</section>", mix(measured));
    let _ = write!(page, "<section><h2>Transactions</h2>{}</section>", transactions(measured));
    let _ = write!(page, "<section><h2>Tried again and given up</h2>{}</section>", troubles(measured));
    let _ = write!(page, "<section><h2>Conditions</h2>{}</section>", conditions(measured));
    page.push_str("<footer>TPC-E-style, unpaced, by percosql-bench. Not comparable with published results of any benchmark.</footer></main></html>\n");
    page
}

fn figures(measured: &Measured) -> String {
    let result = measured.tally.of(Kind::TradeResult);
    let mut all = vec![
        figure("main", &short(measured.results_per_second()), "trade-results per second"),
        figure("", &short(measured.all_per_second()), "transactions per second"),
        figure(
            "",
            &format!("{} ms", short(ms(result.latency.value_at_quantile(0.9)))),
            "trade-result, 90th percentile",
        ),
        figure("", &measured.tally.retries().to_string(), "tried again"),
        figure("", &measured.tally.aborts().to_string(), "given up"),
    ];
    if let Some(cpu) = measured.server_cpu {
        let each = cpu * 1000.0 / measured.tally.total().max(1) as f64;
        all.push(figure("", &format!("{} ms", short(each)), "server's processor time a transaction"));
    }
    all.concat()
}

fn over_time(measured: &Measured) -> String {
    let of = |value: fn(&crate::tpce::run::Second) -> u64| {
        measured.seconds.iter().map(|second| value(second) as f64).collect()
    };
    let results = lines(&[Line { name: "trade-results", class: "one", values: of(|second| second.results) }]);
    let all = lines(&[
        Line { name: "transactions", class: "two", values: of(|second| second.all) },
        Line { name: "retries", class: "three", values: of(|second| second.retries) },
    ]);
    let (first, second) =
        (key(&[("one", "trade-results")]), key(&[("two", "transactions of all kinds"), ("three", "retries")]));
    format!("{first}{results}{second}{all}")
}

fn latencies(measured: &Measured) -> String {
    let rows: Vec<Bars<'_>> = KINDS
        .iter()
        .filter(|kind| measured.tally.of(**kind).count > 0)
        .map(|kind| {
            let own = measured.tally.of(*kind);
            let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|quantile| ms(own.latency.value_at_quantile(quantile)));
            let says = format!("{} / {} / {} ms", short(p50), short(p90), short(p99));
            Bars { name: kind.name(), values: vec![("p50", p50), ("p90", p90), ("p99", p99)], says }
        })
        .collect();
    let key = key(&[("one", "median"), ("light", "90th percentile"), ("pale", "99th percentile; logarithmic")]);
    format!("{key}{}", bars(&rows, true))
}

fn mix(measured: &Measured) -> String {
    let total = measured.tally.total().max(1) as f64;
    let rows: Vec<Bars<'_>> = KINDS
        .iter()
        .filter(|kind| kind.target() > 0.0)
        .map(|kind| {
            let share = 100.0 * measured.tally.of(*kind).count as f64 / total;
            let says = format!("{share:.2} % of {:.1} %", kind.target());
            Bars { name: kind.name(), values: vec![("target", kind.target()), ("share", share)], says }
        })
        .collect();
    format!("{}{}", key(&[("one", "share"), ("pale", "target")]), bars(&rows, false))
}

fn transactions(measured: &Measured) -> String {
    let mut text = String::from(
        "<table><tr><th>transaction<th>count<th>mean ms<th>p50<th>p90<th>p95<th>p99<th>max<th>retries<th>errors<th>warnings</tr>",
    );
    for kind in KINDS {
        let own = measured.tally.of(kind);
        let at = |quantile: f64| ms(own.latency.value_at_quantile(quantile));
        let errors: u64 = own.aborts.values().map(|(count, _)| count).sum();
        let _ = write!(
            text,
            "<tr><td>{}<td>{}<td>{:.2}<td>{:.2}<td>{:.2}<td>{:.2}<td>{:.2}<td>{:.2}<td>{}<td class=\"{}\">{errors}<td>{}</tr>",
            kind.name(),
            own.count,
            own.latency.mean() / 1000.0,
            at(0.5),
            at(0.9),
            at(0.95),
            at(0.99),
            ms(own.latency.max()),
            own.retries.values().sum::<u64>(),
            if errors > 0 { "bad" } else { "" },
            own.warnings
        );
    }
    text.push_str("</table>");
    text
}

fn troubles(measured: &Measured) -> String {
    let mut rows = String::new();
    for kind in KINDS {
        let own = measured.tally.of(kind);
        for (code, count) in &own.retries {
            let _ = write!(rows, "<tr><td>{}<td>{code}<td>{count}<td class=\"text\">tried again</tr>", kind.name());
        }
        for (code, (count, said)) in &own.aborts {
            let said = escaped(said);
            let _ = write!(
                rows,
                "<tr><td>{}<td class=\"bad\">{code}<td>{count}<td class=\"text\">given up: {said}</tr>",
                kind.name()
            );
        }
    }
    if rows.is_empty() {
        return "<p class=\"key\">None.</p>".into();
    }
    format!("<table><tr><th>transaction<th>SQLSTATE<th>times<th class=\"text\"></tr>{rows}</table>")
}

fn conditions(measured: &Measured) -> String {
    let rows: String = table::conditions(measured)
        .iter()
        .map(|(name, value)| format!("<tr><td>{name}<td class=\"text\">{}</tr>", escaped(value)))
        .collect();
    format!("<table>{rows}</table>")
}
