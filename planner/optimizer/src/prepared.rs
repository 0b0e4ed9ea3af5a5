//! [`PreparedPlan`]: a statement's pool of plan instances. An instance serves one execution at a time. If all are busy,
//! another one is built.

use super::engine::Engine;
use super::instance::PlanInstance;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result as DataFusionResult;
use datafusion::error::DataFusionError;
use datafusion::execution::RecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::SendableRecordBatchStream;
use executor::slots::{Slots, StatementContext};
use futures::{Stream, TryStreamExt};
use parking_lot::Mutex;
use sql_error::{Result, SqlError};
use std::ops::AddAssign;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

/// Binds a statement to slots. It is called for each instance of a pool.
pub type PlanBuilder = Box<dyn Fn(&Arc<Slots>) -> Result<LogicalPlan> + Send + Sync>;

/// Most idle instances of a statement. Many sessions may run it at the same time, each waiting for a row lock of the
/// previous one. Planning costs a hundred times as much as running.
const MOST_IDLE_INSTANCES: usize = 128;
/// Approximate limit, in bytes, for the idle instances of all statements. One instance per statement is kept beyond it.
pub(super) const IDLE_BYTES: usize = 48 << 20;

/// Counters of plan reuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Runs that found an idle plan instance.
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
    /// Bytes of the idle instances, which the engine counts too.
    bytes: usize,
    uses: Uses,
}

/// A planned statement with its pool of instances.
pub struct PreparedPlan {
    engine: Arc<Engine>,
    builder: PlanBuilder,
    idle: Mutex<Idle>,
}

impl PreparedPlan {
    /// A statement without instances. `builder` binds it to the slots of each instance.
    pub fn new(engine: Arc<Engine>, builder: PlanBuilder) -> Arc<PreparedPlan> {
        Arc::new(PreparedPlan { engine, builder, idle: Mutex::default() })
    }

    /// Runs the statement in `context`. Planning errors are returned at once, run-time errors with the rows.
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

    /// Leases an instance for one execution: an idle one, or a new one that is planned for `context`.
    pub async fn lease(self: &Arc<Self>, context: &Arc<StatementContext>) -> Result<Lease> {
        let instance = match self.take_idle() {
            Some(instance) => instance,
            None => {
                let slots = Slots::new();
                let logical = (self.builder)(&slots)?;
                // The context is set while planning, so that access paths can consider table sizes.
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

    /// Number of idle instances, and their approximate memory in bytes.
    pub fn idle_instances(&self) -> (usize, usize) {
        let idle = self.idle.lock();
        (idle.instances.len(), idle.bytes)
    }

    /// Counters of plan reuse.
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

/// A leased instance. It returns to its pool with empty slots when it is dropped.
pub struct Lease {
    pool: Arc<PreparedPlan>,
    instance: Option<PlanInstance>,
}

impl Lease {
    /// The leased instance. `None` once it was returned.
    pub fn instance(&mut self) -> Option<&mut PlanInstance> {
        self.instance.as_mut()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(mut instance) = self.instance.take() {
            let reset = instance.finish();
            // A task aborted in the middle of a batch may still read the slots, so the instance is not reused.
            if instance.slots().is_running() || reset.is_err() {
                return;
            }
            self.pool.put_back(instance);
        }
    }
}

/// The result of an execution.
pub enum PlanRows {
    /// The execution has ended.
    Done {
        /// Schema of the batch.
        schema: SchemaRef,
        /// All rows, if any, or the error.
        batch: Result<Option<RecordBatch>>,
    },
    /// The execution proceeds as the stream is polled. The stream holds an instance until it ends or is dropped.
    Stream(SendableRecordBatchStream),
}

impl PlanRows {
    /// Schema of the rows.
    pub fn schema(&self) -> SchemaRef {
        match self {
            PlanRows::Done { schema, .. } => Arc::clone(schema),
            PlanRows::Stream(stream) => stream.schema(),
        }
    }

    /// Collects all batches. Errors: those of the execution.
    pub async fn collect(self) -> Result<Vec<RecordBatch>> {
        Ok(match self {
            PlanRows::Done { batch, .. } => batch?.into_iter().collect(),
            PlanRows::Stream(stream) => stream.try_collect().await?,
        })
    }

    /// Converts the rows to a stream.
    pub fn into_stream(self) -> SendableRecordBatchStream {
        match self {
            PlanRows::Done { schema, batch } => Box::pin(DoneStream { schema, batch: batch.transpose() }),
            PlanRows::Stream(stream) => stream,
        }
    }
}

/// A stream of rows that are already available.
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

/// The rows of one execution. The lease ends at the last row, at an error, or on drop.
struct LeasedStream {
    // Dropped before the lease: operators must stop before their instance serves the next execution.
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

/// Converts DataFusion's errors that PostgreSQL also has to PostgreSQL's SQLSTATE and message.
pub fn plain(error: DataFusionError) -> DataFusionError {
    let root = error.find_root().to_string();
    if root.contains("Scalar subquery returned more than one row") {
        return SqlError::new(
            sql_error::state::CARDINALITY_VIOLATION,
            "more than one row returned by a subquery used as an expression",
        )
        .into();
    }
    error
}
