//! Reserved words used as names of columns: in lists, and after the verbs of ALTER TABLE. Must not know the columns.

use super::names::{VALUES, is_reserved_word};
use super::tokens::{closing, end_of, follows, sign_at, word_at};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The permitted contents of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Names,
    /// Names, or a query instead.
    NamesOrQuery,
    /// Names and function calls.
    Keys,
}

/// Reserved words, beside the [values](VALUES), that can be called in an index key.
const CALLS: [&str; 3] = ["current_schema", "collation", "cast"];

/// The position of the first such word.
pub fn first(tokens: &[TokenWithSpan]) -> Option<usize> {
    if follows(tokens, 0, &["alter", "table"]) {
        let found = (2..tokens.len()).find_map(|at| behind_verb(tokens, at));
        if found.is_some() {
            return found;
        }
    }
    (1..tokens.len()).filter(|at| sign_at(tokens, *at, &Token::LParen)).find_map(|open| {
        let list = list_at(tokens, open)?;
        in_list(tokens, open, list)
    })
}

fn reserved(tokens: &[TokenWithSpan], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| is_reserved_word(&token.token))
}

/// The name after COLUMN, or after the TO of a renamed column.
fn behind_verb(tokens: &[TokenWithSpan], at: usize) -> Option<usize> {
    let mut named = at + 1;
    if word_at(tokens, at, &["column"]) && word_at(tokens, at - 1, &["drop", "alter", "rename"]) {
        if follows(tokens, named, &["if", "exists"]) {
            named += 2;
        }
    } else if !word_at(tokens, at, &["to"]) || !(2..at).any(|place| word_at(tokens, place, &["rename"])) {
        return None;
    }
    reserved(tokens, named).then_some(named)
}

/// The kind of list in the parentheses that open at `open`, if they hold names of columns.
fn list_at(tokens: &[TokenWithSpan], open: usize) -> Option<List> {
    let before = open.checked_sub(1)?;
    let defines = word_at(tokens, 0, &["create", "alter"]);
    let nulls = || {
        follows(tokens, before.saturating_sub(1), &["nulls"])
            || follows(tokens, before.saturating_sub(2), &["nulls", "not"])
    };
    let key = word_at(tokens, before, &["key"]) && word_at(tokens, before.saturating_sub(1), &["primary", "foreign"]);
    let unique = word_at(tokens, before, &["unique"]) || word_at(tokens, before, &["distinct"]) && nulls();
    if defines && (key || unique) {
        return Some(List::Names);
    }
    let conflict = follows(tokens, before.saturating_sub(1), &["on", "conflict"]);
    if conflict || defines && word_at(tokens, before, &["include"]) {
        return Some(List::Keys);
    }
    if word_at(tokens, 0, &["grant", "revoke"]) {
        return word_at(tokens, before, &["select", "insert", "update", "references", "privileges"])
            .then_some(List::Names);
    }
    // The parentheses follow the name of a relation.
    let is_word = |at: usize| matches!(tokens.get(at).map(|token| &token.token), Some(Token::Word(_)));
    let mut name = before;
    if !is_word(name) {
        return None;
    }
    while name >= 2 && sign_at(tokens, name - 1, &Token::Period) && is_word(name - 2) {
        name -= 2;
    }
    let verb = name.checked_sub(1)?;
    if word_at(tokens, verb, &["into"]) && word_at(tokens, verb.checked_sub(1)?, &["insert"]) {
        return Some(List::NamesOrQuery);
    }
    if defines && word_at(tokens, verb, &["references"]) || verb == 0 && word_at(tokens, 0, &["copy", "analyze"]) {
        return Some(List::Names);
    }
    if word_at(tokens, 0, &["create"]) && word_at(tokens, verb, &["view"]) {
        return Some(List::Names);
    }
    let kept = || closing(tokens, open).is_some_and(|close| word_at(tokens, close + 1, &["as"]));
    if word_at(tokens, 0, &["create"]) && word_at(tokens, verb, &["table", "exists"]) && verb < 7 && kept() {
        return Some(List::Names);
    }
    let index = follows(tokens, 0, &["create", "index"]) || follows(tokens, 0, &["create", "unique", "index"]);
    (index && word_at(tokens, verb, &["on"])).then_some(List::Keys)
}

/// The position of the first reserved word in a list.
fn in_list(tokens: &[TokenWithSpan], open: usize, list: List) -> Option<usize> {
    if list == List::NamesOrQuery && word_at(tokens, open + 1, &["select", "with", "values", "table"]) {
        // A query in parentheses.
        let empty = word_at(tokens, open + 1, &["table"]) && sign_at(tokens, open + 2, &Token::RParen);
        return empty.then_some(open + 2);
    }
    let mut at = open + 1;
    loop {
        let call = list == List::Keys
            && ([VALUES, &CALLS].iter().any(|words| word_at(tokens, at, words))
                || sign_at(tokens, at + 1, &Token::LParen));
        if !call && reserved(tokens, at) {
            return Some(at);
        }
        let end = end_of(tokens, at, |_, token| token.token == Token::Comma)?;
        if !sign_at(tokens, end, &Token::Comma) {
            return None;
        }
        at = end + 1;
    }
}
