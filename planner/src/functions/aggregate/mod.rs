//! Aggregate functions with PostgreSQL's types, checked and exact.

mod collect;
mod fold;
mod statistics;
mod sum;

use super::comparison::numeric_key;
use super::{AggregateCall, CastContext, Resolver, TypedExpr};
use crate::error::{Result, SqlError, state};
use crate::types::{BaseType, SqlType};
use datafusion::common::ScalarValue;
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::functions_aggregate::bool_and_or::{bool_and_udaf, bool_or_udaf};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::{AggregateUDF, AggregateUDFImpl, Expr};
use std::sync::Arc;

const NAMES: [&str; 18] = [
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
];

/// Whether an aggregate with this name exists.
pub(super) fn exists(name: &str) -> bool {
    NAMES.contains(&name)
}

fn own(function: impl AggregateUDFImpl + 'static) -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::new_from_impl(function))
}

/// See [`Resolver::aggregate`].
pub(super) fn resolve(resolver: &Resolver<'_>, name: &str, call: AggregateCall) -> Result<TypedExpr> {
    let AggregateCall { args, distinct, filter, order_by } = call;
    let missing = |args: &[TypedExpr]| resolver.no_function(name, args);
    let make = |function: Arc<AggregateUDF>, args: Vec<Expr>, ty: SqlType| {
        let params = AggregateFunctionParams {
            args,
            distinct,
            filter: filter.clone().map(Box::new),
            order_by: order_by.clone(),
            null_treatment: None,
        };
        TypedExpr::new(Expr::AggregateFunction(AggregateFunction { func: function, params }), ty)
    };
    // Two numerics are distinct by value, not by scale.
    let key = |arg: TypedExpr| {
        if distinct && arg.ty.base == BaseType::Numeric && !arg.ty.array { numeric_key(arg) } else { arg }
    };
    match (name, args.len()) {
        ("count", 0) => {
            if distinct {
                return Err(SqlError::syntax("DISTINCT needs an argument"));
            }
            return Ok(make(count_udaf(), vec![Expr::Literal(ScalarValue::Int64(Some(1)), None)], SqlType::INT8));
        }
        ("string_agg", 2) => {
            let [value, delimiter] = <[TypedExpr; 2]>::try_from(args).map_err(|args| missing(&args))?;
            if value.ty == SqlType::BYTEA {
                return Err(SqlError::unsupported("string_agg of bytea"));
            }
            if !Resolver::stringlike(value.ty) {
                return Err(missing(&[value, delimiter]));
            }
            let value = resolver.cast(value, SqlType::TEXT, CastContext::Implicit)?;
            let delimiter = resolver.cast(delimiter, SqlType::TEXT, CastContext::Implicit)?;
            return Ok(make(own(collect::StringAgg::new()), vec![value.expr, delimiter.expr], SqlType::TEXT));
        }
        (_, 1) => {}
        _ => return Err(missing(&args)),
    }
    let Some(arg) = args.into_iter().next() else {
        return Err(missing(&[]));
    };
    let boolean = matches!(name, "bool_and" | "bool_or" | "every");
    let arg = match (arg.is_unknown(), name) {
        (false, _) => arg,
        (true, _) if boolean => resolver.cast(arg, SqlType::BOOL, CastContext::Implicit)?,
        (true, "count" | "min" | "max" | "array_agg") => resolver.resolve_unknown(arg)?,
        (true, "sum" | "avg") => {
            return Err(SqlError::new(state::AMBIGUOUS_FUNCTION, format!("function {name}(unknown) is not unique"))
                .hint("Could not choose a best candidate function. You might need to add explicit type casts."));
        }
        (true, _) => resolver.cast(arg, SqlType::FLOAT8, CastContext::Implicit)?,
    };
    let ty = arg.ty.plain();
    let base = if ty.array { BaseType::Void } else { ty.base };
    use BaseType as B;
    Ok(match name {
        "count" => make(count_udaf(), vec![key(arg).expr], SqlType::INT8),
        "bool_and" | "every" if base == B::Bool => make(bool_and_udaf(), vec![arg.expr], ty),
        "bool_or" if base == B::Bool => make(bool_or_udaf(), vec![arg.expr], ty),
        "min" | "max" => {
            if matches!(
                base,
                B::Bool | B::Uuid | B::Bytea | B::Regclass | B::Regtype | B::Regproc | B::Regnamespace | B::Void
            ) {
                return Err(missing(std::slice::from_ref(&arg)));
            }
            let arg = if matches!(base, B::Varchar | B::Name) {
                resolver.cast(arg, SqlType::TEXT, CastContext::Implicit)?
            } else {
                arg
            };
            let ty = arg.ty.plain();
            if matches!(base, B::Float4 | B::Float8) {
                make(statistics::float_extreme(name == "max", ty), vec![arg.expr], ty)
            } else {
                make(if name == "max" { max_udaf() } else { min_udaf() }, vec![arg.expr], ty)
            }
        }
        "array_agg" => {
            if ty.array {
                return Err(SqlError::unsupported("a multidimensional array"));
            }
            make(array_agg_udaf(), vec![key(arg).expr], ty.array_of())
        }
        "sum" | "avg" => {
            let (function, result) = sum::function(name, base).ok_or_else(|| missing(std::slice::from_ref(&arg)))?;
            make(function, vec![key(arg).expr], result)
        }
        "bit_and" | "bit_or" => {
            let function = statistics::bits(name, base).ok_or_else(|| missing(std::slice::from_ref(&arg)))?;
            make(function, vec![arg.expr], ty)
        }
        _ => {
            let arg = match base {
                B::Int2 | B::Int4 | B::Int8 => resolver.cast(arg, SqlType::NUMERIC, CastContext::Implicit)?,
                B::Float4 => resolver.cast(arg, SqlType::FLOAT8, CastContext::Implicit)?,
                B::Numeric | B::Float8 => arg,
                _ => return Err(missing(std::slice::from_ref(&arg))),
            };
            let result = arg.ty.plain();
            make(statistics::spread(name, result.base), vec![key(arg).expr], result)
        }
    })
}
