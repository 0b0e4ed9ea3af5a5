//! Calls of functions, aggregates and window functions, and other expressions with call syntax.

use super::Analysis;
use super::expression::text;
use super::node::{Call, FramePart, Key, Node, Sort, Syntax, Window};
use super::scope::Scope;
use super::types::{Ty, oid};
use crate::builtin::ALL_FUNCTIONS;
use syntax::ast::{
    self, CurrentValue, Expr, FrameBound, FrameExclusion, FrameUnits, Over, SortDirection, SortItem, SpecialCall,
    TrimSide,
};
use syntax::fold_name;

/// The arguments of a call, with the clauses around them.
#[derive(Default)]
struct Arguments {
    nodes: Vec<Node>,
    names: Vec<String>,
    star: bool,
    distinct: bool,
    variadic: bool,
    order_by: Vec<Sort>,
}

impl Analysis<'_> {
    /// A call of one of PostgreSQL's functions by name, with positional arguments.
    pub fn function(&self, name: &str, args: Vec<Node>, syntax: Option<Syntax>) -> Option<Node> {
        let arguments = Arguments { nodes: args, ..Arguments::default() };
        let mut call = self.chosen(name, arguments, "f")?;
        call.syntax = syntax;
        Some(call.into())
    }

    /// Chooses the function of a call.
    fn chosen(&self, name: &str, arguments: Arguments, kinds: &str) -> Option<Call> {
        let given: Vec<_> = arguments.nodes.iter().map(|node| node.ty().oid).collect();
        let chosen = super::resolve::function(self.types(), name, kinds, &given, arguments.variadic).ok()?;
        let mut args = Vec::with_capacity(given.len());
        for (node, ty) in arguments.nodes.into_iter().zip(&chosen.arguments) {
            args.push(self.coerce(node, *ty)?);
        }
        let mut call = Call::new(chosen.what.name, args, Ty::of(chosen.result));
        (call.names, call.star, call.distinct) = (arguments.names, arguments.star, arguments.distinct);
        (call.variadic, call.order_by) = (arguments.variadic, arguments.order_by);
        Some(call)
    }

    /// Analyzes a call in the tree.
    pub fn call(&self, written: &ast::Call, scope: &Scope<'_>) -> Option<Node> {
        let (schema, name) = fold_name(&written.name).ok()?;
        if schema.is_some_and(|schema| schema != crate::PG_CATALOG) {
            return None;
        }
        let mut arguments = self.arguments(written, scope)?;
        if !arguments.names.is_empty() {
            return self.named_call(&name, arguments);
        }
        for item in &written.within_group {
            let sort = self.sort(item, scope)?;
            arguments.nodes.push(sort.key.node.clone());
            arguments.order_by.push(sort);
        }
        // A call of a type's name is a cast, unless a function takes exactly this type.
        if let [one] = arguments.nodes.as_slice() {
            let given = [one.ty().oid];
            let exact = ALL_FUNCTIONS.iter().any(|function| function.name == name && function.arguments == given);
            if let (false, Some(ty)) = (exact, types::type_named(&name).filter(|ty| !ty.array)) {
                return self.cast(arguments.nodes.pop()?, Ty::of(ty.oid()));
            }
        }
        let mut call = self.chosen(&name, arguments, "faw")?;
        if !written.within_group.is_empty() {
            call.within_group = true;
            let direct = call.args.len().checked_sub(written.within_group.len())?;
            for (sort, node) in call.order_by.iter_mut().zip(call.args.drain(direct..)) {
                sort.key.node = node;
            }
        }
        if let Some(filter) = &written.filter {
            call.filter = Some(Box::new(self.boolean(self.expr(filter, scope)?)?));
        }
        if let Some(over) = &written.over {
            call.over = Some(Box::new(self.window(over, scope)?));
        }
        Some(call.into())
    }

    /// Analyzes an expression with a call syntax of its own.
    pub fn special_call(&self, call: &SpecialCall, scope: &Scope<'_>) -> Option<Node> {
        let bind = |expr: &Expr| self.expr(expr, scope);
        let all = |exprs: &[Expr]| exprs.iter().map(bind).collect::<Option<Vec<_>>>();
        let listed = |word: &'static str, exprs: &[Expr]| -> Option<Node> {
            let nodes = all(exprs)?;
            let order: Vec<_> = nodes.iter().map(|node| node.ty().oid).collect();
            let (args, ty) = self.unify(nodes, &order)?;
            Some(Node::Listed { word, args, ty })
        };
        match call {
            SpecialCall::Coalesce(values) => listed("COALESCE", values),
            SpecialCall::Greatest(values) => listed("GREATEST", values),
            SpecialCall::Least(values) => listed("LEAST", values),
            SpecialCall::NullIf(left, right) => {
                let node = self.operator("=", Some(bind(left)?), bind(right)?)?;
                let Node::Operator { operands, .. } = node else { return None };
                let ty = operands.first()?.ty();
                Some(Node::Listed { word: "NULLIF", args: operands, ty })
            }
            SpecialCall::Grouping(exprs) => all(exprs).map(Node::Grouping),
            SpecialCall::Extract(field, value) => {
                self.function("extract", vec![text(field), bind(value)?], Some(Syntax::Extract))
            }
            SpecialCall::Position(part, whole) => {
                self.function("position", vec![bind(whole)?, bind(part)?], Some(Syntax::Position))
            }
            SpecialCall::Overlay(value, new, from, length) => {
                let mut args = vec![bind(value)?, bind(new)?, bind(from)?];
                if let Some(length) = length {
                    args.push(bind(length)?);
                }
                self.function("overlay", args, Some(Syntax::Overlay))
            }
            SpecialCall::Substring(value, from, length) => {
                let mut args = vec![bind(value)?];
                match (from, length) {
                    (Some(from), None) => args.push(bind(from)?),
                    (Some(from), Some(length)) => args.extend([bind(from)?, bind(length)?]),
                    // Without FROM the length is an integer in any case.
                    (None, Some(length)) => {
                        let first = Node::Const(Ty::of(oid::INT4), Some("1".to_string()));
                        args.extend([first, self.cast(bind(length)?, Ty::of(oid::INT4))?]);
                    }
                    (None, None) => return None,
                }
                self.function("substring", args, Some(Syntax::Substring))
            }
            SpecialCall::SubstringSimilar(value, pattern, escape) => {
                let args = vec![bind(value)?, bind(pattern)?, bind(escape)?];
                self.function("substring", args, Some(Syntax::SubstringSimilar))
            }
            SpecialCall::Trim(side, exprs) => {
                let (name, syntax) = match side {
                    TrimSide::Both => ("btrim", Syntax::TrimBoth),
                    TrimSide::Leading => ("ltrim", Syntax::TrimLeading),
                    TrimSide::Trailing => ("rtrim", Syntax::TrimTrailing),
                };
                self.function(name, all(exprs)?, Some(syntax))
            }
            SpecialCall::Normalize(value, form) => {
                let mut args = vec![bind(value)?];
                args.extend(form.as_deref().map(text));
                self.function("normalize", args, Some(Syntax::Normalize))
            }
            SpecialCall::CollationFor(value) => {
                self.function("pg_collation_for", vec![bind(value)?], Some(Syntax::CollationFor))
            }
            SpecialCall::Treat(..) => None,
            SpecialCall::Current(value, precision) => Some(current(*value, *precision)),
        }
    }

    fn arguments(&self, call: &ast::Call, scope: &Scope<'_>) -> Option<Arguments> {
        let (star, distinct, variadic) = (call.star, call.distinct, call.variadic);
        let mut arguments = Arguments { star, distinct, variadic, ..Arguments::default() };
        for argument in &call.arguments {
            if argument.name.is_none() && !arguments.names.is_empty() {
                return None;
            }
            arguments.nodes.push(self.expr(&argument.value, scope)?);
            arguments.names.extend(argument.name.as_ref().map(|name| name.value.clone()));
        }
        for item in &call.order_by {
            arguments.order_by.push(self.sort(item, scope)?);
        }
        Some(arguments)
    }

    /// A call with named arguments, if only one function of the name has them.
    fn named_call(&self, name: &str, arguments: Arguments) -> Option<Node> {
        let mut found = ALL_FUNCTIONS.iter().filter(|function| {
            let names = function.names();
            function.name == name && arguments.names.iter().all(|name| names.contains(name))
        });
        let function = found.next()?;
        if found.next().is_some() || arguments.variadic {
            return None;
        }
        let names = function.names();
        let placed = arguments.nodes.len().checked_sub(arguments.names.len())?;
        let mut args = Vec::new();
        for (at, node) in arguments.nodes.into_iter().enumerate() {
            let place = match at.checked_sub(placed).and_then(|at| arguments.names.get(at)) {
                Some(name) => names.iter().position(|known| known == name)?,
                None => at,
            };
            args.push(self.coerce(node, *function.arguments.get(place)?)?);
        }
        let mut call = Call::new(function.name, args, Ty::of(function.result));
        call.names = arguments.names;
        Some(call.into())
    }

    /// Analyzes a key of ORDER BY within a call or window.
    fn sort(&self, item: &SortItem, scope: &Scope<'_>) -> Option<Sort> {
        let node = self.settle(self.expr(&item.value, scope)?)?;
        sort_by(item, Key { node, number: None })
    }

    /// Analyzes an OVER clause.
    fn window(&self, over: &Over, scope: &Scope<'_>) -> Option<Window> {
        match over {
            Over::Named(name) => Some(Window { name: Some(name.value.clone()), ..Window::default() }),
            Over::Spec(spec) => self.window_spec(spec, scope),
        }
    }

    /// Analyzes a window specification in parentheses.
    pub fn window_spec(&self, spec: &ast::WindowSpec, scope: &Scope<'_>) -> Option<Window> {
        let base = spec.base.as_ref().map(|base| base.value.clone());
        let mut window = Window { base, ..Window::default() };
        for key in &spec.partition_by {
            let node = self.settle(self.expr(key, scope)?)?;
            window.partition_by.push(Key { node, number: None });
        }
        for item in &spec.order_by {
            window.order_by.push(self.sort(item, scope)?);
        }
        if let Some(frame) = &spec.frame {
            window.frame.push(FramePart::Words(match frame.units {
                FrameUnits::Rows => "ROWS",
                FrameUnits::Range => "RANGE",
                FrameUnits::Groups => "GROUPS",
            }));
            let key = window.order_by.first().map(|sort| sort.key.node.ty().oid);
            let by_row = frame.units != FrameUnits::Range;
            if frame.end.is_some() {
                window.frame.push(FramePart::Words(" BETWEEN"));
            }
            self.frame_bound(&frame.start, by_row, key, &mut window.frame, scope)?;
            if let Some(end) = &frame.end {
                window.frame.push(FramePart::Words(" AND"));
                self.frame_bound(end, by_row, key, &mut window.frame, scope)?;
            }
            window.frame.extend(frame.exclude.map(|exclude| {
                FramePart::Words(match exclude {
                    FrameExclusion::CurrentRow => " EXCLUDE CURRENT ROW",
                    FrameExclusion::Group => " EXCLUDE GROUP",
                    FrameExclusion::Ties => " EXCLUDE TIES",
                })
            }));
        }
        Some(window)
    }

    fn frame_bound(
        &self,
        bound: &FrameBound,
        by_row: bool,
        key: Option<types::Oid>,
        parts: &mut Vec<FramePart>,
        scope: &Scope<'_>,
    ) -> Option<()> {
        let (offset, words) = match bound {
            FrameBound::CurrentRow => (None, " CURRENT ROW"),
            FrameBound::UnboundedPreceding => (None, " UNBOUNDED PRECEDING"),
            FrameBound::UnboundedFollowing => (None, " UNBOUNDED FOLLOWING"),
            FrameBound::Preceding(offset) => (Some(offset), " PRECEDING"),
            FrameBound::Following(offset) => (Some(offset), " FOLLOWING"),
        };
        if let Some(offset) = offset {
            let node = self.expr(offset, scope)?;
            let node = match (node.ty().oid, by_row) {
                (oid::UNKNOWN, true) => self.coerce(node, oid::INT8)?,
                (oid::UNKNOWN, false) => match key? {
                    key @ (oid::INT2 | oid::INT4 | oid::INT8 | oid::NUMERIC) => self.coerce(node, key)?,
                    oid::DATE | oid::TIME | oid::TIMETZ | oid::TIMESTAMP | oid::TIMESTAMPTZ => {
                        self.coerce(node, oid::INTERVAL)?
                    }
                    _ => return None,
                },
                _ => node,
            };
            parts.push(FramePart::Words(" "));
            parts.push(FramePart::Offset(node));
        }
        parts.push(FramePart::Words(words));
        Some(())
    }
}

/// A sort key with its direction and its order of NULLs.
pub fn sort_by(item: &SortItem, key: Key) -> Option<Sort> {
    let descending = match &item.direction {
        None | Some(SortDirection::Ascending) => false,
        Some(SortDirection::Descending) => true,
        Some(SortDirection::Using(_)) => return None,
    };
    let first = item.nulls_first.unwrap_or(descending);
    let nulls = match (descending, first) {
        (false, true) => Some(" NULLS FIRST"),
        (true, false) => Some(" NULLS LAST"),
        _ => None,
    };
    Some(Sort { key, descending, nulls })
}

/// CURRENT_DATE and its kin.
fn current(value: CurrentValue, precision: Option<i32>) -> Node {
    let (word, ty) = match value {
        CurrentValue::Date => ("CURRENT_DATE", oid::DATE),
        CurrentValue::Time => ("CURRENT_TIME", oid::TIMETZ),
        CurrentValue::Timestamp => ("CURRENT_TIMESTAMP", oid::TIMESTAMPTZ),
        CurrentValue::LocalTime => ("LOCALTIME", oid::TIME),
        CurrentValue::LocalTimestamp => ("LOCALTIMESTAMP", oid::TIMESTAMP),
        CurrentValue::Role => ("CURRENT_ROLE", oid::NAME),
        CurrentValue::User => ("CURRENT_USER", oid::NAME),
        CurrentValue::PlainUser => ("USER", oid::NAME),
        CurrentValue::SessionUser => ("SESSION_USER", oid::NAME),
        CurrentValue::Catalog => ("CURRENT_CATALOG", oid::NAME),
        CurrentValue::Schema => ("CURRENT_SCHEMA", oid::NAME),
    };
    let text = match precision {
        // The precision is at most six.
        Some(digits) => format!("{word}({})", digits.min(6)),
        None => word.to_string(),
    };
    Node::Keyword { text, ty: Ty::of(ty) }
}
