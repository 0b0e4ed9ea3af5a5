//! Rejects clauses that the binder does not implement, or that may not stand where they do.

use sql_error::{Result, SqlError};
use syntax::{Span, ast};

/// Checks a query's clauses around its body. Errors: 0A000.
pub fn check_query(query: &ast::Query) -> Result<()> {
    match &query.as_of {
        Some(_) => Err(SqlError::unsupported("AS OF SYSTEM TIME")),
        None => Ok(()),
    }
}

/// Checks a SELECT's clauses. A statement that is SELECT INTO has become another by now. Errors: 42601, and its
/// position.
pub fn check_select(select: &ast::Select) -> std::result::Result<(), (SqlError, Span)> {
    match &select.into {
        Some(into) => Err((SqlError::syntax(syntax::INTO_NOT_HERE), into.name.span)),
        None => Ok(()),
    }
}

/// Checks PostgreSQL's limit on the length of a list. Errors: 54011.
pub fn at_most(entries: usize, what: &str) -> Result<()> {
    const MOST: usize = 1664;
    if entries <= MOST {
        return Ok(());
    }
    Err(SqlError::new("54011", format!("{what} can have at most {MOST} entries")))
}
