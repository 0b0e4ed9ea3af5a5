//! `ON DELETE SET NULL (a, b)` of FOREIGN KEYs, which sqlparser cannot represent. The columns move to the place of an
//! index name. In a column's definition they move before the name of the referenced table. Knows no tables.

use super::source::Source;
use super::tokens::{closing, end_of, follows, sign_at, word_at};
use sql_error::{Result, SqlError, state};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// Prefix of an index name in a FOREIGN KEY that lists the columns of ON DELETE SET NULL or SET DEFAULT. The columns
/// follow, with [`SET_COLUMNS_BETWEEN`] between them.
pub const SET_COLUMNS: &str = "\u{1}set ";
/// Separates the columns after [`SET_COLUMNS`].
pub const SET_COLUMNS_BETWEEN: char = '\u{2}';

/// Rewrites the tokens at `at` of a CREATE TABLE or ALTER TABLE. Errors: 0A000 for columns of ON UPDATE.
pub fn rewrite(source: &Source, tokens: &mut Vec<TokenWithSpan>, at: usize) -> Result<()> {
    if follows(tokens, at, &["foreign", "key"]) {
        let end = end_of(tokens, at + 2, |_, token| token.token == Token::Comma).unwrap_or(tokens.len());
        if let Some(name) = take_columns(source, tokens, at, end)? {
            tokens.insert(at + 2, name);
        }
    } else if follows(tokens, at, &["references"]) && word_at(tokens, 0, &["create", "alter"]) {
        let end = end_of(tokens, at, |_, token| token.token == Token::Comma).unwrap_or(tokens.len());
        if let Some(name) = take_columns(source, tokens, at, end)? {
            let period = TokenWithSpan { token: Token::Period, span: name.span };
            tokens.splice(at + 1..at + 1, [name, period]);
        }
    }
    Ok(())
}

/// Removes the columns from a constraint. Returns the index name that stands for them.
fn take_columns(
    source: &Source,
    tokens: &mut Vec<TokenWithSpan>,
    at: usize,
    end: usize,
) -> Result<Option<TokenWithSpan>> {
    for event in ["delete", "update"] {
        for value in ["null", "default"] {
            let found = (at..end).find(|place| {
                follows(tokens, *place, &["on", event, "set", value]) && sign_at(tokens, *place + 4, &Token::LParen)
            });
            let Some(on) = found else { continue };
            let Some(span) = tokens.get(on).map(|token| token.span) else { continue };
            if event == "update" {
                let message =
                    format!("a column list with SET {} is only supported for ON DELETE actions", value.to_uppercase());
                return Err(source.error(SqlError::new(state::FEATURE_NOT_SUPPORTED, message), span));
            }
            let Some(close) = closing(tokens, on + 4) else { return Ok(None) };
            let names: Vec<String> = tokens
                .drain(on + 4..=close)
                .filter_map(|token| match token.token {
                    Token::Word(word) => Some(super::names::fold_text(&word.value, word.quote_style.is_some())),
                    _ => None,
                })
                .collect();
            let value = format!("{SET_COLUMNS}{}", names.join(&SET_COLUMNS_BETWEEN.to_string()));
            let name = Word { value, quote_style: Some('"'), keyword: Keyword::NoKeyword };
            return Ok(Some(TokenWithSpan { token: Token::Word(name), span }));
        }
    }
    Ok(None)
}
