//! Resolves operators by symbol and operand types (manual, 10.2).

use super::comparison::{compare, comparison_operator};
use super::{CastContext, Resolver, TypedExpr, arithmetic, time};
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;
use sql_error::{Result, SqlError, state};
use types::{BaseType, Ctype, SqlType};

/// The error 42883 for an operator that does not exist.
pub(super) fn no_operator(symbol: &str, left: Option<SqlType>, right: SqlType) -> SqlError {
    let text = match left {
        Some(left) => format!("{} {symbol} {}", left.name(), right.name()),
        None => format!("{symbol} {}", right.name()),
    };
    let hint = match left {
        Some(_) => "No operator matches the given name and argument types. You might need to add explicit type casts.",
        None => "No operator matches the given name and argument type. You might need to add an explicit type cast.",
    };
    SqlError::new(state::UNDEFINED_FUNCTION, format!("operator does not exist: {text}")).hint(hint)
}

fn binary(left: TypedExpr, operator: Operator, right: TypedExpr, ty: SqlType) -> TypedExpr {
    TypedExpr::new(
        Expr::BinaryExpr(BinaryExpr { left: Box::new(left.expr), op: operator, right: Box::new(right.expr) }),
        ty,
    )
}

/// The implementation of [`Resolver::operator`].
pub(super) fn resolve(
    resolver: &Resolver<'_>,
    symbol: &str,
    left: Option<TypedExpr>,
    right: TypedExpr,
) -> Result<TypedExpr> {
    let Some(left) = left else {
        return prefix(resolver, symbol, right);
    };
    if let Some(operator) = comparison_operator(symbol) {
        return compare(resolver, symbol, operator, left, right);
    }
    // Only jsonb has these operators, so an unknown operand is jsonb.
    let only = matches!(symbol, "?" | "?|" | "?&" | "@?" | "@@" | "#-")
        || symbol == "-" && (right.ty.plain() == SqlType::TEXT || right.ty == SqlType::TEXT.array_of());
    let left = match left.is_unknown() && only {
        true => resolver.cast(left, SqlType::JSONB, CastContext::Implicit)?,
        false => left,
    };
    if super::json::is_operator(symbol) && (super::json::is_json(left.ty) || super::json::is_json(right.ty)) {
        // A text beside a json is concatenated with it as text.
        let known_text = |typed: &TypedExpr| !typed.is_unknown() && Resolver::stringlike(typed.ty);
        let text = symbol == "||"
            && (left.ty != SqlType::JSONB && right.ty != SqlType::JSONB || known_text(&left) || known_text(&right));
        if !text {
            return super::json::operator(resolver, symbol, left, right);
        }
    }
    match symbol {
        "AND" | "OR" => {
            let operator = if symbol == "AND" { Operator::And } else { Operator::Or };
            let (left, right) = (resolver.boolean(left, symbol)?, resolver.boolean(right, symbol)?);
            Ok(binary(
                TypedExpr::new(left, SqlType::BOOL),
                operator,
                TypedExpr::new(right, SqlType::BOOL),
                SqlType::BOOL,
            ))
        }
        "~~" | "!~~" | "~~*" | "!~~*" => like(resolver, symbol, left, right),
        "~" | "!~" | "~*" | "!~*" => {
            let (left, right) = strings(resolver, symbol, padded(left), right)?;
            let negated = symbol.starts_with('!');
            let insensitive = symbol.ends_with('*');
            let matched =
                resolver.function(if insensitive { "texticregexeq" } else { "textregexeq" }, vec![left, right])?;
            Ok(if negated { TypedExpr::new(Expr::Not(Box::new(matched.expr)), SqlType::BOOL) } else { matched })
        }
        "^@" => resolver.function("starts_with", vec![left, right]),
        "||" => concatenate(resolver, left, right),
        "@>" | "<@" | "&&" => super::array::sets::operator(resolver, symbol, left, right),
        "+" | "-" | "*" | "/" | "%" | "^" | "|" | "&" | "#" | "<<" | ">>" => {
            arithmetic_operator(resolver, symbol, left, right)
        }
        _ => Err(no_operator(symbol, Some(left.ty), right.ty)),
    }
}

fn prefix(resolver: &Resolver<'_>, symbol: &str, operand: TypedExpr) -> Result<TypedExpr> {
    if matches!(symbol, "-" | "~") && operand.is_unknown() {
        let message = format!("operator is not unique: {symbol} unknown");
        return Err(SqlError::new(state::AMBIGUOUS_FUNCTION, message)
            .hint("Could not choose a best candidate operator. You might need to add explicit type casts."));
    }
    match symbol {
        "NOT" => {
            let operand = resolver.boolean(operand, "NOT")?;
            Ok(TypedExpr::new(Expr::Not(Box::new(operand)), SqlType::BOOL))
        }
        "-" if matches!(operand.ty, SqlType { base: BaseType::Interval | BaseType::Time, array: false, .. }) => {
            time::negate(resolver, operand)
        }
        "-" | "+" => {
            let operand = if operand.is_unknown() {
                resolver.cast(operand, SqlType::FLOAT8, CastContext::Implicit)?
            } else {
                operand
            };
            if !operand.ty.is_number() {
                return Err(no_operator(symbol, None, operand.ty));
            }
            if symbol == "+" { Ok(operand) } else { arithmetic::negate(operand) }
        }
        "@" => resolver.function("abs", vec![operand]),
        "|/" | "||/" => {
            let operand = resolver.cast(operand.clone(), SqlType::FLOAT8, CastContext::Implicit);
            let operand = operand.map_err(|_| no_operator(symbol, None, SqlType::UNKNOWN))?;
            resolver.function(if symbol == "|/" { "sqrt" } else { "cbrt" }, vec![operand])
        }
        "~" if operand.ty.is_integer() => arithmetic::complement(operand),
        _ => Err(no_operator(symbol, None, operand.ty)),
    }
}

/// Converts both operands to text.
fn strings(resolver: &Resolver<'_>, symbol: &str, left: TypedExpr, right: TypedExpr) -> Result<(TypedExpr, TypedExpr)> {
    for operand in [&left, &right] {
        if !Resolver::stringlike(operand.ty) {
            return Err(no_operator(symbol, Some(left.ty), right.ty));
        }
    }
    Ok((
        resolver.cast(left, SqlType::TEXT, CastContext::Implicit)?,
        resolver.cast(right, SqlType::TEXT, CastContext::Implicit)?,
    ))
}

fn like(resolver: &Resolver<'_>, symbol: &str, left: TypedExpr, right: TypedExpr) -> Result<TypedExpr> {
    let bytes = |ty: SqlType| ty == SqlType::BYTEA;
    if bytes(left.ty) || bytes(right.ty) && left.is_unknown() {
        if symbol.ends_with('*') {
            return Err(no_operator(symbol, Some(left.ty), right.ty));
        }
        return resolver.function(if symbol.starts_with('!') { "byteanlike" } else { "bytealike" }, vec![left, right]);
    }
    let (left, right) = strings(resolver, symbol, padded(left), right)?;
    let simple = matches!(right.constant(), Some(ScalarValue::Utf8(Some(pattern)))
        if pattern.chars().rev().take_while(|c| *c == '\\').count() % 2 == 0);
    let known_later = matches!(right.constant(), Some(ScalarValue::Utf8(None))) || is_parameter(&right);
    // DataFusion's ILIKE uses Unicode case folding.
    let other_cases = symbol.ends_with('*') && resolver.ctype() != Ctype::Unicode;
    if other_cases || !simple && !known_later {
        let name = match symbol {
            "~~" => "textlike",
            "!~~" => "textnlike",
            "~~*" => "texticlike",
            _ => "texticnlike",
        };
        return resolver.function(name, vec![left, right]);
    }
    Ok(TypedExpr::new(
        Expr::Like(Like {
            negated: symbol.starts_with('!'),
            expr: Box::new(left.expr),
            pattern: Box::new(right.expr),
            escape_char: None,
            case_insensitive: symbol.ends_with('*'),
        }),
        SqlType::BOOL,
    ))
}

/// Whether it is a parameter: its value is known when the bounds of a scan are computed.
fn is_parameter(typed: &TypedExpr) -> bool {
    matches!(typed.expr, Expr::Placeholder(_))
}

/// As in PostgreSQL, a char(n) is matched with its padding.
fn padded(text: TypedExpr) -> TypedExpr {
    if text.ty.base == BaseType::Char && !text.ty.array { TypedExpr::new(text.expr, SqlType::TEXT) } else { text }
}

fn concatenate(resolver: &Resolver<'_>, left: TypedExpr, right: TypedExpr) -> Result<TypedExpr> {
    if left.ty.array || right.ty.array {
        return super::array::concatenate(resolver, left, right);
    }
    let known_text = |typed: &TypedExpr| !typed.is_unknown() && Resolver::stringlike(typed.ty);
    if (left.ty == SqlType::BYTEA && !known_text(&right)) || (right.ty == SqlType::BYTEA && !known_text(&left)) {
        let left = resolver.cast(left, SqlType::BYTEA, CastContext::Implicit)?;
        let right = resolver.cast(right, SqlType::BYTEA, CastContext::Implicit)?;
        return resolver.function("byteacat", vec![left, right]);
    }
    if !Resolver::stringlike(left.ty) && !Resolver::stringlike(right.ty) {
        return Err(no_operator("||", Some(left.ty), right.ty));
    }
    // The operand that is not text is cast to it: anynonarray || text.
    let left = resolver.cast(left, SqlType::TEXT, CastContext::Assignment)?;
    let right = resolver.cast(right, SqlType::TEXT, CastContext::Assignment)?;
    resolver.function("textcat", vec![left, right])
}

fn arithmetic_operator(resolver: &Resolver<'_>, symbol: &str, left: TypedExpr, right: TypedExpr) -> Result<TypedExpr> {
    if time::is_time(left.ty) || time::is_time(right.ty) {
        return time::operator(resolver, symbol, left, right);
    }
    let implicit = CastContext::Implicit;
    let (left, right) = match (left.is_unknown(), right.is_unknown()) {
        (true, true) => {
            return Err(SqlError::new(
                state::AMBIGUOUS_FUNCTION,
                format!("operator is not unique: {} {symbol} {}", left.ty.name(), right.ty.name()),
            )
            .hint("Could not choose a best candidate operator. You might need to add explicit type casts."));
        }
        (true, false) => {
            let ty = if matches!(symbol, "<<" | ">>") { right.ty } else { right.ty.plain() };
            (resolver.cast(left, ty, implicit)?, right)
        }
        (false, true) => {
            let ty = if matches!(symbol, "<<" | ">>") { SqlType::INT4 } else { left.ty.plain() };
            let right = resolver.cast(right, ty, implicit)?;
            (left, right)
        }
        _ => (left, right),
    };
    let missing = || no_operator(symbol, Some(left.ty), right.ty);
    if !left.ty.is_number() || !right.ty.is_number() {
        return Err(missing());
    }
    if matches!(symbol, "<<" | ">>") {
        if !left.ty.is_integer() || !right.ty.is_integer() {
            return Err(missing());
        }
        let right = resolver.cast(right, SqlType::INT4, implicit)?;
        return arithmetic::shift(symbol, left, right);
    }
    let ty = arithmetic::operand_type(symbol, left.ty, right.ty).ok_or_else(missing)?;
    let (left, right) = (resolver.cast(left, ty, implicit)?, resolver.cast(right, ty, implicit)?);
    arithmetic::binary_operator(symbol, left, right, ty)
}
