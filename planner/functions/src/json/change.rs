//! Operators and functions that modify jsonb: `||`, `-`, `#-`, jsonb_set, jsonb_insert, jsonb_strip_nulls,
//! jsonb_pretty.

use crate::kernel::{Call, Kernel, Stability};
use crate::registry::ScalarFunction;
use crate::typed::{Bool, Int4, List, SqlWrite, Text, binary, unary};
use datafusion::arrow::array::{ArrayRef, AsArray};
use sql_error::{Result, SqlError, state};
use std::sync::Arc;
use types::SqlType;
use types::array::{ArrayValue, subscript_error};
use types::json::{Node, Value, array, object, parse, quote, storable};

fn invalid(message: &str) -> SqlError {
    SqlError::new(state::INVALID_PARAMETER_VALUE, message)
}

fn pairs_of(pairs: &[(String, Node<'_>)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| (key.clone(), value.text.to_string())).collect()
}

fn texts_of(elements: &[Node<'_>]) -> Vec<String> {
    elements.iter().map(|element| element.text.to_string()).collect()
}

/// The operator `||`: it merges objects, and puts anything else in one array.
pub(super) fn concatenate() -> Kernel {
    binary::<Text, Text, Text, _>(|left: &str, right: &str| {
        let (a, b) = (parse(left)?, parse(right)?);
        if let (Value::Object(a), Value::Object(b)) = (&a.value, &b.value) {
            let mut pairs = pairs_of(a);
            pairs.extend(pairs_of(b));
            return Ok(object(pairs));
        }
        let items = |node: &Node<'_>| match &node.value {
            Value::Array(elements) => texts_of(elements),
            _ => vec![node.text.to_string()],
        };
        let mut elements = items(&a);
        elements.extend(items(&b));
        Ok(array(elements))
    })
}

fn without(json: &str, unwanted: &[String]) -> Result<String> {
    let node = parse(json)?;
    match &node.value {
        Value::Object(pairs) => Ok(object(pairs_of(pairs).into_iter().filter(|(key, _)| !unwanted.contains(key)))),
        Value::Array(elements) => Ok(array(
            elements
                .iter()
                .filter(|element| !matches!(&element.value, Value::String(text) if unwanted.contains(text)))
                .map(|element| element.text.to_string()),
        )),
        _ => Err(invalid("cannot delete from scalar")),
    }
}

/// The operator `jsonb - key`.
pub(super) fn without_key() -> Kernel {
    binary::<Text, Text, Text, _>(|json: &str, key: &str| without(json, &[key.to_string()]))
}

/// Checks that a path or list of keys has one dimension. Errors: 2202E.
pub(super) fn one_dimension(path: &ArrayValue) -> Result<()> {
    match path.dimension_count() {
        0 | 1 => Ok(()),
        _ => Err(subscript_error("wrong number of array subscripts")),
    }
}

/// The operator `jsonb - keys`.
pub(super) fn without_keys() -> Kernel {
    binary::<Text, List, Text, _>(|json: &str, keys: ArrayValue| {
        one_dimension(&keys)?;
        let keys: Vec<String> = keys.as_string::<i32>().iter().flatten().map(str::to_string).collect();
        without(json, &keys)
    })
}

/// The position of an element. A negative index counts from the end.
fn place(length: usize, index: i64) -> Option<usize> {
    let at = if index < 0 { index + length as i64 } else { index };
    usize::try_from(at).ok().filter(|at| *at < length)
}

/// The operator `jsonb - index`.
pub(super) fn without_element() -> Kernel {
    binary::<Text, Int4, Text, _>(|json: &str, index: i32| {
        let node = parse(json)?;
        match &node.value {
            Value::Array(elements) => {
                let mut kept = texts_of(elements);
                if let Some(at) = place(kept.len(), i64::from(index)) {
                    kept.remove(at);
                }
                Ok(array(kept))
            }
            Value::Object(_) => Err(invalid("cannot delete from object using integer index")),
            _ => Err(invalid("cannot delete from scalar")),
        }
    })
}

/// The change at the end of a path.
pub(super) enum Change<'c> {
    Delete,
    /// Sets a value. The flag says whether to add it if nothing is there.
    Set(&'c str, bool),
    /// Inserts a value. The flag says whether it goes behind the existing element.
    Insert(&'c str, bool),
}

impl<'c> Change<'c> {
    /// The value to add if nothing is there.
    fn added(&self) -> Option<&'c str> {
        match self {
            Change::Set(new, true) | Change::Insert(new, _) => Some(new),
            _ => None,
        }
    }
}

/// Whether a container is empty. Errors: 22023 for a scalar.
pub(super) fn is_empty(node: &Node<'_>, verb: &str) -> Result<bool> {
    match &node.value {
        Value::Object(members) => Ok(members.is_empty()),
        Value::Array(elements) => Ok(elements.is_empty()),
        _ => Err(invalid(&format!("cannot {verb} path in scalar"))),
    }
}

/// Changes a container at the end of a path. If the container is empty and nothing is added, the path is not checked.
/// Errors: as [`changed`], and 22023 for a scalar.
pub(super) fn changed_container(node: &Node<'_>, path: &ArrayValue, change: &Change<'_>) -> Result<String> {
    let verb = if matches!(change, Change::Delete) { "delete" } else { "set" };
    if is_empty(node, verb)? && change.added().is_none() {
        return Ok(node.text.to_string());
    }
    changed(node, &steps(path)?, 0, change)
}

/// A value with a change at the end of a path. Errors: 22004 for a NULL step that is reached, 22P02, 22023.
pub(super) fn changed(node: &Node<'_>, path: &[Option<String>], depth: usize, change: &Change<'_>) -> Result<String> {
    let Some(step) = path.get(depth) else { return Ok(node.text.to_string()) };
    let Some(step) = step else {
        let message = format!("path element at position {} is null", depth + 1);
        return Err(SqlError::new(state::NULL_VALUE_NOT_ALLOWED, message));
    };
    let last = depth + 1 == path.len();
    match &node.value {
        Value::Object(pairs) => {
            let mut made = Vec::new();
            let mut found = false;
            for (key, value) in pairs {
                if key != step {
                    made.push((key.clone(), value.text.to_string()));
                    continue;
                }
                found = true;
                match change {
                    Change::Delete if last => {}
                    Change::Set(new, _) if last => made.push((key.clone(), (*new).to_string())),
                    Change::Insert(..) if last => {
                        let hint = "Try using the function jsonb_set to replace key value.";
                        return Err(invalid("cannot replace existing key").hint(hint));
                    }
                    _ => made.push((key.clone(), changed(value, path, depth + 1, change)?)),
                }
            }
            if let (Some(new), true, false) = (change.added(), last, found) {
                made.push((step.clone(), new.to_string()));
            }
            Ok(object(made))
        }
        Value::Array(elements) => {
            let index = step.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}').parse::<i32>();
            let index = index.map(i64::from).map_err(|_| {
                SqlError::new(
                    state::INVALID_TEXT_REPRESENTATION,
                    format!("path element at position {} is not an integer: \"{step}\"", depth + 1),
                )
            })?;
            let mut made = texts_of(elements);
            match (place(made.len(), index), change) {
                (Some(at), Change::Delete) if last => {
                    made.remove(at);
                }
                (Some(at), Change::Insert(new, behind)) if last => {
                    made.insert(at + usize::from(*behind), (*new).to_string())
                }
                (Some(at), _) => {
                    let value = match (change, elements.get(at)) {
                        (Change::Set(new, _), _) if last => (*new).to_string(),
                        (_, Some(element)) => changed(element, path, depth + 1, change)?,
                        (_, None) => String::from("null"),
                    };
                    if let Some(slot) = made.get_mut(at) {
                        *slot = value;
                    }
                }
                (None, _) => match change.added().filter(|_| last) {
                    Some(new) if index < 0 => made.insert(0, new.to_string()),
                    Some(new) => made.push(new.to_string()),
                    None => {}
                },
            }
            Ok(array(made))
        }
        _ => Ok(node.text.to_string()),
    }
}

/// The operator `jsonb #- path`.
pub(super) fn without_path() -> Kernel {
    binary::<Text, List, Text, _>(|json: &str, path: ArrayValue| {
        one_dimension(&path)?;
        let node = parse(json)?;
        changed_container(&node, &path, &Change::Delete)
    })
}

/// The steps of a path. `None` is NULL.
pub(super) fn steps(path: &ArrayValue) -> Result<Vec<Option<String>>> {
    let texts = path.as_string_opt::<i32>().ok_or_else(|| SqlError::internal("a path that is not of text"))?;
    Ok(texts.iter().map(|text| text.map(str::to_string)).collect())
}

/// `jsonb_set(target, path, value [, create])`.
fn set(call: &Call<'_>) -> Result<ArrayRef> {
    change_at(call, true, |new, create| Change::Set(new, create))
}

/// `jsonb_insert(target, path, value [, after])`.
fn insert(call: &Call<'_>) -> Result<ArrayRef> {
    change_at(call, false, |new, behind| Change::Insert(new, behind))
}

/// Makes a change from the third argument and an optional flag, the fourth.
fn change_at(call: &Call<'_>, default: bool, change: for<'c> fn(&'c str, bool) -> Change<'c>) -> Result<ArrayRef> {
    let (targets, paths, values) = (call.column::<Text>(0)?, call.column::<List>(1)?, call.column::<Text>(2)?);
    let flags = if call.arguments.len() > 3 { Some(call.column::<Bool>(3)?) } else { None };
    let mut builder = Text::builder(call.rows);
    for row in 0..call.rows {
        let flag = match &flags {
            Some(flags) => flags.get(row)?,
            None => Some(default),
        };
        let value = match (targets.get(row)?, paths.get(row)?, values.get(row)?, flag) {
            (Some(target), Some(path), Some(new), Some(flag)) => {
                one_dimension(&path)?;
                let node = parse(target)?;
                Some(changed_container(&node, &path, &change(new, flag))?)
            }
            _ => None,
        };
        Text::append(&mut builder, value)?;
    }
    Ok(Text::finish(builder))
}

/// Removes object members that are null. For json, strings are escaped again. Errors: 22P05.
fn stripped(node: &Node<'_>, binary: bool) -> Result<String> {
    Ok(match &node.value {
        Value::Object(pairs) => {
            let kept = pairs
                .iter()
                .filter(|(_, value)| !matches!(value.value, Value::Null))
                .map(|(key, value)| Ok((key.clone(), stripped(value, binary)?)))
                .collect::<Result<Vec<_>>>()?;
            if binary {
                return Ok(object(kept));
            }
            let parts: Vec<String> = kept
                .iter()
                .map(|(key, value)| Ok(format!("{}:{value}", quote(storable(key)?))))
                .collect::<Result<_>>()?;
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(elements) => {
            let parts = elements.iter().map(|element| stripped(element, binary)).collect::<Result<Vec<_>>>()?;
            if binary { array(parts) } else { format!("[{}]", parts.join(",")) }
        }
        Value::String(text) if !binary => quote(storable(text)?),
        _ => node.text.to_string(),
    })
}

/// Writes a value indented by four spaces per level.
fn pretty(node: &Node<'_>, level: usize, out: &mut String) {
    let indent = |level: usize, out: &mut String| {
        out.push('\n');
        out.push_str(&" ".repeat(level * 4));
    };
    match &node.value {
        Value::Object(pairs) => {
            out.push('{');
            for (at, (key, value)) in pairs.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                indent(level + 1, out);
                out.push_str(&quote(key));
                out.push_str(": ");
                pretty(value, level + 1, out);
            }
            indent(level, out);
            out.push('}');
        }
        Value::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                indent(level + 1, out);
                pretty(element, level + 1, out);
            }
            indent(level, out);
            out.push(']');
        }
        _ => out.push_str(node.text),
    }
}

/// The functions of this module.
pub(super) fn functions() -> Vec<ScalarFunction> {
    let (json, jsonb, texts) = (SqlType::JSON, SqlType::JSONB, SqlType::TEXT.array_of());
    let immutable = Stability::Immutable;
    let make = |name, arguments: &[SqlType], result, kernel: Kernel| {
        ScalarFunction::new(name, arguments, result, immutable, kernel)
    };
    let strip = |binary: bool| unary::<Text, Text, _>(move |text: &str| stripped(&parse(text)?, binary));
    vec![
        make("jsonb_set", &[jsonb, texts, jsonb], jsonb, Arc::new(set)),
        make("jsonb_set", &[jsonb, texts, jsonb, SqlType::BOOL], jsonb, Arc::new(set)),
        make("jsonb_insert", &[jsonb, texts, jsonb], jsonb, Arc::new(insert)),
        make("jsonb_insert", &[jsonb, texts, jsonb, SqlType::BOOL], jsonb, Arc::new(insert)),
        make("json_strip_nulls", &[json], json, strip(false)),
        make("jsonb_strip_nulls", &[jsonb], jsonb, strip(true)),
        make(
            "jsonb_pretty",
            &[jsonb],
            SqlType::TEXT,
            unary::<Text, Text, _>(|text: &str| {
                let mut out = String::new();
                pretty(&parse(text)?, 0, &mut out);
                Ok(out)
            }),
        ),
    ]
}
