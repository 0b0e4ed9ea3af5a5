//! Replaces placeholders by functions that read a plan instance's slots, after logical
//! optimisation and before physical planning. VALUES whose expressions are not constant become an
//! operator of ours, because DataFusion evaluates VALUES while it plans.

use crate::error::Result;
use crate::execution::slot_function::SlotFunction;
use crate::execution::slots::Slots;
use crate::execution::values::ValuesNode;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan};
use std::sync::Arc;

/// The plan with every placeholder replaced, in subqueries and extension nodes too.
pub fn fill_placeholders(plan: LogicalPlan, slots: &Arc<Slots>) -> Result<LogicalPlan> {
    let filled = plan.transform_up_with_subqueries(|node| {
        let node = node.map_expressions(|expression| replace(expression, slots))?;
        node.transform_data(run_values_later)
    })?;
    Ok(filled.data)
}

fn replace(expression: Expr, slots: &Arc<Slots>) -> std::result::Result<Transformed<Expr>, DataFusionError> {
    expression.transform_up(|expression| match &expression {
        Expr::Placeholder(placeholder) => {
            Ok(Transformed::yes(SlotFunction::expression(&placeholder.id, placeholder.field.as_ref(), slots)?))
        }
        _ => Ok(Transformed::no(expression)),
    })
}

fn run_values_later(node: LogicalPlan) -> std::result::Result<Transformed<LogicalPlan>, DataFusionError> {
    match node {
        LogicalPlan::Values(values)
            if !values.values.iter().flatten().all(|expression| matches!(expression, Expr::Literal(..))) =>
        {
            let node = ValuesNode { schema: values.schema, rows: values.values };
            Ok(Transformed::yes(LogicalPlan::Extension(Extension { node: Arc::new(node) })))
        }
        other => Ok(Transformed::no(other)),
    }
}
