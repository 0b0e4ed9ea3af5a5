//! EXPLAIN: a plan as an indented tree in PostgreSQL's words: which index, which keys, which tablets,
//! and with ANALYZE how many rows each operator returned and what the transaction read and wrote.
//!
//! Must not know SQL text: the statement comes planned.

mod node;
mod text;

use crate::error::{Result, SqlError};
use crate::execution::StatementContext;
use crate::execution::bounds::KeyBounds;
use crate::plan::PreparedPlan;
use crate::session::OutputColumn;
use crate::types::SqlType;
use datafusion::arrow::array::StringArray;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::stats::Precision;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::TryStreamExt;
use node::{Line, describe, transparent};
use std::sync::Arc;
use std::time::Instant;
use txn::TransactionStats;

pub use text::{literal, readable};

/// What EXPLAIN shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainOptions {
    /// Runs the statement, and shows what happened.
    pub analyze: bool,
    /// Shows operators' output columns too.
    pub verbose: bool,
    /// Shows how many rows are expected.
    pub costs: bool,
    /// With `analyze`: shows times.
    pub timing: bool,
    /// Shows planning and execution time at the end.
    pub summary: bool,
}

impl From<&crate::parse::Explain> for ExplainOptions {
    fn from(explain: &crate::parse::Explain) -> Self {
        ExplainOptions {
            analyze: explain.analyze,
            verbose: explain.verbose,
            costs: explain.costs,
            timing: explain.timing,
            summary: explain.summary.unwrap_or(explain.analyze),
        }
    }
}

/// The lines of the plan of a statement, which runs when `analyze` is set: its writes stay, its
/// rows go nowhere.
pub async fn explain(
    plan: &Arc<PreparedPlan>,
    context: Arc<StatementContext>,
    options: ExplainOptions,
) -> Result<Vec<String>> {
    let planning = Instant::now();
    let mut lease = plan.lease(&context).await?;
    let planning = planning.elapsed();
    let instance = lease.instance().ok_or_else(|| SqlError::internal("a lease without a plan"))?;
    let before = context.transaction.stats();
    let execution = Instant::now();
    if options.analyze {
        let mut stream = instance.start(Arc::clone(&context))?;
        while stream.try_next().await.map_err(crate::plan::prepared::plain)?.is_some() {}
    }
    let execution = execution.elapsed();
    instance.slots().fill(Arc::clone(&context));
    let mut lines = Vec::new();
    let mut pending = vec![(Arc::clone(instance.plan()), 0usize, None::<String>)];
    while let Some((operator, depth, title)) = pending.pop() {
        let (operator, children) = visit(&operator, &context, depth, title, options, &mut lines).await?;
        drop(operator);
        pending.extend(children.into_iter().rev());
    }
    if options.analyze {
        let after = context.transaction.stats();
        lines.extend(transaction_lines(before, after));
        lines.push(format!("Conflicts: retries={}{}", context.session.retries(), locking(before, after, options)));
    }
    if options.summary && options.timing {
        lines.push(format!("Planning Time: {:.3} ms", planning.as_secs_f64() * 1e3));
        if options.analyze {
            lines.push(format!("Execution Time: {:.3} ms", execution.as_secs_f64() * 1e3));
        }
    }
    Ok(lines)
}

/// The rows of EXPLAIN: one text column.
pub fn query_plan(lines: Vec<String>) -> Result<(Arc<[OutputColumn]>, SendableRecordBatchStream)> {
    let schema = Arc::new(Schema::new(vec![Field::new("QUERY PLAN", DataType::Utf8, false)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(StringArray::from(lines))])?;
    let stream = RecordBatchStreamAdapter::new(schema, futures::stream::iter([Ok(batch)]));
    Ok((Arc::from([OutputColumn::computed("QUERY PLAN", SqlType::TEXT)]), Box::pin(stream)))
}

type Pending = (Arc<dyn ExecutionPlan>, usize, Option<String>);

/// Writes the lines of one operator; answers what is below it.
async fn visit(
    operator: &Arc<dyn ExecutionPlan>,
    context: &StatementContext,
    depth: usize,
    title: Option<String>,
    options: ExplainOptions,
    lines: &mut Vec<String>,
) -> Result<(Arc<dyn ExecutionPlan>, Vec<Pending>)> {
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
    let Line { text, mut details, bounds, children } = describe(&operator);
    if let Some(filter) = filter {
        details.push(format!("Filter: {filter}"));
    }
    let indent = if depth == 0 { String::new() } else { format!("{}->  ", " ".repeat(6 * (depth - 1) + 2)) };
    let inner = " ".repeat(if depth == 0 { 2 } else { 6 * (depth - 1) + 8 });
    if let Some(title) = title {
        lines.push(format!("{}{title}", " ".repeat(6 * depth.saturating_sub(1) + 2)));
    }
    lines.push(format!("{indent}{text}{}", figures(&outermost, options)));
    if options.verbose {
        let columns: Vec<_> = outermost.schema().fields().iter().map(|field| readable(field.name())).collect();
        lines.push(format!("{inner}Output: {}", columns.join(", ")));
    }
    lines.extend(details.into_iter().map(|detail| format!("{inner}{detail}")));
    if let Some(bounds) = bounds {
        lines.extend(tablets(&bounds, context).await.map(|tablets| format!("{inner}{tablets}")));
    }
    let children = children.into_iter().map(|(title, child)| (child, depth + 1, title)).collect();
    Ok((operator, children))
}

/// ` (rows=10) (actual rows=9 loops=1)`.
fn figures(operator: &Arc<dyn ExecutionPlan>, options: ExplainOptions) -> String {
    let mut text = String::new();
    if options.costs {
        let statistics = StatisticsContext::new().compute(operator.as_ref(), &StatisticsArgs::new());
        if let Ok(statistics) = statistics
            && let Precision::Exact(rows) | Precision::Inexact(rows) = statistics.num_rows
        {
            text.push_str(&format!("  (rows={rows})"));
        }
    }
    if options.analyze
        && let Some(metrics) = operator.metrics()
        && let Some(rows) = metrics.output_rows()
    {
        let time = match metrics.elapsed_compute() {
            Some(nanoseconds) if options.timing => format!("time={:.3} ", nanoseconds as f64 / 1e6),
            _ => String::new(),
        };
        text.push_str(if text.is_empty() { "  " } else { " " });
        text.push_str(&format!("(actual {time}rows={rows} loops=1)"));
    }
    text
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
    Some(format!("Tablets: {} ({}{more})", ids.len(), shown.join(", ")))
}

fn transaction_lines(before: TransactionStats, after: TransactionStats) -> Vec<String> {
    let spilled = if after.spilled { ", spilled to disk" } else { "" };
    vec![
        format!(
            "Store: keys read={} locks met={} calls={} waves={}",
            after.keys_read.saturating_sub(before.keys_read),
            after.locks_met.saturating_sub(before.locks_met),
            after.calls.saturating_sub(before.calls),
            after.waves.saturating_sub(before.waves)
        ),
        format!(
            "Transaction: keys written={} buffer={} bytes{spilled}",
            after.writes.saturating_sub(before.writes),
            after.buffer_bytes
        ),
        format!("Commit: calls={} waves={}", after.commit_calls, after.commit_waves),
    ]
}

/// What waiting for rows that others had locked came to; nothing when no rows were to be locked.
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
