//! [`ExtensionNodes`]: plans the logical nodes of `execution` that DataFusion does not have.

use super::apply::{ApplyExec, ApplyNode};
use super::generate_series::{GenerateSeriesExec, GenerateSeriesNode};
use super::kept_columns::{KeptColumnsExec, KeptColumnsNode};
use super::limit::{LimitExec, LimitNode};
use super::recursive_union::{NewRowsExec, NewRowsNode};
use super::shared_rows::{SharedRowsExec, SharedRowsNode};
use super::table::{Parallelism, Table};
use super::values::{ValuesExec, ValuesNode};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Result};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr_rewriter::unnormalize_cols;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan, UserDefinedLogicalNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use std::sync::Arc;

/// Plans tables, VALUES, LIMIT with run-time counts, and series.
pub struct ExtensionNodes;

#[async_trait]
impl ExtensionPlanner for ExtensionNodes {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let empty = DFSchema::empty();
        let physical = |expression: &Expr| -> Result<Arc<dyn PhysicalExpr>> {
            planner.create_physical_expr(expression, &empty, session, context)
        };
        if let Some(values) = node.as_any().downcast_ref::<ValuesNode>() {
            let rows = values.rows.iter().map(|row| row.iter().map(physical).collect()).collect::<Result<Vec<_>>>()?;
            let schema = Arc::clone(values.schema.inner());
            return Ok(Some(Arc::new(ValuesExec::new(schema, rows))));
        }
        if let Some(limit) = node.as_any().downcast_ref::<LimitNode>() {
            let [input] = physical_inputs else {
                return Err(DataFusionError::Internal("LIMIT takes one input".into()));
            };
            let skip = limit.skip.as_ref().map(physical).transpose()?;
            let fetch = limit.fetch.as_ref().map(physical).transpose()?;
            return Ok(Some(Arc::new(LimitExec::new(Arc::clone(input), skip, fetch))));
        }
        if let Some(series) = node.as_any().downcast_ref::<GenerateSeriesNode>() {
            let [input] = physical_inputs else {
                return Err(DataFusionError::Internal("generate_series takes one input".into()));
            };
            return Ok(Some(Arc::new(GenerateSeriesExec::of(series, Arc::clone(input)))));
        }
        if let Some(shared) = node.as_any().downcast_ref::<SharedRowsNode>() {
            let [input] = physical_inputs else {
                return Err(DataFusionError::Internal("shared rows take one input".into()));
            };
            return Ok(Some(Arc::new(SharedRowsExec::new(shared, Arc::clone(input)))));
        }
        if let Some(kept) = node.as_any().downcast_ref::<KeptColumnsNode>() {
            let [input] = physical_inputs else {
                return Err(DataFusionError::Internal("kept columns take one input".into()));
            };
            return Ok(Some(Arc::new(KeptColumnsExec::new(Arc::clone(input), kept.volatile()))));
        }
        if let Some(new) = node.as_any().downcast_ref::<NewRowsNode>() {
            let [input] = physical_inputs else {
                return Err(DataFusionError::Internal("new rows take one input".into()));
            };
            let schema = new.input().schema();
            let key = |key: &Expr| planner.create_physical_expr(key, schema, session, context);
            let keys = new.keys().iter().map(key).collect::<Result<Vec<_>>>()?;
            return Ok(Some(Arc::new(NewRowsExec::new(new, Arc::clone(input), keys))));
        }
        if let Some(apply) = node.as_any().downcast_ref::<ApplyNode>() {
            let [input, subquery] = physical_inputs else {
                return Err(DataFusionError::Internal("apply takes two inputs".into()));
            };
            let over_input =
                |expression: &Expr| planner.create_physical_expr(expression, apply.input.schema(), session, context);
            let expressions = apply.columns.iter().chain(&apply.operand).chain(&apply.guard);
            let expressions = expressions.map(over_input).collect::<Result<Vec<_>>>()?;
            let (input, subquery) = (Arc::clone(input), Arc::clone(subquery));
            return Ok(Some(Arc::new(ApplyExec::new(apply, input, subquery, expressions))));
        }
        Ok(None)
    }

    async fn plan_table_scan(
        &self,
        planner: &dyn PhysicalPlanner,
        scan: &TableScan,
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(table) = scan.source.downcast_ref::<Table>() else { return Ok(None) };
        let filters = unnormalize_cols(scan.filters.iter().cloned());
        let physical = |expression: &Expr, schema: &DFSchema| -> sql_error::Result<Arc<dyn PhysicalExpr>> {
            Ok(planner.create_physical_expr(expression, schema, session, context)?)
        };
        let options = session.config_options();
        let parallelism = Parallelism {
            from_bytes: options.optimizer.repartition_file_min_size as u64,
            partitions: options.execution.target_partitions,
        };
        Ok(Some(table.scan(scan.projection.as_deref(), &filters, scan.fetch, parallelism, &physical).await?))
    }
}
