//! [`PreparedPlan`]: a statement's pool of plan instances. One that is busy serves nobody else, so
//! another is built when all are.

use super::engine::Engine;
use super::instance::PlanInstance;
use crate::error::{Result, SqlError};
use crate::execution::slots::{Slots, StatementContext};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result as DataFusionResult;
use datafusion::error::DataFusionError;
use datafusion::execution::RecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::{Stream, TryStreamExt};
use parking_lot::Mutex;
use std::ops::AddAssign;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

/// Binds a statement to slots. Called again for each instance of a pool.
pub type PlanBuilder = Box<dyn Fn(&Arc<Slots>) -> Result<LogicalPlan> + Send + Sync>;

/// Idle instances that a statement keeps, at most: many sessions may run it at a time, each waiting for a row that the one
/// before has locked, and planning it costs a hundred times what running it does.
const MOST_IDLE_INSTANCES: usize = 128;
/// Bytes of all statements' idle instances, about, at most. One each is kept beyond.
pub(super) const IDLE_BYTES: usize = 48 << 20;

/// How often a plan was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Runs that found a finished plan.
    pub hits: u64,
    /// Runs that had to plan first.
    pub misses: u64,
}

impl AddAssign for Uses {
    fn add_assign(&mut self, other: Uses) {
        self.hits += other.hits;
        self.misses += other.misses;
    }
}

#[derive(Default)]
struct Idle {
    instances: Vec<PlanInstance>,
    /// Theirs, which the engine counts too.
    bytes: usize,
    uses: Uses,
}

/// A planned statement.
pub struct PreparedPlan {
    engine: Arc<Engine>,
    builder: PlanBuilder,
    idle: Mutex<Idle>,
}

impl PreparedPlan {
    /// A statement without instances yet; `builder` binds it to the slots of each.
    pub fn new(engine: Arc<Engine>, builder: PlanBuilder) -> Arc<PreparedPlan> {
        Arc::new(PreparedPlan { engine, builder, idle: Mutex::default() })
    }

    /// Runs the statement in `context`. Errors while planning come at once, errors while running with the rows.
    pub async fn run(self: &Arc<Self>, context: Arc<StatementContext>) -> Result<PlanRows> {
        let mut lease = self.lease(&context).await?;
        let Some(instance) = lease.instance.as_mut() else {
            return Err(SqlError::internal("a lease without a plan"));
        };
        if let Some(done) = instance.run_directly(&context).await {
            return Ok(PlanRows::Done { schema: instance.schema(), batch: done });
        }
        let stream = instance.start(context)?;
        let schema = stream.schema();
        Ok(PlanRows::Stream(Box::pin(LeasedStream { stream: Some(stream), lease: Some(lease), schema })))
    }

    /// An instance for one execution: an idle one, or a new one, planned for `context`.
    pub async fn lease(self: &Arc<Self>, context: &Arc<StatementContext>) -> Result<Lease> {
        let instance = match self.take_idle() {
            Some(instance) => instance,
            None => {
                let slots = Slots::new();
                let logical = (self.builder)(&slots)?;
                // Filled while planning, so that access paths can look at sizes.
                slots.fill(Arc::clone(context));
                let built = PlanInstance::build(&self.engine, &logical, Arc::clone(&slots)).await;
                slots.clear();
                built?
            }
        };
        Ok(Lease { pool: Arc::clone(self), instance: Some(instance) })
    }

    fn take_idle(&self) -> Option<PlanInstance> {
        let mut idle = self.idle.lock();
        let Some(instance) = idle.instances.pop() else {
            idle.uses.misses += 1;
            return None;
        };
        idle.uses.hits += 1;
        idle.bytes -= instance.bytes();
        drop(idle);
        self.engine.idle_plan_bytes().fetch_sub(instance.bytes(), Ordering::Relaxed);
        Some(instance)
    }

    fn put_back(&self, instance: PlanInstance) {
        let bytes = instance.bytes();
        let all = self.engine.idle_plan_bytes();
        let mut idle = self.idle.lock();
        let kept = idle.instances.len();
        if kept >= MOST_IDLE_INSTANCES || kept > 0 && all.load(Ordering::Relaxed) + bytes > IDLE_BYTES {
            return;
        }
        all.fetch_add(bytes, Ordering::Relaxed);
        idle.bytes += bytes;
        idle.instances.push(instance);
    }

    /// How many instances wait for their next execution, and the memory that they take, about, in bytes.
    pub fn idle_instances(&self) -> (usize, usize) {
        let idle = self.idle.lock();
        (idle.instances.len(), idle.bytes)
    }

    /// How often it was asked for.
    pub fn uses(&self) -> Uses {
        self.idle.lock().uses
    }
}

impl Drop for PreparedPlan {
    fn drop(&mut self) {
        let idle = self.idle.get_mut();
        self.engine.idle_plan_bytes().fetch_sub(idle.bytes, Ordering::Relaxed);
        self.engine.count_departed(idle.uses);
    }
}

/// An instance on loan; goes back to its pool, with empty slots, when dropped.
pub struct Lease {
    pool: Arc<PreparedPlan>,
    instance: Option<PlanInstance>,
}

impl Lease {
    /// The instance.
    pub fn instance(&mut self) -> Option<&mut PlanInstance> {
        self.instance.as_mut()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(mut instance) = self.instance.take() {
            let reset = instance.finish();
            // A task that was aborted in the middle of a batch may still look at the slots: nobody else gets them.
            if instance.slots().is_running() || reset.is_err() {
                return;
            }
            self.pool.put_back(instance);
        }
    }
}

/// What an execution returns.
pub enum PlanRows {
    /// It ran to its end.
    Done {
        /// Of the batch.
        schema: SchemaRef,
        /// All rows, if there are any, or what it failed with.
        batch: Result<Option<RecordBatch>>,
    },
    /// It runs as its stream is polled. The stream holds an instance until its end or its drop.
    Stream(SendableRecordBatchStream),
}

impl PlanRows {
    /// Of the rows.
    pub fn schema(&self) -> SchemaRef {
        match self {
            PlanRows::Done { schema, .. } => Arc::clone(schema),
            PlanRows::Stream(stream) => stream.schema(),
        }
    }

    /// All batches.
    pub async fn collect(self) -> Result<Vec<RecordBatch>> {
        Ok(match self {
            PlanRows::Done { batch, .. } => batch?.into_iter().collect(),
            PlanRows::Stream(stream) => stream.try_collect().await?,
        })
    }

    /// As a stream, whatever it is.
    pub fn into_stream(self) -> SendableRecordBatchStream {
        match self {
            PlanRows::Done { schema, batch } => Box::pin(DoneStream { schema, batch: batch.transpose() }),
            PlanRows::Stream(stream) => stream,
        }
    }
}

/// Rows that are there.
struct DoneStream {
    schema: SchemaRef,
    batch: Option<Result<RecordBatch>>,
}

impl Stream for DoneStream {
    type Item = DataFusionResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.batch.take().map(|batch| batch.map_err(DataFusionError::from)))
    }
}

impl RecordBatchStream for DoneStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The rows of one execution. Ends the lease at the last row, at an error, and when dropped.
struct LeasedStream {
    // Dropped before the lease: operators stop before their instance serves the next execution.
    stream: Option<SendableRecordBatchStream>,
    lease: Option<Lease>,
    schema: SchemaRef,
}

impl Stream for LeasedStream {
    type Item = DataFusionResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(stream) = self.stream.as_mut() else { return Poll::Ready(None) };
        let item = futures::ready!(stream.as_mut().poll_next(context));
        if !matches!(item, Some(Ok(_))) {
            self.stream = None;
            self.lease = None;
        }
        Poll::Ready(item.map(|result| result.map_err(plain)))
    }
}

impl RecordBatchStream for LeasedStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Gives errors of DataFusion that PostgreSQL has too PostgreSQL's SQLSTATE and words.
pub(crate) fn plain(error: DataFusionError) -> DataFusionError {
    let root = error.find_root().to_string();
    if root.contains("Scalar subquery returned more than one row") {
        return SqlError::new(
            crate::state::CARDINALITY_VIOLATION,
            "more than one row returned by a subquery used as an expression",
        )
        .into();
    }
    error
}
