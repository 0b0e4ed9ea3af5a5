//! Reads parts of a json: by key, by index, by path. Also types and lengths.

use crate::kernel::{Call, Kernel, Stability};
use crate::registry::{Param, ResultType, ScalarFunction};
use crate::typed::{Int4, List, Nullable, SqlWrite, Text, binary, unary};
use datafusion::arrow::array::{ArrayRef, AsArray};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::array::ArrayValue;
use types::json::{Node, Value, parse};

/// A node as text or as json. Errors: 22P05 for a character that text cannot hold.
fn shown(node: Option<&Node<'_>>, text: bool) -> Result<Option<String>> {
    let Some(node) = node else { return Ok(None) };
    if !text {
        return Ok(Some(node.text.to_string()));
    }
    let found = node.as_text();
    if found.as_ref().is_some_and(|found| matches!(node.value, Value::String(_)) && found.contains('\0')) {
        return Err(SqlError::new("22P05", "unsupported Unicode escape sequence")
            .detail("\\u0000 cannot be converted to text."));
    }
    Ok(found)
}

/// The operator `json -> key`.
pub(super) fn field(text: bool) -> Kernel {
    binary::<Text, Text, Text, _>(move |json: &str, key: &str| {
        Nullable(parse(json).and_then(|node| shown(node.field(key), text)))
    })
}

/// The operator `json -> index`. As in PostgreSQL, a jsonb scalar counts as an array of itself.
pub(super) fn element(text: bool, binary_form: bool) -> Kernel {
    binary::<Text, Int4, Text, _>(move |json: &str, place: i32| {
        Nullable(parse(json).and_then(|node| {
            let scalar = !matches!(node.value, Value::Array(_) | Value::Object(_));
            let itself = binary_form && scalar && matches!(place, 0 | -1);
            shown(if itself { Some(&node) } else { node.element(i64::from(place)) }, text)
        }))
    })
}

/// Follows one step of a path: a key of an object, or an index of an array.
pub(super) fn step<'n, 'a>(node: &'n Node<'a>, step: &str) -> Option<&'n Node<'a>> {
    match &node.value {
        Value::Object(_) => node.field(step),
        Value::Array(_) => node.element(step.trim().parse().ok()?),
        _ => None,
    }
}

/// The texts of an array. `None` if one of them is NULL.
pub(super) fn texts(elements: &ArrayRef) -> Result<Option<Vec<String>>> {
    let strings = elements.as_string_opt::<i32>().ok_or_else(|| SqlError::internal("a path that is not of text"))?;
    Ok(strings.iter().map(|text| text.map(str::to_string)).collect())
}

fn at_path(json: &str, path: &[String], text: bool) -> Result<Option<String>> {
    let node = parse(json)?;
    let found = path.iter().try_fold(&node, |node, key| step(node, key));
    shown(found, text)
}

/// The operator `json #> path`.
pub(super) fn path(text: bool) -> Kernel {
    binary::<Text, List, Text, _>(move |json: &str, path: ArrayValue| {
        Nullable(texts(&path).and_then(|path| match path {
            Some(path) => at_path(json, &path, text),
            None => Ok(None),
        }))
    })
}

/// The function `json_extract_path(json, key, …)`.
fn extract_path(text: bool) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let documents = call.column::<Text>(0)?;
        let steps = (1..call.arguments.len()).map(|at| call.column::<Text>(at)).collect::<Result<Vec<_>>>()?;
        let mut builder = Text::builder(call.rows);
        for row in 0..call.rows {
            let path = steps.iter().map(|step| Ok(step.get(row)?.map(str::to_string))).collect::<Result<Vec<_>>>()?;
            let path: Option<Vec<String>> = path.into_iter().collect();
            let value = match (documents.get(row)?, path) {
                (Some(json), Some(path)) => at_path(json, &path, text)?,
                _ => None,
            };
            Text::append(&mut builder, value)?;
        }
        Ok(Text::finish(builder))
    })
}

fn length(json: &str) -> Result<i32> {
    match parse(json)?.value {
        Value::Array(elements) => Ok(elements.len() as i32),
        Value::Object(_) => {
            Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "cannot get array length of a non-array"))
        }
        _ => Err(SqlError::new(state::INVALID_PARAMETER_VALUE, "cannot get array length of a scalar")),
    }
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let immutable = Stability::Immutable;
    let mut all = Vec::new();
    for (ty, names) in [
        (SqlType::JSON, ["json_typeof", "json_array_length", "json_extract_path", "json_extract_path_text"]),
        (SqlType::JSONB, ["jsonb_typeof", "jsonb_array_length", "jsonb_extract_path", "jsonb_extract_path_text"]),
    ] {
        let [type_of, count, extract, extract_text] = names;
        let name_of = unary::<Text, Text, _>(|json: &str| Ok(parse(json)?.type_name().to_string()));
        all.push(ScalarFunction::new(type_of, &[ty], SqlType::TEXT, immutable, name_of));
        all.push(ScalarFunction::new(count, &[ty], SqlType::INT4, immutable, unary::<Text, Int4, _>(length)));
        let arguments = [Param::Is(ty), Param::Is(SqlType::TEXT)];
        for (name, text, result) in [(extract, false, ty), (extract_text, true, SqlType::TEXT)] {
            let kernel = extract_path(text);
            all.push(ScalarFunction::polymorphic(name, &arguments, true, ResultType::Is(result), immutable, kernel));
        }
    }
    all
}
