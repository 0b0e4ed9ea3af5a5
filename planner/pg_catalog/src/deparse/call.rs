//! Calls of functions, aggregates and window functions, and other expressions with call syntax.

use super::Analysis;
use super::expression::keyword;
use super::node::{Call, FramePart, Key, Node, Sort, Syntax, Window};
use super::scope::Scope;
use super::types::{Ty, oid};
use crate::builtin::ALL_FUNCTIONS;
use sqlparser::ast::{
    self, DuplicateTreatment, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, OrderBySort,
    WindowFrameBound, WindowFrameUnits, WindowType,
};
use syntax::{EXCLUDE, VARIADIC, fold, fold_name};

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
    pub fn call(&self, function: &ast::Function, scope: &Scope<'_>) -> Option<Node> {
        let (schema, name) = fold_name(&function.name).ok()?;
        if schema.is_some_and(|schema| schema != "pg_catalog")
            || function.null_treatment.is_some()
            || function.uses_odbc_syntax
            || !matches!(function.parameters, FunctionArguments::None)
        {
            return None;
        }
        let list = match &function.args {
            FunctionArguments::None => return keyword(&name),
            FunctionArguments::Subquery(query) if name == "array" => return self.array_subquery(query, scope),
            FunctionArguments::Subquery(_) => return None,
            FunctionArguments::List(list) => list,
        };
        if let Some(node) = self.special_call(&name, list, scope) {
            return node;
        }
        let mut arguments = self.arguments(list, scope)?;
        if !arguments.names.is_empty() {
            return self.named_call(&name, arguments);
        }
        for item in &function.within_group {
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
        if !function.within_group.is_empty() {
            call.within_group = true;
            let direct = call.args.len().checked_sub(function.within_group.len())?;
            for (sort, node) in call.order_by.iter_mut().zip(call.args.drain(direct..)) {
                sort.key.node = node;
            }
        }
        if let Some(filter) = &function.filter {
            call.filter = Some(Box::new(self.boolean(self.expr(filter, scope)?)?));
        }
        if let Some(over) = &function.over {
            call.over = Some(Box::new(self.window(over, scope)?));
        }
        Some(call.into())
    }

    /// Analyzes other expressions with call syntax. `None` for a real call.
    fn special_call(&self, name: &str, list: &ast::FunctionArgumentList, scope: &Scope<'_>) -> Option<Option<Node>> {
        let exprs: Vec<&ast::Expr> = list
            .args
            .iter()
            .filter_map(|arg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
                _ => None,
            })
            .collect();
        let nodes = || exprs.iter().map(|expr| self.expr(expr, scope)).collect::<Option<Vec<_>>>();
        match name {
            "row" => Some(self.row(exprs, scope).map(Node::Row)),
            "grouping" => Some(nodes().map(Node::Grouping)),
            "values" | "all" | "any" | "some" => Some(None),
            "coalesce" | "greatest" | "least" => Some(nodes().and_then(|nodes| {
                let order: Vec<_> = nodes.iter().map(|node| node.ty().oid).collect();
                let (args, ty) = self.unify(nodes, &order)?;
                let word = match name {
                    "coalesce" => "COALESCE",
                    "greatest" => "GREATEST",
                    _ => "LEAST",
                };
                Some(Node::Listed { word, args, ty })
            })),
            "nullif" => Some(nodes().and_then(|nodes| {
                let [left, right]: [Node; 2] = nodes.try_into().ok()?;
                let Node::Operator { operands, .. } = self.operator("=", Some(left), right)? else { return None };
                let ty = operands.first()?.ty();
                Some(Node::Listed { word: "NULLIF", args: operands, ty })
            })),
            "current_timestamp" | "current_time" | "localtimestamp" | "localtime" => {
                let [ast::Expr::Value(digits)] = exprs.as_slice() else { return Some(None) };
                let ty = keyword(name).map(|node| node.ty());
                // The precision is at most six.
                let digits = digits.to_string().parse().unwrap_or(6_u32).min(6);
                Some(ty.map(|ty| Node::Keyword { text: format!("{}({digits})", name.to_uppercase()), ty }))
            }
            "normalize" => Some(match exprs.as_slice() {
                [text] => {
                    self.expr(text, scope).and_then(|text| self.function(name, vec![text], Some(Syntax::Normalize)))
                }
                [text, ast::Expr::Identifier(form)] => self.expr(text, scope).and_then(|text| {
                    let form = Node::Const(Ty::of(oid::TEXT), Some(form.value.to_uppercase()));
                    self.function(name, vec![text, form], Some(Syntax::Normalize))
                }),
                _ => None,
            }),
            _ => None,
        }
    }

    fn arguments(&self, list: &ast::FunctionArgumentList, scope: &Scope<'_>) -> Option<Arguments> {
        let mut arguments = Arguments {
            distinct: matches!(list.duplicate_treatment, Some(DuplicateTreatment::Distinct)),
            ..Arguments::default()
        };
        for arg in &list.args {
            match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) if arguments.names.is_empty() => {
                    arguments.nodes.push(self.expr(expr, scope)?);
                }
                FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => arguments.star = true,
                FunctionArg::ExprNamed {
                    name: ast::Expr::Identifier(name), arg: FunctionArgExpr::Expr(expr), ..
                }
                | FunctionArg::Named { name, arg: FunctionArgExpr::Expr(expr), .. } => {
                    arguments.nodes.push(self.expr(expr, scope)?);
                    if name.value == VARIADIC && name.quote_style.is_none() {
                        arguments.variadic = true;
                    } else {
                        arguments.names.push(fold(name));
                    }
                }
                _ => return None,
            }
        }
        for clause in &list.clauses {
            let FunctionArgumentClause::OrderBy(order) = clause else { return None };
            for item in order {
                arguments.order_by.push(self.sort(item, scope)?);
            }
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
    pub fn sort(&self, item: &ast::OrderByExpr, scope: &Scope<'_>) -> Option<Sort> {
        let node = self.settle(self.expr(&item.expr, scope)?)?;
        sort_by(item, Key { node, number: None })
    }

    /// Analyzes an OVER clause.
    fn window(&self, over: &WindowType, scope: &Scope<'_>) -> Option<Window> {
        match over {
            WindowType::NamedWindow(name) => Some(Window { name: Some(fold(name)), ..Window::default() }),
            WindowType::WindowSpec(spec) => self.window_spec(spec, scope),
        }
    }

    /// Analyzes a window specification in parentheses.
    pub fn window_spec(&self, spec: &ast::WindowSpec, scope: &Scope<'_>) -> Option<Window> {
        let mut window = Window { base: spec.window_name.as_ref().map(fold), ..Window::default() };
        for key in &spec.partition_by {
            let node = self.settle(self.expr(key, scope)?)?;
            window.partition_by.push(Key { node, number: None });
        }
        let mut exclude = None;
        for item in &spec.order_by {
            if let ast::Expr::Identifier(name) = &item.expr
                && let Some(kind) = name.value.strip_prefix(EXCLUDE)
            {
                exclude = Some(match kind {
                    "current row" => " EXCLUDE CURRENT ROW",
                    "group" => " EXCLUDE GROUP",
                    "ties" => " EXCLUDE TIES",
                    _ => return None,
                });
                continue;
            }
            window.order_by.push(self.sort(item, scope)?);
        }
        if let Some(frame) = &spec.window_frame {
            let units = match frame.units {
                WindowFrameUnits::Rows => "ROWS",
                WindowFrameUnits::Range => "RANGE",
                WindowFrameUnits::Groups => "GROUPS",
            };
            window.frame.push(FramePart::Words(units));
            let key = window.order_by.first().map(|sort| sort.key.node.ty().oid);
            let by_row = frame.units != WindowFrameUnits::Range;
            if frame.end_bound.is_some() {
                window.frame.push(FramePart::Words(" BETWEEN"));
            }
            self.frame_bound(&frame.start_bound, by_row, key, &mut window.frame, scope)?;
            if let Some(end) = &frame.end_bound {
                window.frame.push(FramePart::Words(" AND"));
                self.frame_bound(end, by_row, key, &mut window.frame, scope)?;
            }
            window.frame.extend(exclude.map(FramePart::Words));
        }
        Some(window)
    }

    fn frame_bound(
        &self,
        bound: &WindowFrameBound,
        by_row: bool,
        key: Option<types::Oid>,
        parts: &mut Vec<FramePart>,
        scope: &Scope<'_>,
    ) -> Option<()> {
        let (offset, words) = match bound {
            WindowFrameBound::CurrentRow => (None, " CURRENT ROW"),
            WindowFrameBound::Preceding(None) => (None, " UNBOUNDED PRECEDING"),
            WindowFrameBound::Following(None) => (None, " UNBOUNDED FOLLOWING"),
            WindowFrameBound::Preceding(Some(offset)) => (Some(offset), " PRECEDING"),
            WindowFrameBound::Following(Some(offset)) => (Some(offset), " FOLLOWING"),
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
pub fn sort_by(item: &ast::OrderByExpr, key: Key) -> Option<Sort> {
    if item.with_fill.is_some() {
        return None;
    }
    let descending = match &item.options.sort {
        None | Some(OrderBySort::Asc) => false,
        Some(OrderBySort::Desc) => true,
        Some(OrderBySort::Using(_)) => return None,
    };
    let first = item.options.nulls_first.unwrap_or(descending);
    let nulls = match (descending, first) {
        (false, true) => Some(" NULLS FIRST"),
        (true, false) => Some(" NULLS LAST"),
        _ => None,
    };
    Some(Sort { key, descending, nulls })
}
