//! Lateral joins: the rows of a correlated subquery for each input row, for an Apply of kind Lateral. It holds one
//! input row, one batch of the subquery and one batch of output at a time.

use super::apply::{ApplyExec, ApplyKind};
use super::interrupt::pause;
use crate::row_counter::{Counter, let_go};
use datafusion::arrow::array::{ArrayRef, UInt32Array, new_null_array};
use datafusion::arrow::compute::{concat_batches, take};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::StreamExt;
use std::sync::Arc;
use types::Datum;

/// Input rows between two pauses that give the thread to others.
const ROWS_BETWEEN_PAUSES: usize = 16;

/// The current row of the input.
struct OuterRow {
    batch: RecordBatch,
    /// The columns that the subquery reads.
    seen: Vec<ArrayRef>,
    row: usize,
}

/// The state of one execution.
struct Lateral {
    runs: Counter,
    apply: Arc<ApplyExec>,
    subquery: Arc<dyn ExecutionPlan>,
    input: SendableRecordBatchStream,
    task: Arc<TaskContext>,
    schema: SchemaRef,
    /// Whether input rows without a match are kept.
    outer: bool,
    at: Option<OuterRow>,
    rows: Option<SendableRecordBatchStream>,
    matched: bool,
    made: Vec<RecordBatch>,
    made_rows: usize,
    target: usize,
}

/// Joins the rows of the subquery to those of the input.
pub fn lateral(
    apply: Arc<ApplyExec>,
    runs: Counter,
    partition: usize,
    task: Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    let schema = apply.schema();
    let lateral = Lateral {
        input: apply.input().execute(partition, Arc::clone(&task))?,
        subquery: Arc::clone(apply.subquery()),
        target: task.session_config().batch_size(),
        outer: apply.kind() == ApplyKind::Lateral { outer: true },
        schema: Arc::clone(&schema),
        runs,
        apply,
        task,
        at: None,
        rows: None,
        matched: false,
        made: Vec::new(),
        made_rows: 0,
    };
    let stream = futures::stream::try_unfold(lateral, |mut lateral| async move {
        let batch = lateral.next().await?;
        Ok(batch.map(|batch| (batch, lateral)))
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
}

impl Lateral {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.made_rows >= self.target {
                return self.flush();
            }
            if let Some(rows) = self.rows.as_mut() {
                match rows.next().await.transpose()? {
                    Some(batch) => {
                        self.matched |= batch.num_rows() > 0;
                        let count = batch.num_rows();
                        self.beside(batch.columns().to_vec(), count)?;
                    }
                    None => {
                        self.rows = None;
                        self.end_row().await?;
                    }
                }
                continue;
            }
            match self.at.as_ref().filter(|at| at.row < at.batch.num_rows()) {
                Some(at) => {
                    let seen = at.seen.iter().map(|column| Datum::try_from_array(column, at.row));
                    self.apply.outer_values().set(seen.collect::<Result<Vec<_>>>()?);
                    self.runs.add(1);
                    self.subquery = let_go(&self.subquery)?;
                    self.matched = false;
                    self.rows = Some(self.subquery.execute(0, Arc::clone(&self.task))?);
                }
                None => match self.input.next().await.transpose()? {
                    Some(batch) => {
                        let seen = self.apply.seen(&batch)?;
                        self.at = Some(OuterRow { batch, seen, row: 0 });
                    }
                    None => return self.flush(),
                },
            }
        }
    }

    /// Ends the current input row: the subquery has no more rows.
    async fn end_row(&mut self) -> Result<()> {
        if self.outer && !self.matched {
            let width = self.at.as_ref().map_or(0, |at| at.batch.num_columns());
            let added = self.schema.fields().iter().skip(width);
            let nulls = added.map(|field| new_null_array(field.data_type(), 1)).collect();
            self.beside(nulls, 1)?;
        }
        if let Some(at) = self.at.as_mut() {
            at.row += 1;
            if at.row % ROWS_BETWEEN_PAUSES == 0 {
                pause().await;
            }
        }
        Ok(())
    }

    /// Joins rows of the subquery to the current input row.
    fn beside(&mut self, added: Vec<ArrayRef>, count: usize) -> Result<()> {
        let Some(at) = self.at.as_ref().filter(|_| count > 0) else { return Ok(()) };
        let row = u32::try_from(at.row).map_err(|error| datafusion::error::DataFusionError::External(error.into()))?;
        let repeated = UInt32Array::from(vec![row; count]);
        let mut columns =
            at.batch.columns().iter().map(|column| Ok(take(column, &repeated, None)?)).collect::<Result<Vec<_>>>()?;
        columns.extend(added);
        self.made.push(super::leaf::batch(&self.schema, columns, count)?);
        self.made_rows += count;
        Ok(())
    }

    fn flush(&mut self) -> Result<Option<RecordBatch>> {
        if self.made_rows == 0 {
            return Ok(None);
        }
        self.made_rows = 0;
        let made = std::mem::take(&mut self.made);
        match <[RecordBatch; 1]>::try_from(made) {
            Ok([only]) => Ok(Some(only)),
            Err(several) => Ok(Some(concat_batches(&self.schema, &several)?)),
        }
    }
}
