//! Clauses of CREATE SEQUENCE, ALTER SEQUENCE and identity columns: PostgreSQL takes them in any order, sqlparser in
//! one. Knows no sequences.

use super::cursor::Cursor;
use super::source::Source;
use super::statement::AlterSequence;
use super::tokens::bare_word;
use super::with_parser;
use crate::error::{Result, SqlError, state};
use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;

/// The clauses, in sqlparser's order.
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

/// Reads clauses to the end. Errors: 42601 for what is no clause, or one that comes twice.
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

/// Puts the clauses of CREATE SEQUENCE and of identity columns in sqlparser's order.
pub fn reorder(source: &Arc<Source>, tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    let mut cursor = Cursor::new(source, tokens);
    if cursor.word("create") {
        let _ = cursor.word("temporary") || cursor.word("temp");
        if cursor.word("sequence") {
            cursor.words(&["if", "not", "exists"]);
            cursor.object_name()?;
            let from = cursor.mark();
            let ordered = joined(&clauses(&mut cursor)?);
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
        let mut inner = Cursor::new(source, inside);
        if inner.words(&["sequence", "name"]) {
            return Err(SqlError::unsupported("SEQUENCE NAME of an identity column"));
        }
        let (count, ordered) = (inside.len(), joined(&clauses(&mut inner)?));
        tokens.splice(from..from + count, ordered);
    }
    Ok(())
}

/// Clauses of a sequence, as sqlparser reads them.
pub(super) fn options(source: &Arc<Source>, clauses: &[TokenWithSpan]) -> Result<Vec<ast::SequenceOptions>> {
    let clauses = self::clauses(&mut Cursor::new(source, clauses))?;
    match definition(source, &clauses)? {
        ast::Statement::CreateSequence { sequence_options, .. } => Ok(sequence_options),
        _ => Err(SqlError::internal("a CREATE SEQUENCE of something else")),
    }
}

/// What CREATE SEQUENCE with these clauses says.
fn definition(source: &Arc<Source>, clauses: &[(Clause, &[TokenWithSpan])]) -> Result<ast::Statement> {
    let words = [(Keyword::CREATE, "CREATE"), (Keyword::SEQUENCE, "SEQUENCE"), (Keyword::NoKeyword, "s")];
    let mut tokens = words.map(|(keyword, text)| bare_word(keyword, text)).to_vec();
    tokens.extend(joined(clauses));
    with_parser(source, &tokens, |parser| parser.parse_statement())
}

fn joined(clauses: &[(Clause, &[TokenWithSpan])]) -> Vec<TokenWithSpan> {
    clauses.iter().flat_map(|(_, tokens)| tokens.iter().cloned()).collect()
}

/// ALTER SEQUENCE, after those words. SET SCHEMA is refused.
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
    let mut restart = None;
    if let Some(at) = clauses.iter().position(|(clause, _)| *clause == Clause::Restart) {
        let (_, tokens) = clauses.remove(at);
        let mut value = Cursor::new(cursor.source, tokens);
        value.word("restart");
        value.word("with");
        restart = Some(value.integer());
    }
    let definition = definition(cursor.source, &clauses)?;
    Ok(AlterSequence { name, if_exists, definition, restart, rename, owner })
}
