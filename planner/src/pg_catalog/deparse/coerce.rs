//! Explicit and implicit casts, and the common type of several expressions.

use super::Analysis;
use super::node::Node;
pub use super::types::common;
use super::types::{Ty, oid};
use crate::types::Oid;
use crate::types::text::{input, output_datum};

/// Whether a type's modifier truncates or rounds values.
fn has_length(ty: Oid) -> bool {
    matches!(
        ty,
        oid::CHAR
            | oid::VARCHAR
            | oid::NUMERIC
            | oid::TIME
            | oid::TIMETZ
            | oid::TIMESTAMP
            | oid::TIMESTAMPTZ
            | oid::INTERVAL
    )
}

impl Analysis<'_> {
    /// Converts an expression to a type implicitly, as for arguments of operators and functions.
    pub fn coerce(&self, node: Node, to: Oid) -> Option<Node> {
        if matches!(to, oid::ANY) {
            return Some(node);
        }
        let from = node.ty().oid;
        if from == to {
            return Some(node);
        }
        self.convert(node, Ty::of(to), true)
    }

    /// Converts to another type, without its modifier.
    fn convert(&self, node: Node, to: Ty, implicit: bool) -> Option<Node> {
        if let Node::Const(Ty { oid: oid::UNKNOWN, .. }, text) = &node {
            // Only an interval's modifier has an effect while it is read.
            let modifier = if to.oid == oid::INTERVAL { to.modifier } else { -1 };
            let ty = Ty { oid: to.oid, modifier };
            return Some(Node::Const(ty, self.read(ty, text.as_deref())?));
        }
        let from = node.ty().oid;
        let allowed =
            if implicit { self.types().becomes(from, to.oid) } else { self.types().can_be_cast(from, to.oid) };
        if !allowed || from == oid::UNKNOWN || from == oid::RECORD || self.types().is_pseudo(to.oid) {
            return None;
        }
        let call = self.types().cast_is_call(from, to.oid);
        Some(Node::Cast { arg: Box::new(node), ty: Ty::of(to.oid), implicit, call })
    }

    /// Reads a string as a value of a type, and prints it with the reader's settings.
    fn read(&self, ty: Ty, text: Option<&str>) -> Option<Option<String>> {
        let known = self.context.catalog.type_by_oid(ty.oid)?;
        let known = if ty.modifier >= 0 { known.with_modifier(ty.modifier) } else { known };
        let Some(text) = text else { return Some(None) };
        if known.is_string() && !known.array {
            return Some(Some(text.to_string()));
        }
        let datum = input(known, text, &self.context.input).ok()?;
        output_datum(known, &datum, &self.context.output).ok()
    }

    /// Converts an expression to a type with its modifier, as `::` does.
    pub fn cast(&self, node: Node, to: Ty) -> Option<Node> {
        let from = node.ty();
        let changed = from.oid != to.oid;
        let mut inner = if changed { self.convert(node, to, false)? } else { node };
        let now = inner.ty();
        if now.modifier == to.modifier {
            return Some(inner);
        }
        if to.modifier < 0 {
            if let Node::Const(ty, _) = &mut inner {
                ty.modifier = -1;
                return Some(inner);
            }
            return Some(Node::Cast { arg: Box::new(inner), ty: to, implicit: false, call: false });
        }
        let element = self.types().element(to.oid).unwrap_or(to.oid);
        if !has_length(element) {
            return None;
        }
        if changed && let Node::Cast { implicit, .. } = &mut inner {
            *implicit = true;
        }
        let call = element == to.oid;
        Some(Node::Cast { arg: Box::new(inner), ty: to, implicit: false, call })
    }

    /// Converts expressions to their common type. The types in `order` decide, the first one first.
    pub fn unify(&self, nodes: Vec<Node>, order: &[Oid]) -> Option<(Vec<Node>, Ty)> {
        let to = common(self.types(), order)?;
        let nodes = nodes.into_iter().map(|node| self.coerce(node, to)).collect::<Option<Vec<_>>>()?;
        let mut modifiers = nodes.iter().map(|node| node.ty().modifier);
        let first = modifiers.next().unwrap_or(-1);
        let modifier = if modifiers.all(|other| other == first) { first } else { -1 };
        Some((nodes, Ty { oid: to, modifier }))
    }

    /// Gives an untyped string the type text.
    pub fn settle(&self, node: Node) -> Option<Node> {
        if node.ty().oid == oid::UNKNOWN { self.coerce(node, oid::TEXT) } else { Some(node) }
    }

    /// Converts an expression to boolean. `None` if that fails.
    pub fn boolean(&self, node: Node) -> Option<Node> {
        let node = self.coerce(node, oid::BOOL)?;
        Some(node).filter(|node| node.ty().oid == oid::BOOL)
    }
}
