//! GROUP BY: what is computed from groups, and what may not be asked of them.

use super::binder::{Binder, column};
use super::scope::Scope;
use crate::error::{Result, SqlError, state};
use crate::functions::TypedExpr;
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

/// Groups: what each expression over the rows is over the groups.
pub struct Grouping {
    replaced: Vec<(Expr, Expr)>,
}

impl Grouping {
    /// An expression over the rows as one over the groups. `None` when a column is left over: that column.
    pub fn rebase(&self, expr: Expr) -> Result<std::result::Result<Expr, Column>> {
        let rebased = expr
            .transform_down(|expr| match self.replaced.iter().find(|(from, _)| *from == expr) {
                Some((_, to)) => Ok(Transformed::new(to.clone(), true, TreeNodeRecursion::Jump)),
                None => Ok(Transformed::no(expr)),
            })?
            .data;
        let mut left_over = None;
        rebased.apply(|expr| {
            if let Expr::Column(column) = expr
                && !self.replaced.iter().any(|(_, to)| matches!(to, Expr::Column(known) if known == column))
            {
                left_over = Some(column.clone());
                return Ok(TreeNodeRecursion::Stop);
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(match left_over {
            Some(column) => Err(column),
            None => Ok(rebased),
        })
    }
}

impl Binder<'_> {
    /// Groups a plan. `used` are the expressions that will be asked for.
    pub fn group(
        &self,
        plan: LogicalPlan,
        scope: &Scope<'_>,
        group_by: &[TypedExpr],
        used: &[&Expr],
    ) -> Result<(LogicalPlan, Grouping)> {
        let mut keys = Vec::new();
        let mut values = Vec::new();
        let mut replaced: Vec<(Expr, Expr)> = Vec::new();
        let mut group_by = group_by.to_vec();
        self.add_dependent(scope, &mut group_by, used);
        for typed in group_by {
            if replaced.iter().any(|(from, _)| *from == typed.expr) {
                continue;
            }
            let key = self.resolver.group_key(typed.clone());
            let key_name = self.unique("g");
            // Equal values may look different (numeric 1.0 and 1.00): one of them is shown.
            let shown = if key == typed.expr {
                key_name.clone()
            } else {
                let name = self.unique("a");
                values.push(first_value_udaf().call(vec![typed.expr.clone()]).alias(&name));
                name
            };
            keys.push(key.alias(&key_name));
            replaced.push((typed.expr, column(shown)));
        }
        for expr in used {
            collect(expr, &mut |call| {
                if !replaced.iter().any(|(from, _)| from == call) {
                    let name = self.unique("a");
                    values.push(call.clone().alias(&name));
                    replaced.push((call.clone(), column(name)));
                }
            })?;
        }
        let plan = LogicalPlanBuilder::from(plan).aggregate(keys, values)?.build()?;
        Ok((plan, Grouping { replaced }))
    }

    /// Where a table's whole primary key is grouped by, its other columns depend on it: they may be asked for too.
    fn add_dependent(&self, scope: &Scope<'_>, group_by: &mut Vec<TypedExpr>, used: &[&Expr]) {
        for relation in &scope.relations {
            let Some(primary) = relation.table.as_ref().and_then(|table| table.primary_key()) else { continue };
            let whole = primary.columns.iter().all(|key| {
                relation
                    .columns
                    .iter()
                    .find(|column| column.attnum == key.column)
                    .is_some_and(|column| group_by.iter().any(|typed| typed.expr == column.expr))
            });
            if !whole {
                continue;
            }
            for column in &relation.columns {
                let asked = used.iter().any(|expr| mentions_outside_aggregates(expr, &column.expr));
                if asked && !group_by.iter().any(|typed| typed.expr == column.expr) {
                    group_by.push(column.typed());
                }
            }
        }
    }

    /// 42803 for a column that is neither grouped by nor aggregated.
    pub fn ungrouped(&self, scope: &Scope<'_>, column: &Column) -> SqlError {
        let expr = Expr::Column(column.clone());
        let name = scope
            .relations
            .iter()
            .find_map(|relation| {
                let found = relation.columns.iter().find(|candidate| candidate.expr == expr)?;
                Some(format!("{}.{}", relation.name, found.name))
            })
            .unwrap_or_else(|| column.name.clone());
        let message =
            format!("column \"{name}\" must appear in the GROUP BY clause or be used in an aggregate function");
        SqlError::new(state::GROUPING_ERROR, message)
    }
}

fn collect(expr: &Expr, found: &mut dyn FnMut(&Expr)) -> Result<()> {
    expr.apply(|inner| {
        if matches!(inner, Expr::AggregateFunction(_)) {
            found(inner);
            return Ok(TreeNodeRecursion::Jump);
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

fn mentions_outside_aggregates(expr: &Expr, column: &Expr) -> bool {
    let mut found = false;
    // The visitor cannot fail.
    let _ = expr.apply(|inner| {
        if matches!(inner, Expr::AggregateFunction(_)) {
            return Ok(TreeNodeRecursion::Jump);
        }
        found |= inner == column;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found
}
