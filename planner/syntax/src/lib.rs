//! Parses SQL text to [`Statement`]s. These hold the grammar's syntax tree, or our own kinds with defaults filled in and
//! options checked. Knows no names, no types and no session.

pub mod auto_parameterize;
mod complexity;
pub mod copy;
mod drop_absent;
pub mod lexical;
mod lower;
pub mod names;
pub mod options;
mod plain_call;
pub mod precision;
mod query_statement;
mod role_statement;
pub mod source;
pub mod statement;

pub use drop_absent::{AbsentObject, DropAbsent};
pub use grammar::token::{Token, TokenKind};
pub use grammar::tree as ast;
pub use grammar::{Span, deeper, visit};
pub use lower::{INTO_NOT_HERE, StrengthWords, strength_words};
pub use names::{fold_name, is_system_column, own_database, role_name};
pub use options::Parameters;
pub use plain_call::plain_call;
pub use precision::Reduced;
pub use role_statement::*;
pub use source::Source;
pub use statement::*;
pub use txn::LockStrength;

use grammar::Parser;
use sql_error::{Result, interrupt};
use std::sync::Arc;

/// The greatest number of tokens in a statement.
const MOST_TOKENS: usize = 2_000_000;

/// Parses a client's text: statements separated by semicolons. Empty ones are omitted. Errors: 42601 and others of the
/// grammar, 0A000 for what PostgreSQL knows and PercoSQL lacks, 54000 for too long a statement.
pub fn parse(sql: &str) -> Result<Vec<Statement>> {
    let mut source = Source::new(sql);
    let mut parser = Parser::new(sql).map_err(|error| source.refused(error))?;
    source.note(&parser);
    let source = Arc::new(source);
    let mut trees = Vec::new();
    loop {
        while parser.sign(';') {}
        if parser.at_end() {
            break;
        }
        interrupt::check()?;
        let start = parser.mark();
        let tree = parser.statement().map_err(|error| source.refused(error))?;
        if !parser.at_end() && !parser.is_sign(';') {
            return Err(source.refused(parser.error()));
        }
        if parser.mark() - start > MOST_TOKENS {
            return Err(source::too_large(format!("a statement may have at most {MOST_TOKENS} words and signs")));
        }
        trees.push((tree, parser.span_since(start)));
    }
    drop(parser);
    // PostgreSQL, too, parses the whole text before it looks at the first statement.
    let alone = trees.len() == 1;
    let mut statements = Vec::with_capacity(trees.len());
    for (tree, span) in trees {
        complexity::check(&source, &tree)?;
        let mut statement = lower::statement(&source, tree, span)?;
        statement.alone = alone;
        statements.push(statement);
    }
    Ok(statements)
}

/// Parses a single expression, such as the text of a DEFAULT.
pub fn parse_expression(sql: &str) -> Result<(ast::Expr, Arc<Source>)> {
    let (expr, source) = whole(sql, |parser| parser.expr())?;
    complexity::check(&source, &expr)?;
    lower::check_expression(&source, &expr)?;
    Ok((expr, Arc::new(source)))
}

/// Parses a single data type, such as the argument of `to_regtype`.
pub fn parse_type(sql: &str) -> Result<ast::TypeName> {
    Ok(whole(sql, |parser| parser.type_name())?.0)
}

/// Parses a text that is one part of a statement.
fn whole<T>(sql: &str, part: impl FnOnce(&mut Parser<'_>) -> grammar::Result<T>) -> Result<(T, Source)> {
    let mut source = Source::new(sql);
    let mut parser = Parser::new(sql).map_err(|error| source.refused(error))?;
    source.note(&parser);
    let read = part(&mut parser).map_err(|error| source.refused(error))?;
    match parser.at_end() {
        true => Ok((read, source)),
        false => Err(source.refused(parser.error())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
