//! Select lists that are evaluated after ORDER BY and LIMIT. As in PostgreSQL (`make_sort_input_target`), volatile
//! functions are called only for the returned rows, in their order.

use super::binder::column;
use super::volatile::{calls, is_volatile_function, volatile_names};
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use executor::kept_columns::KeptColumnsNode;
use sql_error::Result;
use types::Datum;

/// Sorts `plan` by `sorts` and evaluates the select list `exprs`, each under a unique name. The sort keys are among
/// these names.
pub fn sorted_list(plan: LogicalPlan, exprs: Vec<Expr>, sorts: Vec<Sort>) -> Result<LogicalPlan> {
    let keys: Vec<Column> = sorts.iter().flat_map(|sort| sort.expr.column_refs().into_iter().cloned()).collect();
    let mut first = Vec::new();
    let mut list = Vec::new();
    let mut read: Vec<Column> = Vec::new();
    let mut postponed = false;
    for expr in exprs {
        let name = expr.schema_name().to_string();
        let sorted_by = keys.iter().any(|key| *key.name() == *name);
        if sorted_by || !calls(&expr, is_volatile_function) || has_subquery(&expr)? {
            list.push(column(name));
            first.push(expr);
            continue;
        }
        postponed = true;
        for used in expr.column_refs() {
            if !read.contains(used) {
                read.push(used.clone());
            }
        }
        list.push(expr);
    }
    let volatile = volatile_names(&first);
    first.extend(read.into_iter().map(Expr::Column));
    let mut listed = LogicalPlanBuilder::from(plan).project(first)?.build()?;
    if !volatile.is_empty() {
        listed = KeptColumnsNode::over(listed, volatile);
    }
    let sorted = LogicalPlanBuilder::from(listed).sort(sorts)?.build()?;
    if !postponed {
        return Ok(sorted);
    }
    // Without this node, the list would be moved below the sort that removes its columns.
    let sorted = KeptColumnsNode::over(sorted, Vec::new());
    Ok(LogicalPlanBuilder::from(sorted).project(list)?.build()?)
}

/// Adds a limit to a query's plan: below a select list with volatile calls, otherwise on top.
pub fn limited(plan: LogicalPlan, limit: impl FnOnce(LogicalPlan) -> Result<LogicalPlan>) -> Result<LogicalPlan> {
    let LogicalPlan::Projection(list) = &plan else { return limit(plan) };
    if !list.expr.iter().any(|expr| calls(expr, is_volatile_function)) {
        return limit(plan);
    }
    let input = match KeptColumnsNode::below(&list.input) {
        Some(sorted) => KeptColumnsNode::over(limit(sorted.clone())?, Vec::new()),
        None => limit(list.input.as_ref().clone())?,
    };
    Ok(LogicalPlanBuilder::from(input).project(list.expr.clone())?.build()?)
}

/// Prepares a plan for OFFSET. A select list with volatile calls is evaluated for skipped rows too. It is evaluated for
/// at most `rows` rows, if that is known.
pub fn skipping(plan: LogicalPlan, rows: Option<Expr>) -> Result<LogicalPlan> {
    let LogicalPlan::Projection(list) = &plan else { return Ok(plan) };
    let volatile = volatile_names(&list.expr);
    if volatile.is_empty() {
        return Ok(plan);
    }
    // Otherwise the limit would be pushed below the list.
    Ok(KeptColumnsNode::over(limited(plan, |plan| executor::limit::limit(plan, None, rows))?, volatile))
}

/// The sum of LIMIT and OFFSET: the rows that are needed. `None` if they are known only at run time.
pub fn with_skipped(limit: Option<&Expr>, offset: &Expr) -> Option<Expr> {
    match (limit, offset) {
        (Some(Expr::Literal(Datum::Int64(Some(rows)), _)), Expr::Literal(Datum::Int64(Some(skipped)), _)) => {
            (*rows >= 0 && *skipped >= 0).then(|| lit(rows.saturating_add(*skipped)))
        }
        _ => None,
    }
}

/// Whether an expression has a subquery. The columns that a subquery reads are not among the expression's columns.
fn has_subquery(expr: &Expr) -> Result<bool> {
    let mut found = false;
    expr.apply(|part| {
        found |= executor::subquery::subquery_of(part).is_some();
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}
