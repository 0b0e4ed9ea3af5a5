//! Clauses of SELECT that PostgreSQL accepts in more orders or shapes than sqlparser: locks before LIMIT, and clauses
//! that may not be empty. Must not know what they mean.

use super::source::Source;
use super::tokens::{closing, end_of, follows, sign_at, word, word_at};
use sql_error::{Result, SqlError};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The first words of LIMIT, OFFSET and FETCH.
const COUNTS: [&str; 3] = ["limit", "offset", "fetch"];

/// `FOR UPDATE … FETCH FIRST ROW ONLY` becomes `FETCH FIRST ROW ONLY FOR UPDATE …`.
pub fn locks_before_counts(tokens: &mut [TokenWithSpan], at: usize) {
    if !LOCKS.iter().any(|words| follows(tokens, at + 1, words)) {
        return;
    }
    let Some(first) = end_of(tokens, at, |place, _| word_at(tokens, place, &COUNTS)) else { return };
    let end = end_of(tokens, first, |_, token| token.token == Token::SemiColon).unwrap_or(tokens.len());
    // Only if none of these clauses precedes the locks: it is an error for them to stand on both sides.
    let counted = (0..at).rev().take_while(|place| !sign_at(tokens, *place, &Token::LParen));
    let counted =
        counted.take_while(|place| !word_at(tokens, *place, &["select"])).any(|place| word_at(tokens, place, &COUNTS));
    if word_at(tokens, first, &COUNTS)
        && !counted
        && let Some(part) = tokens.get_mut(at..end)
    {
        part.rotate_left(first - at);
    }
}

/// `SELECT 1 FOR UPDATE` becomes `SELECT 1 WHERE true FOR UPDATE`, because sqlparser takes FOR for a column's label.
/// Returns whether it changed.
pub fn locks_nothing(tokens: &mut Vec<TokenWithSpan>, at: usize) -> bool {
    if !LOCKS.iter().any(|words| follows(tokens, at + 1, words)) || follows(tokens, 0, &["create"]) {
        return false;
    }
    let mut depth = 0_usize;
    for place in (0..at).rev() {
        match tokens.get(place).map(|token| &token.token) {
            Some(Token::RParen | Token::RBracket) => depth += 1,
            Some(Token::LParen | Token::LBracket) if depth == 0 => return false,
            Some(Token::LParen | Token::LBracket) => depth -= 1,
            Some(Token::Word(_)) if depth == 0 => {
                if word_at(tokens, place, &["select"]) {
                    let Some(like) = tokens.get(at).cloned() else { return false };
                    let condition = [word(Keyword::WHERE, "where", &like), word(Keyword::TRUE, "true", &like)];
                    tokens.splice(at..at, condition);
                    return true;
                }
                if word_at(tokens, place, &CLAUSES) {
                    return false;
                }
            }
            _ => {}
        }
    }
    false
}

/// The words of a row lock, after FOR.
const LOCKS: [&[&str]; 4] = [&["update"], &["share"], &["no", "key", "update"], &["key", "share"]];

/// Words of a SELECT after which FOR is not a label.
const CLAUSES: [&str; 11] =
    ["from", "where", "group", "having", "window", "order", "limit", "offset", "fetch", "values", "for"];

/// `OPERATOR(pg_catalog.-) x` becomes `- x` if no operator binds x more tightly. OPERATOR(…) has a lower
/// precedence than arithmetic signs.
pub fn prefix_operator(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let infix = at.checked_sub(1).filter(|before| sign_at(tokens, *before, &Token::RParen)).is_some_and(|before| {
        let opens = |place: &usize| sign_at(tokens, *place, &Token::LParen);
        // OPERATOR(…) holds a name and a sign, and no parentheses.
        let open = (before.saturating_sub(4)..before).rev().find(opens);
        open.and_then(|open| open.checked_sub(1)).is_some_and(|word| follows(tokens, word, &["operator"]))
    });
    let operand = !infix
        && at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|before| match &before.token {
            Token::Word(word) => {
                word.quote_style.is_some() || !BEFORE_OPERAND.contains(&word.value.to_ascii_lowercase().as_str())
            }
            Token::RParen | Token::RBracket | Token::Number(..) | Token::Placeholder(_) => true,
            Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_) => true,
            _ => false,
        });
    if operand || !sign_at(tokens, at + 1, &Token::LParen) {
        return;
    }
    let mut sign = at + 2;
    if follows(tokens, sign, &["pg_catalog"]) && sign_at(tokens, sign + 1, &Token::Period) {
        sign += 2;
    }
    let Some(close) = closing(tokens, at + 1).filter(|close| *close == sign + 1) else { return };
    let first = close + 1;
    let mut end = match tokens.get(first).map(|token| &token.token) {
        Some(Token::LParen) => closing(tokens, first).map_or(first, |close| close + 1),
        Some(Token::Word(_) | Token::Number(..) | Token::SingleQuotedString(_) | Token::Placeholder(_)) => first + 1,
        _ => return,
    };
    while sign_at(tokens, end, &Token::Period) {
        end += 2;
    }
    let ends = tokens.get(end).is_none_or(|next| {
        matches!(
            next.token,
            Token::RParen | Token::RBracket | Token::Comma | Token::SemiColon | Token::DoubleColon | Token::Word(_)
        ) || matches!(next.token, Token::Eq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq)
    });
    if ends {
        tokens.remove(close);
        tokens.drain(at..sign);
    }
}

/// Words before an operand.
const BEFORE_OPERAND: [&str; 22] = [
    "select",
    "where",
    "and",
    "or",
    "not",
    "on",
    "having",
    "by",
    "when",
    "then",
    "else",
    "case",
    "in",
    "between",
    "like",
    "returning",
    "values",
    "limit",
    "offset",
    "set",
    "distinct",
    "all",
];

/// Refuses empty clauses at `at` of a query or write. Errors: 42601.
pub fn rewrite(source: &Source, tokens: &[TokenWithSpan], at: usize) -> Result<()> {
    let wrong = |place: usize| match tokens.get(place) {
        Some(token) => Err(source.syntax_error_at(token)),
        None => Err(source.syntax_error_behind(tokens.last())),
    };
    if follows(tokens, at, &["select", "distinct"]) {
        if follows(tokens, at + 2, &["on"])
            && sign_at(tokens, at + 3, &Token::LParen)
            && sign_at(tokens, at + 4, &Token::RParen)
        {
            return wrong(at + 4);
        }
        if word_at(tokens, at + 2, &["all"]) {
            return wrong(at + 2);
        }
        let begins_next =
            ["from", "where", "group", "having", "order", "limit", "offset", "fetch", "union", "intersect", "except"];
        if tokens.get(at + 2).is_none()
            || sign_at(tokens, at + 2, &Token::RParen)
            || word_at(tokens, at + 2, &begins_next)
        {
            return wrong(at + 2);
        }
    }
    // Only one of LIMIT and FETCH may be written, and only once.
    let counts = |place| {
        let fetch = word_at(tokens, place, &["fetch"]) && word_at(tokens, place + 1, &["first", "next"]);
        fetch || word_at(tokens, place, &["limit"])
    };
    if counts(at) && at > 0 && !sign_at(tokens, at - 1, &Token::Period) && !word_at(tokens, at - 1, &["as"]) {
        let stops = |place, token: &TokenWithSpan| {
            counts(place)
                || token.token == Token::SemiColon
                || word_at(tokens, place, &["union", "intersect", "except"])
        };
        if let Some(second) = end_of(tokens, at + 1, stops).filter(|place| counts(*place)) {
            return wrong(second);
        }
    }
    if word_at(tokens, at, &["limit"]) && at > 0 && !sign_at(tokens, at - 1, &Token::Period) {
        // Words that may follow a query, in it or in the enclosing statement.
        let follows = ["union", "intersect", "except", "returning", "on", "with"];
        let clauses = |place| word_at(tokens, place, &CLAUSES) || word_at(tokens, place, &follows);
        let ends = end_of(tokens, at + 1, |place, token| {
            matches!(token.token, Token::Comma | Token::SemiColon) || clauses(place)
        });
        if ends.is_some_and(|end| end > at + 1 && sign_at(tokens, end, &Token::Comma))
            && !word_at(tokens, at - 1, &["select", "as"])
            && !sign_at(tokens, at - 1, &Token::Comma)
            && let Some(limit) = tokens.get(at)
        {
            let error = SqlError::syntax("LIMIT #,# syntax is not supported");
            return Err(source.error(error.hint("Use separate LIMIT and OFFSET clauses."), limit.span));
        }
    }
    if follows(tokens, at, &["offset", "all"]) && at > 0 && !sign_at(tokens, at - 1, &Token::Period) {
        return wrong(at + 1);
    }
    Ok(())
}
