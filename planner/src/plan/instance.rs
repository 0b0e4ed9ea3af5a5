//! [`PlanInstance`]: a finished physical plan and the slots it reads, which runs again and again,
//! once at a time.

use super::engine::Engine;
use crate::error::Result;
use crate::execution::detached::detached;
use crate::execution::direct::Direct;
use crate::execution::first_rows::{FirstRows, Found};
use crate::execution::interrupt::writes;
use crate::execution::returned::let_go;
use crate::execution::slots::{Slots, StatementContext};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, SendableRecordBatchStream};
use std::sync::Arc;

/// What an operator and an expression in one take, in bytes: estimates, which only have to tell a large plan from a small one.
const OPERATOR_BYTES: usize = 3 << 10;
const EXPRESSION_BYTES: usize = 512;

/// The memory of a plan, about, in bytes.
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
                // They wait in a thread.
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

/// A plan that can run. `&mut self` where it runs: one execution at a time.
pub struct PlanInstance {
    engine: Arc<Engine>,
    slots: Arc<Slots>,
    plan: Arc<dyn ExecutionPlan>,
    /// Runs it without streams, where it has one row at most.
    direct: Option<Direct>,
    /// The same, where it has the first few of a range.
    first_rows: Option<FirstRows>,
    /// Whether it writes or locks: that is not left to others, who could not be told to stop at once.
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
            // What blocks leaves the thread of its connection first.
            direct: if sleeps { None } else { Direct::of(&plan) },
            first_rows: if sleeps { None } else { FirstRows::of(&plan) },
            plan,
            used: false,
        })
    }

    /// Runs an execution in `context` from its beginning to its end, where the plan has few rows: the batch that it returns,
    /// if any. `None`: it has to be started, nothing was done. [`PlanInstance::finish`] must be called before the next.
    pub async fn run_directly(&mut self, context: &Arc<StatementContext>) -> Option<Result<Option<RecordBatch>>> {
        if let Some(direct) = &mut self.direct {
            self.slots.fill(Arc::clone(context));
            return Some(direct.run(context).await);
        }
        let first_rows = self.first_rows.as_mut()?;
        self.slots.fill(Arc::clone(context));
        // Whoever reads one row does not move the future of several about.
        match Box::pin(first_rows.read(context)).await {
            Ok(Found::Rows(rows)) => Some(Ok(rows)),
            Ok(Found::NotAtOnce) => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Starts an execution in `context`. The stream must be dropped and [`PlanInstance::finish`]
    /// called before the next.
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

    /// Ends an execution: the slots are empty, no transaction is kept alive, and operators let go of what they hold (a
    /// join of its build side). Errors: the plan cannot run again.
    pub fn finish(&mut self) -> Result<()> {
        self.slots.clear();
        if self.used {
            self.plan = let_go(&self.plan)?;
            self.used = false;
        }
        Ok(())
    }

    /// What it returns.
    pub fn schema(&self) -> SchemaRef {
        self.plan.schema()
    }

    /// The physical plan, as it last ran: its metrics are those of that run.
    pub fn plan(&self) -> &Arc<dyn ExecutionPlan> {
        &self.plan
    }

    /// The memory that it takes, about, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The slots it reads.
    pub fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }
}
