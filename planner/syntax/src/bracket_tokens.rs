//! Queries in an expression's parentheses that begin with a parenthesis: `((SELECT …) UNION …)`. sqlparser takes them
//! for expressions. After a WITH it reads a query, so a WITH is inserted before them and removed from the tree. Knows
//! only which clauses continue a query in parentheses.

use super::label_tokens::BEFORE_BRACKETS;
use super::tokens::{closing, sign_at, word, word_at};
use sqlparser::ast::{self, Query, VisitMut, VisitorMut};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use std::ops::ControlFlow;

/// The name of the query in the inserted WITH.
const MARKER: &str = "\u{1}brackets";

/// Words that continue a query in parentheses.
const GOES_ON: [&str; 8] = ["union", "intersect", "except", "order", "limit", "offset", "fetch", "for"];

/// Inserts a WITH after the parenthesis at `at`, if it holds a query that begins with a parenthesis
/// and continues after it.
pub fn rewrite(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    if !sign_at(tokens, at, &Token::LParen) || !sign_at(tokens, at + 1, &Token::LParen) {
        return;
    }
    let Some(inner) = closing(tokens, at + 1) else { return };
    if !word_at(tokens, inner + 1, &GOES_ON) || !is_query(tokens, at + 1) {
        return;
    }
    // `f((SELECT …) ORDER BY …)` and `f((SELECT …) FOR …)` are function calls.
    let named = at.checked_sub(1).is_some_and(|before| {
        matches!(tokens.get(before).map(|token| &token.token), Some(Token::Word(_)))
            && !word_at(tokens, before, &BEFORE_BRACKETS)
            && !word_at(tokens, before, &["array", "exists", "lateral", "materialized"])
    });
    if named && word_at(tokens, inner + 1, &["order", "for"]) {
        return;
    }
    let Some(like) = tokens.get(at).cloned() else { return };
    let sign = |token| TokenWithSpan { token, span: like.span };
    let name = Token::Word(Word { value: MARKER.into(), quote_style: Some('"'), keyword: Keyword::NoKeyword });
    let with = [
        word(Keyword::WITH, "with", &like),
        sign(name),
        word(Keyword::AS, "as", &like),
        sign(Token::LParen),
        word(Keyword::SELECT, "select", &like),
        sign(Token::Number("1".into(), false)),
        sign(Token::RParen),
    ];
    tokens.splice(at + 1..at + 1, with);
}

/// Whether the parentheses that open at `open` hold a query.
fn is_query(tokens: &[TokenWithSpan], open: usize) -> bool {
    let mut at = open;
    // Each pair of parentheses holds another one, followed by the rest of the query or its end.
    while sign_at(tokens, at + 1, &Token::LParen) {
        let (Some(inner), Some(outer)) = (closing(tokens, at + 1), closing(tokens, at)) else { return false };
        if inner + 1 != outer && !word_at(tokens, inner + 1, &GOES_ON) {
            return false;
        }
        at += 1;
    }
    word_at(tokens, at + 1, &["select", "with", "values", "table"])
}

/// Removes the inserted WITH from a tree.
pub fn restore<T: VisitMut>(tree: &mut T, tokens: &[TokenWithSpan]) {
    let marker = |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if word.value == MARKER);
    if tokens.iter().any(marker) {
        let _ = tree.visit(&mut WithoutMarker);
    }
}

struct WithoutMarker;

impl VisitorMut for WithoutMarker {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let marked = |with: &ast::With| with.cte_tables.first().is_some_and(|first| first.alias.name.value == MARKER);
        if query.with.as_ref().is_some_and(marked) {
            query.with = None;
        }
        ControlFlow::Continue(())
    }
}
