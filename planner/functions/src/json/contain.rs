//! The jsonb operators `@>`, `<@`, `?`, `?|`, `?&`.

use super::access::texts;
use crate::kernel::Kernel;
use crate::typed::{Bool, List, Text, binary};
use datafusion::arrow::array::AsArray;
use sql_error::Result;
use types::array::ArrayValue;
use types::json::{Node, Value, key, parse};

/// Whether `whole` contains `part`. Objects compare by keys, arrays by elements, scalars by equality.
fn within(whole: &Node<'_>, part: &Node<'_>) -> Result<bool> {
    match (&whole.value, &part.value) {
        (Value::Object(_), Value::Object(pairs)) => {
            for (name, value) in pairs {
                match whole.field(name) {
                    Some(found) if within(found, value)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Value::Array(elements), Value::Array(wanted)) => {
            for value in wanted {
                if !any_within(elements, value)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => Ok(false),
        _ => Ok(key(whole.text)? == key(part.text)?),
    }
}

fn any_within(elements: &[Node<'_>], value: &Node<'_>) -> Result<bool> {
    for element in elements {
        if within(element, value)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The operator `whole @> part`; with `swapped`, `part <@ whole`.
pub(super) fn contains(swapped: bool) -> Kernel {
    binary::<Text, Text, Bool, _>(move |left: &str, right: &str| {
        let (whole, part) = if swapped { (right, left) } else { (left, right) };
        let (whole, part) = (parse(whole)?, parse(part)?);
        match (&whole.value, &part.value) {
            // At the top level, an array contains a scalar that is one of its elements.
            (Value::Array(elements), Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                any_within(elements, &part)
            }
            _ => within(&whole, &part),
        }
    })
}

/// Whether a text is a key of an object, an element of an array, or the string itself.
fn has(node: &Node<'_>, wanted: &str) -> bool {
    let is = |node: &Node<'_>| matches!(&node.value, Value::String(text) if text == wanted);
    match &node.value {
        Value::Object(_) => node.field(wanted).is_some(),
        Value::Array(elements) => elements.iter().any(is),
        _ => is(node),
    }
}

/// The operator `jsonb ? key`.
pub(super) fn has_key() -> Kernel {
    binary::<Text, Text, Bool, _>(|json: &str, key: &str| Ok(has(&parse(json)?, key)))
}

/// The operators `jsonb ?& keys` and `jsonb ?| keys`.
pub(super) fn has_keys(all: bool) -> Kernel {
    binary::<Text, List, Bool, _>(move |json: &str, keys: ArrayValue| {
        let node = parse(json)?;
        let keys: Vec<String> = match texts(&keys)? {
            Some(keys) => keys,
            // NULL keys are ignored.
            None => keys.as_string::<i32>().iter().flatten().map(str::to_string).collect(),
        };
        Ok(if all { keys.iter().all(|key| has(&node, key)) } else { keys.iter().any(|key| has(&node, key)) })
    })
}
