//! [`PlanInstance`]: a finished physical plan with its slots. It runs repeatedly, one execution at a time.

use super::engine::Engine;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, SendableRecordBatchStream};
use executor::detached::detached;
use executor::first_rows::{FirstRows, Found};
use executor::interrupt::writes;
use executor::row_counter::let_go;
use executor::slots::{Slots, StatementContext};
use executor::sync_executor::Direct;
use sql_error::Result;
use std::sync::Arc;

/// Estimated bytes of an operator and of an expression in one. The estimates only distinguish large plans from small
/// ones.
const OPERATOR_BYTES: usize = 3 << 10;
const EXPRESSION_BYTES: usize = 512;

/// Approximate memory of a plan in bytes.
fn bytes_of(plan: &Arc<dyn ExecutionPlan>) -> Result<usize> {
    let mut bytes = 0;
    plan.apply(|operator| {
        bytes += OPERATOR_BYTES;
        operator.apply_expressions(&mut |expression| {
            expression.apply(|_| {
                bytes += EXPRESSION_BYTES;
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(bytes)
}

fn sleeps(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let mut found = false;
    plan.apply(|operator| {
        operator.apply_expressions(&mut |expression| {
            expression.apply(|inner| {
                // These functions block their thread.
                let waits = |name: &str| {
                    ["pg_sleep", "pg_advisory_lock", "pg_advisory_xact_lock"].iter().any(|wait| name.starts_with(wait))
                };
                found |= inner.downcast_ref::<ScalarFunctionExpr>().is_some_and(|call| waits(call.name()));
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(found)
}

/// A plan that can run. Running takes `&mut self`, so there is one execution at a time.
pub struct PlanInstance {
    engine: Arc<Engine>,
    slots: Arc<Slots>,
    plan: Arc<dyn ExecutionPlan>,
    /// Runs the plan without streams, if it has at most one row.
    direct: Option<Direct>,
    /// Runs the plan without streams, if it reads the first few rows of a range.
    first_rows: Option<FirstRows>,
    /// Whether it writes or locks rows. Then it stays on its thread, where it can be stopped at once.
    writes: bool,
    /// Whether it calls a function that blocks.
    sleeps: bool,
    used: bool,
    bytes: usize,
}

impl PlanInstance {
    /// Plans `logical`, which was bound to `slots`.
    pub async fn build(engine: &Arc<Engine>, logical: &LogicalPlan, slots: Arc<Slots>) -> Result<PlanInstance> {
        let mut plan = engine.plan(logical, &slots).await?;
        if plan.output_partitioning().partition_count() > 1 {
            plan = Arc::new(CoalescePartitionsExec::new(plan));
        }
        let sleeps = sleeps(&plan)?;
        Ok(PlanInstance {
            engine: Arc::clone(engine),
            slots,
            writes: writes(&plan),
            sleeps,
            bytes: bytes_of(&plan)?,
            // A blocking call must first leave the connection's thread.
            direct: if sleeps { None } else { Direct::of(&plan) },
            first_rows: if sleeps { None } else { FirstRows::of(&plan) },
            plan,
            used: false,
        })
    }

    /// Runs a whole execution in `context` if the plan has few rows, and returns its batch, if any. `None` means that
    /// nothing was done and [`PlanInstance::start`] is needed. [`PlanInstance::finish`] must be called before the next
    /// execution.
    pub async fn run_directly(&mut self, context: &Arc<StatementContext>) -> Option<Result<Option<RecordBatch>>> {
        if let Some(direct) = &mut self.direct {
            self.slots.fill(Arc::clone(context));
            return Some(direct.run(context).await);
        }
        let first_rows = self.first_rows.as_mut()?;
        self.slots.fill(Arc::clone(context));
        // The future is boxed, so that the single-row case need not move a large future.
        match Box::pin(first_rows.read(context)).await {
            Ok(Found::Rows(rows)) => Some(Ok(rows)),
            Ok(Found::NotAtOnce) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Starts an execution in `context`. Before the next one, the stream must be dropped and [`PlanInstance::finish`]
    /// called.
    pub fn start(&mut self, context: Arc<StatementContext>) -> Result<SendableRecordBatchStream> {
        self.slots.fill(context);
        if self.used {
            self.plan = let_go(&self.plan)?;
        }
        self.used = true;
        let workers = self.engine.workers();
        let stream = workers.enter(|| self.plan.execute(0, Arc::clone(self.engine.task_context())))?;
        Ok(if self.writes { stream } else { detached(stream, workers, &self.slots, self.sleeps) })
    }

    /// Ends an execution. It clears the slots, so that no transaction stays alive, and makes operators release their
    /// memory (a join its build side). Errors: the plan cannot run again.
    pub fn finish(&mut self) -> Result<()> {
        self.slots.clear();
        if self.used {
            self.plan = let_go(&self.plan)?;
            self.used = false;
        }
        Ok(())
    }

    /// Schema of the rows it returns.
    pub fn schema(&self) -> SchemaRef {
        self.plan.schema()
    }

    /// The physical plan. Its metrics are those of the last run.
    pub fn plan(&self) -> &Arc<dyn ExecutionPlan> {
        &self.plan
    }

    /// Approximate memory of the plan in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The slots that the plan reads.
    pub fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }
}
