//! FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE, FOR KEY SHARE.

use super::assignment::extension;
use super::binder::{Binder, column};
use super::query::BoundQuery;
use super::scope::{Scope, ScopeRelation};
use crate::catalog::acl::UPDATE;
use crate::catalog::{RelationKind, TableDescriptor};
use crate::error::{Result, SqlError, state};
use crate::execution::dml::LockRowsNode;
use crate::parse::{LockStrength, fold_name};
use datafusion::logical_expr::Expr;
use sqlparser::ast;
use std::sync::Arc;

/// A table whose returned rows are to be locked.
pub struct PendingLock {
    table: Arc<TableDescriptor>,
    column: String,
    strength: LockStrength,
}

impl Binder<'_> {
    /// Notes the tables to lock; answers the row keys that the select list must carry.
    pub fn lock_columns(&self, scope: &Scope<'_>, locks: &[ast::LockClause]) -> Result<Vec<Expr>> {
        let first = self.extras.locks.len().checked_sub(locks.len());
        let strengths = first.and_then(|first| self.extras.locks.get(first..)).unwrap_or(&[]);
        if strengths.len() != locks.len() {
            return Err(SqlError::internal("row locks without their strength"));
        }
        let mut exprs = Vec::new();
        for (clause, strength) in locks.iter().zip(strengths) {
            match clause.nonblock {
                None => {}
                Some(ast::NonBlock::Nowait) => return Err(SqlError::unsupported("NOWAIT")),
                Some(ast::NonBlock::SkipLocked) => return Err(SqlError::unsupported("SKIP LOCKED")),
            }
            let relations: Vec<&ScopeRelation> = match &clause.of {
                Some(name) => {
                    let (_, name) = fold_name(name)?;
                    let found = scope.relation(None, &name).ok_or_else(|| {
                        let message = format!("relation \"{name}\" in FOR UPDATE clause not found in FROM clause");
                        SqlError::new(state::UNDEFINED_TABLE, message)
                    })?;
                    if found.table.is_none() {
                        return Err(SqlError::unsupported("FOR UPDATE of a subquery"));
                    }
                    vec![found]
                }
                None => scope.relations.iter().filter(|relation| relation.table.is_some()).collect(),
            };
            let is_view = |relation: &&ScopeRelation| {
                relation.table.as_ref().is_some_and(|table| table.kind == RelationKind::View)
            };
            if relations.iter().any(is_view) {
                return Err(SqlError::unsupported("FOR UPDATE of a view"));
            }
            for relation in relations {
                let (Some(table), Some(key)) = (&relation.table, &relation.key) else { continue };
                if table.kind != RelationKind::Table {
                    continue;
                }
                self.require_columns(table, UPDATE, [])?;
                let name = self.unique("l");
                exprs.push(Expr::Column(key.clone()).alias(&name));
                self.locks.borrow_mut().push(PendingLock { table: table.clone(), column: name, strength: *strength });
            }
        }
        Ok(exprs)
    }

    /// Locks what a query returns, after its LIMIT.
    pub fn apply_locks(&self, bound: BoundQuery) -> Result<BoundQuery> {
        let mut bound = bound;
        for lock in self.locks.take() {
            let key_column = bound
                .plan
                .schema()
                .columns()
                .into_iter()
                .position(|candidate| Expr::Column(candidate) == column(&lock.column));
            let Some(key_column) = key_column else {
                return Err(SqlError::unsupported("FOR UPDATE with this query"));
            };
            let node = LockRowsNode { table: lock.table, input: bound.plan, key_column, strength: lock.strength };
            bound.plan = extension(node);
        }
        Ok(bound)
    }
}
