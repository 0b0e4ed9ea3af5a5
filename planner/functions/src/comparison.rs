//! Comparisons: operands are converted to one type and compared by DataFusion's own operators, so that indexes can use
//! them.
//!
//! In `column = constant`, the column stays unconverted if the constant can be written in the column's type.

use super::array::key::{one_form, one_form_f32};
use super::cast::cast_exists;
use super::distinctness::distinctness;
use super::in_list::one_of;
use super::kernel::{KernelFunction, Stability};
use super::operator::no_operator;
use super::time::compared;
use super::typed::{Bytea, Float4, Float8, NumericBytes, Text, unary};
use super::{CastContext, Resolver, TypedExpr};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use sql_error::{Result, state};
use types::numeric::Numeric as NumericValue;
use types::{BaseType, SqlType, interval, json, length, numeric_modifier};

/// Name of the function that strips the display scale.
pub const NUMERIC_KEY: &str = "numeric_key";
/// Name of the function that makes equal intervals identical.
pub const INTERVAL_KEY: &str = "interval_key";

/// The canonical form of a numeric, without trailing zeros. Constants are folded.
pub fn numeric_key(expr: TypedExpr) -> TypedExpr {
    // The canonical form is made from the bytes: most values already have it.
    let kernel = unary::<NumericBytes, NumericBytes, _>(|bytes: &[u8]| {
        let key = types::numeric::key_of(bytes);
        Ok(NumericValue::from_key(key, 0)?.0.to_bytes())
    });
    fold("numeric_key", kernel, expr, SqlType::NUMERIC)
}

/// The canonical form of an interval. Constants are folded.
fn interval_key(expr: TypedExpr) -> TypedExpr {
    let kernel = unary::<NumericBytes, NumericBytes, _>(|bytes: &[u8]| Ok(interval::canonical(bytes)));
    fold(INTERVAL_KEY, kernel, expr, SqlType::INTERVAL)
}

/// The canonical form of a float: there are two zeros, and many NaNs.
fn float_key(expr: TypedExpr) -> TypedExpr {
    let ty = expr.ty.plain();
    if ty.base == BaseType::Float4 {
        return fold("float_key", unary::<Float4, Float4, _>(|v: f32| Ok(one_form_f32(v))), expr, ty);
    }
    fold("float_key", unary::<Float8, Float8, _>(|v: f64| Ok(one_form(v))), expr, ty)
}

/// The sort key of a jsonb, as bytes.
fn jsonb_key(expr: TypedExpr) -> TypedExpr {
    let kernel = unary::<Text, Bytea, _>(|text: &str| json::key(text));
    let function = KernelFunction::new("jsonb_key", vec![expr.ty], SqlType::BYTEA, Stability::Immutable, kernel, None);
    function.strict(true).call(vec![expr.expr])
}

fn fold(name: &str, kernel: super::Kernel, expr: TypedExpr, result: SqlType) -> TypedExpr {
    let function = KernelFunction::new(name, vec![expr.ty], result, Stability::Immutable, kernel, None);
    if let Some(value) = expr.constant()
        && let Ok(value) = function.evaluate(std::slice::from_ref(value))
    {
        return TypedExpr::literal(value, result);
    }
    function.strict(true).call(vec![expr.expr])
}

fn trimmed(expr: TypedExpr) -> TypedExpr {
    let kernel = unary::<Text, Text, _>(|text: &str| Ok(text.trim_end_matches(' ').to_string()));
    fold("char_key", kernel, expr, SqlType::CHAR)
}

fn padded(expr: TypedExpr, modifier: i32) -> TypedExpr {
    let kernel = unary::<Text, Text, _>(move |text: &str| {
        // A value that is too long stays so: it equals no value of the column.
        let text = text.trim_end_matches(' ');
        Ok(length::character(text, modifier, false).map_or_else(|_| text.to_string(), |text| text.into_owned()))
    });
    fold(&format!("char_pad_{modifier}"), kernel, expr, SqlType::CHAR.with_modifier(modifier))
}

/// The key, of the same type, that is identical for equal values: see [`Resolver::group_key`].
pub(super) fn canonical(expr: TypedExpr) -> TypedExpr {
    match expr.ty.base {
        _ if expr.ty.array => TypedExpr::new(super::array::key::array_key(expr.clone()).expr, expr.ty),
        BaseType::Numeric if expr.ty.modifier < 4 => numeric_key(expr),
        BaseType::Char if expr.ty.modifier < 4 => trimmed(expr),
        BaseType::Interval => interval_key(expr),
        BaseType::Float4 | BaseType::Float8 => float_key(expr),
        BaseType::Jsonb => TypedExpr::new(jsonb_key(expr).expr, SqlType::JSONB),
        BaseType::Record(_) => super::record::record_key(expr),
        _ => expr,
    }
}

/// The type in which two operands are compared. Errors: 42883.
pub(super) fn comparison_type(symbol: &str, left: SqlType, right: SqlType) -> Result<SqlType> {
    use BaseType as B;
    if let (B::Record(one), B::Record(other)) = (left.base, right.base) {
        if left.array != right.array {
            return Err(no_operator(symbol, Some(left), right));
        }
        super::record::comparable(symbol, one, other)?;
        return Ok(left.plain());
    }
    if left.array || right.array {
        if left.array && right.array && left.base == right.base {
            return Ok(left.plain());
        }
        return Err(no_operator(symbol, Some(left), right));
    }
    if left.base == right.base {
        // json and jsonpath have no comparison operators; xid and cid have no order.
        let unordered = matches!(left.base, B::Xid | B::Cid) && ["<", "<=", ">", ">="].contains(&symbol);
        let unequal = left.base == B::Cid && symbol == "<>";
        return if matches!(left.base, B::Json | B::Jsonpath) || unordered || unequal {
            Err(no_operator(symbol, Some(left), right))
        } else {
            Ok(left.plain())
        };
    }
    let pair = |a: &[B], b: &[B]| {
        (a.contains(&left.base) && b.contains(&right.base)) || (a.contains(&right.base) && b.contains(&left.base))
    };
    let integers = [B::Int2, B::Int4, B::Int8];
    let floats = [B::Float4, B::Float8];
    let texts = [B::Text, B::Varchar, B::Name];
    let oid = |base: B| base.is_oid();
    let oids = oid(left.base) && (oid(right.base) || integers.contains(&right.base))
        || oid(right.base) && integers.contains(&left.base);
    // varchar has no operators of its own. Beside char(n) it is compared as char, beside text and name as text.
    if pair(&[B::Varchar], &[B::Char]) {
        return Ok(SqlType::CHAR.plain());
    }
    let ty = if pair(&integers, &integers) {
        if left.base > right.base { left } else { right }
    } else if pair(&integers, &[B::Numeric]) {
        SqlType::NUMERIC
    } else if pair(&floats, &[B::Int2, B::Int4, B::Int8, B::Numeric, B::Float4, B::Float8]) {
        SqlType::FLOAT8
    } else if pair(&texts, &texts) || pair(&texts, &[B::Char]) || pair(&[B::SingleChar], &texts) {
        SqlType::TEXT
    } else if oids {
        SqlType::OID
    } else if pair(&[B::Date], &[B::Timestamp]) {
        SqlType::TIMESTAMP
    } else if pair(&[B::Timestamptz], &[B::Date, B::Timestamp]) {
        SqlType::TIMESTAMPTZ
    } else if pair(&[B::Time], &[B::Timetz]) {
        SqlType::TIMETZ
    } else if pair(&[B::Time], &[B::Interval]) {
        SqlType::INTERVAL
    } else {
        return Err(no_operator(symbol, Some(left), right));
    };
    Ok(ty.plain())
}

/// Converts a constant to the other side's type. `None` if that would change a comparison.
fn narrowed(constant: &TypedExpr, to: SqlType) -> Option<TypedExpr> {
    use BaseType as B;
    let value = constant.constant()?;
    let literal = |value| Some(TypedExpr::literal(value, to.plain()));
    if value.is_null() {
        return literal(ScalarValue::try_from(&to.arrow()).ok()?);
    }
    // An xid and an oid are held as integers too, but are not numbers.
    if to.array || constant.ty.array || !matches!(constant.ty.base, B::Int2 | B::Int4 | B::Int8 | B::Numeric) {
        return None;
    }
    let whole: i64 = match value {
        ScalarValue::Int16(Some(value)) => i64::from(*value),
        ScalarValue::Int32(Some(value)) => i64::from(*value),
        ScalarValue::Int64(Some(value)) => *value,
        ScalarValue::Binary(Some(bytes)) if constant.ty.base == B::Numeric => {
            let number = NumericValue::from_bytes(bytes).ok()?;
            if !number.is_finite() || number.trunc(0) != number {
                return None;
            }
            number.to_i64("bigint").ok()?
        }
        _ => return None,
    };
    match to.base {
        B::Int2 => literal(ScalarValue::Int16(Some(i16::try_from(whole).ok()?))),
        B::Int4 => literal(ScalarValue::Int32(Some(i32::try_from(whole).ok()?))),
        B::Int8 => literal(ScalarValue::Int64(Some(whole))),
        _ => None,
    }
}

/// The type for an unknown operand beside one of type `other`. Object names compare as OIDs. varchar has only the
/// operators of text.
pub(super) fn beside(other: SqlType) -> SqlType {
    match other.base {
        _ if other.array => other.plain(),
        BaseType::Varchar => SqlType::TEXT,
        base if base.is_object_name() => SqlType::OID,
        _ => other.plain(),
    }
}

/// Converts both operands to one type. Errors: 42883 if there is none.
pub(super) fn balance(
    resolver: &Resolver<'_>,
    symbol: &str,
    left: TypedExpr,
    right: TypedExpr,
) -> Result<(TypedExpr, TypedExpr)> {
    let implicit = CastContext::Implicit;
    let (left, right) = match (left.is_unknown(), right.is_unknown()) {
        (true, true) => (resolver.cast(left, SqlType::TEXT, implicit)?, resolver.cast(right, SqlType::TEXT, implicit)?),
        (true, false) => {
            let ty = beside(right.ty);
            (resolver.cast(left, ty, implicit)?, right)
        }
        (false, true) => {
            let ty = beside(left.ty);
            let right = resolver.cast(right, ty, implicit)?;
            (left, right)
        }
        _ => (left, right),
    };
    // A parameter may have had another type before.
    if left.ty.base != right.ty.base {
        if left.constant().is_none()
            && let Some(right) = narrowed(&right, left.ty)
        {
            return Ok((left, right));
        }
        if right.constant().is_none()
            && let Some(left) = narrowed(&left, right.ty)
        {
            return Ok((left, right));
        }
    }
    if left.ty == SqlType::of(BaseType::Xid) && right.ty.plain() == SqlType::INT4 && ["=", "<>"].contains(&symbol) {
        // There is an operator for these types, but no cast.
        let number = resolver.cast(right, SqlType::OID, implicit)?;
        return Ok((left, number));
    }
    let ty = comparison_type(symbol, left.ty, right.ty)?;
    let bring = |expr: TypedExpr| -> Result<TypedExpr> {
        if expr.ty.base == ty.base || matches!(ty.base, BaseType::Record(_)) {
            return Ok(expr);
        }
        if compared::applies(expr.ty, ty) {
            return compared::compared(resolver, expr, ty);
        }
        let context = if cast_exists(expr.ty, ty, implicit) { implicit } else { CastContext::Explicit };
        resolver.cast(expr, ty, context)
    };
    let (left, right) = (bring(left)?, bring(right)?);
    Ok(match ty.base {
        // Among sorted arrays, NULL elements come last.
        _ if ty.array && matches!(symbol, "<" | "<=" | ">" | ">=") => {
            (super::array::key::array_order(left), super::array::key::array_order(right))
        }
        _ if ty.array => (super::array::key::array_key(left), super::array::key::array_key(right)),
        BaseType::Numeric => balance_numeric(left, right),
        BaseType::Char => balance_char(left, right),
        BaseType::Interval => (interval_key(left), interval_key(right)),
        BaseType::Jsonb => (jsonb_key(left), jsonb_key(right)),
        BaseType::Record(_) => (super::record::record_key(left), super::record::record_key(right)),
        _ => (left, right),
    })
}

fn declared(expr: &TypedExpr) -> bool {
    expr.ty.modifier >= 4
}

fn balance_numeric(left: TypedExpr, right: TypedExpr) -> (TypedExpr, TypedExpr) {
    let scale = |expr: &TypedExpr| numeric_modifier(expr.ty.modifier).1.max(0);
    if declared(&left) && declared(&right) && scale(&left) == scale(&right) {
        return (left, right);
    }
    // The constant gets the column's scale if it has no more digits than that.
    let rescaled = |column: &TypedExpr, constant: &TypedExpr| -> Option<TypedExpr> {
        if !declared(column) {
            return None;
        }
        let ScalarValue::Binary(Some(bytes)) = constant.constant()? else {
            return None;
        };
        let value = NumericValue::from_bytes(bytes).ok()?;
        let places = i64::from(scale(column));
        let rounded = value.round(places);
        (value.is_nan() || value.is_finite() && rounded == value)
            .then(|| TypedExpr::literal(ScalarValue::Binary(Some(rounded.to_bytes())), column.ty))
    };
    if let Some(right) = rescaled(&left, &right) {
        return (left, right);
    }
    if let Some(left) = rescaled(&right, &left) {
        return (left, right);
    }
    (numeric_key(left), numeric_key(right))
}

fn balance_char(left: TypedExpr, right: TypedExpr) -> (TypedExpr, TypedExpr) {
    match (declared(&left), declared(&right)) {
        (true, true) if left.ty.modifier == right.ty.modifier => (left, right),
        (true, false) => {
            let right = padded(right, left.ty.modifier);
            (left, right)
        }
        (false, true) => {
            let left = padded(left, right.ty.modifier);
            (left, right)
        }
        _ => (trimmed(left), trimmed(right)),
    }
}

/// DataFusion's operator for a comparison symbol.
pub(super) fn comparison_operator(symbol: &str) -> Option<Operator> {
    Some(match symbol {
        "=" => Operator::Eq,
        "<>" | "!=" => Operator::NotEq,
        "<" => Operator::Lt,
        "<=" => Operator::LtEq,
        ">" => Operator::Gt,
        ">=" => Operator::GtEq,
        "IS DISTINCT FROM" => Operator::IsDistinctFrom,
        "IS NOT DISTINCT FROM" => Operator::IsNotDistinctFrom,
        _ => return None,
    })
}

/// A comparison, with its operands converted.
pub(super) fn compare(
    resolver: &Resolver<'_>,
    symbol: &str,
    operator: Operator,
    left: TypedExpr,
    right: TypedExpr,
) -> Result<TypedExpr> {
    let distinct = matches!(operator, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom);
    let (left, right) = balance(resolver, if distinct { "=" } else { symbol }, left, right)?;
    if let Some(expr) = distinctness(operator, &left.expr, &right.expr) {
        return Ok(TypedExpr::new(expr, SqlType::BOOL));
    }
    Ok(TypedExpr::new(
        Expr::BinaryExpr(BinaryExpr { left: Box::new(left.expr), op: operator, right: Box::new(right.expr) }),
        SqlType::BOOL,
    ))
}

/// Converts list members without columns to the type that they and the left side have in common. One member is left as
/// it is. The left side stays as well: in PostgreSQL, the operator determines its conversion.
fn in_common(resolver: &Resolver<'_>, left: TypedExpr, list: Vec<TypedExpr>) -> Result<(TypedExpr, Vec<TypedExpr>)> {
    let fixed = |member: &TypedExpr| member.expr.column_refs().is_empty();
    let types: Vec<SqlType> =
        std::iter::once(left.ty).chain(list.iter().filter(|member| fixed(member)).map(|member| member.ty)).collect();
    let alike = types.iter().all(|ty| *ty == left.ty);
    if types.len() < 3 || alike && !left.is_unknown() {
        return Ok((left, list));
    }
    let Ok(common) = super::cast::common_type("IN", &types) else { return Ok((left, list)) };
    if matches!(common.base, BaseType::Record(_)) {
        return Ok((left, list));
    }
    let typed = |expr: TypedExpr| match expr.ty != common.plain() && fixed(&expr) {
        true => match narrowed(&expr, common).filter(|_| !expr.is_unknown()) {
            Some(expr) => Ok(expr),
            None => resolver.cast(expr, common.plain(), CastContext::Implicit),
        },
        false => Ok(expr),
    };
    let left = if left.is_unknown() { resolver.cast(left, beside(common), CastContext::Implicit)? } else { left };
    Ok((left, list.into_iter().map(typed).collect::<Result<_>>()?))
}

/// Whether evaluating a list member in vain is cheap and cannot fail.
fn is_simple(member: &Expr) -> bool {
    match member {
        Expr::Literal(..) | Expr::Placeholder(_) | Expr::Column(_) => true,
        Expr::ScalarFunction(call) => {
            let widens = ["cast_implicit_integer", "cast_implicit_bigint", NUMERIC_KEY, INTERVAL_KEY];
            widens.contains(&call.name()) && call.args.iter().all(is_simple)
        }
        _ => false,
    }
}

/// Joins operands by AND or OR into a tree of minimal depth, which limits recursion over it.
pub fn balanced(mut operands: Vec<Expr>, operator: Operator) -> Expr {
    let of_none = || Expr::Literal(ScalarValue::Boolean(Some(operator == Operator::And)), None);
    while operands.len() > 1 {
        let mut next = Vec::with_capacity(operands.len().div_ceil(2));
        let mut iter = operands.into_iter();
        while let Some(left) = iter.next() {
            next.push(match iter.next() {
                Some(right) => Expr::BinaryExpr(BinaryExpr::new(Box::new(left), operator, Box::new(right))),
                None => left,
            });
        }
        operands = next;
    }
    operands.pop().unwrap_or_else(of_none)
}

/// The implementation of [`Resolver::in_list`].
pub(super) fn in_list(
    resolver: &Resolver<'_>,
    left: TypedExpr,
    list: Vec<TypedExpr>,
    negated: bool,
) -> Result<TypedExpr> {
    let (left, list) = in_common(resolver, left, list)?;
    listed(resolver, left, list, negated)
}

/// Whether a value equals one of a list. Each member is compared as `=` does it. Errors: 42883, 42725.
pub(super) fn listed(
    resolver: &Resolver<'_>,
    left: TypedExpr,
    list: Vec<TypedExpr>,
    negated: bool,
) -> Result<TypedExpr> {
    let symbol = if negated { "<>" } else { "=" };
    // A list if every member accepts the left side as it is. Otherwise a chain of comparisons.
    let mut members = Vec::with_capacity(list.len());
    let mut shared: Option<TypedExpr> = None;
    let mut uniform = true;
    let mut chain = Vec::with_capacity(list.len());
    for member in list {
        let (balanced, member) = match balance(resolver, symbol, left.clone(), member.clone()) {
            Err(error) if error.state() == state::UNDEFINED_FUNCTION => {
                // Without a common type, another operator may match.
                let compared = super::overload_resolution::operator(resolver, symbol, Some(left.clone()), member)?.expr;
                chain.push(if negated { Expr::Not(Box::new(compared)) } else { compared });
                uniform = false;
                continue;
            }
            pair => pair?,
        };
        uniform &= shared.as_ref().is_none_or(|shared| shared.expr == balanced.expr);
        // A list evaluates all members; a chain stops at the first match.
        uniform &= is_simple(&member.expr);
        let equal = TypedExpr::new(
            Expr::BinaryExpr(BinaryExpr {
                left: Box::new(balanced.expr.clone()),
                op: Operator::Eq,
                right: Box::new(member.expr.clone()),
            }),
            SqlType::BOOL,
        );
        chain.push(equal.expr);
        shared.get_or_insert(balanced);
        members.push(member.expr);
    }
    let expr = match shared {
        Some(shared) if uniform && members.len() > 1 => one_of(shared.expr, members),
        _ => balanced(chain, Operator::Or),
    };
    let expr = if negated { Expr::Not(Box::new(expr)) } else { expr };
    Ok(TypedExpr::new(expr, SqlType::BOOL))
}
