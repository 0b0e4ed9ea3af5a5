//! The walk through expressions.

use super::{fields, variants};
use crate::tree::{Argument, Call, Expr, ExprKind, Over, Quantity, SortItem, SpecialCall, Step};

fields! {
    Expr, before: pre_visit_expr, behind: post_visit_expr => [kind];
    Call => [arguments, order_by, within_group, filter, over];
    Argument => [value];
    SortItem => [value];
}

variants! {
    ExprKind;
    ExprKind::Column(_)
    | ExprKind::Star(_)
    | ExprKind::Literal(_)
    | ExprKind::Parameter(_)
    | ExprKind::Default
    | ExprKind::CurrentOf(_) => [],
    ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::Array(parts) | ExprKind::Row { fields: parts, .. } => [parts],
    ExprKind::Not(operand)
    | ExprKind::Unary { operand, .. }
    | ExprKind::IsNull { operand, .. }
    | ExprKind::IsTruth { operand, .. }
    | ExprKind::IsNormalized { operand, .. }
    | ExprKind::Cast { operand, .. }
    | ExprKind::Collate { operand, .. } => [operand],
    ExprKind::Binary { left, right, .. } | ExprKind::IsDistinct { left, right, .. } => [left, right],
    ExprKind::Between { operand, low, high, .. } => [operand, low, high],
    ExprKind::InList { operand, list, .. } => [operand, list],
    ExprKind::InQuery { operand, query, .. } => [operand, query],
    ExprKind::Like { operand, pattern, escape, .. } => [operand, pattern, escape],
    ExprKind::Quantified { left, right, .. } => [left, right],
    ExprKind::AtTimeZone { operand, zone, .. } => [operand, zone],
    ExprKind::Overlaps { left, right, .. } => [left, right],
    ExprKind::Case { operand, branches, otherwise } => [operand, branches, otherwise],
    ExprKind::Call(call) => [call],
    ExprKind::Special(call) => [call],
    ExprKind::ArrayQuery(query) | ExprKind::Query(query) | ExprKind::Exists(query) => [query],
    ExprKind::Path { operand, steps } => [operand, steps],
}

variants! {
    SpecialCall;
    SpecialCall::Coalesce(values)
    | SpecialCall::Greatest(values)
    | SpecialCall::Least(values)
    | SpecialCall::Grouping(values)
    | SpecialCall::Trim(_, values) => [values],
    SpecialCall::NullIf(first, second) | SpecialCall::Position(first, second) => [first, second],
    SpecialCall::Extract(_, value)
    | SpecialCall::Normalize(value, _)
    | SpecialCall::Treat(value, _)
    | SpecialCall::CollationFor(value) => [value],
    SpecialCall::Overlay(text, other, from, length) => [text, other, from, length],
    SpecialCall::Substring(text, from, length) => [text, from, length],
    SpecialCall::SubstringSimilar(text, pattern, escape) => [text, pattern, escape],
    SpecialCall::Current(..) => [],
}

variants! {
    Quantity;
    Quantity::Array(array) => [array],
    Quantity::Query(query) => [query],
}

variants! {
    Step;
    Step::Field(_) | Step::All(_) => [],
    Step::Element(index) => [index],
    Step::Slice(lower, upper) => [lower, upper],
}

variants! {
    Over;
    Over::Named(_) => [],
    Over::Spec(spec) => [spec],
}
