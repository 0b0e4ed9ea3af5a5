//! [`DmlPlanner`]: from the logical nodes of writing to their operators.

use super::check::{Check, live_schema};
use super::codec::TableCodec;
use super::computed::{RowComputer, Rules};
use super::conflict::{Conflict, ConflictUpdate, space_of};
use super::feed::FeedNode;
use super::lock_rows::LockRowsExec;
use super::node::{DeleteNode, InsertNode, LockRowsNode, OnConflict, UpdateNode, conflict_schema, table_schema};
use super::operator::WriteExec;
use super::run::{Operation, Target};
use crate::catalog::{ColumnId, TableDescriptor};
use crate::error::SqlError;
use crate::execution::Slots;
use crate::execution::held_rows::{HeldRowsExec, HeldRowsNode};
use crate::plan::slotting::fill_expression;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Result, TableReference};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use std::sync::Arc;

/// Plans INSERT, UPDATE, DELETE and row locks for one plan instance.
pub struct DmlPlanner {
    slots: Arc<Slots>,
}

impl DmlPlanner {
    /// For the instance that owns these slots.
    pub fn new(slots: Arc<Slots>) -> Self {
        DmlPlanner { slots }
    }

    fn expression(&self, expr: &Expr, schema: &DFSchema, session: &dyn Session) -> Result<Arc<dyn PhysicalExpr>> {
        session.create_physical_expr(fill_expression(expr.clone(), &self.slots)?, schema)
    }

    fn checks(&self, table: &TableDescriptor, checks: &[(String, Expr)], session: &dyn Session) -> Result<Vec<Check>> {
        let schema = table_schema(table, &TableReference::bare(table.name.as_str()))?;
        // PostgreSQL reports the first in the order of their names.
        let mut checks: Vec<_> = checks.iter().collect();
        checks.sort_by(|(a, _), (b, _)| a.cmp(b));
        checks
            .into_iter()
            .map(|(name, expr)| Ok(Check { name: name.clone(), expression: self.expression(expr, &schema, session)? }))
            .collect()
    }

    /// How rows are written, and what is computed of them.
    fn codec(
        &self,
        table: &Arc<TableDescriptor>,
        rules: &Rules,
        session: &dyn Session,
    ) -> Result<(TableCodec, RowComputer)> {
        let schema = table_schema(table, &TableReference::bare(table.name.as_str()))?;
        let physical = |expr: &Expr| Ok(self.expression(expr, &schema, session)?);
        let computer = RowComputer::new(table, &rules.computed, &physical)?;
        Ok((TableCodec::new(Arc::clone(table), &rules.computed, &physical)?, computer))
    }

    fn conflict(
        &self,
        codec: &TableCodec,
        node: &InsertNode,
        planner: &dyn PhysicalPlanner,
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Conflict>> {
        let physical = |expr: &Expr, schema: &DFSchema| -> Result<Arc<dyn PhysicalExpr>> {
            if node.subqueries.is_empty() {
                return self.expression(expr, schema, session);
            }
            // Subqueries run before the statement writes; what they answered stands in for them.
            let expr = OnConflict::with_subqueries(expr.clone(), &node.subqueries)?;
            planner.create_physical_expr(&fill_expression(expr, &self.slots)?, schema, session, context)
        };
        Ok(match &node.on_conflict {
            None => None,
            Some(OnConflict::DoNothing { arbiter }) => {
                let arbiter = arbiter.map(|index| space_of(codec, index)).transpose()?;
                Some(Conflict { arbiter, update: None })
            }
            Some(OnConflict::DoUpdate { arbiter, set, filter }) => {
                let schema = conflict_schema(&node.table, &node.qualifier)?;
                let set = set
                    .iter()
                    .map(|(column, value)| Ok((live_position(&node.table, *column)?, physical(value, &schema)?)))
                    .collect::<Result<Vec<_>>>()?;
                let filter = filter.as_ref().map(|filter| physical(filter, &schema)).transpose()?;
                let update = ConflictUpdate { set, filter, schema: schema.inner().clone() };
                Some(Conflict { arbiter: Some(space_of(codec, *arbiter)?), update: Some(update) })
            }
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn write(
        &self,
        codec: TableCodec,
        operation: Operation,
        checks: Vec<Check>,
        computer: RowComputer,
        returning: bool,
        input: &Arc<dyn ExecutionPlan>,
        node: &dyn UserDefinedLogicalNode,
    ) -> Arc<dyn ExecutionPlan> {
        let schema = live_schema(&codec.table);
        let target = Arc::new(Target { codec, operation, checks, computer, schema, returning });
        Arc::new(WriteExec::new(target, input.clone(), self.slots.clone(), node.schema().inner().clone()))
    }
}

fn live_position(table: &TableDescriptor, id: ColumnId) -> Result<usize> {
    let position = table.live_columns().position(|column| column.id == id);
    Ok(position.ok_or_else(|| SqlError::internal(format!("{} has no column {id}", table.name)))?)
}

#[async_trait]
impl ExtensionPlanner for DmlPlanner {
    async fn plan_extension(
        &self,
        planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let input = || physical_inputs.first().ok_or_else(|| DataFusionError::Internal("a write has one input".into()));
        if let Some(insert) = node.as_any().downcast_ref::<InsertNode>() {
            let (codec, computer) = self.codec(&insert.table, &insert.rules, session)?;
            let operation =
                Operation::Insert { on_conflict: self.conflict(&codec, insert, planner, session, context)? };
            let checks = self.checks(&insert.table, &insert.rules.checks, session)?;
            return Ok(Some(self.write(codec, operation, checks, computer, insert.returning, input()?, node)));
        }
        if let Some(update) = node.as_any().downcast_ref::<UpdateNode>() {
            let (codec, computer) = self.codec(&update.table, &update.rules, session)?;
            let assigned =
                update.assigned.iter().map(|id| live_position(&update.table, *id)).collect::<Result<Vec<_>>>()?;
            let checks = self.checks(&update.table, &update.rules.checks, session)?;
            let operation = Operation::Update { assigned };
            return Ok(Some(self.write(codec, operation, checks, computer, update.returning, input()?, node)));
        }
        if let Some(delete) = node.as_any().downcast_ref::<DeleteNode>() {
            let (codec, computer) = self.codec(&delete.table, &delete.rules, session)?;
            let write = self.write(codec, Operation::Delete, Vec::new(), computer, delete.returning, input()?, node);
            return Ok(Some(write));
        }
        if let Some(lock) = node.as_any().downcast_ref::<LockRowsNode>() {
            return Ok(Some(Arc::new(LockRowsExec::new(
                lock.table.clone(),
                input()?.clone(),
                lock.key_column,
                lock.strength,
                self.slots.clone(),
            ))));
        }
        if let Some(held) = node.as_any().downcast_ref::<HeldRowsNode>() {
            return Ok(Some(Arc::new(HeldRowsExec::new(held, self.slots.clone()))));
        }
        if let Some(feed) = node.as_any().downcast_ref::<FeedNode>() {
            return Ok(Some(Arc::new(feed.exec())));
        }
        Ok(None)
    }
}
