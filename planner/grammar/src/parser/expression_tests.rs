//! Tests of expressions, by a short form of their trees.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::Parser;
use crate::error::{Result, SyntaxError};
use crate::tree::{Expr, ExprKind, Ident, Literal, Operator, Quantity, SpecialCall, Step, TypeName};

fn whole<'t, T>(text: &'t str, read: impl FnOnce(&mut Parser<'t>) -> Result<T>) -> Result<T> {
    let mut parser = Parser::new(text)?;
    let tree = read(&mut parser)?;
    if parser.at_end() { Ok(tree) } else { Err(parser.error()) }
}

fn expr(text: &str) -> Expr {
    whole(text, Parser::expr).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The error of a text in the oracle's order: SQLSTATE, position from 1, message.
fn error(text: &str, restricted: bool) -> String {
    let read = |parser: &mut Parser<'_>| if restricted { parser.restricted_expr() } else { parser.expr() };
    let error: SyntaxError = whole(text, read).expect_err(text);
    let fields = error.fields();
    format!("{} {} {}", fields.state, fields.span.map_or(0, |span| span.start + 1), fields.message)
}

fn names(idents: &[Ident]) -> String {
    idents.iter().map(|ident| ident.value.as_str()).collect::<Vec<_>>().join(".")
}

fn sign(op: &Operator) -> String {
    op.schema.iter().map(|part| format!("{}.", part.value)).collect::<String>() + &op.sign
}

fn of_type(data_type: &TypeName) -> String {
    let modifiers =
        if data_type.modifiers.is_empty() { String::new() } else { format!("({})", all(&data_type.modifiers)) };
    let base = match &data_type.base {
        crate::tree::TypeBase::Named(name) => names(&name.parts),
        crate::tree::TypeBase::OfColumn(name) => names(&name.parts) + "%type",
        base => format!("{base:?}"),
    };
    let bounds = data_type.array_bounds.iter().map(|bound| bound.map_or("[]".into(), |size| format!("[{size}]")));
    format!("{}{base}{modifiers}{}", if data_type.set_of { "setof " } else { "" }, bounds.collect::<String>())
}

fn all(exprs: &[Expr]) -> String {
    exprs.iter().map(short).collect::<Vec<_>>().join(" ")
}

fn not(negated: bool) -> &'static str {
    if negated { "not-" } else { "" }
}

/// A tree as nested lists.
fn short(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Column(parts) => names(parts),
        ExprKind::Star(parts) => format!("{}.*", names(parts)),
        ExprKind::Literal(literal) => match literal {
            Literal::Null => "null".into(),
            Literal::Boolean(value) => value.to_string(),
            Literal::Integer(text) | Literal::Decimal(text) => text.clone(),
            Literal::String(text) => format!("'{text}'"),
            Literal::Bits(text) => format!("b'{text}'"),
            Literal::HexBits(text) => format!("x'{text}'"),
        },
        ExprKind::Parameter(number) => format!("${number}"),
        ExprKind::Default => "default".into(),
        ExprKind::And(operands) => format!("(and {})", all(operands)),
        ExprKind::Or(operands) => format!("(or {})", all(operands)),
        ExprKind::Not(operand) => format!("(not {})", short(operand)),
        ExprKind::Unary { op, operand } => format!("({} {})", sign(op), short(operand)),
        ExprKind::Binary { op, left, right } => format!("({} {} {})", sign(op), short(left), short(right)),
        ExprKind::IsNull { operand, negated } => format!("({}null? {})", not(*negated), short(operand)),
        ExprKind::IsTruth { operand, truth, negated } => format!("({}{truth:?}? {})", not(*negated), short(operand)),
        ExprKind::IsDistinct { left, right, negated, .. } => {
            format!("({}distinct {} {})", not(*negated), short(left), short(right))
        }
        ExprKind::IsNormalized { operand, form, negated, .. } => {
            format!("({}normalized {} {})", not(*negated), form.as_deref().unwrap_or("-"), short(operand))
        }
        ExprKind::Between { operand, low, high, symmetric, negated, .. } => {
            let symmetric = if *symmetric { "-symmetric" } else { "" };
            format!("({}between{symmetric} {} {} {})", not(*negated), short(operand), short(low), short(high))
        }
        ExprKind::InList { operand, list, negated, .. } => {
            format!("({}in {} [{}])", not(*negated), short(operand), all(list))
        }
        ExprKind::InQuery { operand, negated, .. } => format!("({}in {} query)", not(*negated), short(operand)),
        ExprKind::Like { kind, operand, pattern, escape, negated, .. } => {
            let escape = escape.as_ref().map_or(String::new(), |escape| format!(" {}", short(escape)));
            format!("({}{kind:?} {} {}{escape})", not(*negated), short(operand), short(pattern))
        }
        ExprKind::Quantified { left, op, all, right } => {
            let values = match right {
                Quantity::Array(array) => short(array),
                Quantity::Query(_) => "query".into(),
            };
            format!("({} {} {} {values})", sign(op), if *all { "all" } else { "any" }, short(left))
        }
        ExprKind::Cast { operand, data_type, .. } => format!("(cast {} {})", short(operand), of_type(data_type)),
        ExprKind::Collate { operand, collation, .. } => {
            format!("(collate {} {})", short(operand), names(&collation.parts))
        }
        ExprKind::AtTimeZone { operand, zone, .. } => format!("(at {} {})", short(operand), short(zone)),
        ExprKind::Overlaps { left, right, .. } => format!("(overlaps [{}] [{}])", all(left), all(right)),
        ExprKind::Case { operand, branches, otherwise } => {
            let one = |expr: &Option<Box<Expr>>| expr.as_ref().map_or("-".into(), |expr| short(expr));
            let branches = branches.iter().map(|(when, then)| format!("{}:{} ", short(when), short(then)));
            format!("(case {} {}{})", one(operand), branches.collect::<String>(), one(otherwise))
        }
        ExprKind::Call(call) => {
            let mut text = format!("({}", names(&call.name.parts));
            for (set, word) in [(call.star, " *"), (call.distinct, " distinct"), (call.variadic, " variadic")] {
                text += if set { word } else { "" };
            }
            for argument in &call.arguments {
                let name = argument.name.as_ref().map_or(String::new(), |name| format!("{}=>", name.value));
                text += &format!(" {name}{}", short(&argument.value));
            }
            for (items, word) in [(&call.order_by, "order"), (&call.within_group, "within")] {
                for item in items {
                    text += &format!(" {word}:{}", short(&item.value));
                }
            }
            if let Some(filter) = &call.filter {
                text += &format!(" filter:{}", short(filter));
            }
            text + if call.over.is_some() { " over)" } else { ")" }
        }
        ExprKind::Special(call) => special(call),
        ExprKind::Row { fields, explicit } => format!("{}[{}]", if *explicit { "row" } else { "" }, all(fields)),
        ExprKind::Array(elements) => format!("array[{}]", all(elements)),
        ExprKind::ArrayQuery(_) => "array-query".into(),
        ExprKind::Query(_) => "query".into(),
        ExprKind::Exists(_) => "exists".into(),
        ExprKind::Path { operand, steps } => {
            let step = |step: &Step| match step {
                Step::Field(name) => format!(" .{}", name.value),
                Step::All(_) => " .*".into(),
                Step::Element(index) => format!(" [{}]", short(index)),
                Step::Slice(low, high) => {
                    let bound = |bound: &Option<Expr>| bound.as_ref().map_or(String::new(), short);
                    format!(" [{}:{}]", bound(low), bound(high))
                }
            };
            format!("(path {}{})", short(operand), steps.iter().map(step).collect::<String>())
        }
        ExprKind::CurrentOf(name) => format!("(current-of {})", name.value),
    }
}

fn special(call: &SpecialCall) -> String {
    let some = |exprs: &[Option<&Expr>]| {
        let exprs = exprs.iter().map(|expr| expr.map_or("-".into(), short));
        exprs.collect::<Vec<_>>().join(" ")
    };
    match call {
        SpecialCall::Coalesce(values) => format!("(coalesce {})", all(values)),
        SpecialCall::Greatest(values) => format!("(greatest {})", all(values)),
        SpecialCall::Least(values) => format!("(least {})", all(values)),
        SpecialCall::NullIf(left, right) => format!("(nullif {} {})", short(left), short(right)),
        SpecialCall::Grouping(values) => format!("(grouping {})", all(values)),
        SpecialCall::Extract(field, value) => format!("(extract {field} {})", short(value)),
        SpecialCall::Position(part, text) => format!("(position {} {})", short(part), short(text)),
        SpecialCall::Overlay(text, new, from, length) => {
            format!("(overlay {})", some(&[Some(text), Some(new), Some(from), length.as_ref()]))
        }
        SpecialCall::Substring(text, from, length) => {
            format!("(substring {})", some(&[Some(text), from.as_ref(), length.as_ref()]))
        }
        SpecialCall::SubstringSimilar(text, pattern, escape) => {
            format!("(similar {} {} {})", short(text), short(pattern), short(escape))
        }
        SpecialCall::Trim(side, values) => format!("(trim {side:?} {})", all(values)),
        SpecialCall::Normalize(value, form) => {
            format!("(normalize {} {})", form.as_deref().unwrap_or("-"), short(value))
        }
        SpecialCall::Treat(value, data_type) => format!("(treat {} {})", short(value), of_type(data_type)),
        SpecialCall::CollationFor(value) => format!("(collation-for {})", short(value)),
        SpecialCall::Current(value, precision) => match precision {
            Some(precision) => format!("({value:?} {precision})"),
            None => format!("{value:?}"),
        },
    }
}

mod cases;
mod depth;
