//! Finds where a statement names a column that is not grouped by. Like PostgreSQL, it searches everywhere except in
//! aggregates. The left operand of a subquery comparison precedes the subquery.

use super::binder::Binder;
use std::ops::ControlFlow;
use syntax::Span;
use syntax::ast::{Expr, ExprKind, Query};
use syntax::visit::{Visit, Visitor};

/// The first position that names a column.
#[derive(Clone, Copy)]
pub struct Mention {
    /// The span of the name.
    pub place: Span,
    /// Whether the name is in a subquery.
    pub within: bool,
}

impl Binder<'_> {
    /// The first position that names a column outside aggregates, with or without its relation's name. If there is no
    /// such position, one within an aggregate, for a column that a subquery uses.
    pub fn mention_of_column(
        &self,
        part: &(impl Visit + ?Sized),
        relation: &str,
        name: &str,
        within: bool,
    ) -> Option<Mention> {
        let is_aggregate = |name: &str| self.resolver.is_aggregate(name);
        let look = |aggregates: bool| {
            let mut search = Search { relation, name, is_aggregate: &is_aggregate, aggregates, queries: 0, inside: 0 };
            part.visit(&mut search).break_value()
        };
        look(false).or_else(|| within.then(|| look(true)).flatten())
    }
}

struct Search<'n> {
    relation: &'n str,
    name: &'n str,
    is_aggregate: &'n dyn Fn(&str) -> bool,
    /// Whether aggregates are searched.
    aggregates: bool,
    /// Nesting depth in subqueries and in aggregates.
    queries: usize,
    inside: usize,
}

impl Search<'_> {
    fn aggregates(&self, expr: &Expr) -> bool {
        let ExprKind::Call(call) = &expr.kind else { return false };
        call.over.is_none() && call.name.parts.last().is_some_and(|name| (self.is_aggregate)(&name.value))
    }
}

impl Visitor for Search<'_> {
    type Break = Mention;

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<Mention> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Mention> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Mention> {
        self.inside += usize::from(self.aggregates(expr));
        let here = match &expr.kind {
            ExprKind::Column(names) => match names.as_slice() {
                [column] => column.value == self.name,
                [.., table, column] => column.value == self.name && table.value == self.relation,
                [] => false,
            },
            _ => false,
        };
        match here && (self.aggregates || self.inside == 0) {
            true => ControlFlow::Break(Mention { place: expr.span, within: self.queries > 0 }),
            false => ControlFlow::Continue(()),
        }
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Mention> {
        self.inside -= usize::from(self.aggregates(expr));
        ControlFlow::Continue(())
    }
}
