//! CREATE TABLE AS and SELECT INTO. Knows no tables.

use super::cursor::{Cursor, is_word};
use super::parse_one;
use super::statement::{CreateTableAs, Statement, StatementKind, TableClauses};
use sql_error::{Result, SqlError};
use sqlparser::ast::{self, Expr, Ident, ObjectName, SetExpr, Spanned};
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

/// CREATE TABLE AS. `None`, with nothing read, for another CREATE.
pub fn create(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    if !cursor.words(&["create", "table"]) {
        return Ok(None);
    }
    let if_not_exists = cursor.words(&["if", "not", "exists"]);
    let Ok(name) = cursor.object_name() else {
        cursor.back_to(mark);
        return Ok(None);
    };
    let mut columns = Vec::new();
    if cursor.peek().is_some_and(|token| token.token == Token::LParen) {
        match names(cursor.bracketed()?) {
            Some(names) => columns = names,
            None => {
                cursor.back_to(mark);
                return Ok(None);
            }
        }
    }
    if !cursor.word("as") {
        cursor.back_to(mark);
        return Ok(None);
    }
    let tokens = cursor.take_rest();
    let (tokens, with_data) = data(tokens);
    let first = tokens.first().ok_or_else(|| cursor.error())?;
    let query = parse_one(cursor.source, tokens)?;
    if let Some(target) = select_into_target(&query) {
        return Err(cursor.source.error(SqlError::syntax(INTO_NOT_HERE), target));
    }
    let fits = match &query.kind {
        StatementKind::Sql(tree) => matches!(tree.as_ref(), ast::Statement::Query(_)),
        kind => matches!(kind, StatementKind::Execute { .. }),
    };
    if !fits {
        return Err(cursor.source.syntax_error_at(first));
    }
    let into = false;
    let create =
        CreateTableAs { name, if_not_exists, columns, query, with_data, into, clauses: TableClauses::default() };
    Ok(Some(StatementKind::CreateTableAs(Box::new(create))))
}

/// Names separated by commas. `None` for anything else.
fn names(tokens: &[TokenWithSpan]) -> Option<Vec<String>> {
    tokens
        .split(|token| token.token == Token::Comma)
        .map(|item| match item {
            [TokenWithSpan { token: Token::Word(word), .. }] => {
                Some(super::names::fold_text(&word.value, word.quote_style.is_some()))
            }
            _ => None,
        })
        .collect()
}

/// Removes `WITH [NO] DATA` from the end.
fn data(tokens: &[TokenWithSpan]) -> (&[TokenWithSpan], bool) {
    match tokens {
        [query @ .., with, no, data] if is_word(with, "with") && is_word(no, "no") && is_word(data, "data") => {
            (query, false)
        }
        [query @ .., with, data] if is_word(with, "with") && is_word(data, "data") => (query, true),
        query => (query, true),
    }
}

/// The error for SELECT … INTO within another statement.
pub const INTO_NOT_HERE: &str = "SELECT ... INTO is not allowed here";

/// Whether a statement is SELECT … INTO.
pub fn is_select_into(statement: &Statement) -> bool {
    matches!(&statement.kind, StatementKind::CreateTableAs(create) if create.into)
}

/// The position of the target of a SELECT … INTO.
pub fn select_into_target(statement: &Statement) -> Option<Span> {
    match &statement.kind {
        StatementKind::CreateTableAs(create) if create.into => Some(create.name.span()),
        _ => None,
    }
}

/// Turns SELECT … INTO into a CREATE TABLE AS.
pub fn select_into(mut statement: Statement) -> Result<Statement> {
    let StatementKind::Sql(tree) = &mut statement.kind else { return Ok(statement) };
    let ast::Statement::Query(query) = tree.as_mut() else { return Ok(statement) };
    let Some(into) = first_select(&mut query.body).and_then(|select| select.into.take()) else {
        return Ok(statement);
    };
    let clauses = TableClauses { temporary: into.temporary, unlogged: into.unlogged, ..TableClauses::default() };
    let parts: Vec<Ident> = match into.targets.as_slice() {
        [Expr::Identifier(name)] => vec![name.clone()],
        [Expr::CompoundIdentifier(parts)] => parts.clone(),
        _ => return Err(SqlError::syntax("syntax error in SELECT INTO")),
    };
    let (text, source) = (statement.text.clone(), statement.source.clone());
    let create = CreateTableAs {
        name: ObjectName::from(parts),
        if_not_exists: false,
        columns: Vec::new(),
        query: statement,
        with_data: true,
        into: true,
        clauses,
    };
    let kind = StatementKind::CreateTableAs(Box::new(create));
    Ok(Statement { kind, text, source, extras: super::Extras::default(), alone: true })
}

/// The first SELECT, which INTO belongs to.
fn first_select(body: &mut SetExpr) -> Option<&mut ast::Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}
