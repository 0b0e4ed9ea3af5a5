//! [`WriteExec`]: the physical operator of INSERT, UPDATE and DELETE. It consumes all its input before it returns its
//! first row.

use super::copy_source::FeedExec;
use super::run::Run;
use super::run::Target;
use crate::bounds::KeyBounds;
use crate::detached::detached;
use crate::index_lookup_join::KeyJoinExec;
use crate::point_get::PointGetExec;
use crate::projection::LeanProjectionExec;
use crate::sync_executor::Direct;
use crate::{Slots, StatementContext, interrupt};
use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt};
use sql_error::Result as SqlResult;
use std::fmt;
use std::sync::Arc;

/// Writes the rows of its input.
#[derive(Debug)]
pub struct WriteExec {
    target: Arc<Target>,
    input: Arc<dyn ExecutionPlan>,
    slots: Arc<Slots>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl WriteExec {
    /// Makes the operator. `schema` is that of the logical node.
    pub fn new(target: Arc<Target>, input: Arc<dyn ExecutionPlan>, slots: Arc<Slots>, schema: SchemaRef) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        ));
        WriteExec { target, input, slots, schema, properties, metrics: ExecutionPlanMetricsSet::new() }
    }

    /// The writer without streams, if the input has at most one row.
    pub fn direct(&self) -> Option<DirectWrite> {
        Some(DirectWrite {
            target: self.target.clone(),
            input: Direct::of(&self.input)?,
            only_row: only_row(&self.input, &self.target),
            schema: self.schema.clone(),
        })
    }

    fn with_input(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        WriteExec::new(self.target.clone(), input, self.slots.clone(), self.schema.clone())
    }
}

/// The work of a [`WriteExec`] whose input has at most one row.
pub struct DirectWrite {
    target: Arc<Target>,
    input: Direct,
    only_row: Option<Arc<KeyBounds>>,
    schema: SchemaRef,
}

impl DirectWrite {
    /// The batch that the operator would return, if any.
    pub async fn run(&mut self, context: &Arc<StatementContext>) -> SqlResult<Option<RecordBatch>> {
        let mut run = Run::begin(self.target.clone(), context.clone(), true, false).await?;
        if let Some(bounds) = &self.only_row {
            run.lock_contended(bounds).await?;
        }
        if let Some(batch) = self.input.run(context).await? {
            run.batch(&batch, &self.schema).await?;
        }
        let (count, returned) = run.finish().await?;
        match returned {
            Some(batches) => Ok(batches.into_iter().next()),
            None => Ok(Some(count_batch(&self.schema, count)?)),
        }
    }
}

/// Whether the plan returns each row of a table at most once: it has no join.
fn is_linear(plan: &Arc<dyn ExecutionPlan>) -> bool {
    // A join by keys reads its other side itself.
    let multiplies = plan.is::<KeyJoinExec>() || plan.is::<UnnestExec>();
    let children = plan.children();
    !multiplies && children.len() <= 1 && children.into_iter().all(is_linear)
}

fn is_fed(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.is::<FeedExec>() || plan.children().into_iter().any(is_fed)
}

/// The key of the only row that the plan reads. `None` unless that is a row of the written table without other
/// conditions.
fn only_row(plan: &Arc<dyn ExecutionPlan>, target: &Target) -> Option<Arc<KeyBounds>> {
    if let Some(get) = plan.downcast_ref::<PointGetExec>() {
        return (get.table_oid() == target.codec.table.oid).then(|| get.bounds().clone());
    }
    match plan.downcast_ref::<LeanProjectionExec>()?.children().as_slice() {
        [input] => only_row(input, target),
        _ => None,
    }
}

impl DisplayAs for WriteExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.target.codec.table.name)
    }
}

impl ExecutionPlan for WriteExec {
    fn name(&self) -> &str {
        self.target.operation.name()
    }
    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }
    crate::input_methods!();
    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
    }
    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
    fn execute(&self, partition: usize, task: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let context = self.slots.get()?;
        let only_row = only_row(&self.input, &self.target);
        let mut input =
            detached(self.input.execute(0, Arc::clone(&task))?, &context.session.workers(), &self.slots, false);
        let slots = self.slots.clone();
        let held = MemoryConsumer::new(self.name()).register(task.memory_pool());
        let (target, schema) = (self.target.clone(), self.schema.clone());
        let (linear, fed) = (is_linear(&self.input), is_fed(&self.input));
        let written = MetricBuilder::new(&self.metrics).counter("rows_written", partition);
        let output = async move {
            let mut long = false;
            let mut run = Run::begin(target, context, linear, fed).await?;
            if let Some(bounds) = only_row {
                run.lock_contended(&bounds).await?;
            }
            while let Some(batch) = input.try_next().await? {
                if std::mem::replace(&mut long, true) {
                    // Allow cancellation between two batches.
                    interrupt::pause().await;
                    interrupt::check(&slots)?;
                }
                if batch.num_rows() > 0 {
                    run.batch(&batch, &schema).await?;
                    held.try_resize(run.held_bytes())?;
                }
            }
            let (count, returned) = run.finish().await?;
            written.add(usize::try_from(count).unwrap_or(usize::MAX));
            let batches = match returned {
                Some(batches) => batches,
                None => vec![count_batch(&schema, count)?],
            };
            // The rows stay accounted for until the last one is taken.
            Ok::<_, DataFusionError>(futures::stream::iter(batches).map(move |batch| {
                let _held = &held;
                Ok(batch)
            }))
        };
        let stream = futures::stream::once(output).try_flatten().boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), stream)))
    }
}

fn count_batch(schema: &SchemaRef, count: u64) -> Result<RecordBatch> {
    let count: ArrayRef = Arc::new(Int64Array::from(vec![i64::try_from(count).unwrap_or(i64::MAX)]));
    // A plan without columns still needs one row.
    let columns = if schema.fields().is_empty() { Vec::new() } else { vec![count] };
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}
