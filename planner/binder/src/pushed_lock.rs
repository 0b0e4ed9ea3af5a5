//! FOR UPDATE on subqueries in FROM and on views: it locks rows of the tables within them. While such a query is bound,
//! its rows carry the row keys of its tables in additional columns. So the rows that finally remain are locked.

use super::binder::{Binder, column};
use super::current_of::key_type;
use super::scope::{Scope, ScopeColumn};
use catalog::acl::UPDATE;
use catalog::{RelationKind, TableDescriptor};
use datafusion::common::TableReference;
use datafusion::logical_expr::Expr;
use sql_error::{Result, SqlError, state};
use std::collections::HashMap;
use std::sync::Arc;
use syntax::ast::{self, LockStrength};
use syntax::strength_words;

/// The row key of a table within a subquery or view.
#[derive(Clone, Debug)]
pub struct HiddenKey {
    /// The table whose rows are locked.
    pub table: Arc<TableDescriptor>,
    /// The name under which it is scanned.
    pub name: TableReference,
    /// The expression of the row key.
    pub expr: Expr,
}

/// A locking clause of the current SELECT.
#[derive(Clone)]
struct Clause {
    of: Vec<String>,
    strength: LockStrength,
}

/// The relation that a name in OF means, which is not qualified.
fn named(name: &ast::Name) -> String {
    name.parts.last().map(|ident| ident.value.clone()).unwrap_or_default()
}

/// The locking clauses while queries are bound.
#[derive(Default)]
pub struct Pushes {
    /// Clauses of the SELECT whose FROM is being bound.
    clauses: Vec<Clause>,
    /// Clauses that apply to the query that is bound next.
    next: Vec<LockStrength>,
    /// The tables whose row keys are carried, by column name.
    hidden: HashMap<String, (Arc<TableDescriptor>, TableReference)>,
}

impl Binder<'_> {
    /// Starts a SELECT's FROM clause with the SELECT's own locking clauses and those pushed into it. Answers the
    /// previous state.
    pub fn begin_pushing(&self, locks: &[ast::LockClause], pushed: &[LockStrength]) -> Pushes {
        let own = locks.iter().map(|lock| Clause { of: lock.of.iter().map(named).collect(), strength: lock.strength });
        let pushed = pushed.iter().map(|strength| Clause { of: Vec::new(), strength: *strength });
        let clauses = own.chain(pushed).collect();
        let mut pushes = self.pushes.borrow_mut();
        let around = std::mem::replace(&mut pushes.clauses, clauses);
        Pushes { clauses: around, ..Pushes::default() }
    }
    /// Ends a FROM clause and restores the state `around`.
    pub fn end_pushing(&self, around: Pushes) {
        self.pushes.borrow_mut().clauses = around.clauses;
    }
    /// Announces that the query bound next is the relation with this name.
    pub fn push_into(&self, relation: &str) {
        let mut pushes = self.pushes.borrow_mut();
        let applies = |clause: &&Clause| clause.of.is_empty() || clause.of.iter().any(|name| name == relation);
        pushes.next = pushes.clauses.iter().filter(applies).map(|clause| clause.strength).collect();
    }
    /// Takes the clauses that apply to the query whose binding starts.
    pub fn take_pushed(&self) -> Vec<LockStrength> {
        std::mem::take(&mut self.pushes.borrow_mut().next)
    }
    /// Passes pushed clauses, or carried keys, to the binder of a view's query.
    pub fn share_pushes_with(&self, other: &Binder<'_>) {
        let mut pushes = self.pushes.borrow_mut();
        let mut others = other.pushes.borrow_mut();
        pushes.next.append(&mut others.next);
        pushes.hidden.extend(others.hidden.drain());
    }
    /// Rejects pushed clauses; `what` says why they are not allowed. Errors: 0A000.
    pub fn refuse_pushed(&self, pushed: &[LockStrength], what: &str) -> Result<()> {
        let Some(strength) = pushed.first() else { return Ok(()) };
        Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, format!("{} {what}", strength_words(*strength))))
    }

    /// The columns that carry the row keys of a FROM clause's tables: the select list's expressions and their scope
    /// columns.
    pub fn hidden_columns(&self, scope: &Scope<'_>) -> Result<Vec<(Expr, ScopeColumn)>> {
        let mut found = Vec::new();
        for relation in &scope.relations {
            let mut keys = relation.keys.clone();
            if let (Some(table), Some(key)) = (&relation.table, &relation.key)
                && let Some(name) = key.relation.clone().filter(|_| table.kind == RelationKind::Table)
            {
                self.require_columns(table, UPDATE, [])?;
                keys.push(HiddenKey { table: table.clone(), name, expr: Expr::Column(key.clone()) });
            }
            for HiddenKey { table, name, expr } in keys {
                let unique = self.unique("l");
                self.pushes.borrow_mut().hidden.insert(unique.clone(), (table, name));
                let carried = ScopeColumn {
                    name: unique.clone(),
                    expr: column(&unique),
                    ty: key_type(),
                    table_oid: 0,
                    attnum: 0,
                    reading: None,
                };
                found.push((expr.alias(unique), carried));
            }
        }
        Ok(found)
    }

    /// Removes the columns that carry row keys from a query's columns and returns the keys.
    pub fn strip_hidden(&self, columns: &mut Vec<ScopeColumn>) -> Vec<HiddenKey> {
        let pushes = self.pushes.borrow();
        let mut keys = Vec::new();
        columns.retain(|column| match pushes.hidden.get(&column.name) {
            Some((table, name)) => {
                keys.push(HiddenKey { table: table.clone(), name: name.clone(), expr: column.expr.clone() });
                false
            }
            None => true,
        });
        keys
    }
}
