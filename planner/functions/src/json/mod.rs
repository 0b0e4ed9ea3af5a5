//! Operators and functions of json and jsonb.

mod access;
mod assign;
mod build;
mod change;
mod collect;
mod contain;
mod path;
mod path_functions;
mod path_id;
mod path_time;
mod path_value;
mod populate;
mod record;
mod rows;
mod to_json;

pub use assign::with_part;
pub(super) use collect::{NAMES as AGGREGATES, aggregate};
pub use populate::populated;
pub use record::{Source as RecordSource, record_lists};

use super::kernel::{Kernel, KernelFunction, Stability};
use super::operator::no_operator;
use super::registry::ScalarFunction;
use super::{CastContext, Resolver, TypedExpr};
use sql_error::Result;
use types::{BaseType, SqlType};

/// Whether a function returns a set of rows.
pub fn is_row_function(name: &str) -> bool {
    rows::exists(name) || path_functions::is_row_function(name)
}

/// The columns of a call, with their names, as arrays. `None` for other functions. Errors: 42883.
pub(super) fn row_lists(
    resolver: &Resolver<'_>,
    name: &str,
    args: &[TypedExpr],
) -> Result<Option<Vec<(&'static str, TypedExpr)>>> {
    if path_functions::is_row_function(name) {
        return Ok(Some(vec![("", path_functions::row_list(resolver, name, args)?)]));
    }
    rows::row_lists(resolver, name, args)
}

/// Whether a type is json or jsonb.
pub(super) fn is_json(ty: SqlType) -> bool {
    !ty.array && matches!(ty.base, BaseType::Json | BaseType::Jsonb)
}

/// Whether an operator with an operand of json may be one of this module's.
pub(super) fn is_operator(symbol: &str) -> bool {
    matches!(symbol, "->" | "->>" | "#>" | "#>>" | "@>" | "<@" | "?" | "?|" | "?&" | "||" | "-" | "#-" | "@?" | "@@")
}

/// An operator over json or jsonb. Errors: 42883.
pub(super) fn operator(resolver: &Resolver<'_>, symbol: &str, left: TypedExpr, right: TypedExpr) -> Result<TypedExpr> {
    let implicit = CastContext::Implicit;
    let missing = |left: &TypedExpr, right: &TypedExpr| Err(no_operator(symbol, Some(left.ty), right.ty));
    let texts = SqlType::TEXT.array_of();
    let integer = matches!(right.ty.plain(), SqlType::INT2 | SqlType::INT4);
    let textual = right.is_unknown() || Resolver::stringlike(right.ty);
    let binary = left.ty.plain() == SqlType::JSONB;
    // An unknown operand beside jsonb is jsonb if the operator takes two of them.
    if matches!(symbol, "@>" | "<@" | "||") {
        let (left, right) = match (left.is_unknown(), right.is_unknown()) {
            (true, false) => (resolver.cast(left, SqlType::JSONB, implicit)?, right),
            (false, true) => (left, resolver.cast(right, SqlType::JSONB, implicit)?),
            _ => (left, right),
        };
        if left.ty.plain() != SqlType::JSONB || right.ty.plain() != SqlType::JSONB {
            return missing(&left, &right);
        }
        let (kernel, result) = match symbol {
            "||" => (change::concatenate(), SqlType::JSONB),
            "@>" => (contain::contains(false), SqlType::BOOL),
            _ => (contain::contains(true), SqlType::BOOL),
        };
        return Ok(call(symbol, vec![left, right], result, kernel));
    }
    if let "@?" | "@@" = symbol {
        if right.ty != SqlType::JSONPATH && !right.is_unknown() || !(binary || left.is_unknown()) {
            return missing(&left, &right);
        }
        let name = if symbol == "@?" { "jsonb_path_exists_opr" } else { "jsonb_path_match_opr" };
        return resolver.function(name, vec![left, right]);
    }
    if !is_json(left.ty) {
        return missing(&left, &right);
    }
    let (to, kernel, result) = match symbol {
        "->" if integer => (SqlType::INT4, access::element(false, binary), left.ty.plain()),
        "->>" if integer => (SqlType::INT4, access::element(true, binary), SqlType::TEXT),
        "->" if textual => (SqlType::TEXT, access::field(false), left.ty.plain()),
        "->>" if textual => (SqlType::TEXT, access::field(true), SqlType::TEXT),
        "#>" if right.is_unknown() || right.ty.array => (texts, access::path(false), left.ty.plain()),
        "#>>" if right.is_unknown() || right.ty.array => (texts, access::path(true), SqlType::TEXT),
        "?" if binary && textual => (SqlType::TEXT, contain::has_key(), SqlType::BOOL),
        "?|" if binary => (texts, contain::has_keys(false), SqlType::BOOL),
        "?&" if binary => (texts, contain::has_keys(true), SqlType::BOOL),
        "-" if binary && integer => (SqlType::INT4, change::without_element(), SqlType::JSONB),
        "-" if binary && textual => (SqlType::TEXT, change::without_key(), SqlType::JSONB),
        "-" if binary && right.ty.array => (texts, change::without_keys(), SqlType::JSONB),
        "#-" if binary => (texts, change::without_path(), SqlType::JSONB),
        _ => return missing(&left, &right),
    };
    let right = resolver.cast(right, to, implicit)?;
    let name = format!("{symbol} {}", to.name());
    Ok(call(&name, vec![left, right], result, kernel))
}

fn call(name: &str, args: Vec<TypedExpr>, result: SqlType, kernel: Kernel) -> TypedExpr {
    let types = args.iter().map(|arg| arg.ty.plain()).collect();
    KernelFunction::new(format!("json {name}"), types, result, Stability::Immutable, kernel, None)
        .strict(true)
        .call(args.into_iter().map(|arg| arg.expr).collect())
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    [
        access::functions(),
        assign::functions(),
        build::functions(),
        change::functions(),
        collect::functions(),
        path_functions::functions(),
        rows::functions(),
        to_json::functions(),
    ]
    .concat()
}
