//! Rewrites words of expressions and WITH that PostgreSQL reads differently from sqlparser, and refuses some. They are
//! ISNULL and NOTNULL, an empty select list, VARIADIC and `:=` in calls, the forms of TRIM, SEARCH and CYCLE. The
//! binder recognizes them by the constants here. None of these can be written as a name without quotes.

use super::cursor::is_word;
use super::source::Source;
use super::tokens::{closing, end_of, follows, sign_at, word, word_at};
use sql_error::Result;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// The single item that stands for an empty select list.
pub const NOTHING: &str = "\u{1}nothing";
/// The marker for all fields: `(row).*` becomes `(row).all`.
pub const ALL_FIELDS: &str = "\u{1}all";
/// The argument name that marks VARIADIC.
pub const VARIADIC: &str = "\u{1}variadic";
/// `WITH t AS (…) SEARCH DEPTH FIRST BY a, b SET c` becomes `WITH t AS (…), search AS (SELECT depth, c, a, b)`.
pub const SEARCH: &str = "\u{1}search";
/// `WITH t AS (…) CYCLE a, b SET c TO x DEFAULT y USING p` becomes `WITH t AS (…), cycle AS (SELECT c, p, x, y, a, b)`.
pub const CYCLE: &str = "\u{1}cycle";

fn named(value: &str, like: &TokenWithSpan) -> TokenWithSpan {
    word(Keyword::NoKeyword, value, like)
}

fn sign(token: Token, like: &TokenWithSpan) -> TokenWithSpan {
    TokenWithSpan { token, span: like.span }
}

/// Whether an operand ends directly before `at`: a name, a number, a string or a parenthesis.
fn after_operand(tokens: &[TokenWithSpan], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| tokens.get(before)) else { return false };
    match &before.token {
        Token::RParen | Token::RBracket | Token::Number(..) | Token::SingleQuotedString(_) | Token::Placeholder(_) => {
            true
        }
        Token::Word(word) => {
            word.quote_style.is_some()
                || word.keyword == Keyword::NoKeyword
                || ["null", "true", "false"].iter().any(|known| is_word(before, known))
        }
        _ => false,
    }
}

/// Words that need AS to be a column's label.
const LABELS_WITH_AS: [&str; 10] =
    ["day", "filter", "hour", "minute", "month", "over", "second", "within", "without", "year"];

/// Words that can be a column's label without AS, which sqlparser does not accept.
const LABELS: [&str; 11] =
    ["analyze", "cluster", "distribute", "exclude", "explain", "lateral", "minus", "select", "sort", "top", "view"];

/// Rewrites the tokens at `at` of a query or write. Errors: 42601.
pub fn rewrite(source: &Source, tokens: &mut Vec<TokenWithSpan>, at: usize) -> Result<()> {
    let Some(here) = tokens.get(at).cloned() else { return Ok(()) };
    match &here.token {
        Token::Assignment => {
            if let Some(token) = tokens.get_mut(at) {
                token.token = Token::RArrow;
            }
        }
        Token::RParen if sign_at(tokens, at + 1, &Token::Period) && sign_at(tokens, at + 2, &Token::Mul) => {
            if let Some(star) = tokens.get_mut(at + 2) {
                *star = named(ALL_FIELDS, &here);
            }
        }
        Token::RParen => clauses_of_recursion(tokens, at + 1),
        Token::Mul if at >= 2 && sign_at(tokens, at - 1, &Token::Period) => {
            // `t.* IS NULL` tests the whole row.
            let compared = [Token::Eq, Token::Neq, Token::Lt, Token::Gt, Token::DoubleColon];
            let value = word_at(tokens, at + 1, &["is"]) || compared.iter().any(|sign| sign_at(tokens, at + 1, sign));
            if value && matches!(tokens.get(at - 2).map(|token| &token.token), Some(Token::Word(_))) {
                tokens.drain(at - 1..=at);
            }
        }
        Token::Word(found) if found.quote_style.is_none() => {
            if word_at(tokens, at, &["isnull", "notnull"]) && after_operand(tokens, at) {
                let mut test = vec![word(Keyword::IS, "IS", &here)];
                if is_word(&here, "notnull") {
                    test.push(word(Keyword::NOT, "NOT", &here));
                }
                test.push(word(Keyword::NULL, "NULL", &here));
                tokens.splice(at..=at, test);
            } else if word_at(tokens, at, &LABELS) && is_bare_label(tokens, at) {
                let label =
                    Word { value: found.value.to_lowercase(), quote_style: Some('"'), keyword: Keyword::NoKeyword };
                if let Some(token) = tokens.get_mut(at) {
                    token.token = Token::Word(label);
                }
            } else if is_word(&here, "table")
                && at.checked_sub(1).is_some_and(|before| {
                    matches!(tokens.get(before).map(|before| &before.token), Some(Token::LParen | Token::RParen))
                        || word_at(tokens, before, &["union", "intersect", "except", "all"])
                })
                && matches!(tokens.get(at + 1).map(|token| &token.token), Some(Token::Word(_)))
            {
                let star = TokenWithSpan::wrap(Token::Mul);
                let select = word(Keyword::SELECT, "SELECT", &here);
                tokens.splice(at..=at, [select, star, word(Keyword::FROM, "FROM", &here)]);
            } else if is_word(&here, "select")
                && !at
                    .checked_sub(1)
                    .is_some_and(|before| word_at(tokens, before, &["as"]) || sign_at(tokens, before, &Token::Period))
            {
                empty_list(tokens, at);
            } else if is_word(&here, "default") && follows(tokens, 0, &["create", "table"]) {
                restricted(source, tokens, at + 1)?;
            } else if is_word(&here, "variadic") {
                variadic(tokens, at);
            } else if is_word(&here, "trim") && sign_at(tokens, at + 1, &Token::LParen) {
                trim(tokens, at);
            } else if is_word(&here, "array") && sign_at(tokens, at + 1, &Token::LBracket) {
                if let Some(next) = closing(tokens, at + 1).and_then(|close| tokens.get(close + 1))
                    && next.token == Token::LBracket
                {
                    return Err(source.syntax_error_at(next));
                }
            } else if word_at(tokens, at, &LABELS_WITH_AS) && is_bare_label(tokens, at) {
                return Err(source.syntax_error_at(&here));
            }
        }
        _ => {}
    }
    Ok(())
}

/// 42601 for an operator that a DEFAULT may contain only in parentheses, because the words after it
/// could continue the definition.
fn restricted(source: &Source, tokens: &[TokenWithSpan], from: usize) -> Result<()> {
    const NOT_THERE: [&str; 8] = ["and", "or", "in", "between", "like", "ilike", "similar", "isnull"];
    const ENDS: [&str; 8] = ["constraint", "not", "null", "check", "unique", "primary", "references", "generated"];
    let stops = |at: usize, token: &TokenWithSpan| {
        token.token == Token::Comma || word_at(tokens, at, &NOT_THERE) || word_at(tokens, at, &ENDS)
    };
    match end_of(tokens, from, stops).filter(|at| *at > from && word_at(tokens, *at, &NOT_THERE)) {
        Some(at) => tokens.get(at).map_or(Ok(()), |token| Err(source.syntax_error_at(token))),
        None => Ok(()),
    }
}

/// Whether a word stands where only a label without AS can.
fn is_bare_label(tokens: &[TokenWithSpan], at: usize) -> bool {
    let ends = match tokens.get(at + 1).map(|token| &token.token) {
        None | Some(Token::Comma) => true,
        Some(Token::Word(_)) => word_at(tokens, at + 1, &["from"]),
        _ => false,
    };
    let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map(|token| &token.token);
    let value = match before {
        Some(Token::Number(..) | Token::RBracket) => true,
        Some(Token::Word(word)) => word.quote_style.is_some() || word.keyword == Keyword::NoKeyword,
        _ => false,
    };
    ends && value && word_at(tokens, 0, &["select"])
}

fn empty_list(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    const AFTER: [&str; 14] = [
        "from",
        "into",
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
        "window",
    ];
    let empty = match tokens.get(at + 1).map(|token| &token.token) {
        None | Some(Token::RParen) => true,
        Some(Token::Word(word)) => word.quote_style.is_none() && word_at(tokens, at + 1, &AFTER),
        _ => false,
    };
    if empty && let Some(select) = tokens.get(at).cloned() {
        tokens.insert(at + 1, named(NOTHING, &select));
    }
}

/// `f(VARIADIC x)` becomes a call with a named argument.
fn variadic(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let begins = at
        .checked_sub(1)
        .is_some_and(|before| sign_at(tokens, before, &Token::LParen) || sign_at(tokens, before, &Token::Comma));
    if begins && let Some(here) = tokens.get(at).cloned() {
        tokens.splice(at..=at, [named(VARIADIC, &here), sign(Token::RArrow, &here)]);
    }
}

/// `trim([both] from x)` becomes `btrim(x)`. The other sides are similar.
fn trim(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let side = word_at(tokens, at + 2, &["leading", "trailing", "both"]);
    let from = if side { at + 3 } else { at + 2 };
    if !word_at(tokens, from, &["from"]) {
        return;
    }
    let name = if word_at(tokens, at + 2, &["leading"]) {
        "ltrim"
    } else if word_at(tokens, at + 2, &["trailing"]) {
        "rtrim"
    } else {
        "btrim"
    };
    let Some(here) = tokens.get(at).cloned() else { return };
    tokens.splice(at..=from, [named(name, &here), sign(Token::LParen, &here)]);
}

/// Rewrites SEARCH and CYCLE after a WITH query.
fn clauses_of_recursion(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let mut start = at;
    if word_at(tokens, start, &["search"])
        && word_at(tokens, start + 1, &["depth", "breadth"])
        && word_at(tokens, start + 2, &["first"])
        && word_at(tokens, start + 3, &["by"])
        && let Some((columns, next)) = names(tokens, start + 4)
        && word_at(tokens, next, &["set"])
        && let (Some(here), Some(how), Some(set)) =
            (tokens.get(start).cloned(), tokens.get(start + 1).cloned(), tokens.get(next + 1).cloned())
    {
        let mut items = vec![how, set];
        items.extend(columns);
        let made = pseudo_query(SEARCH, items.into_iter().map(|item| vec![item]).collect(), &here);
        let length = made.len();
        tokens.splice(start..next + 2, made);
        start += length;
    }
    if word_at(tokens, start, &["cycle"])
        && let Some((columns, next)) = names(tokens, start + 1)
        && word_at(tokens, next, &["set"])
        && let (Some(here), Some(mark)) = (tokens.get(start).cloned(), tokens.get(next + 1).cloned())
    {
        let mut after = next + 2;
        let truth = |value: &str, kind| vec![word(kind, value, &here)];
        let (mut to, mut default) = (truth("TRUE", Keyword::TRUE), truth("FALSE", Keyword::FALSE));
        if word_at(tokens, after, &["to"]) {
            let end = |from: usize, words: &[&str]| (from..tokens.len()).find(|at| word_at(tokens, *at, words));
            let (Some(second), Some(third)) = (end(after, &["default"]), end(after, &["using"])) else { return };
            to = tokens.get(after + 1..second).unwrap_or_default().to_vec();
            default = tokens.get(second + 1..third).unwrap_or_default().to_vec();
            after = third;
        }
        if !word_at(tokens, after, &["using"]) {
            return;
        }
        let Some(path) = tokens.get(after + 1).cloned() else { return };
        let mut items = vec![vec![mark], vec![path], to, default];
        items.extend(columns.into_iter().map(|column| vec![column]));
        let made = pseudo_query(CYCLE, items, &here);
        tokens.splice(start..after + 2, made);
    }
}

/// Names separated by commas, and the position after them.
fn names(tokens: &[TokenWithSpan], from: usize) -> Option<(Vec<TokenWithSpan>, usize)> {
    let (mut found, mut at) = (Vec::new(), from);
    loop {
        let token = tokens.get(at)?;
        if !matches!(token.token, Token::Word(_)) {
            return None;
        }
        found.push(token.clone());
        at += 1;
        if !sign_at(tokens, at, &Token::Comma) {
            return Some((found, at));
        }
        at += 1;
    }
}

/// `, name AS (SELECT items)`.
fn pseudo_query(name: &str, items: Vec<Vec<TokenWithSpan>>, like: &TokenWithSpan) -> Vec<TokenWithSpan> {
    let mut made = vec![sign(Token::Comma, like), named(name, like), word(Keyword::AS, "AS", like)];
    made.push(sign(Token::LParen, like));
    made.push(word(Keyword::SELECT, "SELECT", like));
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            made.push(sign(Token::Comma, like));
        }
        made.extend(item);
    }
    made.push(sign(Token::RParen, like));
    made
}
