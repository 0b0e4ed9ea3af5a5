//! Checks where a WITH RECURSIVE query may refer to itself, and determines the binding order of WITH RECURSIVE queries.
//! It works on syntax trees only.

use sql_error::{SqlError, state};
use sqlparser::ast::{self, JoinOperator, SetExpr, SetOperator, Spanned, TableFactor, Visit, Visitor};
use sqlparser::tokenizer::Span;
use std::ops::ControlFlow;
use syntax::fold;

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
    (left, right): (&SetExpr, &SetExpr),
    is_aggregate: &dyn Fn(&str) -> bool,
) -> Placed<()> {
    let refused = |what: &str, place: Span| {
        let message = format!("{what} in a recursive query is not implemented");
        Err((SqlError::new(state::FEATURE_NOT_SUPPORTED, message), place))
    };
    if let Some(order) = &query.order_by {
        return refused("ORDER BY", order.span());
    }
    match &query.limit_clause {
        Some(ast::LimitClause::LimitOffset { offset: Some(offset), .. }) => {
            return refused("OFFSET", offset.value.span());
        }
        Some(ast::LimitClause::LimitOffset { limit: Some(limit), .. }) => return refused("LIMIT", limit.span()),
        Some(other) => return refused("LIMIT", other.span()),
        None => {}
    }
    if let Some(fetch) = &query.fetch {
        return refused("LIMIT", fetch.quantity.as_ref().map_or_else(Span::empty, Spanned::span));
    }
    if !query.locks.is_empty() {
        return refused("FOR UPDATE/SHARE", Span::empty());
    }
    let mut walk = Walk { name, is_aggregate, references: 0 };
    walk.set_expr(left, Place::NonRecursive)?;
    walk.set_expr(right, Place::Allowed)
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
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        for cte in ctes {
            if fold(&cte.alias.name) == self.name {
                return Ok(());
            }
            self.query(&cte.query, place)?;
        }
        self.set_expr(&query.body, place)?;
        self.expression(&query.order_by, place)?;
        self.expression(&query.limit_clause, place)
    }

    fn set_expr(&mut self, body: &SetExpr, place: Place) -> Placed<()> {
        match body {
            SetExpr::Select(select) => self.select(select, place),
            SetExpr::Query(query) => self.query(query, place),
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                let all = *set_quantifier == ast::SetQuantifier::All;
                let (first, second) = match op {
                    SetOperator::Intersect if all => (Place::Intersect, Place::Intersect),
                    SetOperator::Except if all => (Place::Except, Place::Except),
                    SetOperator::Except => (place, Place::Except),
                    _ => (place, place),
                };
                let within = |inner: Place| if place == Place::Allowed { inner } else { place };
                self.set_expr(left, within(first))?;
                self.set_expr(right, within(second))
            }
            SetExpr::Table(table) if table.schema_name.is_none() => {
                let named = table.table_name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(self.name));
                if named { self.reference(place, Span::empty()) } else { Ok(()) }
            }
            other => self.expression(other, place),
        }
    }

    fn select(&mut self, select: &ast::Select, place: Place) -> Placed<()> {
        let mut own = false;
        for item in &select.from {
            own |= self.joined(item, place)?;
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
    fn joined(&mut self, item: &ast::TableWithJoins, place: Place) -> Placed<bool> {
        use JoinOperator as J;
        let left = |join: &ast::Join| matches!(join.join_operator, J::Left(_) | J::LeftOuter(_) | J::FullOuter(_));
        let right = |join: &ast::Join| matches!(join.join_operator, J::Right(_) | J::RightOuter(_) | J::FullOuter(_));
        let factors =
            std::iter::once((&item.relation, None)).chain(item.joins.iter().map(|join| (&join.relation, Some(join))));
        let mut own = false;
        for (at, (factor, join)) in factors.enumerate() {
            let nullable = join.is_some_and(left) || item.joins.iter().skip(at).any(right);
            let inner = if nullable && place == Place::Allowed { Place::OuterJoin } else { place };
            own |= self.factor(factor, inner)?;
            if let Some(join) = join {
                self.expression(&join.join_operator, place)?;
            }
        }
        Ok(own)
    }

    fn factor(&mut self, factor: &TableFactor, place: Place) -> Placed<bool> {
        match factor {
            TableFactor::Table { name, args: None, .. } => {
                let [ast::ObjectNamePart::Identifier(ident)] = name.0.as_slice() else { return Ok(false) };
                let own = fold(ident) == self.name;
                if own {
                    self.reference(place, ident.span)?;
                }
                Ok(own)
            }
            TableFactor::Derived { subquery, .. } => self.query(subquery, place).map(|()| false),
            TableFactor::NestedJoin { table_with_joins, .. } => self.joined(table_with_joins, place),
            other => self.expression(other, place).map(|()| false),
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
        match expr {
            ast::Expr::Function(function) if self.depth == 0 && function.over.is_none() => {
                let [ast::ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else {
                    return ControlFlow::Continue(());
                };
                if (self.is_aggregate)(&fold(name)) { ControlFlow::Break(name.span) } else { ControlFlow::Continue(()) }
            }
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
        let tables = &query.with.as_ref()?.cte_tables;
        tables.iter().position(|table| fold(&table.alias.name) == self.name)
    }
}

impl ast::Visitor for Mention<'_> {
    type Break = Span;

    fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<Span> {
        let (Some(with), Some(place)) = (&query.with, self.hides(query)) else { return ControlFlow::Continue(()) };
        // Earlier queries cannot see it. Without RECURSIVE, it cannot see itself.
        let outside = if with.recursive { 0 } else { place + 1 };
        let named = with.cte_tables.iter().take(outside).find_map(|table| mention(table.query.as_ref(), self.name));
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
    fn pre_visit_relation(&mut self, relation: &ast::ObjectName) -> ControlFlow<Span> {
        match relation.0.as_slice() {
            [ast::ObjectNamePart::Identifier(ident)] if self.hidden == 0 && fold(ident) == self.name => {
                ControlFlow::Break(ident.span)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// The binding order of WITH RECURSIVE queries: each follows those that it names. Errors: 0A000 if two name each other,
/// with the position of the first.
pub fn in_order(queries: &[(String, &ast::Query)]) -> std::result::Result<Vec<usize>, (SqlError, usize)> {
    let needs = |place: usize, other: usize| {
        let (Some((_, query)), Some((name, _))) = (queries.get(place), queries.get(other)) else { return false };
        place != other && mentions(*query, name)
    };
    let mut left: Vec<usize> = (0..queries.len()).collect();
    let mut order = Vec::with_capacity(queries.len());
    while !left.is_empty() {
        let free = left.iter().position(|place| !left.iter().any(|other| needs(*place, *other)));
        let Some(free) = free else {
            let message = "mutual recursion between WITH items is not implemented";
            let first = left.first().copied().unwrap_or(0);
            return Err((SqlError::new(state::FEATURE_NOT_SUPPORTED, message), first));
        };
        order.push(left.remove(free));
    }
    Ok(order)
}
