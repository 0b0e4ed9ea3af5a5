//! Casts and common types (manual, 10.3 to 10.5). `pg_cast` defines which cast exists in which context.

use super::kernel::{KernelFunction, Stability};
use super::{Resolver, TypedExpr, cast_kernel};
use datafusion::arrow::datatypes::Field;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Placeholder;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::text::input;
use types::{BaseType, SqlType};

/// The context of a cast, from the most restrictive to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CastContext {
    /// Conversion of an operand or argument.
    Implicit,
    /// Storing a value in a column.
    Assignment,
    /// CAST or `::` in the query.
    Explicit,
}

/// The most restrictive context in which `from` casts to `to`, without modifiers. `None` if there is no cast.
pub(super) fn least_context(from: SqlType, to: SqlType) -> Option<CastContext> {
    use BaseType as B;
    use CastContext::{Assignment, Explicit, Implicit};
    if from == SqlType::UNKNOWN && to != SqlType::VOID {
        return Some(Implicit);
    }
    if from.array != to.array {
        return if from.array {
            matches!(to.base, B::Text | B::Varchar | B::Char | B::Name).then_some(Assignment)
        } else {
            matches!(from.base, B::Text | B::Varchar | B::Char | B::Name).then_some(Explicit)
        };
    }
    if from.base == to.base || from.base == B::Unknown {
        return Some(Implicit);
    }
    if let (B::Record(from), B::Record(to)) = (from.base, to.base) {
        let others = matches!((from.row_of(), to.row_of()), (Some(from), Some(to)) if from.relation != to.relation);
        return (to.is_any() || from.is_any() || (from.same_fields(to) && !others)).then_some(Implicit);
    }
    let to_string = matches!(to.base, B::Text | B::Varchar | B::Char | B::Name);
    let from_string = matches!(from.base, B::Text | B::Varchar | B::Char | B::Name);
    let context = match (from.base, to.base) {
        (B::Int2, B::Int4 | B::Int8 | B::Float4 | B::Float8 | B::Numeric | B::Oid)
        | (B::Int4, B::Int8 | B::Float4 | B::Float8 | B::Numeric | B::Oid)
        | (B::Int8, B::Float4 | B::Float8 | B::Numeric | B::Oid)
        | (B::Float4, B::Float8)
        | (B::Numeric, B::Float4 | B::Float8)
        | (B::Date, B::Timestamp | B::Timestamptz)
        | (B::Timestamp, B::Timestamptz)
        | (B::Time, B::Timetz | B::Interval) => Implicit,
        (B::Int2 | B::Int4 | B::Int8 | B::Oid, to) if to.is_object_name() => Implicit,
        (from, B::Oid) if from.is_object_name() => Implicit,
        (from, B::Int4 | B::Int8) if from.is_oid() => Assignment,
        (B::Regproc, B::Regprocedure) | (B::Regprocedure, B::Regproc) => Implicit,
        (B::Regoper, B::Regoperator) | (B::Regoperator, B::Regoper) => Implicit,
        (B::Xid8, B::Xid) => Explicit,
        (B::Int4, B::Int2) | (B::Int8, B::Int2 | B::Int4) => Assignment,
        (B::Float4, B::Int2 | B::Int4 | B::Int8 | B::Numeric) => Assignment,
        (B::Float8, B::Int2 | B::Int4 | B::Int8 | B::Numeric | B::Float4) => Assignment,
        (B::Numeric, B::Int2 | B::Int4 | B::Int8) => Assignment,
        (B::Timestamp, B::Date | B::Time) | (B::Timestamptz, B::Date | B::Timestamp | B::Time | B::Timetz) => {
            Assignment
        }
        (B::Interval, B::Time) | (B::Timetz, B::Time) | (B::Json, B::Jsonb) | (B::Jsonb, B::Json) => Assignment,
        (B::Jsonb, B::Bool | B::Numeric | B::Int2 | B::Int4 | B::Int8 | B::Float4 | B::Float8) => Explicit,
        (B::Int4, B::Bool) | (B::Bool, B::Int4) | (B::Int4, B::SingleChar) | (B::SingleChar, B::Int4) => Explicit,
        (B::Text | B::Varchar | B::Char, B::Text | B::Varchar | B::Char | B::Name) | (B::Name, B::Text) => Implicit,
        (B::SingleChar, B::Text) => Implicit,
        (B::Text | B::Varchar, B::Regclass) => Implicit,
        (B::Text | B::Varchar | B::Char, B::SingleChar) | (B::Name, B::Varchar | B::Char) => Assignment,
        (B::Void, _) if to_string => Assignment,
        (B::Void, _) | (_, B::Void) | (_, B::Unknown) => return None,
        (_, B::Record(_)) if !from_string => return None,
        // Any type casts to a string on assignment, and from a string explicitly.
        _ if to_string => Assignment,
        _ if from_string => Explicit,
        _ => return None,
    };
    Some(context)
}

/// Whether `from` casts to `to` in a context.
pub fn cast_exists(from: SqlType, to: SqlType, context: CastContext) -> bool {
    least_context(from, to).is_some_and(|least| least <= context)
}

fn no_cast(from: SqlType, to: SqlType) -> SqlError {
    SqlError::new(state::CANNOT_COERCE, format!("cannot cast type {} to {}", from.name(), to.name()))
}

/// The implementation of [`Resolver::cast`].
pub(super) fn cast(resolver: &Resolver<'_>, expr: TypedExpr, to: SqlType, context: CastContext) -> Result<TypedExpr> {
    if expr.is_unknown() {
        return cast_unknown(resolver, expr, to, context);
    }
    let same_type = expr.ty.base == to.base && expr.ty.array == to.array;
    if let (BaseType::Record(_), BaseType::Record(any)) = (expr.ty.base, to.base)
        && any.is_any()
        && expr.ty.array == to.array
    {
        // An anonymous record keeps its fields, but is not a relation's row any more.
        return Ok(match expr.ty.base {
            BaseType::Record(row) if row.row_of().is_some() => {
                let record = SqlType::record(row.fields().to_vec());
                TypedExpr::new(expr.expr, SqlType { array: to.array, ..record })
            }
            _ => expr,
        });
    }
    let to_vector = to.is_vector() && expr.ty.array && !expr.ty.is_vector();
    if to_vector || (!same_type && !cast_exists(expr.ty, to, context)) {
        return Err(no_cast(expr.ty, to));
    }
    let converted = if same_type { expr } else { convert(resolver, expr, to, context)? };
    enforce_modifier(converted, to, context)
}

/// Converts between different types, without the modifier.
fn convert(resolver: &Resolver<'_>, expr: TypedExpr, to: SqlType, context: CastContext) -> Result<TypedExpr> {
    let from = expr.ty;
    let plain = to.plain();
    // Nothing to compute: both types have the same Arrow form.
    if cast_kernel::same_bytes(from, to) {
        return Ok(TypedExpr::new(expr.expr, plain));
    }
    // Text is parsed as a vector, without braces.
    let plain = if to.is_vector() && !from.array { to } else { plain };
    let (kernel, stability) = cast_kernel::kernel(from, plain)?;
    let slots = (stability == Stability::Stable).then(|| Arc::clone(resolver.slots));
    let name = format!("cast_{}_{}", context_name(context), plain.name());
    let function = KernelFunction::new(name, vec![from], plain, stability, kernel, slots).strict(true);
    match expr.constant() {
        Some(value) if stability == Stability::Immutable => match function.evaluate(std::slice::from_ref(value)) {
            Ok(value) => Ok(TypedExpr::literal(value, plain)),
            // Keep the call: COALESCE and CASE may never evaluate it.
            Err(_) => Ok(function.call(vec![expr.expr])),
        },
        _ => Ok(function.call(vec![expr.expr])),
    }
}

fn context_name(context: CastContext) -> &'static str {
    if context == CastContext::Explicit { "explicit" } else { "implicit" }
}

/// Applies the modifier of `to` to a value of its base type.
fn enforce_modifier(expr: TypedExpr, to: SqlType, context: CastContext) -> Result<TypedExpr> {
    if expr.ty.is_vector() && !to.is_vector() {
        // An int2vector has the form of the array that it becomes.
        return enforce_modifier(TypedExpr::new(expr.expr, to.plain()), to, context);
    }
    if to.modifier < 0 || expr.ty.modifier == to.modifier {
        return Ok(expr);
    }
    // A longer limit needs no check.
    if to.base == BaseType::Varchar
        && expr.ty.base == BaseType::Varchar
        && expr.ty.modifier >= 4
        && expr.ty.modifier <= to.modifier
    {
        return Ok(TypedExpr::new(expr.expr, to));
    }
    let explicit = context == CastContext::Explicit;
    let Some(kernel) = cast_kernel::modifier_kernel(to, explicit) else {
        return Ok(TypedExpr::new(expr.expr, to));
    };
    let name = format!("limit_{}_{}", context_name(context), to.format());
    let function = KernelFunction::new(name, vec![expr.ty], to, Stability::Immutable, kernel, None).strict(true);
    match expr.constant() {
        Some(value) => Ok(TypedExpr::literal(function.evaluate(std::slice::from_ref(value))?, to)),
        None => Ok(function.call(vec![expr.expr])),
    }
}

fn cast_unknown(resolver: &Resolver<'_>, expr: TypedExpr, to: SqlType, context: CastContext) -> Result<TypedExpr> {
    match &expr.expr {
        Expr::Literal(value, metadata) => {
            let placed = |error| super::error_position::error_at_literal(error, metadata.as_ref());
            let value = match value {
                // The type's fields determine the meaning of the interval's numbers.
                ScalarValue::Utf8(Some(text)) if to.base == BaseType::Interval || to.is_vector() => {
                    input(to, text, &resolver.input_context()).map_err(placed)?
                }
                ScalarValue::Utf8(Some(text)) => {
                    let value = input(to.plain(), text, &resolver.input_context()).map_err(placed)?;
                    super::times_read::note(metadata.as_ref(), text, to.plain(), &value);
                    value
                }
                _ => ScalarValue::try_from(&to.arrow())?,
            };
            enforce_modifier(TypedExpr::literal(value, to.plain()), to, context)
        }
        Expr::Placeholder(placeholder) => match super::parameters::parameter_number(&placeholder.id) {
            Some(number) => {
                let target = if to == SqlType::UNKNOWN { SqlType::TEXT } else { to };
                let ty = resolver.parameters.determine(number, target);
                let field = Arc::new(Field::new(placeholder.id.clone(), ty.arrow(), true));
                let typed = TypedExpr::new(
                    Expr::Placeholder(Placeholder { id: placeholder.id.clone(), field: Some(field) }),
                    ty.plain(),
                );
                if ty.base == to.base && ty.array == to.array {
                    enforce_modifier(typed, to, context)
                } else {
                    cast(resolver, typed, to, context)
                }
            }
            None => Ok(TypedExpr::new(expr.expr, to)),
        },
        // A column of type unknown, from a subquery's literal, is stored as text.
        _ => cast(resolver, TypedExpr::new(expr.expr, SqlType::TEXT), to, CastContext::Explicit),
    }
}

/// PostgreSQL's type category, for the types that we have.
pub(super) fn category(ty: SqlType) -> char {
    if ty.array {
        return 'A';
    }
    match ty.base {
        BaseType::Bool => 'B',
        BaseType::Int2 | BaseType::Int4 | BaseType::Int8 | BaseType::Float4 | BaseType::Float8 | BaseType::Numeric => {
            'N'
        }
        base if base.is_oid() => 'N',
        BaseType::Text | BaseType::Varchar | BaseType::Char | BaseType::Name => 'S',
        BaseType::SingleChar => 'Z',
        BaseType::Enum(_) => 'E',
        BaseType::Bytea | BaseType::Uuid | BaseType::Json | BaseType::Jsonb | BaseType::Jsonpath => 'U',
        BaseType::Xid | BaseType::Cid | BaseType::Xid8 | BaseType::Tid => 'U',
        BaseType::Date | BaseType::Timestamp | BaseType::Timestamptz | BaseType::Time | BaseType::Timetz => 'D',
        BaseType::Interval => 'T',
        BaseType::Unknown => 'X',
        BaseType::Record(ty) if ty.row_of().is_some() => 'C',
        _ => 'P',
    }
}

/// Whether a type is preferred within its category.
pub(super) fn preferred(ty: SqlType) -> bool {
    !ty.array
        && matches!(
            ty.base,
            BaseType::Bool
                | BaseType::Float8
                | BaseType::Oid
                | BaseType::Text
                | BaseType::Timestamptz
                | BaseType::Interval
        )
}

/// The implementation of [`Resolver::common_type`].
pub(super) fn common_type(context: &str, types: &[SqlType]) -> Result<SqlType> {
    let mut known = types.iter().copied().filter(|ty| *ty != SqlType::UNKNOWN);
    let Some(first) = known.next() else {
        return Ok(SqlType::TEXT);
    };
    let mut chosen = first;
    let mut modifier = Some(first.modifier);
    for ty in known {
        if ty.modifier != first.modifier || ty.base != first.base {
            modifier = None;
        }
        if ty.base == chosen.base && ty.array == chosen.array {
            continue;
        }
        if let (BaseType::Record(one), BaseType::Record(other)) = (chosen.base, ty.base)
            && !one.same_fields(other)
        {
            if other.is_any() || one.is_any() {
                chosen = if one.is_any() { ty } else { chosen };
                continue;
            }
            if one.row_of().is_none() && other.row_of().is_none() {
                return Err(SqlError::unsupported(format!("{context} of rows with different fields")));
            }
        }
        if category(ty) != category(chosen) {
            return Err(SqlError::new(
                state::DATATYPE_MISMATCH,
                format!("{context} types {} and {} cannot be matched", chosen.name(), ty.name()),
            ));
        }
        if !preferred(chosen)
            && cast_exists(chosen, ty, CastContext::Implicit)
            && !cast_exists(ty, chosen, CastContext::Implicit)
        {
            chosen = ty;
        }
    }
    // All types must convert to the chosen one.
    for ty in types {
        if !cast_exists(*ty, chosen, CastContext::Implicit) {
            return Err(SqlError::new(
                state::CANNOT_COERCE,
                format!("{context} could not convert type {} to {}", ty.name(), chosen.name()),
            ));
        }
    }
    // The modifier of unknown literals is not known.
    let all_known = types.iter().all(|ty| *ty != SqlType::UNKNOWN);
    Ok(chosen.with_modifier(modifier.filter(|_| all_known).unwrap_or(-1)))
}
