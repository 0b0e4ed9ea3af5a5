//! Cursors and prepared statements.

use super::table_as::{INTO_NOT_HERE, into_of};
use super::{inner, query};
use crate::source::Source;
use crate::statement::{DeclareCursor, FetchDirection, StatementKind};
use grammar::tree::{self as ast, FetchDirection as D};
use sql_error::{Result, SqlError};
use std::sync::Arc;

/// 42P14: this statement cannot be prepared.
const INVALID_PREPARED_STATEMENT: &str = "42P14";

/// PREPARE. Errors: 42P14 for SELECT INTO.
pub(super) fn prepare(source: &Arc<Source>, prepare: ast::Prepare) -> Result<StatementKind> {
    if into_of(&prepare.statement).is_some() {
        return Err(SqlError::new(INVALID_PREPARED_STATEMENT, "utility statements cannot be prepared"));
    }
    let statement = Box::new(inner(source, *prepare.statement)?);
    Ok(StatementKind::Prepare { name: prepare.name.value, types: prepare.types, statement })
}

/// EXECUTE.
pub(super) fn execute(source: &Source, execute: ast::Execute) -> Result<StatementKind> {
    query::check_parts(source, &execute)?;
    Ok(StatementKind::Execute { name: execute.name.value, parameters: execute.parameters })
}

/// DECLARE. Errors: 42601 for SELECT INTO.
pub(super) fn declare(source: &Arc<Source>, declare: ast::DeclareCursor) -> Result<StatementKind> {
    let query = ast::Statement::Query(declare.query);
    if let Some(into) = into_of(&query) {
        return Err(source.error(SqlError::syntax(INTO_NOT_HERE), into.name.span));
    }
    Ok(StatementKind::DeclareCursor(Box::new(DeclareCursor {
        name: declare.name.value,
        binary: declare.binary,
        scroll: declare.scroll,
        hold: declare.hold,
        insensitive: declare.insensitive == Some(true),
        query: inner(source, query)?,
    })))
}

/// FETCH and MOVE.
pub(super) fn fetch(fetch: ast::Fetch) -> StatementKind {
    let direction = match fetch.direction {
        D::Forward(count) => FetchDirection::Relative(count),
        D::Backward(Some(count)) => FetchDirection::Relative(Some(count.saturating_neg())),
        D::Backward(None) => FetchDirection::BackwardAll,
        D::Relative(distance) => FetchDirection::RelativeRow(distance),
        D::Absolute(number) => FetchDirection::Absolute(number),
    };
    StatementKind::Fetch { cursor: fetch.cursor.value, direction, only_move: fetch.only_move }
}
