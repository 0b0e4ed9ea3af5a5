//! CASE and ARRAY.

use super::Parser;
use super::operator_stack::OPERAND_HEIGHT;
use crate::error::Result;
use crate::tree::{Expr, ExprKind};

impl Parser<'_> {
    /// CASE. Errors: 42601.
    pub(super) fn case(&mut self) -> Result<ExprKind> {
        self.expect_word("case")?;
        let operand = if self.is_word("when") { None } else { Some(Box::new(self.expr()?)) };
        let mut branches = Vec::new();
        self.expect_word("when")?;
        loop {
            let condition = self.expr()?;
            self.expect_word("then")?;
            branches.push((condition, self.expr()?));
            if !self.word("when") {
                break;
            }
        }
        let otherwise = if self.word("else") { Some(Box::new(self.expr()?)) } else { None };
        self.expect_word("end")?;
        Ok(ExprKind::Case { operand, branches, otherwise })
    }

    /// ARRAY, of a query or of a list. Errors: 42601.
    pub(super) fn array(&mut self) -> Result<ExprKind> {
        self.expect_word("array")?;
        if self.is_sign('(') {
            return Ok(ExprKind::ArrayQuery(Box::new(self.query_in_parentheses()?)));
        }
        self.elements()
    }

    /// The elements of an array in brackets: all of them expressions, or all of them lists in brackets.
    fn elements(&mut self) -> Result<ExprKind> {
        self.expect_sign('[')?;
        if self.sign(']') {
            return Ok(ExprKind::Array(Vec::new()));
        }
        let elements = if self.is_sign('[') {
            self.list(|parser| {
                let start = parser.mark();
                let outer = std::mem::take(&mut parser.height);
                let kind = parser.deeper(Parser::elements)?;
                parser.height = outer.max(parser.height + OPERAND_HEIGHT);
                Ok(Expr { kind, span: parser.span_since(start) })
            })?
        } else {
            self.exprs()?
        };
        self.expect_sign(']')?;
        Ok(ExprKind::Array(elements))
    }
}
