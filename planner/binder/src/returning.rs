//! Binds RETURNING of writing statements.

use super::binder::{Binder, column};
use super::call::{has_aggregate, has_window};
use super::expression::{Clause, Env};
use super::scope::{Scope, ScopeColumn};
use context::output_column::OutputColumn;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use sql_error::{Result, SqlError, state};
use syntax::ast;

impl Binder<'_> {
    /// Adds RETURNING to a writing node. Answers the plan and the columns that the client sees.
    pub fn returning(
        &self,
        plan: LogicalPlan,
        returning: &[ast::Target],
        scope: &Scope<'_>,
    ) -> Result<(LogicalPlan, Option<Vec<OutputColumn>>)> {
        if returning.is_empty() {
            return Ok((plan, None));
        }
        let mut scope = Scope { schema: Some(plan.schema().clone()), ..scope.clone() };
        // The output of a writing node does not always include the row key.
        for target in scope.relations.iter_mut().take(1) {
            target.key = target.key.take().filter(|key| plan.schema().has_column(key));
        }
        let items = self.items(returning, Env::new(&scope, Clause::Returning))?;
        let mut exprs = Vec::new();
        let mut columns = Vec::new();
        for item in items {
            if has_aggregate(&item.typed.expr) {
                let message = "aggregate functions are not allowed in RETURNING";
                return Err(SqlError::new(state::GROUPING_ERROR, message));
            }
            if has_window(&item.typed.expr) {
                let message = "window functions are not allowed in RETURNING";
                return Err(SqlError::new(state::WINDOWING_ERROR, message));
            }
            let typed = self.settle(item.typed)?;
            let name = self.unique("c");
            exprs.push(typed.expr.alias(&name));
            columns.push(ScopeColumn {
                name: item.name,
                expr: column(name),
                ty: typed.ty,
                table_oid: item.table_oid,
                attnum: item.attnum,
                reading: None,
            });
        }
        let plan = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        let output = super::query::BoundQuery { plan: plan.clone(), columns }.output();
        Ok((plan, Some(output)))
    }
}
