//! Turns long chains of UNION into balanced trees. A walk over a tree is as deep as the tree, and sqlparser's is as
//! deep as the chain is long. The last query stays alone on the right, where a recursive query has its recursive term.

use super::cursor::is_word;
use sqlparser::ast::{Query, SetExpr, SetOperator, SetQuantifier, Values, VisitMut, VisitorMut};
use sqlparser::tokenizer::TokenWithSpan;
use std::ops::ControlFlow;

/// Chains up to this length stay as they are.
const SHORT: usize = 64;

/// Balances the long chains in a tree.
pub fn balance<T: VisitMut>(tree: &mut T, tokens: &[TokenWithSpan]) {
    if tokens.iter().filter(|token| is_word(token, "union")).count() > SHORT {
        let _ = tree.visit(&mut Balance);
    }
}

struct Balance;

impl VisitorMut for Balance {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let nothing = SetExpr::Values(Values { explicit_row: false, rows: Vec::new(), value_keyword: false });
        let body = std::mem::replace(query.body.as_mut(), nothing);
        *query.body = balanced(body);
        ControlFlow::Continue(())
    }
}

/// A set operation with its right operand.
struct Arm {
    op: SetOperator,
    quantifier: SetQuantifier,
    right: SetExpr,
}

impl Arm {
    /// The set operation of `left` with this operand.
    fn behind(self, left: SetExpr) -> SetExpr {
        let Arm { op, quantifier, right } = self;
        SetExpr::SetOperation { op, set_quantifier: quantifier, left: Box::new(left), right: Box::new(right) }
    }

    /// Whether the next operation belongs to the same chain.
    fn goes_on(&self, next: &Arm) -> bool {
        let all = |arm: &Arm| arm.quantifier == SetQuantifier::All;
        self.op == SetOperator::Union && next.op == SetOperator::Union && all(self) == all(next)
    }
}

fn balanced(body: SetExpr) -> SetExpr {
    let (mut first, mut arms) = (body, Vec::new());
    while let SetExpr::SetOperation { op, set_quantifier: quantifier, left, right } = first {
        arms.push(Arm { op, quantifier, right: *right });
        first = *left;
    }
    let mut arms = arms.into_iter().rev().peekable();
    while let Some(arm) = arms.next() {
        let mut row = vec![arm];
        while let Some(next) = arms.next_if(|next| row.last().is_some_and(|last| last.goes_on(next))) {
            row.push(next);
        }
        first = match row.pop() {
            Some(last) if row.len() >= SHORT => last.behind(halved(first, row)),
            last => row.into_iter().chain(last).fold(first, |left, arm| arm.behind(left)),
        };
    }
    first
}

/// A chain as a balanced tree.
fn halved(first: SetExpr, mut row: Vec<Arm>) -> SetExpr {
    if row.len() < 2 {
        return row.into_iter().fold(first, |left, arm| arm.behind(left));
    }
    let mut later = row.split_off(row.len() / 2).into_iter();
    let left = halved(first, row);
    match later.next() {
        Some(Arm { op, quantifier, right }) => {
            let right = halved(right, later.collect());
            Arm { op, quantifier, right }.behind(left)
        }
        None => left,
    }
}
