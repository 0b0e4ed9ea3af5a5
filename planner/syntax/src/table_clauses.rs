//! Clauses of CREATE TABLE, CREATE TABLE AS and CREATE INDEX that sqlparser reads elsewhere or not at all: TEMPORARY,
//! UNLOGGED, ON COMMIT, TABLESPACE, USING heap, COMPRESSION, WITH (…). Also UNLOGGED of CREATE SEQUENCE. They are
//! recorded in [`Extras`]. Parameters of a constraint's index, also in ALTER TABLE, become a comment after the
//! constraint. Knows no tables.

use super::cursor::{Cursor, is_word};
use super::source::Source;
use super::statement::{Extras, OnCommitClause};
use super::table_statement::Parameters;
use super::tokens::word;
use sql_error::{Result, SqlError, state};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;

/// Removes the clauses from the tokens of a statement. `None` if there are none. Errors: 0A000 for another tablespace
/// or table access method, 42704 for an unknown one, 42P16.
pub fn take(source: &Arc<Source>, tokens: &[TokenWithSpan], extras: &mut Extras) -> Result<Option<Vec<TokenWithSpan>>> {
    let mut cursor = Cursor::new(source, tokens);
    if cursor.words(&["alter", "table"]) {
        return of_alter(cursor);
    }
    if !cursor.word("create") {
        return Ok(None);
    }
    let start = cursor.mark();
    if !cursor.word("local") {
        cursor.word("global");
    }
    let temporary = cursor.word("temp") || cursor.word("temporary");
    let unlogged = !temporary && cursor.word("unlogged");
    let from = cursor.mark();
    if unlogged && cursor.at_word("sequence") {
        extras.clauses.unlogged = true;
        let kept = tokens.iter().take(start).chain(cursor.rest()).cloned();
        return Ok(Some(kept.collect()));
    }
    let index = !temporary && !unlogged && (cursor.word("index") || cursor.words(&["unique", "index"]));
    if !index && !cursor.word("table") {
        return Ok(None);
    }
    if !index {
        what_it_holds(Cursor::new(source, tokens.get(cursor.mark()..).unwrap_or_default()))?;
    }
    extras.clauses.temporary = temporary;
    extras.clauses.unlogged = unlogged;
    let mut kept: Vec<TokenWithSpan> = tokens.get(..start).unwrap_or_default().to_vec();
    let rest = tokens.get(from..).unwrap_or_default();
    strip(source, rest, index, extras, &mut kept)?;
    if kept.len() == tokens.len() { Ok(None) } else { Ok(Some(kept)) }
}

/// Errors: 42601 for a CREATE TABLE with neither columns nor a source of them.
fn what_it_holds(mut cursor: Cursor<'_>) -> Result<()> {
    const BEHIND_NAME: [&str; 8] = ["as", "of", "on", "partition", "tablespace", "using", "with", "without"];
    cursor.words(&["if", "not", "exists"]);
    if cursor.object_name().is_err() {
        return Ok(());
    }
    let says = cursor.peek().is_some_and(|token| token.token == Token::LParen);
    if says || BEHIND_NAME.iter().any(|word| cursor.at_word(word)) { Ok(()) } else { Err(cursor.error()) }
}

/// Copies tokens without the clauses.
fn strip(
    source: &Arc<Source>,
    tokens: &[TokenWithSpan],
    index: bool,
    extras: &mut Extras,
    kept: &mut Vec<TokenWithSpan>,
) -> Result<()> {
    let mut cursor = Cursor::new(source, tokens);
    let (mut depth, mut in_element) = (0_usize, 0_usize);
    while let Some(token) = cursor.peek() {
        if depth == 0 && (is_word(token, "as") || index && is_word(token, "where")) {
            // A query or a condition follows.
            kept.extend_from_slice(cursor.take_rest());
            return Ok(());
        }
        if depth == 0 && !kept.is_empty() && clause(&mut cursor, index, extras)? {
            continue;
        }
        if depth == 0 && index && cursor.words(&["on", "only"]) {
            kept.push(token.clone());
            continue;
        }
        if depth == 1 && !index {
            if of_constraint(&mut cursor, kept)? {
                in_element += 1;
                continue;
            }
            // An element that begins with these words belongs to the table, and sqlparser reads it.
            let of_table =
                kept.get(kept.len().saturating_sub(in_element)).is_some_and(|first| is_word(first, "constraint"));
            if in_element >= 2 && !of_table && cursor.words(&["unique", "nulls", "not", "distinct"]) {
                // The column at the beginning of the element.
                if let Some(Token::Word(word)) = kept.get(kept.len() - in_element).map(|token| &token.token) {
                    let name = super::names::fold_text(&word.value, word.quote_style.is_some());
                    extras.clauses.nulls_not_distinct.push(name);
                }
                kept.push(token.clone());
                in_element += 1;
                continue;
            }
            let begins = kept.get(kept.len().saturating_sub(in_element));
            // In a table without rows every constraint is valid.
            let of_check = begins.is_some_and(|first| {
                is_word(first, "check") || is_word(first, "constraint") || is_word(first, "foreign")
            });
            let after = kept.last().is_some_and(|last| !is_word(last, "constraint"));
            if in_element >= 2 && of_check && after && cursor.words(&["not", "valid"]) {
                continue;
            }
            if in_element >= 2 && !of_table && cursor.words(&["unique", "nulls", "distinct"]) {
                kept.push(token.clone());
                in_element += 1;
                continue;
            }
            if in_element >= 2 && is_word(token, "compression") {
                let mark = cursor.mark();
                cursor.next();
                match cursor.name().as_deref() {
                    Ok("pglz" | "default") => {
                        extras.clauses.compression = true;
                        continue;
                    }
                    Ok("lz4") => return Err(SqlError::unsupported("COMPRESSION lz4")),
                    Ok(other) => {
                        let message = format!("invalid compression method \"{other}\"");
                        return Err(SqlError::new(state::INVALID_PARAMETER_VALUE, message));
                    }
                    Err(_) => cursor.back_to(mark),
                }
            }
        }
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        in_element = match token.token {
            Token::Comma | Token::LParen if depth == 1 => 0,
            _ => in_element + 1,
        };
        kept.push(token.clone());
        cursor.next();
    }
    Ok(())
}

/// Prefix of the comments that hold an index's parameters.
const MARKER: &str = "\u{1}with";
/// Separates the parameters, and a parameter from its value.
const BETWEEN: char = '\u{2}';
const VALUE: char = '\u{3}';

/// Rewrites the index clauses of constraints in ALTER TABLE. `None` if there are none.
fn of_alter(mut cursor: Cursor<'_>) -> Result<Option<Vec<TokenWithSpan>>> {
    cursor.words(&["if", "exists"]);
    cursor.word("only");
    let named = cursor.object_name().is_ok();
    let (mut kept, mut depth) = (cursor.before().to_vec(), 0_usize);
    // Children are included by default.
    let mut changed = named && cursor.sign(&Token::Mul);
    while let Some(token) = cursor.peek() {
        if depth == 0 && of_constraint(&mut cursor, &mut kept)? {
            changed = true;
            continue;
        }
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        kept.push(token.clone());
        cursor.next();
    }
    Ok(changed.then_some(kept))
}

/// Parses a clause of a constraint's index: USING INDEX TABLESPACE, or WITH (…) after the
/// constraint's columns or words.
fn of_constraint(cursor: &mut Cursor<'_>, kept: &mut Vec<TokenWithSpan>) -> Result<bool> {
    if cursor.words(&["using", "index", "tablespace"]) {
        tablespace(cursor)?;
        return Ok(true);
    }
    let Some(with) = cursor.peek().filter(|token| is_word(token, "with")).cloned() else { return Ok(false) };
    let behind = kept
        .last()
        .is_some_and(|last| last.token == Token::RParen || ["unique", "key"].iter().any(|word| is_word(last, word)));
    if !behind || cursor.rest().get(1).is_none_or(|next| next.token != Token::LParen) {
        return Ok(false);
    }
    cursor.next();
    let parameters = super::view::options(cursor)?.into_iter().map(|(name, value)| match value {
        Some(value) => format!("{BETWEEN}{name}{VALUE}{value}"),
        None => format!("{BETWEEN}{name}"),
    });
    let text = std::iter::once(MARKER.to_string()).chain(parameters).collect();
    kept.push(word(Keyword::COMMENT, "COMMENT", &with));
    kept.push(TokenWithSpan { token: Token::SingleQuotedString(text), span: with.span });
    Ok(true)
}

/// The index parameters in a comment. `None` for a comment that the user wrote.
pub fn index_parameters(comment: &str) -> Option<Parameters> {
    let parameters = comment.strip_prefix(MARKER)?.split(BETWEEN).skip(1);
    let parameter = |text: &str| match text.split_once(VALUE) {
        Some((name, value)) => (name.to_string(), Some(value.to_string())),
        None => (text.to_string(), None),
    };
    Some(parameters.map(parameter).collect())
}

fn clause(cursor: &mut Cursor<'_>, index: bool, extras: &mut Extras) -> Result<bool> {
    if cursor.word("tablespace") {
        tablespace(cursor)?;
        return Ok(true);
    }
    if index {
        return Ok(false);
    }
    if cursor.words(&["on", "commit"]) {
        let what = if cursor.words(&["preserve", "rows"]) {
            OnCommitClause::PreserveRows
        } else if cursor.words(&["delete", "rows"]) {
            OnCommitClause::DeleteRows
        } else if cursor.word("drop") {
            OnCommitClause::Drop
        } else {
            return Err(cursor.error());
        };
        extras.clauses.on_commit = Some(what);
        return Ok(true);
    }
    if cursor.words(&["without", "oids"]) {
        return Ok(true);
    }
    if cursor.at_word("with") && cursor.rest().get(1).is_some_and(|next| next.token == Token::LParen) {
        cursor.next();
        extras.clauses.parameters = super::view::options(cursor)?;
        return Ok(true);
    }
    let mark = cursor.mark();
    if cursor.word("using") {
        match cursor.name()?.as_str() {
            "heap" => return Ok(true),
            "btree" | "hash" | "gist" | "gin" | "brin" | "spgist" => cursor.back_to(mark),
            other => {
                let message = format!("access method \"{other}\" does not exist");
                return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
            }
        }
    }
    Ok(false)
}

/// Checks the name of a tablespace: only the default one exists.
pub(super) fn tablespace(cursor: &mut Cursor<'_>) -> Result<()> {
    match cursor.name()?.as_str() {
        "pg_default" => Ok(()),
        "pg_global" => Err(SqlError::new(
            state::INVALID_PARAMETER_VALUE,
            "only shared relations can be placed in pg_global tablespace",
        )),
        other => Err(SqlError::new(state::UNDEFINED_OBJECT, format!("tablespace \"{other}\" does not exist"))),
    }
}
