//! Parses SQL text to [`Statement`]s. These hold sqlparser's syntax tree, or our own kinds where PostgreSQL's grammar
//! differs. Knows no names, no types and no session.

mod alter_setting;
mod alter_table;
pub mod auto_parameterize;
mod bracket_tokens;
mod collate_tokens;
mod comment;
pub mod copy;
mod create_schema;
mod cursor;
mod database;
mod drop_absent;
mod explain;
mod expression_tokens;
mod foreign_key_tokens;
mod from_tokens;
mod grant;
mod group_by;
mod label_tokens;
pub mod lexical;
mod like;
mod limits;
pub mod names;
mod operator_tokens;
mod plain_call;
pub mod precision;
mod query_statement;
mod query_tokens;
mod refused_tokens;
mod reserved_columns;
mod reserved_tokens;
mod role_statement;
mod select_tokens;
mod sequence;
mod settings;
mod shape_tokens;
pub mod source;
pub mod statement;
mod strings;
mod table_as;
mod table_clauses;
mod table_statement;
mod tokens;
mod transaction;
mod unions;
mod utility;
mod vacuum;
mod view;
mod word_tokens;

pub use cursor::is_word;
pub use drop_absent::{AbsentObject, DropAbsent};
pub use expression_tokens::{ELEMENT, EXCLUDE, SYMMETRIC};
pub use foreign_key_tokens::{SET_COLUMNS, SET_COLUMNS_BETWEEN};
pub use from_tokens::{JOIN_ALIAS, ROWS_FROM, VALUE_IN_FROM};
pub use group_by::GROUP_BY_DISTINCT;
pub use names::{fold, fold_name, fold_plain, is_system_column, own_database};
pub use plain_call::plain_call;
pub use query_tokens::{CURRENT_OF, strength_words};
pub use role_statement::*;
pub use statement::*;
pub use table_as::INTO_NOT_HERE;
pub use table_clauses::index_parameters;
pub use table_statement::Parameters;
pub use word_tokens::{ALL_FIELDS, CYCLE, NOTHING, SEARCH, VARIADIC};

use cursor::Cursor;
use source::Source;
use sql_error::interrupt;
use sql_error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;

static DIALECT: PostgreSqlDialect = PostgreSqlDialect {};

/// Parses a client's text: statements separated by semicolons. Empty ones are omitted.
pub fn parse(sql: &str) -> Result<Vec<Statement>> {
    let mut source = Source::new(sql);
    let tokens = source.tokens()?;
    source.note_long_names(&tokens);
    let source = Arc::new(source);
    let mut statements = Vec::new();
    for group in tokens.split(|token| token.token == Token::SemiColon) {
        if !group.is_empty() {
            interrupt::check()?;
            statements.push(parse_one(&source, group)?);
        }
    }
    if statements.len() > 1 {
        statements.iter_mut().for_each(|statement| statement.alone = false);
    }
    Ok(statements)
}

/// Parses a single expression, such as the text of a DEFAULT.
pub fn parse_expression(sql: &str) -> Result<(ast::Expr, Arc<Source>)> {
    let source = Arc::new(Source::new(sql));
    let tokens = source.tokens()?;
    let expr = expression(&source, tokens)?;
    Ok((expr, source))
}

/// Parses the tokens of an expression.
fn expression(source: &Source, mut tokens: Vec<TokenWithSpan>) -> Result<ast::Expr> {
    limits::check(source, &tokens)?;
    let mut at = 0;
    while at < tokens.len() {
        expression_tokens::rewrite(&mut tokens, at);
        operator_tokens::rewrite(&mut tokens, at);
        collate_tokens::rewrite(&mut tokens, at);
        bracket_tokens::rewrite(&mut tokens, at);
        at += 1;
    }
    with_parser(source, &tokens, |parser| parser.parse_expr())
}

/// Parses a single data type, such as the argument of `to_regtype`.
pub fn parse_type(sql: &str) -> Result<ast::DataType> {
    let source = Arc::new(Source::new(sql));
    let tokens = source.tokens()?;
    limits::check(&source, &tokens)?;
    with_parser(&source, &tokens, |parser| parser.parse_data_type())
}

/// Parses the tokens of one statement.
fn parse_one(source: &Arc<Source>, tokens: &[TokenWithSpan]) -> Result<Statement> {
    limits::check(source, tokens)?;
    reserved_tokens::check(source, tokens)?;
    refused_tokens::check(source, tokens)?;
    let mut extras = Extras { reduced: precision::reduced(source, tokens), ..Extras::default() };
    let without = table_clauses::take(source, tokens, &mut extras)?;
    let read = without.as_deref().unwrap_or(tokens);
    let mut cursor = Cursor::new(source, read);
    let kind = match utility::parse(&mut cursor)? {
        Some(StatementKind::CreateTableAs(mut create)) => {
            create.clauses = extras.clauses.clone();
            StatementKind::CreateTableAs(create)
        }
        Some(kind) => kind,
        None => {
            let mut rewritten = read.to_vec();
            query_tokens::conflict_targets(source, &mut rewritten, &mut extras)?;
            query_tokens::rewrite(source, &mut rewritten, &mut extras)?;
            like::take(source, &mut rewritten, &mut extras)?;
            sequence::reorder(source, &mut rewritten, &mut extras.clauses)?;
            let tree = with_parser(source, &rewritten, |parser| parser.parse_statement())?;
            settings::refuse_foreign(&tree)?;
            StatementKind::Sql(Box::new(tree))
        }
    };
    let text = match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => source.slice(first.span.start, last.span.end).to_string(),
        _ => String::new(),
    };
    table_as::select_into(Statement { kind, text: text.into(), source: source.clone(), extras, alone: true })
}

/// Runs sqlparser over tokens, all of which must be consumed. Words errors as PostgreSQL does.
fn with_parser<T: ast::VisitMut>(
    source: &Source,
    tokens: &[TokenWithSpan],
    parse: impl FnOnce(&mut Parser<'_>) -> std::result::Result<T, ParserError>,
) -> Result<T> {
    let mut parser =
        Parser::new(&DIALECT).with_recursion_limit(limits::DEPTH * 4).with_tokens_with_locations(tokens.to_vec());
    match parse(&mut parser) {
        Ok(mut value) => {
            let next = parser.peek_token();
            if next.token != Token::EOF {
                return Err(source.syntax_error_at(&next));
            }
            unions::balance(&mut value, tokens);
            operator_tokens::restore(&mut value, tokens);
            collate_tokens::restore(&mut value, tokens);
            bracket_tokens::restore(&mut value, tokens);
            Ok(value)
        }
        Err(ParserError::RecursionLimitExceeded) => {
            Err(SqlError::new(state::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"))
        }
        Err(ParserError::ParserError(message) | ParserError::TokenizerError(message)) => {
            let fallback = parser.peek_token();
            Err(source.syntax_error_from(&message, tokens, &fallback))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
mod tests;
