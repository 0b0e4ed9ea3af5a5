//! Checks of queries and writes that need no catalog: AS OF SYSTEM TIME, the tables of row locks, the keys of ON CONFLICT.

use crate::source::Source;
use grammar::token::TokenKind;
use grammar::tree::{self as ast, Expr, Insert, LockStrength, Query, With};
use grammar::visit::{Visit, Visitor};
use sql_error::{Result, SqlError, state};
use std::ops::ControlFlow;

/// Checks a query or write. Errors: 0A000, 42601, 42P10.
pub(super) fn check(source: &Source, tree: &ast::Statement) -> Result<()> {
    check_conflicts(source, tree)?;
    check_parts(source, tree)
}

/// Checks the queries of a node. Errors: 0A000, 42601.
pub(super) fn check_parts(source: &Source, node: &impl Visit) -> Result<()> {
    match node.visit(&mut Checker { source }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Checks the queries of an expression. Errors: 0A000, 42601.
pub(crate) fn check_expression(source: &Source, expr: &Expr) -> Result<()> {
    check_parts(source, expr)
}

struct Checker<'s> {
    source: &'s Source,
}

impl Visitor for Checker<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<SqlError> {
        if let Some(as_of) = &query.as_of {
            let error = SqlError::unsupported("AS OF SYSTEM TIME");
            return ControlFlow::Break(self.source.error(error, as_of.span));
        }
        for lock in &query.locks {
            if let Some(name) = lock.of.iter().find(|name| name.parts.len() > 1) {
                let words = strength_words(lock.strength);
                let error = SqlError::syntax(format!("{words} must specify unqualified relation names"));
                return ControlFlow::Break(self.source.error(error, name.span));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Checks the keys of ON CONFLICT of a write and of those in its WITH. Errors: 42P10.
fn check_conflicts(source: &Source, tree: &ast::Statement) -> Result<()> {
    use ast::Statement as S;
    let with: &Option<With> = match tree {
        S::Query(query) => &query.with,
        S::Insert(insert) => {
            check_conflict(source, insert)?;
            &insert.with
        }
        S::Update(update) => &update.with,
        S::Delete(delete) => &delete.with,
        S::Merge(merge) => &merge.with,
        _ => return Ok(()),
    };
    let mut inner = with.iter().flat_map(|with| &with.queries);
    // PostgreSQL has writes in the outermost WITH alone.
    inner.try_for_each(|query| match query.statement.as_ref() {
        S::Insert(insert) => check_conflict(source, insert),
        _ => Ok(()),
    })
}

fn check_conflict(source: &Source, insert: &Insert) -> Result<()> {
    let Some(conflict) = &insert.conflict else { return Ok(()) };
    let Some(ast::ConflictTarget::Index { keys, .. }) = &conflict.target else { return Ok(()) };
    for (given, what) in [
        (keys.iter().any(|key| key.descending.is_some()), "ASC/DESC"),
        (keys.iter().any(|key| key.nulls_first.is_some()), "NULLS FIRST/LAST"),
    ] {
        if given {
            let message = format!("{what} is not allowed in ON CONFLICT clause");
            let error = SqlError::new(state::INVALID_COLUMN_REFERENCE, message);
            let tokens = source.tokens().unwrap_or_default();
            let mut behind = tokens.iter().filter(|token| token.span.start >= conflict.span.start);
            let bracket = behind.find(|token| token.kind == TokenKind::Sign('('));
            return Err(source.error(error, bracket.map_or(conflict.span, |token| token.span)));
        }
    }
    Ok(())
}

/// A strength of row locks, of the tree or of transactions.
pub trait StrengthWords {
    /// Its words in a statement.
    fn words(self) -> &'static str;
}

impl StrengthWords for LockStrength {
    fn words(self) -> &'static str {
        match self {
            LockStrength::KeyShare => "FOR KEY SHARE",
            LockStrength::Share => "FOR SHARE",
            LockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
            LockStrength::Update => "FOR UPDATE",
        }
    }
}

impl StrengthWords for txn::LockStrength {
    fn words(self) -> &'static str {
        match self {
            txn::LockStrength::KeyShare => "FOR KEY SHARE",
            txn::LockStrength::Share => "FOR SHARE",
            txn::LockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
            txn::LockStrength::Update => "FOR UPDATE",
        }
    }
}

/// The words of a lock strength.
pub fn strength_words(strength: impl StrengthWords) -> &'static str {
    strength.words()
}
