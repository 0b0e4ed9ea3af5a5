//! percentile_cont and percentile_disc with fractions that are not constants. An aggregate sorts all values of a group
//! into an array. A function then looks the fractions up in it.

use super::ordered::{Fractions, Kind, Ordered, between, fraction, place_of};
use super::undecorated;
use crate::TypedExpr;
use crate::kernel::{Call, Kernel, KernelFunction, Stability};
use crate::typed::{Float8, List};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::Array;
use datafusion::arrow::compute::SortOptions;
use datafusion::logical_expr::Expr;
use sql_error::{Result, SqlError};
use std::sync::Arc;
use types::array::{ArrayValue, values_array};
use types::value::value_of;
use types::{Datum, SqlType};

/// The value, or values, at the fractions of a group. `continuous` interpolates between two values.
pub(super) fn percentile(
    continuous: bool,
    direct: TypedExpr,
    value: TypedExpr,
    result: SqlType,
    options: SortOptions,
    filter: Option<Expr>,
) -> Result<TypedExpr> {
    let ty = value.ty.plain();
    if ty.array {
        return Err(SqlError::unsupported("a percentile of arrays at a fraction that is not a constant"));
    }
    let sorted = Ordered::function(Kind::Sorted, ty, ty.array_of(), options);
    let sorted = undecorated(sorted, vec![value.expr], filter);
    let kernel: Kernel = Arc::new(move |call: &Call<'_>| {
        let groups = call.column::<List>(0)?;
        let mut builder = ColumnBuilder::new(result, call.rows);
        for row in 0..call.rows {
            let fractions = fractions(call, row)?;
            let found = match (fractions, groups.get(row)?) {
                (Some(fractions), Some(values)) => pick(&values, &fractions, continuous, result)?,
                _ => None,
            };
            match found {
                Some(found) => builder.append(&value_of(&found)?)?,
                None => builder.append_null(),
            }
        }
        builder.finish()
    });
    let name = if continuous { "percentile_cont" } else { "percentile_disc" };
    let types = vec![ty.array_of(), direct.ty.plain()];
    Ok(KernelFunction::new(name, types, result, Stability::Immutable, kernel, None).call(vec![sorted, direct.expr]))
}

/// The fractions of a row. `None` for NULL. Errors: 22003.
fn fractions(call: &Call<'_>, row: usize) -> Result<Option<Fractions>> {
    if !call.types.get(1).is_some_and(|ty| ty.array) {
        let value = call.column::<Float8>(1)?.get(row)?.map(fraction).transpose()?;
        return Ok(value.map(|value| Fractions { values: vec![Some(value)], dimensions: None }));
    }
    let Some(array) = call.column::<List>(1)?.get(row)? else { return Ok(None) };
    let float = |at| match Datum::try_from_array(array.elements(), at)? {
        Datum::Float64(Some(value)) => fraction(value).map(Some),
        _ => Ok(None),
    };
    let values = (0..array.len()).map(float).collect::<Result<Vec<_>>>()?;
    Ok(Some(Fractions { values, dimensions: Some(array.dimensions()) }))
}

fn pick(values: &ArrayValue, fractions: &Fractions, continuous: bool, result: SqlType) -> Result<Option<Datum>> {
    let count = values.len();
    if count == 0 {
        return Ok(None);
    }
    let at = |place: usize| Datum::try_from_array(values.elements(), place).ok();
    let element = if fractions.dimensions.is_some() { result.element() } else { result };
    let nothing = Datum::try_from(&element.arrow())?;
    let one = |fraction: &Option<f64>| match fraction {
        Some(fraction) if continuous => between(count, at, *fraction),
        Some(fraction) => Ok(at(place_of(count, *fraction)).unwrap_or_else(|| nothing.clone())),
        None => Ok(nothing.clone()),
    };
    let found = fractions.values.iter().map(one).collect::<Result<Vec<_>>>()?;
    match &fractions.dimensions {
        Some(dimensions) => Ok(Some(ArrayValue::new(values_array(&found, element)?, dimensions)?.into_datum()?)),
        None => Ok(found.into_iter().next()),
    }
}
