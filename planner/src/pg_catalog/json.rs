//! `json_build_object`: the JSON text that tools which read the catalog build of it. There is no type json: the
//! result is text.

use crate::error::{Result, SqlError};
use crate::functions::kernel::{Call, Kernel};
use crate::functions::registry::ScalarFunction;
use crate::functions::{Param, ResultType, Stability};
use crate::types::text::{OutputContext, output_string};
use crate::types::{BaseType, SqlType};
use datafusion::arrow::array::{Array, ArrayRef, StringBuilder};
use std::sync::Arc;

/// Every function of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let kernel: Kernel = Arc::new(build_object);
    let result = ResultType::Is(SqlType::TEXT);
    vec![ScalarFunction::polymorphic("json_build_object", &[Param::Any], true, result, Stability::Immutable, kernel)]
}

fn build_object(call: &Call<'_>) -> Result<ArrayRef> {
    if call.arguments.len() % 2 == 1 {
        return Err(SqlError::new("22023", "argument list must have even number of elements")
            .hint("The arguments of json_build_object() must consist of alternating keys and values."));
    }
    let mut built = StringBuilder::new();
    for row in 0..call.rows {
        let mut parts = Vec::new();
        let mut key = None;
        for (array, ty) in call.arguments.iter().zip(call.types) {
            let at = Call::row_of(array, row);
            let shown = match array.is_null(at) {
                true => None,
                false => Some(output_string(*ty, array.as_ref(), at, &OutputContext::PLAIN)?),
            };
            match key.take() {
                None => {
                    let name = shown.ok_or_else(|| SqlError::new("22023", "argument 1 cannot be null"))?;
                    key = Some(serde_json::to_string(&name).map_err(SqlError::internal)?);
                }
                Some(name) => parts.push(format!("{name} : {}", json(shown, *ty)?)),
            }
        }
        built.append_value(format!("{{{}}}", parts.join(", ")));
    }
    Ok(Arc::new(built.finish()))
}

fn json(shown: Option<String>, ty: SqlType) -> Result<String> {
    use BaseType as B;
    let Some(shown) = shown else { return Ok("null".into()) };
    let number = !ty.array && matches!(ty.base, B::Int2 | B::Int4 | B::Int8 | B::Numeric | B::Float4 | B::Float8);
    match ty.base {
        B::Bool if !ty.array => Ok(if shown == "t" { "true".into() } else { "false".into() }),
        _ if number && shown.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => Ok(shown),
        _ => serde_json::to_string(&shown).map_err(SqlError::internal),
    }
}
