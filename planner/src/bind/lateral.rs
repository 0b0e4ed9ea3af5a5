//! LATERAL: subqueries and functions that see what is on their left.

use super::binder::Binder;
use super::expression::{Clause, Env};
use super::from::{BoundFunction, Source, TableFunction, table_function};
use super::scope::Scope;
use crate::error::{Result, SqlError};
use crate::parse::fold;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};
use sqlparser::ast::TableFactor;

impl Binder<'_> {
    /// Puts a lateral item beside what is on its left.
    pub fn lateral<'p>(
        &self,
        left: Source<'p>,
        factor: &TableFactor,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        if let Some(function) = table_function(factor)? {
            let bound = self.table_function(&function, Env::new(&left.scope, Clause::FromFunction))?;
            return self.lateral_function(left, &function, bound, parent);
        }
        let right = self.lateral_subquery(&left, factor, parent)?;
        self.cross(left, right)
    }

    /// A lateral subquery, to be joined to `left`.
    pub fn lateral_subquery<'p>(
        &self,
        left: &Source<'p>,
        factor: &TableFactor,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let TableFactor::Derived { subquery, alias: Some(alias), .. } = factor else {
            return Err(SqlError::syntax("subquery in FROM must have an alias")
                .hint("For example, FROM (SELECT ...) [AS] foo."));
        };
        let mut bound = self.query(subquery, Some(&left.scope))?;
        if !bound.plan.all_out_ref_exprs().is_empty() {
            bound.plan = LogicalPlan::Subquery(super::subquery::subquery(bound.plan));
        }
        self.derived(bound, &fold(&alias.name), Some(alias), parent)
    }

    fn lateral_function<'p>(
        &self,
        left: Source<'p>,
        function: &TableFunction<'_>,
        bound: BoundFunction,
        parent: Option<&'p Scope<'p>>,
    ) -> Result<Source<'p>> {
        let (BoundFunction::Rows(typed) | BoundFunction::Value(typed)) = &bound;
        if !has_column(&typed.expr) {
            let plan = datafusion::logical_expr::LogicalPlanBuilder::empty(true).build()?;
            let right = self.function_rows(plan, Vec::new(), function, bound, parent)?;
            return self.cross(left, right);
        }
        let carried: Vec<Expr> = left.plan.schema().columns().into_iter().map(Expr::Column).collect();
        let right = self.function_rows(left.plan, carried, function, bound, parent)?;
        let mut scope = left.scope;
        scope.visible.extend(right.scope.visible);
        scope.relations.extend(right.scope.relations);
        scope.schema = Some(right.plan.schema().clone());
        Ok(Source { plan: right.plan, scope })
    }
}

/// Whether an expression has columns of its own plan.
pub fn has_column(expr: &Expr) -> bool {
    let mut found = false;
    // The visitor cannot fail.
    let _ = expr.apply(|inner| {
        if matches!(inner, Expr::Column(_)) {
            found = true;
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found
}
