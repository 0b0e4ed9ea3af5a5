//! [`FirstRows`]: the first rows of a range of a table's keys, as far as they lie in one batch of the store: what LIMIT leaves of an ordered
//! scan.

use super::batch_decoder::BatchDecoder;
use super::bounds::KeyBounds;
use super::output::ScanOutput;
use super::projection::{LeanProjectionExec, Projector};
use super::slots::StatementContext;
use super::table_scan::TableScanExec;
use crate::error::Result;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;
use txn::OwnWrites;

/// A LIMIT beyond it is for a stream, which need not have all rows at once.
const MOST_ROWS: usize = 64;

/// Who was told that a stream has to read does not ask again for so many executions: rows that were deleted at the begin of a range are
/// in the way of the next execution, too.
const EXECUTIONS_LEFT_ALONE: u32 = 15;

/// What was found.
#[derive(Debug)]
pub enum Found {
    /// All that there is to return, if anything.
    Rows(Option<RecordBatch>),
    /// It would take more than one look at the store. A stream has to read from the beginning.
    NotAtOnce,
}

/// Reads them time and again, and projects them.
pub struct FirstRows {
    rows: BatchDecoder,
    bounds: Arc<KeyBounds>,
    /// From the last key to the first.
    reverse: bool,
    /// Rows, at most.
    fetch: usize,
    above: Option<Projector>,
    left_alone: u32,
}

impl FirstRows {
    /// Those of a finished plan that is LIMIT over a range, and a projection of it at most; `None` where it is not, or they may be too many.
    pub fn of(plan: &Arc<dyn ExecutionPlan>) -> Option<FirstRows> {
        let Some(projection) = plan.downcast_ref::<LeanProjectionExec>() else {
            return plan.downcast_ref::<TableScanExec>()?.first_rows();
        };
        let mut first = projection.children().first()?.downcast_ref::<TableScanExec>()?.first_rows()?;
        let projector = projection.projector();
        // Where it computes nothing, no more of a row is read than it keeps.
        match first.rows.narrowed(&projector) {
            Some(rows) => first.rows = rows,
            None => first.above = Some(projector),
        }
        Some(first)
    }

    /// The first `fetch` rows within `bounds`, or the last, last first; `None`: those are too many.
    pub fn new(output: ScanOutput, bounds: Arc<KeyBounds>, reverse: bool, fetch: usize) -> Option<FirstRows> {
        let rows = BatchDecoder::new(output);
        let first = FirstRows { rows, bounds, reverse, fetch, above: None, left_alone: 0 };
        (1..=MOST_ROWS).contains(&fetch).then_some(first)
    }

    /// The rows of this execution: those that the plan's stream would return, whose slots are filled with `context`. Errors: those of the stream.
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
