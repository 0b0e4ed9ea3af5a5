//! json_build_object, json_build_array, json_object and their jsonb variants.

use super::to_json::{json_of, object_of, with_context};
use crate::kernel::{Call, Kernel, Stability};
use crate::registry::{Param, ResultType, ScalarFunction};
use crate::typed::{List, SqlWrite, Text};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::array::{ArrayValue, subscript_error};
use types::json::{array, quote, to_jsonb};
use types::text::{OutputContext, output_string};
use types::{BaseType, SqlType};

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// The object key that a value gives. Errors: 22023 if the value is not a scalar.
pub(super) fn key_text(ty: SqlType, keys: &dyn Array, at: usize, context: &OutputContext<'_>) -> Result<String> {
    if ty.array || matches!(ty.base, BaseType::Json | BaseType::Jsonb | BaseType::Record(_)) {
        return Err(invalid("key value must be scalar, not array, composite, or json"));
    }
    let text = output_string(ty, keys, at, context)?;
    Ok(match (ty == SqlType::BOOL, text.as_str()) {
        (true, "t") => "true".into(),
        (true, _) => "false".into(),
        (false, _) => text,
    })
}

/// Builds objects from alternating keys and values.
fn build_object(call: &Call<'_>, binary: bool) -> Result<ArrayRef> {
    let name = if binary { "jsonb_build_object" } else { "json_build_object" };
    if call.arguments.len() % 2 == 1 {
        return Err(invalid("argument list must have even number of elements")
            .hint(format!("The arguments of {name}() must consist of alternating keys and values.")));
    }
    let columns: Vec<(&ArrayRef, SqlType)> = call.arguments.iter().zip(call.types.iter().copied()).collect();
    with_context(call, |context| {
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let mut pairs = Vec::new();
            for (number, pair) in columns.chunks_exact(2).enumerate() {
                let [(keys, key_type), (values, value_type)] = pair else { continue };
                let at = Call::row_of(keys, row);
                if keys.is_null(at) {
                    let message = if binary {
                        format!("argument {}: key must not be null", number * 2 + 1)
                    } else {
                        format!("argument {} cannot be null", number * 2 + 1)
                    };
                    let error = invalid(message);
                    return Err(if binary { error } else { error.hint("Object keys should be text.") });
                }
                let key = key_text(*key_type, keys.as_ref(), at, context)?;
                let value = json_of(*value_type, values.as_ref(), Call::row_of(values, row), context)?;
                pairs.push((key, value));
            }
            Text::append(&mut builder, Some(object_of(pairs, binary, "")?))?;
        }
        Ok(Text::finish(builder))
    })
}

fn build_array(call: &Call<'_>, binary: bool) -> Result<ArrayRef> {
    with_context(call, |context| {
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let mut parts = Vec::new();
            for (values, ty) in call.arguments.iter().zip(call.types) {
                let text = json_of(*ty, values.as_ref(), Call::row_of(values, row), context)?;
                parts.push(if binary { to_jsonb(&text)? } else { text });
            }
            Text::append(&mut builder, Some(array(parts)))?;
        }
        Ok(Text::finish(builder))
    })
}

/// `json_object('{key, value, …}')` and `json_object(keys, values)`.
fn text_object(call: &Call<'_>, binary: bool) -> Result<ArrayRef> {
    let arguments = (0..call.arguments.len()).map(|at| call.column::<List>(at)).collect::<Result<Vec<_>>>()?;
    let mut builder = Text::builder(call.rows);
    for row in 0..call.rows {
        let columns = arguments.iter().map(|lists| lists.get(row)).collect::<Result<Vec<_>>>()?;
        let Some(columns) = columns.into_iter().collect::<Option<Vec<ArrayValue>>>() else {
            Text::append(&mut builder, None)?;
            continue;
        };
        let strings = |array: &ArrayValue| -> Vec<Option<String>> {
            array.elements().as_string::<i32>().iter().map(|text| text.map(str::to_string)).collect()
        };
        let wrong = |message: &str| Err(subscript_error(message));
        // Keys and values alternate, or are the two columns of a two-dimensional array.
        match columns.as_slice() {
            [keys, values] if keys.dimension_count() > 1 || keys.dimension_count() != values.dimension_count() => {
                return wrong("wrong number of array subscripts");
            }
            [both] if both.dimension_count() > 2 => return wrong("wrong number of array subscripts"),
            [both] if both.dimension(1).is_some_and(|columns| columns.length != 2) => {
                return wrong("array must have two columns");
            }
            _ => {}
        }
        let pairs: Vec<(Option<String>, Option<String>)> = match columns.as_slice() {
            [keys, values] if keys.len() == values.len() => strings(keys).into_iter().zip(strings(values)).collect(),
            [_, _] => return wrong("mismatched array dimensions"),
            [both] if both.len() % 2 == 0 => {
                let all = strings(both);
                all.chunks_exact(2)
                    .filter_map(|pair| match pair {
                        [key, value] => Some((key.clone(), value.clone())),
                        _ => None,
                    })
                    .collect()
            }
            _ => return wrong("array must have even number of elements"),
        };
        let mut made = Vec::new();
        for (key, value) in pairs {
            let key = key
                .ok_or_else(|| SqlError::new(state::NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key"))?;
            made.push((key, value.map_or_else(|| "null".to_string(), |value| quote(&value))));
        }
        Text::append(&mut builder, Some(object_of(made, binary, "")?))?;
    }
    Ok(Text::finish(builder))
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let texts = SqlType::TEXT.array_of();
    let mut all = Vec::new();
    for (binary, ty, names) in [
        (false, SqlType::JSON, ["json_build_object", "json_build_array", "json_object"]),
        (true, SqlType::JSONB, ["jsonb_build_object", "jsonb_build_array", "jsonb_object"]),
    ] {
        let [build, list, of_texts] = names;
        let result = ResultType::Is(ty);
        let objects: Kernel = Arc::new(move |call: &Call<'_>| build_object(call, binary));
        let arrays: Kernel = Arc::new(move |call: &Call<'_>| build_array(call, binary));
        let from_texts: Kernel = Arc::new(move |call: &Call<'_>| text_object(call, binary));
        for (name, kernel) in [(build, objects), (list, arrays)] {
            let none = ScalarFunction::polymorphic(name, &[], false, result, Stability::Stable, Arc::clone(&kernel));
            all.push(none);
            all.push(ScalarFunction::polymorphic(name, &[Param::Any], true, result, Stability::Stable, kernel));
        }
        all.push(ScalarFunction::new(of_texts, &[texts], ty, Stability::Immutable, Arc::clone(&from_texts)));
        all.push(ScalarFunction::new(of_texts, &[texts, texts], ty, Stability::Immutable, from_texts));
    }
    all
}
