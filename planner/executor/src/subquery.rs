//! Subqueries in expressions: what they refer to.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};

/// Name of the aggregate that gives the value of a subquery's only row.
pub const SINGLE_VALUE: &str = "single_value";

/// The subquery in an expression, if it is one.
pub fn subquery_of(expr: &Expr) -> Option<&Subquery> {
    match expr {
        Expr::ScalarSubquery(subquery)
        | Expr::Exists(Exists { subquery, .. })
        | Expr::InSubquery(InSubquery { subquery, .. })
        | Expr::SetComparison(SetComparison { subquery, .. }) => Some(subquery),
        _ => None,
    }
}

/// The outer columns that a plan and its subqueries refer to.
pub fn outer_columns(plan: &LogicalPlan) -> Vec<Expr> {
    let mut found: Vec<Expr> = Vec::new();
    let mut add = |outer: &Expr| {
        if !found.contains(outer) {
            found.push(outer.clone());
        }
    };
    let inputs = plan.inputs();
    let known = |outer: &Expr| match outer {
        Expr::OuterReferenceColumn(_, column) => inputs.iter().any(|input| input.schema().has_column(column)),
        _ => false,
    };
    // The visitors cannot fail.
    let _ = plan.apply_expressions(|expr| {
        expr.apply(|inner| {
            if matches!(inner, Expr::OuterReferenceColumn(..)) {
                add(inner);
            } else if let Some(subquery) = subquery_of(inner) {
                subquery.outer_ref_columns.iter().filter(|outer| !known(outer)).for_each(&mut add);
            }
            Ok(TreeNodeRecursion::Continue)
        })
    });
    for (at, input) in inputs.iter().enumerate() {
        // A lateral item can see the items on its left.
        let beside = match (plan, input) {
            (LogicalPlan::Join(join), LogicalPlan::Subquery(_)) if at == 1 => Some(join.left.schema()),
            _ => None,
        };
        for outer in outer_columns(input) {
            let left = match (&outer, beside) {
                (Expr::OuterReferenceColumn(_, column), Some(schema)) => schema.has_column(column),
                _ => false,
            };
            if !left {
                add(&outer);
            }
        }
    }
    found
}

/// Whether a plan is an aggregate without GROUP BY, possibly below a projection: it always has one row.
pub fn is_ungrouped_aggregate(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => is_ungrouped_aggregate(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_ungrouped_aggregate(&alias.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    }
}
