//! Columns and paths: names, and the steps from a value to its fields and elements.

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::token::TokenKind;
use crate::tree::{Expr, ExprKind, Ident, Step};

impl Parser<'_> {
    /// The steps behind a value (opt_indirection). Errors: 42601.
    pub(super) fn indirection(&mut self) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        loop {
            if self.sign('.') {
                let span = self.here();
                steps.push(if self.operator("*") { Step::All(span) } else { Step::Field(self.label()?) });
            } else if self.sign('[') {
                steps.push(self.element()?);
            } else {
                break;
            }
        }
        let before = steps.len().saturating_sub(1);
        if steps.iter().take(before).any(|step| matches!(step, Step::All(_))) {
            let place = self.here();
            let behind = match self.peek().kind {
                TokenKind::End => "at end of input".to_owned(),
                _ => format!("at or near \"{}\"", self.slice(place)),
            };
            return Err(SyntaxError::syntax(format!("improper use of \"*\" {behind}")).at(place));
        }
        Ok(steps)
    }

    /// What stands in brackets behind a value.
    fn element(&mut self) -> Result<Step> {
        let lower = if self.peek().kind == TokenKind::Colon { None } else { Some(self.expr()?) };
        let step = if self.kind(&TokenKind::Colon) {
            let upper = if self.is_sign(']') { None } else { Some(self.expr()?) };
            Step::Slice(lower, upper)
        } else {
            match lower {
                Some(index) => Step::Element(index),
                None => return Err(self.error()),
            }
        };
        self.expect_sign(']')?;
        Ok(step)
    }

    /// A column whose names and steps were read since `start` (columnref).
    pub(super) fn column_of(&mut self, first: Ident, steps: Vec<Step>, start: usize) -> Expr {
        let span = self.span_since(start);
        let mut names = vec![first];
        let mut steps = steps.into_iter().peekable();
        while let Some(Step::Field(name)) = steps.next_if(|step| matches!(step, Step::Field(_))) {
            names.push(name);
        }
        // The first steps that are no names make it a path, except `*` directly behind the names.
        if steps.next_if(|step| matches!(step, Step::All(_))).is_some() {
            return Expr { kind: ExprKind::Star(names), span };
        }
        let column = match names.last() {
            Some(last) if steps.peek().is_some() => {
                let names_span = names.first().map_or(span, |first| first.span.to(last.span));
                Expr { kind: ExprKind::Column(names), span: names_span }
            }
            _ => return Expr { kind: ExprKind::Column(names), span },
        };
        Expr { kind: ExprKind::Path { operand: Box::new(column), steps: steps.collect() }, span }
    }
}
