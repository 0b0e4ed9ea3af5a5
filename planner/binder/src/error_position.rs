//! Positions of errors: the place of an expression as PostgreSQL's `exprLocation` gives it, and places that the tree
//! does not say.

use super::binder::Binder;
use sql_error::SqlError;
use std::ops::ControlFlow;
use syntax::ast::{self, CastForm, ExprKind, Literal, QueryBody};
use syntax::visit::{Visit, visit_expressions};
use syntax::{Span, deeper};
use types::SqlType;

impl Binder<'_> {
    /// Adds the position of an expression to an error of the expression itself: that of its operator, of the word
    /// behind its operand, or of its start.
    pub(super) fn at_anchor(&self, error: SqlError, expr: &ast::Expr) -> SqlError {
        let span = match &expr.kind {
            ExprKind::Unary { op, .. } | ExprKind::Binary { op, .. } | ExprKind::Quantified { op, .. } => op.span,
            ExprKind::IsDistinct { at, .. }
            | ExprKind::IsNormalized { at, .. }
            | ExprKind::Between { at, .. }
            | ExprKind::InList { at, .. }
            | ExprKind::InQuery { at, .. }
            | ExprKind::Like { at, .. }
            | ExprKind::Cast { at, .. }
            | ExprKind::Collate { at, .. }
            | ExprKind::AtTimeZone { at, .. }
            | ExprKind::Overlaps { at, .. } => *at,
            _ => place_of(expr),
        };
        self.at(error, span)
    }

    /// The error 42601 for a query of a set operation with another number of columns, at its first column. VALUES has
    /// no position.
    pub(super) fn uneven_queries(&self, message: String, right: &QueryBody) -> SqlError {
        let mut body = right;
        while let QueryBody::Nested(query) = body {
            body = &query.body;
        }
        let error = SqlError::syntax(message);
        match body {
            QueryBody::Values(..) => error.of_values(),
            body => self.at(error, place_of_target(body, 0)),
        }
    }

    /// Adds the position of the WHEN between a part of CASE and the value behind it to an error that has none. The tree
    /// has no place of it.
    pub(super) fn at_when(&self, error: SqlError, before: Span, value: &ast::Expr) -> SqlError {
        let (start, end) = (before.end as usize, value.span.start as usize);
        let between = self.source.text().get(start..end).unwrap_or_default().to_ascii_lowercase();
        let span = match between.rfind("when").and_then(|at| u32::try_from(start + at).ok()) {
            Some(start) => Span { start, end: start + 4 },
            None => value.span,
        };
        self.at(error, span)
    }

    /// Adds the position of the first expression whose type does not fit the previous ones to an error that has none.
    pub fn at_mismatch(&self, error: SqlError, exprs: &[&ast::Expr], types: &[SqlType]) -> SqlError {
        if error.fields().position.is_some() {
            return error;
        }
        let fails =
            |count: &usize| types.get(..*count).is_some_and(|some| self.resolver.common_type("", some).is_err());
        let odd = (2..=types.len()).find(fails).and_then(|count| exprs.get(count - 1));
        match odd {
            Some(expr) => self.at(error, place_of(expr)),
            None => error,
        }
    }

    /// The place of the first argument of the first GROUPING in a part of the statement.
    pub fn place_of_grouping(&self, part: &(impl Visit + ?Sized)) -> Option<Span> {
        let found = visit_expressions(part, |expr| match &expr.kind {
            ExprKind::Special(call) => match call.as_ref() {
                ast::SpecialCall::Grouping(arguments) => {
                    ControlFlow::Break(arguments.first().map_or(expr.span, place_of))
                }
                _ => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        });
        found.break_value()
    }

    /// The place of the first aggregate call in a part of the statement.
    pub fn place_of_aggregate(&self, part: &(impl Visit + ?Sized)) -> Option<Span> {
        let found = visit_expressions(part, |expr| match &expr.kind {
            ExprKind::Call(call) if call.over.is_none() => match call.name.parts.last() {
                Some(name) if self.resolver.is_aggregate(&name.value) => ControlFlow::Break(call.name.span),
                _ => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        });
        found.break_value()
    }

    /// Adds the position of the parenthesis before a span. The tree has no place of it.
    pub fn at_bracket(&self, error: SqlError, inner: Span) -> SqlError {
        let before = self.source.text().get(..inner.start as usize).unwrap_or_default();
        let span = match before.rfind('(').and_then(|at| u32::try_from(at).ok()) {
            Some(start) => Span { start, end: start + 1 },
            None => inner,
        };
        self.at(error, span)
    }

    /// The place where a part of the statement first names a column, with or without its relation's name.
    pub fn place_of_column(&self, part: &(impl Visit + ?Sized), relation: &str, name: &str) -> Option<Span> {
        let found = visit_expressions(part, |expr| {
            let here = match &expr.kind {
                ExprKind::Column(parts) => match parts.as_slice() {
                    [column] => column.value == name,
                    [.., table, column] => column.value == name && table.value == relation,
                    [] => false,
                },
                _ => false,
            };
            if here { ControlFlow::Break(expr.span) } else { ControlFlow::Continue(()) }
        });
        found.break_value()
    }
}

/// The place of an expression: its leftmost part, as PostgreSQL's `exprLocation` gives it. Parentheses before that are
/// no part of it, except those of a row or a query.
pub fn written_place(expr: &ast::Expr) -> Span {
    let mut leftmost = expr;
    loop {
        leftmost = match &leftmost.kind {
            ExprKind::And(operands) | ExprKind::Or(operands) => match operands.first() {
                Some(first) => first,
                None => return leftmost.span,
            },
            ExprKind::Overlaps { left, .. } => match left.first() {
                Some(first) => first,
                None => return leftmost.span,
            },
            ExprKind::Binary { left, .. } | ExprKind::IsDistinct { left, .. } | ExprKind::Quantified { left, .. } => {
                left
            }
            ExprKind::IsNull { operand, .. }
            | ExprKind::IsTruth { operand, .. }
            | ExprKind::IsNormalized { operand, .. }
            | ExprKind::Between { operand, .. }
            | ExprKind::InList { operand, .. }
            | ExprKind::InQuery { operand, .. }
            | ExprKind::Like { operand, .. }
            | ExprKind::Cast { operand, form: CastForm::DoubleColon, .. }
            | ExprKind::Collate { operand, .. }
            | ExprKind::AtTimeZone { operand, .. }
            | ExprKind::Path { operand, .. } => operand,
            _ => return leftmost.span,
        };
    }
}

/// The place of an expression's value: that of its string for a typed constant, because a string takes the type at once and
/// stays where it is. PostgreSQL gives this place once the expression is bound.
pub fn place_of(expr: &ast::Expr) -> Span {
    match &expr.kind {
        ExprKind::Cast { operand, .. } if matches!(operand.kind, ExprKind::Literal(Literal::String(_))) => operand.span,
        _ => written_place(expr),
    }
}

/// The place of `*` in a select list.
pub fn place_of_star(list: &[ast::Target]) -> Option<Span> {
    list.iter().find(|target| is_star(target)).map(|target| target.value.span)
}

fn is_star(target: &ast::Target) -> bool {
    matches!(target.value.kind, ExprKind::Star(_))
}

/// The place of a SELECT's column expression, if it is known.
pub fn place_of_item(select: &ast::Select, at: usize) -> Span {
    let mut targets = select.targets.iter();
    let whole = targets.clone().take(at + 1).find(|target| is_star(target));
    whole.or_else(|| targets.nth(at)).map_or(Span::NONE, |target| place_of(&target.value))
}

/// The place of a query's column expression, if it is known.
pub fn place_of_target(body: &QueryBody, at: usize) -> Span {
    deeper(|| match body {
        QueryBody::Select(select) => place_of_item(select, at),
        QueryBody::Values(rows, _) => rows.first().and_then(|row| row.get(at)).map_or(Span::NONE, place_of),
        QueryBody::Nested(query) => place_of_target(&query.body, at),
        QueryBody::Set(operation) => operation.arms.first().map_or(Span::NONE, |first| place_of_target(first, at)),
        QueryBody::Table(..) => Span::NONE,
    })
}
