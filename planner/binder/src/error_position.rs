//! Positions of errors for operators, casts and columns. The syntax tree does not keep these positions.

use super::binder::Binder;
use sql_error::SqlError;
use sqlparser::ast::{self, Spanned};
use sqlparser::tokenizer::Span;
use std::ops::ControlFlow;
use syntax::{fold, is_word};
use types::SqlType;

impl Binder<'_> {
    /// Adds the position that stands for a whole expression. For a test, it is that of its keyword.
    pub(super) fn at_anchor(&self, error: SqlError, expr: &ast::Expr) -> SqlError {
        use ast::Expr as E;
        let (operand, word) = match expr {
            E::InList { expr, .. } | E::InSubquery { expr, .. } => (expr, "in"),
            E::Between { expr, .. } => (expr, "between"),
            _ => return self.at(error, anchor(expr)),
        };
        let words = |token: &str| token.eq_ignore_ascii_case(word) || token.eq_ignore_ascii_case("not");
        self.source.error_at_token(error, (Some(operand.span().end), None), false, words, expr.span())
    }

    /// The error 42601 for a query of a set operation with another number of columns, at its first column. VALUES has
    /// no position.
    pub(super) fn uneven_queries(&self, message: String, right: &ast::SetExpr) -> SqlError {
        let mut body = right;
        while let ast::SetExpr::Query(query) = body {
            body = &query.body;
        }
        let error = SqlError::syntax(message);
        match body {
            ast::SetExpr::Values(_) => error.of_values(),
            body => self.at(error, place_of_target(body, 0)),
        }
    }

    /// Adds the position of an operator: between its operands, or before its only operand.
    pub fn at_operator(&self, error: SqlError, symbol: &str, left: Option<&ast::Expr>, right: &ast::Expr) -> SqlError {
        let says = |token: &str| token.eq_ignore_ascii_case(symbol) || (symbol == "<>" && token == "!=");
        let (start, right) = (left.map(ast::Expr::span), right.span());
        let within = (start.map(|span| span.end), known(right).map(|span| span.start));
        self.source.error_at_token(error, within, left.is_none(), says, start.unwrap_or(right))
    }

    /// Adds the position of a function's name before its first argument.
    pub fn at_call(&self, error: SqlError, name: &str, argument: Span) -> SqlError {
        let says = |token: &str| token.eq_ignore_ascii_case(name);
        self.source.error_at_token(error, (None, Some(argument.start)), true, says, argument)
    }

    /// Adds the position of IN behind its left operand.
    pub fn at_in(&self, error: SqlError, left: &ast::Expr) -> SqlError {
        let (left, says) =
            (left.span(), |token: &str| ["in", "not"].iter().any(|word| token.eq_ignore_ascii_case(word)));
        self.source.error_at_token(error, (Some(left.end), None), false, says, left)
    }

    /// Adds the position of a keyword behind an operand (IN, BETWEEN, or NOT before them) to an error that has none.
    pub fn at_word(&self, error: SqlError, left: &ast::Expr, word: &str) -> SqlError {
        if error.fields().position.is_some() {
            return error;
        }
        let says = |token: &str| token.eq_ignore_ascii_case(word) || token.eq_ignore_ascii_case("not");
        let left = left.span();
        self.source.error_at_token(error, (Some(left.end), None), false, says, left)
    }

    /// Adds the position of the WHEN before a value to an error that has none.
    pub fn at_when(&self, error: SqlError, value: &ast::Expr) -> SqlError {
        if error.fields().position.is_some() {
            return error;
        }
        let says = |token: &str| token.eq_ignore_ascii_case("when");
        let value = value.span();
        self.source.error_at_token(error, (None, Some(value.start)), true, says, value)
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
            Some(expr) => self.at(error, anchor(expr)),
            None => error,
        }
    }

    /// Adds the position of LIKE or ILIKE, or of NOT before it.
    pub fn at_like(&self, error: SqlError, left: &ast::Expr, pattern: &ast::Expr) -> SqlError {
        let says = |token: &str| ["like", "ilike", "not"].iter().any(|word| token.eq_ignore_ascii_case(word));
        let (left, pattern) = (left.span(), pattern.span());
        self.source.error_at_token(error, (Some(left.end), known(pattern).map(|span| span.start)), false, says, left)
    }

    /// Adds the position of a cast: `::` or the word CAST.
    pub fn at_cast(&self, error: SqlError, kind: &ast::CastKind, inner: &ast::Expr) -> SqlError {
        // The span of a cast is that of its operand.
        let mut before = 0;
        let mut operand = inner;
        loop {
            operand = match operand {
                ast::Expr::Cast { kind: ast::CastKind::DoubleColon, expr, .. } => {
                    before += 1;
                    expr
                }
                ast::Expr::Nested(expr) => expr,
                _ => break,
            };
        }
        let inner = inner.span();
        match kind {
            ast::CastKind::DoubleColon => {
                let left = std::cell::Cell::new(before);
                let own = |token: &str| match (token == "::", left.get()) {
                    (true, 0) => true,
                    (true, more) => {
                        left.set(more - 1);
                        false
                    }
                    (false, _) => false,
                };
                self.source.error_at_token(error, (Some(inner.end), None), false, own, inner)
            }
            _ => {
                let cast = |token: &str| token.eq_ignore_ascii_case("cast");
                self.source.error_at_token(error, (None, Some(inner.start)), true, cast, inner)
            }
        }
    }

    /// Adds the position of a cast's type.
    pub fn at_type(&self, error: SqlError, kind: &ast::CastKind, inner: &ast::Expr) -> SqlError {
        let inner = inner.span();
        let before = if matches!(kind, ast::CastKind::DoubleColon) { "::" } else { "as" };
        let passed = std::cell::Cell::new(false);
        let next = |token: &str| {
            let behind = passed.get();
            passed.set(behind || token.eq_ignore_ascii_case(before));
            behind
        };
        self.source.error_at_token(error, (Some(inner.end), None), false, next, inner)
    }

    /// The span of the first argument of the first GROUPING in a part of the statement.
    pub fn place_of_grouping(&self, part: &impl ast::Visit) -> Option<Span> {
        let found = ast::visit_expressions(part, |expr: &ast::Expr| match expr {
            ast::Expr::Function(function) => match (function.name.0.as_slice(), &function.args) {
                ([ast::ObjectNamePart::Identifier(name)], ast::FunctionArguments::List(list))
                    if fold(name) == "grouping" =>
                {
                    ControlFlow::Break(list.args.first().map_or_else(Span::empty, Spanned::span))
                }
                _ => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        });
        found.break_value()
    }

    /// The span of the first aggregate call in a part of the statement.
    pub fn place_of_aggregate(&self, part: &impl ast::Visit) -> Option<Span> {
        let found = ast::visit_expressions(part, |expr: &ast::Expr| match expr {
            ast::Expr::Function(function) if function.over.is_none() => match function.name.0.last() {
                Some(ast::ObjectNamePart::Identifier(name)) if self.resolver.is_aggregate(&fold(name)) => {
                    ControlFlow::Break(super::binder::span_of(&function.name))
                }
                _ => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        });
        found.break_value()
    }

    /// The start of an expression: for `ARRAY[…]` the keyword, for `json '…'` the type.
    pub fn start_of(&self, expr: &ast::Expr) -> Span {
        let mut first = expr;
        loop {
            first = match first {
                ast::Expr::Cast { kind: ast::CastKind::DoubleColon, expr, .. } => expr,
                ast::Expr::BinaryOp { left, .. } => left,
                _ => break,
            };
        }
        let inner = expr.span();
        let typed = matches!(first, ast::Expr::TypedString(_));
        if !typed && !matches!(first, ast::Expr::Array(array) if array.named) {
            return inner;
        }
        let tokens = self.source.tokens().unwrap_or_default();
        let mut before = tokens.iter().rev().skip_while(|token| token.span.start >= inner.start);
        before.find(|token| typed || is_word(token, "array")).map_or(inner, |token| token.span)
    }

    /// Adds the position of the first such word behind a span.
    pub fn at_behind(&self, error: SqlError, word: &str, before: Span) -> SqlError {
        let says = |token: &str| token.eq_ignore_ascii_case(word);
        self.source.error_at_token(error, (Some(before.end), None), false, says, before)
    }

    /// Adds the position of the parenthesis before a span.
    pub fn at_bracket(&self, error: SqlError, inner: Span) -> SqlError {
        self.source.error_at_token(error, (None, Some(inner.start)), true, |token| token == "(", inner)
    }

    /// The span where a part of the statement first names a column, with or without its relation's name.
    pub fn place_of_column(&self, part: &impl ast::Visit, relation: &str, name: &str) -> Option<Span> {
        let found = ast::visit_expressions(part, |expr: &ast::Expr| {
            let here = match expr {
                ast::Expr::Identifier(column) => fold(column) == name,
                ast::Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                    [.., table, column] => fold(column) == name && fold(table) == relation,
                    _ => false,
                },
                _ => false,
            };
            if here { ControlFlow::Break(expr.span()) } else { ControlFlow::Continue(()) }
        });
        found.break_value()
    }
}

/// The span of `*` in a select list.
pub fn place_of_star(list: &[ast::SelectItem]) -> Option<Span> {
    list.iter().find_map(|item| match item {
        ast::SelectItem::Wildcard(options) => Some(options.wildcard_token.0.span),
        ast::SelectItem::QualifiedWildcard(..) => Some(item.span()),
        _ => None,
    })
}

/// The span of a SELECT's column expression, if it is known.
pub fn place_of_item(select: &ast::Select, at: usize) -> Span {
    use ast::SelectItem as Item;
    let mut items = select.projection.iter();
    let whole = items.clone().take(at + 1).find(|item| matches!(item, Item::Wildcard(_) | Item::QualifiedWildcard(..)));
    match whole.or_else(|| items.nth(at)) {
        Some(Item::UnnamedExpr(expr) | Item::ExprWithAlias { expr, .. }) => expr.span(),
        Some(other) => other.span(),
        None => Span::empty(),
    }
}

/// The span of a query's column expression, if it is known.
pub fn place_of_target(body: &ast::SetExpr, at: usize) -> Span {
    use ast::SetExpr;
    match body {
        SetExpr::Select(select) => place_of_item(select, at),
        SetExpr::Values(values) => {
            values.rows.first().and_then(|row| row.content.get(at)).map_or_else(Span::empty, ast::Expr::span)
        }
        SetExpr::Query(query) => place_of_target(&query.body, at),
        SetExpr::SetOperation { left, .. } => place_of_target(left, at),
        _ => Span::empty(),
    }
}

/// The span, unless it is empty.
fn known(span: Span) -> Option<Span> {
    (span != Span::empty()).then_some(span)
}

/// The position that PostgreSQL reports. For an operator it would be the operator's, which the tree does not keep, so
/// it is the start.
fn anchor(expr: &ast::Expr) -> Span {
    match expr {
        ast::Expr::Function(function) => super::binder::span_of(&function.name),
        other => other.span(),
    }
}
