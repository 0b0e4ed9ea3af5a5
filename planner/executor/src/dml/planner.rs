//! [`DmlPlanner`]: converts the logical nodes of writing to their operators.

use super::check::{Check, live_schema};
use super::codec::TableCodec;
use super::computed::{RowComputer, Rules};
use super::conflict::{Conflict, ConflictUpdate, NewValues, space_of};
use super::copy_source::FeedNode;
use super::lock_rows::LockRowsExec;
use super::merge::{MergeRecheck, MergeStep};
use super::node::{
    DeleteNode, InsertNode, LockRowsNode, MergeAction, MergeNode, OnConflict, UpdateNode, conflict_schema, table_schema,
};
use super::operator::WriteExec;
use super::recheck::Recheck;
use super::run::{Operation, Target};
use crate::Slots;
use crate::held_rows::{HeldRowsExec, HeldRowsNode};
use crate::parameter_binding::fill_expression;
use crate::short_circuit_bool::guarded;
use async_trait::async_trait;
use catalog::{ColumnId, TableDescriptor};
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, Result, TableReference};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Expr, LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use sql_error::SqlError;
use std::sync::Arc;

/// Plans INSERT, UPDATE, DELETE and row locks for one plan instance.
pub struct DmlPlanner {
    slots: Arc<Slots>,
}

impl DmlPlanner {
    /// A planner for the plan instance that owns these slots.
    pub fn new(slots: Arc<Slots>) -> Self {
        DmlPlanner { slots }
    }

    fn expression(&self, expr: &Expr, schema: &DFSchema, session: &dyn Session) -> Result<Arc<dyn PhysicalExpr>> {
        guarded(&session.create_physical_expr(fill_expression(expr.clone(), &self.slots)?, schema)?)
    }

    fn checks(&self, table: &TableDescriptor, rules: &Rules, session: &dyn Session) -> Result<Vec<Check>> {
        let schema = table_schema(table, &TableReference::bare(table.name.as_str()))?;
        // PostgreSQL reports the first violated constraint by name.
        let mut checks: Vec<_> = rules.checks.iter().map(|check| (check, false)).collect();
        checks.sort_by(|((a, _), _), ((b, _), _)| a.cmp(b));
        checks
            .into_iter()
            .chain(rules.views.iter().map(|check| (check, true)))
            .map(|((name, expr), view)| {
                Ok(Check { name: name.clone(), view, expression: self.expression(expr, &schema, session)? })
            })
            .collect()
    }

    /// The codec of a table, and the expressions computed from its rows.
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
        rows: Option<&LogicalPlan>,
    ) -> Result<Option<Conflict>> {
        let physical = |expr: &Expr, schema: &DFSchema| -> Result<Arc<dyn PhysicalExpr>> {
            if node.subqueries.is_empty() {
                return self.expression(expr, schema, session);
            }
            // Subqueries run before the statement writes. Their results replace them.
            let expr = OnConflict::with_subqueries(expr.clone(), &node.subqueries)?;
            guarded(&planner.create_physical_expr(&fill_expression(expr, &self.slots)?, schema, session, context)?)
        };
        Ok(match &node.on_conflict {
            None => None,
            Some(OnConflict::DoNothing { arbiter }) => {
                let arbiter = arbiter.map(|index| space_of(codec, index)).transpose()?;
                Some(Conflict { arbiter, update: None })
            }
            Some(OnConflict::DoUpdate { arbiter, set, filter }) => {
                let schema = conflict_schema(&node.table, &node.qualifier)?;
                let positions = set.iter().map(|(column, _)| live_position(&node.table, *column));
                let positions = positions.collect::<Result<Vec<_>>>()?;
                let values = match (&node.rows, rows) {
                    (Some((part, _)), Some(rows)) => {
                        NewValues::Planned { part: *part, plan: Box::new(Recheck::new(rows, &[], &self.slots)) }
                    }
                    _ => NewValues::Expressions {
                        set: set.iter().map(|(_, value)| physical(value, &schema)).collect::<Result<_>>()?,
                        filter: filter.as_ref().map(|filter| physical(filter, &schema)).transpose()?,
                    },
                };
                let update = ConflictUpdate { positions, values, schema: schema.inner().clone() };
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
        recheck: Option<Recheck>,
        node: &dyn UserDefinedLogicalNode,
    ) -> Arc<dyn ExecutionPlan> {
        let schema = live_schema(&codec.table);
        let recheck = recheck.map(Arc::new);
        let target = Arc::new(Target { codec, operation, checks, computer, schema, returning, recheck });
        Arc::new(WriteExec::new(target, input.clone(), self.slots.clone(), node.schema().inner().clone()))
    }

    /// The recheck for rows that changed while their lock was awaited.
    fn recheck(&self, inputs: &[&LogicalPlan], target: Option<&TableReference>) -> Result<Option<Recheck>> {
        Ok(match (inputs.first(), target) {
            (Some(input), Some(target)) => Some(Recheck::new(input, std::slice::from_ref(target), &self.slots)),
            _ => None,
        })
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
        logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        session: &dyn Session,
        context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let input = || physical_inputs.first().ok_or_else(|| DataFusionError::Internal("a write has one input".into()));
        if let Some(insert) = node.as_any().downcast_ref::<InsertNode>() {
            let (codec, computer) = self.codec(&insert.table, &insert.rules, session)?;
            let updated = match &insert.on_conflict {
                Some(OnConflict::DoUpdate { set, .. }) => set.as_slice(),
                _ => &[],
            };
            let given = insert.given.iter().chain(updated.iter().map(|(id, _)| id));
            let operation = Operation::Insert {
                given: given.map(|id| live_position(&insert.table, *id)).collect::<Result<_>>()?,
                on_conflict: self.conflict(
                    &codec,
                    insert,
                    planner,
                    session,
                    context,
                    logical_inputs.get(1).copied(),
                )?,
            };
            let checks = self.checks(&insert.table, &insert.rules, session)?;
            return Ok(Some(self.write(codec, operation, checks, computer, insert.returning, input()?, None, node)));
        }
        if let Some(update) = node.as_any().downcast_ref::<UpdateNode>() {
            let (codec, computer) = self.codec(&update.table, &update.rules, session)?;
            let assigned =
                update.assigned.iter().map(|id| live_position(&update.table, *id)).collect::<Result<Vec<_>>>()?;
            let checks = self.checks(&update.table, &update.rules, session)?;
            let operation = Operation::Update { assigned };
            let recheck = self.recheck(logical_inputs, update.target.as_ref())?;
            return Ok(Some(self.write(codec, operation, checks, computer, update.returning, input()?, recheck, node)));
        }
        if let Some(delete) = node.as_any().downcast_ref::<DeleteNode>() {
            let (codec, computer) = self.codec(&delete.table, &delete.rules, session)?;
            let recheck = self.recheck(logical_inputs, delete.target.as_ref())?;
            let operation = Operation::Delete;
            let write = self.write(codec, operation, Vec::new(), computer, delete.returning, input()?, recheck, node);
            return Ok(Some(write));
        }
        if let Some(merge) = node.as_any().downcast_ref::<MergeNode>() {
            let (codec, computer) = self.codec(&merge.table, &merge.rules, session)?;
            let step = |action: &MergeAction| -> Result<MergeStep> {
                Ok(match action {
                    MergeAction::Update(ids) => {
                        MergeStep::Update(ids.iter().map(|id| live_position(&merge.table, *id)).collect::<Result<_>>()?)
                    }
                    MergeAction::Delete => MergeStep::Delete,
                    MergeAction::Insert => MergeStep::Insert,
                    MergeAction::Nothing => MergeStep::Nothing,
                })
            };
            let steps = merge.actions.iter().map(step).collect::<Result<Vec<_>>>()?;
            let plan = logical_inputs.get(1).ok_or_else(|| DataFusionError::Internal("MERGE has two inputs".into()))?;
            let plan = Recheck::new(plan, &[], &self.slots);
            let again = Box::new(MergeRecheck::new(&merge.table, &merge.again, plan)?);
            let checks = self.checks(&merge.table, &merge.rules, session)?;
            return Ok(Some(self.write(
                codec,
                Operation::Merge { steps, again },
                checks,
                computer,
                false,
                input()?,
                None,
                node,
            )));
        }
        if let Some(lock) = node.as_any().downcast_ref::<LockRowsNode>() {
            let empty = DFSchema::empty();
            let count = |expr: &Expr| planner.create_physical_expr(expr, &empty, session, context);
            let taken = (lock.skip.as_ref().map(count).transpose()?, lock.fetch.as_ref().map(count).transpose()?);
            let names: Vec<TableReference> = lock.tables.iter().map(|table| table.name.clone()).collect();
            let recheck = logical_inputs.first().map(|input| Recheck::new(input, &names, &self.slots));
            let recheck = recheck.ok_or_else(|| DataFusionError::Internal("row locks have one input".into()))?;
            let (tables, input) = (lock.tables.clone(), input()?.clone());
            return Ok(Some(Arc::new(LockRowsExec::new(tables, input, taken, Arc::new(recheck), self.slots.clone()))));
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
