//! Analyzes subqueries in expressions.

use super::Analysis;
use super::expression::row_items;
use super::node::{Node, Sub, SubKind};
use super::scope::Scope;
use super::types::{Ty, oid};
use syntax::ast::{Expr, Query};

impl Analysis<'_> {
    /// Analyzes EXISTS.
    pub fn exists(&self, query: &Query, scope: &Scope<'_>) -> Option<Node> {
        let query = Box::new(self.query(query, Some(scope))?);
        let (kind, ty) = (SubKind::Exists, Ty::of(oid::BOOL));
        Some(Node::Sub(Sub { kind, left: Vec::new(), operator: String::new(), query, ty }))
    }

    /// Analyzes a query used as a value.
    pub fn scalar_subquery(&self, query: &Query, scope: &Scope<'_>) -> Option<Node> {
        let query = Box::new(self.query(query, Some(scope))?);
        let [(_, ty)] = query.columns.as_slice() else { return None };
        let (kind, ty) = (SubKind::Value, *ty);
        Some(Node::Sub(Sub { kind, left: Vec::new(), operator: String::new(), query, ty }))
    }

    /// Analyzes an `ARRAY(query)` expression.
    pub fn array_subquery(&self, query: &Query, scope: &Scope<'_>) -> Option<Node> {
        let query = Box::new(self.query(query, Some(scope))?);
        let [(_, ty)] = query.columns.as_slice() else { return None };
        let array = if self.types().element(ty.oid).is_some() { ty.oid } else { self.types().array(ty.oid)? };
        let (kind, ty) = (SubKind::Array, Ty { oid: array, modifier: ty.modifier });
        Some(Node::Sub(Sub { kind, left: Vec::new(), operator: String::new(), query, ty }))
    }

    /// Analyzes `IN (query)` and its negation.
    pub fn in_subquery(&self, left: &Expr, query: &Query, negated: bool, scope: &Scope<'_>) -> Option<Node> {
        let node = self.compared_subquery(left, "=", query, SubKind::Any, scope)?;
        Some(if negated { Node::Not(Box::new(node)) } else { node })
    }

    /// Analyzes a comparison with the rows of a query.
    pub fn compared_subquery(
        &self,
        left: &Expr,
        operator: &str,
        query: &Query,
        kind: SubKind,
        scope: &Scope<'_>,
    ) -> Option<Node> {
        let query = Box::new(self.query(query, Some(scope))?);
        let items = row_items(left).unwrap_or_else(|| std::slice::from_ref(left));
        if items.len() != query.columns.len() {
            return None;
        }
        let mut compared = Vec::new();
        for (item, (_, ty)) in items.iter().zip(&query.columns) {
            let left = self.expr(item, scope)?;
            // The query's column has no name here, so only the left side shows its casts.
            let column = Node::Column { relation: None, name: String::new(), ty: *ty };
            let Node::Operator { operands, .. } = self.operator(operator, Some(left), column)? else { return None };
            compared.push(operands.into_iter().next()?);
        }
        let (operator, ty) = (operator.to_string(), Ty::of(oid::BOOL));
        Some(Node::Sub(Sub { kind, left: compared, operator, query, ty }))
    }
}
