//! Functions over arrays, and those whose arguments only need a type in common.

pub(super) mod compatible;
pub mod element;
pub mod elements;
pub(super) mod key;
mod members;
pub(super) mod nested;
mod pattern;
pub(super) mod sets;
mod shape;

use self::members::Members;
use super::kernel::{Call, KernelFunction, Stability};
use super::operator::no_operator;
use super::registry::{Param, ResultType, ScalarFunction};
use super::typed::{Int4, Int8, List, SqlWrite, Text};
use super::{CastContext, Resolver, TypedExpr};
use catalog::encoding::{ColumnBuilder, KeyColumn, KeyEncoder};
use datafusion::arrow::array::{Array, ArrayRef, BooleanBuilder};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use sql_error::interrupt;
use sql_error::value_size::LongText;
use sql_error::{Result, SqlError, state};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use types::array::ArrayValue;
use types::text::output_string;
use types::value::{ValueRef, value_at};
use types::{BaseType, SqlType};

pub(super) fn common(
    resolver: &Resolver<'_>,
    context: &str,
    args: Vec<TypedExpr>,
) -> Result<(Vec<TypedExpr>, SqlType)> {
    let types: Vec<SqlType> = args.iter().map(|arg| arg.ty).collect();
    let ty = resolver.common_type(context, &types)?;
    let args = args.into_iter().map(|arg| resolver.cast(arg, ty, CastContext::Implicit)).collect::<Result<Vec<_>>>()?;
    Ok((args, ty))
}

/// Compares two values of a type by their sort keys.
fn order(encoder: &KeyEncoder, left: (&ArrayRef, usize), right: (&ArrayRef, usize)) -> Result<Ordering> {
    interrupt::step()?;
    let mut keys = (Vec::new(), Vec::new());
    encoder.encode_row(std::slice::from_ref(left.0), left.1, &mut keys.0)?;
    encoder.encode_row(std::slice::from_ref(right.0), right.1, &mut keys.1)?;
    Ok(keys.0.cmp(&keys.1))
}

/// Rebuilds the arrays of a call's first argument with the same shapes. `item` appends the new element for a position
/// of a row's array. NULL stays.
fn rebuilt(
    call: &Call<'_>,
    mut item: impl FnMut(&mut ColumnBuilder, (&ArrayRef, usize), usize) -> Result<()>,
) -> Result<ArrayRef> {
    let lists = call.column::<List>(0)?;
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let Some(array) = lists.get(row)? else {
            builder.append_null();
            continue;
        };
        let mut made = ColumnBuilder::new(call.result.element(), array.len());
        for at in 0..array.len() {
            interrupt::step()?;
            item(&mut made, (array.elements(), at), row)?;
        }
        builder.append(&ValueRef::Array(array.with_elements(made.finish()?)?))?;
    }
    builder.finish()
}

/// GREATEST or LEAST by sort keys. Of equal values the first one is shown.
pub(super) fn extreme(resolver: &Resolver<'_>, name: &str, args: Vec<TypedExpr>) -> Result<TypedExpr> {
    if args.is_empty() {
        return Err(SqlError::syntax("syntax error at or near \")\""));
    }
    let (args, ty) = common(resolver, &name.to_uppercase(), args)?;
    if matches!(ty.base, BaseType::Json | BaseType::Jsonpath) {
        let message = format!("could not identify a comparison function for type {}", ty.name());
        return Err(SqlError::new(state::UNDEFINED_FUNCTION, message).of_values());
    }
    let wanted = if name == "greatest" { Ordering::Greater } else { Ordering::Less };
    let encoder = KeyEncoder::new(vec![KeyColumn::ascending(ty)]);
    let kernel = Arc::new(move |call: &Call<'_>| {
        let mut builder = ColumnBuilder::new(ty, call.rows);
        for row in 0..call.rows {
            let mut best: Option<(&ArrayRef, usize)> = None;
            for array in call.arguments {
                let at = Call::row_of(array, row);
                if array.is_null(at) {
                    continue;
                }
                best = match best {
                    Some(best) if order(&encoder, (array, at), best)? != wanted => Some(best),
                    _ => Some((array, at)),
                };
            }
            match best {
                Some((array, at)) => builder.append(&value_at(array.as_ref(), at)?)?,
                None => builder.append_null(),
            }
        }
        builder.finish()
    });
    let types = args.iter().map(|arg| arg.ty).collect();
    Ok(KernelFunction::new(name, types, ty, Stability::Immutable, kernel, None)
        .call(args.into_iter().map(|arg| arg.expr).collect()))
}

/// The implementation of [`Resolver::quantified`].
pub(super) fn quantified(
    resolver: &Resolver<'_>,
    symbol: &str,
    left: TypedExpr,
    array: TypedExpr,
    all: bool,
) -> Result<TypedExpr> {
    if pattern::is_pattern(symbol) {
        return pattern::quantified(resolver, symbol, left, array, all);
    }
    let operator = super::comparison::comparison_operator(symbol)
        .filter(|operator| !matches!(operator, Operator::IsDistinctFrom | Operator::IsNotDistinctFrom))
        .ok_or_else(|| SqlError::unsupported(format!("operator {symbol} with ANY or ALL")))?;
    if !array.is_unknown() && !array.ty.array {
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side"));
    }
    let (left, array) = match (left.is_unknown(), array.is_unknown()) {
        (_, true) if left.ty.array => {
            let message = format!("could not find array type for data type {}", left.ty.name());
            return Err(SqlError::new(state::UNDEFINED_OBJECT, message));
        }
        (_, true) => {
            let left = resolver.resolve_unknown(left)?;
            let element = if left.ty.base == BaseType::Varchar { SqlType::TEXT } else { left.ty.plain() };
            let array = resolver.cast(array, element.array_of(), CastContext::Implicit)?;
            (left, array)
        }
        (true, false) => {
            let ty = super::comparison::beside(array.ty.element());
            (resolver.cast(left, ty, CastContext::Implicit)?, array)
        }
        _ => (left, array),
    };
    if !array.ty.array {
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, "op ANY/ALL (array) requires array on right side"));
    }
    let operands = match left.ty.array {
        true => None,
        false => super::overload_resolution::element_operator(resolver, symbol, left.ty, array.ty.element())?,
    };
    // A constant array becomes a list of constants, which indexes can use.
    if let (Some(list), "=" | "<>") = (array.constant(), symbol)
        && (symbol == "=") != all
        && let Some(elements) = ArrayValue::of(list)?
    {
        let members = (0..elements.len())
            .map(|at| Ok(TypedExpr::literal(ScalarValue::try_from_array(elements.elements(), at)?, array.ty.element())))
            .collect::<Result<Vec<_>>>()?;
        return super::comparison::listed(resolver, left, members, all);
    }
    if left.ty.array {
        return Err(no_operator(symbol, Some(left.ty), array.ty.element()));
    }
    let counted = left.ty.base == BaseType::Xid && array.ty.element().base == BaseType::Int4;
    let left = if counted { TypedExpr::new(left.expr, SqlType::OID) } else { left };
    let element = if left.ty.base == array.ty.base {
        left.ty.plain()
    } else if counted {
        SqlType::OID
    } else if let Some((left, right)) = operands {
        // Use the operator's operand type, not the common type: a float4 beside numeric is float8.
        super::comparison::comparison_type(symbol, left, right)?
    } else {
        resolver
            .common_type("ANY/ALL", &[left.ty.plain(), array.ty.element().plain()])
            .map_err(|_| no_operator(symbol, Some(left.ty), array.ty.element()))?
    };
    let left = resolver.cast(left, element, CastContext::Implicit)?;
    let array = resolver.cast(array, element.array_of(), CastContext::Implicit)?;
    let encoder = KeyEncoder::new(vec![KeyColumn::ascending(element)]);
    let kernel = Arc::new(move |call: &Call<'_>| {
        let (values, lists) = (call.array(0)?, call.column::<List>(1)?);
        let mut builder = BooleanBuilder::with_capacity(call.rows);
        // With one array for many values, `= ANY` and `<> ALL` look each value up in a hash set.
        let looks_up = operator == if all { Operator::NotEq } else { Operator::Eq };
        if looks_up
            && call.rows > 1
            && call.array(1)?.len() == 1
            && let Some(elements) = lists.get(0)?
            && let Some(members) = Members::of(&encoder, &elements)?
        {
            for row in 0..call.rows {
                let found = members.has(&encoder, values, Call::row_of(values, row))?;
                builder.append_option(found.map(|found| found != all));
            }
            return Ok(Arc::new(builder.finish()) as ArrayRef);
        }
        for row in 0..call.rows {
            let Some(elements) = lists.get(row)? else {
                builder.append_null();
                continue;
            };
            let at = Call::row_of(values, row);
            // ANY is true if one answer is true. ALL is false if one is false. Otherwise a NULL makes the result NULL.
            let mut result = Some(all);
            for element in 0..elements.len() {
                if elements.is_null(element) || values.is_null(at) {
                    if result == Some(all) {
                        result = None;
                    }
                    continue;
                }
                let order = order(&encoder, (values, at), (elements.elements(), element))?;
                let holds = match operator {
                    Operator::Eq => order == Ordering::Equal,
                    Operator::NotEq => order != Ordering::Equal,
                    Operator::Lt => order == Ordering::Less,
                    Operator::LtEq => order != Ordering::Greater,
                    Operator::Gt => order == Ordering::Greater,
                    _ => order != Ordering::Less,
                };
                if holds != all {
                    result = Some(!all);
                    break;
                }
            }
            builder.append_option(result);
        }
        Ok(Arc::new(builder.finish()) as ArrayRef)
    });
    let name = format!("{symbol} {}", if all { "all" } else { "any" });
    Ok(KernelFunction::new(name, vec![left.ty, array.ty], SqlType::BOOL, Stability::Immutable, kernel, None)
        .call(vec![left.expr, array.expr]))
}

/// `array || array`, `array || element`, `element || array`.
pub(super) fn concatenate(resolver: &Resolver<'_>, left: TypedExpr, right: TypedExpr) -> Result<TypedExpr> {
    let name = match (left.ty.array, right.ty.array) {
        (true, true) => "array_cat",
        (true, false) if right.is_unknown() => "array_cat",
        (false, true) if left.is_unknown() => "array_cat",
        (true, false) => "array_append",
        _ => "array_prepend",
    };
    // An unknown string beside an array is read as an array.
    compatible::resolve(resolver, name, vec![left, right])
}

/// `ARRAY[a, b, …]`, with the values converted to one type.
pub fn construct(resolver: &Resolver<'_>, elements: Vec<TypedExpr>) -> Result<TypedExpr> {
    let (elements, element) = common(resolver, "ARRAY", elements)?;
    let ty = element.plain().array_of();
    let kernel = Arc::new(move |call: &Call<'_>| {
        if element.array {
            return nested::construct(call);
        }
        let mut builder = ColumnBuilder::new(ty, call.rows);
        for row in 0..call.rows {
            let mut parts = ColumnBuilder::new(ty.element(), call.arguments.len());
            for array in call.arguments {
                parts.append(&value_at(array.as_ref(), Call::row_of(array, row))?)?;
            }
            builder.append(&ValueRef::array(parts.finish()?))?;
        }
        builder.finish()
    });
    let types = elements.iter().map(|element| element.ty.plain()).collect();
    let function = KernelFunction::new("array", types, ty, Stability::Immutable, kernel, None);
    let constants: Option<Vec<ScalarValue>> = elements.iter().map(|element| element.constant().cloned()).collect();
    match constants {
        Some(constants) if !constants.is_empty() => Ok(TypedExpr::literal(function.evaluate(&constants)?, ty)),
        _ => Ok(function.call(elements.into_iter().map(|element| element.expr).collect())),
    }
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let immutable = Stability::Immutable;
    let text = SqlType::TEXT;
    let is = Param::Is;
    let mut all = vec![
        to_string(&[Param::AnyArray, is(text)]),
        to_string(&[Param::AnyArray, is(text), is(text)]),
        nulls("num_nulls", true),
        nulls("num_nonnulls", false),
        ScalarFunction::polymorphic(
            "pg_typeof",
            &[Param::Any],
            false,
            ResultType::Is(SqlType::of(BaseType::Regtype)),
            immutable,
            Arc::new(|call: &Call<'_>| {
                let oid = call.types.first().map_or(0, |ty| i64::from(ty.oid()));
                let mut builder = Int8::builder(call.rows);
                for _ in 0..call.rows {
                    Int8::append(&mut builder, Some(oid))?;
                }
                Ok(Int8::finish(builder))
            }),
        ),
    ];
    all.extend(shape::functions());
    all
}

/// The functions `num_nulls(…)` and `num_nonnulls(…)`.
fn nulls(name: &'static str, wanted: bool) -> ScalarFunction {
    ScalarFunction::polymorphic(
        name,
        &[Param::Any],
        true,
        ResultType::Is(SqlType::INT4),
        Stability::Immutable,
        Arc::new(move |call: &Call<'_>| {
            let mut builder = Int4::builder(call.rows);
            for row in 0..call.rows {
                let is_null = |array: &&ArrayRef| array.is_null(Call::row_of(array, row));
                let count = call.arguments.iter().filter(|array| is_null(array) == wanted).count();
                Int4::append(&mut builder, i32::try_from(count).ok())?;
            }
            Ok(Int4::finish(builder))
        }),
    )
}

/// `array_to_string(array, delimiter [, text for NULL])`.
fn to_string(arguments: &[Param]) -> ScalarFunction {
    ScalarFunction::polymorphic(
        "array_to_string",
        arguments,
        false,
        ResultType::Is(SqlType::TEXT),
        Stability::Stable,
        Arc::new(|call: &Call<'_>| {
            let context = call.context()?;
            let context = context.text_output();
            let element = call.types.first().copied().unwrap_or(SqlType::TEXT).element();
            let (lists, delimiters) = (call.column::<List>(0)?, call.column::<Text>(1)?);
            let nulls = if call.arguments.len() > 2 { Some(call.column::<Text>(2)?) } else { None };
            let mut builder = Text::builder(call.rows);
            for row in 0..call.rows {
                let (Some(elements), Some(delimiter)) = (lists.get(row)?, delimiters.get(row)?) else {
                    Text::append(&mut builder, None)?;
                    continue;
                };
                let null = match &nulls {
                    Some(nulls) => nulls.get(row)?,
                    None => None,
                };
                let mut joined = LongText::new(elements.len())?;
                let mut first = true;
                for at in 0..elements.len() {
                    let part = match elements.is_null(at) {
                        false => Cow::Owned(output_string(element, elements.as_ref(), at, &context)?),
                        true => match null {
                            Some(null) => Cow::Borrowed(null),
                            None => continue,
                        },
                    };
                    if !std::mem::take(&mut first) {
                        joined.add(delimiter)?;
                    }
                    joined.add(&part)?;
                }
                Text::append(&mut builder, Some(joined.finish()))?;
            }
            Ok(Text::finish(builder))
        }),
    )
}
