//! Labels without AS that are keywords, and tokens that may not follow `*` or appear in certain calls. sqlparser reads
//! these differently. Must not know what they mean.

use super::source::{Source, ends_operand};
use super::tokens::{closing, follows, sign_at, word, word_at};
use sql_error::Result;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Words that PostgreSQL accepts as labels. sqlparser takes them for operators or the beginning of a clause.
const LABELS: [&str; 39] = [
    "all", "analyse", "analyze", "and", "any", "asc", "at", "between", "both", "case", "cluster", "collate", "desc",
    "else", "end", "explain", "ilike", "in", "is", "lateral", "like", "minus", "natural", "not", "only", "operator",
    "or", "select", "settings", "similar", "some", "sort", "table", "then", "top", "using", "values", "view", "when",
];

/// Words that begin a clause after a select list.
const BEHIND_LIST: [&str; 13] = [
    "from",
    "where",
    "group",
    "having",
    "window",
    "order",
    "limit",
    "offset",
    "fetch",
    "for",
    "union",
    "intersect",
    "except",
];

/// Words before parentheses that may be followed by a field or subscript: those before an expression, and types with a
/// length. After the parentheses of a call neither may follow.
pub(super) const BEFORE_BRACKETS: [&str; 61] = [
    "all",
    "and",
    "any",
    "as",
    "between",
    "bit",
    "bpchar",
    "by",
    "case",
    "char",
    "character",
    "dec",
    "decimal",
    "default",
    "distinct",
    "else",
    "end",
    "escape",
    "except",
    "float",
    "for",
    "from",
    "group",
    "having",
    "ilike",
    "in",
    "intersect",
    "interval",
    "is",
    "join",
    "like",
    "limit",
    "nchar",
    "not",
    "numeric",
    "offset",
    "on",
    "or",
    "over",
    "placing",
    "returning",
    "select",
    "set",
    "similar",
    "some",
    "symmetric",
    "then",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "to",
    "union",
    "using",
    "value",
    "values",
    "varchar",
    "varying",
    "when",
    "where",
    "zone",
];

/// Words that cannot begin an item of a list. sqlparser takes them for names.
const NOT_IN_LISTS: [&str; 12] =
    ["except", "fetch", "from", "group", "having", "intersect", "limit", "offset", "order", "union", "where", "window"];

/// Words that may follow the table of an INSERT, whose alias needs AS.
const BEHIND_TARGET: [&str; 7] = ["as", "default", "overriding", "select", "table", "values", "with"];

/// `SELECT 1 between, 2` becomes `SELECT 1 "between", 2`.
pub fn label(tokens: &mut [TokenWithSpan], at: usize) {
    let word = matches!(tokens.get(at).map(|token| &token.token), Some(Token::Word(_)));
    if !word || !word_at(tokens, at, &LABELS) {
        return;
    }
    let behind_operand = at.checked_sub(1).is_some_and(|before| {
        // Among these words only END can end an operand.
        let word = word_at(tokens, before, &LABELS) && !word_at(tokens, before, &["end"]);
        !word && tokens.get(before).is_some_and(|before| ends_operand(&before.token))
    });
    let last = match tokens.get(at + 1).map(|token| &token.token) {
        None | Some(Token::Comma | Token::RParen | Token::SemiColon | Token::EOF) => true,
        Some(Token::Word(_)) => word_at(tokens, at + 1, &BEHIND_LIST) || word_at(tokens, at + 1, &["into"]),
        Some(_) => false,
    };
    if !behind_operand || !last || !in_list(tokens, at) {
        return;
    }
    if let Some(Token::Word(word)) = tokens.get_mut(at).map(|token| &mut token.token) {
        word.value = word.value.to_ascii_lowercase();
        word.quote_style = Some('"');
        word.keyword = Keyword::NoKeyword;
    }
}

/// `SELECT 1 WINDOW w AS ()` becomes `SELECT 1 WHERE true WINDOW w AS ()`. Directly after a select list sqlparser takes
/// WINDOW for a label.
pub fn window(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let clause = follows(tokens, at, &["window"])
        && matches!(tokens.get(at + 1).map(|token| &token.token), Some(Token::Word(_)))
        && follows(tokens, at + 2, &["as"])
        && sign_at(tokens, at + 3, &Token::LParen);
    if clause
        && at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|before| ends_operand(&before.token))
        && in_list(tokens, at)
        && let Some(like) = tokens.get(at).cloned()
    {
        tokens.insert(at, word(Keyword::TRUE, "true", &like));
        tokens.insert(at, word(Keyword::WHERE, "where", &like));
    }
}

/// Whether `at` is in a select list or RETURNING, outside a CASE.
fn in_list(tokens: &[TokenWithSpan], at: usize) -> bool {
    let (mut depth, mut ended) = (0_usize, 0_usize);
    for place in (0..at).rev() {
        match tokens.get(place).map(|token| &token.token) {
            Some(Token::RParen | Token::RBracket) => depth += 1,
            Some(Token::LParen | Token::LBracket) if depth == 0 => return false,
            Some(Token::LParen | Token::LBracket) => depth -= 1,
            _ if depth > 0 => {}
            _ if word_at(tokens, place, &["end"]) => ended += 1,
            _ if word_at(tokens, place, &["case"]) => {
                if ended == 0 {
                    return false;
                }
                ended -= 1;
            }
            _ if word_at(tokens, place, &["select", "returning"]) => return true,
            // In `a is distinct from b`, FROM does not begin a clause.
            _ if word_at(tokens, place, &["from"])
                && place.checked_sub(1).is_some_and(|before| word_at(tokens, before, &["distinct"])) => {}
            _ if word_at(tokens, place, &BEHIND_LIST) => return false,
            _ => {}
        }
    }
    false
}

/// Refuses tokens that PostgreSQL does not permit after `*` and in certain calls. Errors: 42601.
pub fn check(source: &Source, tokens: &[TokenWithSpan], at: usize) -> Result<()> {
    let wrong = |place: usize| match tokens.get(place) {
        Some(token) => Err(source.syntax_error_at(token)),
        None => Err(source.syntax_error_behind(tokens.last())),
    };
    if sign_at(tokens, at, &Token::Mul) {
        let Some(before) = at.checked_sub(1) else { return Ok(()) };
        let whole =
            word_at(tokens, before, &["select", "distinct", "returning"]) || sign_at(tokens, before, &Token::Comma);
        let next = matches!(tokens.get(at + 1).map(|token| &token.token), Some(Token::Word(_)));
        let follows =
            word_at(tokens, at + 1, &BEHIND_LIST) || word_at(tokens, at + 1, &["into", "on", "returning", "with"]);
        if whole && next && !follows {
            return wrong(at + 1);
        }
        return Ok(());
    }
    if follows(tokens, at, &["insert", "into"]) {
        let mut behind = at + 3;
        while sign_at(tokens, behind, &Token::Period) {
            behind += 2;
        }
        let next = matches!(tokens.get(behind).map(|token| &token.token), Some(Token::Word(_)));
        if next && !word_at(tokens, behind, &BEHIND_TARGET) {
            return wrong(behind);
        }
        return Ok(());
    }
    if sign_at(tokens, at, &Token::Comma) && word_at(tokens, at + 1, &NOT_IN_LISTS) {
        return wrong(at + 1);
    }
    if sign_at(tokens, at, &Token::LBracket) && !takes_elements(tokens, at) {
        return wrong(at);
    }
    if word_at(tokens, at, &["as"]) && string_at(tokens, at + 1) {
        return wrong(at + 1);
    }
    if sign_at(tokens, at, &Token::DoubleColon)
        && let Some(behind) = super::collate_tokens::end_of_type(tokens, at + 1)
        && string_at(tokens, behind)
    {
        return wrong(behind);
    }
    let called = matches!(tokens.get(at).map(|token| &token.token), Some(Token::Word(_)));
    if !called || !sign_at(tokens, at + 1, &Token::LParen) {
        return Ok(());
    }
    if !word_at(tokens, at, &BEFORE_BRACKETS)
        && let Some(close) = closing(tokens, at + 1)
        && (sign_at(tokens, close + 1, &Token::Period) || sign_at(tokens, close + 1, &Token::LBracket))
    {
        return wrong(close + 1);
    }
    let first = at + 2;
    if sign_at(tokens, first, &Token::Mul) && !sign_at(tokens, first + 1, &Token::RParen) {
        return wrong(first + 1);
    }
    if word_at(tokens, first, &["distinct", "all"]) && sign_at(tokens, first + 1, &Token::Mul) {
        return wrong(first + 1);
    }
    let empty = sign_at(tokens, first, &Token::RParen);
    if empty && word_at(tokens, at, &["coalesce", "greatest", "grouping", "least", "nullif"]) {
        return wrong(first);
    }
    if word_at(tokens, at, &["nullif"])
        && let Some(close) = closing(tokens, at + 1)
    {
        let mut commas = commas(tokens, first, close);
        return match (commas.next(), commas.next()) {
            (None, _) => wrong(close),
            (Some(_), Some(second)) => wrong(second),
            (Some(_), None) => Ok(()),
        };
    }
    Ok(())
}

/// Whether the bracket at `at` may be a subscript or an array's elements: `[1, 2]` alone is not an array.
fn takes_elements(tokens: &[TokenWithSpan], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    match tokens.get(before).map(|token| &token.token) {
        Some(Token::LParen | Token::Eq | Token::Neq | Token::Plus | Token::Minus | Token::StringConcat) => false,
        Some(Token::Word(_)) => {
            !word_at(tokens, before, &["select", "where", "and", "or", "not", "when", "then", "else", "end"])
        }
        // Either all elements of an array are arrays, or none.
        Some(Token::Comma) => at >= 2 && sign_at(tokens, at - 2, &Token::RBracket),
        _ => true,
    }
}

/// Whether a string stands at `at`.
fn string_at(tokens: &[TokenWithSpan], at: usize) -> bool {
    let token = tokens.get(at).map(|token| &token.token);
    matches!(token, Some(Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_)))
}

/// The commas between two positions that are not within parentheses there.
fn commas(tokens: &[TokenWithSpan], first: usize, end: usize) -> impl Iterator<Item = usize> {
    let mut depth = 0_usize;
    (first..end).filter(move |place| {
        match tokens.get(*place).map(|token| &token.token) {
            Some(Token::LParen | Token::LBracket) => depth += 1,
            Some(Token::RParen | Token::RBracket) => depth = depth.saturating_sub(1),
            Some(Token::Comma) => return depth == 0,
            _ => {}
        }
        false
    })
}
