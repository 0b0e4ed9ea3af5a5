//! Reserved words used as names, which PostgreSQL's grammar refuses and sqlparser partly accepts. Must not know whether
//! the named objects exist.

use super::names::{fold_text, is_reserved, is_reserved_for_roles};
use super::source::Source;
use super::tokens::{closing, follows, sign_at, word_at};
use sql_error::Result;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Words between CREATE and the kind of an object.
const PROPERTIES: [&str; 9] =
    ["or", "replace", "global", "local", "temp", "temporary", "unlogged", "recursive", "unique"];
/// Kinds of objects with plain names.
const KINDS: [&str; 10] = ["table", "view", "sequence", "schema", "index", "type", "database", "role", "user", "group"];
/// Words that need another treatment: those that name a session's roles, with their own error in CREATE ROLE, and those
/// that may replace a name.
const OTHERWISE: [&str; 6] = ["current_user", "session_user", "current_role", "authorization", "on", "all"];

/// Refuses reserved words used as names. Errors: 42601.
pub fn check(source: &Source, tokens: &[TokenWithSpan]) -> Result<()> {
    let named = first_name(tokens);
    let of_role = word_at(tokens, 1, &["role", "user", "group"]);
    let reserved = if of_role { is_reserved_for_roles } else { is_reserved };
    for at in 0..tokens.len() {
        let name = if Some(at) == named {
            !word_at(tokens, at, &OTHERWISE) || word_at(tokens, at, &["all"]) && word_at(tokens, 0, &["create"])
        } else if word_at(tokens, at.wrapping_sub(1), &["over"]) {
            at.checked_sub(2).is_some_and(|before| sign_at(tokens, before, &Token::RParen))
        } else if word_at(tokens, at.wrapping_sub(1), &["window"]) {
            follows(tokens, at + 1, &["as"]) && sign_at(tokens, at + 2, &Token::LParen)
        } else if word_at(tokens, at.wrapping_sub(1), &["from", "join"]) {
            array_in_from(tokens, at)
        } else {
            false
        };
        if name
            && let Some(token) = tokens.get(at)
            && let Token::Word(word) = &token.token
            && word.quote_style.is_none()
            && reserved(&fold_text(&word.value, false))
        {
            return Err(source.syntax_error_at(token));
        }
        if follows(tokens, at, &["overriding"]) && word_at(tokens, at + 2, &["value"]) {
            behind_overriding(source, tokens, at + 3)?;
        }
        if follows(tokens, at, &["interval"])
            && matches!(tokens.get(at + 1).map(|token| &token.token), Some(Token::SingleQuotedString(_)))
            && sign_at(tokens, at + 2, &Token::LParen)
            && let Some(bracket) = tokens.get(at + 2)
        {
            // The precision precedes the string.
            return Err(source.syntax_error_at(bracket));
        }
    }
    Ok(())
}

/// The position of the name of the object that a statement creates, changes, drops or writes.
fn first_name(tokens: &[TokenWithSpan]) -> Option<usize> {
    let mut at = 1;
    if word_at(tokens, 0, &["create", "drop", "alter"]) {
        while word_at(tokens, at, &PROPERTIES) {
            at += 1;
        }
        if word_at(tokens, 0, &["alter"]) && word_at(tokens, at, &["role", "user", "group", "database"]) {
            return None;
        }
        if !word_at(tokens, at, &KINDS) {
            return None;
        }
        at += 1;
    } else if follows(tokens, 0, &["insert", "into"]) || follows(tokens, 0, &["delete", "from"]) {
        at = 2;
    } else if word_at(tokens, 0, &["truncate"]) {
        at += usize::from(word_at(tokens, at, &["table"]));
    } else if !word_at(tokens, 0, &["update", "copy"]) {
        return None;
    }
    for words in [&["concurrently"][..], &["if", "not", "exists"], &["if", "exists"], &["only"]] {
        if follows(tokens, at, words) {
            at += words.len();
        }
    }
    Some(at)
}

/// Whether ARRAY stands in FROM like a relation. The other words that are values are functions there.
fn array_in_from(tokens: &[TokenWithSpan], at: usize) -> bool {
    let distinct = at.checked_sub(2).is_some_and(|before| word_at(tokens, before, &["distinct"]));
    let behind = tokens.get(at + 1).map(|token| &token.token);
    !distinct && word_at(tokens, at, &["array"]) && matches!(behind, None | Some(Token::Word(_) | Token::Comma))
}

/// Refuses a list of columns after OVERRIDING … VALUE. A query follows there, possibly in parentheses.
fn behind_overriding(source: &Source, tokens: &[TokenWithSpan], at: usize) -> Result<()> {
    let first = (at..).find(|place| !sign_at(tokens, *place, &Token::LParen)).unwrap_or(at);
    if first == at || closing(tokens, at).is_none() || word_at(tokens, first, &["select", "values", "with", "table"]) {
        return Ok(());
    }
    match tokens.get(first) {
        Some(token) => Err(source.syntax_error_at(token)),
        None => Ok(()),
    }
}
