//! [`Rows`]: a result that is sent batch by batch, so a table larger than memory passes through in little memory.

use crate::connection::Connection;
use crate::error::{Result, protocol_violation};
use crate::types::encode::BatchEncoder;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use planner::session::{Outcome, OutputColumn, Prepared, RowsTag};
use planner::types::Datum;
use planner::types::text::ObjectNames;
use planner::{SqlError, state};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// Format codes of result columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formats(Vec<i16>);

impl Formats {
    /// Text format for all columns.
    pub fn text() -> Self {
        Formats(Vec::new())
    }

    /// Binary format for all columns.
    pub fn binary() -> Self {
        Formats(vec![1])
    }

    /// Format codes from Bind: none, one for all, or one each. A statement without columns accepts any count. Errors:
    /// 08P01 for another count, 22023 for an unknown code.
    pub fn new(codes: Vec<i16>, columns: Option<usize>) -> std::result::Result<Self, SqlError> {
        let Some(columns) = columns else { return Ok(Formats::text()) };
        let formats = Formats(codes);
        formats.check(columns)?;
        if let Some(code) = formats.0.iter().find(|code| !matches!(code, 0 | 1)) {
            return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, format!("unsupported format code: {code}")));
        }
        Ok(formats)
    }

    /// Errors: 08P01 if the count fits neither all columns nor each.
    pub fn check(&self, columns: usize) -> std::result::Result<(), SqlError> {
        if self.0.len() > 1 && self.0.len() != columns {
            return Err(protocol_violation(format!(
                "bind message has {} result formats but query has {columns} columns",
                self.0.len()
            )));
        }
        Ok(())
    }

    /// The format code of a column.
    pub fn code(&self, column: usize) -> i16 {
        match self.0.as_slice() {
            [] => 0,
            [all] => *all,
            each => each.get(column).copied().unwrap_or(0),
        }
    }
}

/// A result that is being sent.
pub struct Rows {
    columns: Arc<[OutputColumn]>,
    formats: Formats,
    stream: SendableRecordBatchStream,
    kind: RowsTag,
    /// The batch being sent and the index of its next row.
    current: Option<(RecordBatch, usize)>,
    sent: u64,
}

impl Rows {
    /// Creates a result positioned before its first row.
    pub fn new(
        columns: Arc<[OutputColumn]>,
        formats: Formats,
        stream: SendableRecordBatchStream,
        kind: RowsTag,
    ) -> Self {
        Rows { columns, formats, stream, kind, current: None, sent: 0 }
    }

    /// The kind of command tag that ends the result.
    pub fn kind(&self) -> &RowsTag {
        &self.kind
    }

    /// The command tag. `SELECT n`, and the tags of writes with RETURNING, count the rows sent since the portal was
    /// last resumed.
    pub fn tag(&self) -> String {
        match &self.kind {
            RowsTag::Select => {
                let mut tag = String::with_capacity(16);
                tag.push_str("SELECT ");
                tag.push_str(itoa::Buffer::new().format(self.sent));
                tag
            }
            RowsTag::Fixed(tag) | RowsTag::Binary(tag) => match tag.rsplit_once(' ') {
                Some((verb, count)) if count.parse::<u64>().is_ok() => format!("{verb} {}", self.sent),
                _ => tag.clone(),
            },
        }
    }
}

impl Connection {
    /// Runs a statement up to its first row. If the client disconnects meanwhile, the statement is cancelled.
    pub(crate) async fn run_prepared(&mut self, prepared: &Arc<Prepared>, parameters: Vec<Datum>) -> Result<Outcome> {
        let outcome = {
            // The future is pinned in place, because it is too large to move.
            let work = std::pin::pin!(self.session.execute(prepared, parameters));
            self.input.while_connected(&mut self.stream, &self.backend.cancel, work).await?
        };
        self.out.set_encoding(self.encoding());
        Ok(outcome)
    }

    /// The next rows. If the client disconnects meanwhile, the statement is cancelled. Errors: 57014, and errors of the
    /// statement.
    pub(crate) async fn next_batch(&mut self, rows: &mut Rows) -> Result<Option<RecordBatch>> {
        let cancel = &self.backend.cancel;
        if cancel.is_cancelled() {
            return Err(cancelled().into());
        }
        // Most rows are ready, so the first poll waits for nothing.
        let ready = poll_fn(|context| Poll::Ready(rows.stream.poll_next_unpin(context))).await;
        let next = match ready {
            Poll::Ready(next) => next,
            Poll::Pending => {
                let next = async {
                    tokio::select! {
                        biased;
                        next = rows.stream.next() => Ok(next),
                        () = cancel.cancelled() => Err(cancelled()),
                    }
                };
                self.input.while_connected(&mut self.stream, cancel, next).await?
            }
        };
        Ok(next.transpose().map_err(SqlError::from)?)
    }

    /// Sends at most `limit` rows. Answers `true` at the end of the result, `false` if it stopped at `limit`.
    pub(crate) async fn send_rows(&mut self, rows: &mut Rows, limit: Option<u64>) -> Result<bool> {
        rows.sent = 0;
        let (settings, catalog) = (self.session.settings(), self.session.catalog());
        let context = settings.text_output(catalog.as_deref().map(|catalog| catalog as &dyn ObjectNames));
        let encoding = settings.client_encoding();
        loop {
            if limit.is_some_and(|limit| rows.sent >= limit) {
                return Ok(false);
            }
            let (batch, mut row) = match rows.current.take() {
                Some(current) => current,
                None => match self.next_batch(rows).await? {
                    Some(batch) => (batch, 0),
                    None => return Ok(true),
                },
            };
            let mut encoder = BatchEncoder::new(&rows.columns, &rows.formats, &batch, encoding, context)?;
            let left = limit.map_or(u64::MAX, |limit| limit - rows.sent);
            let end = row + usize::try_from(left).unwrap_or(usize::MAX).min(batch.num_rows() - row);
            while row < end {
                encoder.encode(row, self.out.buffer())?;
                row += 1;
                rows.sent += 1;
                if self.out.is_full() {
                    if self.backend.cancel.is_cancelled() {
                        return Err(cancelled().into());
                    }
                    self.flush_rows().await?;
                }
            }
            if row < batch.num_rows() {
                drop(encoder);
                rows.current = Some((batch, row));
            }
        }
    }
}

/// 57014: the client cancelled the statement.
pub fn cancelled() -> SqlError {
    SqlError::new(state::QUERY_CANCELED, "canceling statement due to user request")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_none_one_or_each() {
        assert_eq!(Formats::new(vec![], Some(3)).unwrap().code(2), 0);
        assert_eq!(Formats::new(vec![1], Some(3)).unwrap().code(2), 1);
        assert_eq!(Formats::new(vec![0, 1, 0], Some(3)).unwrap().code(1), 1);
        assert_eq!(Formats::new(vec![0, 1], Some(3)).unwrap_err().state(), "08P01");
        assert_eq!(Formats::new(vec![0, 1, 0, 1], Some(3)).unwrap_err().state(), "08P01");
        assert_eq!(Formats::new(vec![2], Some(3)).unwrap_err().state(), "22023");
        assert!(Formats::new(vec![0, 1], None).is_ok());
    }
}
