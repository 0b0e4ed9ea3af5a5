//! The report in Markdown: the compared versions, the machine, and each figure beside its goal. Its tables are aligned
//! for reading as plain text.

use super::bench::Bench;
use super::figure::{Figure, Goal, short};
use super::options::Isolation;
use super::series::Series;
use std::fmt::Write;

/// Text of a cell without a measurement.
const NOTHING: &str = "–";

fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_string(), short)
}

/// A table whose columns are as wide as their contents.
fn aligned(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain(head.get(column).map(|cell| cell.chars().count())).max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let rule = widths.iter().enumerate().map(|(column, width)| match column {
        0 | 1 => "-".repeat(*width),
        _ => format!("{}:", "-".repeat(width - 1)),
    });
    let mut text = line(head.to_vec());
    let _ = writeln!(text, "| {} |", rule.collect::<Vec<_>>().join(" | "));
    text.extend(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())));
    text
}

/// One row per figure of a workload. The first row holds the workload's title.
fn rows(series: &Series) -> Vec<Vec<String>> {
    let workload = &series.workload;
    let mut rows: Vec<Vec<String>> = Vec::new();
    if series.failure.is_some() {
        rows.push(vec![String::new(), "failed, as told below".to_string()]);
    }
    for figure in &workload.figures {
        let compared = series.compared(*figure);
        if compared.a.is_none() && compared.b.is_none() {
            continue;
        }
        let goal = workload.goals.iter().find(|goal| goal.figure == *figure);
        rows.push(vec![
            String::new(),
            figure.name().to_string(),
            maybe(compared.a),
            maybe(compared.b),
            maybe(compared.ratio.map(|ratio| ratio.median)),
            compared.ratio.map_or_else(String::new, |ratio| format!("[{}, {}]", short(ratio.low), short(ratio.high))),
            goal.map_or_else(String::new, Goal::text),
            match goal.and_then(|goal| goal.met(&compared)) {
                Some(true) => "met".to_string(),
                Some(false) => "missed".to_string(),
                None => String::new(),
            },
        ]);
    }
    if let Some(title) = rows.first_mut().and_then(|row| row.first_mut()) {
        title.clone_from(&workload.title);
    }
    for row in &mut rows {
        row.resize(8, String::new());
    }
    rows
}

/// The tables of all workloads: PercoSQL against PostgreSQL, then PercoSQL against itself.
pub fn tables(measured: &[Series]) -> String {
    let section = |itself: bool| {
        let chosen = measured.iter().filter(|series| series.workload.itself == itself);
        chosen.flat_map(rows).collect::<Vec<_>>()
    };
    let mut text = String::new();
    let both = section(false);
    if !both.is_empty() {
        let head = ["workload", "figure", "PostgreSQL", "PercoSQL", "ratio", "interval", "goal", "result"];
        text.push_str(&aligned(&head, &both));
    }
    let noise = section(true);
    if !noise.is_empty() {
        let head = ["PercoSQL against itself", "figure", "once", "again", "ratio", "interval", "", ""];
        let _ = write!(text, "\n{}", aligned(&head, &noise));
    }
    text
}

fn conditions(bench: &Bench) -> String {
    let (options, machine) = (&bench.options, &bench.machine);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "- Machine: {} cores ({}), {:.1} GiB of memory, Linux {}, {} below both servers' folders{}.",
        machine.cores,
        machine.processor,
        machine.memory,
        machine.kernel,
        machine.file_system,
        if machine.disk_is_memory() { ", which is in memory, so that a sync costs nothing" } else { "" }
    );
    for (server, settings) in bench.servers.iter().zip(&bench.settings) {
        let said: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let _ = writeln!(text, "- {}: {}; {}.", server.name, server.version, said.join(", "));
    }
    let isolation = match options.isolation {
        Isolation::Shipped => "each server's own".to_string(),
        asked => asked.setting().unwrap_or_default().to_uppercase(),
    };
    let _ = writeln!(
        text,
        "- Both with their shipped settings, durable at COMMIT, over TCP. Isolation level, where a workload names none: {isolation}; at most {} tries of a \
         transaction.",
        options.max_tries
    );
    let _ = writeln!(
        text,
        "- {}, on the same machine; scale {}, {} rows scanned and copied; {} interleaved pairs (ABBA) of {} s after {} s to warm up.",
        bench.pgbench_version,
        options.scale,
        options.rows,
        options.pairs,
        options.duration.as_secs(),
        options.warm_up.as_secs()
    );
    text
}

const READING: &str = "\
Figures are medians of the runs, ratios medians of the pairs' ratios (PercoSQL to PostgreSQL), with the interval of that median: from six pairs on
its 95 % confidence interval (sign test), below that the range of what was seen, which three pairs leave in one case of four. CPU is that of the server's whole process tree. After COPY and CREATE
INDEX it is counted until the server is idle for two seconds; what PostgreSQL writes at a later checkpoint is not in it. A goal is met
when the median meets it. Memory counts what a server's processes share once.
";

fn remarks(measured: &[Series]) -> String {
    let mut text = String::new();
    let syncs = |series: &&Series| series.workload.writes() && !series.pairs.is_empty();
    if measured.iter().filter(syncs).any(|series| series.compared(Figure::Syncs).b.is_none()) {
        text.push_str("PercoSQL does not tell how often it syncs its log: there is nothing in that place.\n");
    }
    for series in measured {
        if let Some(failure) = &series.failure {
            let _ = writeln!(text, "{} failed: {}.", series.workload.title, failure.replace('\n', " "));
        }
        let [a, b] = series.failed();
        if a + b > 0 {
            let names = if series.workload.itself { ["once", "again"] } else { ["PostgreSQL", "PercoSQL"] };
            let title = &series.workload.title;
            let _ = writeln!(text, "{title}: {a} transactions were given up ({}), {b} ({}).", names[0], names[1]);
        }
    }
    if let Some(most) = measured.iter().filter_map(Series::others).max_by(f64::total_cmp) {
        let _ = writeln!(text, "Other programs kept at most {most:.2} processors busy during a run, on average.");
    }
    text
}

/// The whole report in Markdown.
pub fn report(bench: &Bench, measured: &[Series]) -> String {
    let mut text = format!("# PostgreSQL and PercoSQL, {} UTC\n\n", bench.begun);
    if let Some(note) = &bench.options.note {
        let _ = writeln!(text, "{note}\n");
    }
    let _ = write!(text, "{}\n{}\n{READING}", conditions(bench), tables(measured));
    let _ = write!(text, "{}\n## Every run\n\n", remarks(measured));
    for line in measured.iter().flat_map(|series| &series.lines) {
        let _ = writeln!(text, "    {line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::figure::Bound;
    use crate::compare::sample::Sample;
    use crate::compare::workload::{Needs, Task, Workload};

    fn series(itself: bool) -> Series {
        let sample =
            |cpu, per_second| Sample { done: 1000, cpu: Some(cpu), per_second: Some(per_second), ..Sample::default() };
        Series {
            workload: Workload {
                name: "one",
                title: "a title".into(),
                task: Task::Memory,
                needs: Needs::Nothing,
                figures: vec![Figure::Throughput, Figure::Cpu, Figure::P99],
                goals: vec![Goal { figure: Figure::Cpu, bound: Bound::RatioAtMost(0.6) }],
                itself,
            },
            pairs: vec![[sample(0.1, 50.0), sample(0.2, 40.0)], [sample(0.1, 50.0), sample(0.3, 60.0)]],
            lines: Vec::new(),
            failure: None,
        }
    }

    #[test]
    fn a_loss_is_shown() {
        let text = tables(&[series(false)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines.iter().all(|line| line.chars().count() == lines[0].chars().count()), "{text}");
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_string()).collect::<Vec<_>>();
        let expected = ["", "a title", "transactions a second", "50.0", "50.0", "1.00", "[0.800, 1.20]", "", "", ""];
        assert_eq!(cells(lines[2]), expected);
        let expected =
            ["", "", "server CPU, µs a transaction", "100", "250", "2.50", "[2.00, 3.00]", "≤ 0.6", "missed", ""];
        assert_eq!(cells(lines[3]), expected);
    }

    #[test]
    fn noise_has_a_table_of_its_own() {
        let text = tables(&[series(true)]);
        assert!(!text.contains("PostgreSQL") && text.contains("PercoSQL against itself"), "{text}");
    }

    #[test]
    fn what_failed_is_shown_with_why() {
        let mut failed = series(false);
        (failed.pairs, failed.failure) = (Vec::new(), Some("it broke\nand ended".into()));
        let failed = [failed];
        let text = tables(&failed);
        assert!(text.contains("| a title") && text.contains("| failed, as told below"), "{text}");
        assert!(remarks(&failed).contains("a title failed: it broke and ended.\n"));
    }
}
