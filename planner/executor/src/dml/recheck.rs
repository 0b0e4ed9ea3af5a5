//! [`Recheck`]: runs a statement's plan over the newest versions of rows that others changed meanwhile (PostgreSQL's
//! EvalPlanQual; manual, 13.2.1). These rows replace their tables. All else is read in the statement's snapshot.

use crate::recheck_rows::RecheckRows;
use crate::row_counter::let_go;
use crate::table::Table;
use crate::{Slots, StatementContext};
use bytes::Bytes;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::TableReference;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::TryStreamExt;
use sql_error::{Result, SqlError};
use std::fmt;
use std::sync::Arc;

/// The plan to run again. Each operator that locks rows has one.
pub struct Recheck {
    input: LogicalPlan,
    tables: Vec<TableReference>,
    slots: Arc<Slots>,
    /// The replacement rows of each table, in the order given.
    rows: Vec<Arc<RecheckRows>>,
    /// The physical plan, made when it is first needed.
    planned: tokio::sync::Mutex<Option<Arc<dyn ExecutionPlan>>>,
}

impl fmt::Debug for Recheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recheck")
    }
}

impl Recheck {
    /// Prepares the recheck of an operator's optimized input, whose scans named `tables` are to be replaced. Planning
    /// is deferred: most statements are planned often and meet no changed row.
    pub fn new(input: &LogicalPlan, tables: &[TableReference], slots: &Arc<Slots>) -> Recheck {
        let rows = tables.iter().map(|_| Arc::default()).collect();
        let (input, tables) = (input.clone(), tables.to_vec());
        Recheck { input, tables, slots: slots.clone(), rows, planned: tokio::sync::Mutex::default() }
    }

    /// The input with its scans replaced by rows.
    fn replaced(&self) -> Result<LogicalPlan> {
        let replaced = self.input.clone().transform_up(|node| {
            let LogicalPlan::TableScan(mut scan) = node else { return Ok(Transformed::no(node)) };
            let place = self.tables.iter().position(|table| *table == scan.table_name);
            let (Some(rows), Some(table)) =
                (place.and_then(|place| self.rows.get(place)), scan.source.downcast_ref::<Table>())
            else {
                return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
            };
            scan.source = Arc::new(table.rechecking(rows.clone()));
            // All replacement rows are wanted.
            scan.fetch = None;
            Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
        })?;
        Ok(replaced.data)
    }

    /// Runs the plan over these rows, given by table.
    pub async fn run(&self, context: &StatementContext, rows: Vec<Vec<(Bytes, Bytes)>>) -> Result<Vec<RecordBatch>> {
        let mut planned = self.planned.lock().await;
        let upper = context.session.database()?.upper();
        let engine = upper.ok_or_else(|| SqlError::internal("a server without plans"))?.row_planner();
        let plan = match planned.take() {
            Some(plan) => let_go(&plan)?,
            None => engine.plan_filled(&self.replaced()?, &self.slots).await?,
        };
        if plan.output_partitioning().partition_count() != 1 {
            return Err(SqlError::internal("a plan over few rows has several partitions"));
        }
        for (cell, rows) in self.rows.iter().zip(rows) {
            cell.set(rows);
        }
        let batches = plan.execute(0, engine.task_context().clone())?.try_collect().await?;
        for cell in &self.rows {
            cell.set(Vec::new());
        }
        *planned = Some(plan);
        Ok(batches)
    }
}
