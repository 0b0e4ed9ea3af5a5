//! [`BatchDecoder`]: decodes stored rows to batches. It reuses its decoder.

use super::output::ScanOutput;
use super::projection::Projector;
use catalog::encoding::RowDecoder;
use datafusion::arrow::record_batch::RecordBatch;
use sql_error::Result;

/// Decodes stored rows to batches and reuses its decoder.
pub struct BatchDecoder {
    output: ScanOutput,
    /// The decoder for the next batch. It is dropped after an error, since it may then hold half a row.
    decoder: Option<RowDecoder>,
}

impl BatchDecoder {
    /// A decoder for the columns of `output`.
    pub fn new(output: ScanOutput) -> BatchDecoder {
        BatchDecoder { output, decoder: None }
    }

    /// A decoder for only the columns that a projection keeps. `None` if the projection computes anything.
    pub fn narrowed(&self, projector: &Projector) -> Option<BatchDecoder> {
        let output = self.output.narrowed(&projector.plain_columns()?, projector.schema())?;
        Some(BatchDecoder::new(output))
    }

    /// Decodes `count` rows, given as key and value, to a batch.
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
