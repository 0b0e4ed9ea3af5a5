//! Functions that implement operators and similar under other names in PostgreSQL. `int4pl(1, 2)` is `1 + 2`,
//! `textlen('a')` is `length('a')`, `int4larger(1, 2)` is the greater value, and `btint4cmp(1, 2)` compares.
//! PostgreSQL's own catalog lists say which name has which meaning.

use super::{CastContext, Resolver, TypedExpr};
use builtin::overload_resolution::{self, Meaning};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use sql_error::Result;
use types::{Oid, SqlType};

/// Functions that add one.
const INCREMENTS: [&str; 3] = ["int4inc", "int8inc", "numeric_inc"];

/// Whether a function of this name has another meaning.
pub(super) fn exists(name: &str) -> bool {
    INCREMENTS.contains(&name) || overload_resolution::has_meaning(name)
}

/// Resolves a call by the function's OID. The arguments have the declared types. `None` if the function has no meaning
/// that is implemented here.
pub(super) fn resolve(
    resolver: &Resolver<'_>,
    name: &str,
    function: Oid,
    args: &[TypedExpr],
) -> Result<Option<TypedExpr>> {
    if let ([value], true) = (args, INCREMENTS.contains(&name)) {
        let one = resolver.cast(TypedExpr::unknown("1"), value.ty, CastContext::Implicit)?;
        return resolver.operator("+", Some(value.clone()), one).map(Some);
    }
    for meaning in overload_resolution::meanings(function) {
        let found = match (*meaning, args) {
            (Meaning::Operator(symbol), [left, right]) => {
                super::operator::resolve(resolver, symbol, Some(left.clone()), right.clone())
            }
            (Meaning::Operator(symbol), [operand]) => super::operator::resolve(resolver, symbol, None, operand.clone()),
            (Meaning::Function(other), _) if super::registry::is_listed(other) => {
                super::registry::resolve(resolver, other, args.to_vec())
            }
            (Meaning::Order, [left, right]) => order(resolver, left, right),
            (Meaning::Greater, [left, right]) => extreme(resolver, ">", left, right),
            (Meaning::Smaller, [left, right]) => extreme(resolver, "<", left, right),
            _ => continue,
        };
        if let Ok(found) = found {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Functions by which casts apply a constant type modifier, `interval(interval, modifier)` and `varchar(varchar,
/// modifier, explicit)`. Also `timestamptz(date, time)`. `None` for another function.
pub(super) fn modified(resolver: &Resolver<'_>, name: &str, args: &[TypedExpr]) -> Result<Option<TypedExpr>> {
    let [value, second, rest @ ..] = args else { return Ok(None) };
    if name == "timestamptz" && rest.is_empty() && (value.ty, second.ty.plain()) == (SqlType::DATE, SqlType::TIME) {
        let local = resolver.operator("+", Some(value.clone()), second.clone())?;
        return resolver.cast(local, SqlType::TIMESTAMPTZ, CastContext::Implicit).map(Some);
    }
    let ty = super::registry::type_called(name).filter(|ty| ty.base == value.ty.base && !value.ty.array);
    let (Some(ty), SqlType::INT4, Some(ScalarValue::Int32(Some(modifier)))) = (ty, second.ty, second.constant()) else {
        return Ok(None);
    };
    let context = match rest {
        [] => CastContext::Explicit,
        [explicit] => match explicit.constant() {
            Some(ScalarValue::Boolean(Some(true))) => CastContext::Explicit,
            Some(ScalarValue::Boolean(Some(false))) => CastContext::Assignment,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let value = TypedExpr::new(value.expr.clone(), value.ty.plain());
    resolver.cast(value, ty.with_modifier(*modifier), context).map(Some)
}

fn case(whens: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Expr {
    super::guarded_case::case(whens, otherwise)
}

/// The comparison of two values as -1, 0 or 1.
fn order(resolver: &Resolver<'_>, left: &TypedExpr, right: &TypedExpr) -> Result<TypedExpr> {
    let compare = |symbol| -> Result<Expr> {
        Ok(super::operator::resolve(resolver, symbol, Some(left.clone()), right.clone())?.expr)
    };
    let number = |value| Expr::Literal(ScalarValue::Int32(Some(value)), None);
    let whens = vec![(compare("<")?, number(-1)), (compare("=")?, number(0)), (compare(">")?, number(1))];
    Ok(TypedExpr::new(case(whens, Some(Expr::Literal(ScalarValue::Int32(None), None))), SqlType::INT4))
}

/// The left value if the comparison holds, otherwise the right one. NULL if either is NULL.
fn extreme(resolver: &Resolver<'_>, symbol: &str, left: &TypedExpr, right: &TypedExpr) -> Result<TypedExpr> {
    let holds = super::operator::resolve(resolver, symbol, Some(left.clone()), right.clone())?.expr;
    let nothing = Expr::Literal(ScalarValue::try_from(&left.ty.arrow())?, None);
    let whens = vec![(Expr::IsNull(Box::new(holds.clone())), nothing), (holds, left.expr.clone())];
    Ok(TypedExpr::new(case(whens, Some(right.expr.clone())), left.ty.plain()))
}
