//! Binds the statement DELETE.

use super::assignment::extension;
use super::binder::Binder;
use super::expression::{Clause, Env};
use super::system_column::mentions;
use super::update::others;
use super::{BoundKind, Verb};
use catalog::acl::DELETE;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use executor::dml::DeleteNode;
use sql_error::{Result, SqlError};
use syntax::ast;

impl Binder<'_> {
    /// Binds a DELETE to a writing plan. The caller binds its WITH.
    pub fn delete(&self, delete: &ast::Delete) -> Result<BoundKind> {
        let target = self.target(&delete.table.name, Verb::Delete)?;
        let table = target.table.clone();
        self.require_whole(&target, DELETE)?;
        let rows = self.target_rows(&target, delete.alias.as_ref())?;
        let mut exprs = self.old_row(&rows);
        let mut source = rows.source;
        let Some(relation) = source.scope.relations.first().cloned() else {
            return Err(SqlError::internal("a scan without a relation"));
        };
        if !delete.using.is_empty() {
            let others = self.beside_written(&relation, &delete.using, || self.from(&delete.using, None))?;
            source = self.cross(source, others)?;
        }
        let mut plan = source.plan;
        let scope = source.scope;
        if let Some(filter) = &delete.filter {
            let filter = self.predicate(filter, Env::new(&scope, Clause::Where))?;
            plan = LogicalPlanBuilder::from(plan).filter(filter)?.build()?;
        }
        let returning = !delete.returning.is_empty();
        if returning {
            exprs.extend(others(&scope));
            // ctid is computed from the row key.
            let key = relation.key.clone().filter(|_| table.primary_key().is_none());
            let named = delete.returning.iter().any(|item| mentions(item, "ctid"));
            exprs.extend(key.filter(|_| named).map(Expr::Column));
        }
        let input = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        let node = DeleteNode::new(table.clone(), input, self.rules(&table)?, returning)?;
        let (plan, columns) = self.returning(extension(node), &delete.returning, &scope)?;
        Ok(BoundKind::Dml { plan, columns, verb: Verb::Delete, table: Some(table) })
    }
}
