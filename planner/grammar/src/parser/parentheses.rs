//! Parentheses: around a query, around an expression, or around the fields of a row. Their first words tell which,
//! and no token is read twice.

use super::Parser;
use super::expression::Context;
use super::operator_stack::{OPERAND_HEIGHT, Operand};
use crate::error::{Result, SyntaxError};
use crate::tree::{Expr, ExprKind, Query, QueryBody};

/// What stands in parentheses.
pub(crate) enum Parenthesized {
    /// A query. Parentheses around its own leave no trace.
    Query(Box<Query>),
    /// An expression.
    One(Expr),
    /// Two or more expressions.
    List(Vec<Expr>),
}

impl Parser<'_> {
    /// What stands in parentheses, of whatever kind. Errors: 42601.
    pub(crate) fn parenthesized(&mut self) -> Result<Parenthesized> {
        self.expect_sign('(')?;
        match self.query_or_first()? {
            (Some(query), _) => {
                self.expect_sign(')')?;
                Ok(Parenthesized::Query(Box::new(query)))
            }
            (None, first) => {
                let mut values = Vec::from_iter(first);
                while self.sign(',') {
                    values.push(self.expr()?);
                }
                self.expect_sign(')')?;
                match values.pop() {
                    Some(one) if values.is_empty() => Ok(Parenthesized::One(one)),
                    Some(last) => {
                        values.push(last);
                        Ok(Parenthesized::List(values))
                    }
                    None => Err(self.error()),
                }
            }
        }
    }

    /// A query or one expression in parentheses. Errors: 42601.
    pub(super) fn query_or_expr_in_parentheses(&mut self) -> Result<(Option<Query>, Option<Expr>)> {
        self.expect_sign('(')?;
        let found = self.query_or_first()?;
        self.expect_sign(')')?;
        Ok(found)
    }

    /// The query behind a parenthesis, or else the first expression.
    fn query_or_first(&mut self) -> Result<(Option<Query>, Option<Expr>)> {
        if self.starts_query() {
            return Ok((Some(self.query()?), None));
        }
        if !self.is_sign('(') {
            return Ok((None, Some(self.expr()?)));
        }
        let outer = std::mem::take(&mut self.height);
        let start = self.mark();
        let inner = self.deeper(Parser::parenthesized)?;
        let found = match inner {
            Parenthesized::Query(query) if self.is_sign(')') => (Some(*query), None),
            Parenthesized::Query(query) if self.continues_query() || self.are_words(&["as", "of"]) => {
                (Some(self.query_continued(QueryBody::Nested(query), start)?), None)
            }
            inner => {
                let expr = self.in_parentheses(inner, start, Context::General)?;
                let first = Operand { expr, start, height: self.height };
                (None, Some(self.deeper(|parser| parser.operators(Some(first), Context::General))?))
            }
        };
        self.height = self.height.max(outer);
        Ok(found)
    }

    /// The operand that parentheses are, together with the indirection behind them.
    pub(super) fn in_parentheses(&mut self, inner: Parenthesized, start: usize, context: Context) -> Result<Expr> {
        match inner {
            Parenthesized::One(value) => {
                let steps = self.indirection()?;
                if steps.is_empty() {
                    return Ok(value);
                }
                self.height += OPERAND_HEIGHT;
                let kind = ExprKind::Path { operand: Box::new(value), steps };
                Ok(Expr { kind, span: self.span_since(start) })
            }
            Parenthesized::Query(query) => {
                let operand = Expr { kind: ExprKind::Query(query), span: self.span_since(start) };
                let steps = self.indirection()?;
                self.height += OPERAND_HEIGHT;
                if steps.is_empty() {
                    return Ok(operand);
                }
                let kind = ExprKind::Path { operand: Box::new(operand), steps };
                Ok(Expr { kind, span: self.span_since(start) })
            }
            Parenthesized::List(fields) => {
                let row = self.row(fields, false, start, context)?;
                self.height += OPERAND_HEIGHT;
                Ok(row)
            }
        }
    }

    /// A row whose fields were read since `start`, or the comparison of two rows by OVERLAPS.
    pub(super) fn row(&mut self, fields: Vec<Expr>, explicit: bool, start: usize, context: Context) -> Result<Expr> {
        if context == Context::Restricted || !self.is_word("overlaps") {
            return Ok(Expr { kind: ExprKind::Row { fields, explicit }, span: self.span_since(start) });
        }
        let left = self.span_since(start);
        let at = self.here();
        self.skip();
        let behind = self.mark();
        let right = if self.word("row") {
            self.fields()?
        } else {
            self.expect_sign('(')?;
            let mut right = vec![self.expr()?];
            self.expect_sign(',')?;
            right.extend(self.exprs()?);
            self.expect_sign(')')?;
            right
        };
        for (fields, side, span) in [(&fields, "left", left), (&right, "right", self.span_since(behind))] {
            if fields.len() != 2 {
                let message = format!("wrong number of parameters on {side} side of OVERLAPS expression");
                return Err(SyntaxError::syntax(message).at(span));
            }
        }
        let kind = ExprKind::Overlaps { left: fields, right, at };
        Ok(Expr { kind, span: self.span_since(start) })
    }

    /// The fields of ROW in parentheses. There may be none.
    pub(super) fn fields(&mut self) -> Result<Vec<Expr>> {
        self.expect_sign('(')?;
        let fields = if self.is_sign(')') { Vec::new() } else { self.exprs()? };
        self.expect_sign(')')?;
        Ok(fields)
    }
}
