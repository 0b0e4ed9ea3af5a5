//! The functions enum_first, enum_last and enum_range.

use super::kernel::{Call, Kernel, KernelFunction, Stability};
use super::typed::Int8;
use super::{CastContext, Resolver, TypedExpr};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::Int64Array;
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::Datum;
use types::enumeration::EnumLabel;
use types::value::ValueRef;

/// Names of the functions.
pub(super) const NAMES: [&str; 3] = ["enum_first", "enum_last", "enum_range"];

/// Resolves a call. The argument's type counts, not its value. Errors: 42883, 55000.
pub(super) fn resolve(resolver: &Resolver<'_>, name: &str, args: Vec<TypedExpr>) -> Result<TypedExpr> {
    let count = args.len();
    if count == 0 || count > if name == "enum_range" { 2 } else { 1 } {
        return Err(resolver.no_function(name, &args));
    }
    let known = args.iter().find(|arg| !arg.is_unknown()).map(|arg| arg.ty.plain());
    let Some((ty, labels)) = known.and_then(|ty| Some((ty, ty.as_enum()?))) else {
        return Err(resolver.no_function(name, &args));
    };
    if args.iter().any(|arg| !arg.is_unknown() && arg.ty.plain() != ty) {
        return Err(resolver.no_function(name, &args));
    }
    let known = &labels.descriptor().labels;
    let usable = |label: &EnumLabel| labels.usable(label).map_err(SqlError::of_values);
    let one = |label: Option<&EnumLabel>| match label {
        Some(label) => Ok(TypedExpr::literal(Datum::Int64(Some(usable(label)?)), ty)),
        None => {
            let message = format!("enum {} contains no values", labels.descriptor().name);
            Err(SqlError::new(state::OBJECT_NOT_IN_PREREQUISITE_STATE, message).of_values())
        }
    };
    match name {
        "enum_first" => return one(known.first()),
        "enum_last" => return one(known.last()),
        _ => {}
    }
    // With bounds, PostgreSQL ignores labels outside them. Here such a call is rejected too.
    let places: Vec<i64> = known.iter().map(usable).collect::<Result<_>>()?;
    let args = args.into_iter().map(|arg| resolver.cast(arg, ty, CastContext::Implicit)).collect::<Result<Vec<_>>>()?;
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let bounds = (0..call.arguments.len()).map(|at| call.column::<Int8>(at)).collect::<Result<Vec<_>>>()?;
        let mut builder = ColumnBuilder::new(call.result, call.rows);
        for row in 0..call.rows {
            let (first, last) = match bounds.as_slice() {
                [first, last] => (first.get(row)?, last.get(row)?),
                _ => (None, None),
            };
            let within =
                |place: &i64| first.is_none_or(|first| *place >= first) && last.is_none_or(|last| *place <= last);
            let kept = Int64Array::from_iter_values(places.iter().copied().filter(within));
            builder.append(&ValueRef::array(Arc::new(kept)))?;
        }
        builder.finish()
    });
    let function = KernelFunction::new(name, vec![ty; count], ty.array_of(), Stability::Immutable, kernel, None);
    Ok(function.call(args.into_iter().map(|arg| arg.expr).collect()))
}
