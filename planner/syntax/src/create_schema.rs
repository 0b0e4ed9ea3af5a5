//! CREATE SCHEMA with elements. Knows no schemas.

use super::cursor::{Cursor, is_word};
use super::statement::{CreateSchema, StatementKind};
use super::{parse_one, with_parser};
use sql_error::{Result, SqlError};
use sqlparser::ast;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// CREATE SCHEMA with elements. `None`, with nothing read, for one without: sqlparser reads that.
pub fn create(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    if !cursor.words(&["create", "schema"]) {
        return Ok(None);
    }
    cursor.back_to(mark);
    let tokens = cursor.rest();
    let starts = starts_of_elements(tokens);
    let Some(first) = starts.first().copied() else { return Ok(None) };
    let head = tokens.get(..first).unwrap_or_default();
    if head
        .windows(3)
        .any(|words| matches!(words, [a, b, c] if is_word(a, "if") && is_word(b, "not") && is_word(c, "exists")))
    {
        return Err(SqlError::new("0A000", "CREATE SCHEMA IF NOT EXISTS cannot include schema elements"));
    }
    let schema = with_parser(cursor.source, head, |parser| parser.parse_statement())?;
    let ends = starts.iter().skip(1).copied().chain(std::iter::once(tokens.len()));
    let mut elements = Vec::with_capacity(starts.len());
    for (start, end) in starts.iter().zip(ends) {
        let mut element = parse_one(cursor.source, tokens.get(*start..end).unwrap_or_default())?;
        element.alone = false;
        elements.push(element);
    }
    cursor.take_rest();
    // The order in which PostgreSQL creates the elements.
    elements.sort_by_key(|element| match &element.kind {
        StatementKind::Sql(tree) => match tree.as_ref() {
            ast::Statement::CreateSequence { .. } => 0,
            ast::Statement::CreateTable(_) => 1,
            ast::Statement::CreateIndex(_) => 3,
            _ => 4,
        },
        StatementKind::CreateView(_) => 2,
        _ => 4,
    });
    Ok(Some(StatementKind::CreateSchema(Box::new(CreateSchema { schema, elements }))))
}

/// The positions of CREATE and GRANT outside parentheses, after the first words.
fn starts_of_elements(tokens: &[TokenWithSpan]) -> Vec<usize> {
    let mut depth = 0_usize;
    let mut starts = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        if at > 2 && depth == 0 && (is_word(token, "create") || is_word(token, "grant")) {
            starts.push(at);
        }
    }
    starts
}
