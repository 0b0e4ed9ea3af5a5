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
use std::sync::Arc;
use syntax::{LockStrength, ast, strength_words};

/// A table whose returned rows are to be locked.
pub struct PendingLock {
    table: Arc<TableDescriptor>,
    /// The name under which it is scanned.
    name: TableReference,
    column: String,
    strength: LockStrength,
    wait: RowWait,
}

/// The strength of the locks that a clause takes.
fn taken(strength: ast::LockStrength) -> LockStrength {
    match strength {
        ast::LockStrength::KeyShare => LockStrength::KeyShare,
        ast::LockStrength::Share => LockStrength::Share,
        ast::LockStrength::NoKeyUpdate => LockStrength::NoKeyUpdate,
        ast::LockStrength::Update => LockStrength::Update,
    }
}

impl Binder<'_> {
    /// Rejects row locks; `what` says why they are not allowed. Errors: 0A000.
    pub fn refuse_locks(&self, locks: &[ast::LockClause], what: &str) -> Result<()> {
        let Some(lock) = locks.first() else { return Ok(()) };
        let message = format!("{} {what}", strength_words(lock.strength));
        Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message))
    }

    /// Records the tables to lock, and that the statement locks rows. Answers the row keys that the select list must
    /// include. Errors: 42P01, 0A000, 42501.
    pub fn lock_columns(&self, scope: &Scope<'_>, locks: &[ast::LockClause]) -> Result<Vec<Expr>> {
        if !locks.is_empty() {
            self.views_lock.set(true);
        }
        let mut exprs = Vec::new();
        let mut pending: Vec<PendingLock> = Vec::new();
        for lock in locks {
            let words = strength_words(lock.strength);
            let wait = match lock.wait {
                ast::LockWait::Wait => RowWait::Block,
                ast::LockWait::NoWait => RowWait::Error,
                ast::LockWait::SkipLocked => RowWait::Skip,
            };
            let mut relations: Vec<&ScopeRelation> = Vec::new();
            for name in &lock.of {
                // The name is not qualified.
                let Some(ident) = name.parts.last() else { continue };
                let found = scope.relation(None, &ident.value).ok_or_else(|| {
                    let message = format!("relation \"{}\" in {words} clause not found in FROM clause", ident.value);
                    self.at(SqlError::new(state::UNDEFINED_TABLE, message), name.span)
                })?;
                if let Some(what) = found.unlockable {
                    let message = format!("{words} cannot be applied to {what}");
                    return Err(self.at(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), name.span));
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
                    other.strength = other.strength.max(taken(lock.strength));
                    other.wait = other.wait.max(wait);
                    continue;
                }
                let column = self.unique("l");
                exprs.push(expr.alias(&column));
                let strength = taken(lock.strength);
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
