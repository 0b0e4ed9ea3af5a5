//! [`EmptyRelations`]: DataFusion's rule that removes empty relations, except for UNION. If one input of a UNION is
//! left, the rule projects it by the UNION's names. But inputs of a UNION match by position and may have other names.
//! This rule also unwraps subqueries that are no longer LATERAL.

use super::correlated::sees_outer_row;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, Projection, Union};
use datafusion::optimizer::propagate_empty_relation::PropagateEmptyRelation;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// DataFusion's rule with the corrections of this module.
#[derive(Debug, Default)]
pub struct EmptyRelations(PropagateEmptyRelation);

impl OptimizerRule for EmptyRelations {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if let LogicalPlan::Join(join) = &plan
            && let LogicalPlan::Subquery(subquery) = join.right.as_ref()
            && !sees_outer_row(&subquery.subquery)
            && !has_outer_columns(&subquery.subquery)?
        {
            // Its outer columns vanished with a condition that is never true.
            let right = Arc::clone(&subquery.subquery);
            return Ok(Transformed::yes(LogicalPlan::Join(Join { right, ..join.clone() })));
        }
        let LogicalPlan::Union(Union { inputs, .. }) = &plan else { return self.0.rewrite(plan, config) };
        let mut left = inputs.iter().filter(|input| !is_empty(input));
        match (left.next(), left.next()) {
            (Some(only), None) if inputs.len() > 1 => {
                let names = plan.schema().iter().map(|(qualifier, field)| (qualifier.cloned(), field.name()));
                let of_input = only.schema().columns().into_iter();
                let expressions =
                    of_input.zip(names).map(|(column, (qualifier, name))| match column.relation == qualifier {
                        true if column.name == *name => Expr::Column(column),
                        _ => Expr::Column(column).alias_qualified(qualifier, name),
                    });
                let projection = Projection::try_new(expressions.collect(), Arc::clone(only))?;
                Ok(Transformed::yes(LogicalPlan::Projection(projection)))
            }
            _ => self.0.rewrite(plan, config),
        }
    }
}

fn has_outer_columns(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found |= expr.exists(|part| Ok(matches!(part, Expr::OuterReferenceColumn(..))))?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}

fn is_empty(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::EmptyRelation(empty) if !empty.produce_one_row)
}
