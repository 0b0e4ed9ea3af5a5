//! Clauses of CREATE SEQUENCE, ALTER SEQUENCE and identity columns: PostgreSQL accepts any order, sqlparser only
//! one. Knows no sequences.

use super::cursor::{Cursor, is_word};
use super::source::Source;
use super::statement::{AlterSequence, TableClauses};
use super::tokens::{bare_word, follows, word_at};
use super::with_parser;
use sql_error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;

/// The clauses in sqlparser's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Clause {
    Type,
    Increment,
    Minimum,
    Maximum,
    Start,
    Cache,
    Cycle,
    Owner,
    Restart,
}

/// Reads clauses up to the end. Errors: 42601 for anything else, or a repeated clause.
fn clauses<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<(Clause, &'a [TokenWithSpan])>> {
    let mut found: Vec<(Clause, &[TokenWithSpan])> = Vec::new();
    while cursor.peek().is_some() {
        let before = cursor.rest();
        let clause = one(cursor)?;
        let length = before.len() - cursor.rest().len();
        if found.iter().any(|(other, _)| *other == clause) {
            let position = before.first().and_then(|token| cursor.source.start(token.span));
            let error = SqlError::syntax("conflicting or redundant options");
            return Err(match position {
                Some(position) => error.at(position),
                None => error,
            });
        }
        found.push((clause, before.get(..length).unwrap_or(&[])));
    }
    found.sort_by_key(|(clause, _)| *clause);
    Ok(found)
}

fn number(cursor: &mut Cursor<'_>) -> Result<i64> {
    let mark = cursor.mark();
    if let Some(value) = cursor.integer() {
        return Ok(value);
    }
    let sign = if cursor.sign(&Token::Minus) { "-" } else { "" };
    if let Some(Token::Number(digits, _)) = cursor.peek().map(|token| &token.token)
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        let message = format!("value \"{sign}{digits}\" is out of range for type bigint");
        return Err(SqlError::new(state::NUMERIC_VALUE_OUT_OF_RANGE, message));
    }
    cursor.back_to(mark);
    Err(cursor.error())
}

fn one(cursor: &mut Cursor<'_>) -> Result<Clause> {
    let clause = if cursor.word("as") {
        cursor.object_name()?;
        Clause::Type
    } else if cursor.word("increment") {
        cursor.word("by");
        number(cursor)?;
        Clause::Increment
    } else if cursor.word("minvalue") {
        number(cursor)?;
        Clause::Minimum
    } else if cursor.word("maxvalue") {
        number(cursor)?;
        Clause::Maximum
    } else if cursor.words(&["no", "minvalue"]) {
        Clause::Minimum
    } else if cursor.words(&["no", "maxvalue"]) {
        Clause::Maximum
    } else if cursor.word("start") {
        cursor.word("with");
        number(cursor)?;
        Clause::Start
    } else if cursor.word("cache") {
        number(cursor)?;
        Clause::Cache
    } else if cursor.word("cycle") || cursor.words(&["no", "cycle"]) {
        Clause::Cycle
    } else if cursor.words(&["owned", "by"]) {
        cursor.object_name()?;
        Clause::Owner
    } else if cursor.word("restart") {
        if cursor.word("with") {
            number(cursor)?;
        } else {
            cursor.integer();
        }
        Clause::Restart
    } else {
        return Err(cursor.error());
    };
    Ok(clause)
}

/// Removes RESTART from the clauses.
fn take_restart(source: &Arc<Source>, clauses: &mut Vec<(Clause, &[TokenWithSpan])>) -> Option<Option<i64>> {
    let at = clauses.iter().position(|(clause, _)| *clause == Clause::Restart)?;
    let (_, tokens) = clauses.remove(at);
    let mut value = Cursor::new(source, tokens);
    value.word("restart");
    value.word("with");
    Some(value.integer())
}

/// The column whose definition in CREATE TABLE or ALTER TABLE surrounds `at`.
fn column_around(tokens: &[TokenWithSpan], at: usize, alters: bool) -> Option<String> {
    let mut depth = 0_usize;
    let mut first = 0;
    for (place, token) in tokens.iter().enumerate().take(at).rev() {
        match token.token {
            Token::RParen => depth += 1,
            Token::LParen | Token::Comma if depth == 0 => {
                first = place + 1;
                break;
            }
            Token::LParen => depth -= 1,
            _ => {}
        }
    }
    if alters {
        let add = tokens.iter().take(at).skip(first).position(|token| is_word(token, "add"))?;
        first += add + 1;
        first += usize::from(word_at(tokens, first, &["column"]));
        first += if follows(tokens, first, &["if", "not", "exists"]) { 3 } else { 0 };
    }
    match &tokens.get(first)?.token {
        Token::Word(word) => Some(super::names::fold_text(&word.value, word.quote_style.is_some())),
        _ => None,
    }
}

/// Puts the clauses of CREATE SEQUENCE and of identity columns in sqlparser's order. Those that it cannot
/// represent go into `extras`.
pub fn reorder(source: &Arc<Source>, tokens: &mut Vec<TokenWithSpan>, extras: &mut TableClauses) -> Result<()> {
    let mut cursor = Cursor::new(source, tokens);
    let alters = cursor.at_word("alter");
    if cursor.word("create") {
        let _ = cursor.word("temporary") || cursor.word("temp");
        if cursor.word("sequence") {
            cursor.words(&["if", "not", "exists"]);
            cursor.object_name()?;
            let from = cursor.mark();
            let mut clauses = clauses(&mut cursor)?;
            extras.restart = take_restart(source, &mut clauses);
            let ordered = joined(&clauses);
            tokens.splice(from.., ordered);
            return Ok(());
        }
    } else if !cursor.words(&["alter", "table"]) {
        return Ok(());
    }
    let mut at = 0;
    while at < tokens.len() {
        let mut cursor = Cursor::new(source, tokens);
        cursor.back_to(at);
        at += 1;
        if !cursor.words(&["as", "identity"]) || cursor.peek().is_none_or(|token| token.token != Token::LParen) {
            continue;
        }
        let from = cursor.mark() + 1;
        let inside = cursor.bracketed()?;
        let (name, rest) = sequence_name(source, inside)?;
        if let (Some(name), Some(column)) = (name, column_around(tokens, at, alters)) {
            extras.sequence_names.push((column, name));
        }
        let (count, ordered) = (inside.len(), joined(&clauses(&mut Cursor::new(source, &rest))?));
        match (ordered.is_empty(), from.checked_sub(1)) {
            // Empty parentheses are removed.
            (true, Some(open)) => drop(tokens.drain(open..=from + count)),
            _ => drop(tokens.splice(from..from + count, ordered)),
        }
    }
    Ok(())
}

/// `SEQUENCE NAME s …`: the name, and the other clauses.
pub(super) fn sequence_name(
    source: &Arc<Source>,
    inside: &[TokenWithSpan],
) -> Result<(Option<ast::ObjectName>, Vec<TokenWithSpan>)> {
    for at in 0..inside.len() {
        let mut inner = Cursor::new(source, inside);
        inner.back_to(at);
        if inner.words(&["sequence", "name"]) {
            let name = inner.object_name()?;
            let mut rest = inside.get(..at).unwrap_or_default().to_vec();
            rest.extend_from_slice(inner.rest());
            return Ok((Some(name), rest));
        }
    }
    Ok((None, inside.to_vec()))
}

/// Parses the clauses of a sequence with sqlparser.
pub(super) fn options(source: &Arc<Source>, clauses: &[TokenWithSpan]) -> Result<Vec<ast::SequenceOptions>> {
    let clauses = self::clauses(&mut Cursor::new(source, clauses))?;
    match definition(source, &clauses)? {
        ast::Statement::CreateSequence { sequence_options, .. } => Ok(sequence_options),
        _ => Err(SqlError::internal("a CREATE SEQUENCE of something else")),
    }
}

/// The CREATE SEQUENCE statement with these clauses.
fn definition(source: &Arc<Source>, clauses: &[(Clause, &[TokenWithSpan])]) -> Result<ast::Statement> {
    let words = [(Keyword::CREATE, "CREATE"), (Keyword::SEQUENCE, "SEQUENCE"), (Keyword::NoKeyword, "s")];
    let mut tokens = words.map(|(keyword, text)| bare_word(keyword, text)).to_vec();
    tokens.extend(joined(clauses));
    with_parser(source, &tokens, |parser| parser.parse_statement())
}

fn joined(clauses: &[(Clause, &[TokenWithSpan])]) -> Vec<TokenWithSpan> {
    clauses.iter().flat_map(|(_, tokens)| tokens.iter().cloned()).collect()
}

/// ALTER SEQUENCE, after these words. Refuses SET SCHEMA.
pub fn alter(cursor: &mut Cursor<'_>) -> Result<AlterSequence> {
    let if_exists = cursor.words(&["if", "exists"]);
    let name = cursor.object_name()?;
    if cursor.at_word("set") {
        return Err(SqlError::unsupported("ALTER SEQUENCE SET"));
    }
    if cursor.peek().is_none() {
        return Err(cursor.error());
    }
    let rename = if cursor.words(&["rename", "to"]) {
        let mark = cursor.mark();
        cursor.name()?;
        cursor.end()?;
        cursor.back_to(mark);
        Some(cursor.object_name()?)
    } else {
        None
    };
    let owner = if cursor.words(&["owner", "to"]) { Some(cursor.object_name()?) } else { None };
    if (rename.is_some() || owner.is_some()) && cursor.peek().is_some() {
        return Err(cursor.error());
    }
    let mut clauses = clauses(cursor)?;
    let restart = take_restart(cursor.source, &mut clauses);
    let definition = definition(cursor.source, &clauses)?;
    Ok(AlterSequence { name, if_exists, definition, restart, rename, owner })
}
