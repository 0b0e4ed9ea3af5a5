//! Inspects and makes tokens of a statement, for the rewrites before sqlparser. Knows no clause.

use super::cursor::is_word;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// An unquoted word at the position of another token.
pub fn word(keyword: Keyword, text: &str, like: &TokenWithSpan) -> TokenWithSpan {
    let word = Word { value: text.into(), quote_style: None, keyword };
    TokenWithSpan { token: Token::Word(word), span: like.span }
}

/// An unquoted word without a position.
pub fn bare_word(keyword: Keyword, text: &str) -> TokenWithSpan {
    TokenWithSpan::wrap(Token::Word(Word { value: text.into(), quote_style: None, keyword }))
}

/// Whether one of these words stands at `at`.
pub fn word_at(tokens: &[TokenWithSpan], at: usize, words: &[&str]) -> bool {
    tokens.get(at).is_some_and(|token| words.iter().any(|word| is_word(token, word)))
}

/// Whether this sign stands at `at`.
pub fn sign_at(tokens: &[TokenWithSpan], at: usize, sign: &Token) -> bool {
    tokens.get(at).is_some_and(|token| token.token == *sign)
}

/// Splits the tokens at commas outside parentheses.
pub fn between_commas(tokens: &[TokenWithSpan]) -> Vec<&[TokenWithSpan]> {
    let mut depth = 0_usize;
    tokens
        .split(|token| {
            match token.token {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && token.token == Token::Comma
        })
        .collect()
}

/// Whether these words stand at `at`, in order.
pub fn follows(tokens: &[TokenWithSpan], at: usize, words: &[&str]) -> bool {
    // This is called many times for each token, and most tokens fail the first comparison.
    let is_first = |word: &&str| tokens.get(at).is_some_and(|token| is_word(token, word));
    words.first().is_none_or(is_first)
        && tokens
            .get(at..at + words.len())
            .is_some_and(|slice| slice.iter().zip(words).skip(1).all(|(token, word)| is_word(token, word)))
}

/// The first position from `start` on at which `stops` holds, outside parentheses opened since. A parenthesis that
/// closes an outer one also ends the search.
pub fn end_of(tokens: &[TokenWithSpan], start: usize, stops: impl Fn(usize, &TokenWithSpan) -> bool) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.token {
            Token::RParen | Token::RBracket if depth == 0 => return Some(at),
            _ if depth == 0 && stops(at, token) => return Some(at),
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The parenthesis that closes the one at `open`.
pub fn closing(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    let opened = sign_at(tokens, open, &Token::LParen) || sign_at(tokens, open, &Token::LBracket);
    end_of(tokens, open + 1, |_, _| false).filter(|_| opened)
}

/// The innermost parenthesis that is open at `at`.
pub fn opening(tokens: &[TokenWithSpan], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    (0..at).rev().find(|place| match tokens.get(*place).map(|token| &token.token) {
        Some(Token::RParen) => {
            depth += 1;
            false
        }
        Some(Token::LParen) if depth == 0 => true,
        Some(Token::LParen) => {
            depth -= 1;
            false
        }
        _ => false,
    })
}
