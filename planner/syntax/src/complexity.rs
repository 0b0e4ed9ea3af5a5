//! A limit on the depth of a statement's tree.
//!
//! The parser, the binder and the walks of the tree let the stack grow. Plans and their expressions are walked, copied and
//! dropped by code that does not, and some of that work grows with the square of the depth.

use crate::source::Source;
use grammar::tree::{Expr, ExprKind, FromItem, Query, Select};
use grammar::visit::{Visit, Visitor};
use sql_error::{Result, SqlError, state};
use std::ops::ControlFlow;

/// The greatest cost of the nodes around a node.
const COST: usize = 4_096;
/// The cost of an operator, a call or a CASE around its operands.
const OPERATOR: usize = 16;
/// The cost of a comparison, which stands below few others.
const COMPARISON: usize = 4;
/// The cost of each operand of AND. A plan splits them, and joins them again one around the other.
const CONJUNCT: usize = 1;
/// The cost of a join, or of a further item of FROM.
const RELATION: usize = 32;
/// The cost of a query around its parts.
const QUERY: usize = 40;

/// Refuses a tree that is too deep. Errors: 54001, at the first node beyond the limit.
pub(crate) fn check<T: Visit + ?Sized>(source: &Source, tree: &T) -> Result<()> {
    let mut depth = Depth { cost: 0, froms: Vec::new() };
    match tree.visit(&mut depth) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(span) => {
            let error = SqlError::new(state::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(format!(
                "About {} operators, {} queries or {} joins may stand within each other.",
                COST / OPERATOR,
                COST / QUERY,
                COST / RELATION
            ));
            Err(source.error(error, span))
        }
    }
}

struct Depth {
    /// The cost of the nodes around the present one.
    cost: usize,
    /// The costs of the FROM lists of the queries around the present node.
    froms: Vec<usize>,
}

impl Depth {
    fn enter(&mut self, cost: usize, span: grammar::Span) -> ControlFlow<grammar::Span> {
        self.cost += cost;
        if self.cost > COST { ControlFlow::Break(span) } else { ControlFlow::Continue(()) }
    }
}

fn cost(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Column(_) | ExprKind::Star(_) | ExprKind::Literal(_) | ExprKind::Parameter(_) => 0,
        ExprKind::And(operands) => operands.len() * CONJUNCT,
        ExprKind::Or(operands) => OPERATOR + operands.len().ilog2() as usize,
        ExprKind::Binary { op, .. } if matches!(op.sign.as_str(), "=" | "<" | ">" | "<=" | ">=" | "<>") => COMPARISON,
        _ => OPERATOR,
    }
}

impl Visitor for Depth {
    type Break = grammar::Span;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
        self.enter(cost(expr), expr.span)
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
        self.cost -= cost(expr);
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Self::Break> {
        self.froms.push(0);
        self.enter(QUERY, query.span)
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Self::Break> {
        self.cost -= QUERY + self.froms.pop().unwrap_or(0);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Self::Break> {
        // The arms of a set operation stand beside each other, so the widest FROM counts.
        let items = select.from.len().saturating_sub(1) * RELATION;
        let widest = self.froms.last().copied().unwrap_or(0);
        let more = items.saturating_sub(widest);
        if let Some(last) = self.froms.last_mut() {
            *last = widest.max(items);
        }
        self.enter(more, select.span)
    }

    fn pre_visit_from(&mut self, item: &FromItem) -> ControlFlow<Self::Break> {
        match item {
            FromItem::Join(join) => self.enter(RELATION, join.span),
            _ => ControlFlow::Continue(()),
        }
    }

    fn post_visit_from(&mut self, item: &FromItem) -> ControlFlow<Self::Break> {
        self.cost -= if matches!(item, FromItem::Join(_)) { RELATION } else { 0 };
        ControlFlow::Continue(())
    }
}
