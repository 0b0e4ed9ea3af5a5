//! LIKE among the columns of CREATE TABLE, which sqlparser accepts only by itself. It is recorded in [`Extras`] with
//! the number of columns before it. Knows no tables.

use super::cursor::{Cursor, is_word};
use super::source::Source;
use super::statement::{Extras, Like};
use super::tokens::between_commas;
use sql_error::Result;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::sync::Arc;

/// Words that begin a constraint instead of a column.
const CONSTRAINTS: [&str; 6] = ["constraint", "primary", "unique", "check", "foreign", "exclude"];

/// Removes every LIKE from the list of columns and records it.
pub fn take(source: &Arc<Source>, tokens: &mut Vec<TokenWithSpan>, extras: &mut Extras) -> Result<()> {
    let (from, inside) = {
        let mut cursor = Cursor::new(source, tokens);
        if !cursor.words(&["create", "table"]) {
            return Ok(());
        }
        cursor.words(&["if", "not", "exists"]);
        if cursor.object_name().is_err() || cursor.peek().is_none_or(|token| token.token != Token::LParen) {
            return Ok(());
        }
        let from = cursor.mark() + 1;
        (from, cursor.bracketed()?.to_vec())
    };
    let mut kept: Vec<&[TokenWithSpan]> = Vec::new();
    let mut columns = 0;
    for element in between_commas(&inside) {
        let begins =
            |words: &[&str]| element.first().is_some_and(|token| words.iter().any(|word| is_word(token, word)));
        if begins(&["like"]) {
            extras.likes.push(like(source, element, columns)?);
        } else {
            columns += usize::from(!begins(&CONSTRAINTS));
            kept.push(element);
        }
    }
    if extras.likes.is_empty() {
        return Ok(());
    }
    let mut joined = Vec::with_capacity(inside.len());
    for (position, element) in kept.into_iter().enumerate() {
        if position > 0 {
            joined.push(TokenWithSpan::wrap(Token::Comma));
        }
        joined.extend_from_slice(element);
    }
    tokens.splice(from..from + inside.len(), joined);
    Ok(())
}

fn like(source: &Arc<Source>, tokens: &[TokenWithSpan], before: usize) -> Result<Like> {
    let mut cursor = Cursor::new(source, tokens);
    cursor.expect_word("like")?;
    let mut like = Like {
        before,
        table: cursor.object_name()?,
        comments: false,
        constraints: false,
        defaults: false,
        identity: false,
        indexes: false,
        generated: false,
        statistics: false,
        storage: false,
    };
    while cursor.peek().is_some() {
        let including = cursor.word("including");
        if !including {
            cursor.expect_word("excluding")?;
        }
        let all = cursor.word("all");
        let mut known = all;
        for (word, option) in [
            ("comments", &mut like.comments),
            ("constraints", &mut like.constraints),
            ("defaults", &mut like.defaults),
            ("identity", &mut like.identity),
            ("indexes", &mut like.indexes),
            ("generated", &mut like.generated),
            ("statistics", &mut like.statistics),
            ("storage", &mut like.storage),
        ] {
            if all || cursor.word(word) {
                *option = including;
                known = true;
            }
        }
        // These properties have nothing to copy.
        known |= !known && cursor.word("compression");
        if !known {
            return Err(cursor.error());
        }
    }
    Ok(like)
}
