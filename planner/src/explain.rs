//! EXPLAIN: a plan as an indented tree in PostgreSQL's words. The tree shows indexes, keys and tablets. With ANALYZE it
//! also shows how many rows each operator returned, and what the transaction read and wrote.
//!
//! The statement comes planned.

mod node;
mod structured;
use executor::expression_text as text;

use crate::error::{Result, SqlError};
use crate::execution::StatementContext;
use crate::execution::bounds::KeyBounds;
use crate::parse::ExplainFormat;
use crate::plan::PreparedPlan;
use datafusion::common::stats::Precision;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use futures::TryStreamExt;
use node::{Line, describe, transparent};
use std::sync::Arc;
use std::time::{Duration, Instant};
use structured::{Members, Value};
use txn::TransactionStats;

pub use text::{literal, readable};

/// The options of an EXPLAIN that decide what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainOptions {
    /// Runs the statement and shows row counts and store statistics.
    pub analyze: bool,
    /// Shows the output columns of each operator too.
    pub verbose: bool,
    /// Shows the estimated number of rows.
    pub costs: bool,
    /// Shows times. Only with `analyze`.
    pub timing: bool,
    /// Shows planning and execution time at the end.
    pub summary: bool,
}

/// The result of EXPLAIN for one statement, before it is formatted.
pub struct Explained {
    nodes: Vec<Shown>,
    /// The work of an executed statement in the store: pairs of title and text.
    work: Vec<(&'static str, String)>,
    planning: Duration,
    execution: Duration,
    options: ExplainOptions,
}

/// One operator of the plan as EXPLAIN shows it.
struct Shown {
    depth: usize,
    title: Option<String>,
    line: Line,
    output: Vec<String>,
    expected: Option<usize>,
    /// The estimated size of a row in bytes.
    width: Option<usize>,
    actual: Option<Actual>,
}

/// The measured figures of an operator.
struct Actual {
    rows: usize,
    time: Option<Duration>,
}

/// Explains a statement. With `analyze` it also runs: its writes are kept, its rows are discarded.
pub async fn explain(
    plan: &Arc<PreparedPlan>,
    context: Arc<StatementContext>,
    options: ExplainOptions,
) -> Result<Explained> {
    let planning = Instant::now();
    let mut lease = plan.lease(&context).await?;
    let planning = planning.elapsed();
    let instance = lease.instance().ok_or_else(|| SqlError::internal("a lease without a plan"))?;
    let before = context.transaction.stats();
    let execution = Instant::now();
    let mut rows = 0;
    if options.analyze {
        let mut stream = instance.start(Arc::clone(&context))?;
        while let Some(batch) = stream.try_next().await.map_err(crate::plan::prepared::plain)? {
            rows += batch.num_rows();
        }
    }
    let execution = execution.elapsed();
    instance.slots().fill(Arc::clone(&context));
    let mut nodes: Vec<Shown> = Vec::new();
    let mut pending = vec![(Arc::clone(instance.plan()), 0usize, None::<String>)];
    while let Some((operator, depth, title)) = pending.pop() {
        let (shown, children) = visit(&operator, &context, depth, title, options).await;
        nodes.push(shown);
        pending.extend(children.into_iter().rev());
    }
    let mut work = Vec::new();
    if options.analyze {
        if let Some(root) = nodes.first_mut() {
            // Some operators do not count their rows, so the root shows the total.
            root.actual.get_or_insert(Actual { rows, time: None });
        }
        let after = context.transaction.stats();
        work.extend(transaction_lines(before, after));
        let conflicts = format!("retries={}{}", context.session.retries(), locking(before, after, options));
        work.push(("Conflicts", conflicts));
    }
    Ok(Explained { nodes, work, planning, execution, options })
}

impl Explained {
    /// FORMAT TEXT: the lines of the plan. `parts` are the data-modifying WITH queries.
    pub fn lines(&self, parts: &[Explained]) -> Vec<String> {
        let mut lines: Vec<String> = self.nodes.iter().flat_map(|shown| shown.lines(self.options)).collect();
        // PostgreSQL shows the plans of WITH queries directly below the statement.
        let mut below = Vec::new();
        for part in parts {
            below.push("  CTE".to_string());
            let part = part.nodes.iter().flat_map(|shown| shown.lines(part.options));
            below.extend(
                part.enumerate().map(|(at, line)| format!("    {}{line}", if at == 0 { "->  " } else { "    " })),
            );
        }
        lines.splice(1.min(lines.len())..1.min(lines.len()), below);
        lines.extend(self.work.iter().map(|(title, text)| format!("{title}: {text}")));
        if self.options.summary {
            lines.push(format!("Planning Time: {} ms", milliseconds(self.planning)));
            if self.options.analyze {
                lines.push(format!("Execution Time: {} ms", milliseconds(self.execution)));
            }
        }
        lines
    }

    /// FORMAT JSON, YAML or XML: one text.
    pub fn structured(&self, parts: &[Explained], format: ExplainFormat) -> String {
        let mut nodes = self.nodes.iter().peekable();
        let mut plan = nodes.next().map_or_else(Vec::new, |root| object(root, &mut nodes, self.options, None));
        let ctes: Vec<Members> = parts
            .iter()
            .filter_map(|part| {
                let mut nodes = part.nodes.iter().peekable();
                let root = nodes.next()?;
                Some(object(root, &mut nodes, part.options, Some("InitPlan")))
            })
            .collect();
        if !ctes.is_empty() {
            match plan.last_mut() {
                Some(("Plans", Value::Objects(_, below))) => drop(below.splice(0..0, ctes)),
                _ => plan.push(("Plans", Value::Objects("Plan", ctes))),
            }
        }
        let mut members = vec![("Plan", Value::Object(plan))];
        members.extend(self.work.iter().map(|(title, text)| (*title, Value::Text(text.clone()))));
        if self.options.summary {
            members.push(("Planning Time", Value::Number(milliseconds(self.planning))));
        }
        if self.options.analyze {
            members.push(("Triggers", Value::Objects("Trigger", Vec::new())));
        }
        if self.options.summary && self.options.analyze {
            members.push(("Execution Time", Value::Number(milliseconds(self.execution))));
        }
        structured::write(&members, format)
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

/// The members of a node. `rest` holds the nodes of its children.
fn object<'n>(
    node: &'n Shown,
    rest: &mut std::iter::Peekable<impl Iterator<Item = &'n Shown>>,
    options: ExplainOptions,
    relationship: Option<&str>,
) -> Members {
    let mut members = node.line.members.clone();
    let mut described = Vec::new();
    if let Some(relationship) = relationship {
        described.push(("Parent Relationship", Value::Text(relationship.into())));
    }
    if let Some(title) = &node.title {
        described.push(("Subplan Name", Value::Text(title.clone())));
    }
    described.push(("Parallel Aware", Value::Truth(node.line.text.starts_with("Parallel "))));
    described.push(("Async Capable", Value::Truth(false)));
    // The node's type comes first.
    let own =
        members.iter().take_while(|(name, _)| ["Node Type", "Operation", "Strategy", "Partial Mode"].contains(name));
    let own = own.count();
    members.splice(own..own, described);
    if options.costs {
        members.extend(node.expected.map(|rows| ("Plan Rows", Value::Number(rows.to_string()))));
        members.extend(node.width.map(|width| ("Plan Width", Value::Number(width.to_string()))));
    }
    if let Some(actual) = &node.actual {
        members.extend(actual.time.map(|time| ("Actual Total Time", Value::Number(milliseconds(time)))));
        members.push(("Actual Rows", Value::Number(actual.rows.to_string())));
        members.push(("Actual Loops", Value::Number("1".into())));
    }
    if options.verbose {
        members.push(("Output", Value::List(node.output.clone())));
    }
    members.extend(node.line.details.iter().cloned());
    let join = node.line.members.iter().any(|(name, _)| *name == "Join Type");
    let append = matches!(node.line.members.first(), Some((_, Value::Text(kind))) if kind == "Append");
    let mut below: Vec<Members> = Vec::new();
    while let Some(child) = rest.next_if(|next| next.depth > node.depth) {
        let relationship = match &child.title {
            Some(title) if title.starts_with("InitPlan") => "InitPlan",
            Some(_) => "SubPlan",
            None if append => "Member",
            None if join && !below.is_empty() => "Inner",
            None => "Outer",
        };
        below.push(object(child, rest, options, Some(relationship)));
    }
    if !below.is_empty() {
        members.push(("Plans", Value::Objects("Plan", below)));
    }
    members
}

type Pending = (Arc<dyn ExecutionPlan>, usize, Option<String>);

/// Describes one operator and returns its children.
async fn visit(
    operator: &Arc<dyn ExecutionPlan>,
    context: &StatementContext,
    depth: usize,
    title: Option<String>,
    options: ExplainOptions,
) -> (Shown, Vec<Pending>) {
    let mut operator = Arc::clone(operator);
    // PostgreSQL shows a scan's filter with the scan, and no projections.
    let mut filter = None;
    let mut outermost = Arc::clone(&operator);
    loop {
        if filter.is_none()
            && let Some((condition, input)) = node::scan_filter(&operator)
        {
            outermost = Arc::clone(&operator);
            filter = Some(condition);
            operator = input;
        } else if let Some(input) = transparent(&operator) {
            operator = input;
            if filter.is_none() {
                outermost = Arc::clone(&operator);
            }
        } else {
            break;
        }
    }
    let mut line = describe(&operator);
    if let Some(filter) = filter {
        line.details.push(("Filter", Value::Text(filter)));
    }
    if let Some(bounds) = line.bounds.take() {
        line.details.extend(tablets(&bounds, context).await.map(|tablets| ("Tablets", Value::Text(tablets))));
    }
    let children = std::mem::take(&mut line.children);
    let children = children.into_iter().map(|(title, child)| (child, depth + 1, title)).collect();
    let output = outermost.schema().fields().iter().map(|field| readable(field.name())).collect();
    let (expected, width) = if options.costs { expected(&outermost) } else { (None, None) };
    let actual = options.analyze.then(|| actual(&outermost, options)).flatten();
    (Shown { depth, title, line, output, expected, width, actual }, children)
}

impl Shown {
    fn lines(&self, options: ExplainOptions) -> Vec<String> {
        let depth = self.depth;
        let indent = if depth == 0 { String::new() } else { format!("{}->  ", " ".repeat(6 * (depth - 1) + 2)) };
        let inner = " ".repeat(if depth == 0 { 2 } else { 6 * (depth - 1) + 8 });
        let mut lines = Vec::new();
        if let Some(title) = &self.title {
            lines.push(format!("{}{title}", " ".repeat(6 * depth.saturating_sub(1) + 2)));
        }
        lines.push(format!("{indent}{}{}", self.line.text, self.figures()));
        if options.verbose && !self.output.is_empty() {
            lines.push(format!("{inner}Output: {}", self.output.join(", ")));
        }
        lines.extend(self.line.details.iter().map(|(name, value)| format!("{inner}{name}: {}", value.plain())));
        lines
    }

    /// ` (rows=10) (actual rows=9 loops=1)`.
    fn figures(&self) -> String {
        let mut text = String::new();
        if let Some(rows) = self.expected {
            text.push_str(&format!("  (rows={rows})"));
        }
        if let Some(actual) = &self.actual {
            let time = actual.time.map(|time| format!("time={} ", milliseconds(time))).unwrap_or_default();
            text.push_str(if text.is_empty() { "  " } else { " " });
            text.push_str(&format!("(actual {time}rows={} loops=1)", actual.rows));
        }
        text
    }
}

/// The estimated number of rows, and the estimated bytes of a row.
fn expected(operator: &Arc<dyn ExecutionPlan>) -> (Option<usize>, Option<usize>) {
    let Ok(statistics) = StatisticsContext::new().compute(operator.as_ref(), &StatisticsArgs::new()) else {
        return (None, None);
    };
    let known = |precision: &Precision<usize>| match precision {
        Precision::Exact(value) | Precision::Inexact(value) => Some(*value),
        Precision::Absent => None,
    };
    let rows = known(&statistics.num_rows);
    let width = rows.filter(|rows| *rows > 0).and_then(|rows| Some(known(&statistics.total_byte_size)? / rows));
    (rows, width)
}

/// The measured figures of an operator, from its metrics.
fn actual(operator: &Arc<dyn ExecutionPlan>, options: ExplainOptions) -> Option<Actual> {
    let metrics = operator.metrics()?;
    let rows = metrics.output_rows()?;
    let time = metrics.elapsed_compute().filter(|_| options.timing);
    Some(Actual { rows, time: time.map(|nanoseconds| Duration::from_nanos(nanoseconds as u64)) })
}

/// The tablets that hold the keys a scan reads.
async fn tablets(bounds: &KeyBounds, context: &StatementContext) -> Option<String> {
    let mut ids = Vec::new();
    for range in bounds.ranges(context).ok()? {
        ids.extend(context.transaction.tablets(&range).await.ok()?.into_iter().map(|tablet| tablet.id));
    }
    ids.sort_unstable();
    ids.dedup();
    let shown: Vec<String> = ids.iter().take(8).map(u64::to_string).collect();
    let more = if ids.len() > shown.len() { ", …" } else { "" };
    Some(format!("{} ({}{more})", ids.len(), shown.join(", ")))
}

fn transaction_lines(before: TransactionStats, after: TransactionStats) -> [(&'static str, String); 3] {
    let spilled = if after.spilled { ", spilled to disk" } else { "" };
    let store = format!(
        "keys read={} locks met={} calls={} waves={}",
        after.keys_read.saturating_sub(before.keys_read),
        after.locks_met.saturating_sub(before.locks_met),
        after.calls.saturating_sub(before.calls),
        after.waves.saturating_sub(before.waves)
    );
    let transaction = format!(
        "keys written={} buffer={} bytes{spilled}",
        after.writes.saturating_sub(before.writes),
        after.buffer_bytes
    );
    let commit = format!("calls={} waves={}", after.commit_calls, after.commit_waves);
    [("Store", store), ("Transaction", transaction), ("Commit", commit)]
}

/// The rows locked, changed meanwhile and skipped, and the time waited for locks. Empty if there were no rows to lock.
fn locking(before: TransactionStats, after: TransactionStats, options: ExplainOptions) -> String {
    let locked = after.rows_locked.saturating_sub(before.rows_locked);
    let skipped = after.rows_skipped.saturating_sub(before.rows_skipped);
    if locked + skipped == 0 {
        return String::new();
    }
    let changed = after.rows_changed.saturating_sub(before.rows_changed);
    let mut text = format!(" rows locked={locked} changed meanwhile={changed} skipped={skipped}");
    if options.timing {
        let waited = after.lock_wait.saturating_sub(before.lock_wait);
        text.push_str(&format!(" wait={:.3} ms", waited.as_secs_f64() * 1e3));
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
