//! Detects calls of volatile functions. Such calls must not be repeated, dropped, or moved where they run more often.

use crate::kept_columns::KeptColumnsNode;
use crate::subquery::outer_columns;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use sql_error::Result;

/// Whether a plan calls a volatile function.
pub fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= calls_volatile(node)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

fn calls_volatile(node: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    node.apply_expressions(|expr| {
        found |= calls(expr, is_volatile_function);
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// Whether an expression calls a function that `which` selects by name.
pub fn calls(expr: &Expr, which: impl Fn(&str) -> bool) -> bool {
    let found = expr.exists(|part| Ok(matches!(part, Expr::ScalarFunction(call) if which(call.func.name()))));
    // The visitor cannot fail.
    found.unwrap_or(false)
}

/// Whether a function is volatile: its results vary or it has side effects.
pub fn is_volatile_function(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "nextval",
        "setval",
        "currval",
        "lastval",
        "random",
        "gen_random_uuid",
        "clock_timestamp",
        "timeofday",
        "setseed",
        "set_config",
        "pg_sleep",
        "pg_notify",
        "pg_cancel_backend",
        "pg_terminate_backend",
    ];
    NAMES.contains(&name)
        || name.starts_with("pg_advisory_")
        || name.starts_with("pg_try_advisory_")
        || name.starts_with("lo_")
        || ["loread", "lowrite"].contains(&name)
}

/// The names of the expressions in a list that call volatile functions.
pub fn volatile_names(list: &[Expr]) -> Vec<String> {
    let made = list.iter().filter(|expr| calls(expr, is_volatile_function));
    made.map(|expr| expr.schema_name().to_string()).collect()
}

/// Makes sure that all columns of a FROM subquery are computed if it calls volatile functions.
pub fn with_kept_columns(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut node = &plan;
    let volatile = loop {
        match node {
            LogicalPlan::Projection(projection) if !calls_volatile(node)? => node = &projection.input,
            LogicalPlan::Projection(projection) => {
                break volatile_names(&projection.expr);
            }
            LogicalPlan::SubqueryAlias(alias) => node = &alias.input,
            LogicalPlan::Sort(sort) => node = &sort.input,
            LogicalPlan::Limit(limit) => node = &limit.input,
            _ => return Ok(plan),
        }
    };
    // Other projections rename the columns. Then no condition may be pushed down at all.
    let all = || plan.schema().fields().iter().map(|field| field.name().clone()).collect();
    let volatile: Vec<String> =
        if node.schema().field_names() == plan.schema().field_names() { volatile } else { all() };
    match outer_columns(&plan).is_empty() {
        true => Ok(KeptColumnsNode::over(plan, volatile)),
        false => Ok(plan),
    }
}
