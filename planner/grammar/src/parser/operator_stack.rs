//! The stack of operators that wait for their right operand.
//!
//! PostgreSQL's generated parser holds such a stack, and decides by precedence whether to complete the operator on its
//! top. The same decisions give the same trees, also for operators such as NOT within stronger ones, and no chain of
//! operators costs depth.

use super::Parser;
use super::expression::Context;
use super::operator::{Infix, Level};
use crate::error::{Result, STATEMENT_TOO_COMPLEX, SyntaxError};
use crate::span::Span;
use crate::token::TokenKind;
use crate::tree::{Expr, ExprKind, LikeKind, Literal, Operator};
use std::cmp::Ordering;

/// The greatest height of an expression's tree. A chain such as `a + b + c` is as high as it is long. So high trees can
/// still be dropped on two megabytes of stack.
const MOST_HEIGHT: usize = super::MOST_DEPTH;
/// The height that an operand adds to what it holds. A call or a query takes more of the stack than an operator.
pub(super) const OPERAND_HEIGHT: usize = 3;

/// An expression that was read.
pub(super) struct Operand {
    pub(super) expr: Expr,
    /// The position of its first token, parentheses around it included.
    pub(super) start: usize,
    /// The height of its tree.
    pub(super) height: usize,
}

/// An operator that waits for its right operand.
pub(super) struct Frame {
    pub(super) start: usize,
    pub(super) level: Level,
    /// The height of the operands so far.
    pub(super) height: usize,
    pub(super) pending: Pending,
}

/// What becomes of the right operand.
pub(super) enum Pending {
    Not,
    Unary(Operator),
    Binary(Operator, Expr),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    IsDistinct { left: Expr, negated: bool, at: Span },
    Between { operand: Expr, low: Expr, symmetric: bool, negated: bool, at: Span },
    Like { kind: LikeKind, operand: Expr, pattern: Option<Expr>, negated: bool, at: Span },
    AtTimeZone { operand: Expr, at: Span },
}

/// What an infix made of the operand before it.
pub(super) enum Applied {
    /// The expression is complete.
    Whole(Operand),
    /// The right operand is missing.
    Part(Frame),
}

impl Parser<'_> {
    /// An expression. Its first operand may have been read before.
    pub(super) fn operators(&mut self, first: Option<Operand>, context: Context) -> Result<Expr> {
        let height = std::mem::take(&mut self.height);
        let mut frames = Vec::new();
        let mut operand = match first {
            Some(first) => first,
            None => self.next_operand(&mut frames, context)?,
        };
        while let Some(infix) = self.infix(context == Context::Restricted) {
            if infix == Infix::Escape {
                match self.escape(&mut frames, operand)? {
                    Applied::Whole(whole) => {
                        operand = whole;
                        break;
                    }
                    Applied::Part(frame) => frames.push(frame),
                }
                operand = self.next_operand(&mut frames, context)?;
                continue;
            }
            operand = self.complete_above(&mut frames, operand, infix.level())?;
            if frames.is_empty() && self.is_end_in(context) {
                break;
            }
            match self.apply(infix, operand, context)? {
                Applied::Whole(whole) => operand = whole,
                Applied::Part(frame) => {
                    frames.push(frame);
                    operand = self.next_operand(&mut frames, context)?;
                }
            }
        }
        while let Some(frame) = frames.pop() {
            operand = self.complete(frame, operand)?;
        }
        self.height = height.max(operand.height);
        Ok(operand.expr)
    }

    /// An operand, and the operators before it, which go onto the stack.
    fn next_operand(&mut self, frames: &mut Vec<Frame>, context: Context) -> Result<Operand> {
        loop {
            let start = self.mark();
            let (level, pending) = match &self.peek().kind {
                TokenKind::Operator(sign) if matches!(sign.as_str(), "+" | "-") => {
                    (Level::Sign, Pending::Unary(self.any_operator()?))
                }
                TokenKind::Operator(sign) if Level::of(sign) == Level::Other => {
                    (Level::Other, Pending::Unary(self.any_operator()?))
                }
                TokenKind::Name { .. } if self.is_word("operator") && self.is_sign_at(1, '(') => {
                    (Level::Other, Pending::Unary(self.any_operator()?))
                }
                TokenKind::Name { .. } if context != Context::Restricted && self.is_word("not") => {
                    self.skip();
                    (Level::Not, Pending::Not)
                }
                _ => {
                    self.height = 0;
                    let expr = self.primary(context)?;
                    return Self::limited(Operand { expr, start, height: self.height });
                }
            };
            frames.push(Frame { start, level, height: 0, pending });
        }
    }

    /// Completes the operators that bind the operand more strongly than the next one does.
    fn complete_above(&mut self, frames: &mut Vec<Frame>, mut operand: Operand, level: Level) -> Result<Operand> {
        while let Some(frame) = frames.pop_if(|frame| frame.level >= level) {
            if frame.level.cmp(&level) == Ordering::Equal && level.is_single() {
                return Err(self.error());
            }
            operand = self.complete(frame, operand)?;
        }
        Ok(operand)
    }

    /// ESCAPE belongs to the innermost LIKE without one. Without such a LIKE the expression is complete.
    fn escape(&mut self, frames: &mut Vec<Frame>, mut operand: Operand) -> Result<Applied> {
        while let Some(mut frame) = frames.pop() {
            if let Pending::Like { pattern: pattern @ None, .. } = &mut frame.pending {
                self.skip();
                *pattern = Some(operand.expr);
                frame.height = frame.height.max(operand.height);
                return Ok(Applied::Part(frame));
            }
            operand = self.complete(frame, operand)?;
        }
        Ok(Applied::Whole(operand))
    }

    /// Whether the next word, which could be an operator, ends the expression.
    fn is_end_in(&self, context: Context) -> bool {
        match context {
            Context::General | Context::Restricted => false,
            Context::Labelled => self.is_bare_label() && self.is_end_of_target_at(1),
            Context::Substring => self.is_word("similar") && !self.is_word_at(1, "to"),
        }
    }

    /// Whether a later token can follow an item of a select list.
    fn is_end_of_target_at(&self, offset: usize) -> bool {
        match &self.peek_at(offset).kind {
            TokenKind::End | TokenKind::Sign(',' | ')' | ';') => true,
            TokenKind::Name { value, quoted: false, .. } => matches!(
                value.as_str(),
                "into"
                    | "from"
                    | "where"
                    | "group"
                    | "having"
                    | "window"
                    | "union"
                    | "intersect"
                    | "except"
                    | "order"
                    | "limit"
                    | "offset"
                    | "fetch"
                    | "for"
                    | "with"
                    | "on"
                    | "returning"
            ),
            _ => false,
        }
    }

    /// The expression of an operator whose operands are all known.
    fn complete(&mut self, frame: Frame, operand: Operand) -> Result<Operand> {
        let Frame { start, height, pending, .. } = frame;
        let right = operand.expr;
        let kind = match pending {
            Pending::Not => ExprKind::Not(Box::new(right)),
            Pending::Unary(op) => unary(op, right),
            Pending::Binary(op, left) => ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) },
            Pending::And(mut operands) => {
                operands.push(right);
                ExprKind::And(operands)
            }
            Pending::Or(mut operands) => {
                operands.push(right);
                ExprKind::Or(operands)
            }
            Pending::IsDistinct { left, negated, at } => {
                ExprKind::IsDistinct { left: Box::new(left), right: Box::new(right), negated, at }
            }
            Pending::Between { operand, low, symmetric, negated, at } => {
                let (operand, low, high) = (Box::new(operand), Box::new(low), Box::new(right));
                ExprKind::Between { operand, low, high, symmetric, negated, at }
            }
            Pending::Like { kind, operand, pattern, negated, at } => {
                let (pattern, escape) = match pattern {
                    Some(pattern) => (Box::new(pattern), Some(Box::new(right))),
                    None => (Box::new(right), None),
                };
                ExprKind::Like { kind, operand: Box::new(operand), pattern, escape, negated, at }
            }
            Pending::AtTimeZone { operand, at } => {
                ExprKind::AtTimeZone { operand: Box::new(operand), zone: Box::new(right), at }
            }
        };
        // A longer chain of AND or OR is no higher: it has one node.
        let chain = matches!(&kind, ExprKind::And(operands) | ExprKind::Or(operands) if operands.len() > 2);
        let height = if chain { height.max(operand.height + 1) } else { height.max(operand.height) + 1 };
        self.whole(kind, start, height)
    }

    /// A complete expression since `start`. Errors: 54001 for a tree that is too high.
    pub(super) fn whole(&self, kind: ExprKind, start: usize, height: usize) -> Result<Operand> {
        let span = self.span_since(start);
        Self::limited(Operand { expr: Expr { kind, span }, start, height })
    }

    fn limited(operand: Operand) -> Result<Operand> {
        if operand.height > MOST_HEIGHT {
            let error = SyntaxError::new(STATEMENT_TOO_COMPLEX, "stack depth limit exceeded");
            return Err(error.at(operand.expr.span));
        }
        Ok(operand)
    }
}

/// A sign before its operand. A minus before a number is a part of the number.
fn unary(op: Operator, operand: Expr) -> ExprKind {
    let minus = op.schema.is_empty() && op.sign == "-";
    match operand.kind {
        ExprKind::Literal(Literal::Integer(digits)) if minus => ExprKind::Literal(Literal::Integer(negative(digits))),
        ExprKind::Literal(Literal::Decimal(digits)) if minus => ExprKind::Literal(Literal::Decimal(negative(digits))),
        kind => ExprKind::Unary { op, operand: Box::new(Expr { kind, span: operand.span }) },
    }
}

fn negative(digits: String) -> String {
    match digits.strip_prefix('-') {
        Some(digits) => digits.to_owned(),
        None => format!("-{digits}"),
    }
}
