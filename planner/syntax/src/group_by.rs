//! Rewrites PostgreSQL's GROUP BY into sqlparser's syntax.

use super::cursor::is_word;
use super::tokens;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The item that represents DISTINCT in `GROUP BY DISTINCT …`. It cannot be written as a name without quotes.
pub const GROUP_BY_DISTINCT: &str = "\u{1}distinct";

/// Rewrites the tokens at `at`: the quantifier after GROUP BY, or the elements of GROUPING SETS, ROLLUP and CUBE.
pub fn rewrite(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let word = |offset: usize, text: &str| tokens.get(at + offset).is_some_and(|token| is_word(token, text));
    let open = |offset: usize| tokens.get(at + offset).is_some_and(|token| token.token == Token::LParen);
    if word(0, "group") && word(1, "by") {
        let last = tokens.get(at + 3).is_none();
        if word(2, "all") && !last {
            tokens.remove(at + 2);
        } else if word(2, "distinct")
            && let Some(distinct) = tokens.get_mut(at + 2)
        {
            *distinct = tokens::word(Keyword::NoKeyword, GROUP_BY_DISTINCT, distinct);
            let comma = TokenWithSpan { token: Token::Comma, span: distinct.span };
            tokens.insert(at + 3, comma);
        }
    } else if word(0, "grouping") && word(1, "sets") && open(2) {
        elements(tokens, at + 3, true);
    } else if (word(0, "rollup") || word(0, "cube")) && open(1) {
        elements(tokens, at + 2, false);
    }
}

/// Rewrites a list of elements and the sets within it. `(a + b) / 2` gets parentheses of its own: sqlparser takes the
/// first one for that of the element.
fn elements(tokens: &mut Vec<TokenWithSpan>, first: usize, sets: bool) {
    let mut start = first;
    while let Some(mut end) = tokens::end_of(tokens, start, |_, token| token.token == Token::Comma) {
        let nested = |token: Option<&TokenWithSpan>, text: &str| token.is_some_and(|token| is_word(token, text));
        if sets
            && nested(tokens.get(start), "grouping")
            && nested(tokens.get(start + 1), "sets")
            && tokens.get(start + 2).is_some_and(|token| token.token == Token::LParen)
            && tokens::closing(tokens, start + 2) == end.checked_sub(1)
        {
            tokens.remove(end - 1);
            tokens.drain(start..start + 3);
            continue;
        }
        let bracketed = tokens.get(start).is_some_and(|token| token.token == Token::LParen);
        if bracketed && tokens::closing(tokens, start).is_some_and(|close| close + 1 < end) {
            let mut extra = tokens.get(start).into_iter().chain(tokens.get(end - 1)).cloned().collect::<Vec<_>>();
            if let (Some(mut close), Some(open)) = (extra.pop(), extra.pop()) {
                close.token = Token::RParen;
                tokens.insert(end, close);
                tokens.insert(start, open);
                end += 2;
            }
        }
        if tokens.get(end).is_none_or(|token| token.token != Token::Comma) {
            return;
        }
        start = end + 1;
    }
}
