//! Binds the statement UPDATE.

use super::assignment::extension;
use super::binder::Binder;
use super::expression::{Clause, Env};
use super::scope::Scope;
use super::system_column::mentions;
use super::{BoundKind, Verb};
use catalog::acl::UPDATE;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use executor::dml::UpdateNode;
use sql_error::{Result, SqlError};
use syntax::ast;

impl Binder<'_> {
    /// Binds an UPDATE to a writing plan. The caller binds its WITH.
    pub fn update(&self, update: &ast::Update) -> Result<BoundKind> {
        let target = self.target(&update.table.name, Verb::Update)?;
        let table = target.table.clone();
        let rows = self.target_rows(&target, update.alias.as_ref())?;
        let mut exprs = self.old_row(&rows);
        let mut source = rows.source;
        let Some(relation) = source.scope.relations.first().cloned() else {
            return Err(SqlError::internal("a scan without a relation"));
        };
        if !update.from.is_empty() {
            let others = self.beside_written(&relation, &update.from, || self.from(&update.from, None))?;
            source = self.cross(source, others)?;
        }
        let mut plan = source.plan;
        let scope = source.scope;
        if let Some(filter) = &update.filter {
            let filter = self.predicate(filter, Env::new(&scope, Clause::Where))?;
            plan = LogicalPlanBuilder::from(plan).filter(filter)?.build()?;
        }
        let set = self.assignments(&target, &update.assignments, Env::new(&scope, Clause::Update))?;
        let ids: Vec<_> = set.iter().map(|(id, _)| *id).collect();
        self.require_written(&target, UPDATE, &ids)?;
        let mut assigned = Vec::new();
        for (column, value) in set {
            assigned.push(column);
            exprs.push(value.alias(self.unique("n")));
        }
        let returning = !update.returning.is_empty();
        if returning {
            exprs.extend(others(&scope));
            // ctid is computed from the row key.
            let key = relation.key.clone().filter(|_| table.primary_key().is_none());
            let named = update.returning.iter().any(|item| mentions(item, "ctid"));
            exprs.extend(key.filter(|_| named).map(Expr::Column));
        }
        let input = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        let rules = self.target_rules(&target)?;
        let node = UpdateNode::new(table.clone(), input, assigned, rules, returning)?;
        let (plan, columns) = self.returning(extension(node), &update.returning, &scope)?;
        Ok(BoundKind::Dml { plan, columns, verb: Verb::Update, table: Some(table) })
    }
}

/// The columns of all relations but the first, which RETURNING may use besides the written row.
pub fn others(scope: &Scope<'_>) -> Vec<Expr> {
    let mut exprs: Vec<Expr> = Vec::new();
    for column in scope.relations.iter().skip(1).flat_map(|relation| &relation.columns) {
        if matches!(column.expr, Expr::Column(_)) && !exprs.contains(&column.expr) {
            exprs.push(column.expr.clone());
        }
    }
    exprs
}
