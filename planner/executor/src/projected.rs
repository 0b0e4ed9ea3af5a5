//! [`Projected`]: the batches of a projection, made smaller if its rows take much memory. Batches between an operator
//! and the client are limited in number, not in size. If a row fails, the rows before it are returned first, as in
//! PostgreSQL, which computes row by row.

use super::projection::Projector;
use super::row_counter::Counter;
use datafusion::arrow::array::Array;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::RecordBatchStream;
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::{Stream, StreamExt};
use sql_error::SqlError;
use sql_error::value_size::is_of_batch;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Approximate bytes of a batch, once one was larger.
const MOST_BYTES: usize = 1 << 20;
/// A batch of this many rows is not split.
const FEW_ROWS: usize = 64;

/// The stream of a projection's batches.
pub struct Projected {
    input: SendableRecordBatchStream,
    projector: Projector,
    rows: Counter,
    /// The rest of the last input batch.
    rest: Option<RecordBatch>,
    /// Most rows of a batch.
    at_once: usize,
    /// The error of the row behind those that were returned.
    failed: Option<SqlError>,
}

impl Projected {
    /// Applies `projector` to `input`. `rows` counts the rows.
    pub fn new(input: SendableRecordBatchStream, projector: Projector, rows: Counter) -> Projected {
        Projected { input, projector, rows, rest: None, at_once: usize::MAX, failed: None }
    }

    fn piece(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut rows = batch.num_rows().min(self.at_once);
        let projected = loop {
            let error = match self.projector.project(&batch.slice(0, rows)) {
                Ok(projected) => break projected,
                Err(error) => SqlError::from(error),
            };
            if rows <= 1 || !self.projector.is_repeatable() {
                return Err(error.into());
            }
            if !is_of_batch(&error) {
                return self.rows_before(batch, rows, error);
            }
            // There was not enough memory for all rows at once.
            rows /= 2;
            self.at_once = rows;
        };
        self.leave(batch, rows);
        if projected.num_rows() > FEW_ROWS {
            self.weigh(&projected)?;
        }
        Ok(projected)
    }

    /// The rows before the first failing one, whose error the next poll returns. `error` is the error of the first
    /// `rows` rows. Errors: the first row's.
    fn rows_before(&mut self, batch: &RecordBatch, mut rows: usize, mut error: SqlError) -> Result<RecordBatch> {
        if !is_of_row(&error) {
            return Err(error.into());
        }
        let (mut pieces, mut first) = (Vec::new(), 0);
        // The first failing row is among `rows` rows from `first` on.
        while rows > 0 {
            let half = rows.div_ceil(2).min(self.at_once);
            let found = match self.projector.project(&batch.slice(first, half)) {
                Ok(piece) => {
                    pieces.push(piece);
                    (first, rows) = (first + half, rows - half);
                    continue;
                }
                Err(found) => SqlError::from(found),
            };
            if is_of_batch(&found) && (half > 1 || !pieces.is_empty()) {
                self.at_once = (half / 2).max(1);
                if !pieces.is_empty() {
                    // Once these rows are gone, there is more memory.
                    self.leave(batch, first);
                    return Ok(concat_batches(&self.projector.schema(), &pieces)?);
                }
                continue;
            }
            if !is_of_row(&found) {
                return Err(found.into());
            }
            error = found;
            if half == 1 {
                break;
            }
            rows = half;
        }
        if pieces.is_empty() {
            return Err(error.into());
        }
        self.failed = Some(error);
        Ok(concat_batches(&self.projector.schema(), &pieces)?)
    }

    /// Keeps the rows behind the first `rows` of a batch for the next poll.
    fn leave(&mut self, batch: &RecordBatch, rows: usize) {
        let behind = batch.num_rows().saturating_sub(rows);
        self.rest = (behind > 0).then(|| batch.slice(rows, behind));
    }

    fn weigh(&mut self, projected: &RecordBatch) -> Result<()> {
        let mut bytes = 0;
        for column in projected.columns() {
            bytes += column.to_data().get_slice_memory_size()?;
        }
        if bytes > MOST_BYTES {
            let wanted = projected.num_rows().saturating_mul(MOST_BYTES) / bytes;
            self.at_once = self.at_once.min(wanted.max(FEW_ROWS));
        }
        Ok(())
    }
}

impl Stream for Projected {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(error) = self.failed.take() {
            return Poll::Ready(Some(Err(error.into())));
        }
        let batch = match self.rest.take() {
            Some(rest) => rest,
            None => match ready!(self.input.poll_next_unpin(context)) {
                Some(Ok(batch)) => batch,
                end => return Poll::Ready(end),
            },
        };
        let piece = self.piece(&batch);
        if let Ok(piece) = &piece {
            self.rows.add(piece.num_rows());
        }
        Poll::Ready(Some(piece))
    }
}

impl RecordBatchStream for Projected {
    fn schema(&self) -> SchemaRef {
        self.projector.schema()
    }
}

/// Whether an error is caused by a row's values (classes 21 to 23), not by a limit of the statement.
fn is_of_row(error: &SqlError) -> bool {
    ["21", "22", "23"].contains(&error.state().get(..2).unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::super::row_counter::Returned;
    use super::*;
    use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::Column;
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use futures::executor::block_on;
    use std::sync::Arc;

    /// Sizes of the batches made from a batch of `rows` rows of `bytes` bytes each, and another one. Their texts are in
    /// order.
    fn sizes(rows: usize, bytes: usize) -> Vec<usize> {
        let schema = Arc::new(Schema::new(vec![Field::new("text", DataType::Utf8, false)]));
        let batch = |first: usize| {
            let texts: StringArray =
                (first..first + rows).map(|row| Some(format!("{row:08}{}", "x".repeat(bytes)))).collect();
            Ok(RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(texts) as ArrayRef]).unwrap())
        };
        let input = futures::stream::iter([batch(0), batch(rows)]);
        let input = Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), input));
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new("text", 0));
        let projector = Projector::new(Arc::clone(&schema), Arc::from([column]));
        let batches: Vec<RecordBatch> =
            block_on(Projected::new(input, projector, Returned::default().counter()).map(Result::unwrap).collect());
        let texts = batches.iter().flat_map(|batch| batch.column(0).as_string::<i32>().iter());
        assert!(texts.enumerate().all(|(row, text)| text.unwrap().starts_with(&format!("{row:08}"))));
        batches.iter().map(RecordBatch::num_rows).collect()
    }

    #[test]
    fn batches_of_wide_rows_are_small_and_complete() {
        assert_eq!(sizes(2000, 10), [2000, 2000]);
        let wide = sizes(2000, 5000);
        assert_eq!((wide[0], wide.iter().sum::<usize>()), (2000, 4000));
        assert!(wide[1..].iter().all(|rows| *rows <= 210), "{wide:?}");
        assert_eq!(sizes(100, 1 << 20), [100, 64, 36]);
        assert_eq!(sizes(64, 1 << 20), [64, 64]);
    }
}
