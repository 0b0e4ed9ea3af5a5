//! [`Direct`]: the operators of a plan of one row at most, called one after the other. Plans pass batches through streams of
//! operators that may pause, go on on other threads and end early; for the row of a key and those that it names in other tables, or one of VALUES, those cost more
//! than the row does. Leaf, expressions and writer are the plan's own: what is computed here a stream of the plan would compute.

use super::dml::{DirectWrite, WriteExec};
use super::key_join::{KeyJoinExec, KeyJoiner};
use super::leaf::one_row;
use super::point_get::{PointGetExec, PointReader};
use super::projection::{LeanProjectionExec, Projector};
use super::slots::StatementContext;
use super::values::{ValuesExec, ValuesRows};
use crate::error::Result;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use std::sync::Arc;

/// See the head of the module.
pub struct Direct {
    leaf: Leaf,
    /// From below to above.
    above: Vec<Above>,
}

/// What makes one row of one.
enum Above {
    Project(Projector),
    Join(Arc<KeyJoiner>),
}

enum Leaf {
    Point(Box<PointReader>),
    Values(ValuesRows),
    /// A row without columns.
    Empty,
    Write(Box<DirectWrite>),
}

impl Direct {
    /// Of a finished plan; `None` where it may have more rows, or does what is not done here.
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

    /// Runs it: the batch that the plan's stream would return, if any. The plan's slots are filled with `context`. Errors: those of
    /// the stream.
    pub async fn run(&mut self, context: &Arc<StatementContext>) -> Result<Option<RecordBatch>> {
        let found = match &mut self.leaf {
            Leaf::Point(reader) => reader.read(context).await?,
            Leaf::Values(values) => Some(values.evaluate()?),
            Leaf::Empty => Some(one_row()),
            // Whoever only reads does not move the future of a write about.
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
