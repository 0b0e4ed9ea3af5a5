//! CREATE VIEW and ALTER VIEW. Knows no views.

use super::cursor::{Cursor, is_word};
use super::statement::{CreateView, StatementKind};
use super::table_statement::Parameters;
use super::tokens::bare_word;
use super::{parse_one, with_parser};
use crate::names::quote;
use sql_error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// CREATE VIEW. `None`, with nothing read, for another CREATE.
pub fn create(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    let mark = cursor.mark();
    if !cursor.word("create") {
        return Ok(None);
    }
    let or_replace = cursor.words(&["or", "replace"]);
    let temporary = cursor.word("temp") || cursor.word("temporary");
    let recursive = cursor.word("recursive");
    if !cursor.word("view") {
        cursor.back_to(mark);
        return Ok(None);
    }
    let name = cursor.object_name()?;
    let columns = cursor.names_in_brackets()?;
    if recursive && columns.is_empty() {
        return Err(cursor.error());
    }
    let mut options = if cursor.word("with") { options(cursor)? } else { Vec::new() };
    cursor.expect_word("as")?;
    let mut tokens = cursor.take_rest();
    if let Some((query, check)) = check_option(tokens) {
        if recursive {
            return Err(SqlError::new(
                state::FEATURE_NOT_SUPPORTED,
                "WITH CHECK OPTION not supported on recursive views",
            ));
        }
        options.push(("check_option".to_string(), Some(check.to_string())));
        tokens = query;
    }
    if tokens.is_empty() {
        return Err(cursor.error());
    }
    let mut query = parse_one(cursor.source, tokens)?;
    if super::table_as::is_select_into(&query) {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "views must not contain SELECT INTO"));
    }
    if !matches!(&query.kind, StatementKind::Sql(tree) if matches!(tree.as_ref(), ast::Statement::Query(_))) {
        return Err(cursor.source.syntax_error_at(tokens.first().unwrap_or(&TokenWithSpan::new_eof())));
    }
    if recursive {
        let name = crate::fold_name(&name)?.1;
        let list = columns.iter().map(|column| quote(column)).collect::<Vec<_>>().join(", ");
        let text = format!("WITH RECURSIVE {0} ({list}) AS ({1}) SELECT {list} FROM {0}", quote(&name), query.text);
        query = super::parse(&text)?.into_iter().next().ok_or_else(|| cursor.error())?;
    }
    Ok(Some(StatementKind::CreateView(Box::new(CreateView {
        or_replace,
        name,
        columns,
        query,
        temporary,
        options,
        recursive,
    }))))
}

/// The tokens before a final WITH [LOCAL | CASCADED] CHECK OPTION, and which of the two it is.
fn check_option(tokens: &[TokenWithSpan]) -> Option<(&[TokenWithSpan], &'static str)> {
    let [rest @ .., check, option] = tokens else { return None };
    if !is_word(check, "check") || !is_word(option, "option") {
        return None;
    }
    let (before, which) = match rest {
        [before @ .., last] if is_word(last, "local") => (before, "local"),
        [before @ .., last] if is_word(last, "cascaded") => (before, "cascaded"),
        rest => (rest, "cascaded"),
    };
    match before {
        [query @ .., with] if is_word(with, "with") => Some((query, which)),
        _ => None,
    }
}

/// `(name [= value], …)`. A name may be qualified by another.
pub(super) fn options(cursor: &mut Cursor<'_>) -> Result<Parameters> {
    let mut options = Vec::new();
    cursor.expect_sign(&Token::LParen)?;
    loop {
        let mut name = cursor.name()?;
        if cursor.sign(&Token::Period) {
            name = format!("{name}.{}", cursor.name()?);
        }
        let value = if cursor.sign(&Token::Eq) { Some(value(cursor)?) } else { None };
        options.push((name, value));
        if cursor.sign(&Token::RParen) {
            return Ok(options);
        }
        cursor.expect_sign(&Token::Comma)?;
    }
}

/// The value of a parameter in its stored form: a string, a number as written, or a word.
fn value(cursor: &mut Cursor<'_>) -> Result<String> {
    if let Some(text) = cursor.string() {
        return Ok(text);
    }
    let sign = if cursor.sign(&Token::Minus) { "-" } else { "" };
    if sign.is_empty() {
        cursor.sign(&Token::Plus);
    }
    match cursor.peek().map(|token| &token.token) {
        Some(Token::Number(digits, _)) => {
            cursor.next();
            Ok(format!("{sign}{digits}"))
        }
        _ if sign.is_empty() => cursor.name(),
        _ => Err(cursor.error()),
    }
}

/// ALTER VIEW, read as ALTER TABLE. `None`, with nothing read, for another ALTER.
pub fn alter(cursor: &mut Cursor<'_>) -> Result<Option<StatementKind>> {
    if !cursor.words(&["alter", "view"]) {
        return Ok(None);
    }
    let mut tokens = vec![bare_word(Keyword::ALTER, "ALTER"), bare_word(Keyword::TABLE, "TABLE")];
    tokens.extend(cursor.take_rest().iter().cloned());
    let tree = with_parser(cursor.source, &tokens, |parser| parser.parse_statement())?;
    Ok(Some(StatementKind::AlterView(Box::new(tree))))
}
