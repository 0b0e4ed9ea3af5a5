//! json functions that return rows. Their columns are arrays, which a plan unnests.

use crate::kernel::{Call, Kernel, Stability};
use crate::registry::ScalarFunction;
use crate::typed::Text;
use crate::{Resolver, TypedExpr};
use catalog::encoding::ColumnBuilder;
use datafusion::arrow::array::{ArrayRef, StringArray};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::json::{Node, Value, parse};
use types::value::ValueRef;

/// Defines functions by name, with the functions that list their keys and their values.
macro_rules! with_lists {
    ($($name:literal),* $(,)?) => {
        [$(($name, concat!($name, " keys"), concat!($name, " values"))),*]
    };
}

const FUNCTIONS: [(&str, &str, &str); 10] = with_lists![
    "json_array_elements",
    "json_array_elements_text",
    "json_object_keys",
    "json_each",
    "json_each_text",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_object_keys",
    "jsonb_each",
    "jsonb_each_text",
];

/// Whether a function is defined here.
pub(crate) fn exists(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, ..)| *known == name)
}

/// The columns of a call, with their names, as arrays. `None` for other functions. Errors: 42883.
pub(crate) fn row_lists(
    resolver: &Resolver<'_>,
    name: &str,
    args: &[TypedExpr],
) -> Result<Option<Vec<(&'static str, TypedExpr)>>> {
    let Some(kind) = name.strip_prefix("jsonb_").or_else(|| name.strip_prefix("json_")) else { return Ok(None) };
    let list = |function: &str| resolver.function(&format!("{name} {function}"), args.to_vec());
    Ok(Some(match kind {
        "array_elements" | "array_elements_text" => vec![("value", list("values")?)],
        "object_keys" => vec![("", list("keys")?)],
        "each" | "each_text" => vec![("key", list("keys")?), ("value", list("values")?)],
        _ => return Ok(None),
    }))
}

fn wrong(what: &str, node: &Node<'_>, name: &str) -> SqlError {
    let scalar = !matches!(node.value, Value::Object(_) | Value::Array(_));
    let binary = name.starts_with("jsonb");
    let message = match (what, scalar) {
        ("array", true) if !binary => format!("cannot call {name} on a scalar"),
        ("array", false) if !binary => format!("cannot call {name} on a non-array"),
        ("array", true) => "cannot extract elements from a scalar".to_string(),
        ("array", false) => "cannot extract elements from an object".to_string(),
        ("object", true) if name.contains("keys") => format!("cannot call {name} on a scalar"),
        ("object", false) if name.contains("keys") => format!("cannot call {name} on an array"),
        ("object", true) if !binary => "cannot deconstruct a scalar".to_string(),
        ("object", false) if !binary => "cannot deconstruct an array as an object".to_string(),
        _ => format!("cannot call {name} on a non-object"),
    };
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

/// Lists the keys of an object.
fn keys(name: &'static str) -> Kernel {
    listed(move |node| match &node.value {
        Value::Object(pairs) => Ok(pairs.iter().map(|(key, _)| Some(key.clone())).collect()),
        _ => Err(wrong("object", node, name)),
    })
}

/// Lists the values of an object or the elements of an array, as text or as json.
fn values(name: &'static str) -> Kernel {
    let text = name.ends_with("_text");
    let of_array = name.contains("array");
    listed(move |node| {
        let shown = |node: &Node<'_>| if text { node.as_text() } else { Some(node.text.to_string()) };
        match &node.value {
            Value::Object(pairs) if !of_array => Ok(pairs.iter().map(|(_, value)| shown(value)).collect()),
            Value::Array(elements) if of_array => Ok(elements.iter().map(shown).collect()),
            _ => Err(wrong(if of_array { "array" } else { "object" }, node, name)),
        }
    })
}

fn listed(items: impl Fn(&Node<'_>) -> Result<Vec<Option<String>>> + Send + Sync + 'static) -> Kernel {
    Arc::new(move |call: &Call<'_>| {
        let texts = call.column::<Text>(0)?;
        let mut builder = ColumnBuilder::new(call.result, call.rows);
        for row in 0..call.rows {
            match texts.get(row)? {
                Some(text) => {
                    let items: ArrayRef = Arc::new(StringArray::from(items(&parse(text)?)?));
                    builder.append(&ValueRef::array(items))?;
                }
                None => builder.append_null(),
            }
        }
        builder.finish()
    })
}

/// The functions of this module: one per column, named by the function and the column.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let mut all = Vec::new();
    for (name, key_list, value_list) in FUNCTIONS {
        let ty = if name.starts_with("jsonb") { SqlType::JSONB } else { SqlType::JSON };
        if !name.contains("array") {
            let texts = SqlType::TEXT.array_of();
            all.push(ScalarFunction::new(key_list, &[ty], texts, Stability::Immutable, keys(name)));
        }
        if !name.ends_with("_keys") {
            let item = if name.ends_with("_text") { SqlType::TEXT } else { ty };
            all.push(ScalarFunction::new(value_list, &[ty], item.array_of(), Stability::Immutable, values(name)));
        }
    }
    all
}
