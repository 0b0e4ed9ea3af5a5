//! Syntax that sqlparser accepts and PostgreSQL's grammar refuses: calls of words that are values, arguments of
//! functions with their own grammar, clauses where none may follow. Must not know the named objects.

use super::names::{VALUES, is_reserved_word};
use super::source::Source;
use super::tokens::{closing, end_of, follows, sign_at, word_at};
use sql_error::{Result, SqlError, state};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The words among the [values](VALUES) that take a precision.
const MOMENTS: [&str; 4] = ["current_time", "current_timestamp", "localtime", "localtimestamp"];
/// Words before a list of columns or a table: no call follows them.
const NAMING: [&str; 14] = [
    "into",
    "table",
    "update",
    "only",
    "join",
    "on",
    "references",
    "copy",
    "view",
    "as",
    "analyze",
    "vacuum",
    "index",
    "exists",
];

/// Refuses such syntax. Errors: 42601, and 0A000 for a CHECK that is DEFERRABLE.
pub fn check(source: &Source, tokens: &[TokenWithSpan]) -> Result<()> {
    if let Some(at) = first_refused(tokens) {
        return Err(match tokens.get(at) {
            Some(token) => source.syntax_error_at(token),
            None => source.syntax_error_behind(tokens.last()),
        });
    }
    if follows(tokens, 0, &["create"]) || follows(tokens, 0, &["alter", "table"]) {
        deferrable(source, tokens)?;
        if (0..tokens.len()).any(|at| follows(tokens, at, &["for", "values", "with"])) {
            return Err(SqlError::unsupported("PARTITION OF"));
        }
    }
    Ok(())
}

/// The position of the first token that PostgreSQL's grammar refuses.
fn first_refused(tokens: &[TokenWithSpan]) -> Option<usize> {
    let refused = (0..tokens.len()).find_map(|at| refused_at(tokens, at));
    refused.into_iter().chain(super::reserved_columns::first(tokens)).min().or_else(|| without_columns(tokens))
}

fn refused_at(tokens: &[TokenWithSpan], at: usize) -> Option<usize> {
    let before = at.checked_sub(1);
    if before.is_some_and(|before| sign_at(tokens, before, &Token::Period)) {
        return None;
    }
    if at == 0 {
        return setting(tokens).or_else(|| {
            let named = 1 + usize::from(word_at(tokens, 1, &["only"]));
            (word_at(tokens, 0, &["table"]) && reserved_at(tokens, named)).then_some(named)
        });
    }
    if word_at(tokens, at, &["only"]) {
        // The ONLY in ROWS ONLY and READ ONLY precedes no table.
        let of_table = before.is_some_and(|before| {
            word_at(tokens, before, &["from", "join", "update", "into", "table", "truncate"])
                || sign_at(tokens, before, &Token::Comma)
        });
        let mut end = at + 2;
        while sign_at(tokens, end, &Token::Period) {
            end += 2;
        }
        return (of_table && sign_at(tokens, end, &Token::Mul)).then_some(end);
    }
    if follows(tokens, at, &["group", "by"]) {
        return empty_element(tokens, at + 2);
    }
    if !sign_at(tokens, at + 1, &Token::LParen) || before.is_some_and(|before| word_at(tokens, before, &NAMING)) {
        return None;
    }
    if word_at(tokens, at, &MOMENTS) {
        let digits = matches!(tokens.get(at + 2).map(|token| &token.token), Some(Token::Number(..)));
        return match (digits, sign_at(tokens, at + 3, &Token::RParen)) {
            (false, _) => Some(at + 2),
            (true, false) => Some(at + 3),
            (true, true) => None,
        };
    }
    if word_at(tokens, at, VALUES) {
        return Some(at + 1);
    }
    if word_at(tokens, at, &["interval"]) {
        let string = matches!(tokens.get(at + 2).map(|token| &token.token), Some(Token::SingleQuotedString(_)));
        return string.then_some(at + 2);
    }
    if word_at(tokens, at, &["position"]) && in_expression(tokens, at) {
        return position(tokens, at + 1);
    }
    None
}

fn reserved_at(tokens: &[TokenWithSpan], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| is_reserved_word(&token.token))
}

/// The position of a setting's name that is a reserved word.
fn setting(tokens: &[TokenWithSpan]) -> Option<usize> {
    let shown = word_at(tokens, 0, &["show", "reset"]) && !word_at(tokens, 1, &["all"]);
    if !shown && !word_at(tokens, 0, &["set"]) {
        return None;
    }
    let named = 1 + usize::from(!shown && word_at(tokens, 1, &["session", "local"]));
    (reserved_at(tokens, named) && !word_at(tokens, named, &["authorization"])).then_some(named)
}

/// The position of `()` among the arguments of ROLLUP and CUBE in the GROUP BY that begins at `first`.
fn empty_element(tokens: &[TokenWithSpan], first: usize) -> Option<usize> {
    let ends = ["having", "window", "order", "limit", "offset", "fetch", "for", "union", "intersect", "except"];
    let end = end_of(tokens, first, |at, _| word_at(tokens, at, &ends)).unwrap_or(tokens.len());
    for at in first..end {
        if !word_at(tokens, at, &["rollup", "cube"]) || !sign_at(tokens, at + 1, &Token::LParen) {
            continue;
        }
        let close = closing(tokens, at + 1).unwrap_or(end);
        let empty = |open: &usize| {
            // The `()` of a function call within them are its arguments.
            let called =
                *open > at + 1 && matches!(tokens.get(open - 1).map(|token| &token.token), Some(Token::Word(_)));
            !called && sign_at(tokens, *open, &Token::LParen) && sign_at(tokens, open + 1, &Token::RParen)
        };
        if let Some(open) = (at + 1..close).find(empty) {
            return Some(open + 1);
        }
    }
    None
}

/// Whether a call may stand at `at`, and not a table or WITH query with its columns.
fn in_expression(tokens: &[TokenWithSpan], at: usize) -> bool {
    let of_with = closing(tokens, at + 1).is_some_and(|close| follows(tokens, close + 1, &["as"]))
        && closing(tokens, at + 1).is_some_and(|close| sign_at(tokens, close + 2, &Token::LParen));
    let begins = word_at(tokens, 0, &["select", "insert", "update", "delete", "with", "values", "merge"])
        || sign_at(tokens, 0, &Token::LParen);
    begins && !of_with && !follows(tokens, at.saturating_sub(1), &["with"])
}

/// Refuses POSITION unless it has two operands with IN between, neither with COLLATE.
fn position(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    let close = closing(tokens, open).unwrap_or(tokens.len());
    if (open..close).any(|at| word_at(tokens, at, &["case"])) {
        // A CASE may contain these words itself, so such operands are not checked.
        return None;
    }
    let mut found = false;
    let stops =
        |at: usize, token: &TokenWithSpan| token.token == Token::Comma || word_at(tokens, at, &["in", "collate"]);
    let mut from = open + 1;
    loop {
        let at = end_of(tokens, from, stops)?;
        if word_at(tokens, at, &["in"]) && !found {
            found = true;
            from = at + 1;
        } else if sign_at(tokens, at, &Token::RParen) && found {
            return None;
        } else {
            return Some(at);
        }
    }
}

/// The end of a CREATE TABLE with WITH or TABLESPACE and neither columns nor a query.
fn without_columns(tokens: &[TokenWithSpan]) -> Option<usize> {
    let mut at = 1;
    while word_at(tokens, at, &["global", "local", "temp", "temporary", "unlogged"]) {
        at += 1;
    }
    if !word_at(tokens, 0, &["create"]) || !word_at(tokens, at, &["table"]) {
        return None;
    }
    at += 1;
    if follows(tokens, at, &["if", "not", "exists"]) {
        at += 3;
    }
    at += 1;
    while sign_at(tokens, at, &Token::Period) {
        at += 2;
    }
    let source = ["as", "of", "partition"];
    let has_source = (at..tokens.len()).any(|place| word_at(tokens, place, &source));
    (word_at(tokens, at, &["with", "without", "tablespace", "using"]) && !has_source).then_some(tokens.len())
}

/// Refuses DEFERRABLE and INITIALLY after constraints that cannot be deferred.
fn deferrable(source: &Source, tokens: &[TokenWithSpan]) -> Result<()> {
    let alter = word_at(tokens, 0, &["alter"]);
    let first = match alter {
        true => Some(2),
        false if (1..4).any(|at| word_at(tokens, at, &["table"])) => {
            let query = tokens.iter().position(|token| super::cursor::is_word(token, "as")).unwrap_or(tokens.len());
            let open = tokens.iter().position(|token| token.token == Token::LParen);
            open.filter(|open| *open < query).map(|open| open + 1)
        }
        false => None,
    };
    let Some(mut start) = first else { return Ok(()) };
    while start < tokens.len() {
        let end = end_of(tokens, start, |_, token| token.token == Token::Comma).unwrap_or(tokens.len());
        element(source, tokens, start, end, alter)?;
        if !sign_at(tokens, end, &Token::Comma) {
            return Ok(());
        }
        start = end + 1;
    }
    Ok(())
}

/// Checks one element of a CREATE TABLE, or one action of an ALTER TABLE.
fn element(source: &Source, tokens: &[TokenWithSpan], start: usize, end: usize, alter: bool) -> Result<()> {
    const CLAUSES: [(&[&str], &str); 4] = [
        (&["not", "deferrable"], "NOT DEFERRABLE"),
        (&["deferrable"], "DEFERRABLE"),
        (&["initially", "deferred"], "INITIALLY DEFERRED"),
        (&["initially", "immediate"], "INITIALLY IMMEDIATE"),
    ];
    let mut first = start;
    if alter {
        let Some(add) = (start..end).find(|at| word_at(tokens, *at, &["add"])) else { return Ok(()) };
        if (start..add).any(|at| word_at(tokens, at, &["alter", "set", "drop", "rename", "validate"])) {
            return Ok(());
        }
        first = add + 1;
    }
    let of_table = |at: usize| word_at(tokens, at, &["check", "unique", "primary", "foreign", "exclude"]);
    let named = if word_at(tokens, first, &["constraint"]) { first + 2 } else { first };
    let whole = of_table(named);
    if whole && !word_at(tokens, named, &["check"]) {
        return Ok(());
    }
    let (mut at, mut deferrable) = (first, false);
    while at < end {
        if sign_at(tokens, at, &Token::LParen) {
            at = closing(tokens, at).unwrap_or(end) + 1;
            continue;
        }
        let clause = CLAUSES.iter().find(|(words, _)| follows(tokens, at, words));
        if let (Some((_, name)), false) = (clause, deferrable) {
            let token = tokens.get(at).map_or_else(sqlparser::tokenizer::Span::empty, |token| token.span);
            match (whole, *name) {
                (false, name) => {
                    return Err(source.error(SqlError::syntax(format!("misplaced {name} clause")), token));
                }
                (true, "DEFERRABLE" | "INITIALLY DEFERRED") => {
                    let message = "CHECK constraints cannot be marked DEFERRABLE";
                    return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message));
                }
                (true, _) => {}
            }
        }
        if at > first && !whole {
            if word_at(tokens, at, &["unique", "primary", "references"]) {
                deferrable = true;
            } else if word_at(tokens, at, &["check", "null", "default", "generated"]) {
                // The SET NULL of ON DELETE is not a constraint.
                deferrable &= word_at(tokens, at - 1, &["set"]);
            }
        }
        at += clause.map_or(1, |(words, _)| words.len());
    }
    Ok(())
}
