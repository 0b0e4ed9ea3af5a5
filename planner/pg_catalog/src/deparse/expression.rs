//! Converts the syntax tree of an expression to a [`Node`], with names, types and casts as PostgreSQL's parser resolves
//! them. Returns `None` if that is not certain.

use super::Analysis;
use super::node::{Call, Node, Place, Syntax};
use super::scope::Scope;
use super::types::{Ty, oid};
use binder::{field_name, interval_type, row_items};
use sqlparser::ast::{self, AccessExpr, BinaryOperator, CeilFloorKind, DateTimeField, Subscript, UnaryOperator, Value};
use syntax::{fold, fold_name};
use types::SqlType;

/// The greatest nesting depth of expressions.
const DEEPEST: usize = 200;

impl Analysis<'_> {
    /// Analyzes an expression. `None` if its meaning is not certain.
    pub fn expr(&self, expr: &ast::Expr, scope: &Scope<'_>) -> Option<Node> {
        if self.depth.get() >= DEEPEST {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let node = self.inner(expr, scope);
        self.depth.set(self.depth.get() - 1);
        node
    }

    fn inner(&self, expr: &ast::Expr, scope: &Scope<'_>) -> Option<Node> {
        use ast::Expr as E;
        let bind = |expr: &ast::Expr| self.expr(expr, scope);
        let test = |arg: &ast::Expr, words: &'static str| -> Option<Node> {
            Some(Node::TruthTest { arg: Box::new(self.boolean(self.expr(arg, scope)?)?), words })
        };
        Some(match expr {
            E::Nested(inner) => bind(inner)?,
            E::Value(value) => self.value(&value.value)?,
            E::Identifier(name) => {
                let folded = fold(name);
                let keyword = name.quote_style.is_none().then(|| keyword(&folded)).flatten();
                match keyword.filter(|_| scope.column(self, &folded).is_none()) {
                    Some(node) => node,
                    None => scope.column(self, &folded)?,
                }
            }
            E::CompoundIdentifier(parts) => {
                let names: Vec<String> = parts.iter().map(fold).collect();
                match names.as_slice() {
                    [relation, column] => scope.qualified(self, None, relation, column)?,
                    [schema, relation, column] | [_, schema, relation, column] => {
                        scope.qualified(self, Some(schema), relation, column)?
                    }
                    _ => return None,
                }
            }
            E::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } => {
                self.junction(expr, op, scope)?
            }
            E::BinaryOp { left, op, right } => self.binary(left, op, right, scope)?,
            E::UnaryOp { op, expr } => self.unary(*op, expr, scope)?,
            E::IsNull(arg) => Node::NullTest { arg: Box::new(bind(arg)?), negated: false },
            E::IsNotNull(arg) => Node::NullTest { arg: Box::new(bind(arg)?), negated: true },
            E::IsTrue(arg) => test(arg, "IS TRUE")?,
            E::IsNotTrue(arg) => test(arg, "IS NOT TRUE")?,
            E::IsFalse(arg) => test(arg, "IS FALSE")?,
            E::IsNotFalse(arg) => test(arg, "IS NOT FALSE")?,
            E::IsUnknown(arg) => test(arg, "IS UNKNOWN")?,
            E::IsNotUnknown(arg) => test(arg, "IS NOT UNKNOWN")?,
            E::IsDistinctFrom(left, right) => self.distinct_from(left, right, true, scope)?,
            E::IsNotDistinctFrom(left, right) => self.distinct_from(left, right, false, scope)?,
            E::InList { expr, list, negated } => self.in_list(expr, list, *negated, scope)?,
            E::InSubquery { expr, subquery, negated } => self.in_subquery(expr, subquery, *negated, scope)?,
            E::Between { expr, negated, low, high } => self.between(expr, *negated, low, high, scope)?,
            E::Like { negated, any: false, expr, pattern, escape_char } => {
                let name = if *negated { "!~~" } else { "~~" };
                self.like(expr, pattern, escape_char.as_deref(), name, scope)?
            }
            E::ILike { negated, any: false, expr, pattern, escape_char } => {
                let name = if *negated { "!~~*" } else { "~~*" };
                self.like(expr, pattern, escape_char.as_deref(), name, scope)?
            }
            E::Like { negated, any: true, expr, pattern, escape_char: None } => {
                let name = if *negated { "!~~" } else { "~~" };
                self.any_all(name, self.expr(expr, scope)?, self.expr(pattern, scope)?, false)?
            }
            E::ILike { negated, any: true, expr, pattern, escape_char: None } => {
                let name = if *negated { "!~~*" } else { "~~*" };
                self.any_all(name, self.expr(expr, scope)?, self.expr(pattern, scope)?, false)?
            }
            E::SimilarTo { negated, expr, pattern, escape_char } => {
                let mut args = vec![bind(pattern)?];
                if let Some(escape) = escape_char {
                    args.push(bind(escape)?);
                }
                let pattern = self.function("similar_to_escape", args, None)?;
                self.operator(if *negated { "!~" } else { "~" }, Some(bind(expr)?), pattern)?
            }
            E::AnyOp { left, compare_op, right, .. } => self.quantified(left, compare_op, right, false, scope)?,
            E::AllOp { left, compare_op, right } => self.quantified(left, compare_op, right, true, scope)?,
            E::Cast { kind: ast::CastKind::Cast | ast::CastKind::DoubleColon, expr, data_type, format: None } => {
                self.written_cast(expr, self.type_of(data_type)?, scope)?
            }
            E::TypedString(typed) if !typed.uses_odbc_syntax => {
                let to = match &typed.data_type {
                    ast::DataType::Char(None) | ast::DataType::Character(None) => Ty::of(oid::CHAR),
                    other => self.type_of(other)?,
                };
                self.cast(self.value(&typed.value.value)?, to)?
            }
            E::Interval(interval) => {
                let ty = interval_type(interval).ok()?;
                self.cast(bind(&interval.value)?, Ty { oid: oid::INTERVAL, modifier: ty.modifier })?
            }
            E::AtTimeZone { timestamp, time_zone } => {
                self.function("timezone", vec![bind(time_zone)?, bind(timestamp)?], Some(Syntax::AtTimeZone))?
            }
            E::Extract { field, expr, .. } => {
                let field = Node::Const(Ty::of(oid::TEXT), Some(field_name(field)));
                self.function("extract", vec![field, bind(expr)?], Some(Syntax::Extract))?
            }
            E::Ceil { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                self.function("ceil", vec![bind(expr)?], None)?
            }
            E::Floor { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                self.function("floor", vec![bind(expr)?], None)?
            }
            E::Position { expr, r#in } => {
                self.function("position", vec![bind(r#in)?, bind(expr)?], Some(Syntax::Position))?
            }
            E::Substring { expr, substring_from: Some(from), substring_for, special, shorthand } => {
                let mut args = vec![bind(expr)?, bind(from)?];
                if let Some(length) = substring_for {
                    args.push(bind(length)?);
                }
                let name = if *shorthand { "substr" } else { "substring" };
                self.function(name, args, (!special && !shorthand).then_some(Syntax::Substring))?
            }
            E::Trim { trim_where, trim_what, expr, trim_characters } => {
                let (name, syntax) = match trim_where {
                    None | Some(ast::TrimWhereField::Both) => ("btrim", Syntax::TrimBoth),
                    Some(ast::TrimWhereField::Leading) => ("ltrim", Syntax::TrimLeading),
                    Some(ast::TrimWhereField::Trailing) => ("rtrim", Syntax::TrimTrailing),
                };
                let mut args = vec![bind(expr)?];
                for other in trim_what.iter().map(AsRef::as_ref).chain(trim_characters.iter().flatten()) {
                    args.push(bind(other)?);
                }
                self.function(name, args, Some(syntax))?
            }
            E::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let mut args = vec![bind(expr)?, bind(overlay_what)?, bind(overlay_from)?];
                if let Some(length) = overlay_for {
                    args.push(bind(length)?);
                }
                self.function("overlay", args, Some(Syntax::Overlay))?
            }
            E::IsNormalized { expr, form, negated } => {
                let mut args = vec![bind(expr)?];
                if let Some(form) = form {
                    args.push(Node::Const(Ty::of(oid::TEXT), Some(form.to_string())));
                }
                let node = self.function("is_normalized", args, Some(Syntax::Normalized))?;
                if *negated { Node::Not(Box::new(node)) } else { node }
            }
            E::Collate { expr, collation } => {
                let (_, name) = fold_name(collation).ok()?;
                Node::Collate { arg: Box::new(self.settle(bind(expr)?)?), name }
            }
            E::Function(function) => self.call(function, scope)?,
            E::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), scope)?
            }
            E::Exists { subquery, negated } => self.exists(subquery, *negated, scope)?,
            E::Subquery(query) => self.scalar_subquery(query, scope)?,
            E::Array(array) => {
                let items = array.elem.iter().map(bind).collect::<Option<Vec<_>>>()?;
                self.array(items)?
            }
            E::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain, scope)?,
            E::Tuple(items) => Node::Row(self.row(items.iter().collect(), scope)?),
            _ => return None,
        })
    }

    /// The items of a row. Untyped strings become text.
    pub fn row(&self, items: Vec<&ast::Expr>, scope: &Scope<'_>) -> Option<Vec<Node>> {
        items.into_iter().map(|item| self.settle(self.expr(item, scope)?)).collect()
    }

    fn value(&self, value: &Value) -> Option<Node> {
        Some(match value {
            Value::Number(digits, _) => self.number(digits)?,
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) | Value::UnicodeStringLiteral(text) => {
                Node::unknown(Some(text))
            }
            Value::Boolean(value) => Node::Const(Ty::of(oid::BOOL), Some(if *value { "t" } else { "f" }.to_string())),
            Value::Null => Node::unknown(None),
            _ => return None,
        })
    }

    fn number(&self, digits: &str) -> Option<Node> {
        let digits = digits.replace('_', "");
        if digits.parse::<i32>().is_ok() {
            return Some(Node::Const(Ty::of(oid::INT4), Some(digits)));
        }
        if digits.parse::<i64>().is_ok() {
            return Some(Node::Const(Ty::of(oid::INT8), Some(digits)));
        }
        self.coerce(Node::unknown(Some(&digits)), oid::NUMERIC)
    }

    /// The type that a type name resolves to.
    pub fn type_of(&self, name: &ast::DataType) -> Option<Ty> {
        let ty = binder::catalog_type(name, self.context.catalog, self.context.search_path, true).ok()?;
        Some(Ty { oid: ty.oid(), modifier: if ty.is_vector() { -1 } else { ty.modifier } })
            .filter(|_| ty.as_record().is_none() && ty != SqlType::UNKNOWN)
    }

    fn unary(&self, op: UnaryOperator, operand: &ast::Expr, scope: &Scope<'_>) -> Option<Node> {
        match op {
            UnaryOperator::Not => Some(Node::Not(Box::new(self.boolean(self.expr(operand, scope)?)?))),
            UnaryOperator::Minus | UnaryOperator::Plus => {
                let mut operand = operand;
                while let ast::Expr::Nested(inner) = operand
                    && matches!(inner.as_ref(), ast::Expr::Nested(_) | ast::Expr::Value(_))
                {
                    operand = inner;
                }
                // The sign belongs to the number, because signs have the highest precedence.
                if let ast::Expr::BinaryOp { .. } = operand {
                    return None;
                }
                if let (UnaryOperator::Minus, ast::Expr::Value(value)) = (op, operand)
                    && let Value::Number(digits, _) = &value.value
                {
                    return self.number(&format!("-{digits}"));
                }
                self.operator(&op.to_string(), None, self.expr(operand, scope)?)
            }
            UnaryOperator::PGPostfixFactorial => None,
            other => self.operator(&other.to_string(), None, self.expr(operand, scope)?),
        }
    }

    fn binary(&self, left: &ast::Expr, op: &BinaryOperator, right: &ast::Expr, scope: &Scope<'_>) -> Option<Node> {
        if *op == BinaryOperator::Overlaps {
            let (ast::Expr::Tuple(left), ast::Expr::Tuple(right)) = (left, right) else { return None };
            let args = left.iter().chain(right).map(|end| self.expr(end, scope)).collect::<Option<Vec<_>>>()?;
            return self.function("overlaps", args, Some(Syntax::Overlaps));
        }
        if let Some(items) = row_items(left) {
            return self.row_comparison(items, op, right, scope);
        }
        // Other prefix operators have a lower precedence than arithmetic, which the tree does not reflect.
        if matches!(left, ast::Expr::UnaryOp { op, .. } if !matches!(op, UnaryOperator::Plus | UnaryOperator::Minus)) {
            return None;
        }
        let (left, right) = (self.expr(left, scope)?, self.expr(right, scope)?);
        self.operator(&symbol(op)?, Some(left), right)
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

    fn junction(&self, expr: &ast::Expr, op: &BinaryOperator, scope: &Scope<'_>) -> Option<Node> {
        // A left operand with the same operator joins the same list, with or without parentheses.
        let mut operands = Vec::new();
        let mut rest = expr;
        loop {
            match rest {
                ast::Expr::Nested(inner) if is_junction(inner, op) => rest = inner,
                ast::Expr::BinaryOp { left, op: other, right } if other == op => {
                    operands.push(right.as_ref());
                    rest = left;
                }
                _ => break,
            }
        }
        operands.push(rest);
        let parts = operands.into_iter().rev().map(|operand| self.boolean(self.expr(operand, scope)?));
        Some(Node::Junction { or: *op == BinaryOperator::Or, parts: parts.collect::<Option<_>>()? })
    }

    fn written_cast(&self, expr: &ast::Expr, to: Ty, scope: &Scope<'_>) -> Option<Node> {
        let mut expr = expr;
        while let ast::Expr::Nested(inner) = expr {
            expr = inner;
        }
        // The elements of an ARRAY expression are cast individually.
        if let (ast::Expr::Array(array), Some(element)) = (expr, self.types().element(to.oid)) {
            let mut items = Vec::new();
            for item in &array.elem {
                items.push(match item {
                    ast::Expr::Array(_) => self.written_cast(item, to, scope)?,
                    item => self.cast(self.expr(item, scope)?, Ty { oid: element, modifier: to.modifier })?,
                });
            }
            let array = Node::Array { items, ty: to };
            return Some(array);
        }
        self.cast(self.expr(expr, scope)?, to)
    }

    fn case(
        &self,
        operand: Option<&ast::Expr>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
        scope: &Scope<'_>,
    ) -> Option<Node> {
        let operand = match operand {
            Some(operand) => Some(self.settle(self.expr(operand, scope)?)?),
            None => None,
        };
        let (mut whens, mut results) = (Vec::new(), Vec::new());
        for when in conditions {
            let condition = self.expr(&when.condition, scope)?;
            whens.push(match &operand {
                None => self.boolean(condition)?,
                Some(operand) => match self.operator("=", Some(operand.clone()), condition)? {
                    Node::Operator { mut operands, .. } => operands.pop()?,
                    _ => return None,
                },
            });
            results.push(self.expr(&when.result, scope)?);
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

    fn access(&self, root: &ast::Expr, chain: &[AccessExpr], scope: &Scope<'_>) -> Option<Node> {
        let mut names = match root {
            ast::Expr::Identifier(name) => vec![name.clone()],
            _ => Vec::new(),
        };
        let mut chain = chain;
        while let ([AccessExpr::Dot(ast::Expr::Identifier(name)), rest @ ..], false) = (chain, names.is_empty()) {
            names.push(name.clone());
            chain = rest;
        }
        let arg = match names.len() {
            0 | 1 => self.expr(root, scope)?,
            _ => self.expr(&ast::Expr::CompoundIdentifier(names), scope)?,
        };
        let Ty { oid: array, modifier } = arg.ty();
        if array == SqlType::JSONB.oid() {
            let mut places = Vec::new();
            for access in chain {
                let AccessExpr::Subscript(Subscript::Index { index }) = access else { return None };
                let node = self.settle(self.expr(index, scope)?)?;
                places.push(Place::At(Some(node).filter(|node| matches!(node.ty().oid, oid::TEXT | oid::INT4))?));
            }
            return Some(Node::Subscript { arg: Box::new(arg), places, ty: Ty::of(array) });
        }
        let element = self.types().element(array)?;
        let subscript = |index: &ast::Expr| -> Option<Node> {
            let node = self.expr(index, scope)?;
            if node.ty().oid == oid::INT4 || node.ty().oid == oid::UNKNOWN {
                return self.coerce(node, oid::INT4);
            }
            Some(Node::Cast { arg: Box::new(node), ty: Ty::of(oid::INT4), implicit: true, call: true })
        };
        let bound = |index: &Option<ast::Expr>| match index {
            None => Some(None),
            Some(index) => subscript(index).map(Some),
        };
        let mut places = Vec::new();
        for access in chain {
            let AccessExpr::Subscript(access) = access else { return None };
            places.push(match access {
                Subscript::Index { index } => Place::At(subscript(index)?),
                Subscript::Slice { lower_bound, upper_bound, stride: None } => {
                    Place::Part(bound(lower_bound)?, bound(upper_bound)?)
                }
                Subscript::Slice { .. } => return None,
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

fn is_junction(expr: &ast::Expr, op: &BinaryOperator) -> bool {
    match expr {
        ast::Expr::Nested(inner) => is_junction(inner, op),
        ast::Expr::BinaryOp { op: other, .. } => other == op,
        _ => false,
    }
}

/// The symbol of an operator.
pub fn symbol(op: &BinaryOperator) -> Option<String> {
    Some(match op {
        BinaryOperator::PGCustomBinaryOperator(parts) => match parts.as_slice() {
            [symbol] => symbol.clone(),
            [schema, symbol] if schema.eq_ignore_ascii_case("pg_catalog") => symbol.clone(),
            _ => return None,
        },
        BinaryOperator::Custom(symbol) => symbol.clone(),
        BinaryOperator::NotEq => "<>".into(),
        other => other.to_string(),
    })
}

/// CURRENT_DATE and its kin. `None` for other words.
pub fn keyword(word: &str) -> Option<Node> {
    let ty = match word {
        "current_timestamp" => oid::TIMESTAMPTZ,
        "current_date" => oid::DATE,
        "localtimestamp" => oid::TIMESTAMP,
        "current_time" => oid::TIMETZ,
        "localtime" => oid::TIME,
        "current_user" | "current_role" | "user" | "session_user" | "current_catalog" | "current_schema" => oid::NAME,
        _ => return None,
    };
    Some(Node::Keyword { text: word.to_uppercase(), ty: Ty::of(ty) })
}

impl From<Call> for Node {
    fn from(call: Call) -> Node {
        Node::Call(call)
    }
}
