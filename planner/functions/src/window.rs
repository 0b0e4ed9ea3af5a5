//! Window functions, with PostgreSQL's result types.

use super::frame::{Frame, Inner, Shift, framed};
use super::{AggregateCall, CastContext, Resolver, TypedExpr};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions_window::cume_dist::cume_dist_udwf;
use datafusion::functions_window::lead_lag::{lag_udwf, lead_udwf};
use datafusion::functions_window::nth_value::{first_value_udwf, last_value_udwf, nth_value_udwf};
use datafusion::functions_window::ntile::ntile_udwf;
use datafusion::functions_window::rank::{dense_rank_udwf, percent_rank_udwf, rank_udwf};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{Sort, WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::{Expr, WindowFrame, WindowFunctionDefinition, WindowUDF, cast};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;

/// The resolved OVER clause of a window function.
#[derive(Clone, Debug)]
pub struct WindowCall {
    /// PARTITION BY, as group keys.
    pub partition_by: Vec<Expr>,
    /// ORDER BY, as sort keys.
    pub order_by: Vec<Sort>,
    /// The frame. PostgreSQL's default is RANGE UNBOUNDED PRECEDING to CURRENT ROW, which is the whole partition
    /// without ORDER BY.
    pub frame: Frame,
    /// FILTER, which only aggregates allow.
    pub filter: Option<Expr>,
    /// DISTINCT, which is rejected as in PostgreSQL.
    pub distinct: bool,
}

const NAMES: [&str; 11] = [
    "row_number",
    "rank",
    "dense_rank",
    "percent_rank",
    "cume_dist",
    "ntile",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "nth_value",
];

pub(super) fn exists(name: &str) -> bool {
    NAMES.contains(&name)
}

pub(super) fn resolve(
    resolver: &Resolver<'_>,
    name: &str,
    args: Vec<TypedExpr>,
    call: WindowCall,
) -> Result<TypedExpr> {
    if call.distinct {
        return Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, "DISTINCT is not implemented for window functions"));
    }
    if resolver.is_aggregate(name) {
        return aggregate(resolver, name, args, call);
    }
    if !exists(name) {
        if !resolver.is_function(name) {
            return Err(resolver.no_function(name, &args));
        }
        // An unknown function is reported first, as everywhere.
        resolver.function(name, args)?;
        let message = format!("OVER specified, but {name} is not a window function nor an aggregate function");
        return Err(SqlError::new(state::WRONG_OBJECT_TYPE, message));
    }
    if call.filter.is_some() {
        return Err(SqlError::new(
            state::FEATURE_NOT_SUPPORTED,
            "FILTER is not implemented for non-aggregate window functions",
        ));
    }
    let int8 = SqlType::INT8;
    let whole = |expr: TypedExpr| resolver.cast(expr, SqlType::INT4, CastContext::Implicit);
    // The result has the value's type, which must be known.
    let known = |expr: TypedExpr| match expr.is_unknown() {
        true => Err(super::array::compatible::undetermined()),
        false => resolver.resolve_unknown(expr),
    };
    let (function, args, ty): (Arc<WindowUDF>, Vec<Expr>, SqlType) = match (name, args.as_slice()) {
        ("row_number", []) => (row_number_udwf(), vec![], int8),
        ("rank", []) => (rank_udwf(), vec![], int8),
        ("dense_rank", []) => (dense_rank_udwf(), vec![], int8),
        ("percent_rank", []) => (percent_rank_udwf(), vec![], SqlType::FLOAT8),
        ("cume_dist", []) => (cume_dist_udwf(), vec![], SqlType::FLOAT8),
        ("ntile", [buckets]) => {
            let buckets = resolver.cast(buckets.clone(), SqlType::INT4, CastContext::Implicit).map_err(|error| {
                if error.state() == state::CANNOT_COERCE { resolver.no_function(name, &args) } else { error }
            })?;
            let buckets = resolver.cast(buckets, int8, CastContext::Implicit)?;
            (ntile_udwf(), vec![buckets.expr], SqlType::INT4)
        }
        ("first_value", [value]) => {
            let value = known(value.clone())?;
            (first_value_udwf(), vec![value.expr], value.ty.plain())
        }
        ("last_value", [value]) => {
            let value = known(value.clone())?;
            (last_value_udwf(), vec![value.expr], value.ty.plain())
        }
        ("nth_value", [value, at]) => {
            let value = known(value.clone())?;
            let at = resolver.cast(whole(at.clone())?, int8, CastContext::Implicit)?;
            (nth_value_udwf(), vec![value.expr, at.expr], value.ty.plain())
        }
        ("lag" | "lead", [value, rest @ ..]) if rest.len() <= 2 => {
            // The value and the default share a type.
            let value = match rest.get(1) {
                Some(default) if !default.is_unknown() => {
                    let common = resolver.common_type(name, &[value.ty, default.ty]);
                    let common = common.map_err(|_| resolver.no_function(name, &args))?;
                    let ty = if common.base == value.ty.base { value.ty } else { common.plain() };
                    resolver.cast(value.clone(), ty, CastContext::Implicit)?
                }
                Some(_) => resolver.resolve_unknown(value.clone())?,
                None => known(value.clone())?,
            };
            let mut args = vec![value.expr.clone()];
            if let Some(offset) = rest.first() {
                args.push(resolver.cast(whole(offset.clone())?, int8, CastContext::Implicit)?.expr);
            }
            if let Some(default) = rest.get(1) {
                args.push(resolver.cast(default.clone(), value.ty.plain(), CastContext::Implicit)?.expr);
            }
            (if name == "lag" { lag_udwf() } else { lead_udwf() }, args, value.ty.plain())
        }
        _ => return Err(resolver.no_function(name, &args)),
    };
    let number = |at: usize| match args.get(at) {
        Some(Expr::Literal(ScalarValue::Int64(number), _)) => Some(*number),
        _ => None,
    };
    let place = match name {
        "ntile" => Some(0),
        "nth_value" | "lag" | "lead" => Some(1),
        _ => None,
    };
    match place.and_then(number) {
        // A NULL number of buckets, row number or distance gives NULL.
        Some(None) => {
            let null = ScalarValue::try_from(&ty.arrow())?;
            return Ok(TypedExpr::literal(null, ty));
        }
        Some(Some(buckets)) if name == "ntile" && buckets <= 0 => {
            return Err(SqlError::new("22014", "argument of ntile must be greater than zero").of_values());
        }
        Some(Some(at)) if name == "nth_value" && at <= 0 => {
            return Err(SqlError::new("22016", "argument of nth_value must be greater than zero").of_values());
        }
        _ => {}
    }
    // DataFusion's functions accept only constants.
    let constant = args.iter().skip(1).all(|arg| matches!(arg, Expr::Literal(..)));
    let inner = match name {
        "first_value" => Some(Inner::First),
        "last_value" => Some(Inner::Last),
        "nth_value" => Some(Inner::Nth),
        _ => None,
    };
    let (function, args, frame) = match (inner, call.frame.native.clone(), name) {
        (Some(_), Some(native), _) if constant => (function, args, native),
        (Some(inner), ..) => {
            let (function, args) = framed(inner, args, &call);
            (function, args, call.frame.ignored.clone())
        }
        (None, _, "ntile") if !matches!(args.as_slice(), [Expr::Literal(..)]) => {
            return Ok(TypedExpr::new(own(Shift::Ntile.function(ty.arrow()), args, call), ty));
        }
        (None, _, "lag" | "lead") if !constant => {
            let mut args = args.into_iter();
            let value = args.next().unwrap_or_else(|| TypedExpr::null().expr);
            let offset = args.next().unwrap_or_else(|| Expr::Literal(ScalarValue::Int64(Some(1)), None));
            let default = match args.next() {
                Some(default) => default,
                None => Expr::Literal(ScalarValue::try_from(&ty.arrow())?, None),
            };
            let which = if name == "lag" { Shift::Lag } else { Shift::Lead };
            return Ok(TypedExpr::new(own(which.function(ty.arrow()), vec![value, offset, default], call), ty));
        }
        _ => (function, args, call.frame.ignored.clone()),
    };
    let expr = window(WindowFunctionDefinition::WindowUDF(function), args, frame, call, None);
    // DataFusion counts in unsigned integers.
    let expr = if ty == int8 || ty == SqlType::INT4 && name == "ntile" { cast(expr, ty.arrow()) } else { expr };
    Ok(TypedExpr::new(expr, ty))
}

/// A call of one of our functions that ignores the frame.
fn own(function: Arc<WindowUDF>, args: Vec<Expr>, call: WindowCall) -> Expr {
    let frame = call.frame.ignored.clone();
    window(WindowFunctionDefinition::WindowUDF(function), args, frame, call, None)
}

fn window(
    fun: WindowFunctionDefinition,
    args: Vec<Expr>,
    frame: WindowFrame,
    call: WindowCall,
    filter: Option<Box<Expr>>,
) -> Expr {
    Expr::WindowFunction(Box::new(WindowFunction {
        fun,
        params: WindowFunctionParams {
            args,
            partition_by: call.partition_by,
            order_by: call.order_by,
            window_frame: frame,
            filter,
            null_treatment: None,
            distinct: false,
        },
    }))
}

fn aggregate(resolver: &Resolver<'_>, name: &str, args: Vec<TypedExpr>, call: WindowCall) -> Result<TypedExpr> {
    let resolved = resolver.aggregate(name, AggregateCall { args, ..AggregateCall::default() })?;
    replace_aggregate(resolved, call)
}

/// Converts the aggregate call within an expression, which a cast may wrap, to one over a window.
fn replace_aggregate(resolved: TypedExpr, call: WindowCall) -> Result<TypedExpr> {
    use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
    let ty = resolved.ty;
    let expr = resolved
        .expr
        .transform_down(|expr| {
            Ok(match expr {
                // Convert only the outermost call: an argument may be an aggregate below the windows.
                Expr::AggregateFunction(function) => {
                    let args = function.params.args;
                    let expr = match call.frame.native.clone() {
                        Some(frame) => {
                            let filter = call.filter.clone().map(Box::new);
                            let definition = WindowFunctionDefinition::AggregateUDF(function.func);
                            window(definition, args, frame, call.clone(), filter)
                        }
                        None => {
                            let (function, args) = framed(Inner::Aggregate(function.func), args, &call);
                            own(function, args, call.clone())
                        }
                    };
                    Transformed::new(expr, true, TreeNodeRecursion::Jump)
                }
                other => Transformed::no(other),
            })
        })?
        .data;
    debug_assert!(matches!(ty.arrow(), DataType::Null) || !matches!(expr, Expr::AggregateFunction(_)));
    Ok(TypedExpr::new(expr, ty))
}
