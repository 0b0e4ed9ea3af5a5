//! Set operators of arrays: `@>`, `<@`, `&&`.

use super::order;
use crate::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::operator::no_operator;
use crate::typed::{Bool, List, SqlWrite};
use crate::{CastContext, Resolver, TypedExpr};
use catalog::encoding::{KeyColumn, KeyEncoder};
use datafusion::arrow::array::{Array, ArrayRef};
use sql_error::Result;
use std::cmp::Ordering;
use std::sync::Arc;
use types::SqlType;

/// `left @> right`, `left <@ right`, `left && right`. Errors: 42883 unless both are arrays of one type.
pub(crate) fn operator(resolver: &Resolver<'_>, symbol: &str, left: TypedExpr, right: TypedExpr) -> Result<TypedExpr> {
    let (left, right) = match (left.ty.array, right.ty.array) {
        (true, false) if right.is_unknown() => {
            let ty = left.ty.plain();
            (left, resolver.cast(right, ty, CastContext::Implicit)?)
        }
        (false, true) if left.is_unknown() => {
            let ty = right.ty.plain();
            (resolver.cast(left, ty, CastContext::Implicit)?, right)
        }
        _ => (left, right),
    };
    if !left.ty.array || !right.ty.array || left.ty.base != right.ty.base {
        return Err(no_operator(symbol, Some(left.ty), right.ty));
    }
    let (left, right) = if symbol == "<@" { (right, left) } else { (left, right) };
    let any = symbol == "&&";
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| compare(call, any));
    let ty = left.ty.plain();
    let name = if any { "&&" } else { "@>" };
    Ok(KernelFunction::new(name, vec![ty, ty], SqlType::BOOL, Stability::Immutable, kernel, None)
        .strict(true)
        .call(vec![left.expr, right.expr]))
}

/// Whether the first array has all (or any) elements of the second. NULL equals nothing.
fn compare(call: &Call<'_>, any: bool) -> Result<ArrayRef> {
    let element = call.types.first().copied().unwrap_or(SqlType::TEXT).element();
    let encoder = KeyEncoder::new(vec![KeyColumn::ascending(element)]);
    let (left, right) = (call.column::<List>(0)?, call.column::<List>(1)?);
    let mut builder = Bool::builder(call.rows);
    for row in 0..call.rows {
        let value = match (left.get(row)?, right.get(row)?) {
            (Some(whole), Some(part)) => {
                let has = |at: usize| -> Result<bool> {
                    if part.is_null(at) {
                        return Ok(false);
                    }
                    for place in 0..whole.len() {
                        if !whole.is_null(place)
                            && order(&encoder, (whole.elements(), place), (part.elements(), at))? == Ordering::Equal
                        {
                            return Ok(true);
                        }
                    }
                    Ok(false)
                };
                let mut result = !any;
                for at in 0..part.len() {
                    if has(at)? == any {
                        result = any;
                        break;
                    }
                }
                Some(result)
            }
            _ => None,
        };
        Bool::append(&mut builder, value)?;
    }
    Ok(Bool::finish(builder))
}
