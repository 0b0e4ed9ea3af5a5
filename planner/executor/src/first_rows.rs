//! [`FirstRows`]: reads the first rows of a range of a table's keys if one batch of the store holds them. This serves
//! LIMIT over an ordered scan.

use super::batch_decoder::BatchDecoder;
use super::bounds::KeyBounds;
use super::output::ScanOutput;
use super::projection::{LeanProjectionExec, Projector};
use super::slots::StatementContext;
use super::table_scan::TableScanExec;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::physical_plan::ExecutionPlan;
use sql_error::Result;
use std::sync::Arc;
use txn::OwnWrites;

/// A larger LIMIT is left to a stream, which need not hold all rows at once.
const MOST_ROWS: usize = 64;

/// After a failed attempt, this many executions use the stream right away. Deleted rows at the start of the range will
/// slow the next execution as well.
const EXECUTIONS_LEFT_ALONE: u32 = 15;

/// The outcome of an attempt.
#[derive(Debug)]
pub enum Found {
    /// All rows to return, if there are any.
    Rows(Option<RecordBatch>),
    /// More than one read is necessary. A stream has to read from the beginning.
    NotAtOnce,
}

/// Reads the first rows of a range for one execution after another, and projects them.
pub struct FirstRows {
    rows: BatchDecoder,
    bounds: Arc<KeyBounds>,
    /// Whether to read from the last key to the first.
    reverse: bool,
    /// Most rows to return.
    fetch: usize,
    above: Option<Projector>,
    left_alone: u32,
}

impl FirstRows {
    /// Converts a finished plan that is LIMIT over a range, optionally with a projection. `None` for other plans, and
    /// if there may be too many rows.
    pub fn of(plan: &Arc<dyn ExecutionPlan>) -> Option<FirstRows> {
        let Some(projection) = plan.downcast_ref::<LeanProjectionExec>() else {
            return plan.downcast_ref::<TableScanExec>()?.first_rows();
        };
        let mut first = projection.children().first()?.downcast_ref::<TableScanExec>()?.first_rows()?;
        let projector = projection.projector();
        // If the projection only selects columns, decode just these.
        match first.rows.narrowed(&projector) {
            Some(rows) => first.rows = rows,
            None => first.above = Some(projector),
        }
        Some(first)
    }

    /// Reads the first `fetch` rows within `bounds`, or the last ones in reverse order. `None` if these are too many.
    pub fn new(output: ScanOutput, bounds: Arc<KeyBounds>, reverse: bool, fetch: usize) -> Option<FirstRows> {
        let rows = BatchDecoder::new(output);
        let first = FirstRows { rows, bounds, reverse, fetch, above: None, left_alone: 0 };
        (1..=MOST_ROWS).contains(&fetch).then_some(first)
    }

    /// Reads the rows that the plan's stream would return. Its slots contain `context`. Errors: those of the stream.
    pub async fn read(&mut self, context: &StatementContext) -> Result<Found> {
        if self.left_alone > 0 {
            self.left_alone -= 1;
            return Ok(Found::NotAtOnce);
        }
        let mut ranges = self.bounds.ranges(context)?.into_iter();
        let Some(range) = ranges.next() else { return Ok(Found::Rows(None)) };
        let own = OwnWrites::Before(context.command);
        let pairs = match ranges.next() {
            Some(_) => None,
            None => context.transaction.first_pairs(range, self.fetch, self.reverse, own).await?,
        };
        let Some(pairs) = pairs else {
            self.left_alone = EXECUTIONS_LEFT_ALONE;
            return Ok(Found::NotAtOnce);
        };
        if pairs.is_empty() {
            return Ok(Found::Rows(None));
        }
        let batch = self.rows.decode(pairs.len(), pairs.iter())?;
        Ok(Found::Rows(Some(match &self.above {
            Some(projector) => projector.project(&batch)?,
            None => batch,
        })))
    }
}
