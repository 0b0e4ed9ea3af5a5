//! Rewrites queries of shapes that sqlparser does not read into shapes that it reads. Must not know what they mean.

use super::cursor::is_word;
use super::tokens::{closing, end_of, follows, sign_at, word, word_at};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Rewrites a whole statement.
pub fn statement(tokens: &mut Vec<TokenWithSpan>) {
    if let Some(insert) = insert_at(tokens) {
        bracketed_source(tokens, insert);
        bare_select(tokens, insert);
    }
    if word_at(tokens, 0, &["merge"]) {
        joined_source(tokens);
    }
}

/// Rewrites the tokens at `at` of a statement.
pub fn at(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    values_in_brackets(tokens, at);
    fetched_expression(tokens, at);
}

/// The position of INSERT INTO, also after a WITH clause.
fn insert_at(tokens: &[TokenWithSpan]) -> Option<usize> {
    if word_at(tokens, 0, &["insert"]) {
        return Some(0);
    }
    let with = word_at(tokens, 0, &["with"]);
    with.then(|| end_of(tokens, 0, |at, _| follows(tokens, at, &["insert", "into"]))).flatten()
}

/// Removes the parentheses of `INSERT INTO t (VALUES …)` and `INSERT INTO t (WITH …)`.
fn bracketed_source(tokens: &mut Vec<TokenWithSpan>, insert: usize) {
    let Some(open) = end_of(tokens, insert, |_, token| token.token == Token::LParen) else { return };
    if !word_at(tokens, open + 1, &["values", "with"]) {
        return;
    }
    let Some(close) = closing(tokens, open) else { return };
    let ends = tokens.get(close + 1).is_none_or(|token| token.token == Token::SemiColon);
    if ends || word_at(tokens, close + 1, &["on", "returning"]) {
        tokens.remove(close);
        tokens.remove(open);
    }
}

/// `INSERT … SELECT 1 ON CONFLICT` becomes `INSERT … SELECT 1 WHERE true ON CONFLICT`: sqlparser takes ON
/// for a column's label.
fn bare_select(tokens: &mut Vec<TokenWithSpan>, insert: usize) {
    let Some(conflict) = end_of(tokens, insert, |at, _| follows(tokens, at, &["on", "conflict"])) else { return };
    let Some(mut select) = end_of(tokens, insert, |_, token| is_word(token, "select")) else { return };
    // The last operand of a set operation.
    while let Some(next) = end_of(tokens, select + 1, |at, token| at < conflict && is_word(token, "select")) {
        select = next;
    }
    let clauses = ["from", "where", "group", "having", "order", "limit", "offset", "fetch", "window", "for"];
    let clause = end_of(tokens, select, |at, _| at >= conflict || word_at(tokens, at, &clauses));
    if select < conflict
        && clause == Some(conflict)
        && let Some(like) = tokens.get(conflict).cloned()
    {
        tokens.insert(conflict, word(Keyword::TRUE, "true", &like));
        tokens.insert(conflict, word(Keyword::WHERE, "where", &like));
    }
}

/// Puts the source of `MERGE INTO t USING a JOIN b ON … ON …` in parentheses.
fn joined_source(tokens: &mut Vec<TokenWithSpan>) {
    let Some(using) = end_of(tokens, 0, |_, token| is_word(token, "using")) else { return };
    let Some(when) = end_of(tokens, using, |_, token| is_word(token, "when")) else { return };
    let join = end_of(tokens, using + 1, |at, token| at >= when || is_word(token, "join"));
    if join.is_none_or(|join| join >= when) {
        return;
    }
    // The last ON belongs to MERGE.
    let mut on = using;
    while let Some(next) = end_of(tokens, on + 1, |at, token| at >= when || is_word(token, "on"))
        && next < when
    {
        on = next;
    }
    let (Some(first), Some(last)) = (tokens.get(using + 1).cloned(), tokens.get(on).cloned()) else { return };
    if on > using + 1 {
        tokens.insert(on, TokenWithSpan { token: Token::RParen, span: last.span });
        tokens.insert(using + 1, TokenWithSpan { token: Token::LParen, span: first.span });
    }
}

/// `(VALUES … LIMIT 1)` in an expression, and any VALUES after ANY, ALL and SOME, becomes `(SELECT * FROM
/// (VALUES …) AS "*VALUES*")`.
fn values_in_brackets(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    if !sign_at(tokens, at, &Token::LParen) || !word_at(tokens, at + 1, &["values"]) || at == 0 {
        return;
    }
    let Some(close) = closing(tokens, at) else { return };
    let before = at - 1;
    let compared = word_at(tokens, before, &["any", "all", "some"]);
    let clauses = ["order", "limit", "offset", "fetch"];
    let clause = end_of(tokens, at + 1, |place, _| place >= close || word_at(tokens, place, &clauses));
    let is_query = word_at(
        tokens,
        before,
        &["from", "join", "in", "as", "using", "lateral", "materialized", "union", "except", "intersect"],
    );
    let in_select =
        compared || clause.is_some_and(|clause| clause < close) && !is_query && sits_in_expression(tokens, at);
    let Some(like) = tokens.get(at).cloned() else { return };
    if !in_select {
        return;
    }
    let sign = |token| TokenWithSpan { token, span: like.span };
    let name = Token::make_word("*VALUES*", Some('"'));
    tokens.splice(close..close, [sign(Token::RParen), word(Keyword::AS, "as", &like), sign(name)]);
    let head = [
        word(Keyword::SELECT, "select", &like),
        sign(Token::Mul),
        word(Keyword::FROM, "from", &like),
        sign(Token::LParen),
    ];
    tokens.splice(at + 1..at + 1, head);
}

/// Whether the token before a parenthesis requires a value: an operator, a comma of a select list, or SELECT.
fn sits_in_expression(tokens: &[TokenWithSpan], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| tokens.get(before)) else { return false };
    match &before.token {
        Token::Word(_) => ["select", "and", "or", "not", "when", "then", "else", "where", "on"]
            .iter()
            .any(|known| is_word(before, known)),
        Token::Eq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq => true,
        Token::Plus | Token::Minus | Token::Mul | Token::Div | Token::StringConcat => true,
        _ => false,
    }
}

/// `FETCH FIRST (1 + 1) ROWS ONLY` becomes `LIMIT (1 + 1)`: in FETCH sqlparser reads only plain numbers.
fn fetched_expression(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    if !word_at(tokens, at, &["fetch"]) || !word_at(tokens, at + 1, &["first", "next"]) {
        return;
    }
    let count = at + 2;
    let end = match tokens.get(count).map(|token| &token.token) {
        Some(Token::LParen) => closing(tokens, count).map(|close| close + 1),
        Some(Token::Plus | Token::Minus) => Some(count + 2),
        _ => None,
    };
    let Some(end) = end else { return };
    if !word_at(tokens, end, &["row", "rows"]) || !word_at(tokens, end + 1, &["only"]) {
        return;
    }
    tokens.drain(end..end + 2);
    let Some(like) = tokens.get(at).cloned() else { return };
    tokens.splice(at..count, [word(Keyword::LIMIT, "limit", &like)]);
}
