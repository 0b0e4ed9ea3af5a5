//! Row locks: FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE, FOR KEY SHARE.

use super::assignment::extension;
use super::binder::{Binder, column};
use super::pushed_lock::HiddenKey;
use super::query::BoundQuery;
use super::scope::{Scope, ScopeRelation};
use catalog::acl::UPDATE;
use catalog::{RelationKind, TableDescriptor};
use datafusion::common::TableReference;
use datafusion::logical_expr::Expr;
use executor::dml::{LockRowsNode, LockedTable, RowWait};
use sql_error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::tokenizer::Span;
use std::sync::Arc;
use syntax::{LockStrength, strength_words};

/// A table whose returned rows are to be locked.
pub struct PendingLock {
    table: Arc<TableDescriptor>,
    /// The name under which it is scanned.
    name: TableReference,
    column: String,
    strength: LockStrength,
    wait: RowWait,
}

impl Binder<'_> {
    /// Rejects row locks; `what` says why they are not allowed. Errors: 0A000.
    pub fn refuse_locks(&self, locks: &[ast::LockClause], what: &str) -> Result<()> {
        let Some(lock) = locks.first().and_then(|clause| self.extras.lock(clause)) else { return Ok(()) };
        let message = format!("{} {what}", strength_words(lock.strength));
        Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message))
    }

    /// Records the tables to lock. Answers the row keys that the select list must include.
    pub fn lock_columns(&self, scope: &Scope<'_>, locks: &[ast::LockClause]) -> Result<Vec<Expr>> {
        let mut exprs = Vec::new();
        let mut pending: Vec<PendingLock> = Vec::new();
        for clause in locks {
            let lock = self.extras.lock(clause);
            let lock = lock.ok_or_else(|| SqlError::internal("row locks without their strength"))?;
            let words = strength_words(lock.strength);
            let wait = match clause.nonblock {
                None => RowWait::Block,
                Some(ast::NonBlock::Nowait) => RowWait::Error,
                Some(ast::NonBlock::SkipLocked) => RowWait::Skip,
            };
            let mut relations: Vec<&ScopeRelation> = Vec::new();
            for name in &lock.of {
                let found = scope.relation(None, name).ok_or_else(|| {
                    let message = format!("relation \"{name}\" in {words} clause not found in FROM clause");
                    let error = SqlError::new(state::UNDEFINED_TABLE, message);
                    let says = |token: &str| token.trim_matches('"').eq_ignore_ascii_case(name);
                    self.source.error_at_token(error, (None, None), true, says, Span::empty())
                })?;
                if let Some(what) = found.unlockable {
                    let message = format!("{words} cannot be applied to {what}");
                    let error = SqlError::new(state::FEATURE_NOT_SUPPORTED, message);
                    let says = |token: &str| token.trim_matches('"').eq_ignore_ascii_case(name);
                    return Err(self.source.error_at_token(error, (None, None), true, says, Span::empty()));
                }
                relations.push(found);
            }
            if lock.of.is_empty() {
                relations.extend(scope.relations.iter());
            }
            let mut keys: Vec<HiddenKey> = Vec::new();
            for relation in relations {
                keys.extend(relation.keys.iter().cloned());
                let Some(table) = &relation.table else { continue };
                if let Some(key) = &relation.key
                    && let Some(name) = key.relation.clone().filter(|_| table.kind == RelationKind::Table)
                {
                    // On the optional side of an outer join, the row key may be NULL.
                    let schema = scope.schema.as_ref();
                    if schema
                        .and_then(|schema| schema.qualified_field_from_column(key).ok())
                        .is_some_and(|(_, key)| key.is_nullable())
                    {
                        let message = format!("{words} cannot be applied to the nullable side of an outer join");
                        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
                    }
                    keys.push(HiddenKey { table: table.clone(), name, expr: Expr::Column(key.clone()) });
                } else if table.kind != RelationKind::View {
                    continue;
                }
                self.require_columns(table, UPDATE, [])?;
            }
            for HiddenKey { table, name, expr } in keys {
                // Of several clauses for a table, the strongest lock and the shortest wait apply.
                if let Some(other) = pending.iter_mut().find(|other| other.name == name) {
                    other.strength = other.strength.max(lock.strength);
                    other.wait = other.wait.max(wait);
                    continue;
                }
                let column = self.unique("l");
                exprs.push(expr.alias(&column));
                let strength = lock.strength;
                pending.push(PendingLock { table, name, column, strength, wait });
            }
        }
        self.locks.borrow_mut().extend(pending);
        Ok(exprs)
    }

    /// Locks the rows of a query within `skip` and `fetch` (OFFSET and LIMIT).
    pub fn apply_locks(
        &self,
        bound: BoundQuery,
        locks: Vec<PendingLock>,
        skip: Option<Expr>,
        fetch: Option<Expr>,
    ) -> Result<BoundQuery> {
        let mut tables = Vec::with_capacity(locks.len());
        let columns = bound.plan.schema().columns();
        for lock in locks {
            let is_key =
                |candidate: &datafusion::common::Column| Expr::Column(candidate.clone()) == column(&lock.column);
            let key_column = columns.iter().position(is_key);
            let Some(key_column) = key_column else {
                return Err(SqlError::unsupported("FOR UPDATE with this query"));
            };
            let PendingLock { table, name, strength, wait, .. } = lock;
            tables.push(LockedTable { table, name, key_column, strength, wait });
        }
        let plan = extension(LockRowsNode { tables, input: bound.plan, skip, fetch });
        Ok(BoundQuery { plan, columns: bound.columns })
    }
}
