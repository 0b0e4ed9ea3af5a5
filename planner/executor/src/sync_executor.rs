//! [`Direct`]: calls the operators of a plan with at most one row one after the other. Ordinary plans pass batches
//! through streams, which may pause, move to other threads and end early. For one row, that costs more than the row
//! itself. This applies to the row of a key, the rows that it refers to in other tables, and one row of VALUES. Leaf,
//! expressions and writer are the plan's own, so the results equal those of the stream.

use super::dml::{DirectWrite, WriteExec};
use super::index_lookup_join::{KeyJoinExec, KeyJoiner};
use super::leaf::one_row;
use super::point_get::{PointGetExec, PointReader};
use super::projection::{LeanProjectionExec, Projector};
use super::slots::StatementContext;
use super::values::{ValuesExec, ValuesRows};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use sql_error::Result;
use std::sync::Arc;

/// A plan that runs without streams, because it has at most one row.
pub struct Direct {
    leaf: Leaf,
    /// The operators above the leaf, from the bottom up.
    above: Vec<Above>,
}

/// An operator that turns one row into one row.
enum Above {
    Project(Projector),
    Join(Arc<KeyJoiner>),
}

enum Leaf {
    Point(Box<PointReader>),
    Values(ValuesRows),
    /// One row without columns.
    Empty,
    Write(Box<DirectWrite>),
}

impl Direct {
    /// Converts a finished plan. `None` if the plan may have more rows, or has an operator that is not supported here.
    pub fn of(plan: &Arc<dyn ExecutionPlan>) -> Option<Direct> {
        if let Some(projection) = plan.downcast_ref::<LeanProjectionExec>() {
            let mut below = Direct::of(projection.children().first()?)?;
            let projector = projection.projector();
            let narrowed = match &below.leaf {
                Leaf::Point(reader) if below.above.is_empty() => reader.narrowed(&projector),
                _ => None,
            };
            match narrowed {
                Some(reader) => below.leaf = Leaf::Point(Box::new(reader)),
                None => below.above.push(Above::Project(projector)),
            }
            return Some(below);
        }
        if let Some(join) = plan.downcast_ref::<KeyJoinExec>() {
            let mut below = Direct::of(join.children().first()?)?;
            below.above.push(Above::Join(Arc::clone(join.joiner())));
            return Some(below);
        }
        let leaf = if let Some(point) = plan.downcast_ref::<PointGetExec>() {
            Leaf::Point(Box::new(point.reader()?))
        } else if let Some(write) = plan.downcast_ref::<WriteExec>() {
            Leaf::Write(Box::new(write.direct()?))
        } else if plan.is::<PlaceholderRowExec>() && plan.schema().fields().is_empty() {
            Leaf::Empty
        } else {
            Leaf::Values(plan.downcast_ref::<ValuesExec>()?.one_row()?)
        };
        Some(Direct { leaf, above: Vec::new() })
    }

    /// Runs the plan and returns the batch that its stream would return, if any. The plan's slots contain `context`.
    /// Errors: those of the stream.
    pub async fn run(&mut self, context: &Arc<StatementContext>) -> Result<Option<RecordBatch>> {
        let found = match &mut self.leaf {
            Leaf::Point(reader) => reader.read(context).await?,
            Leaf::Values(values) => Some(values.evaluate()?),
            Leaf::Empty => Some(one_row()),
            // The write's future is boxed, so that reads need not move a large future.
            Leaf::Write(write) => Box::pin(write.run(context)).await?,
        };
        let Some(mut batch) = found else { return Ok(None) };
        for above in &self.above {
            batch = match above {
                Above::Project(projector) => projector.project(&batch)?,
                Above::Join(joiner) => Box::pin(joiner.join(context, &batch)).await?,
            };
            if batch.num_rows() == 0 {
                return Ok(None);
            }
        }
        Ok(Some(batch))
    }
}
