//! Aggregate functions with PostgreSQL's types, checked and exact.

mod array_agg;
mod array_extreme;
mod collect;
pub(super) mod distinct;
mod fold;
mod interval;
mod logical;
mod ordered;
mod percentile;
mod regression;
mod statistics;
mod sum;

use super::{AggregateCall, CastContext, Resolver, TypedExpr};
use builtin::overload_resolution::Kind;
use datafusion::arrow::array::Array;
use datafusion::arrow::compute::SortOptions;
use datafusion::common::ScalarValue;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams, Sort};
use datafusion::logical_expr::{AggregateUDF, AggregateUDFImpl, Expr};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::array::ArrayValue;
use types::{BaseType, SqlType};

const NAMES: [&str; 19] = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "bool_and",
    "bool_or",
    "every",
    "string_agg",
    "array_agg",
    "stddev",
    "stddev_samp",
    "stddev_pop",
    "variance",
    "var_samp",
    "var_pop",
    "bit_and",
    "bit_or",
    "bit_xor",
];

/// Names of all aggregates except the ordered-set ones.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().chain(regression::NAMES.iter()).chain(super::json::AGGREGATES.iter()).copied()
}

/// Whether an aggregate with this name exists.
pub fn exists(name: &str) -> bool {
    names().any(|known| known == name) || is_ordered_set(name)
}

/// Whether an aggregate is called with WITHIN GROUP.
pub(super) fn is_ordered_set(name: &str) -> bool {
    matches!(name, "percentile_cont" | "percentile_disc" | "mode")
}

fn own(function: impl AggregateUDFImpl + 'static) -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::new_from_impl(function))
}

/// The implementation of [`Resolver::aggregate`].
pub(super) fn resolve(resolver: &Resolver<'_>, name: &str, call: AggregateCall) -> Result<TypedExpr> {
    if super::json::AGGREGATES.contains(&name) {
        return super::json::aggregate(resolver, name, call);
    }
    let of_pairs = call.distinct && call.args.len() == 2;
    let asked = of_pairs.then(|| call.clone());
    let AggregateCall { args, distinct, filter, order_by } = call;
    let missing = |args: &[TypedExpr]| resolver.no_function(name, args);
    let sorted = |order_by: Vec<Sort>, function: Arc<AggregateUDF>, args: Vec<Expr>, ty: SqlType| {
        let params = AggregateFunctionParams {
            args,
            distinct,
            filter: filter.clone().map(Box::new),
            order_by,
            null_treatment: None,
        };
        TypedExpr::new(Expr::AggregateFunction(AggregateFunction { func: function, params }), ty)
    };
    let make = |function, args, ty| sorted(order_by.clone(), function, args, ty);
    let make_unordered = |function, args, ty| sorted(Vec::new(), function, args, ty);
    if is_ordered_set(name) {
        // The values in WITHIN GROUP are arguments too.
        if args.len() != if name == "mode" { 1 } else { 2 } {
            return Err(missing(&args));
        }
        let message = format!("WITHIN GROUP is required for ordered-set aggregate {name}");
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
    }
    match (name, args.len()) {
        ("count", 0) => {
            if distinct {
                return Err(SqlError::syntax("DISTINCT needs an argument"));
            }
            return Ok(make(count_udaf(), vec![Expr::Literal(ScalarValue::Int64(Some(1)), None)], SqlType::INT8));
        }
        ("string_agg", 2) => {
            let [value, delimiter] = <[TypedExpr; 2]>::try_from(args).map_err(|args| missing(&args))?;
            if value.ty == SqlType::BYTEA || value.is_unknown() && delimiter.ty == SqlType::BYTEA {
                // Each byte becomes the character of its number, so order and equality are kept.
                let letters = |bytes: TypedExpr| {
                    let bytes = resolver.cast(bytes, SqlType::BYTEA, CastContext::Implicit)?;
                    resolver.function(super::string::LETTERS_OF_BYTES, vec![bytes])
                };
                let (value, delimiter) = (letters(value)?, letters(delimiter)?);
                let joined = match &asked {
                    Some(call) => distinct_strings(resolver, call, vec![value, delimiter])?,
                    None => make(own(collect::StringAgg::new()), vec![value.expr, delimiter.expr], SqlType::TEXT),
                };
                return resolver.function(super::string::BYTES_OF_LETTERS, vec![joined]);
            }
            let delimits = delimiter.is_unknown() || Resolver::stringlike(delimiter.ty);
            if !Resolver::stringlike(value.ty) || !delimits {
                return Err(missing(&[value, delimiter]));
            }
            let value = resolver.cast(value, SqlType::TEXT, CastContext::Implicit)?;
            let delimiter = resolver.cast(delimiter, SqlType::TEXT, CastContext::Implicit)?;
            if let Some(call) = &asked {
                return distinct_strings(resolver, call, vec![value, delimiter]);
            }
            return Ok(make(own(collect::StringAgg::new()), vec![value.expr, delimiter.expr], SqlType::TEXT));
        }
        (_, 2) if regression::NAMES.contains(&name) => {
            let float = |arg: &TypedExpr| resolver.cast(arg.clone(), SqlType::FLOAT8, CastContext::Implicit);
            let floats: Option<Vec<TypedExpr>> = args.iter().map(|arg| float(arg).ok()).collect();
            let (Some(floats), Some((name, function, result))) = (floats, regression::function(name)) else {
                return Err(missing(&args));
            };
            if let Some(call) = &asked {
                let made = distinct::Made::Regression(name);
                return distinct::distinct(resolver, call, &floats, floats.clone(), made, result);
            }
            return Ok(make(function, floats.into_iter().map(|float| float.expr).collect(), result));
        }
        _ if regression::NAMES.contains(&name) => return Err(missing(&args)),
        (_, 1) => {}
        _ => return Err(missing(&args)),
    }
    let text = |ty: SqlType| ty.base == BaseType::SingleChar && !ty.array;
    let extreme = matches!(name, "min" | "max");
    let args = match extreme && args.iter().any(|arg| text(arg.ty) || matches!(arg.ty.base, BaseType::Record(_))) {
        true => super::overload_resolution::arguments(resolver, name, args, Kind::Aggregate)?,
        false => args,
    };
    let Some(arg) = args.into_iter().next() else {
        return Err(missing(&[]));
    };
    let boolean = matches!(name, "bool_and" | "bool_or" | "every");
    let arg = match (arg.is_unknown(), name) {
        (false, _) => arg,
        (true, _) if boolean => resolver.cast(arg, SqlType::BOOL, CastContext::Implicit)?,
        (true, "count" | "min" | "max") => resolver.resolve_unknown(arg)?,
        (true, "sum" | "avg" | "array_agg") => {
            return Err(SqlError::new(state::AMBIGUOUS_FUNCTION, format!("function {name}(unknown) is not unique"))
                .hint("Could not choose a best candidate function. You might need to add explicit type casts."));
        }
        (true, _) => resolver.cast(arg, SqlType::FLOAT8, CastContext::Implicit)?,
    };
    let ty = arg.ty.plain();
    let base = if ty.array { BaseType::Void } else { ty.base };
    use BaseType as B;
    Ok(match name {
        // Numerics are distinct by value, not by scale. The order does not matter, and DataFusion's grouped version
        // takes no other argument.
        "count" if distinct => make_unordered(count_udaf(), vec![resolver.group_key(arg)?], SqlType::INT8),
        "count" => make_unordered(count_udaf(), vec![arg.expr], SqlType::INT8),
        "bool_and" | "every" if base == B::Bool => make(logical::logical(false), vec![arg.expr], ty),
        "bool_or" if base == B::Bool => make(logical::logical(true), vec![arg.expr], ty),
        "min" | "max" if ty.array && !matches!(ty.base, B::Json | B::Jsonpath | B::Void) => {
            make(array_extreme::function(name == "max", ty), vec![arg.expr], ty)
        }
        "min" | "max" => {
            if ty.as_record().is_some()
                || matches!(
                    base,
                    B::Bool | B::Json | B::Jsonpath | B::Jsonb | B::Uuid | B::Bytea | B::Xid | B::Cid | B::Void
                )
            {
                return Err(missing(std::slice::from_ref(&arg)));
            }
            let arg = if matches!(base, B::Varchar | B::Name) {
                resolver.cast(arg, SqlType::TEXT, CastContext::Implicit)?
            } else if base.is_object_name() {
                resolver.cast(arg, SqlType::OID, CastContext::Implicit)?
            } else {
                arg
            };
            let declared = arg.ty.modifier >= 4;
            let ty = arg.ty.plain();
            if base == B::Interval || base == B::Numeric && !declared {
                // Of equal values with different scales one is shown as it is.
                make(logical::extreme(ty, name == "max"), vec![arg.expr], ty)
            } else if matches!(base, B::Float4 | B::Float8) {
                make(statistics::float_extreme(name == "max", ty), vec![arg.expr], ty)
            } else {
                make(if name == "max" { max_udaf() } else { min_udaf() }, vec![arg.expr], ty)
            }
        }
        "array_agg" => {
            if distinct {
                // Values of a type without equality cannot be distinct.
                resolver.group_key(arg.clone())?;
                let sort = order_by.first();
                let options = SortOptions {
                    descending: sort.is_some_and(|sort| !sort.asc),
                    nulls_first: sort.is_some_and(|sort| sort.nulls_first),
                };
                let function = ordered::Ordered::function(ordered::Kind::Distinct, ty, ty.array_of(), options);
                return Ok(TypedExpr::new(undecorated(function, vec![arg.expr], filter), ty.array_of()));
            }
            make(array_agg::function(ty), vec![arg.expr], ty.array_of())
        }
        "sum" | "avg" if matches!(base, B::Interval | B::Time) => {
            let arg = resolver.cast(arg, SqlType::INTERVAL, CastContext::Implicit)?;
            let function = interval::total(name == "avg", distinct);
            if distinct {
                return Ok(TypedExpr::new(undecorated(function, vec![arg.expr], filter), SqlType::INTERVAL));
            }
            make(function, vec![arg.expr], SqlType::INTERVAL)
        }
        "sum" | "avg" => {
            let (function, result) =
                sum::function(name, base, distinct).ok_or_else(|| missing(std::slice::from_ref(&arg)))?;
            if distinct && matches!(base, B::Numeric | B::Float4 | B::Float8) {
                return Ok(TypedExpr::new(undecorated(function, vec![arg.expr], filter), result));
            }
            make(function, vec![arg.expr], result)
        }
        "bit_and" | "bit_or" | "bit_xor" => {
            let function = statistics::bits(name, base).ok_or_else(|| missing(std::slice::from_ref(&arg)))?;
            make(function, vec![arg.expr], ty)
        }
        "stddev" | "stddev_samp" | "stddev_pop" | "variance" | "var_samp" | "var_pop" => {
            let arg = match base {
                B::Int2 | B::Int4 | B::Int8 => resolver.cast(arg, SqlType::NUMERIC, CastContext::Implicit)?,
                B::Float4 => resolver.cast(arg, SqlType::FLOAT8, CastContext::Implicit)?,
                B::Numeric | B::Float8 => arg,
                _ => return Err(missing(std::slice::from_ref(&arg))),
            };
            let result = arg.ty.plain();
            let function = statistics::spread(name, result.base, distinct);
            if distinct {
                return Ok(TypedExpr::new(undecorated(function, vec![arg.expr], filter), result));
            }
            make(function, vec![arg.expr], result)
        }
        _ => return Err(missing(std::slice::from_ref(&arg))),
    })
}

/// string_agg over the distinct pairs of value and delimiter.
fn distinct_strings(resolver: &Resolver<'_>, call: &AggregateCall, texts: Vec<TypedExpr>) -> Result<TypedExpr> {
    distinct::distinct(resolver, call, &texts.clone(), texts, distinct::Made::Strings, SqlType::TEXT)
}

/// A call without DISTINCT and ORDER BY, for a function that implements them itself.
fn undecorated(function: Arc<AggregateUDF>, args: Vec<Expr>, filter: Option<Expr>) -> Expr {
    let params = AggregateFunctionParams {
        args,
        distinct: false,
        filter: filter.map(Box::new),
        order_by: Vec::new(),
        null_treatment: None,
    };
    Expr::AggregateFunction(AggregateFunction { func: function, params })
}

/// `name(direct) WITHIN GROUP (ORDER BY value)`. Errors: 42883, 22003.
pub(super) fn ordered_set(
    resolver: &Resolver<'_>,
    name: &str,
    direct: Option<TypedExpr>,
    value: TypedExpr,
    sort: &datafusion::logical_expr::expr::Sort,
    filter: Option<Expr>,
) -> Result<TypedExpr> {
    use ordered::{Fractions, Kind, Ordered};
    let value = match name {
        "percentile_cont" if value.is_unknown() => resolver.cast(value, SqlType::FLOAT8, CastContext::Implicit)?,
        _ => resolver.resolve_unknown(value)?,
    };
    if name != "percentile_cont" {
        resolver.sort_key(value.clone())?;
    }
    let options = SortOptions { descending: !sort.asc, nulls_first: sort.nulls_first };
    // The fractions, and the array type whose shape the result has.
    let fractions = |value: &ScalarValue, array: bool| -> Result<Fractions> {
        let (fractions, dimensions) = match array {
            true => match ArrayValue::of(value)? {
                Some(array) => (Arc::clone(array.elements()), Some(array.dimensions())),
                None => return Ok(Fractions { values: Vec::new(), dimensions: None }),
            },
            false => (value.to_array()?, None),
        };
        let float = |at| match ScalarValue::try_from_array(&fractions, at)? {
            ScalarValue::Float64(Some(value)) => ordered::fraction(value).map(Some),
            _ => Ok(None),
        };
        Ok(Fractions { values: (0..fractions.len()).map(float).collect::<Result<_>>()?, dimensions })
    };
    let (kind, value, result) = match (name, direct) {
        ("mode", None) => {
            let ty = value.ty.plain();
            (Kind::Mode, value, ty)
        }
        ("percentile_disc" | "percentile_cont", Some(direct)) => {
            let continuous = name == "percentile_cont";
            let ty = match value.ty.plain() {
                ty if !continuous || ty == SqlType::INTERVAL => ty,
                SqlType::TIME => SqlType::INTERVAL,
                _ if !value.ty.is_number() => return Err(resolver.no_function(name, &[direct, value])),
                _ => SqlType::FLOAT8,
            };
            let value = resolver.cast(value, ty, CastContext::Implicit)?;
            let array = direct.ty.array;
            let result = if array { ty.array_of() } else { ty };
            let Some(constant) = direct.constant() else {
                return percentile::percentile(continuous, direct, value, result, options, filter);
            };
            let fractions = fractions(constant, array)?;
            (if continuous { Kind::Continuous(fractions) } else { Kind::Discrete(fractions) }, value, result)
        }
        _ => return Err(resolver.no_function(name, &[value])),
    };
    if value.ty.array && matches!(&kind, Kind::Discrete(fractions) if fractions.dimensions.is_some()) {
        return Err(SqlError::unsupported(format!("{name} of arrays at several fractions")));
    }
    let function = Ordered::function(kind, value.ty.plain(), result, options);
    Ok(TypedExpr::new(undecorated(function, vec![value.expr], filter), result))
}
