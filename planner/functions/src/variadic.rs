//! Calls with VARIADIC, whose last arguments are the elements of an array: `format('%s %s', VARIADIC a)`.

use super::kernel::{Call, Kernel, KernelFunction};
use super::registry::{Param, ResultType, variadic_named};
use super::typed::List;
use super::{CastContext, Resolver, TypedExpr};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::{Array, ArrayRef};
use sql_error::Result;
use std::sync::Arc;
use types::SqlType;
use types::array::ArrayValue;
use types::value::value_at;

/// The implementation of [`Resolver::variadic_function`].
pub(super) fn resolve(
    resolver: &Resolver<'_>,
    name: &str,
    args: Vec<TypedExpr>,
    array: TypedExpr,
) -> Result<TypedExpr> {
    let missing = |args: &[TypedExpr]| resolver.no_function(name, args);
    let all = |args: &[TypedExpr]| [args, std::slice::from_ref(&array)].concat();
    // Position of the variadic parameter.
    let place = match name {
        "concat" | "num_nulls" | "num_nonnulls" => 0,
        "json_build_array" | "jsonb_build_array" | "json_build_object" | "jsonb_build_object" => 0,
        "concat_ws" | "format" => 1,
        "json_extract_path" | "json_extract_path_text" | "jsonb_extract_path" | "jsonb_extract_path_text" => 1,
        _ => {
            let args = all(&args);
            return super::overload_resolution::spread(resolver, name, &args)?.ok_or_else(|| missing(&args));
        }
    };
    let Some(function) = variadic_named(name).filter(|_| args.len() == place) else {
        return Err(missing(&all(&args)));
    };
    let ResultType::Is(result) = function.result else { return Err(missing(&all(&args))) };
    // The arguments before the elements, then the array.
    let mut exprs = Vec::new();
    let mut types = Vec::new();
    for (at, arg) in args.into_iter().enumerate() {
        let arg = match function.arguments.get(at).or(function.arguments.last()) {
            Some(Param::Is(ty)) => resolver.cast(arg, *ty, CastContext::Implicit)?,
            _ => resolver.resolve_unknown(arg)?,
        };
        types.push(arg.ty.plain());
        exprs.push(arg.expr);
    }
    let array = match function.arguments.last() {
        Some(Param::Is(ty)) => resolver.cast(array, ty.array_of(), CastContext::Implicit)?,
        _ => array,
    };
    types.push(array.ty.plain());
    exprs.push(array.expr);
    // A NULL array gives NULL, except for format, which treats it as empty.
    let strict = name != "format";
    let inner = Arc::clone(&function.kernel);
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| each(call, &inner, strict));
    let slots = Some(Arc::clone(resolver.slots));
    let made = KernelFunction::new(format!("variadic {name}"), types, result, function.stability, kernel, slots);
    Ok(made.with_ctype(resolver.ctype()).call(exprs))
}

/// Calls the function for each row with the fixed arguments and the array's elements.
fn each(call: &Call<'_>, inner: &Kernel, strict: bool) -> Result<ArrayRef> {
    let last = call.arguments.len().saturating_sub(1);
    let arrays = call.column::<List>(last)?;
    let array_type = call.types.get(last).copied().unwrap_or(SqlType::TEXT.array_of());
    let mut builder = ColumnBuilder::new(call.result, call.rows);
    for row in 0..call.rows {
        let array = match arrays.get(row)? {
            Some(array) => array,
            None if strict => {
                builder.append_null();
                continue;
            }
            None => ArrayValue::from(ColumnBuilder::new(array_type.element(), 0).finish()?),
        };
        let mut arguments: Vec<ArrayRef> =
            call.arguments.iter().take(last).map(|argument| argument.slice(Call::row_of(argument, row), 1)).collect();
        arguments.extend((0..array.len()).map(|at| array.elements().slice(at, 1)));
        let mut types: Vec<SqlType> = call.types.iter().take(last).copied().collect();
        types.resize(arguments.len(), array_type.element());
        let made = inner(&call.nested(&arguments, &types, call.result).with_rows(1))?;
        builder.append(&value_at(made.as_ref(), 0)?)?;
    }
    builder.finish()
}
