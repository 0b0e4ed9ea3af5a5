//! `pg_column_size`: the size in bytes of a value as PostgreSQL stores it within an expression. Must not know tables:
//! in a row a short value takes three bytes less.

use datafusion::arrow::array::Array;
use functions::kernel::{Call, Kernel};
use functions::typed::{Int4, SqlWrite};
use functions::{Param, ResultType, ScalarFunction, Stability};
use sql_error::Result;
use std::sync::Arc;
use types::numeric::Numeric;
use types::text::{OutputContext, output_string};
use types::value::{ValueRef, value_at};
use types::{BaseType, SqlType};

/// The header of a variable-length value, in bytes.
const HEADER: usize = 4;

/// The number of base-10000 digits in PostgreSQL's numeric.
fn numeric_digits(text: &str) -> usize {
    let (whole, fraction) = text.trim_start_matches('-').split_once('.').unwrap_or((text.trim_start_matches('-'), ""));
    let padded_whole = whole.len().div_ceil(4) * 4;
    let padded_fraction = fraction.len().div_ceil(4) * 4;
    let digits = format!("{whole:0>padded_whole$}{fraction:0<padded_fraction$}");
    let groups: Vec<&[u8]> = digits.as_bytes().chunks(4).collect();
    let used = |group: &&[u8]| group.iter().any(|digit| *digit != b'0');
    match (groups.iter().position(used), groups.iter().rposition(used)) {
        (Some(first), Some(last)) => last - first + 1,
        _ => 0,
    }
}

fn size(ty: SqlType, array: &dyn Array, row: usize) -> Result<Option<usize>> {
    let fixed = usize::try_from(ty.length()).ok();
    if let (Some(fixed), false) = (fixed, ty.array) {
        return Ok(Some(fixed));
    }
    Ok(match value_at(array, row)? {
        ValueRef::Bytes(bytes) if ty.base == BaseType::Numeric && !ty.array => {
            let number = Numeric::from_bytes(bytes)?;
            let digits = if number.is_finite() { numeric_digits(&number.to_string()) } else { 0 };
            Some(HEADER + 2 + 2 * digits)
        }
        ValueRef::Bytes(bytes) if ty.base == BaseType::Bytea && !ty.array => Some(HEADER + bytes.len()),
        // An untyped literal ends in a zero byte.
        ValueRef::Text(text) if ty == SqlType::UNKNOWN => Some(text.len() + 1),
        ValueRef::Text(text) if ty.base != BaseType::Jsonb => Some(HEADER + text.len()),
        ValueRef::Array(items) if !ty.is_vector() => {
            let element = ty.element();
            let length = usize::try_from(element.length()).ok();
            match length {
                // The header, dimensions and bounds, then the items. A bitmap marks NULL items.
                Some(length) if !items.is_empty() && items.null_count() == 0 => {
                    Some(16 + 8 * items.dimension_count() + items.len() * length)
                }
                _ if items.is_empty() => Some(16),
                _ => None,
            }
        }
        // The storage of other types differs too much for a meaningful size.
        _ => {
            let text = output_string(ty, array, row, &OutputContext::PLAIN)?;
            Some(HEADER + text.len())
        }
    })
}

pub(super) fn function() -> ScalarFunction {
    let kernel: Kernel = Arc::new(|call: &Call<'_>| {
        let (array, ty) = (call.array(0)?, call.types.first().copied().unwrap_or(SqlType::TEXT));
        let mut builder = Int4::builder(call.rows);
        for row in 0..call.rows {
            let at = Call::row_of(array, row);
            let bytes = if array.is_null(at) { None } else { size(ty, array.as_ref(), at)? };
            Int4::append(&mut builder, bytes.and_then(|bytes| i32::try_from(bytes).ok()))?;
        }
        Ok(Int4::finish(builder))
    });
    let result = ResultType::Is(SqlType::INT4);
    ScalarFunction::polymorphic("pg_column_size", &[Param::Any], false, result, Stability::Immutable, kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_numerics_as_in_postgresql() {
        for (text, digits) in [
            ("1.5", 2),
            ("12345.678", 3),
            ("100000000.00001", 5),
            ("0.0", 0),
            ("10000", 1),
            ("-0.0001", 1),
            ("0.00001", 1),
        ] {
            assert_eq!(numeric_digits(text), digits, "{text}");
        }
    }
}
