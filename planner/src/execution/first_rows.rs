//! [`FirstRows`]: the first rows of a range of a table's keys, as far as they lie in one batch of the store: what LIMIT leaves of an ordered
//! scan. Must not know what is done with them.

use super::bounds::KeyBounds;
use super::output::ScanOutput;
use super::projection::Projector;
use super::slots::StatementContext;
use crate::encoding::RowDecoder;
use crate::error::Result;
use datafusion::arrow::record_batch::RecordBatch;
use std::sync::Arc;
use txn::{OwnWrites, Pairs};

/// A LIMIT beyond it is for a stream, which need not have all rows at once.
pub(super) const MOST_ROWS: usize = 64;

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

/// Reads them time and again.
pub struct FirstRows {
    output: ScanOutput,
    bounds: Arc<KeyBounds>,
    /// From the last key to the first.
    reverse: bool,
    /// Rows, at most.
    fetch: usize,
    /// Kept for the next execution; not after an error, for then it may hold half a row.
    decoder: Option<RowDecoder>,
    left_alone: u32,
}

impl FirstRows {
    /// The first `fetch` rows within `bounds`, or the last, last first; `None`: those are too many.
    pub fn new(output: ScanOutput, bounds: Arc<KeyBounds>, reverse: bool, fetch: usize) -> Option<FirstRows> {
        let reader = FirstRows { output, bounds, reverse, fetch, decoder: None, left_alone: 0 };
        (1..=MOST_ROWS).contains(&fetch).then_some(reader)
    }

    /// Reads no more of a row than a projection above it keeps; `None` where that computes something, too.
    pub fn narrowed(&self, projector: &Projector) -> Option<FirstRows> {
        let output = self.output.narrowed(&projector.plain_columns()?, projector.schema())?;
        FirstRows::new(output, Arc::clone(&self.bounds), self.reverse, self.fetch)
    }

    /// The rows of this execution.
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
        match pairs {
            Some(pairs) => self.decode(&pairs).map(Found::Rows),
            None => {
                self.left_alone = EXECUTIONS_LEFT_ALONE;
                Ok(Found::NotAtOnce)
            }
        }
    }

    fn decode(&mut self, pairs: &Pairs) -> Result<Option<RecordBatch>> {
        if pairs.is_empty() {
            return Ok(None);
        }
        let mut decoder = match self.decoder.take() {
            Some(mut decoder) => {
                decoder.reserve(pairs.len());
                decoder
            }
            None => self.output.decoder(pairs.len())?,
        };
        for (key, value) in pairs.iter() {
            decoder.push(key, value)?;
        }
        let columns = decoder.finish()?;
        self.decoder = Some(decoder);
        self.output.batch(columns, pairs.len()).map(Some)
    }
}
