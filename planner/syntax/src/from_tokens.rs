//! Rewrites items of FROM that sqlparser cannot represent: ONLY, `t *`, ROWS FROM, `substring(a FROM b)`, the alias of
//! USING. The binder recognizes them by the constants here. None of these can be written as a name without quotes.

use super::tokens::{closing, end_of, opening, sign_at, word_at};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// `JOIN … USING (a) AS j` becomes `JOIN … USING (a, alias j)`. The last name begins with this prefix.
pub const JOIN_ALIAS: &str = "\u{1}alias ";
/// `ROWS FROM (f(), g())` becomes a call of this function with calls as arguments.
pub const ROWS_FROM: &str = "\u{1}rows from";
/// `FROM CAST(x AS t)` becomes a call of this function with the expression as its argument. So do other expressions
/// with words between their arguments.
pub const VALUE_IN_FROM: &str = "\u{1}value in from";

fn named(value: String, quote_style: Option<char>, like: &TokenWithSpan) -> TokenWithSpan {
    TokenWithSpan { token: Token::Word(Word { value, quote_style, keyword: Keyword::NoKeyword }), span: like.span }
}

/// Rewrites the tokens at `at` of a query or write.
pub fn rewrite(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    if word_at(tokens, at, &["only"]) {
        only(tokens, at);
    } else if word_at(tokens, at, &["rows"])
        && word_at(tokens, at + 1, &["from"])
        && sign_at(tokens, at + 2, &Token::LParen)
    {
        let Some(here) = tokens.get(at).cloned() else { return };
        let close = closing(tokens, at + 2);
        let several = end_of(tokens, at + 3, |_, token| token.token == Token::Comma) != close;
        match close {
            // ROWS FROM a single function equals the function alone.
            Some(close) if !several => {
                tokens.remove(close);
                tokens.drain(at..at + 3);
            }
            _ => {
                tokens.splice(at..at + 2, [named(ROWS_FROM.into(), None, &here)]);
            }
        }
    } else if word_at(tokens, at, &["using"]) && sign_at(tokens, at + 1, &Token::LParen) {
        alias_of_using(tokens, at + 1);
    } else if word_at(tokens, at, &["extract", "overlay", "position", "substring", "trim"]) {
        call_with_words(tokens, at);
    } else if word_at(
        tokens,
        at,
        &["cast", "normalize", "current_time", "current_timestamp", "localtime", "localtimestamp"],
    ) {
        value(tokens, at);
    } else if sign_at(tokens, at, &Token::Mul) {
        star(tokens, at);
    } else if sign_at(tokens, at, &Token::RParen) {
        unnamed_definitions(tokens, at);
    }
}

/// Whether an item of FROM begins at `at`.
fn begins_item(tokens: &[TokenWithSpan], at: usize) -> bool {
    const OF_CALLS: [&str; 5] = ["extract", "overlay", "position", "substring", "trim"];
    const OTHER_LISTS: [&str; 8] = ["select", "set", "where", "by", "having", "values", "returning", "limit"];
    let Some(before) = at.checked_sub(1) else { return false };
    let of_call = || {
        opening(tokens, at).and_then(|open| open.checked_sub(1)).is_some_and(|name| word_at(tokens, name, &OF_CALLS))
    };
    let clause = |from: usize| {
        let compared = from.checked_sub(1).is_some_and(|earlier| word_at(tokens, earlier, &["distinct"]));
        word_at(tokens, from, &["from"]) && !compared
    };
    if !sign_at(tokens, before, &Token::Comma) {
        return word_at(tokens, before, &["join", "lateral"]) || clause(before) && !of_call();
    }
    let mut depth = 0_usize;
    for place in (0..before).rev() {
        match tokens.get(place).map(|token| &token.token) {
            Some(Token::RParen | Token::RBracket) => depth += 1,
            Some(Token::LParen | Token::LBracket) if depth == 0 => return false,
            Some(Token::LParen | Token::LBracket) => depth -= 1,
            _ if depth > 0 => {}
            _ if clause(place) => return !of_call(),
            _ if word_at(tokens, place, &OTHER_LISTS) => return false,
            _ => {}
        }
    }
    false
}

/// Rewrites an expression that PostgreSQL accepts as a function in FROM.
fn value(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let in_from = begins_item(tokens, at);
    let (Some(close), Some(here)) = (closing(tokens, at + 1).filter(|_| in_from), tokens.get(at).cloned()) else {
        return;
    };
    let sign = |token| TokenWithSpan { token, span: here.span };
    tokens.insert(close, sign(Token::RParen));
    tokens.splice(at..at, [named(VALUE_IN_FROM.into(), Some('"'), &here), sign(Token::LParen)]);
}

/// Puts commas for the words between a function's arguments in FROM, where sqlparser reads no such expression.
fn call_with_words(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let in_from = begins_item(tokens, at);
    let Some(close) = closing(tokens, at + 1).filter(|_| in_from) else { return };
    let Some(like) = tokens.get(at).cloned() else { return };
    let comma = TokenWithSpan { token: Token::Comma, span: like.span };
    let first = at + 2;
    let separator = |tokens: &[TokenWithSpan], words: &[&str]| {
        end_of(tokens, first, |place, _| word_at(tokens, place, words)).filter(|found| *found < close)
    };
    if word_at(tokens, at, &["substring", "overlay"]) {
        while let Some(place) = separator(tokens, &["placing", "from", "for"]) {
            if let Some(token) = tokens.get_mut(place) {
                *token = comma.clone();
            }
        }
        return;
    }
    let Some(place) = separator(tokens, &["from", "in"]) else {
        if word_at(tokens, at, &["trim"])
            && let Some(name) = tokens.get_mut(at)
        {
            *name = named("btrim".into(), None, &like);
        }
        return;
    };
    let (Some(before), Some(behind)) = (tokens.get(first..place), tokens.get(place + 1..close)) else { return };
    let (mut before, mut args) = (before.to_vec(), behind.to_vec());
    if word_at(tokens, at, &["extract"]) {
        let [field] = before.as_mut_slice() else { return };
        if let Token::Word(word) = &field.token {
            field.token = Token::SingleQuotedString(super::names::fold_text(&word.value, word.quote_style.is_some()));
        }
        before.push(comma);
        before.extend(args);
        args = before;
    } else {
        let sides = [("leading", "ltrim"), ("trailing", "rtrim"), ("both", "btrim")];
        let side = sides.into_iter().find(|(side, _)| word_at(&before, 0, &[side]));
        if word_at(tokens, at, &["trim"])
            && let Some(name) = tokens.get_mut(at)
        {
            before.drain(..usize::from(side.is_some()));
            *name = named(side.map_or("btrim", |(_, name)| name).into(), None, &like);
        }
        if !before.is_empty() {
            args.push(comma);
            args.extend(before);
        }
    }
    tokens.splice(first..close, args);
}

/// Removes ONLY, because no table has children.
fn only(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let begins = at.checked_sub(1).is_some_and(|before| {
        word_at(tokens, before, &["from", "join", "update", "into"]) || sign_at(tokens, before, &Token::Comma)
    });
    if !begins {
        return;
    }
    if matches!(tokens.get(at + 1).map(|token| &token.token), Some(Token::Word(_))) {
        tokens.remove(at);
        return;
    }
    // The form ONLY (t).
    let mut close = at + 2;
    while matches!(tokens.get(close).map(|token| &token.token), Some(Token::Word(_) | Token::Period)) {
        close += 1;
    }
    if sign_at(tokens, at + 1, &Token::LParen) && sign_at(tokens, close, &Token::RParen) {
        tokens.remove(close);
        tokens.drain(at..at + 2);
    }
}

/// Removes the `*` of `FROM t *`, because no table has children.
fn star(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    const AFTER: [&str; 18] = [
        "where",
        "group",
        "having",
        "order",
        "limit",
        "offset",
        "fetch",
        "for",
        "union",
        "intersect",
        "except",
        "join",
        "left",
        "right",
        "inner",
        "full",
        "cross",
        "natural",
    ];
    let Some(mut first) = at.checked_sub(1) else { return };
    if !matches!(tokens.get(first).map(|token| &token.token), Some(Token::Word(_))) {
        return;
    }
    while first >= 2
        && sign_at(tokens, first - 1, &Token::Period)
        && matches!(tokens.get(first - 2).map(|token| &token.token), Some(Token::Word(_)))
    {
        first -= 2;
    }
    let table = first.checked_sub(1).is_some_and(|before| word_at(tokens, before, &["from", "join", "update"]));
    let ends = match tokens.get(at + 1).map(|token| &token.token) {
        None | Some(Token::RParen | Token::Comma) => true,
        _ => {
            word_at(tokens, at + 1, &AFTER)
                || word_at(tokens, at + 1, &["as", "on", "set"])
                || is_alias(tokens, at + 1) && first.checked_sub(1).is_some_and(|from| begins_from(tokens, from))
        }
    };
    if table && ends {
        tokens.remove(at);
    }
}

/// Whether a word other than a keyword stands at `at`.
fn is_alias(tokens: &[TokenWithSpan], at: usize) -> bool {
    match tokens.get(at).map(|token| &token.token) {
        Some(Token::Word(word)) => word.quote_style.is_some() || word.keyword == Keyword::NoKeyword,
        _ => false,
    }
}

/// Whether the FROM at `at` begins a clause. Otherwise it belongs to `extract` or a similar call.
fn begins_from(tokens: &[TokenWithSpan], at: usize) -> bool {
    if at.checked_sub(1).is_some_and(|before| word_at(tokens, before, &["distinct"])) {
        return false;
    }
    let first = opening(tokens, at).map_or(0, |open| open + 1);
    word_at(tokens, first, &["select", "with", "insert", "update", "delete", "explain", "prepare", "declare", "create"])
}

/// `FROM f(x) AS (a int)` becomes `FROM f(x) AS f (a int)`.
fn unnamed_definitions(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let queries = ["select", "with", "values", "table", "insert", "update", "delete", "merge"];
    let column = matches!(tokens.get(at + 3).map(|token| &token.token), Some(Token::Word(_)))
        && matches!(tokens.get(at + 4).map(|token| &token.token), Some(Token::Word(_)));
    if !word_at(tokens, at + 1, &["as"]) || !sign_at(tokens, at + 2, &Token::LParen) || !column {
        return;
    }
    if word_at(tokens, at + 3, &queries) {
        return;
    }
    let Some(function) = opening(tokens, at).and_then(|open| open.checked_sub(1)) else { return };
    if word_at(tokens, function, &["from", "join", "lateral", "only", "using"]) {
        return;
    }
    if let Some(name) = tokens.get(function).filter(|token| matches!(token.token, Token::Word(_))).cloned() {
        tokens.insert(at + 2, name);
    }
}

fn alias_of_using(tokens: &mut Vec<TokenWithSpan>, open: usize) {
    let mut close = open + 1;
    while matches!(tokens.get(close).map(|token| &token.token), Some(Token::Word(_) | Token::Comma)) {
        close += 1;
    }
    if !sign_at(tokens, close, &Token::RParen) || !word_at(tokens, close + 1, &["as"]) {
        return;
    }
    let Some(TokenWithSpan { token: Token::Word(alias), span }) = tokens.get(close + 2).cloned() else { return };
    let name = format!("{JOIN_ALIAS}{}", super::names::fold_text(&alias.value, alias.quote_style.is_some()));
    let like = TokenWithSpan { token: Token::Comma, span };
    tokens.drain(close + 1..close + 3);
    tokens.splice(close..close, [like.clone(), named(name, Some('"'), &like)]);
}
