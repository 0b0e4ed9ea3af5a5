//! `OPERATOR(schema.sign)` between two operands, and operators before ANY and ALL that sqlparser refuses
//! there. Knows no operators.
//!
//! sqlparser gives `OPERATOR(…)` the precedence of LIKE. PostgreSQL gives it that of user-defined signs, so it
//! becomes such a sign. `x <sign> ANY (y)` becomes `x <sign> any((y))`, a call of a name that cannot be written. The
//! tree is corrected afterwards.

use super::cursor::is_word;
use super::source::ends_operand;
use super::tokens::{closing, follows, sign_at, word, word_at};
use sqlparser::ast::{self, BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::ControlFlow;

/// The function names that stand for ANY and ALL.
const ANY: &str = "\u{1}any";
const ALL: &str = "\u{1}all";

/// Rewrites the operator at `at`.
pub fn rewrite(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let behind_operand = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|before| {
        // USING OPERATOR(…) of ORDER BY and WITH OPERATOR(…) of EXCLUDE are not expressions.
        ends_operand(&before.token) && !is_word(before, "with")
    });
    if !behind_operand {
        return;
    }
    infix(tokens, at);
    quantified(tokens, at);
}

/// `OPERATOR(pg_catalog.+)` becomes the sign that it names.
fn infix(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    if !follows(tokens, at, &["operator"]) || !sign_at(tokens, at + 1, &Token::LParen) {
        return;
    }
    let mut sign = at + 2;
    if follows(tokens, sign, &["pg_catalog"]) && sign_at(tokens, sign + 1, &Token::Period) {
        sign += 2;
    }
    let Some(found) = tokens.get(sign).filter(|_| closing(tokens, at + 1) == Some(sign + 1)) else { return };
    let symbol = match &found.token {
        Token::Word(_) | Token::Number(..) => return,
        Token::Neq => "<>".to_string(),
        other => other.to_string(),
    };
    let span = found.span;
    // sqlparser reads comparisons and patterns with ANY and ALL of any query.
    let quantified = word_at(tokens, sign + 2, &["any", "some", "all"]) && sign_at(tokens, sign + 3, &Token::LParen);
    let token = match quantified && !is_refused(&found.token) {
        true => found.token.clone(),
        false => Token::CustomBinaryOperator(symbol),
    };
    tokens.splice(at..=sign + 1, [TokenWithSpan { token, span }]);
}

/// Rewrites ANY, SOME or ALL after a sign that sqlparser refuses there.
fn quantified(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    if !tokens.get(at).is_some_and(|token| is_refused(&token.token)) || !sign_at(tokens, at + 2, &Token::LParen) {
        return;
    }
    let name = match () {
        () if word_at(tokens, at + 1, &["any", "some"]) => ANY,
        () if word_at(tokens, at + 1, &["all"]) => ALL,
        () => return,
    };
    let (Some(close), Some(quantifier)) = (closing(tokens, at + 2), tokens.get(at + 1).cloned()) else { return };
    let mut call = word(Keyword::NoKeyword, name, &quantifier);
    if let Token::Word(word) = &mut call.token {
        word.quote_style = Some('"');
    }
    // A query needs its own parentheses to be an argument.
    if let (Some(open), Some(end)) = (tokens.get(at + 2).cloned(), tokens.get(close).cloned()) {
        tokens.insert(close, end);
        tokens.splice(at + 1..=at + 2, [call, open.clone(), open]);
    }
}

/// Whether sqlparser refuses ANY and ALL after this operator.
fn is_refused(token: &Token) -> bool {
    matches!(
        token,
        Token::CustomBinaryOperator(_)
            | Token::Plus
            | Token::Minus
            | Token::Mul
            | Token::Div
            | Token::Mod
            | Token::StringConcat
            | Token::Pipe
            | Token::Caret
            | Token::Ampersand
            | Token::Sharp
            | Token::ShiftLeft
            | Token::ShiftRight
            | Token::Overlap
            | Token::CaretAt
            | Token::Arrow
            | Token::LongArrow
            | Token::HashArrow
            | Token::HashLongArrow
            | Token::AtArrow
            | Token::ArrowAt
            | Token::HashMinus
            | Token::AtQuestion
            | Token::AtAt
            | Token::Question
            | Token::QuestionAnd
            | Token::QuestionPipe
    )
}

/// Turns the calls that stand for ANY and ALL back into them.
pub fn restore<T: ast::VisitMut>(tree: &mut T, tokens: &[TokenWithSpan]) {
    let marker =
        |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if word.value == ANY || word.value == ALL);
    if !tokens.iter().any(marker) {
        return;
    }
    let _ = ast::visit_expressions_mut(tree, |expr| {
        if let Expr::BinaryOp { left, op, right } = expr
            && let Some((all, argument)) = argument(right)
        {
            let null = || Expr::Value(ast::Value::Null.into());
            let (left, right) = (Box::new(std::mem::replace(left.as_mut(), null())), Box::new(argument));
            let compare_op = plain(op);
            *expr = match all {
                true => Expr::AllOp { left, compare_op, right },
                false => Expr::AnyOp { left, compare_op, right, is_some: false },
            };
        }
        ControlFlow::<()>::Continue(())
    });
}

/// The argument of a marker's call, and whether the marker stands for ALL.
fn argument(expr: &mut Expr) -> Option<(bool, Expr)> {
    let Expr::Function(function) = expr else { return None };
    let name = function.name.0.first()?.as_ident()?.value.as_str();
    let all = match name {
        ANY => false,
        ALL => true,
        _ => return None,
    };
    let FunctionArguments::List(list) = &mut function.args else { return None };
    match list.args.pop()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some((all, argument)),
        _ => None,
    }
}

/// Comparisons in sqlparser's own form, however they were read.
fn plain(op: &BinaryOperator) -> BinaryOperator {
    match op {
        BinaryOperator::Custom(symbol) => match symbol.as_str() {
            "=" => BinaryOperator::Eq,
            "<>" | "!=" => BinaryOperator::NotEq,
            "<" => BinaryOperator::Lt,
            "<=" => BinaryOperator::LtEq,
            ">" => BinaryOperator::Gt,
            ">=" => BinaryOperator::GtEq,
            _ => op.clone(),
        },
        _ => op.clone(),
    }
}
