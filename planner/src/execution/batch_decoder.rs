//! [`BatchDecoder`]: makes batches of rows as they are stored, time and again, with the decoder of before.

use super::output::ScanOutput;
use super::projection::Projector;
use crate::encoding::RowDecoder;
use crate::error::Result;
use datafusion::arrow::record_batch::RecordBatch;

/// See the head of the module.
pub struct BatchDecoder {
    output: ScanOutput,
    /// Kept for the next batch; not after an error, for then it may hold half a row.
    decoder: Option<RowDecoder>,
}

impl BatchDecoder {
    /// Of what `output` keeps of rows.
    pub fn new(output: ScanOutput) -> BatchDecoder {
        BatchDecoder { output, decoder: None }
    }

    /// Of no more than a projection of it keeps; `None` where that computes something, too.
    pub fn narrowed(&self, projector: &Projector) -> Option<BatchDecoder> {
        let output = self.output.narrowed(&projector.plain_columns()?, projector.schema())?;
        Some(BatchDecoder::new(output))
    }

    /// A batch of these rows, key and value of each, which are `count`.
    pub fn decode<'a>(
        &mut self,
        count: usize,
        rows: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Result<RecordBatch> {
        let mut decoder = match self.decoder.take() {
            Some(mut decoder) => {
                decoder.reserve(count);
                decoder
            }
            None => self.output.decoder(count)?,
        };
        for (key, value) in rows {
            decoder.push(key, value)?;
        }
        let columns = decoder.finish()?;
        self.decoder = Some(decoder);
        self.output.batch(columns, count)
    }
}
