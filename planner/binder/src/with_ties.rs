//! FETCH … WITH TIES: the first rows of a sorted plan and the peers of the last of them.

use super::binder::{Binder, column};
use datafusion::functions_window::{rank::rank_udwf, row_number::row_number_udwf};
use datafusion::logical_expr::expr::{Sort, WindowFunction};
use datafusion::logical_expr::{
    Expr, ExprFunctionExt, Extension, LogicalPlan, LogicalPlanBuilder, WindowFunctionDefinition, cast, lit,
};
use executor::dml::LockRowsNode;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::SqlType;

impl Binder<'_> {
    /// The first rows of a sorted plan, and the peers of the last of them. Errors: 42601 if it is not sorted.
    pub(super) fn with_ties(&self, plan: LogicalPlan, offset: Option<Expr>, limit: Expr) -> Result<LogicalPlan> {
        let shown: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let (keyed, sorts) = self.with_sort_keys(plan)?;
        let number = |function| -> Result<Expr> {
            let call = Expr::from(WindowFunction::new(WindowFunctionDefinition::WindowUDF(function), Vec::new()));
            Ok(call.order_by(sorts.clone()).build()?)
        };
        let (place, rank) = (number(row_number_udwf())?, number(rank_udwf())?);
        let held = |call: &Expr| cast(column(call.schema_name().to_string()), SqlType::INT8.arrow());
        let skipped = offset.unwrap_or_else(|| lit(0i64));
        let kept = held(&rank).lt_eq(skipped.clone() + limit).and(held(&place).gt(skipped));
        let numbered = LogicalPlanBuilder::window_plan(keyed, vec![place, rank])?;
        Ok(LogicalPlanBuilder::from(numbered).filter(kept)?.sort(sorts)?.project(shown)?.build()?)
    }

    /// A sorted plan with its sort keys in additional columns, and its order over them.
    fn with_sort_keys(&self, plan: LogicalPlan) -> Result<(LogicalPlan, Vec<Sort>)> {
        match plan {
            LogicalPlan::Sort(sort) => {
                // The keys become columns: see `window_keys`.
                let mut exprs: Vec<Expr> = sort.input.schema().columns().into_iter().map(Expr::Column).collect();
                let mut sorts = sort.expr;
                for key in &mut sorts {
                    let name = self.unique("o");
                    exprs.push(key.expr.clone().alias(&name));
                    key.expr = column(name);
                }
                Ok((LogicalPlanBuilder::from(sort.input).project(exprs)?.build()?, sorts))
            }
            // A select list above the sort.
            LogicalPlan::Projection(projection) if is_sorted(&projection.input) => {
                let (input, sorts) = self.with_sort_keys(projection.input.as_ref().clone())?;
                let exprs = projection.expr.into_iter().chain(sorts.iter().map(|sort| sort.expr.clone()));
                Ok((LogicalPlanBuilder::from(input).project(exprs.collect::<Vec<_>>())?.build()?, sorts))
            }
            LogicalPlan::Extension(extension) if locked(&extension).is_some_and(|lock| is_sorted(&lock.input)) => {
                let lock = locked(&extension).ok_or_else(|| SqlError::internal("a lock without its rows"))?;
                let (input, sorts) = self.with_sort_keys(lock.input.clone())?;
                let node = Arc::new(LockRowsNode { input, ..lock.clone() });
                Ok((LogicalPlan::Extension(Extension { node }), sorts))
            }
            _ => Err(SqlError::syntax("WITH TIES cannot be specified without ORDER BY clause")),
        }
    }
}

fn locked(extension: &Extension) -> Option<&LockRowsNode> {
    extension.node.as_any().downcast_ref()
}

/// Whether a plan's rows are sorted, below a select list or locks.
fn is_sorted(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Sort(_) => true,
        LogicalPlan::Projection(projection) => is_sorted(&projection.input),
        LogicalPlan::Extension(extension) => locked(extension).is_some_and(|lock| is_sorted(&lock.input)),
        _ => false,
    }
}
