//! COLLATE after a cast or after another COLLATE, which sqlparser does not read. `x::text COLLATE c`
//! becomes `x::text::marker.c`, because a cast binds as COLLATE does there. The tree is corrected
//! afterwards. Knows no collations.

use super::tokens::{closing, follows, sign_at, word, word_at};
use sqlparser::ast::{self, CastKind, DataType, Expr, ObjectName};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::ControlFlow;

/// Prefix of a type's name that stands for a collation.
const MARKER: &str = "\u{1}collate";

/// Rewrites the COLLATE after the `::` or COLLATE at `at`.
pub fn rewrite(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let behind = if sign_at(tokens, at, &Token::DoubleColon) {
        end_of_type(tokens, at + 1)
    } else if follows(tokens, at, &["collate"]) {
        end_of_name(tokens, at + 1)
    } else {
        None
    };
    let Some(behind) = behind.filter(|behind| follows(tokens, *behind, &["collate"])) else { return };
    // The COLLATE of a column or an index key does not belong to an expression.
    if end_of_name(tokens, behind + 1).is_none() {
        return;
    }
    let Some(here) = tokens.get(behind).cloned() else { return };
    let sign = |token| TokenWithSpan { token, span: here.span };
    let mut marker = word(Keyword::NoKeyword, MARKER, &here);
    if let Token::Word(name) = &mut marker.token {
        name.quote_style = Some('"');
    }
    tokens.splice(behind..=behind, [sign(Token::DoubleColon), marker, sign(Token::Period)]);
}

/// The end of the possibly qualified name that begins at `at`.
fn end_of_name(tokens: &[TokenWithSpan], at: usize) -> Option<usize> {
    let named = |at: usize| matches!(tokens.get(at).map(|token| &token.token), Some(Token::Word(_)));
    let mut end = at;
    loop {
        if !named(end) {
            return None;
        }
        end += 1;
        if !sign_at(tokens, end, &Token::Period) {
            return Some(end);
        }
        end += 1;
    }
}

/// The end of the type that begins at `at`.
pub(super) fn end_of_type(tokens: &[TokenWithSpan], at: usize) -> Option<usize> {
    let mut end = end_of_name(tokens, at)?;
    if word_at(tokens, end, &["varying", "precision"]) {
        end += 1;
    }
    if sign_at(tokens, end, &Token::LParen) {
        end = closing(tokens, end)? + 1;
    }
    for zone in ["with", "without"] {
        if follows(tokens, end, &[zone, "time", "zone"]) {
            end += 3;
        }
    }
    while sign_at(tokens, end, &Token::LBracket) {
        end = closing(tokens, end)? + 1;
    }
    Some(end)
}

/// Turns the casts that stand for COLLATE back into COLLATE.
pub fn restore<T: ast::VisitMut>(tree: &mut T, tokens: &[TokenWithSpan]) {
    let marker = |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if word.value == MARKER);
    if !tokens.iter().any(marker) {
        return;
    }
    let _ = ast::visit_expressions_mut(tree, |expr| {
        if let Expr::Cast { kind: CastKind::DoubleColon, expr: inner, data_type: DataType::Custom(name, _), .. } = expr
            && let Some((first, rest)) = name.0.split_first()
            && first.as_ident().is_some_and(|ident| ident.value == MARKER)
        {
            let operand = std::mem::replace(inner.as_mut(), Expr::Value(ast::Value::Null.into()));
            *expr = Expr::Collate { expr: Box::new(operand), collation: ObjectName(rest.to_vec()) };
        }
        ControlFlow::<()>::Continue(())
    });
}
