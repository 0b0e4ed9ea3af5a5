//! Checks where a WITH RECURSIVE query may refer to itself, and determines the binding order of WITH RECURSIVE queries.
//! It works on syntax trees only.

use super::error_position::place_of;
use sql_error::{SqlError, state};
use std::ops::ControlFlow;
use syntax::Span;
use syntax::ast::{self, ExprKind, FromItem, JoinCondition, JoinKind, QueryBody, SetOperator};
use syntax::visit::{Visit, Visitor};

/// SQLSTATE of invalid recursion.
pub const INVALID_RECURSION: &str = "42P19";

/// A result, or an error with its span.
type Placed<T> = std::result::Result<T, (SqlError, Span)>;

/// The kind of position of a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Allowed,
    NonRecursive,
    Subquery,
    OuterJoin,
    Intersect,
    Except,
}

/// Checks the restrictions of a recursive query, which is known to be a UNION. Errors: 42P19, 0A000.
pub fn check_recursion(
    name: &str,
    query: &ast::Query,
    (left, right): (&QueryBody, &QueryBody),
    is_aggregate: &dyn Fn(&str) -> bool,
) -> Placed<()> {
    let refused = |what: &str, place: Span| {
        let message = format!("{what} in a recursive query is not implemented");
        Err((SqlError::new(state::FEATURE_NOT_SUPPORTED, message), place))
    };
    if let Some(first) = query.order_by.first() {
        return refused("ORDER BY", place_of(&first.value));
    }
    if let Some(offset) = &query.offset {
        return refused("OFFSET", place_of(offset));
    }
    if let Some(limit) = &query.limit {
        return refused("LIMIT", place_of(&limit.count));
    }
    if !query.locks.is_empty() {
        return refused("FOR UPDATE/SHARE", Span::NONE);
    }
    let mut walk = Walk { name, is_aggregate, references: 0 };
    walk.body(left, Place::NonRecursive)?;
    walk.body(right, Place::Allowed)
}

struct Walk<'w> {
    name: &'w str,
    is_aggregate: &'w dyn Fn(&str) -> bool,
    references: usize,
}

impl Walk<'_> {
    fn reference(&mut self, place: Place, span: Span) -> Placed<()> {
        let within = match place {
            Place::Allowed => {
                self.references += 1;
                if self.references == 1 {
                    return Ok(());
                }
                "more than once"
            }
            Place::NonRecursive => "within its non-recursive term",
            Place::Subquery => "within a subquery",
            Place::OuterJoin => "within an outer join",
            Place::Intersect => "within INTERSECT",
            Place::Except => "within EXCEPT",
        };
        let message = format!("recursive reference to query \"{}\" must not appear {within}", self.name);
        Err((SqlError::new(INVALID_RECURSION, message), span))
    }

    /// Checks a part that must not refer to the query.
    fn expression(&mut self, part: &impl Visit, place: Place) -> Placed<()> {
        match mention(part, self.name) {
            Some(span) => self.reference(if place == Place::NonRecursive { place } else { Place::Subquery }, span),
            None => Ok(()),
        }
    }

    fn query(&mut self, query: &ast::Query, place: Place) -> Placed<()> {
        for table in query.with.iter().flat_map(|with| &with.queries) {
            if table.name.value == self.name {
                return Ok(());
            }
            match table.statement.as_ref() {
                ast::Statement::Query(query) => self.query(query, place)?,
                write => self.expression(write, place)?,
            }
        }
        self.body(&query.body, place)?;
        self.expression(&query.order_by, place)?;
        self.expression(&query.offset, place)?;
        match &query.limit {
            Some(limit) => self.expression(&limit.count, place),
            None => Ok(()),
        }
    }

    fn body(&mut self, body: &QueryBody, place: Place) -> Placed<()> {
        syntax::deeper(|| self.body_of(body, place))
    }

    fn body_of(&mut self, body: &QueryBody, place: Place) -> Placed<()> {
        match body {
            QueryBody::Select(select) => self.select(select, place),
            QueryBody::Nested(query) => self.query(query, place),
            QueryBody::Set(set) => {
                let (first, other) = match set.operator {
                    SetOperator::Intersect if set.all => (Place::Intersect, Place::Intersect),
                    SetOperator::Except if set.all => (Place::Except, Place::Except),
                    SetOperator::Except => (place, Place::Except),
                    _ => (place, place),
                };
                let within = |inner: Place| if place == Place::Allowed { inner } else { place };
                for (at, arm) in set.arms.iter().enumerate() {
                    self.body(arm, within(if at == 0 { first } else { other }))?;
                }
                Ok(())
            }
            QueryBody::Table(relation, _) => self.table(&relation.name, place).map(|_| ()),
            QueryBody::Values(rows, _) => self.expression(rows, place),
        }
    }

    fn select(&mut self, select: &ast::Select, place: Place) -> Placed<()> {
        let mut own = false;
        for item in &select.from {
            own |= self.item(item, place)?;
        }
        let rest = ast::Select { from: Vec::new(), ..select.clone() };
        self.expression(&rest, place)?;
        let mut aggregates = Aggregates { is_aggregate: self.is_aggregate, depth: 0 };
        if own && let ControlFlow::Break(span) = rest.visit(&mut aggregates) {
            let message = "aggregate functions are not allowed in a recursive query's recursive term";
            return Err((SqlError::new(INVALID_RECURSION, message), span));
        }
        Ok(())
    }

    /// Whether an item of FROM refers to the query, except within a subquery.
    fn item(&mut self, item: &FromItem, place: Place) -> Placed<bool> {
        match item {
            FromItem::Table { relation, .. } => self.table(&relation.name, place),
            FromItem::Query { query, .. } => self.query(query, place).map(|()| false),
            FromItem::Function { .. } => self.expression(item, place).map(|()| false),
            FromItem::Join(join) => syntax::deeper(|| self.join(join, place)),
        }
    }

    fn join(&mut self, join: &ast::Join, place: Place) -> Placed<bool> {
        let optional = if place == Place::Allowed { Place::OuterJoin } else { place };
        let (left, right) = match join.kind {
            JoinKind::Cross | JoinKind::Inner => (place, place),
            JoinKind::Left => (place, optional),
            JoinKind::Right => (optional, place),
            JoinKind::Full => (optional, optional),
        };
        let mut own = self.item(&join.left, left)?;
        own |= self.item(&join.right, right)?;
        if let JoinCondition::On(condition) = &join.condition {
            self.expression(condition, place)?;
        }
        Ok(own)
    }

    /// Whether a name is that of the query.
    fn table(&mut self, name: &ast::Name, place: Place) -> Placed<bool> {
        match name.parts.as_slice() {
            [ident] if ident.value == self.name => self.reference(place, ident.span).map(|()| true),
            _ => Ok(false),
        }
    }
}

/// Searches for aggregates at a query's own level.
struct Aggregates<'a> {
    is_aggregate: &'a dyn Fn(&str) -> bool,
    depth: usize,
}

impl Visitor for Aggregates<'_> {
    type Break = Span;
    fn pre_visit_query(&mut self, _: &ast::Query) -> ControlFlow<Span> {
        self.depth += 1;
        ControlFlow::Continue(())
    }
    fn post_visit_query(&mut self, _: &ast::Query) -> ControlFlow<Span> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<Span> {
        match &expr.kind {
            ExprKind::Call(call) if self.depth == 0 && call.over.is_none() => match call.name.parts.as_slice() {
                [name] if (self.is_aggregate)(&name.value) => ControlFlow::Break(name.span),
                _ => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Whether a part of a tree names a table.
pub fn mentions(part: &impl Visit, name: &str) -> bool {
    mention(part, name).is_some()
}

/// The first position that names a table, unless a nested WITH hides the table.
fn mention(part: &impl Visit, name: &str) -> Option<Span> {
    part.visit(&mut Mention { name, hidden: 0 }).break_value()
}

/// Searches for a name. `hidden` counts the enclosing queries that have a WITH query with that name.
struct Mention<'n> {
    name: &'n str,
    hidden: usize,
}

impl Mention<'_> {
    fn hides(&self, query: &ast::Query) -> Option<usize> {
        let tables = &query.with.as_ref()?.queries;
        tables.iter().position(|table| table.name.value == self.name)
    }
}

impl Visitor for Mention<'_> {
    type Break = Span;

    fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<Span> {
        let (Some(with), Some(place)) = (&query.with, self.hides(query)) else { return ControlFlow::Continue(()) };
        // Earlier queries cannot see it. Without RECURSIVE, it cannot see itself.
        let outside = if with.recursive { 0 } else { place + 1 };
        let named = with.queries.iter().take(outside).find_map(|table| mention(&table.statement, self.name));
        match named.filter(|_| self.hidden == 0) {
            Some(span) => ControlFlow::Break(span),
            None => {
                self.hidden += 1;
                ControlFlow::Continue(())
            }
        }
    }
    fn post_visit_query(&mut self, query: &ast::Query) -> ControlFlow<Span> {
        self.hidden -= usize::from(self.hides(query).is_some());
        ControlFlow::Continue(())
    }
    fn pre_visit_relation(&mut self, relation: &ast::Name) -> ControlFlow<Span> {
        match relation.parts.as_slice() {
            [ident] if self.hidden == 0 && ident.value == self.name => ControlFlow::Break(ident.span),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// WITH RECURSIVE queries in the order of their binding: each follows those that it names. Errors: 0A000 if two name
/// each other, with the place of the first.
pub fn in_order(queries: &[ast::CommonTable]) -> Placed<Vec<&ast::CommonTable>> {
    let needs = |one: &ast::CommonTable, other: &ast::CommonTable| mentions(&one.statement, &other.name.value);
    let mut left: Vec<&ast::CommonTable> = queries.iter().collect();
    let mut order = Vec::with_capacity(queries.len());
    while !left.is_empty() {
        let waits = |one: &ast::CommonTable| left.iter().any(|other| !std::ptr::eq(one, *other) && needs(one, other));
        let Some(free) = left.iter().position(|one| !waits(one)) else {
            let message = "mutual recursion between WITH items is not implemented";
            let place = left.first().map_or(Span::NONE, |first| first.name.span);
            return Err((SqlError::new(state::FEATURE_NOT_SUPPORTED, message), place));
        };
        order.push(left.remove(free));
    }
    Ok(order)
}
