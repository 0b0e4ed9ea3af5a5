//! Binds the statement DELETE.

use super::assignment::extension;
use super::binder::Binder;
use super::clauses::{check_delete, target_table};
use super::expression::{Clause, Env};
use super::system_column::mentions;
use super::update::others;
use super::{BoundKind, Verb};
use catalog::acl::DELETE;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use executor::dml::DeleteNode;
use sql_error::{Result, SqlError};
use sqlparser::ast::{self, FromTable};

impl Binder<'_> {
    /// Binds a DELETE to a writing plan.
    pub fn delete(&self, delete: &ast::Delete) -> Result<BoundKind> {
        check_delete(delete)?;
        let FromTable::WithFromKeyword(from) = &delete.from else {
            return Err(SqlError::syntax("DELETE needs FROM"));
        };
        let [ast::TableWithJoins { relation, joins }] = from.as_slice() else {
            return Err(SqlError::syntax("syntax error at or near \",\""));
        };
        let (name, alias) = target_table(relation, "DELETE from")?;
        if !joins.is_empty() {
            return Err(SqlError::syntax("syntax error at or near \"JOIN\""));
        }
        let target = self.target(name, Verb::Delete)?;
        let table = target.table.clone();
        self.require_whole(&target, DELETE)?;
        let rows = self.target_rows(&target, alias)?;
        let mut exprs = self.old_row(&rows);
        let mut source = rows.source;
        let Some(relation) = source.scope.relations.first().cloned() else {
            return Err(SqlError::internal("a scan without a relation"));
        };
        if let Some(using) = delete.using.as_deref().filter(|using| !using.is_empty()) {
            let others = self.beside_written(&relation, using, || self.from(using, None))?;
            source = self.cross(source, others)?;
        }
        let mut plan = source.plan;
        let scope = source.scope;
        if let Some(selection) = &delete.selection {
            let filter = self.predicate(selection, Env::new(&scope, Clause::Where))?;
            plan = LogicalPlanBuilder::from(plan).filter(filter)?.build()?;
        }
        if delete.returning.is_some() {
            exprs.extend(others(&scope));
            // ctid is computed from the row key.
            let items = delete.returning.iter().flatten();
            let key = relation.key.clone().filter(|_| table.primary_key().is_none());
            exprs.extend(key.filter(|_| items.into_iter().any(|item| mentions(item, "ctid"))).map(Expr::Column));
        }
        let input = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        let node = DeleteNode::new(table.clone(), input, self.rules(&table)?, delete.returning.is_some())?;
        let (plan, columns) = self.returning(extension(node), delete.returning.as_deref(), &scope)?;
        Ok(BoundKind::Dml { plan, columns, verb: Verb::Delete, table: Some(table) })
    }
}
