//! Converts the syntax tree of an expression to a [`Node`], with names, types and casts as PostgreSQL's parser resolves
//! them. Returns `None` if that is not certain.

use super::Analysis;
use super::node::{Call, Node, Place, SubKind, Syntax};
use super::scope::Scope;
use super::types::{Ty, oid};
use syntax::ast::{self, CastForm, Expr, ExprKind, Literal, Operator, Quantity, Step, TypeBase};
use syntax::fold_name;
use types::SqlType;

/// The greatest nesting depth of expressions.
const DEEPEST: usize = 200;

impl Analysis<'_> {
    /// Analyzes an expression. `None` if its meaning is not certain.
    pub fn expr(&self, expr: &Expr, scope: &Scope<'_>) -> Option<Node> {
        if self.depth.get() >= DEEPEST {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let node = self.inner(expr, scope);
        self.depth.set(self.depth.get() - 1);
        node
    }

    fn inner(&self, expr: &Expr, scope: &Scope<'_>) -> Option<Node> {
        let bind = |expr: &Expr| self.expr(expr, scope);
        Some(match &expr.kind {
            ExprKind::Literal(literal) => self.literal(literal)?,
            ExprKind::Column(names) => match names.as_slice() {
                [column] => scope.column(self, &column.value)?,
                [relation, column] => scope.qualified(self, None, &relation.value, &column.value)?,
                [schema, relation, column] | [_, schema, relation, column] => {
                    scope.qualified(self, Some(&schema.value), &relation.value, &column.value)?
                }
                _ => return None,
            },
            ExprKind::And(parts) => self.junction(parts, false, scope)?,
            ExprKind::Or(parts) => self.junction(parts, true, scope)?,
            ExprKind::Not(operand) => Node::Not(Box::new(self.boolean(bind(operand)?)?)),
            ExprKind::Unary { op, operand } => self.operator(symbol(op)?, None, bind(operand)?)?,
            ExprKind::Binary { op, left, right } => self.binary(left, symbol(op)?, right, scope)?,
            ExprKind::IsNull { operand, negated } => {
                Node::NullTest { arg: Box::new(bind(operand)?), negated: *negated }
            }
            ExprKind::IsTruth { operand, truth, negated } => {
                let words = match (truth, negated) {
                    (Some(true), false) => "IS TRUE",
                    (Some(true), true) => "IS NOT TRUE",
                    (Some(false), false) => "IS FALSE",
                    (Some(false), true) => "IS NOT FALSE",
                    (None, false) => "IS UNKNOWN",
                    (None, true) => "IS NOT UNKNOWN",
                };
                Node::TruthTest { arg: Box::new(self.boolean(bind(operand)?)?), words }
            }
            ExprKind::IsDistinct { left, right, negated, .. } => self.distinct_from(left, right, !negated, scope)?,
            ExprKind::IsNormalized { operand, form, negated, .. } => {
                let mut args = vec![bind(operand)?];
                args.extend(form.as_deref().map(text));
                let node = self.function("is_normalized", args, Some(Syntax::Normalized))?;
                if *negated { Node::Not(Box::new(node)) } else { node }
            }
            ExprKind::Between { operand, low, high, symmetric, negated, .. } => {
                self.between(operand, low, high, *symmetric, *negated, scope)?
            }
            ExprKind::InList { operand, list, negated, .. } => self.in_list(operand, list, *negated, scope)?,
            ExprKind::InQuery { operand, query, negated, .. } => self.in_subquery(operand, query, *negated, scope)?,
            ExprKind::Like { kind, operand, pattern, escape, negated, .. } => {
                self.like((*kind, *negated), operand, pattern, escape.as_deref(), scope)?
            }
            ExprKind::Quantified { left, op, all, right } => match right {
                Quantity::Query(query) => {
                    let kind = if *all { SubKind::All } else { SubKind::Any };
                    self.compared_subquery(left, symbol(op)?, query, kind, scope)?
                }
                Quantity::Array(array) => self.any_all(symbol(op)?, bind(left)?, bind(array)?, *all)?,
            },
            ExprKind::Cast { operand, data_type, form, .. } => {
                // Before a string CHAR has no length.
                let bare = *form == CastForm::Constant && data_type.base == TypeBase::Char;
                let to = match bare && data_type.modifiers.is_empty() {
                    true => Ty::of(oid::CHAR),
                    false => self.type_of(data_type)?,
                };
                self.written_cast(operand, to, scope)?
            }
            ExprKind::Collate { operand, collation, .. } => {
                let (_, name) = fold_name(collation).ok()?;
                Node::Collate { arg: Box::new(self.settle(bind(operand)?)?), name }
            }
            ExprKind::AtTimeZone { operand, zone, .. } => {
                self.function("timezone", vec![bind(zone)?, bind(operand)?], Some(Syntax::AtTimeZone))?
            }
            ExprKind::Overlaps { left, right, .. } => {
                let args = left.iter().chain(right).map(bind).collect::<Option<Vec<_>>>()?;
                self.function("overlaps", args, Some(Syntax::Overlaps))?
            }
            ExprKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), scope)?
            }
            ExprKind::Call(call) => self.call(call, scope)?,
            ExprKind::Special(call) => self.special_call(call, scope)?,
            ExprKind::Row { fields, .. } => Node::Row(self.row(fields, scope)?),
            ExprKind::Array(items) => self.array(items.iter().map(bind).collect::<Option<Vec<_>>>()?)?,
            ExprKind::ArrayQuery(query) => self.array_subquery(query, scope)?,
            ExprKind::Query(query) => self.scalar_subquery(query, scope)?,
            ExprKind::Exists(query) => self.exists(query, scope)?,
            ExprKind::Path { operand, steps } => self.path(operand, steps, scope)?,
            ExprKind::Star(_) | ExprKind::Parameter(_) | ExprKind::Default | ExprKind::CurrentOf(_) => return None,
        })
    }

    /// The items of a row. Untyped strings become text.
    fn row(&self, items: &[Expr], scope: &Scope<'_>) -> Option<Vec<Node>> {
        items.iter().map(|item| self.settle(self.expr(item, scope)?)).collect()
    }

    fn literal(&self, literal: &Literal) -> Option<Node> {
        Some(match literal {
            Literal::Integer(digits) | Literal::Decimal(digits) => self.number(digits)?,
            Literal::String(text) => Node::unknown(Some(text)),
            Literal::Boolean(value) => Node::Const(Ty::of(oid::BOOL), Some(if *value { "t" } else { "f" }.to_string())),
            Literal::Null => Node::unknown(None),
            Literal::Bits(_) | Literal::HexBits(_) => return None,
        })
    }

    fn number(&self, digits: &str) -> Option<Node> {
        if digits.parse::<i32>().is_ok() {
            return Some(Node::Const(Ty::of(oid::INT4), Some(digits.to_string())));
        }
        if digits.parse::<i64>().is_ok() {
            return Some(Node::Const(Ty::of(oid::INT8), Some(digits.to_string())));
        }
        self.coerce(Node::unknown(Some(digits)), oid::NUMERIC)
    }

    /// The type that a type name resolves to.
    pub fn type_of(&self, name: &ast::TypeName) -> Option<Ty> {
        let ty = binder::catalog_type(name, self.context.catalog, self.context.search_path, true).ok()?;
        Some(Ty { oid: ty.oid(), modifier: if ty.is_vector() { -1 } else { ty.modifier } })
            .filter(|_| ty.as_record().is_none() && ty != SqlType::UNKNOWN)
    }

    fn binary(&self, left: &Expr, name: &str, right: &Expr, scope: &Scope<'_>) -> Option<Node> {
        if let Some(items) = row_items(left) {
            return self.row_comparison(items, name, right, scope);
        }
        self.operator(name, Some(self.expr(left, scope)?), self.expr(right, scope)?)
    }

    /// Resolves an operator. Without a left operand it is a prefix operator.
    pub fn operator(&self, name: &str, left: Option<Node>, right: Node) -> Option<Node> {
        let left_type = left.as_ref().map(|left| left.ty().oid);
        let chosen = super::resolve::operator(self.types(), name, left_type, right.ty().oid).ok()?;
        let mut operands = Vec::with_capacity(2);
        for (operand, ty) in left.into_iter().chain([right]).zip(&chosen.arguments) {
            operands.push(self.coerce(operand, *ty)?);
        }
        Some(Node::Operator { name: chosen.what.name.to_string(), operands, ty: Ty::of(chosen.result) })
    }

    fn junction(&self, parts: &[Expr], or: bool, scope: &Scope<'_>) -> Option<Node> {
        let parts = parts.iter().map(|part| self.boolean(self.expr(part, scope)?));
        Some(Node::Junction { or, parts: parts.collect::<Option<_>>()? })
    }

    fn written_cast(&self, operand: &Expr, to: Ty, scope: &Scope<'_>) -> Option<Node> {
        // The elements of an ARRAY expression are cast individually.
        if let (ExprKind::Array(elements), Some(element)) = (&operand.kind, self.types().element(to.oid)) {
            let mut items = Vec::new();
            for item in elements {
                items.push(match &item.kind {
                    ExprKind::Array(_) => self.written_cast(item, to, scope)?,
                    _ => self.cast(self.expr(item, scope)?, Ty { oid: element, modifier: to.modifier })?,
                });
            }
            return Some(Node::Array { items, ty: to });
        }
        self.cast(self.expr(operand, scope)?, to)
    }

    fn case(
        &self,
        operand: Option<&Expr>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        scope: &Scope<'_>,
    ) -> Option<Node> {
        let operand = match operand {
            Some(operand) => Some(self.settle(self.expr(operand, scope)?)?),
            None => None,
        };
        let (mut whens, mut results) = (Vec::new(), Vec::new());
        for (condition, result) in branches {
            let condition = self.expr(condition, scope)?;
            whens.push(match &operand {
                None => self.boolean(condition)?,
                Some(operand) => match self.operator("=", Some(operand.clone()), condition)? {
                    Node::Operator { mut operands, .. } => operands.pop()?,
                    _ => return None,
                },
            });
            results.push(self.expr(result, scope)?);
        }
        let otherwise = match otherwise {
            Some(otherwise) => self.expr(otherwise, scope)?,
            None => Node::unknown(None),
        };
        // The ELSE expression decides first about the type.
        results.insert(0, otherwise);
        let order: Vec<_> = results.iter().map(|node| node.ty().oid).collect();
        let (mut results, ty) = self.unify(results, &order)?;
        let otherwise = Box::new(results.remove(0));
        Some(Node::Case {
            operand: operand.map(Box::new),
            whens: whens.into_iter().zip(results).collect(),
            otherwise,
            ty,
        })
    }

    /// Analyzes `ARRAY[…]` of these items.
    pub fn array(&self, items: Vec<Node>) -> Option<Node> {
        let order: Vec<_> = items.iter().map(|node| node.ty().oid).collect();
        let (items, ty) = self.unify(items, &order)?;
        // An array of arrays has the same type, with one dimension more.
        let array = if self.types().element(ty.oid).is_some() { ty.oid } else { self.types().array(ty.oid)? };
        Some(Node::Array { items, ty: Ty { oid: array, modifier: ty.modifier } })
    }

    /// Elements and slices of a value.
    fn path(&self, operand: &Expr, steps: &[Step], scope: &Scope<'_>) -> Option<Node> {
        let arg = self.expr(operand, scope)?;
        let Ty { oid: array, modifier } = arg.ty();
        if array == SqlType::JSONB.oid() {
            let mut places = Vec::new();
            for step in steps {
                let Step::Element(index) = step else { return None };
                let node = self.settle(self.expr(index, scope)?)?;
                places.push(Place::At(Some(node).filter(|node| matches!(node.ty().oid, oid::TEXT | oid::INT4))?));
            }
            return Some(Node::Subscript { arg: Box::new(arg), places, ty: Ty::of(array) });
        }
        let element = self.types().element(array)?;
        let subscript = |index: &Expr| -> Option<Node> {
            let node = self.expr(index, scope)?;
            if node.ty().oid == oid::INT4 || node.ty().oid == oid::UNKNOWN {
                return self.coerce(node, oid::INT4);
            }
            Some(Node::Cast { arg: Box::new(node), ty: Ty::of(oid::INT4), implicit: true, call: true })
        };
        let bound = |index: &Option<Expr>| match index {
            None => Some(None),
            Some(index) => subscript(index).map(Some),
        };
        let mut places = Vec::new();
        for step in steps {
            places.push(match step {
                Step::Element(index) => Place::At(subscript(index)?),
                Step::Slice(lower, upper) => Place::Part(bound(lower)?, bound(upper)?),
                Step::Field(_) | Step::All(_) => return None,
            });
        }
        let slice = places.iter().any(|place| matches!(place, Place::Part(..)));
        if slice && places.iter().any(|place| matches!(place, Place::At(_))) {
            return None;
        }
        let ty = Ty { oid: if slice { array } else { element }, modifier };
        Some(Node::Subscript { arg: Box::new(arg), places, ty })
    }
}

/// The sign of an operator. `None` for one in a schema other than `pg_catalog`.
fn symbol(op: &Operator) -> Option<&str> {
    match op.schema.as_slice() {
        [] => Some(op.sign.as_str()),
        [schema] if schema.value == crate::PG_CATALOG => Some(op.sign.as_str()),
        _ => None,
    }
}

/// The fields of a row that is written as one.
pub fn row_items(expr: &Expr) -> Option<&[Expr]> {
    match &expr.kind {
        ExprKind::Row { fields, .. } => Some(fields.as_slice()),
        _ => None,
    }
}

/// A constant of type text.
pub fn text(value: &str) -> Node {
    Node::Const(Ty::of(oid::TEXT), Some(value.to_string()))
}

impl From<Call> for Node {
    fn from(call: Call) -> Node {
        Node::Call(call)
    }
}
