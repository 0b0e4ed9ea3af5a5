//! Comparisons written in words: IN, BETWEEN, LIKE, ANY and ALL, IS DISTINCT FROM, and comparisons of rows.

use super::Analysis;
use super::expression::row_items;
use super::node::Node;
use super::scope::Scope;
use super::types::oid;
use syntax::ast::{Expr, LikeKind};

impl Analysis<'_> {
    /// Analyzes `IS [NOT] DISTINCT FROM`.
    pub fn distinct_from(&self, left: &Expr, right: &Expr, distinct: bool, scope: &Scope<'_>) -> Option<Node> {
        if row_items(left).is_some() || row_items(right).is_some() {
            return None;
        }
        let (left, right) = (self.expr(left, scope)?, self.expr(right, scope)?);
        // With a bare NULL it becomes a test for NULL.
        let null = |node: &Node| matches!(node, Node::Const(ty, None) if ty.oid == oid::UNKNOWN);
        if null(&right) {
            return Some(Node::NullTest { arg: Box::new(left), negated: distinct });
        }
        if null(&left) {
            return Some(Node::NullTest { arg: Box::new(right), negated: distinct });
        }
        let Node::Operator { operands, .. } = self.operator("=", Some(left), right)? else { return None };
        let sides: [Node; 2] = operands.try_into().ok()?;
        let node = Node::Distinct(Box::new(sides));
        Some(if distinct { node } else { Node::Not(Box::new(node)) })
    }

    /// Analyzes `IN (list)` and its negation.
    pub fn in_list(&self, operand: &Expr, list: &[Expr], negated: bool, scope: &Scope<'_>) -> Option<Node> {
        let name = if negated { "<>" } else { "=" };
        if let Some(items) = row_items(operand) {
            let parts = list.iter().map(|item| self.row_comparison(items, name, item, scope));
            return Some(joined(parts.collect::<Option<_>>()?, !negated));
        }
        let left = self.expr(operand, scope)?;
        let items = list.iter().map(|item| self.expr(item, scope)).collect::<Option<Vec<_>>>()?;
        // Items without columns become an array. The others are compared one by one.
        let (named, plain): (Vec<Node>, Vec<Node>) = items.into_iter().partition(has_column);
        let mut parts = Vec::new();
        let mut single = named;
        if plain.len() > 1 {
            let order: Vec<_> = std::iter::once(&left).chain(&plain).map(|node| node.ty().oid).collect();
            let common = super::coerce::common(self.types(), &order)?;
            let items = plain.into_iter().map(|item| self.coerce(item, common)).collect::<Option<Vec<_>>>()?;
            let ty = super::types::Ty::of(self.types().array(common)?);
            parts.push(self.any_all(name, left.clone(), Node::Array { items, ty }, negated)?);
        } else {
            single.splice(0..0, plain);
        }
        for item in single {
            parts.push(self.operator(name, Some(left.clone()), item)?);
        }
        Some(joined(parts, !negated))
    }

    /// `left operator ANY (array)`, or ALL.
    pub fn any_all(&self, name: &str, left: Node, right: Node, all: bool) -> Option<Node> {
        let array = right.ty().oid;
        let element = if array == oid::UNKNOWN { oid::UNKNOWN } else { self.types().element(array)? };
        let chosen = super::resolve::operator(self.types(), name, Some(left.ty().oid), element).ok()?;
        let [to_left, to_right] = chosen.arguments.as_slice() else { return None };
        if chosen.result != oid::BOOL {
            return None;
        }
        let left = Box::new(self.coerce(left, *to_left)?);
        let right = Box::new(self.coerce(right, self.types().array(*to_right)?)?);
        Some(Node::AnyAll { name: chosen.what.name.to_string(), left, right, all })
    }

    /// Analyzes BETWEEN and BETWEEN SYMMETRIC.
    pub fn between(
        &self,
        operand: &Expr,
        low: &Expr,
        high: &Expr,
        symmetric: bool,
        negated: bool,
        scope: &Scope<'_>,
    ) -> Option<Node> {
        if row_items(operand).is_some() {
            return None;
        }
        let value = self.expr(operand, scope)?;
        let (low, high) = (self.expr(low, scope)?, self.expr(high, scope)?);
        let (first, second) = if negated { ("<", ">") } else { (">=", "<=") };
        let between = |low: &Node, high: &Node| -> Option<Node> {
            let low = self.operator(first, Some(value.clone()), low.clone())?;
            let high = self.operator(second, Some(value.clone()), high.clone())?;
            Some(Node::Junction { or: negated, parts: vec![low, high] })
        };
        let straight = between(&low, &high)?;
        if !symmetric {
            return Some(straight);
        }
        Some(Node::Junction { or: !negated, parts: vec![straight, between(&high, &low)?] })
    }

    /// LIKE, ILIKE and SIMILAR TO, with or without NOT, as operators.
    pub fn like(
        &self,
        (kind, negated): (LikeKind, bool),
        operand: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        scope: &Scope<'_>,
    ) -> Option<Node> {
        let left = self.expr(operand, scope)?;
        let pattern = self.expr(pattern, scope)?;
        let escape = match escape {
            Some(escape) => Some(self.expr(escape, scope)?),
            None => None,
        };
        let (name, right) = match (kind, escape) {
            (LikeKind::SimilarTo, escape) => {
                let args = std::iter::once(pattern).chain(escape).collect();
                (if negated { "!~" } else { "~" }, self.function("similar_to_escape", args, None)?)
            }
            (kind, escape) => {
                let name = match (kind, negated) {
                    (LikeKind::ILike, false) => "~~*",
                    (LikeKind::ILike, true) => "!~~*",
                    (_, false) => "~~",
                    (_, true) => "!~~",
                };
                let right = match escape {
                    Some(escape) => self.function("like_escape", vec![pattern, escape], None)?,
                    None => pattern,
                };
                (name, right)
            }
        };
        self.operator(name, Some(left), right)
    }

    /// Compares a row with another.
    pub fn row_comparison(&self, left: &[Expr], name: &str, right: &Expr, scope: &Scope<'_>) -> Option<Node> {
        let right = row_items(right).filter(|right| right.len() == left.len())?;
        let mut pairs = Vec::new();
        for (left, right) in left.iter().zip(right) {
            let (left, right) = (self.expr(left, scope)?, self.expr(right, scope)?);
            pairs.push(self.operator(name, Some(left), right)?);
        }
        match name {
            "=" => Some(joined(pairs, false)),
            "<>" => Some(joined(pairs, true)),
            "<" | "<=" | ">" | ">=" => {
                if pairs.len() == 1 {
                    return pairs.pop();
                }
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for pair in pairs {
                    let Node::Operator { operands, .. } = pair else { return None };
                    let [one, other]: [Node; 2] = operands.try_into().ok()?;
                    left.push(one);
                    right.push(other);
                }
                Some(Node::RowCompare { name: name.to_string(), left, right })
            }
            _ => None,
        }
    }
}

/// Joins conditions with AND or OR.
fn joined(mut parts: Vec<Node>, or: bool) -> Node {
    match parts.len() {
        1 => parts.remove(0),
        _ => Node::Junction { or, parts },
    }
}

/// Whether an expression names a column of its own query.
pub fn has_column(node: &Node) -> bool {
    match node {
        // The columns of a subquery are mostly its own.
        Node::Const(..) | Node::Keyword { .. } | Node::Sub(_) => false,
        Node::Operator { operands, .. } => operands.iter().any(has_column),
        Node::Cast { arg, .. } | Node::Collate { arg, .. } => has_column(arg),
        Node::Call(call) => call.args.iter().any(has_column),
        Node::Array { items, .. } | Node::Row(items) => items.iter().any(has_column),
        Node::Listed { args, .. } => args.iter().any(has_column),
        _ => true,
    }
}
