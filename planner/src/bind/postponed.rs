//! Select lists that are computed after ORDER BY and LIMIT: what volatile functions make is made for the rows that are returned, in
//! their order, as in PostgreSQL (`make_sort_input_target`).

use super::binder::column;
use super::volatile::{calls, is_volatile_function, volatile_names};
use crate::error::Result;
use crate::execution::kept_columns::KeptColumnsNode;
use crate::types::Datum;
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};

/// A sorted select list: `exprs` (each under a name of its own) over the rows of `plan`, in the order of `sorts`, whose keys are among
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
    // Or the list would be computed below the sort, where it leaves columns out.
    let sorted = KeptColumnsNode::over(sorted, Vec::new());
    Ok(LogicalPlanBuilder::from(sorted).project(list)?.build()?)
}

/// Puts a limit on a query's plan: below a select list that calls volatile functions, else on top.
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

/// A query's plan of which rows are to be skipped: a select list that calls volatile functions is computed of them too, but of no more
/// than `rows` rows, where that is known.
pub fn skipping(plan: LogicalPlan, rows: Option<Expr>) -> Result<LogicalPlan> {
    let LogicalPlan::Projection(list) = &plan else { return Ok(plan) };
    let volatile = volatile_names(&list.expr);
    if volatile.is_empty() {
        return Ok(plan);
    }
    // Else the limit would go below the list.
    Ok(KeptColumnsNode::over(limited(plan, |plan| crate::execution::limit::limit(plan, None, rows))?, volatile))
}

/// The rows that are needed for LIMIT behind those that OFFSET skips. `None`: that is not known before the query runs.
pub fn with_skipped(limit: Option<&Expr>, offset: &Expr) -> Option<Expr> {
    match (limit, offset) {
        (Some(Expr::Literal(Datum::Int64(Some(rows)), _)), Expr::Literal(Datum::Int64(Some(skipped)), _)) => {
            (*rows >= 0 && *skipped >= 0).then(|| lit(rows.saturating_add(*skipped)))
        }
        _ => None,
    }
}

/// What a subquery reads of the rows is not among its columns.
fn has_subquery(expr: &Expr) -> Result<bool> {
    let mut found = false;
    expr.apply(|part| {
        found |= crate::plan::correlated::subquery_of(part).is_some();
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}
