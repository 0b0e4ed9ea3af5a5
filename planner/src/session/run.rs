//! Runs a planned query or write. The rows of a query are streamed. A write runs to its end.

use super::dispatch::refused_in_read_only;
use super::outcome::{Outcome, RowsTag};
use super::query::{PlannedQuery, QueryKind};
use super::stream::{Limits, guard};
use crate::error::{Result, SqlError};
use crate::execution::StatementContext;
use crate::plan::PlanRows;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use std::sync::Arc;

/// Runs a plan. Errors: 25006, and the errors of a write.
pub async fn run_planned(
    planned: &Arc<PlannedQuery>,
    context: Arc<StatementContext>,
    read_only: bool,
    limits: &Limits,
) -> Result<Outcome> {
    match &planned.kind {
        QueryKind::Query { locks } => {
            if read_only && *locks {
                return Err(refused_in_read_only("SELECT FOR UPDATE"));
            }
            let stream = match planned.plan.run(context).await? {
                PlanRows::Stream(stream) => guard(stream, limits),
                done => done.into_stream(),
            };
            let columns = planned.columns.clone().unwrap_or_else(|| Arc::new([]));
            Ok(Outcome::Rows { columns, stream, tag: RowsTag::Select })
        }
        QueryKind::Write { verb, returning, temporary } => {
            if read_only && !temporary {
                return Err(refused_in_read_only(verb.name()));
            }
            if planned.overlapping {
                context.held.remember_written();
            }
            if !planned.parts.is_empty() {
                Box::pin(run_parts(planned, &context, false)).await?;
            }
            let rows = planned.plan.run(context.clone()).await?;
            let schema = rows.schema();
            let batches = rows.collect().await?;
            if !planned.parts.is_empty() {
                Box::pin(run_parts(planned, &context, true)).await?;
            }
            if !returning {
                return Ok(Outcome::Command { tag: verb.tag(count(&batches)?) });
            }
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            let stream: SendableRecordBatchStream =
                Box::pin(RecordBatchStreamAdapter::new(schema, futures::stream::iter(batches.into_iter().map(Ok))));
            let columns = planned.columns.clone().unwrap_or_else(|| Arc::new([]));
            Ok(Outcome::Rows { columns, stream, tag: RowsTag::Fixed(verb.tag(rows as u64)) })
        }
    }
}

/// Runs the data-modifying WITH queries of a statement. `last` selects those that run after the main statement.
pub async fn run_parts(planned: &PlannedQuery, context: &Arc<StatementContext>, last: bool) -> Result<()> {
    for (number, part) in planned.parts.iter().enumerate().filter(|(_, part)| part.last == last) {
        let rows = part.plan.run(context.clone()).await?;
        context.held.put(number, rows.collect().await?);
    }
    Ok(())
}

/// The row count in the result of a write without RETURNING.
pub fn count(batches: &[RecordBatch]) -> Result<u64> {
    let count = batches
        .iter()
        .find(|batch| batch.num_rows() > 0)
        .and_then(|batch| batch.columns().first())
        .and_then(|column| column.as_primitive_opt::<Int64Type>())
        .filter(|column| !column.is_empty())
        .map(|column| column.value(0))
        .ok_or_else(|| SqlError::internal("a write answered no count"))?;
    u64::try_from(count).map_err(|_| SqlError::internal("a write answered a negative count"))
}
