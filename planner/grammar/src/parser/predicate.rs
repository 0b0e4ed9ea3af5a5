//! What follows an operand: operators, predicates, casts.

use super::Parser;
use super::expression::Context;
use super::operator::{Infix, Level};
use super::operator_stack::{Applied, Frame, Operand, Pending};
use super::parentheses::Parenthesized;
use crate::error::{Result, SyntaxError};
use crate::span::Span;
use crate::tree::{CastForm, ExprKind, LikeKind, Operator, Quantity};

/// The forms of normalization, in lower case.
const NORMAL_FORMS: [&str; 4] = ["nfc", "nfd", "nfkc", "nfkd"];

impl Parser<'_> {
    /// Reads the infix that is next, and what of its right side needs no precedence.
    pub(super) fn apply(&mut self, infix: Infix, left: Operand, context: Context) -> Result<Applied> {
        let at = self.here();
        match infix {
            Infix::Or => {
                self.skip();
                Ok(Applied::Part(chain(left, Level::Or)))
            }
            Infix::And => {
                self.skip();
                Ok(Applied::Part(chain(left, Level::And)))
            }
            Infix::Is => {
                self.skip();
                self.is(left, at, context)
            }
            Infix::IsNull(negated) => {
                self.skip();
                self.postfix(left, |operand| ExprKind::IsNull { operand, negated })
            }
            Infix::Between => self.between(left, at),
            Infix::In => self.in_values(left, at),
            Infix::Like(kind) => self.like(left, kind, at),
            // The stack of operators has taken it.
            Infix::Escape => Err(self.error()),
            Infix::Operator(level) => {
                let op = self.any_operator()?;
                if context != Context::Restricted && self.is_quantifier() {
                    return self.quantified(left, op);
                }
                Ok(Applied::Part(frame(left, level, |left| Pending::Binary(op, left))))
            }
            Infix::At => {
                self.skip();
                self.expect_words(&["time", "zone"])?;
                Ok(Applied::Part(frame(left, Level::At, |operand| Pending::AtTimeZone { operand, at })))
            }
            Infix::Collate => {
                self.skip();
                let collation = self.name()?;
                self.postfix(left, |operand| ExprKind::Collate { operand, collation, at })
            }
            Infix::Cast => {
                self.skip();
                let data_type = self.type_name()?;
                let form = CastForm::DoubleColon;
                self.postfix(left, |operand| ExprKind::Cast { operand, data_type, form, at })
            }
        }
    }

    /// The expression that an operand and the tokens behind it make. Children read meanwhile count for its height.
    fn postfix(&mut self, left: Operand, kind: impl FnOnce(Box<crate::tree::Expr>) -> ExprKind) -> Result<Applied> {
        let height = left.height.max(std::mem::take(&mut self.height)) + 1;
        Ok(Applied::Whole(self.whole(kind(Box::new(left.expr)), left.start, height)?))
    }

    /// What follows IS.
    fn is(&mut self, left: Operand, at: Span, context: Context) -> Result<Applied> {
        // NOT before such a word is another token in PostgreSQL, which cannot stand here.
        if self.is_word("not") && self.pattern_infix_at(1).is_some() {
            return Err(self.error());
        }
        let negated = self.word("not");
        if self.word("distinct") {
            self.expect_word("from")?;
            return Ok(Applied::Part(frame(left, Level::Is, |left| Pending::IsDistinct { left, negated, at })));
        }
        if self.is_word("document") {
            return Err(SyntaxError::unsupported("IS DOCUMENT").at(at));
        }
        if context == Context::Restricted {
            return Err(self.error());
        }
        let truth = match self.one_word_of(&["null", "true", "false", "unknown", "normalized"]) {
            Some(0) => return self.postfix(left, |operand| ExprKind::IsNull { operand, negated }),
            Some(1) => Some(true),
            Some(2) => Some(false),
            Some(3) => None,
            Some(_) => {
                return self.postfix(left, |operand| ExprKind::IsNormalized { operand, form: None, negated, at });
            }
            None => {
                let form = Some(self.normal_form()?);
                self.expect_word("normalized")?;
                return self.postfix(left, |operand| ExprKind::IsNormalized { operand, form, negated, at });
            }
        };
        self.postfix(left, |operand| ExprKind::IsTruth { operand, truth, negated })
    }

    /// A form of normalization (unicode_normal_form).
    pub(super) fn normal_form(&mut self) -> Result<String> {
        match self.one_word_of(&NORMAL_FORMS).and_then(|at| NORMAL_FORMS.get(at)) {
            Some(form) => Ok(form.to_uppercase()),
            None => Err(self.error()),
        }
    }

    fn between(&mut self, left: Operand, at: Span) -> Result<Applied> {
        let negated = self.word("not");
        self.skip();
        let symmetric = self.word("symmetric");
        if !symmetric {
            self.word("asymmetric");
        }
        self.height = 0;
        let low = self.restricted_expr()?;
        self.expect_word("and")?;
        let height = left.height.max(self.height);
        let left = Operand { height, ..left };
        let pending = |operand| Pending::Between { operand, low, symmetric, negated, at };
        Ok(Applied::Part(frame(left, Level::Like, pending)))
    }

    fn in_values(&mut self, left: Operand, at: Span) -> Result<Applied> {
        let negated = self.word("not");
        self.skip();
        self.height = 0;
        match self.parenthesized()? {
            Parenthesized::Query(query) => {
                self.postfix(left, |operand| ExprKind::InQuery { operand, query, negated, at })
            }
            Parenthesized::One(value) => {
                let list = vec![value];
                self.postfix(left, |operand| ExprKind::InList { operand, list, negated, at })
            }
            Parenthesized::List(list) => self.postfix(left, |operand| ExprKind::InList { operand, list, negated, at }),
        }
    }

    fn like(&mut self, left: Operand, kind: LikeKind, at: Span) -> Result<Applied> {
        let start = self.mark();
        let negated = self.word("not");
        self.skip();
        if kind == LikeKind::SimilarTo {
            self.expect_word("to")?;
        } else if self.is_quantifier() {
            let sign = match (kind, negated) {
                (LikeKind::ILike, false) => "~~*",
                (LikeKind::ILike, true) => "!~~*",
                (_, false) => "~~",
                (_, true) => "!~~",
            };
            let op = Operator { schema: Vec::new(), sign: sign.to_owned(), span: self.span_since(start) };
            return self.quantified(left, op);
        }
        let pending = |operand| Pending::Like { kind, operand, pattern: None, negated, at };
        Ok(Applied::Part(frame(left, Level::Like, pending)))
    }

    fn is_quantifier(&self) -> bool {
        self.is_word("any") || self.is_word("some") || self.is_word("all")
    }

    /// ANY, SOME or ALL, and the values.
    fn quantified(&mut self, left: Operand, op: Operator) -> Result<Applied> {
        let all = self.is_word("all");
        self.skip();
        self.height = 0;
        let right = match self.query_or_expr_in_parentheses()? {
            (Some(query), _) => Quantity::Query(Box::new(query)),
            (None, Some(array)) => Quantity::Array(Box::new(array)),
            (None, None) => return Err(self.error()),
        };
        self.postfix(left, |left| ExprKind::Quantified { left, op, all, right })
    }
}

/// An operator behind its left operand.
fn frame(left: Operand, level: Level, pending: impl FnOnce(crate::tree::Expr) -> Pending) -> Frame {
    Frame { start: left.start, level, height: left.height, pending: pending(left.expr) }
}

/// AND or OR. A left operand that is such a chain goes on.
fn chain(left: Operand, level: Level) -> Frame {
    let Operand { expr, start, height } = left;
    let pending = match (expr.kind, level) {
        (ExprKind::And(operands), Level::And) => Pending::And(operands),
        (ExprKind::Or(operands), Level::Or) => Pending::Or(operands),
        (kind, Level::And) => Pending::And(vec![crate::tree::Expr { kind, span: expr.span }]),
        (kind, _) => Pending::Or(vec![crate::tree::Expr { kind, span: expr.span }]),
    };
    Frame { start, level, height, pending }
}
