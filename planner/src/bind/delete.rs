//! DELETE.

use super::assignment::extension;
use super::binder::Binder;
use super::clauses::{check_delete, target_table};
use super::expression::{Clause, Env};
use super::update::others;
use super::{BoundKind, KEY_COLUMN, Verb};
use crate::catalog::acl::DELETE;
use crate::error::{Result, SqlError};
use crate::execution::dml::DeleteNode;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use sqlparser::ast::{self, FromTable};

impl Binder<'_> {
    /// DELETE.
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
        let table = self.writable(name, "DELETE")?;
        self.require(&table, DELETE)?;
        self.writing.set(true);
        let scanned = self.scan(&table, alias, None);
        self.writing.set(false);
        let mut source = scanned?;
        let Some(target) = source.scope.relations.first().cloned() else {
            return Err(SqlError::internal("a scan without a relation"));
        };
        if let Some(using) = delete.using.as_deref().filter(|using| !using.is_empty()) {
            let others = self.from(using, None)?;
            source = self.cross(source, others)?;
        }
        let mut plan = source.plan;
        let scope = source.scope;
        if let Some(selection) = &delete.selection {
            let filter = self.predicate(selection, Env::new(&scope, Clause::Where))?;
            self.check_read(&filter)?;
            plan = LogicalPlanBuilder::from(plan).filter(filter)?.build()?;
        }
        let Some(key) = target.key.clone() else {
            return Err(SqlError::internal(format!("table \"{}\" has no row key", table.name)));
        };
        let mut exprs = vec![Expr::Column(key).alias(format!("{KEY_COLUMN}{}", self.unique("")))];
        exprs.extend(target.columns.iter().map(|column| column.expr.clone()));
        if delete.returning.is_some() {
            exprs.extend(others(&scope));
        }
        let input = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
        let node = DeleteNode::new(table.clone(), input, self.rules(&table)?, delete.returning.is_some())?;
        let (plan, columns) = self.returning(extension(node), delete.returning.as_deref(), &scope)?;
        Ok(BoundKind::Dml { plan, columns, verb: Verb::Delete, table: Some(table) })
    }
}
